//! What the machine is and what it allows a nest.
//!
//! In: the host profile, and a nest's loops with the sizes that it is run with. Out: caches, cores and vectors
//! (`description`), what a nest does (`counts`), and the times that no schedule of it can go below (`roof`).
//!
//! `oxeye doctor` looks, and measures nothing (`commands/doctor.rs`: facts, then findings, so that any machine can be tested).
//! `oxeye host` measures once and keeps a JSON file; `optimize` makes do with a three-second measurement where there is none.
//! Of a nest, operations and compulsory traffic are counted from its loops, traffic per memory level is simulated (set-
//! associative caches of the machine's geometry, sampled), times are measured cold and warm in the replay process.
//! `profile_nest` writes every roof as the least time it allows; the largest is the bound, its share of the measured time the
//! roof fraction. `oxeye::machine` asks the same of candidates, with compulsory traffic only, to know when to stop.
//!
//! A profile of a machine that was busy while it was measured is **provisional**: its ceilings may be too low. It is measured
//! again at the next run, it neither stops tuning nor skips a candidate, and what a nest exceeds is raised, in the kept file
//! too. A believed profile is never replaced by a provisional one.

mod counts;
mod description;
mod roof;
mod sizes;
mod work;

pub(crate) use counts::count;
pub use description::{HostReport, host_rates};
pub(crate) use description::{detect, has, memory_bytes, vector};
pub(crate) use roof::{ENOUGH_PERCENT, Roofs};
pub use sizes::Sizes;
pub(crate) use sizes::element_type;
pub(crate) use work::CallWork;

//! What the machine is and what it allows a nest.
//!
//! In: the host profile, and a nest's loops with the sizes that it is run with. Out: caches, cores and vectors
//! (`description`), what a nest does (`counts`), and the times that no schedule of it can go below (`roof`).

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

//! What the machine is and what it allows a nest.
//!
//! In: the host profile, and a nest's loops with the sizes that it is run with. Out: caches, cores and vectors
//! ([`description`]), what a nest does ([`counts`]), and the times that no schedule of it can go below ([`roof`]).

pub(crate) mod counts;
pub(crate) mod description;
pub(crate) mod roof;
pub(crate) mod sizes;

//! What can be asked of the library besides tuning, each a composition of stages.
//!
//! In: options. Out: a report, or a tuned text.

pub(crate) mod explain;
pub(crate) mod profile;
pub(crate) mod profile_cache;
pub(crate) mod replay;

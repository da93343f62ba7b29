//! What nests are known by, and what is known of other nests.
//!
//! In: a nest with its sizes. Out: its description, comparable with those of other nests ([`describe`]), and the
//! database of what was tried on them ([`store`], [`shipped`]).

pub(crate) mod describe;
pub(crate) mod shipped;
pub(crate) mod store;

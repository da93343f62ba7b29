//! The one judge of legality.
//!
//! A schedule is legal if no pair of dependent statement instances changes order: for every two accesses to the same
//! element, at least one a write, the instance that came first in the original program still comes first. This is
//! decided by the exact integer test, pair by pair and loop level by loop level; "unknown" counts as illegal.
//!
//! Normal forms are checked against the dependences of the source nest in the same way (`composed`).
//!
//! Accumulations (`x += …` on both sides of a pair) may be reordered, but not run concurrently, if the policy allows
//! reassociation or the type is an integer; they may run concurrently on a loop that lists them as reductions.

mod check;
mod composed;
mod dependences;
mod explain;

pub(crate) use check::check;
pub(crate) use composed::{check_elements, check_source};
pub(crate) use dependences::{accumulates, pair_system};

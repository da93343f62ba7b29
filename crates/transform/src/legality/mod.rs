//! The one judge of legality.
//!
//! A schedule is legal if no pair of dependent statement instances changes order: for every two accesses to the same
//! element, at least one a write, the instance that came first in the original program still comes first. The question
//! goes, pair by pair and loop level by loop level, to the exact integer test; "unknown" counts as illegal.
//!
//! What normalization made of a nest is held to the dependences of the nest itself in the same way (`composed`).
//!
//! Accumulations (`x += …` on both sides of a pair) may change order, not run concurrently, when the policy lets
//! floating point reassociate or when the type is an integer one; they may run concurrently on a loop that lists them as
//! reductions.

mod check;
mod composed;
mod dependences;
mod explain;

pub(crate) use check::check;
pub(crate) use composed::{check_elements, check_source};
pub(crate) use dependences::{accumulates, pair_system};

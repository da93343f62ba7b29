//! What may be tried on a nest, and what became of it.
//!
//! In: a nest and a recipe. Out: the recipe proved, with the transformed nest and its C text ([`proof`]), and the record
//! of a trial, from the first thought to its figures ([`trial`]). What values have in common gives the first steps of recipes
//! ([`valued`]).

mod proof;
mod trial;
mod valued;

pub(crate) use proof::{NoRecipe, Rendering, column, digest, instantiate, prove};
pub use proof::{Proved, Schedule, Unproved};
pub(crate) use trial::Screening;
pub use trial::{Choice, SizeTiming, Timing, Trial, Verdict};
pub(crate) use valued::{steps_for, steps_for_zeros};

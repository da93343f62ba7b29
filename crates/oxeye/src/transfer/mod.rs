//! Transfer tuning: what helped other nests, tried on this one.
//!
//! In: a nest, its suggested schedules, and the recipe database. Out: [`Advice`], the few schedules worth a measurement.
//! `donors` finds nests that are like this one; `advice` makes what was tried there into schedules of this nest, each
//! proved legal; `score` chooses from what they gained there and from what the encoder predicts (`predict`). `align` says
//! which loop of a donor is which loop here, and `remap` carries recipes over that no template makes.

mod advice;
mod align;
mod ask;
mod donors;
mod predict;
mod remap;
mod score;
#[cfg(test)]
mod tests;

pub use advice::{Advice, AdvisedOption, AdvisedRefusal};
pub use align::AlignedNode;
pub(crate) use ask::{Asked, advice};
pub(crate) use donors::DonorFinder;
pub(crate) use donors::in_words;
pub use donors::{Donor, DonorTrial};

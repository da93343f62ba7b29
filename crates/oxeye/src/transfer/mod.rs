//! Transfer tuning: what helped other nests, tried on this one.
//!
//! In: a nest, its suggested schedules, and the recipe database. Out: [`Advice`], the few schedules worth a measurement.
//! `donors` finds nests that are like this one; `advice` makes what was tried there into schedules of this nest, each
//! proved legal; `score` chooses from what they gained there and from what the encoder predicts (`predict`). `align` says
//! which loop of a donor is which loop here, and `remap` carries recipes over that no template makes.
//!
//! `Embedder::describe` says what a nest is known by: its normal form, a feature graph of that form with the captured sizes, and the
//! encoder's embedding of the graph with the time and rate of a run. Nests are stored in the database so, and found so
//! (`oxeye::knowledge`, `oxeye::transfer`):
//!
//! ```text
//! nest ── describe ► NestDescription ── donors ► [Donor]    same normal form first, then the nearest embeddings, each
//!                                                           with everything that was ever tried on it
//!      ── advice ──► options     donors' templates, the nest's suggestions, the panel: instantiated for this nest and this
//!                                machine, proved, rendered, equal texts merged; what cannot be done is kept with its reason
//!      ── score ───► Advice      every donor is a scenario of what an option gains, weighted by nearness; the encoder's
//!                                prediction is one more. Options are chosen one by one, each time the one that raises the
//!                                expected best gain most
//! ```
//!
//! What transfers is templates, which name no loop. Recipes that no template makes are carried over only if their steps speak
//! of a normal form (`align` finds which loop is which by the nodes' embeddings, `remap` renames), or the nest is the same;
//! otherwise they are refused with that reason. Vectors of different encoders are never compared: an entry says which one made
//! its own. Advice chooses what to measure and nothing else: what it says is neither believed nor reported as a figure.

mod advice;
mod align;
mod ask;
mod donors;
mod machines;
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

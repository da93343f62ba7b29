//! Search: schedules beyond the suggested ones, for as long as there is time.
//!
//! In: nests with what they are called with. Out: the same as from `propose` and `measure`, but instead of a fixed list of
//! candidates each nest has a search of its own (`explore`) over templates and recipes (`space`, `breed`). What wins goes
//! through the same selection, and through the same runs of the whole program.
//!
//! A search with a log ([`SearchOptions::log`]) can be interrupted and goes on where it was; its budget is that of all
//! processes together. Given the same measurements, the same seed gives the same search.
//!
//! Per nest: suggestions first, then generation after generation, half of it the nearest untried neighbours of the best
//! templates (a beam), half mutations, crossings, single edits of recipes and strangers (an evolution). Illegal steps, C
//! text that was seen before, and candidates whose roof is below the best cost no measurement. Batches are compiled on all
//! cores, then run one by one. What is decided is a function of nest, seed and measurements; measurements come through one
//! small trait, so that a log can stand in for the machine. `optimize` ends with such searches of the nests that are far from
//! their roofs, which know what was tried before, and stop when several generations in succession bring next to nothing. Every trial is a line of the log at once, which makes searches
//! resumable and each trial replayable; those of `optimize` have their logs in the cache (`search/kept`). What was compiled and run becomes an entry of the recipe database (`stages::record`).

mod breed;
mod compare;
mod explore;
mod further;
mod kept;
mod log;
mod nests;
mod record;
mod space;
#[cfg(test)]
mod tests;
mod workbench;

pub(crate) use further::search_further;
pub use log::{SEARCH_SCHEMA, trial_recipes};
pub use nests::SearchOptions;
pub(crate) use nests::search_nests;

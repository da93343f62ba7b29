//! Search: schedules beyond the suggested ones, for as long as there is time.
//!
//! In: nests with what they are called with. Out: the same as from `propose` and `measure`, but instead of a fixed list of
//! candidates each nest has a search of its own (`explore`) over templates and recipes (`space`, `breed`). What wins goes
//! through the same selection, and through the same runs of the whole program.
//!
//! A search with a log ([`SearchOptions::log`]) can be interrupted and goes on where it was; its budget is that of all
//! processes together. Given the same measurements, the same seed gives the same search.

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

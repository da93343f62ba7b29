//! The short report: how much faster the program is, which nests that comes from, why it is not more, and what to do now.
//!
//! In: a report on a project or on one file, as a [`Run`]. Out: its [`lines`]. What is said is collected first (`nests`,
//! `causes`, `trust`), then laid out, with as much of it as there is room for. [`beginning`] and [`ending`] are for reports that have
//! everything about the nests between them.

mod causes;
mod change;
mod headline;
mod layout;
mod nests;
mod run;
mod trust;

pub(super) use layout::{beginning, ending, lines};
pub(super) use run::Run;

//! From `for` statements to nests.
//!
//! Input: a statement of a function with the facts at its place. Output: the nodes of a nest, or why there is none.
//! [`Lowerer`] holds the state; each of the other modules adds the reading of one kind of construct.

mod access;
mod ahead;
mod arrays;
mod assigned;
mod blocks;
mod bodies;
mod checked_values;
mod checks;
mod collapsed;
mod complex;
mod contents;
mod digits;
mod distances;
mod elements;
mod entered;
mod evolving;
mod exits;
mod flat_rows;
mod header;
mod hull;
mod index;
mod initial;
mod inline;
mod iterations;
mod library;
mod limits;
mod lone_calls;
mod loops;
mod lowerer;
mod memory;
mod once;
mod open_loops;
mod pointer;
mod reaches;
mod row_by_row;
mod row_scans;
mod rows;
mod searches;
mod selectors;
mod stmts;
mod structures;
mod symbolic;
mod tables;
mod turns;
mod uses;
mod value;
mod values;
mod views;

pub(crate) use assigned::{reads, remove_stores, sets};
pub(crate) use checked_values::without_checks;
pub(crate) use checks::may_end_program;
pub(crate) use digits::RowLength;
pub(crate) use elements::used_both_ways;
pub(crate) use header::{changing_places, header};
pub(crate) use index::disguised;
pub(crate) use loops::needed_later;
pub(crate) use lowerer::{Lowerer, Outcome, Reading, State};
pub(crate) use reaches::find_reaches;
pub(crate) use row_by_row::row_lengths;
pub(crate) use rows::{Rows, renew_scans, row_tests};
pub(crate) use stmts::as_update;
pub(crate) use uses::{Holdings, natural};
pub(crate) use views::{Followed, reached};

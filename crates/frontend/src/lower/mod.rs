//! From `for` statements to nests.
//!
//! In goes a statement of a function with what is known where it stands; out come the nodes of a nest, or why there is none.
//! [`Lowerer`] keeps what is known on the way; each of the other modules adds to it how one kind of thing is read.

mod access;
mod ahead;
mod assigned;
mod bodies;
mod companions;
mod entered;
mod exits;
mod index;
mod inline;
mod loops;
mod lowerer;
mod memory;
mod pointer;
mod rows;
mod searches;
mod stmts;
mod structures;
mod turns;
mod value;
mod values;
mod views;
mod walks;

pub(crate) use loops::{changing_places, header, needed_later};
pub(crate) use lowerer::{Lowerer, State};
pub(crate) use rows::row_tests;
pub(crate) use views::reached;

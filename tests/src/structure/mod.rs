//! What the source says of its own structure: which modules of a crate import each other, and which crates depend on which.
//!
//! In goes a folder with crates, and the table of `ARCHITECTURE.md`; out come circles of modules ([`circles`]) and of folders
//! ([`circles_of_folders`]), the
//! dependencies of every crate ([`dependencies`]) and those that the table lists ([`listed_dependencies`]), where the two
//! differ ([`disagreements`]), and what should stay small in every file ([`Sizes`]).

mod crates;
mod limits;
mod modules;
mod tokens;

pub use crates::{Edges, dependencies, disagreements, listed_dependencies};
pub use limits::Sizes;
pub use modules::{circles, circles_of_folders};
pub(crate) use tokens::{end_of_item, is_test_attribute};

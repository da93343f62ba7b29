//! Random C programs: whole ones, with `main`, data and check sums, free of undefined behaviour for every size from 0 on.
//!
//! A program is made of pieces (see [`crate::motifs`]), each of them functions with loops and a function that calls these
//! with data of their own. Pieces are functions of seed and position, so that a program without some of its pieces is a
//! program, and a smaller one with the same fault.

mod construct;
mod loops;
mod maker;
mod operand;
mod values;

pub use construct::Construct;
pub use maker::Piece;

pub(crate) use loops::{Manner, block};
pub(crate) use maker::{Maker, PAD, indented};
pub(crate) use operand::{Element, Operand, Wish, bracketed};
pub(crate) use values::{Read, as_float, as_small};

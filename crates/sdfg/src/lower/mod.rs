//! An SDFG becomes a program.
//!
//! What comes in is a graph with checked references. What goes out is a [`Unit`]: the program, where each nest stands
//! in the SDFG, and what could not be read. `regions` decides what is a nest and what is control; `control`, `dataflow`,
//! `tasklet` and `library` make loops and statements, or say why they cannot.

mod arrays;
mod complex;
mod control;
mod dataflow;
mod fold;
mod library;
mod names;
mod nest;
mod outline;
mod ranges;
mod read;
mod regions;
mod state;
mod tasklet;

pub use outline::Outline;
pub(crate) use outline::visit as visit_outline;
pub use read::read_sdfg;
pub use state::{Diagnostic, Place, Unit, Way};

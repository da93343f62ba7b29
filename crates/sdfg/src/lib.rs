//! Reads DaCe programs into Oxeye programs, and writes them back.
//!
//! [`Sdfg`] is the document, kept whole. [`read_sdfg`] makes a [`Program`] of it: states and the edges between them
//! become control regions, maps and counted loops become nests, memlets become accesses, operations of libraries become
//! loops, and programs inside the program are inlined. What cannot be read exactly is opaque, keeps its place, and is
//! named by a [`Diagnostic`].
//!
//! ```
//! use oxeye_sdfg::{Sdfg, read_sdfg};
//!
//! let text = include_str!("../tests/data/gemm.sdfg");
//! let sdfg = Sdfg::parse(text)?;
//! let unit = read_sdfg(&sdfg)?;
//! assert_eq!(unit.program.nests.len(), 2);
//! assert!(unit.diagnostics.is_empty());
//! # Ok::<(), oxeye_sdfg::SdfgError>(())
//! ```
//!
//! [`to_c`] writes the program down in C, which can be tuned like any other file, and [`replace_nests`] puts what was tuned
//! there into the document.
//!
//! Complex numbers are two real ones next to each other. It runs no Python, judges no transformation, and does not read
//! structures or streams.

mod document;
mod error;
mod json;
mod lower;
mod model;
mod polynomial;
mod replace;
mod structure;
mod syntax;
mod to_c;

pub use document::Sdfg;
pub use error::SdfgError;
pub use json::{Json, Layout};
pub use lower::{Diagnostic, Outline, Place, Unit, Way, read_sdfg};
pub use oxeye_ir::Program;
pub use replace::{Replaced, replace_nests};
pub use syntax::parse_expression;
pub use to_c::{CParameter, CProgram, Changed, Grouping, ToCError, to_c};

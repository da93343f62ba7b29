//! Programs as dataflow graphs of loop nests.
//!
//! A [`Program`] has symbols (integers that do not change), arrays, control regions, and per region a [`DataflowGraph`]
//! whose nodes are arrays and loop nests and whose edges are memlets. A [`Nest`] is a tree of loops, guards and
//! statements. The loop tree owns order; the dataflow graph owns data movement.
//!
//! ```
//! use oxeye_ir::{Program, ScalarType::F64, builder::ProgramBuilder};
//!
//! let mut b = ProgramBuilder::new("matmul");
//! let n = b.symbol("n");
//! let [c, a, x] = ["C", "A", "B"].map(|name| b.array(name, F64, [n, n]));
//! b.nest(|nest| {
//!     nest.for_("i", 0, n, |nest, i| {
//!         nest.for_("j", 0, n, |nest, j| {
//!             nest.assign(c.at([i, j]), 0.0);
//!             nest.for_("k", 0, n, |nest, k| {
//!                 nest.add(c.at([i, j]), a.at([i, k]) * x.at([k, j]));
//!             });
//!         });
//!     });
//! });
//! let program = b.finish().expect("the program is valid");
//!
//! let text = "\
//! program matmul {
//!   symbol P0 n: i32
//!   array A0 C: f64[n][n] param
//!   array A1 A: f64[n][n] param
//!   array A2 B: f64[n][n] param
//!   dataflow { N0 }
//!   nest N0 in matmul {
//!     for L0 i: i32 in 0 .. n {
//!       for L1 j: i32 in 0 .. n {
//!         S0: C[i][j] = 0.0
//!         for L2 k: i32 in 0 .. n {
//!           S1: C[i][j] += A[i][k] * B[k][j]
//!         }
//!       }
//!     }
//!   }
//! }
//! ";
//! assert_eq!(program.to_string(), text);
//! assert_eq!(Program::parse(text)?, program);
//! # Ok::<(), oxeye_ir::ParseError>(())
//! ```
//!
//! # The textual form
//!
//! [`Program`] and [`Nest::display`] write it, [`Program::parse`] and [`Nest::parse`] read it back; it contains all
//! ids. Things are referred to by name where that is unambiguous, else as `name.id` (`i.L3`), or by the bare id.
//! Expressions are C's, with `min(a, b)` and `max(a, b)` for the ternaries of [`BinaryOp::Min`] and [`BinaryOp::Max`]
//! and type names such as `f64` in casts. `//` starts a comment.
//!
//! - Loops: `for L0 i: i32 in 0 .. n`, then optionally `step -2` and one of `parallel`, `parallel dynamic`, `vector`,
//!   `vector 8`, `unrolled`; `parallel` and `vector` may add `reduce(+ s, max t)`. A bound is an affine expression,
//!   `ceil(e / 4)`, `data(rows[i + 1])`, or `max(…)` (lower) and `min(…)` (upper) of several.
//! - Statements: `S0@12: x[i] += e` with the source line after `@`; also `=`, `-=`, `*=`, `/=`, `min=`, `max=`. Guards:
//!   `if e { … } else { … }`.
//! - Arrays: `array A0 x: f64[n][m] param`; an unknown first extent is `[?]`; they live as `param`, `global`, `local`,
//!   `body(L0)`, `temp` or `temp(L0)`; optionally `linear`, `align 64`, `ctype "real"`.
//! - Regions: `sequence { … }`, `dataflow { N0 N1 }`, `loop t in 0 .. steps { … }`, `branch e { … } else { … }`,
//!   `swap x y`, `opaque "reason" reads(x) writes(*)`. Also `assume n >= 1`, `may_alias x y`, and
//!   `reshape A1 A0`: `A1` is `A0` as some nests see it, with other dimensions. `one_thread N0 "reason"` and `team N0` say
//!   who runs a nest.
//! - Behind its head, a nest `swap(x, y, n)`s two pointers in n turns, or `rotate(n, x, y, z)`s three or more.
//!
//! What else belongs to a program has declarations of its own among these: [`Program::parse_with`] and
//! [`Program::display_with`] leave them to others.
//!
//! This crate knows nothing of C, files or clocks, and changes nothing: analyses keep their results in their own
//! tables, transformations build new nests.

mod affine;
pub mod builder;
mod dataflow;
mod dot;
mod expr;
mod held;
mod ids;
pub mod interpret;
mod memlets;
mod nest;
mod parse;
mod print;
mod program;
mod ranges;
mod span;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod trips;
mod types;
mod verify;

pub use affine::{Affine, Constraint, Relation, Var};
pub use dataflow::{DataNode, DataflowGraph, Memlet};
pub use dot::to_dot;
pub use expr::{Access, BinaryOp, ComplexOp, Expr, MathFn, Part, ScalarType, UnaryOp};
pub use held::held_scalars;
pub use ids::{ArrayId, LoopId, NestId, StmtId, SymId};
pub use nest::{
    Bound, BoundTerm, Execution, Loop, Nest, Node, Reduction, Rotation, Stmt, Update, WorkSharing,
};
pub use parse::{ParseError, Parser};
pub use print::{Names, quoted};
pub use program::{Array, ControlLoop, Form, Opaque, Program, Region, Storage, Symbol, Threads};
pub use ranges::{AccessRanges, IndexRange};
pub use span::Span;
pub use trips::Extents;
pub use types::Types;
pub use verify::{Checker, Violation, verify, verify_nest};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IrError {
    /// A word that should be an id, but is not.
    #[error("`{text}` is not an id of the form {expected}")]
    BadId {
        /// The word.
        text: String,
        /// The form it should have.
        expected: &'static str,
    },
}

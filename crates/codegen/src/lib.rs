//! Renders loop nests as C99 with OpenMP and puts the text into the user's file.
//!
//! Text in, text out: [`render_nest`] turns a nest, transformed or not, into a C block with the user's own names;
//! [`prelude`] gives the macros and vector types that such blocks use; [`splice`] and [`tuned_file`] replace nests in
//! the user's file and keep every other byte; [`instrument`] and [`replay_unit`] make the programs that capture a
//! nest's arguments and run candidates.
//!
//! ```
//! use oxeye_codegen::{RenderOptions, render_nest};
//! use oxeye_binding::Binding;
//! use oxeye_ir::*;
//!
//! let mut program = Program::new("scale");
//! let n = program.add_symbol("n", ScalarType::I32);
//! let x = program.add_array(Array {
//!     id: ArrayId(0), name: "x".into(), element: ScalarType::F64, c_type: None, shape: vec![Some(n.into())],
//!     form: Form::Nested, storage: Storage::Param, align: 0,
//! });
//! let i = LoopId(0);
//! let body = Stmt {
//!     id: StmtId(0), target: Access::new(x, [i]), update: Update::Mul,
//!     value: Expr::Float { text: "2.0".into(), ty: ScalarType::F64 }, line: None,
//! };
//! let nest = Nest {
//!     id: NestId(0), function: "scale".into(), span: None, live_out: vec![], rotations: vec![], mentions: vec![], unordered: vec![], bounded: vec![],
//!     roots: vec![Node::Loop(Loop {
//!         id: i, name: "i".into(), ty: ScalarType::I32, lower: 0.into(), upper: n.into(), step: 1,
//!         execution: Execution::Vector { lanes: None, reductions: vec![] }, body: vec![Node::Stmt(body)],
//!     })],
//! };
//! let text = render_nest(&program, Binding::none(), &nest, &RenderOptions { threads: 2, ..RenderOptions::default() })?;
//! assert_eq!(text, "{\n    #pragma omp simd\n    for (int i = 0; i < n; i++)\n        x[i] *= 2.0;\n}");
//! # Ok::<(), oxeye_codegen::CodegenError>(())
//! ```
//!
//! It does not judge whether a nest is legal, runs no compiler and reads no files.

mod alias;
mod apart;
mod arguments;
mod capture;
mod checks;
mod complex;
mod context;
mod expand;
mod expression;
mod guard;
mod isa;
mod leaving;
mod loops;
mod macros;
mod memory;
mod open_orders;
mod options;
mod outline;
mod own_branch;
mod prelude;
mod print;
mod reduction;
mod registers;
mod render;
mod rows;
mod scans;
mod size;
mod stride;
mod summands;
mod targets;
mod team;
mod telling;
mod text;
mod trace;
mod types;
mod vector;
mod views;
mod watch;
mod watched;
mod widen;

pub use arguments::{Argument, ArgumentOf, Fields, arguments};
pub use capture::{Site, instrument, replay_unit, splice, tuned_file, tuned_file_with};
pub use expression::expression;
pub use guard::{guarded, guarded_function};
pub use isa::Isa;
pub use options::RenderOptions;
pub use outline::{Outlined, outline_own_text, render_outlined};
pub use prelude::{prelude, vector_bytes, vectors_condition};
pub use render::{Rendered, commented, render, render_nest};
pub use size::{SizeGuard, extent_in_words, readable, size_in_words};
pub use trace::trace_program;
pub use watched::{WatchedAccess, WatchedNest, WatchedProgram, watched_program};

/// Why a nest has no rendering.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// The nest needs the original statement as a fallback, and none was given.
    #[error("the nest needs its original text as a fallback ({why}); give it in the options")]
    NoOriginal {
        /// What may fail at run time.
        why: String,
    },
    /// Two pointers may overlap, and the range of one of them cannot be bounded.
    #[error(
        "`{first}` and `{second}` may overlap, and the range of `{first}` is not known; declare its size or use `restrict`"
    )]
    UnknownExtent {
        /// The array whose range is unknown.
        first: String,
        /// The array it may overlap with.
        second: String,
    },
    /// A test of too many arrays with rows behind pointers.
    #[error("more than {most} arrays would have to be tested for rows that overlap")]
    TooManyRows {
        /// Most arrays that one test takes.
        most: usize,
    },
    /// A reduction over an array of unknown size, or over a member.
    #[error("the reduction into `{array}` needs a variable of known size")]
    Reduction {
        /// The array.
        array: String,
    },
    /// A sum or product of a signed type narrower than `int`: compilers combine the threads' parts in that type, where the
    /// source computes in `int`.
    #[error(
        "threads cannot accumulate into `{array}`: its type is narrower than int, and their sums might not fit"
    )]
    Narrow {
        /// The array.
        array: String,
    },
    /// A reduction into an element that the loop may not touch at all.
    #[error(
        "whether the loop touches the element of `{array}` depends on what it computes, so threads cannot begin with its value"
    )]
    Conditional {
        /// The array.
        array: String,
    },
    /// A reduction that the floating-point policy forbids.
    #[error(
        "accumulating into `{array}` by several threads reorders floating-point operations; allow it with --fp reassociate"
    )]
    Order {
        /// The array.
        array: String,
    },
    /// A temporary whose size depends on an iterator.
    #[error("the temporary `{array}` has a size that is not known before the nest starts")]
    Temporary {
        /// The array.
        array: String,
    },
    /// The team of threads that runs the nest cannot run this version.
    #[error("the nest runs in an existing team of threads, and {why}")]
    Team {
        /// Why not.
        why: String,
    },
    /// The nest cannot be a function of its own.
    #[error("the nest cannot be a function of its own: {why}")]
    NotApart {
        /// Why not.
        why: String,
    },
    /// Something is asked of the size of a nest that has only one, or none that is known.
    #[error("how large the nest is does not follow from variables, so nothing can be tested before it")]
    NoSize,
    /// The nest is not well formed.
    #[error("the nest is not well formed: {what}")]
    Malformed {
        /// What is wrong.
        what: String,
    },
}

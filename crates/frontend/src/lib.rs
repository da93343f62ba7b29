//! Reads C into Oxeye programs.
//!
//! [`read_c`] runs the user's preprocessor with the user's flags, parses its output, and lowers every function that
//! contains loops to a [`Program`]. Each nest carries the exact bytes of its `for` statement in the user's own file, so
//! that everything else can stay as it is. What cannot be analysed becomes a [`Diagnostic`], never an error: the rest
//! of the file still works.
//!
//! ```
//! use oxeye_frontend::{ReadOptions, read_c};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("scale.c");
//! std::fs::write(&path, "void scale(int n, double *x)\n{\n    for (int i = 0; i < n; i++)\n        x[i] *= 2.0;\n}\n")?;
//! let unit = read_c(&path, &ReadOptions::default())?;
//! let nest = &unit.functions[0].program.nests[0];
//! let span = nest.span.expect("from a file");
//! assert_eq!(&unit.source[span.start..span.end], "for (int i = 0; i < n; i++)\n        x[i] *= 2.0;");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It changes no file, judges no transformation, and knows nothing of C++.

mod arithmetic;
mod ast;
mod attributes;
mod bytes;
mod callees;
mod calls;
mod conditions;
mod constants;
mod context;
mod convert;
mod copied;
mod copies;
mod cuts;
mod definitions;
mod delinearize;
mod diagnostic;
mod directives;
mod elements;
mod elsewhere;
mod evolution;
mod flow;
mod forward;
mod groups;
mod halos;
mod handles;
mod included;
mod layout;
mod lexer;
mod literal;
mod lower;
mod members;
mod opened;
mod places;
mod pointers;
mod polynomial;
mod preprocess;
mod prove;
mod races;
mod ragged;
mod readable;
mod refusal;
mod regions;
mod rotations;
mod scan;
mod scopes;
mod scratch;
mod teams;
mod threads;
mod uniform;
mod unit;
mod unseen;

pub use bytes::{decoded, encoded};
pub use conditions::Conditions;
pub use cuts::Cut;
pub use diagnostic::{Diagnostic, Severity};
pub use elsewhere::OtherSource;
pub use included::{FileLine, Folded, Included, MovedFile, SourceFile, includes, redirected};
pub use opened::Opened;
pub use unit::{Function, ReadOptions, Unit, read_c};

pub use oxeye_ir::{Program, Span};

use std::path::PathBuf;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontendError {
    /// The file cannot be opened.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file contains characters that Oxeye uses internally.
    #[error("{} has characters of the private plane 16, which cannot be kept; remove them first", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
    },
    /// The compiler cannot be started.
    #[error("cannot run the compiler `{compiler}`; name another one behind `--`")]
    Compiler {
        /// The command.
        compiler: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The preprocessor fails.
    #[error("`{compiler} -E` fails:\n{message}")]
    Preprocess {
        /// The command.
        compiler: String,
        /// Its messages.
        message: String,
    },
    /// The flags are for a machine on which types have other sizes.
    #[error(
        "only code with 64-bit pointers and a 64-bit `long` can be tuned, and {why}; give flags for such a machine (`-m64`)"
    )]
    Machine {
        /// What is different.
        why: String,
    },
    /// The file cannot be parsed.
    #[error("{} cannot be parsed", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
    },
    /// The requested function is not defined.
    #[error("no function `{name}` is defined in {}; {known}", path.display())]
    NoFunction {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The defined functions, for the message.
        known: String,
    },
}

//! What can go wrong with a project.

use std::path::PathBuf;

/// Why a project cannot be built by Oxeye as its own build builds it.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The user's build command fails.
    #[error("`{command}` fails ({how}):\n{words}")]
    Build {
        /// The command.
        command: String,
        /// How it ended.
        how: String,
        /// The end of what it wrote.
        words: String,
    },
    /// The build did nothing that could be learnt from.
    #[error(
        "`{command}` compiles nothing, perhaps since everything is up to date; \
         give a command that builds all (`make clean && make`)"
    )]
    NothingCompiled {
        /// The command.
        command: String,
    },
    /// A file with compile commands cannot be read.
    #[error("{}: {reason}", path.display())]
    CompileCommands {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No program or library of the build is run.
    #[error("{0}")]
    NoProduct(String),
    /// A compiler or a process failed.
    #[error(transparent)]
    Measure(#[from] oxeye_measure::MeasureError),
}

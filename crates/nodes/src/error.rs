//! What fails in a shared folder.

use oxeye_measure::MeasureError;
use std::io;
use std::path::{Path, PathBuf};

/// Why nodes cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NodesError {
    /// A file of the shared folder cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason that the system gives.
        source: io::Error,
    },
    /// A file of the shared folder is not what it should be.
    #[error("{}: {text}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        text: String,
    },
    /// The folder is in use, or of another version.
    #[error("{}: {text}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is the matter, and what helps.
        text: String,
    },
    /// Slurm does not do what it is asked.
    #[error("{command} failed: {text}")]
    Slurm {
        /// The command.
        command: String,
        /// What it says.
        text: String,
    },
    /// Options that do not go together.
    #[error("{0}")]
    Words(String),
    /// What is to be shared is not there.
    #[error("{0}")]
    Other(String),
    /// A process cannot be started, or a file not be measured with.
    #[error(transparent)]
    Measure(#[from] MeasureError),
}

impl NodesError {
    pub(crate) fn io<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> NodesError + use<'a> {
        move |source| NodesError::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, text: impl ToString) -> NodesError {
        NodesError::Damaged { path: path.to_owned(), text: text.to_string() }
    }
}

//! What can go wrong.

use std::path::PathBuf;

/// Why there is no host profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A file or folder of the profile cache could not be used.
    #[error("cannot {action} {path}: {source}", path = .path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A cached file that is not a valid profile.
    #[error("the host profile {path} cannot be used: {why}; `oxeye doctor --measure --refresh` makes a new one", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There was no memory for even the smallest arrays.
    #[error("cannot get {bytes} bytes of memory to measure with: {source}")]
    NoMemory {
        /// Bytes that were asked for.
        bytes: usize,
        /// The cause.
        source: std::io::Error,
    },
    /// The threads to measure with could not be started.
    #[error("cannot start {threads} threads to measure with: {source}")]
    NoThreads {
        /// Threads that were asked for.
        threads: usize,
        /// The cause.
        source: std::io::Error,
    },
}

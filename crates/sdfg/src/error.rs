//! Errors of this crate.

/// Why an SDFG cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdfgError {
    /// The text is not JSON.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// The document is no SDFG.
    #[error("{place}: {message}")]
    Document {
        /// Where in the document.
        place: String,
        /// What is wrong there.
        message: String,
    },
}

//! Why an execution stops.

use crate::{LoopId, Var};

/// Why an execution stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// An index outside its dimension.
    #[error("{array}{indices:?} is outside the array, whose extents are {extents:?}, in {place}")]
    OutOfBounds {
        /// Name of the array.
        array: String,
        /// The indices.
        indices: Vec<i64>,
        /// The array's extents.
        extents: Vec<usize>,
        /// Statement or header, with the values of the iterators.
        place: String,
    },
    /// An element is read before it is written.
    #[error("{array}{indices:?} is read before it is written, in {place}")]
    Uninitialized {
        /// Name of the array.
        array: String,
        /// The indices.
        indices: Vec<i64>,
        /// Statement or header, with the values of the iterators.
        place: String,
    },
    /// An array is missing from the memory.
    #[error("array {0} has no values; add it to the memory")]
    NoArray(String),
    /// A symbol is missing from the memory, or an iterator is used outside its loop.
    #[error("{0} has no value here")]
    NoVariable(Var),
    /// The extents of an array cannot be computed.
    #[error("the extents of {array} are negative, too large, or use a symbol without a value")]
    Extent {
        /// Name of the array.
        array: String,
    },
    /// The operation is undefined in C.
    #[error("{0} has no defined result")]
    Undefined(String),
    /// A loop without terms in a bound or with step zero.
    #[error("loop {0} has no bound or step zero")]
    BadLoop(LoopId),
    /// More statement instances and iterations than allowed.
    #[error("more than {0} steps; raise the limit or use smaller sizes")]
    StepLimit(u64),
    /// A region that cannot be executed.
    #[error("cannot execute {0}")]
    Region(String),
}

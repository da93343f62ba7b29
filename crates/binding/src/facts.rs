//! What else is known of the memory, the pointers and the threads around a nest.

use oxeye_ir::{ArrayId, Expr, Span, SymId};
use serde::{Deserialize, Serialize};

/// Something that a nest assumes to be constant while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Constant {
    /// The value of a symbol.
    Symbol(SymId),
    /// The pointers that lead to an array with a [`View`](crate::View).
    Base(ArrayId),
}

/// A pointer that leads so many elements behind the beginning of an array: `end` of `for (p = x; p < end; p++)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Distance {
    /// The array.
    pub from: ArrayId,
    /// The pointer's name.
    pub end: String,
    /// Its C declaration, for a variable of the function; a file-scope variable has none here.
    pub declaration: Option<String>,
}

/// A pointer that leads further behind a nest than before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advance {
    /// The array it leads to: in the nest, indices count from where the pointer leads before it.
    pub array: ArrayId,
    /// By how many elements, over symbols.
    pub by: Expr,
}

/// Facts about a nest run by a team of threads that an OpenMP directive elsewhere has created (`omp for` without
/// `parallel`). All threads of the team reach the nest, and the private variables that it reads have the same values in
/// all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Thread-private arrays and scalars that the nest writes. Every iteration of the shared loop writes them before it
    /// reads them, and they are not read after the nest.
    pub own: Vec<ArrayId>,
    /// Names of the variables that are declared outside of the nest and changed by each thread separately: the above,
    /// and iterators.
    pub names: Vec<String>,
}

/// The body of a function that a nest never calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedBody {
    /// All of it, with its braces.
    pub whole: Span,
    /// Directives in it that may hold for what follows, in textual order.
    pub directives: Vec<Span>,
}

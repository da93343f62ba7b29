//! What a variable holds in iteration k of a loop.
//!
//! Input: a loop of the [`ast`](crate::ast). Output: for every integer and pointer that the loop changes, its value at the
//! head of each iteration as a chain of recurrences (Bachmann, Wang, Zima 1994) over what it holds before the loop; how
//! often the loop runs; what its variables hold behind it. Statements are followed path by path; inner loops by their own
//! recurrences. What cannot be said names the reason and the place.
//!
//! Values are mathematical integers: arithmetic that may wrap around is not followed. A pointer is its variable plus a
//! number of elements.

mod follow;
mod form;
#[cfg(test)]
mod printed;
mod recur;
mod sum;
mod trips;

#[cfg(test)]
mod tests;

pub(crate) use follow::Evaluator;
#[cfg(test)]
pub(crate) use follow::Evolutions;
pub(crate) use form::{Evolution, Stop, Trips};
pub(crate) use sum::{Sum, Symbol};

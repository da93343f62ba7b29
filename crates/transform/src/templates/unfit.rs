//! Why a template gives no recipe.

use crate::refusal::Reason;

/// Why a template gives no recipe for a nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The nest has nothing that the template applies to.
    #[error("{0}")]
    Inapplicable(String),
    /// The steps are impossible, or not proved legal.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Reason>),
    /// The result cannot be written as loops.
    #[error("{0}")]
    Unwritable(Reason),
}

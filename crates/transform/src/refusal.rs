//! Why a step is refused: a kind for programs, a sentence for people.

use oxeye_ir::{ArrayId, LoopId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A step that could not be applied, or not be proved legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{transformation}: {reason}")]
pub struct Refusal {
    /// Index of the step in the recipe.
    pub step: usize,
    /// The step, as it prints.
    pub transformation: String,
    /// What kind of reason it is.
    pub kind: RefusalKind,
    /// Why, in words for a C programmer.
    pub reason: String,
}

/// Kinds of reasons. Whoever decides by a refusal asks for its kind; the sentence is for people and may change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RefusalKind {
    /// An argument is not what its parameter asks for.
    BadArgument {
        /// Name of the parameter.
        argument: String,
    },
    /// The nest has no such loop at this step.
    NoSuchLoop,
    /// The nest has no such statement at this step.
    NoSuchStatement,
    /// The program has no such symbol.
    NoSuchSymbol,
    /// Several loops or statements go by this name.
    AmbiguousName,
    /// One loop is not inside the other.
    NotNested,
    /// The loops hold more than each other.
    NotPerfectlyNested,
    /// The loops are not next to each other.
    NotAdjacent,
    /// The step cannot stand at this place of a recipe.
    Misplaced,
    /// The transformation is not made for such loops or statements.
    Unsupported,
    /// Dependent instances would run in another order, or at the same time.
    Dependence {
        /// The loop that would reorder them; `None` if the order of statements would.
        at: Option<LoopId>,
        /// What both touch.
        array: ArrayId,
    },
    /// Only another order of a floating-point accumulation stands in the way, which the policy does not allow.
    ReassociationNotAllowed {
        /// The loop that would reorder it, as in [`RefusalKind::Dependence`].
        at: Option<LoopId>,
        /// What is accumulated into.
        array: ArrayId,
    },
    /// A concurrent loop would hold what cannot run in it.
    ConcurrencyDoesNotNest,
    /// The schedule cannot be written as loops.
    NotWritable,
    /// A limit on the work of the judge was reached before there was an answer.
    WorkLimit,
}

/// Why something could not be done, before it is known which step of a recipe that ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Reason {
    /// What kind of reason it is.
    pub kind: RefusalKind,
    /// In words for a C programmer.
    pub text: String,
}

impl Reason {
    /// Of this kind, in these words.
    pub fn new(kind: RefusalKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The transformation is not made for such loops or statements.
    pub(crate) fn unsupported(text: impl Into<String>) -> Self {
        Self::new(RefusalKind::Unsupported, text)
    }

    /// The schedule cannot be written as loops.
    pub(crate) fn not_writable(text: impl Into<String>) -> Self {
        Self::new(RefusalKind::NotWritable, text)
    }

    /// As the refusal of the step with this index, which prints so.
    pub(crate) fn at_step(self, step: usize, transformation: impl fmt::Display) -> Refusal {
        Refusal { step, transformation: transformation.to_string(), kind: self.kind, reason: self.text }
    }
}

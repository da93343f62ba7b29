//! Why a step is refused: a kind for programs, a sentence for people.

use oxeye_ir::{ArrayId, LoopId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A step that could not be applied or proved legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{transformation}: {reason}")]
pub struct Refusal {
    /// Index of the step in the recipe.
    pub step: usize,
    /// The step, in textual form.
    pub transformation: String,
    /// The kind of reason.
    pub kind: RefusalKind,
    /// Why, as a message for a C programmer.
    pub reason: String,
}

/// Kinds of reasons. Code decides by the kind; the message is for people and may change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RefusalKind {
    /// An argument does not satisfy its parameter.
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
    /// Several loops or statements have this name.
    AmbiguousName,
    /// One loop is not inside the other.
    NotNested,
    /// The loops contain more than each other.
    NotPerfectlyNested,
    /// The loops are not next to each other.
    NotAdjacent,
    /// The step is not allowed at this place of a recipe.
    Misplaced,
    /// The transformation does not handle such loops or statements.
    Unsupported,
    /// Dependent instances would be reordered, or run at the same time.
    Dependence {
        /// The loop that would reorder them; `None` if the order of statements would.
        at: Option<LoopId>,
        /// The array that both access.
        array: ArrayId,
    },
    /// A floating-point accumulation would be reordered, which the policy does not allow. Nothing else is broken.
    ReassociationNotAllowed {
        /// The loop that would reorder it, as in [`RefusalKind::Dependence`].
        at: Option<LoopId>,
        /// The array accumulated into.
        array: ArrayId,
    },
    /// A concurrent loop would contain something that cannot run in it.
    ConcurrencyDoesNotNest,
    /// The schedule cannot be written as loops.
    NotWritable,
    /// The judge reached its work limit before it found an answer.
    WorkLimit,
}

/// Why something could not be done, before the step of the recipe is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Reason {
    /// The kind of reason.
    pub kind: RefusalKind,
    /// A message for a C programmer.
    pub text: String,
}

impl Reason {
    /// A reason of this kind, with this message.
    pub fn new(kind: RefusalKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The transformation does not handle such loops or statements.
    pub(crate) fn unsupported(text: impl Into<String>) -> Self {
        Self::new(RefusalKind::Unsupported, text)
    }

    /// The schedule cannot be written as loops.
    pub(crate) fn not_writable(text: impl Into<String>) -> Self {
        Self::new(RefusalKind::NotWritable, text)
    }

    /// The refusal of the step with this index and textual form.
    pub(crate) fn at_step(self, step: usize, transformation: impl fmt::Display) -> Refusal {
        Refusal { step, transformation: transformation.to_string(), kind: self.kind, reason: self.text }
    }
}

//! Schedules of single statements, as [`Reorder`](crate::Reorder) takes them.

use oxeye_ir::{Affine, StmtId};
use serde::{Deserialize, Serialize};

/// One level of a statement's schedule in 2d+1 form (Feautrier 1992; Girbal et al. 2006).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Position among the siblings at this level.
    At(usize),
    /// A loop over the value of this expression of the statement's iterators, backwards if `reverse`.
    By {
        /// In terms of the loops of the schedule before this step.
        expr: Affine,
        /// From the greatest value to the least.
        reverse: bool,
    },
}

/// The new schedule of one statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StatementSchedule {
    /// The statement.
    pub stmt: StmtId,
    /// `At`, `By`, `At`, …, `At`. Statements whose leading dimensions agree share those loops.
    pub dimensions: Vec<Dimension>,
}

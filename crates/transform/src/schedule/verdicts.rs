//! What the judge has found about the schedules of one nest so far.
//!
//! A recipe is built and searched for step by step, and a step changes the place of a few statements. What else depends on
//! each other was judged before, in the same situation, and need not be judged again.

use super::statement::Statement;
use oxeye_ir::{Affine, Constraint, LoopId};
use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

/// Answers that are kept at most; all of them take some hundred bytes.
const MOST_ANSWERS: usize = 400_000;

/// Everything that the answer for one pair of statements depends on, apart from the nest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    /// The dependence, by its index in [`super::Original::pairs`].
    pub(crate) pair: usize,
    /// The numbers of both statements' [states](Verdicts::states).
    pub(crate) states: [usize; 2],
    /// The steps of time of both statements, compared one by one.
    pub(crate) order: Box<[ComparedStep]>,
    /// Whether both are as long, and whether either is not the time of the statement.
    pub(crate) ends: [bool; 2],
    /// Whether sums may be reordered.
    pub(crate) reassociate: bool,
}

/// Two steps of time side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ComparedStep {
    /// The same position.
    Same,
    /// The first comes before the second in a body, and nothing that follows matters.
    Before,
    /// The first comes after the second in a body, and nothing that follows matters.
    After,
    /// The same loop.
    Loop {
        id: LoopId,
        reverse: bool,
        /// For a concurrent loop: whether it lists the accumulation.
        concurrent: Option<bool>,
    },
}

/// The answers, and what they are about.
#[derive(Debug, Default)]
pub(crate) struct Verdicts(RwLock<Found>);

/// The map and the domain of a statement.
type State = (BTreeMap<LoopId, Affine>, Vec<Constraint>);

#[derive(Debug, Default)]
struct Found {
    states: HashMap<State, usize>,
    /// Whether floating-point sums are reordered; questions whose answer is a refusal are not kept.
    answers: HashMap<Question, bool>,
}

impl Verdicts {
    /// The number of each statement's map and domain: statements with the same number have the same ones.
    pub(crate) fn states(&self, statements: &[Statement]) -> Vec<usize> {
        let mut found = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Found { states, .. } = &mut *found;
        let number = |statement: &Statement| {
            let next = states.len();
            *states.entry((statement.map.clone(), statement.domain.clone())).or_insert(next)
        };
        statements.iter().map(number).collect()
    }

    /// The answer to a question that was asked before: whether floating-point sums are reordered.
    pub(crate) fn known(&self, question: &Question) -> Option<bool> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).answers.get(question).copied()
    }

    /// Keeps an answer.
    pub(crate) fn keep(&self, question: Question, reordered: bool) {
        let mut found = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if found.answers.len() < MOST_ANSWERS {
            found.answers.insert(question, reordered);
        }
    }
}

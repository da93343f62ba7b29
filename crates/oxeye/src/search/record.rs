//! What is tried, and what comes of it.

use crate::schedule::{Proved, Schedule, Verdict};
use oxeye_transform::Recipe;
use oxeye_transform::templates::Template;
use serde::{Deserialize, Serialize};

/// Something to try.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Plan {
    /// A template.
    Template(Template),
    /// A recipe that no template makes.
    Recipe {
        /// Short name for people.
        name: String,
        /// The recipe.
        recipe: Recipe,
    },
}

/// A plan made into text, ready to be compiled.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) schedule: Schedule,
    pub(crate) proved: Proved,
    /// Of the text.
    pub(crate) digest: String,
}

/// What compiling and running a candidate told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// Seconds of one invocation, if its outputs are right.
    pub(crate) seconds: Option<f64>,
    /// Timed runs behind that.
    pub(crate) samples: usize,
    /// Largest relative difference of an output element.
    pub(crate) max_rel_error: Option<f64>,
    /// Why, where the outcome does not say it all.
    pub(crate) why: Option<String>,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It gives the right outputs, and was timed.
    Right,
    /// It was stopped, as it takes longer than what is already known.
    TooSlow,
    /// Its outputs differ from the original's.
    WrongResult,
    /// It crashed.
    Crashed,
    /// The C text could not be compiled.
    DoesNotCompile,
    /// A step was refused as illegal, or does not apply.
    Refused,
    /// The same C text as an earlier trial's.
    Duplicate,
    /// A lower bound of its time is above the best so far.
    Hopeless,
}

impl Outcome {
    /// Whether it was compiled to be run.
    pub(crate) fn was_measured(self) -> bool {
        !matches!(self, Outcome::Refused | Outcome::Duplicate | Outcome::Hopeless)
    }

    /// For the report of a run.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Outcome::Right => Verdict::Slower,
            Outcome::TooSlow => Verdict::TooSlow,
            Outcome::WrongResult => Verdict::WrongResult,
            Outcome::Crashed => Verdict::Crashed,
            Outcome::DoesNotCompile => Verdict::DoesNotCompile,
            Outcome::Refused => Verdict::Refused,
            Outcome::Duplicate => Verdict::Duplicate,
            Outcome::Hopeless => Verdict::NotTried,
        }
    }
}

/// One trial of a nest, as the log has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialRecord {
    /// Short name for people.
    pub(crate) name: String,
    /// What the recipe was made from, if from a template.
    pub(crate) template: Option<Template>,
    /// `None` if the template gives no recipe for this nest.
    pub(crate) recipe: Option<Recipe>,
    /// Which generation it belongs to, the suggestions being the first, 0.
    pub(crate) generation: usize,
    /// Of the C text, where there is one: SHA-256, the first 16 hexadecimal digits.
    pub(crate) code: Option<String>,
    /// Whether the text needs OpenMP.
    pub(crate) openmp: bool,
    /// Whether floating-point sums are taken in another order.
    pub(crate) reassociated: bool,
    /// What came of it.
    #[serde(flatten)]
    pub(crate) found: Measurement,
}

impl Measurement {
    /// A trial that ended without being measured.
    pub(crate) fn without(outcome: Outcome, why: impl Into<String>) -> Self {
        Self { outcome, seconds: None, samples: 0, max_rel_error: None, why: Some(why.into()) }
    }
}

//! Candidates, as they stand in a shared folder.

use crate::board::Task;
use crate::folder::hash;
use oxeye_measure::{Argument, Compiler, Rejection, Tolerance};
use serde::{Deserialize, Serialize};

/// How a library is built from a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// The text, by its name in the store.
    pub text: String,
    /// The compiler with the user's flags.
    pub compiler: Compiler,
    /// Further flags.
    pub args: Vec<String>,
    /// Flags after the text.
    pub link_args: Vec<String>,
    /// Most seconds that it may take.
    pub seconds: f64,
}

/// What the original of a nest left in its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedOutputs {
    /// The file, by its name in the store.
    pub file: String,
    /// Of each argument, whether it changed.
    pub changed: Vec<bool>,
    /// Nanoseconds of that call.
    pub first_call_ns: u64,
}

/// What candidates of a nest are replayed with and held against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// How the original is built.
    pub original: Build,
    /// What its compiler says of its version, where the command runs.
    pub compiler_version: String,
    /// The arguments that it is called with, by their names in the store; outputs are compared on the first of them.
    pub samples: Vec<String>,
    /// Seconds that the original takes on each of them, where the command runs.
    pub original_seconds: Vec<f64>,
    /// What it left in the first.
    pub reference: SharedOutputs,
    /// What the arguments are.
    pub arguments: Vec<Argument>,
    /// How far outputs may be apart.
    pub tolerance: Tolerance,
    /// Whether two calls of the original leave the same.
    pub is_steady: bool,
    /// Threads of each process.
    pub threads: usize,
    /// Processes that are timed at once.
    pub copies: usize,
}

impl Bench {
    /// What it is known by: all that decides about results, but for times, which are others in each run.
    pub(crate) fn name(&self) -> Result<String, serde_json::Error> {
        let reference = SharedOutputs { first_call_ns: 0, ..self.reference.clone() };
        let bench = Bench { original_seconds: Vec::new(), reference, ..self.clone() };
        Ok(hash(&serde_json::to_vec(&bench)?))
    }
}

/// A candidate that is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What it is measured with, by its name among the benches.
    pub bench: String,
    /// How it is built.
    pub build: Build,
    /// Seconds of the best so far.
    pub best_seconds: f64,
    /// Limit of one call, seconds.
    pub call_seconds: f64,
}

impl Task for Candidate {
    type Finding = Finding;

    /// All but limits of time.
    fn identity(&self) -> impl Serialize {
        let Build { text, compiler, args, link_args, .. } = &self.build;
        (&self.bench, (text, compiler, args, link_args))
    }

    fn lost(node: String, n_nodes: usize) -> Finding {
        let outcome = Outcome::Rejected { why: Rejection::Lost { nodes: n_nodes } };
        Finding { node, original_seconds: Vec::new(), outcome }
    }
}

/// What a node found of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The node.
    pub node: String,
    /// Seconds that the original takes there, on each sample.
    pub original_seconds: Vec<f64>,
    /// What came of the candidate.
    pub outcome: Outcome,
}

/// What came of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It gives the right outputs.
    Right {
        /// Seconds of one call on each sample.
        seconds: Vec<f64>,
        /// Timed calls behind the first of these.
        samples: usize,
        /// Largest relative difference of an output element.
        max_rel_error: f64,
    },
    /// It gives other outputs.
    Wrong,
    /// It cannot be built or run.
    Rejected {
        /// Why.
        why: Rejection,
    },
}

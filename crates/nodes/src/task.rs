//! What is in the files of a shared folder.

use crate::folder::hash;
use oxeye_host::HostKey;
use oxeye_measure::{Argument, Compiler, Rejection, Tolerance};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the files.
pub(crate) const SCHEMA: &str = "oxeye.nodes/1";

/// What all tasks have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionFile {
    /// Version of the files.
    pub schema: String,
    /// Version of Oxeye.
    pub version: String,
    /// The machine that nodes have to be like; `None` if all of them are this one.
    pub machine: Option<HostKey>,
    /// Where compilers run.
    pub folder: PathBuf,
    /// A node that has said nothing for so many seconds has died.
    pub lapse_seconds: f64,
}

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
pub struct Task {
    /// What it is measured with, by its name among the benches.
    pub bench: String,
    /// How it is built.
    pub build: Build,
    /// Seconds of the best so far.
    pub best_seconds: f64,
    /// Limit of one call, seconds.
    pub call_seconds: f64,
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

/// A node that takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFile {
    /// Its machine.
    pub host: String,
    /// Why it takes part no more.
    pub aside: Option<String>,
    /// Tasks that it has finished.
    pub finished: usize,
}

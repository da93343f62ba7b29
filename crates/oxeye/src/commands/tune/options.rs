//! What tuning a project is asked to do.

use crate::commands::changes::TuneOutput;
use crate::request::{Checks, DonorSearch, Focus, FpPolicy, Knowledge, RunCommand};
use oxeye_nodes::Nodes;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Everything that tuning a project needs to know besides the machine.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// How the project is built.
    pub build: BuildSource,
    /// How its program is run ([`RunCommand::in_project`]).
    pub run: RunCommand,
    /// Where the results go.
    pub output: TuneOutput,
    /// Where to save the recipes of all changed files.
    pub save_recipe: Option<PathBuf>,
    /// Where to keep what was found for [`check_project`](crate::check_project). What an earlier run has kept there of
    /// files that this one does not change stays, as long as their tuned text does.
    pub lock: Option<PathBuf>,
    /// Time for trying candidates, over all files.
    pub budget: Duration,
    /// Which nests are tuned, and which results are kept.
    pub focus: Focus,
    /// As [`Options::quick`](crate::Options::quick).
    pub quick: bool,
    /// As [`Options::fresh`](crate::Options::fresh).
    pub fresh: bool,
    /// Threads the emitted code may use; 1 emits no OpenMP.
    pub threads: u32,
    /// Whether floating-point sums may be reordered.
    pub fp: FpPolicy,
    /// How what the program leaves is compared before and after.
    pub checks: Checks,
    /// The user's word that pointer parameters of one function never overlap.
    pub no_alias: bool,
    /// How many transferred candidates of a nest are tried.
    pub top_k: usize,
    /// Where recipes that helped other nests are looked up.
    pub knowledge: Knowledge,
    /// How the nests that recipes are taken from are found.
    pub donors: DonorSearch,
    /// Nodes that measure candidates besides this machine.
    pub nodes: Option<Arc<Nodes>>,
}

impl TuneOptions {
    /// The defaults: all cores, a minute, floating point by each file's flags, a patch in the present folder.
    pub fn new(build: BuildSource, run: RunCommand) -> Self {
        Self {
            build,
            run,
            output: TuneOutput::Patch("oxeye.patch".into()),
            save_recipe: None,
            lock: None,
            budget: Duration::from_secs(60),
            focus: Focus::default(),
            quick: false,
            fresh: false,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            fp: FpPolicy::FromFlags,
            checks: Checks::default(),
            no_alias: false,
            top_k: 3,
            knowledge: Knowledge::Shipped,
            donors: DonorSearch::Embedding,
            nodes: None,
        }
    }
}

/// Where it is learnt how a project is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildSource {
    /// From the commands that this one starts, run by the shell in the present folder.
    Command(String),
    /// From a `compile_commands.json`.
    CompileCommands(PathBuf),
}

impl std::fmt::Display for BuildSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Command(command) => f.write_str(command),
            Self::CompileCommands(path) => path.display().fmt(f),
        }
    }
}

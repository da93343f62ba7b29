//! What a tuning run is asked to do.

use super::checks::Checks;
use super::compiler::Compiler;
use super::focus::Focus;
use super::found_values::FoundValues;
use super::recipe_file::NestRecipe;
use super::run_command::RunCommand;
use crate::clocks::FastClocks;
use crate::readings::Readings;
use indexmap::IndexMap;
use oxeye_database::OnDamage;
use oxeye_host::HostProfile;
use oxeye_measure::{CaptureRun, Replay, SourceLine};
use oxeye_nodes::Nodes;
use oxeye_project::{Build, Product, UnitIdx};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Everything a tuning run needs to know besides the machine it runs on.
#[derive(Clone, Debug)]
pub struct Options {
    /// The user's C file.
    pub file: PathBuf,
    /// Where the tuned file goes; `None` puts it beside the input (`gemm.c` becomes `gemm.oxeye.c`).
    pub output: Option<PathBuf>,
    /// Which nests are tuned, and which results are kept.
    pub focus: Focus,
    /// Values of symbols, for functions whose program is not there to be run.
    pub sizes: IndexMap<String, i64>,
    /// `.npy` files with the contents of arrays, for the same case.
    pub inputs: IndexMap<String, PathBuf>,
    /// How many transferred candidates of a nest are tried; and of all that are, how many of the fastest are timed against
    /// the baseline.
    pub top_k: usize,
    /// Recipes to try on their nests before the others.
    pub candidates: Vec<NestRecipe>,
    /// What `oxeye values` found: recipes that use it are tried as well.
    pub values: Option<FoundValues>,
    /// Where recipes that helped other nests are looked up.
    pub knowledge: Knowledge,
    /// How the nests that recipes are taken from are found.
    pub donors: DonorSearch,
    /// Time for everything, but for the runs of the user's own program, which come on top. A program that has not ended after
    /// twenty times the budget is stopped.
    pub budget: Duration,
    /// Leave it at what donors advise and the nests themselves suggest, however much time is left.
    pub quick: bool,
    /// Measure everything anew, whatever an earlier run of the same command has measured.
    pub fresh: bool,
    /// Threads the emitted code may use; 1 emits no OpenMP.
    pub threads: u32,
    /// Whether floating-point sums may be reordered.
    pub fp: FpPolicy,
    /// The user's word that pointer parameters of one function never overlap.
    pub no_alias: bool,
    /// The compiler and its arguments.
    pub compiler: Compiler,
    /// The Python that has DaCe, for DaCe programs; `None` looks for one.
    pub python: Option<PathBuf>,
    /// How the program is run.
    pub run: RunCommand,
    /// How what the program leaves is compared before and after.
    pub checks: Checks,
    /// The project that the file is part of, where its program is built by more than the compiler's one command.
    pub project: Option<ProjectFile>,
    /// What it runs on.
    pub machines: Machines,
    /// Seed of randomly drawn inputs.
    pub seed: u64,
    /// Where to save the recipes of the winners.
    pub save_recipe: Option<PathBuf>,
    /// A folder for the fastest candidates of every nest, as files that people may edit and [`rerun`](crate::rerun()).
    pub keep_candidates: Option<PathBuf>,
    /// Whether the file stands for a program in another language, in which its nests have to be found again one by one, and which
    /// has no other builds: no nests are tuned as one, and none is for builds with as wide vectors only.
    pub is_stand_in: bool,
}

impl Options {
    /// The defaults for `file`: compiler `cc -O3 -march=native -lm`, all cores, a minute, floating point by flags.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            output: None,
            focus: Focus::default(),
            sizes: IndexMap::new(),
            inputs: IndexMap::new(),
            top_k: 3,
            candidates: Vec::new(),
            values: None,
            knowledge: Knowledge::Shipped,
            donors: DonorSearch::Embedding,
            budget: Duration::from_secs(60),
            quick: false,
            fresh: false,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            fp: FpPolicy::FromFlags,
            no_alias: false,
            compiler: Compiler::default(),
            python: None,
            run: RunCommand::default(),
            checks: Checks::default(),
            project: None,
            machines: Machines::default(),
            seed: 20_250_101,
            save_recipe: None,
            keep_candidates: None,
            is_stand_in: false,
        }
    }

    /// Where the tuned file goes.
    pub fn output_path(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| default_output(&self.file))
    }

    /// Whether floating-point reassociation is allowed under policy and flags.
    pub fn reassociate(&self) -> bool {
        match self.fp {
            FpPolicy::Strict => false,
            FpPolicy::Reassociate => true,
            FpPolicy::FromFlags => self.compiler.allows_reassociation(),
        }
    }

    /// Where files go that nodes have to see; `None` if there are no others than this machine.
    pub(crate) fn shared_folder(&self) -> Option<&Path> {
        self.machines.nodes.as_deref().map(Nodes::work_folder)
    }

    /// Whether a product with zero is zero, under policy and flags.
    pub fn finite(&self) -> bool {
        self.fp != FpPolicy::Strict && self.compiler.has_finite_math()
    }
}

/// What a run runs on.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    /// What this machine can do, where that was just found out; `None` takes the kept profile, or measures.
    pub profile: Option<HostProfile>,
    /// Nodes that measure candidates besides it.
    pub nodes: Option<Arc<Nodes>>,
}

/// The place of a file in a project.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    pub(crate) build: Arc<Build>,
    /// What was read of it.
    pub(crate) readings: Readings,
    /// The program or library that it is part of.
    pub(crate) product: Product,
    /// The file among the units of the project.
    pub(crate) unit: UnitIdx,
    /// Flags for linking besides those of the product.
    pub(crate) link_flags: Vec<String>,
    /// How the program ran as it was built at first.
    pub(crate) run: Arc<ProjectRun>,
    /// The folder below which files that it includes are part of the project.
    pub(crate) owned: PathBuf,
    /// Those of them that were changed for another file.
    pub(crate) closed: BTreeSet<PathBuf>,
    /// What was seen of its nests when those of all files were observed.
    pub(crate) observed: Option<Arc<Observed>>,
    /// Whether it is known that the program gains nothing from OpenMP directives that the build leaves off.
    pub(crate) stays_asleep: bool,
    /// What the nests of all files are replayed with, if it was built for them.
    pub(crate) replay: Option<Replay>,
}

/// What was seen of the nests of one file in a run that observed those of several.
#[derive(Debug)]
pub(crate) struct Observed {
    /// The file as it ran. Whoever reads the file in another way has other nests.
    pub(crate) text: String,
    pub(crate) run: CaptureRun,
}

/// A program of a project as it is: how long it takes, what it prints, and where its time goes.
#[derive(Clone, Debug)]
pub(crate) struct ProjectRun {
    /// Seconds of a run.
    pub(crate) seconds: f64,
    /// What each run printed.
    pub(crate) outputs: Vec<Vec<u8>>,
    pub(crate) clocks: FastClocks,
    /// Its sampled call stacks, over all runs.
    pub(crate) stacks: Vec<Vec<SourceLine>>,
}

/// Where a tuned file goes unless told otherwise: `dir/gemm.c` becomes `dir/gemm.oxeye.c`.
pub fn default_output(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map_or("c".into(), |e| e.to_string_lossy());
    file.with_file_name(format!("{stem}.oxeye.{extension}"))
}

/// Whether the order of floating-point sums and products may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FpPolicy {
    /// Never: results stay bit for bit.
    Strict,
    /// Always.
    Reassociate,
    /// As the compile flags say: `-ffast-math`, `-Ofast` and `-fassociative-math` allow it.
    #[default]
    FromFlags,
}

/// Where recipes that helped other nests are looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Nowhere: schedules are suggested from the nest alone.
    Nothing,
    /// In the database that is part of the program.
    #[default]
    Shipped,
    /// In a file of the user's, over the database of a server, if one is named, and that which is part of the program.
    Own {
        /// The file. It need not exist.
        path: PathBuf,
        /// What to do if it is damaged.
        on_damage: OnDamage,
        /// The address of a PostgreSQL server. Where it cannot be reached, the others serve.
        server: Option<String>,
    },
}

/// How the nests that recipes are taken from are found. All but the first are for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DonorSearch {
    /// Those of the same normal form, then the nearest by the learnt embedding with the profile of a run.
    #[default]
    Embedding,
    /// The same by the learnt embedding without a profile.
    Static,
    /// The same by hand-made features, without predictions of the encoder.
    HandMade,
    /// Any, drawn at random.
    Random,
    /// None: suggested schedules only.
    None,
}

impl DonorSearch {
    /// All, in the order of reports.
    pub const ALL: [DonorSearch; 5] = [
        DonorSearch::Embedding,
        DonorSearch::Static,
        DonorSearch::HandMade,
        DonorSearch::Random,
        DonorSearch::None,
    ];

    /// As in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DonorSearch::Embedding => "embedding",
            DonorSearch::Static => "static",
            DonorSearch::HandMade => "hand-made",
            DonorSearch::Random => "random",
            DonorSearch::None => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_output_stands_beside_the_input() {
        let options = Options::new("some/dir/gemm.c");
        assert_eq!(options.output_path(), Path::new("some/dir/gemm.oxeye.c"));
    }
}

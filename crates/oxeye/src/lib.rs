//! Tunes the loop nests of C programs: the pipeline as a library.
//!
//! [`optimize()`] is the whole of it, the composition of one function a stage, each returning a new named type. Inside a
//! [`Session`], which is what the run was asked and what it runs on, everything that is known of a nest is in one place
//! ([`TunedNest`]) and grows from stage to stage:
//!
//! | stage | returns |
//! |---|---|
//! | [`read`] | [`Unit`], the functions of the file with their nests |
//! | [`capture()`] | [`Captured`], what the nests are called with |
//! | [`propose`] | [`Proposed`], schedules to try, each proved legal and rendered |
//! | [`open`] | [`Proposed`], with the loops inside nests for which there are no schedules |
//! | [`measure`] | [`Measured`], what became of each, and the winners |
//! | [`second_round`] | [`Measured`], with the nests that were too short to matter before others became fast |
//! | [`emit`] | [`Emitted`], the tuned file, and the whole program before and after |
//! | [`report`] | [`Report`] |
//!
//! ```
//! use oxeye::{Compiler, Options, Silent};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("sum.c");
//! std::fs::write(&file, "
//!     #include <stdio.h>
//!     static double a[300][300], s[300];
//!     int main(void) {
//!         for (int t = 0; t < 20; t++)
//!             for (int j = 0; j < 300; j++)
//!                 for (int i = 0; i < 300; i++)
//!                     s[j] += a[i][j] + t;
//!         printf(\"%g\\n\", s[7]);
//!     }")?;
//! let mut options = Options::new(&file);
//! options.compiler = Compiler::from_words(&["gcc".into(), "-O2".into()], &file);
//! options.budget = Duration::from_secs(5);
//! let report = oxeye::optimize(&options, &Silent)?;
//! for nest in &report.nests {
//!     println!("line {}: {:?} times faster by {:?}", nest.line, nest.speedup, nest.recipe);
//! }
//! assert!(folder.path().join("sum.oxeye.c").exists());
//! # Ok(())
//! # }
//! ```
//!
//! Candidates come from nests that are like this one, as far as [`Options::knowledge`] allows: see [`Advice`]. [`explain()`]
//! tells how they were found.
//!
//! [`search()`] goes the same way with a search in place of the candidates and their measurement. Both can tell what they
//! have learnt as entries of a recipe database ([`optimize_and_learn`]).
//!
//! [`tune()`] does the same for the files of a project, whose options an `oxeye.toml` keeps ([`ProjectConfig`]);
//! [`replay_project`] applies what it found again, and [`check_project`] tells whether it still holds.
//!
//! It prints nothing and parses no command line; a [`Progress`] hears what happens. It never overwrites the input
//! unless told to by name, and writes files whole or not at all.
//!
//! # Inside
//!
//! Downwards, so that a line uses only what is below it:
//!
//! ```text
//! lib.rs            the stages by name, and what is public
//! commands/         optimize, search, explain, profile (profile_run: its traced run), replay, check_build, rerun, doctor: each
//!                   a composition of stages; values and flow, from one watched run (watching); sdfg: DaCe programs, as C and
//!                   back; tune: optimize for the files
//!                   of a project, replay and check of one; changes: patches, copies, files in place
//! search/           a search of every nest in place of propose and measure
//! stages/           directives (those that the build leaves off), read, capture (synthetic_inputs, shares), propose (rewrite_trials), open, group, measure/ (bench, doubts, screen, select, guard, shrink, cut, choose, special, wide),
//!                   second_round, emit (good_part: what of the winners is good together), kept (recipes by the text they make), report (unchanged, time_report (nest_time), source_report, search_report, sizes_report, html), record
//! nest.rs           Workpiece: the file, its program, and its nests; TunedNest: all that is known of one nest
//! whole.rs          the whole program before and after, and how what it leaves is compared
//! mix.rs            classes of calls by size: which are timed, and what gains and losses on them come to
//! coverage.rs       which loops, files and the rest of the program take its time
//! transfer/         donors and advice
//! session.rs        what a run was asked, what it runs on, what it knows
//! workshop.rs       the compiler, the temporary folder, variants of the user's file
//! knowledge/        what nests are known by; the built-in encoder and recipe database
//! schedule/         schedules proved and rendered; first steps from what `values` found; the record of a trial
//! machine/          caches, cores and vectors; what a nest does; its roofs
//! budget.rs         how time is shared out: `WallTime` is the one clock of a run, asked through `Session`
//! parallel.rs       work on all cores in which a panic is the failure of its own item
//! random.rs         random numbers that are the same everywhere
//! causes.rs         why nests are left out and results not kept, with what would help
//! request/          options, compiler, progress, errors, files, recipe files
//! ```
//!
//! A step that can fail in two ways, as the thing at hand or as the whole run, returns a `Setback`, which says which.

mod budget;
mod causes;
mod clocks;
mod commands;
mod coverage;
mod ending;
mod knowledge;
mod machine;
mod mix;
mod nest;
mod openmp;
mod parallel;
mod random;
mod readings;
mod request;
mod schedule;
mod search;
mod session;
mod stages;
mod transfer;
mod whole;
mod workshop;
mod written;

pub use causes::{LeftOut, NotInNests, NotKept};
pub use commands::{
    BuildFinding, BuildOutcome, BuildSource, CANDIDATES_SCHEMA, CHECK_BUILD_SCHEMA, CHECK_SCHEMA,
    CONFIG_FILE, CandidateExplanation, CheckBuildOptions, CheckBuildReport, CheckOptions, CheckReport,
    CheckedFile, CheckedNest, CheckedProgram, DOCTOR_SCHEMA, DebugBuild, DescribedNest, Diagnosis,
    DonorExplanation, Duplicate, EXPLAIN_SCHEMA, ExplainOptions, ExplainReport, FLOW_SCHEMA, FileReport,
    Finding, Flow, FlowNest, FlowReport, Health, INSPECT_SCHEMA, InspectReport, LOCK_FILE, LOCK_SCHEMA,
    LockedFile, LockedMachine, LockedNest, LockedProgram, Looked, Misfit, NestExplanation, NestFile,
    NestPlace, PROFILE_SCHEMA, PhaseSeconds, ProfileOptions, ProfileReport, ProjectConfig, ProjectLock,
    ProjectReading, ProjectReplay, REPLAY_SCHEMA, RERUN_SCHEMA, RefusalExplanation, ReplayOptions,
    ReplayedFile, RerunCandidate, RerunFigures, RerunOptions, RerunReport, Rewritten, SkippedNest,
    TUNE_SCHEMA, TrialExplanation, TuneOptions, TuneOutput, TuneReport, ValuesFinding, ValuesNest,
    ValuesPattern, ValuesReport, WatchOptions, apply_command, check_build, check_project, doctor, explain,
    flow, inspect, optimize, optimize_and_learn, profile, replay, replay_project, replay_with, rerun,
    rewrite, search, tune, values,
};
pub use coverage::{Coverage, FileShare, LineReport, LoopShare, OutsideShare};
pub use knowledge::{
    Embedder, NestDescription, NoEncoder, Undescribed, UnreadableRecipe, recipe_text, shipped_embedder,
    shipped_recipes, stored_recipe,
};
pub use machine::{HostReport, Sizes, host_rates};
pub use mix::CallClass;
pub use nest::{
    Calls, CutCall, IllConditioned, OpenedNest, Place, ProgramRun, Standing, TunedNest, Workpiece,
};
pub use oxeye_codegen::SizeGuard;
pub use oxeye_frontend::{Unit, encoded};
pub use oxeye_measure::{ComparedFile, Pattern};
pub use oxeye_profile::NestProfile;
pub use oxeye_transform::{Recipe, STORED_RECIPE_FORMAT, StoredRecipe, Transformation, WrittenRecipe};
pub use parallel::Panicked;
pub use request::{
    Checks, Compiler, DonorSearch, Error, Event, FileRecipes, Focus, FoundValue, FoundValues, FpPolicy,
    Guard, Knowledge, LEAST_SPEEDUP, Machines, NamedLines, NamedPlace, NestRecipe, Options, OtherFiles,
    PROJECT_RECIPES_SCHEMA, Phase, PlainCompiler, Progress, ProjectFile, ProjectRecipes, RECIPE_SCHEMA,
    REPORT_SCHEMA, RecipeFile, RunCommand, SavedRecipes, Silent, VALUES_SCHEMA, ValueRecipe, check_writable,
    default_output, is_same_file, parse_duration, write_atomically,
};
pub use schedule::{Choice, Proved, Schedule, SizeTiming, Timing, Trial, Unproved, Verdict};
pub use search::{SEARCH_SCHEMA, SearchOptions, trial_recipes};
pub use session::{Session, interrupt};
pub use stages::{
    ArrayReport, BuildReport, Captured, ComparedMethod, DiagnosticReport, Emitted, FpReport, GuardReport,
    InlinedReport, Measured, NestReport, NestSearchReport, ProgramReport, Proposed, Report, SearchReport,
    SizeReport, SourceReport, TimeReport, TrialReport, TriedReport, Unchanged, capture, emit, measure, open,
    propose, read, report, second_round, shared_time, wake_directives,
};
pub use transfer::{Advice, AdvisedOption, AdvisedRefusal, AlignedNode, Donor, DonorTrial};

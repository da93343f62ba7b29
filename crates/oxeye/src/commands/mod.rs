//! What can be asked of the library, each a composition of stages.
//!
//! In: options. Out: a report or a tuned text, and the tuned file where one is written. Nothing else here decides anything
//! about a nest.
//!
//! `explain` goes the same way as far as measured and tells what it saw. `values` and `flow` stop after reading: the nests are
//! rendered as they were read, with every memory access instrumented (`codegen::watched_program`, `measure::watch`), and the program
//! is run so once. `search` replaces two of the stages, propose and
//! measure, by a search of every nest; what comes before and after is the same.
//!
//! `check-build` makes debug builds of a tuned file (`commands::check_build`). Its nests are rendered from the IR once more, by their
//! recipes (kept by the tuned text: `stages::kept`) or as its text is read, with `RenderOptions::checks`: every access becomes one
//! through `codegen/src/c/checks.c`, which compares its index with the extent of the dimension and its address with what the nest
//! *as it was read* reaches (`Context::check_ranges`, from the ranges of the alias tests). `rerun` builds, verifies and times files
//! of candidates that people edited (`commands::rerun`), on the bench of `measure`. `profile` traces the program's own run
//! (`measure::trace`, `commands/profile_run.rs`): `codegen::trace_program` puts a call at both ends of every nest, and the functions
//! by which gcc's OpenMP starts parallel regions are wrapped when the program is linked.
//!
//! A library that another program loads is replaced where it is loaded (`RunCommand::stand_in`, `project/src/c/stand_in.c`), it or
//! a copy of it, so that every stage runs the user's own command.

mod changes;
mod check_build;
mod doctor;
mod explain;
mod flow;
mod inspect;
mod nests;
mod optimize;
mod patch;
mod profile;
mod profile_cache;
mod profile_report;
mod profile_run;
mod replay;
mod rerun;
mod sdfg;
mod search;
mod sweeps;
mod tune;
mod values;
mod watching;

pub use changes::{TuneOutput, apply_command};
pub use check_build::{
    BuildFinding, BuildOutcome, CHECK_BUILD_SCHEMA, CheckBuildOptions, CheckBuildReport, DebugBuild,
    check_build,
};
pub use doctor::{DOCTOR_SCHEMA, Diagnosis, Finding, Health, doctor};
pub use explain::{
    CandidateExplanation, DescribedNest, DonorExplanation, EXPLAIN_SCHEMA, ExplainOptions, ExplainReport,
    NestExplanation, RefusalExplanation, TrialExplanation, explain,
};
pub use flow::{Duplicate, FLOW_SCHEMA, Flow, FlowNest, FlowReport};
pub use inspect::{INSPECT_SCHEMA, InspectReport, flow, inspect, values};
pub use nests::{NestFile, NestPlace};
pub use optimize::{optimize, optimize_and_learn};
pub use profile::profile;
pub use profile_report::{PROFILE_SCHEMA, ProfileOptions, ProfileReport, SkippedNest};
pub use replay::{Misfit, Rewritten, replay, replay_with, rewrite};
pub use rerun::{
    CANDIDATES_SCHEMA, RERUN_SCHEMA, RerunCandidate, RerunFigures, RerunOptions, RerunReport, rerun,
};
pub use search::search;
pub use tune::{
    BuildSource, CHECK_SCHEMA, CONFIG_FILE, CheckOptions, CheckReport, CheckedFile, CheckedNest,
    CheckedProgram, FileReport, LOCK_FILE, LOCK_SCHEMA, LockedFile, LockedMachine, LockedNest, LockedProgram,
    PhaseSeconds, ProjectConfig, ProjectLock, ProjectReading, ProjectReplay, REPLAY_SCHEMA, ReplayOptions,
    ReplayedFile, TUNE_SCHEMA, TuneOptions, TuneReport, check_project, replay_project, tune,
};
pub use values::{Finding as ValuesFinding, Pattern as ValuesPattern, ValuesNest, ValuesReport};
pub use watching::{Looked, WatchOptions};

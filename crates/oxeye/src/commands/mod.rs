//! What can be asked of the library, each a composition of stages.
//!
//! In: options. Out: a report or a tuned text, and the tuned file where one is written. Nothing else here decides anything
//! about a nest.

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

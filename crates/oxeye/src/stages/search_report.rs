//! How a search went, as a part of the report.

use serde::Serialize;
use std::path::PathBuf;

/// How a search went.
#[derive(Clone, Debug, Serialize)]
pub struct SearchReport {
    /// Seed of the random choices.
    pub seed: u64,
    /// The log that was written.
    pub log: Option<PathBuf>,
    /// Every nest that was searched, in the order of the search.
    pub nests: Vec<NestSearchReport>,
}

/// How the search of one nest went.
#[derive(Clone, Debug, Serialize)]
pub struct NestSearchReport {
    /// Position in the file, as in [`NestReport::id`](crate::NestReport::id).
    pub id: usize,
    /// Generations that were begun; the suggested schedules are the first.
    pub generations: usize,
    /// Candidates that were compiled and run, now or by an interrupted search before.
    pub measured: usize,
    /// Candidates that could not be proved legal, or do not apply.
    pub refused: usize,
    /// Candidates with the C text of another.
    pub duplicates: usize,
    /// Candidates that cannot beat the best by the machine's roofs.
    pub hopeless: usize,
    /// Seconds of the budget that it took.
    pub seconds: f64,
    /// Why it ended.
    pub stopped: String,
    /// Seconds of the original, screened as candidates are.
    pub baseline_seconds: f64,
    /// Seconds of the fastest candidate, or of the original if none was faster.
    pub best_seconds: f64,
    /// What every way of finding donors picked, if that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<ComparedMethod>,
}

/// What one way of finding donors picked for a nest.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedMethod {
    /// [`DonorSearch::name`](crate::DonorSearch::name); `none` picks the first of the suggested schedules.
    pub method: &'static str,
    /// Names of the schedules it picked, best guess first.
    pub picks: Vec<String>,
    /// Seconds of the fastest of them; `None` if none gave the right outputs in time.
    pub best_seconds: Option<f64>,
    /// Original by the fastest.
    pub speedup: Option<f64>,
    /// Why it picked nothing, or fell back on what it did.
    pub note: Option<String>,
}

//! What came of checking a tuned project.

use super::lock::{LockedMachine, LockedNest};
use super::stopwatch::PhaseSeconds;
use serde::Serialize;
use std::path::PathBuf;

/// Version of the JSON form of a [`CheckReport`].
pub const CHECK_SCHEMA: &str = "oxeye.check/1";

/// What checking a tuned project found.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// [`CHECK_SCHEMA`].
    pub schema: &'static str,
    /// Whether all is as it was.
    pub passed: bool,
    /// What is not, in sentences.
    pub failures: Vec<String>,
    /// This machine; `None` where it could not be measured, or there was nothing to measure.
    pub machine: Option<LockedMachine>,
    /// By which part figures may be worse than they were, from 0 to 1.
    pub slack: f64,
    /// The program before and after.
    pub program: CheckedProgram,
    /// The files that were changed when the project was tuned.
    pub files: Vec<CheckedFile>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Where the seconds went.
    pub phases: Vec<PhaseSeconds>,
    /// Sentences on the check as a whole.
    pub notes: Vec<String>,
}

/// The program as it is now, against the one that has the original text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckedProgram {
    /// Median wall-clock time with the original text.
    pub baseline_ms: Option<f64>,
    /// Median wall-clock time as it is.
    pub optimized_ms: Option<f64>,
    /// Time of the original by that of the tuned program, of runs side by side.
    pub speedup: Option<f64>,
    /// The speedup when it was tuned.
    pub locked_speedup: Option<f64>,
    /// Whether exit code and output were compared and agree.
    pub verified: bool,
    /// What is wrong, if anything.
    pub failure: Option<String>,
}

/// A file that was changed when the project was tuned.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedFile {
    /// As seen from the root.
    pub path: PathBuf,
    /// Whether it was measured on this machine when it was tuned.
    pub same_machine: bool,
    /// What is wrong with the file as a whole, if anything.
    pub failure: Option<String>,
    /// Its rewritten nests.
    pub nests: Vec<CheckedNest>,
}

/// A nest that was rewritten.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedNest {
    /// As it was when it was tuned.
    pub locked: LockedNest,
    /// Whether its text is in the file.
    pub found: bool,
    /// Time of one invocation of the original, now.
    pub baseline_ms: Option<f64>,
    /// Time of one invocation of the new code, now.
    pub optimized_ms: Option<f64>,
    /// Original by new code, now.
    pub speedup: Option<f64>,
    /// What bounds it.
    pub bound: Option<String>,
    /// Share of that roof reached, now.
    pub roof_fraction: Option<f64>,
    /// What is wrong, if anything.
    pub failure: Option<String>,
    /// What else there is to say.
    pub note: Option<String>,
}

impl CheckReport {
    /// The report as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of a report has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has a JSON form");
        text.push('\n');
        text
    }
}

impl CheckedNest {
    /// Of which nothing is known yet.
    pub(super) fn new(locked: LockedNest, found: bool) -> Self {
        Self {
            locked,
            found,
            baseline_ms: None,
            optimized_ms: None,
            speedup: None,
            bound: None,
            roof_fraction: None,
            failure: None,
            note: None,
        }
    }
}

//! What the debug builds of a tuned file found, as a value that turns into JSON.

use crate::commands::profile_report::SkippedNest;
use serde::Serialize;
use std::path::PathBuf;

/// Name and version of the report's form.
pub const CHECK_BUILD_SCHEMA: &str = "oxeye.check-build/1";

/// What became of the debug builds.
#[derive(Clone, Debug, Serialize)]
pub struct CheckBuildReport {
    /// [`CHECK_BUILD_SCHEMA`].
    pub schema: &'static str,
    /// The user's file.
    pub input: PathBuf,
    /// The tuned file.
    pub tuned: PathBuf,
    /// The compiler and its arguments.
    pub compiler: String,
    /// Threads of the runs with several.
    pub threads: u32,
    /// Whether the accesses that are checked follow from the recipes of the tuned file; otherwise its text was read.
    pub from_recipes: bool,
    /// The builds, in the order in which they were made.
    pub builds: Vec<DebugBuild>,
    /// The nests whose accesses are not checked, and why.
    pub skipped: Vec<SkippedNest>,
    /// Whether nothing was found of which the original is free.
    pub passed: bool,
}

/// A build of the tuned file, and what it was run for.
#[derive(Clone, Debug, Serialize)]
pub struct DebugBuild {
    /// `output`, `threads`, `accesses`, `address` or `undefined`.
    pub name: &'static str,
    /// What must hold, in words.
    pub asserts: &'static str,
    /// Flags that are added to the user's.
    pub flags: Vec<String>,
    /// How it went.
    pub outcome: BuildOutcome,
    /// Why it was not done, or what there is to say of how it was.
    pub note: Option<String>,
    /// What was found.
    pub findings: Vec<BuildFinding>,
    /// Seconds of the tuned program's run, if it was run.
    pub seconds: Option<f64>,
}

/// How a debug build went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildOutcome {
    /// Nothing was found, or nothing of which the original is free.
    Passed,
    /// Something was.
    Failed,
    /// It could not be made or run here.
    NotDone,
}

/// What a debug build found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BuildFinding {
    /// `index`, `address`, `alignment`, `nan`, `difference`, or the sanitizer's word.
    pub kind: String,
    /// Where: a nest, or a line of the tuned file.
    pub place: String,
    /// What, in words.
    pub message: String,
    /// Whether the original program does it as well.
    pub in_original: bool,
}

impl DebugBuild {
    /// One that was not made yet.
    pub(super) fn new(name: &'static str, asserts: &'static str, flags: &[&str]) -> Self {
        Self {
            name,
            asserts,
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            outcome: BuildOutcome::NotDone,
            note: None,
            findings: Vec::new(),
            seconds: None,
        }
    }

    /// The same, with the reason why it could not be made or run.
    pub(super) fn not_done(self, why: impl Into<String>) -> Self {
        Self { note: Some(why.into()), ..self }
    }

    /// The same, with what was found by a run that took so long.
    pub(super) fn found(self, seconds: f64, findings: Vec<BuildFinding>) -> Self {
        let is_new = findings.iter().any(|finding| !finding.in_original);
        let outcome = if is_new { BuildOutcome::Failed } else { BuildOutcome::Passed };
        Self { outcome, findings, seconds: Some(seconds), ..self }
    }
}

impl CheckBuildReport {
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

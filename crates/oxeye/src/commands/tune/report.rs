//! What came of tuning a project.

use super::stopwatch::PhaseSeconds;
use crate::request::ProjectRecipes;
use crate::stages::{
    NestReport, NestsOfFile, ProgramReport, Report, Unchanged, nodes_notes, share_out, unlike_nests,
};
use oxeye_nodes::{NodeReport, Nodes};
use serde::Serialize;
use std::path::PathBuf;

/// Version of the JSON form of a [`TuneReport`].
pub const TUNE_SCHEMA: &str = "oxeye.tune/1";

/// Why a file that had no turn stays as it is.
pub(super) const NOT_LOOKED_AT: &str = "the budget was spent before it could be looked at";

/// What tuning a project found and did.
#[derive(Clone, Debug, Serialize)]
pub struct TuneReport {
    /// [`TUNE_SCHEMA`].
    pub schema: &'static str,
    /// The command that built it, or the file that lists the commands.
    pub build: String,
    /// The command that ran it.
    pub run: String,
    /// Sources that go into what is run.
    pub n_sources: usize,
    /// The patch; `None` if there is nothing in it, or the changes went elsewhere.
    pub patch: Option<PathBuf>,
    /// The folder with copies of the changed files, if they went there.
    pub folder: Option<PathBuf>,
    /// The program before and after.
    pub program: ProgramReport,
    /// Share of the program's time in nests that can be tuned, from 0 to 1; `None` if it could not be sampled.
    pub tunable: Option<f64>,
    /// Files that take time, the most first.
    pub files: Vec<FileReport>,
    /// Share of the program's time in none of these files, from 0 to 1; `None` if it could not be sampled.
    pub elsewhere: Option<f64>,
    /// The recipes of the changed files, as `--save-recipe` writes them.
    pub recipes: ProjectRecipes,
    /// Flags that tuned files and the link need besides their own.
    pub added: Vec<String>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// Seconds that trying candidates was allowed to take.
    pub budget_seconds: f64,
    /// Where the seconds went.
    pub phases: Vec<PhaseSeconds>,
    /// Nodes that measured candidates besides this machine.
    pub nodes: Vec<NodeReport>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// A file of a project.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// As seen from the folder of the patch.
    pub path: PathBuf,
    /// Its share of the program's time, from 0 to 1.
    pub share: f64,
    /// Whether it is changed in the end: its text, or only the flags that its build shall have.
    pub changed: bool,
    /// Flags that it needs besides its own.
    pub added: Vec<String>,
    /// What came of it, if it could be looked at.
    pub report: Option<Report>,
    /// Why not, or why its changes were dropped.
    pub note: Option<String>,
    /// What would help, if its changes were dropped.
    pub help: Option<String>,
}

impl FileReport {
    /// Its nests that are counted.
    pub fn counted(&self) -> impl Iterator<Item = &NestReport> {
        let nests = self.report.iter().flat_map(|report| &report.nests);
        nests.filter(|nest| nest.counts(self.changed))
    }

    /// Its nests that are counted and rewritten.
    pub fn tuned(&self) -> impl Iterator<Item = &NestReport> {
        self.counted().filter(|nest| self.changed && nest.unchanged.is_none())
    }

    fn nests(&mut self) -> Option<NestsOfFile<'_>> {
        let Report { input, nests, .. } = self.report.as_mut()?;
        Some(NestsOfFile { path: input, changed: self.changed, nests })
    }

    /// Whether more time is all that it lacks.
    pub fn is_late(&self) -> bool {
        self.note.as_deref() == Some(NOT_LOOKED_AT)
    }
}

impl TuneReport {
    /// Counts the time of the nests of all files, each part of it once.
    pub fn count_time(&mut self) {
        share_out(&mut self.files.iter_mut().filter_map(FileReport::nests).collect::<Vec<_>>());
        let reports = || self.files.iter().filter_map(|file| file.report.as_ref());
        let nests = reports().flat_map(|report| &report.nests);
        let can_be_tuned = nests.filter(|nest| nest.unchanged != Some(Unchanged::LeftOut));
        let share = can_be_tuned.filter_map(|nest| nest.time.own_share).sum();
        self.tunable = reports().any(|report| report.coverage.is_some()).then_some(share);
    }

    /// Notes where the program gains otherwise than the nests of the changed files say.
    pub(super) fn note_unlike_nests(&mut self) {
        let changed = self.files.iter().filter(|file| file.changed).filter_map(|file| file.report.as_ref());
        let note = unlike_nests(&self.program, changed.flat_map(|report| &report.nests));
        self.notes.extend(note);
    }

    /// Notes what nodes have measured.
    pub(super) fn note_nodes(&mut self, nodes: Option<&Nodes>) {
        let Some(nodes) = nodes else { return };
        self.nodes = nodes.reports();
        self.notes.extend(nodes_notes(nodes, &self.nodes));
    }

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

//! What profiling a file found, as a value that turns into JSON and into a page.

use crate::stages::measured;
use oxeye_host::{HostKey, HostProfile, now_rfc3339};
use oxeye_profile::{About, NestEntry, NestProfile, ProgramTimes, ReportData, Section, html_report};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Name and version of the report's form.
pub const PROFILE_SCHEMA: &str = "oxeye.profile/1";

/// The profiles of the nests of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileReport {
    /// [`PROFILE_SCHEMA`].
    pub schema: String,
    /// The user's file.
    pub input: PathBuf,
    /// Which machine.
    pub host: HostKey,
    /// The compiler and its arguments.
    pub compiler: String,
    /// Threads that the user's own parallel loops were given.
    pub threads: u32,
    /// Seconds of the whole program, if there is one.
    pub program_seconds: Option<f64>,
    /// Whether all of it was kept from an earlier run on the same program, inputs, compiler, flags and machine.
    pub from_cache: bool,
    /// The nests that ran, in the order of the file.
    pub nests: Vec<NestProfile>,
    /// Which of these do the work of others, too, so that their shares are not to be added: in sentences.
    #[serde(default)]
    pub shared: Vec<String>,
    /// The program's own run, section by section: its nests in the order of the file, and all of them together. Empty without a
    /// program.
    #[serde(default)]
    pub sections: Vec<Section>,
    /// The nests without a profile, and why.
    pub skipped: Vec<SkippedNest>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// A nest without a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedNest {
    /// Position in the file, from 0.
    pub id: usize,
    /// `function:line`.
    pub name: String,
    /// Why.
    pub why: String,
}

/// What a profile is made of besides the options of tuning.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// Seconds for the timing of one nest, cold and warm each.
    pub seconds: f64,
    /// Whether results of an earlier run may be used.
    pub use_cache: bool,
    /// Ask for hardware counters.
    pub counters: bool,
    /// Where the program's run is written to for trace viewers, such as Chrome's and Perfetto's; nothing is taken from an
    /// earlier run then.
    pub trace: Option<PathBuf>,
    /// Most intervals of that.
    pub trace_events: usize,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self { seconds: 0.7, use_cache: true, counters: true, trace: None, trace_events: 100_000 }
    }
}

impl ProfileReport {
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

impl ProfileReport {
    /// The report as one HTML file with plots that needs nothing else.
    pub fn to_html(&self, host: &HostProfile) -> String {
        let skipped = self.skipped.iter().map(|s| format!("{} has no profile: {}", s.name, s.why));
        let data = ReportData {
            title: self.input.display().to_string(),
            build: Some(self.compiler.clone()),
            about: About {
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                made_at: Some(now_rfc3339()),
                ..About::default()
            },
            program: ProgramTimes {
                before_ns: self.program_seconds.map(|s| measured(1e9 * s, 0.0, 1)),
                ..ProgramTimes::default()
            },
            host: host.clone(),
            threads: self.threads,
            nests: self.nests.iter().cloned().map(NestEntry::new).collect(),
            shared: self.shared.clone(),
            unread: None,
            sections: self.sections.clone(),
            notes: self.notes.iter().cloned().chain(skipped).collect(),
        };
        html_report(&data)
    }
}

//! The contents of a report.

use crate::nest::NestProfile;
use crate::sections::Section;
use crate::table::Table;
use oxeye_host::{HostProfile, Quantity};
use serde::{Deserialize, Serialize};

/// Everything in a report. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportData {
    /// The subject, such as the name of the file.
    pub title: String,
    /// How it was built and run, in a line: compiler, flags.
    pub build: Option<String>,
    /// When and by what it was made, and what to do with it.
    #[serde(default)]
    pub about: About,
    /// The whole program.
    pub program: ProgramTimes,
    /// The machine.
    pub host: HostProfile,
    /// Threads that the optimized code uses at most.
    pub threads: u32,
    /// The nests, in the order of the file.
    pub nests: Vec<NestEntry>,
    /// Which of them do the work of others, too, so that their shares are not to be added: in sentences.
    #[serde(default)]
    pub shared: Vec<String>,
    /// Loops that could not be read, those first that take most of the time; `None` where nobody looked for them.
    #[serde(default)]
    pub unread: Option<Vec<UnreadEntry>>,
    /// The run of the program section by section; empty where it was not traced.
    #[serde(default)]
    pub sections: Vec<Section>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// When and by what a report was made, and what to do with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// When it was made, in words or as RFC 3339 has it.
    pub made_at: Option<String>,
    /// The version of what made it.
    pub version: Option<String>,
    /// What was compared of the program before and after, and what was not, in sentences.
    pub compared: Vec<String>,
    /// How many nests were made faster, and of how many; `None` for all that have an entry.
    pub counted: Option<(usize, usize)>,
    /// Commands to copy: what for, and the command.
    pub commands: Vec<(String, String)>,
    /// What nests hand on to each other.
    pub flows: Vec<DataFlow>,
}

/// Arrays that one nest writes and another one, or itself in a later run, reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataFlow {
    /// The nest that writes, by its position.
    pub from: usize,
    /// The nest that reads.
    pub to: usize,
    /// The arrays, by their names.
    pub arrays: Vec<String>,
    /// Their bytes; 0 where that is not known.
    pub bytes: f64,
}

/// The whole program before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramTimes {
    /// Time of the original.
    pub before_ns: Option<Quantity>,
    /// Time of the optimized program; `None` where nothing was changed, or only a profile was asked for.
    pub after_ns: Option<Quantity>,
    /// Time before over time after, from runs in turns; the ratio of the two times if it is not given.
    pub speedup: Option<f64>,
    /// Between which bounds that lies, if it was measured often enough.
    #[serde(default)]
    pub speedup_interval: Option<(f64, f64)>,
    /// Whether exit code and output were compared and agree.
    pub verified: bool,
    /// Largest relative difference of a printed number.
    pub max_rel_error: Option<f64>,
    /// What happened, where the figures do not say it.
    pub note: Option<String>,
}

/// One nest, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestEntry {
    /// The original.
    pub before: NestProfile,
    /// The tuned nest; `None` if it stays as it is.
    pub after: Option<NestProfile>,
    /// Name of the recipe.
    pub recipe: Option<String>,
    /// Where the recipe was learnt, in words.
    pub learnt_from: Option<String>,
    /// Its steps.
    pub steps: Vec<String>,
    /// Time before over time after, where it was measured.
    pub speedup: Option<Quantity>,
    /// Whether outputs were compared and agree.
    pub verified: bool,
    /// What could not be done, and why, in words.
    pub refused: Vec<String>,
    /// Times of one invocation before and after, as they are told elsewhere; `None` for those of the profiles.
    #[serde(default)]
    pub times_ns: Option<(f64, f64)>,
    /// The part of its share that is counted for it and no other nest; `None` for all of it.
    #[serde(default)]
    pub own_share: Option<f64>,
    /// For which sizes the new code runs, in words; `None` for all.
    #[serde(default)]
    pub guard: Option<String>,
    /// The text that the new code stands in place of.
    #[serde(default)]
    pub original: Option<String>,
    /// Emitted code or differences.
    pub listings: Vec<Listing>,
    /// Why the nest stays as it is, or another remark.
    pub note: Option<String>,
    /// What would help.
    #[serde(default)]
    pub help: Option<String>,
}

/// A text with a heading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// The heading: `emitted code`, `changes`.
    pub heading: String,
    /// The text.
    pub text: String,
}

/// A project: its program, and all nests of all its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectData {
    /// The program and its nests; the subject is the command that runs it.
    pub report: ReportData,
    /// The files that take its time.
    pub files: Vec<FileEntry>,
    /// Share of the program's time in other code, from 0 to 1: libraries, other languages; `None` if it is not known.
    pub elsewhere: Option<f64>,
    /// What the run did, and how many seconds it took.
    pub phases: Vec<(String, f64)>,
}

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path.
    pub path: String,
    /// Its share of the program's time before, from 0 to 1.
    pub share: f64,
    /// The share in nests that can be tuned; `None` if it is not known.
    pub tunable: Option<f64>,
    /// Nests that matter.
    pub nests: usize,
    /// Those that were made faster.
    pub tuned: usize,
    /// Why it is not changed, or what else there is to say.
    pub note: Option<String>,
}

/// A loop that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnreadEntry {
    /// File and line.
    pub place: String,
    /// Its share of the program's time, from 0 to 1; `None` if it is not known.
    pub share: Option<f64>,
    /// Why not.
    pub reason: String,
    /// What would help.
    pub help: Option<String>,
}

impl NestEntry {
    /// A nest with nothing but a profile.
    pub fn new(before: NestProfile) -> NestEntry {
        NestEntry {
            before,
            after: None,
            recipe: None,
            learnt_from: None,
            steps: Vec::new(),
            speedup: None,
            verified: false,
            refused: Vec::new(),
            times_ns: None,
            own_share: None,
            guard: None,
            original: None,
            listings: Vec::new(),
            note: None,
            help: None,
        }
    }

    /// Time before over time after.
    pub fn speedup(&self) -> Option<f64> {
        let after = self.after.as_ref()?;
        let measured = self.speedup.map(|speedup| speedup.value);
        let of_times = || Some(self.before.runtime_ns()?.value / after.runtime_ns()?.value);
        measured.or_else(of_times).filter(|speedup| speedup.is_finite())
    }

    /// Time of one invocation before, in nanoseconds.
    pub fn before_ns(&self) -> Option<f64> {
        self.times_ns.map(|(before, _)| before).or_else(|| Some(self.before.runtime_ns()?.value))
    }

    /// Time of one invocation of the changed nest.
    pub fn after_ns(&self) -> Option<f64> {
        let after = self.after.as_ref()?;
        self.times_ns.map(|(_, after)| after).or_else(|| Some(after.runtime_ns()?.value))
    }

    /// The state that counts: after, if the nest was changed.
    pub fn latest(&self) -> &NestProfile {
        self.after.as_ref().unwrap_or(&self.before)
    }
}

impl ReportData {
    /// Whether a nest was changed or a changed program was run: otherwise the report is a profile.
    pub fn has_after(&self) -> bool {
        self.program.after_ns.is_some() || self.nests.iter().any(|n| n.after.is_some())
    }

    /// The final states of the nests as a table.
    pub fn table(&self) -> Table {
        Table::of(&self.nests.iter().map(|n| n.latest().clone()).collect::<Vec<_>>())
    }
}

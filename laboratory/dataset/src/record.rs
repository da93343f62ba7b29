//! The measurements of one nest: a line of the journal and a row of the dataset.

use crate::nest::GeneratedNest;
use oxeye_embed::HostVector;
use serde::{Deserialize, Serialize};

/// One nest with its response to the panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The nest; its sizes are those that were measured.
    pub nest: GeneratedNest,
    /// The nest that the panel was applied to, as IR text: the normal form, or the nest as generated.
    pub subject: String,
    /// Hash of the normal form, in hexadecimal.
    pub normal_hash: String,
    /// The machine it was measured on.
    pub host: HostVector,
    /// Processor model.
    pub cpu: String,
    /// Threads of parallel loops.
    pub threads: u32,
    /// First line of what the compiler prints about itself.
    pub compiler: String,
    /// Flags for all versions.
    pub flags: String,
    /// [`oxeye_transform::templates::PANEL_VERSION`].
    pub panel_version: u32,
    /// Bytes of the arrays.
    pub footprint_bytes: f64,
    /// Floating-point operations of one run.
    pub flops: f64,
    /// Best seconds of a run as generated.
    pub source_seconds: Option<f64>,
    /// One entry per template, in the order of the panel; the first is the unchanged subject.
    pub panel: Vec<Response>,
    /// The second measurement.
    pub retest: Option<Retest>,
    /// Why there are no measurements.
    pub failure: Option<String>,
    /// The nest with the same normal form whose measurements hold for this one, which then has none.
    pub same_form_as: Option<String>,
    /// Seconds that judging, compiling, and timing took.
    pub cost: [f64; 3],
}

/// The outcome of one template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The template.
    pub template: String,
    /// Its status.
    pub status: Status,
    /// Best seconds of a run.
    pub seconds: Option<f64>,
    /// Median seconds of a run.
    pub median_seconds: Option<f64>,
    /// The first template that gives the same C text.
    pub same_as: Option<usize>,
    /// The recipe, or why there is none.
    pub detail: String,
}

/// The status of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Legal, right, and timed.
    Timed,
    /// It does not fit the nest, or cannot be proved legal.
    Inapplicable,
    /// It could not be written as C.
    Unwritable,
    /// The compiler refused it or took too long.
    Uncompiled,
    /// Its outputs were wrong.
    Wrong,
    /// It crashed.
    Crashed,
    /// It took far longer than the nest as generated.
    TimedOut,
}

impl Status {
    /// All, in the order of their numbers in files.
    pub const ALL: [Status; 7] = [
        Status::Timed,
        Status::Inapplicable,
        Status::Unwritable,
        Status::Uncompiled,
        Status::Wrong,
        Status::Crashed,
        Status::TimedOut,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Status::Timed => "timed",
            Status::Inapplicable => "inapplicable",
            Status::Unwritable => "unwritable",
            Status::Uncompiled => "uncompiled",
            Status::Wrong => "wrong",
            Status::Crashed => "crashed",
            Status::TimedOut => "timed_out",
        }
    }
}

/// A second measurement of the unchanged subject and one template, in a process of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retest {
    /// The template.
    pub template: usize,
    /// Best seconds of the unchanged subject.
    pub subject_seconds: f64,
    /// Best seconds of the template.
    pub seconds: f64,
}

impl Record {
    /// Seconds of the unchanged subject.
    pub fn subject_seconds(&self) -> Option<f64> {
        self.panel.first()?.seconds
    }

    /// log2 of each template's speedup over the unchanged subject, if it was timed.
    pub fn log_speedups(&self) -> Vec<Option<f64>> {
        let subject = self.subject_seconds();
        self.panel.iter().map(|r| Some((subject? / r.seconds?).log2())).collect()
    }

    /// Difference between the two measurements of log2 speedup.
    pub fn retest_difference(&self) -> Option<f64> {
        let retest = self.retest.as_ref()?;
        let first = self.log_speedups().get(retest.template).copied().flatten()?;
        Some((retest.subject_seconds / retest.seconds).log2() - first)
    }
}

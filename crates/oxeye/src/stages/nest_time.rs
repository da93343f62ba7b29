//! How much of the program's time is in a nest, as reports have it.

use serde::Serialize;
use std::path::PathBuf;

/// How much of the program's time is in a nest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeReport {
    /// Share of the original program's time, with that of nests that do part of its work.
    pub share: Option<f64>,
    /// The part of the share that is counted for this nest: time that several nests have is counted for one of them, for
    /// rewritten ones first. Over all nests of a report these add up to no more than 1.
    pub own_share: Option<f64>,
    /// Whether another nest, for which its time is counted, has its work as well.
    pub covered: bool,
    /// The nests, by their `id`, that do its work as well: its loop is in theirs, or in a function that they call.
    pub within: Vec<usize>,
    /// Functions of other files whose bodies it has in place of their calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<InlinedReport>,
}

/// A function of another file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InlinedReport {
    /// Its name.
    pub function: String,
    /// The file.
    pub file: PathBuf,
}

//! One watched run of a program: what its nests read and write, and which feeds which.

use super::flow::{self, FlowReport};
use super::sdfg;
use super::values::{self, ValuesReport};
use super::watching::{WatchOptions, watched_file};
use crate::request::{Error, Options, Progress};
use crate::session::Session;
use serde::Serialize;

/// Name and version of the report's form.
pub const INSPECT_SCHEMA: &str = "oxeye.inspect/1";

/// What one run showed.
#[derive(Clone, Debug, Serialize)]
pub struct InspectReport {
    /// [`INSPECT_SCHEMA`].
    pub schema: &'static str,
    /// What the values have in common that nests read and write.
    pub values: ValuesReport,
    /// What flows between the nests.
    pub flow: FlowReport,
}

impl InspectReport {
    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").unwrap_or_default()
    }
}

/// Finds out what the loop nests of `options.file` read and write, and what flows between them: runs the program twice as it is
/// and once watched.
///
/// # Errors
/// If there is no program, or it cannot be built or run.
pub fn inspect(
    options: &Options,
    watching: &WatchOptions,
    progress: &dyn Progress,
) -> Result<InspectReport, Error> {
    if sdfg::is_sdfg(&options.file) {
        let mut found = sdfg::as_c(options, |c| inspect(c, watching, progress))?;
        (found.values.input, found.flow.input) = (options.file.clone(), options.file.clone());
        return Ok(found);
    }
    let session = Session::for_watching(options, progress)?;
    let watched = session.outcome(watched_file(&session, watching))?;
    Ok(InspectReport {
        schema: INSPECT_SCHEMA,
        values: values::report(&session, &watched),
        flow: flow::report(&session, &watched),
    })
}

/// [`inspect`], and of that the values.
///
/// # Errors
/// As [`inspect`].
pub fn values(
    options: &Options,
    watching: &WatchOptions,
    progress: &dyn Progress,
) -> Result<ValuesReport, Error> {
    Ok(inspect(options, watching, progress)?.values)
}

/// [`inspect`], and of that the flow.
///
/// # Errors
/// As [`inspect`].
pub fn flow(
    options: &Options,
    watching: &WatchOptions,
    progress: &dyn Progress,
) -> Result<FlowReport, Error> {
    Ok(inspect(options, watching, progress)?.flow)
}

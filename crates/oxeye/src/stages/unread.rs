//! The loops that could not be read, as pages have them.

use super::report::{DiagnosticReport, Report};
use crate::coverage::LineReport;
use oxeye_profile::UnreadEntry;
use std::collections::BTreeSet;
use std::path::Path;

/// Loops with a smaller share of the time are not listed.
const LEAST_SHARE: f64 = 0.005;

/// The loops of a file that stay as they are because they could not be read, those first that take most of the time. Where nothing
/// is known of the time, all of them in the order of the file.
pub(crate) fn unread(report: &Report, file: &Path) -> Vec<UnreadEntry> {
    let place = |line: &LineReport| match &line.file {
        Some(_) => line.to_string(),
        None => format!("{}:{line}", file.display()),
    };
    let Some(coverage) = &report.coverage else {
        let mut seen = BTreeSet::new();
        let entry = |told: &DiagnosticReport| {
            let line = told.loop_place().or(told.place()).filter(|line| seen.insert(line.clone()))?;
            let (reason, help) = (told.message.clone(), told.help.clone());
            Some(UnreadEntry { place: place(&line), share: None, reason, help })
        };
        return report.diagnostics.iter().filter_map(entry).collect();
    };
    let loops = coverage.loops.iter().filter(|found| found.share >= LEAST_SHARE);
    let entry = |(line, share): (&LineReport, f64)| {
        let (reason, help) = reason(report, line);
        UnreadEntry { place: place(line), share: Some(share), reason, help }
    };
    let mut found: Vec<UnreadEntry> = loops.map(|found| entry((&found.line, found.share))).collect();
    found.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    found
}

/// Why a loop stays as it is, and what would help.
fn reason(report: &Report, line: &LineReport) -> (String, Option<String>) {
    if let Some(told) = report.diagnostics.iter().find(|told| told.loop_place().as_ref() == Some(line)) {
        return (told.message.clone(), told.help.clone());
    }
    let nest = report.nests.iter().find(|nest| nest.line == *line);
    let note = nest.and_then(|nest| nest.note.clone().or(nest.unchanged?.words().map(str::to_owned)));
    (note.unwrap_or_else(|| "it is no loop nest that can be tuned".to_owned()), None)
}

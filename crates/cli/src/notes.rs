//! Loops that stay as they are, as compilers print notes: `FILE:LINE:COLUMN: note: ...`, which editors jump to.

use oxeye::{LeftOut, NestReport, Report, TuneReport};
use std::path::Path;

/// Of a file, a line a loop.
pub(crate) fn of_file(report: &Report) -> String {
    lines(&report.input, report)
}

/// Of the files of a project that were looked at.
pub(crate) fn of_project(report: &TuneReport) -> String {
    let files = report.files.iter().filter_map(|file| Some(lines(&file.path, file.report.as_ref()?)));
    files.collect()
}

fn lines(path: &Path, report: &Report) -> String {
    let path = path.display().to_string();
    let unread = report.diagnostics.iter().map(|found| {
        let help = found.help.iter().map(|help| format!("; {help}"));
        let words = std::iter::once(found.message.clone()).chain(help).collect::<String>();
        (found.file.as_deref(), found.line, found.column, words)
    });
    let unchanged = report.nests.iter().filter_map(|nest| {
        let (line, column) = (nest.line.line, nest.line.column.unwrap_or(1));
        Some((nest.line.file.as_deref(), Some(line), Some(column), why_unchanged(nest)?))
    });
    let mut found: Vec<_> = unread.chain(unchanged).collect();
    found.sort();
    found.dedup();
    let line = |(file, line, column, words): (Option<&str>, Option<u32>, Option<u32>, String)| {
        let place = [line, column].into_iter().flatten().map(|number| format!(":{number}"));
        let place = place.collect::<String>();
        // A message is one line, whatever it cites.
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}{place}: note: {words}\n", file.unwrap_or(&path))
    };
    found.into_iter().map(line).collect()
}

/// Why a nest stays as it is; `None` if it does not, nothing is told, or the run only looks.
fn why_unchanged(nest: &NestReport) -> Option<String> {
    let cause = nest.unchanged.as_ref()?;
    let why = nest.note.clone().or_else(|| cause.words().map(str::to_owned))?;
    (why != LeftOut::DryRun.to_string()).then_some(why)
}

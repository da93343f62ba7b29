//! What a run would be about: the nests with their shares of the time, which would not be tuned and why, and what could
//! not be read.

use crate::columns::{Column, table, wrapped};
use crate::table::{percent, refused_loops, time};
use crate::terminal::View;
use oxeye::{FileReport, NestReport, Report, TuneReport};
use std::path::Path;

/// Of a file.
pub(crate) fn of_file(report: &Report, view: View) -> String {
    let rows = rows(&report.input, report);
    let before = report.program.baseline_ms.map(|ms| format!(": {}", time(ms))).unwrap_or_default();
    let mut out = format!("{}{before}\n", report.input.display());
    out += &nests(rows, view);
    refused_loops(report).iter().for_each(|sentence| out += &wrapped(sentence, view.width));
    report.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    out + CLOSING
}

/// Of a project.
pub(crate) fn of_project(report: &TuneReport, view: View) -> String {
    let before = report.program.baseline_ms.map(|ms| format!(": {}", time(ms))).unwrap_or_default();
    let mut out = wrapped(&format!("{}{before}", report.run), view.width);
    let of_file = |file: &FileReport| file.report.as_ref().map(|report| rows(&file.path, report));
    out += &nests(report.files.iter().filter_map(of_file).flatten().collect(), view);
    for file in &report.files {
        for sentence in file.report.iter().flat_map(refused_loops) {
            out += &wrapped(&format!("{}: {sentence}", file.path.display()), view.width);
        }
        if let Some(note) = &file.note {
            let text = format!("{}, {} of the time: {note}", file.path.display(), percent(file.share));
            out += &wrapped(&text, view.width);
        }
    }
    report.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    out + CLOSING
}

const CLOSING: &str = "nothing was tried, and nothing written (--dry-run)\n";

/// A nest: its share, where it is, and what would become of it.
type Row = (Option<f64>, Vec<String>);

fn rows(file: &Path, report: &Report) -> Vec<Row> {
    let row = |nest: &NestReport| {
        let place = format!("{}:{} {}", file.display(), nest.line, nest.function);
        let share = nest.time.share.map(percent).unwrap_or_default();
        // Not to be added to that of the nest that it is in.
        let share = if nest.time.covered { format!("({share})") } else { share };
        (nest.time.share, vec![share, place, nest.note.clone().unwrap_or_else(|| "would be tuned".into())])
    };
    report.nests.iter().map(row).collect()
}

/// A line a nest, those with most of the time first.
fn nests(mut rows: Vec<Row>, view: View) -> String {
    if rows.is_empty() {
        return "no loop nest was found that can be tuned\n".into();
    }
    rows.sort_by(|a, b| b.0.unwrap_or(0.0).total_cmp(&a.0.unwrap_or(0.0)));
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
    let has_covered = rows.iter().any(|row| row[0].starts_with('('));
    let table =
        table(&[Column::numbers("share"), Column::words("nest"), Column::words("")], &rows, view.width);
    table + if has_covered { "shares in parentheses are part of another nest's\n" } else { "" }
}

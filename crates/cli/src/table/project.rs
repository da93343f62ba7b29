//! The report of tuning a project, for people.

use super::{build_with, conditioning, details, guards, is_listed, nests, percent, unchanged, unread};
use crate::columns::wrapped;
use crate::terminal::View;
use console::Style;
use oxeye::{FileReport, NestReport, Report, TuneReport, Unchanged};
use std::fmt::Write;

/// From this share on, time outside of loops is told of.
const WORTH_A_LINE: f64 = 0.05;
/// So many files are named in the last lines of a report.
pub(super) const MOST_NAMED: usize = 2;

/// Everything about the files of a project and their nests.
pub(super) fn full_project(report: &TuneReport, view: View) -> String {
    let mut out: String = report.files.iter().map(|file| section(file, view)).collect();
    out += &wrapped(&summary(report), view.width);
    let needs = |file: &&FileReport| !file.added.is_empty();
    let changed = report.files.iter().filter(|file| file.changed).filter(needs);
    let names: Vec<String> = changed.map(|file| file.path.display().to_string()).collect();
    // Fewer are named in the last lines.
    if names.len() > MOST_NAMED {
        let added: Vec<&str> = report.added.iter().map(String::as_str).collect();
        out += &wrapped(&build_with(&names, &added), view.width);
    }
    out
}

/// Whether the text of a file is another. Flags may be all that makes its program faster.
pub(super) fn is_rewritten(file: &FileReport) -> bool {
    let nests = file.report.iter().flat_map(|report| &report.nests);
    file.changed && nests.into_iter().any(|nest| nest.recipe.is_some())
}

/// A file with its nests.
pub(super) fn section(file: &FileReport, view: View) -> String {
    let heading = format!("{}: {} of the time", file.path.display(), percent(file.share));
    let heading = format!("{}\n", view.styled(Style::new().bold(), &heading));
    let mut out = String::new();
    if let Some(report) = &file.report {
        if report.nests.iter().any(is_listed) {
            out += &nests(report, view);
        }
        out += &guards(report, view);
        out += &unchanged(report, view);
        report.nests.iter().for_each(|nest| out += &details(nest, report.host.provisional, view));
        out += &unread(report, view);
        out += &outside(file, report, view);
        out += &conditioning(report, view);
        report.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    }
    if let Some(note) = &file.note {
        out += &wrapped(&format!("left as it is: {note}"), view.width);
    }
    if out.is_empty() {
        out += "none of its loops takes time of its own\n";
    }
    heading + &out + "\n"
}

/// How much of a file's time is in none of its loops, if that is worth a word.
fn outside(file: &FileReport, report: &Report, view: View) -> String {
    let share = report.coverage.as_ref().map_or(0.0, |found| found.elsewhere.min(file.share));
    match share >= WORTH_A_LINE {
        true => wrapped(&format!("{} of the time is outside of loops", percent(share)), view.width),
        false => String::new(),
    }
}

/// How much of the time is in nests, and what became of these.
fn summary(report: &TuneReport) -> String {
    let can_be_tuned = |nest: &&NestReport| nest.unchanged != Some(Unchanged::LeftOut);
    let counted = || report.files.iter().map(|file| file.counted().filter(can_be_tuned));
    let n_files = counted().filter_map(|mut nests| nests.next()).count();
    let nests: Vec<&NestReport> = counted().flatten().collect();
    let n_tuned = report.files.iter().flat_map(FileReport::tuned).count();
    let n_at_roof = nests.iter().filter(|nest| nest.unchanged == Some(Unchanged::AtRoof)).count();
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    if report.tunable.is_none() {
        return format!("{} tuned", count(n_tuned, "nest"));
    }
    if nests.is_empty() {
        return "no nest that can be tuned takes a share of the time worth a word".into();
    }
    let share: f64 = nests.iter().filter_map(|nest| nest.time.own_share).sum();
    let mut text = format!(
        "{} of the time is in {} that can be tuned, in {}; {n_tuned} tuned",
        percent(share),
        count(nests.len(), "nest"),
        count(n_files, "file"),
    );
    if n_at_roof > 0 {
        let _ = write!(text, ", {n_at_roof} at {} roof", if n_at_roof == 1 { "its" } else { "their" });
    }
    text
}

//! The report of tuning a project, for people.

use super::{
    compared_less, conditioning, details, figures, guards, is_listed, is_outermost, nests, percent,
    same_output, time, unchanged, unread,
};
use crate::columns::wrapped;
use crate::terminal::View;
use console::Style;
use oxeye::{FileReport, NestReport, Report, TuneReport};
use std::fmt::Write;

/// At this share of its roof and above, nobody need look further.
const AT_ITS_ROOF: f64 = 0.9;
/// From this share on, time outside of loops is told of.
const WORTH_A_LINE: f64 = 0.05;

/// Everything about a project. `command` is how the program is run; `kept` says whether what was found is kept for checks.
pub(super) fn full_project(report: &TuneReport, command: &str, kept: bool, view: View) -> String {
    let mut out = String::new();
    for file in &report.files {
        out += &section(file, view);
    }
    report.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    out += &wrapped(&summary(report), view.width);
    out += &program(report, command, view);
    let flags = match report.added.as_slice() {
        [] => String::new(),
        added => {
            let needs = |file: &&FileReport| !file.added.is_empty();
            let changed = report.files.iter().filter(|file| file.changed).filter(needs);
            let names: Vec<String> = changed.map(|file| file.path.display().to_string()).collect();
            format!("compile {} and link with {} for these times", names.join(", "), added.join(" "))
        }
    };
    if let Some(patch) = &report.patch {
        let try_it = oxeye::apply_command(patch);
        out += &wrapped(&format!("patch written to {}; try it with: {try_it}", patch.display()), view.width);
    } else if let Some(folder) = &report.folder {
        let text = format!("copies of the changed files written to {}", folder.display());
        out += &wrapped(&text, view.width);
    } else if report.files.iter().any(is_rewritten) {
        out += "the files are changed in place\n";
    } else {
        out += "nothing is changed\n";
    }
    if !flags.is_empty() {
        out += &wrapped(&flags, view.width);
    }
    if report.files.iter().any(is_rewritten) {
        out += &wrapped(
            match kept {
                true => "kept in oxeye.lock.json; oxeye check tells whether it stays as fast",
                false => "--save-config keeps these options and what was found, for oxeye check",
            },
            view.width,
        );
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
    let reports: Vec<&Report> = report.files.iter().filter_map(|file| file.report.as_ref()).collect();
    // Nests inside others are in the time of those.
    let outermost = |report: &&'_ Report| {
        let listed: Vec<_> = report.nests.iter().filter(|nest| is_listed(nest)).collect();
        listed.iter().copied().filter(|nest| is_outermost(nest, &listed)).cloned().collect::<Vec<_>>()
    };
    let nests: Vec<NestReport> = reports.iter().flat_map(outermost).collect();
    let n_files = reports.iter().filter(|report| report.nests.iter().any(is_listed)).count();
    // A nest counts as tuned, too, where loops inside it are.
    let is_tuned = |nest: &NestReport, all: &[NestReport]| {
        nest.recipe.is_some()
            || all.iter().any(|inner| inner.recipe.is_some() && inner.within.contains(&nest.id))
    };
    let changed = report.files.iter().filter(|file| file.changed).filter_map(|file| file.report.as_ref());
    let n_tuned: usize = changed
        .map(|report| outermost(&report).iter().filter(|nest| is_tuned(nest, &report.nests)).count())
        .sum();
    let shares: Option<f64> = nests.iter().map(|nest| nest.share).sum();
    let at_roof =
        nests.iter().filter(|nest| nest.recipe.is_none() && nest.roof_fraction >= Some(AT_ITS_ROOF));
    let n_at_roof = at_roof.count();
    let Some(tunable) = report.tunable else { return format!("{n_tuned} nests tuned") };
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "{} of the time is in {} that can be tuned, in {}; {n_tuned} tuned",
        percent(shares.filter(|_| !nests.is_empty()).map_or(tunable, |sum| sum.min(1.0))),
        count(nests.len(), "nest"),
        count(n_files, "file"),
    );
    if n_at_roof > 0 {
        let _ = write!(text, ", {n_at_roof} at {} roof", if n_at_roof == 1 { "its" } else { "their" });
    }
    text
}

fn program(report: &TuneReport, command: &str, view: View) -> String {
    let p = &report.program;
    let (Some(before), Some(after), Some(speedup)) = (p.baseline_ms, p.optimized_ms, p.speedup) else {
        return String::new();
    };
    if !report.files.iter().any(|file| file.changed) {
        return wrapped(&format!("{command}: {}, unchanged", time(before)), view.width);
    }
    let figures = figures((before, after, speedup), p.is_within_noise(), view);
    let runs = if p.samples == 1 { "run" } else { "runs" };
    let line = format!("{command}: {figures}, {} ({} {runs} each)", same_output(p), p.samples);
    let compared = compared_less(p);
    std::iter::once(&line).chain(&compared).map(|sentence| wrapped(sentence, view.width)).collect()
}

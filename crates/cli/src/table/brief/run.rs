//! What the short report is about: the same of a project and of one file.

use super::super::build_with;
use super::super::project::{MOST_NAMED, is_rewritten};
use oxeye::{FileReport, ProgramReport, Report, TuneReport};
use oxeye_nodes::NodeReport;
use std::path::Path;

/// A run, and what to do with what it found.
pub(crate) struct Run<'a> {
    /// The command that was run, or the file.
    pub(super) name: String,
    pub(super) program: &'a ProgramReport,
    pub(super) files: Vec<File<'a>>,
    /// Share of the time in none of the files.
    pub(super) elsewhere: Option<f64>,
    /// Whether anything is changed in the end.
    pub(super) changed: bool,
    pub(super) seconds: f64,
    pub(super) budget_seconds: f64,
    /// What measured candidates besides this machine.
    pub(super) nodes: &'a [NodeReport],
    pub(super) notes: &'a [String],
    pub(super) closing: Closing,
}

/// A file of a run.
pub(super) struct File<'a> {
    /// Its name without folders, if no other has that name.
    pub(super) name: String,
    /// Its share of the program's time; `None` if it is all there is.
    pub(super) share: Option<f64>,
    pub(super) changed: bool,
    pub(super) report: Option<&'a Report>,
    /// Why it stays as it is, and what would help.
    pub(super) note: Option<&'a str>,
    pub(super) help: Option<&'a str>,
    /// Whether it had no turn.
    pub(super) is_late: bool,
}

/// The last lines.
#[derive(Default)]
pub(super) struct Closing {
    /// What to type first, which stays in one line.
    pub(super) command: Option<String>,
    /// Said in any case.
    pub(super) needed: Vec<String>,
    /// Said where it fits into the lines of what is needed.
    pub(super) short: Vec<String>,
    /// Lines for where there is room; the last ones are a command.
    pub(super) lines: Vec<String>,
}

impl<'a> Run<'a> {
    /// Of a project. `kept` says whether what was found is kept for checks.
    pub(crate) fn of_project(report: &'a TuneReport, command: &str, kept: bool) -> Self {
        let names = names(&report.files.iter().map(|file| file.path.as_path()).collect::<Vec<_>>());
        let file = |(name, file): (String, &'a FileReport)| File {
            name,
            share: Some(file.share),
            changed: file.changed,
            report: file.report.as_ref(),
            note: file.note.as_deref(),
            help: file.help.as_deref(),
            is_late: file.is_late(),
        };
        Self {
            name: command.to_owned(),
            program: &report.program,
            files: names.into_iter().zip(&report.files).map(file).collect(),
            elsewhere: report.elsewhere,
            changed: report.files.iter().any(|file| file.changed),
            seconds: report.seconds,
            budget_seconds: report.budget_seconds,
            nodes: &report.nodes,
            notes: &report.notes,
            closing: closing(report, kept),
        }
    }

    /// Of one file. `further` is what there is to say of a search that goes on.
    pub(crate) fn of_file(report: &'a Report, further: &str) -> Self {
        let file = File {
            name: base_name(&report.input),
            share: None,
            changed: report.changed,
            report: Some(report),
            note: None,
            help: None,
            is_late: false,
        };
        let output = report.output.display();
        let flags = match report.build.added.as_slice() {
            [] => String::new(),
            added => format!("; compile it with {} added", added.join(" ")),
        };
        let written = match report.changed {
            true => format!("written to {output}{flags}"),
            false => format!("{output} is the input unchanged{flags}"),
        };
        Self {
            name: report.input.display().to_string(),
            program: &report.program,
            files: vec![file],
            elsewhere: None,
            changed: report.changed,
            seconds: report.seconds,
            budget_seconds: report.budget_seconds,
            nodes: &report.tried.nodes,
            notes: &[],
            closing: Closing {
                needed: vec![written],
                lines: further.lines().map(str::to_owned).collect(),
                ..Closing::default()
            },
        }
    }

    /// The reports of its files.
    pub(super) fn reports(&self) -> impl Iterator<Item = &'a Report> {
        self.files.iter().filter_map(|file| file.report)
    }
}

/// The names of files without their folders, where that is enough to tell them from each other.
fn names(paths: &[&Path]) -> Vec<String> {
    let short: Vec<String> = paths.iter().map(|path| base_name(path)).collect();
    let is_unique = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let whole = |path: &&Path| path.display().to_string();
    let name = |(name, path)| if is_unique(name) { name.clone() } else { whole(path) };
    short.iter().zip(paths).map(name).collect()
}

/// The name of a file without its folders.
pub(super) fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// How to get what was found.
fn closing(report: &TuneReport, kept: bool) -> Closing {
    let rewritten = report.files.iter().any(is_rewritten);
    let mut closing = Closing::default();
    if let Some(patch) = &report.patch {
        closing.command = Some(format!("apply: {}", oxeye::apply_command(patch)));
    } else if let Some(folder) = &report.folder {
        closing.needed.push(format!("copies of the changed files: {}", folder.display()));
    } else if rewritten {
        closing.needed.push("the files are changed in place".into());
    }
    if !report.added.is_empty() {
        closing.needed.push(flags(report));
    }
    if rewritten {
        let keep = if kept { "kept for `oxeye check`" } else { "keep for checks: --save-config" };
        closing.short.push(keep.into());
    }
    closing
}

/// Which files need flags besides their own.
fn flags(report: &TuneReport) -> String {
    let needs = |file: &&FileReport| !file.added.is_empty();
    let changed = report.files.iter().filter(|file| file.changed).filter(needs);
    let names: Vec<String> = changed.map(|file| base_name(&file.path)).collect();
    let names = match names.len() {
        n if n > MOST_NAMED => vec![format!("{n} files (-v names them)")],
        _ => names,
    };
    build_with(&names, &report.added.iter().map(String::as_str).collect::<Vec<_>>())
}

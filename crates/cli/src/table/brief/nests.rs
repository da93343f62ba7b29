//! The nests that count, each with the time that is counted for it.

use super::run::{File, Run, base_name};
use oxeye::{LineReport, NestReport};
use std::collections::BTreeSet;
use std::path::Path;

/// A nest that counts.
pub(super) struct Counted<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) nest: &'a NestReport,
    /// Share of the program's time that is counted for it; `None` if it is not known.
    pub(super) share: Option<f64>,
    /// Whether it is rewritten in the end.
    pub(super) is_tuned: bool,
}

impl Counted<'_> {
    /// What the program gains: a share of its time, or milliseconds where no share is known.
    pub(super) fn gain(&self) -> f64 {
        let gained = 1.0 - 1.0 / self.nest.speedup.unwrap_or(1.0);
        self.share.or(self.nest.baseline_ms).unwrap_or(0.0) * gained
    }

    pub(super) fn place(&self) -> Place {
        Place::of(self.file, &self.nest.line)
    }
}

/// All nests that count, of all files: those that are tuned first, by what the program gains; then those that have most of its
/// time. What stands in one place is counted once, of a header in all files.
pub(super) fn counted<'a>(run: &'a Run<'a>) -> Vec<Counted<'a>> {
    let mut all: Vec<Counted<'a>> = run.files.iter().flat_map(of_file).collect();
    let share = |found: &Counted<'_>| found.share.unwrap_or(0.0);
    all.sort_by(|a, b| {
        let by_gain = b.gain().total_cmp(&a.gain());
        b.is_tuned.cmp(&a.is_tuned).then(by_gain).then(share(b).total_cmp(&share(a)))
    });
    let mut seen = BTreeSet::new();
    all.retain(|found| seen.insert((found.place(), &found.nest.function)));
    all
}

/// Those of a file: none whose time is counted for another.
fn of_file<'a>(file: &'a File<'a>) -> impl Iterator<Item = Counted<'a>> {
    let nests = file.report.into_iter().flat_map(|report| &report.nests);
    let counted = move |nest: &'a NestReport| {
        let (share, is_tuned) = (nest.time.own_share, nest.unchanged.is_none() && file.changed);
        nest.counts(file.changed).then_some(Counted { file, nest, share, is_tuned })
    };
    nests.filter_map(counted)
}

/// Where something stands, in few letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    file: String,
    /// `None` for the file as a whole.
    line: Option<String>,
}

impl Place {
    /// A line of a file, or of one that it includes.
    pub(super) fn of(file: &File<'_>, line: &LineReport) -> Self {
        let included = line.file.as_deref().map(|name| base_name(Path::new(name)));
        let line = LineReport { file: None, ..line.clone() }.to_string();
        Self { file: included.unwrap_or_else(|| file.name.clone()), line: Some(line) }
    }

    /// A file.
    pub(super) fn file(name: &str) -> Self {
        Self { file: name.to_owned(), line: None }
    }

    /// Whether nobody knows where it is.
    pub(super) fn is_nowhere(&self) -> bool {
        self.file.is_empty()
    }

    /// `kernel.c:12`, and behind one of the same file `:12`.
    pub(super) fn behind(&self, before: Option<&Place>) -> String {
        match (before, &self.line) {
            (Some(before), Some(line)) if before.file == self.file => format!(":{line}"),
            _ => self.to_string(),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

//! The nests that count, each with the time that is its own.

use super::super::{WORTH_A_WORD, is_covered, is_in_time_of};
use super::run::{File, Run, base_name};
use oxeye::{LineReport, NestReport, Unchanged};
use std::collections::BTreeSet;
use std::path::Path;

/// A nest that counts.
pub(super) struct Counted<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) nest: &'a NestReport,
    /// Share of the program's time, without that of others that count; `None` if it is not known.
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

/// Who has the word for time that several nests are at work in: those rewritten, then those that were tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Tuned,
    Tried,
    Untried,
}

/// All nests that count, of all files: those that are tuned first, by what the program gains, with no more than all of its time;
/// then those that have most of it. What stands in one place is counted once, of a header in all files.
pub(super) fn counted<'a>(run: &'a Run<'a>) -> Vec<Counted<'a>> {
    let mut all: Vec<Counted<'a>> = run.files.iter().flat_map(of_file).collect();
    let share = |found: &Counted<'_>| found.share.unwrap_or(0.0);
    all.sort_by(|a, b| {
        let by_gain = b.gain().total_cmp(&a.gain());
        b.is_tuned.cmp(&a.is_tuned).then(by_gain).then(share(b).total_cmp(&share(a)))
    });
    let mut seen = BTreeSet::new();
    all.retain(|found| seen.insert((found.place(), &found.nest.function)));
    let mut left: f64 = 1.0;
    for found in all.iter_mut().filter(|found| found.is_tuned) {
        found.share = found.share.map(|share| share.min(left));
        left -= found.share.unwrap_or(0.0);
    }
    all
}

/// Those of a file: none has time that another has already.
fn of_file<'a>(file: &'a File<'a>) -> Vec<Counted<'a>> {
    let nests: Vec<&NestReport> = file.report.map(|r| r.nests.iter().collect()).unwrap_or_default();
    let ranked = nests.into_iter().filter(|nest| matters(nest)).map(|nest| (standing(nest, file), nest));
    let ranked: Vec<(Standing, &NestReport)> = ranked.collect();
    let mut kept: Vec<Counted<'_>> = Vec::new();
    for rank in [Standing::Tuned, Standing::Tried, Standing::Untried] {
        for (_, nest) in ranked.iter().filter(|(of, _)| *of == rank) {
            let is_of = |(of, outer): &(Standing, &NestReport)| {
                let is_mutual = *of == rank && is_in_time_of(outer, nest) && nest.id < outer.id;
                *of <= rank && is_in_time_of(nest, outer) && !is_mutual
            };
            if ranked.iter().any(is_of) {
                continue;
            }
            let inside = kept.iter().filter(|inner| is_in_time_of(inner.nest, nest));
            let inside: f64 = inside.filter_map(|inner| inner.share).sum();
            let share = nest.share.map(|share| (share - inside).max(0.0));
            let is_tuned = rank == Standing::Tuned;
            if is_tuned || share.is_none_or(|share| share >= WORTH_A_WORD) {
                kept.push(Counted { file, nest, share, is_tuned });
            }
        }
    }
    kept
}

/// Whether there is anything to say of a nest in a short report.
fn matters(nest: &NestReport) -> bool {
    let is_silent = match nest.unchanged {
        Some(Unchanged::TooShort) => true,
        Some(Unchanged::LeftOut) => nest.share.is_some_and(|share| share < WORTH_A_WORD),
        _ => is_covered(nest),
    };
    !is_silent
}

fn standing(nest: &NestReport, file: &File<'_>) -> Standing {
    use Unchanged::{LeftOut, NoLegalSchedule, NotReplayable, NothingTried};
    match nest.unchanged {
        None if file.changed => Standing::Tuned,
        Some(LeftOut | NoLegalSchedule | NotReplayable | NothingTried) => Standing::Untried,
        _ => Standing::Tried,
    }
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

//! Why the program is no faster than it is: causes with their share of the time, what they concern, and what would help.

use super::super::WORTH_A_WORD;
use super::nests::{Counted, Place};
use super::run::{File, Run};
use oxeye::{Coverage, LineReport, NotInNests, NotKept, Report, Unchanged};
use std::collections::{BTreeMap, BTreeSet};

/// A search is worth starting that is so many times as long as the one before, and has so many minutes.
const LONGER: f64 = 5.0;
const LEAST_MINUTES: f64 = 5.0;

/// Why some of the time stays.
pub(super) struct Cause {
    /// In a few words.
    pub(super) why: String,
    /// What it is about: `nest`, `loop` or `file`; nothing where these are not counted.
    pub(super) what: &'static str,
    /// `None` where it is not known.
    pub(super) share: Option<f64>,
    /// Where, the most time first.
    pub(super) spots: Vec<Spot>,
    /// The option that would help.
    pub(super) remedy: Option<String>,
    /// What it has in common with others of its kind.
    kind: String,
}

/// One of the places that a cause is about.
pub(super) struct Spot {
    pub(super) place: Place,
    pub(super) share: Option<f64>,
    /// What is in the way there, if that differs from place to place, and what would help.
    pub(super) message: Option<String>,
    pub(super) help: Option<String>,
}

impl Spot {
    fn at(place: Place, share: Option<f64>) -> Self {
        Self { place, share, message: None, help: None }
    }
}

/// All causes that are worth a word, those first that cost most. Their shares and those of what was tuned are no more than all.
pub(super) fn causes(run: &Run<'_>, nests: &[Counted<'_>]) -> Vec<Cause> {
    let mut found = Found { causes: Vec::new(), longer: longer(run) };
    nests
        .iter()
        .filter(|nest| !nest.is_tuned)
        .for_each(|nest| found.nest(nest, run.program.not_kept.as_ref()));
    let mut seen = BTreeSet::new();
    for file in &run.files {
        match (file.report, file.share) {
            (None, _) => found.unread_file(file),
            (Some(report), Some(share)) if report.coverage.is_none() && report.nests.is_empty() => {
                found.barren(file, report, share);
            }
            (Some(report), _) => found.report(file, report, &mut seen),
        }
    }
    if let Some(elsewhere) = run.elsewhere {
        let spot = Spot::at(Place::file(""), Some(elsewhere));
        found.add(NotInNests::OtherFilesAndLibraries.words(), "", None, spot);
    }
    let tuned: f64 = nests.iter().filter(|nest| nest.is_tuned).filter_map(|nest| nest.share).sum();
    found.sorted(1.0 - tuned)
}

/// The budget that would be worth a try.
fn longer(run: &Run<'_>) -> String {
    let minutes = (LONGER * run.budget_seconds / 60.0).ceil().max(LEAST_MINUTES);
    format!("--budget {minutes}m")
}

struct Found {
    causes: Vec<Cause>,
    longer: String,
}

impl Found {
    fn add(&mut self, why: &str, what: &'static str, remedy: Option<String>, spot: Spot) {
        self.add_of_kind(why, why, what, remedy, spot);
    }

    fn add_of_kind(&mut self, kind: &str, why: &str, what: &'static str, remedy: Option<String>, spot: Spot) {
        let known = self.causes.iter_mut().find(|cause| cause.kind == kind && cause.what == what);
        let Some(cause) = known else {
            let (kind, why, share) = (kind.to_owned(), why.to_owned(), spot.share);
            self.causes.push(Cause { why, what, share, spots: vec![spot], remedy, kind });
            return;
        };
        cause.share = cause.share.zip(spot.share).map(|(a, b)| a + b).or(cause.share).or(spot.share);
        cause.spots.push(spot);
    }

    /// A nest that stays.
    fn nest(&mut self, nest: &Counted<'_>, not_kept: Option<&NotKept>) {
        let late = nest.nest.unchanged == Some(Unchanged::NothingTried);
        let remedy = late.then(|| self.longer.clone());
        let of_file = nest.file.help.filter(|_| nest.nest.unchanged.is_none());
        let help = nest.nest.help.clone().or(of_file.map(str::to_owned));
        self.add(&why(nest, not_kept), "nest", remedy, Spot { help, ..Spot::at(nest.place(), nest.share) });
    }

    /// A file that could not be looked at.
    fn unread_file(&mut self, file: &File<'_>) {
        let spot = Spot::at(Place::file(&file.name), file.share);
        match (file.is_late, file.note) {
            (true, _) => self.add(NotInNests::NotLookedAt.words(), "file", Some(self.longer.clone()), spot),
            (false, note) => self.add(first_clause(note.unwrap_or("not looked at")), "file", None, spot),
        }
    }

    /// A file without a nest.
    fn barren(&mut self, file: &File<'_>, report: &Report, share: f64) {
        let spot = Spot::at(Place::file(&file.name), Some(share));
        match report.diagnostics.is_empty() {
            true => self.add(NotInNests::OutsideOfLoops.words(), "", None, spot),
            false => self.add(NotInNests::NoNest.words(), "file", None, spot),
        }
    }

    /// What was not read of a file, each loop with the first reason, and its time that is in no loop. `seen` are loops of headers
    /// that are known already.
    fn report(&mut self, file: &File<'_>, report: &Report, seen: &mut BTreeSet<LineReport>) {
        let mut own = BTreeSet::new();
        for trouble in &report.diagnostics {
            let Some(of_loop) = trouble.loop_place().or(trouble.place()) else { continue };
            let known = if of_loop.file.is_some() { &mut *seen } else { &mut own };
            let share = report.coverage.as_ref().map(|found| found.of_loop(&of_loop).unwrap_or(0.0));
            if share.is_some_and(|share| share <= 0.0) || !known.insert(of_loop.clone()) {
                continue;
            }
            let spot = Spot {
                place: Place::of(file, &trouble.place().unwrap_or(of_loop)),
                share,
                message: Some(trouble.message.clone()),
                help: trouble.help.clone(),
            };
            self.add_of_kind(
                &without_names(&trouble.message),
                NotInNests::Unread.words(),
                "loop",
                None,
                spot,
            );
        }
        let Some(coverage) = &report.coverage else { return };
        self.outside(file, coverage);
        // Of a project, other files have a word of their own.
        for other in coverage.files.iter().filter(|_| file.share.is_none()) {
            let name = other.file.file_name().unwrap_or_default().to_string_lossy();
            let spot = Spot::at(Place::file(&name), Some(other.share));
            self.add(NotInNests::OtherFiles.words(), "", None, spot);
        }
    }

    /// The time of a file that is in none of its loops: in libraries, by the lines that call them, and in its own code.
    fn outside(&mut self, file: &File<'_>, coverage: &Coverage) {
        let all = coverage.elsewhere.min(file.share.unwrap_or(1.0));
        let (mut lines, mut left) = (BTreeMap::new(), all);
        for found in coverage.outside.iter().filter(|found| found.library.is_some()) {
            *lines.entry(&found.line).or_insert(0.0) += found.share;
        }
        for (line, share) in lines.into_iter().filter(|(_, share)| *share >= WORTH_A_WORD) {
            let share = share.min(left);
            left -= share;
            let spot = Spot::at(Place::of(file, line), Some(share));
            self.add(NotInNests::Libraries.words(), "", None, spot);
        }
        // The rest of a project is told once, for all of its files.
        if file.share.is_some() {
            let own = coverage.outside.iter().filter(|found| found.library.is_none());
            left = left.min(own.map(|found| found.share).sum());
        }
        let spot = Spot::at(Place::file(&file.name), Some(left));
        self.add(NotInNests::OutsideOfLoops.words(), "", None, spot);
    }

    /// Those worth a word, together at most `left` of the time.
    fn sorted(self, mut left: f64) -> Vec<Cause> {
        let by_share = |a: Option<f64>, b: Option<f64>| b.unwrap_or(0.0).total_cmp(&a.unwrap_or(0.0));
        let mut causes = self.causes;
        causes.retain(|cause| cause.share.is_none_or(|share| share >= WORTH_A_WORD));
        causes.sort_by(|a, b| by_share(a.share, b.share).then(b.spots.len().cmp(&a.spots.len())));
        for cause in &mut causes {
            cause.spots.sort_by(|a, b| by_share(a.share, b.share));
            cause.share = cause.share.map(|share| share.min(left.max(0.0)));
            left -= cause.share.unwrap_or(0.0);
        }
        causes.retain(|cause| cause.share.is_none_or(|share| share >= WORTH_A_WORD));
        causes
    }
}

/// Why a nest stays, in a few words; `not_kept` is why nothing of the file is kept.
fn why(nest: &Counted<'_>, not_kept: Option<&NotKept>) -> String {
    if let Some(why) = not_kept.filter(|why| nest.nest.was_dropped_for(why)) {
        return why.short().to_owned();
    }
    let text = match nest.nest.unchanged {
        Some(reason) => {
            reason.short().unwrap_or_else(|| nest.nest.note.as_deref().map_or("left out", first_clause))
        }
        // Its file was put back as it was.
        None => nest.file.note.map_or("dropped", first_clause),
    };
    text.to_owned()
}

fn first_clause(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split("; ").next().unwrap_or(line)
}

/// A message without what it names: those of one kind are the same so.
fn without_names(message: &str) -> String {
    message.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

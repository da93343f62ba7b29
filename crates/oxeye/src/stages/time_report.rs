//! How much of the program's time nests have, in a report: the one place where shares of nests are made of which others are made.
//!
//! The time in a nest may be in others as well: in a loop around it, in a group, in a nest that has its function inlined, in
//! another file perhaps. [`share_out`] counts such time for one of them, so that what is counted adds up to no more than
//! all of the time.

use super::html::measured;
use super::nest_time::InlinedReport;
use super::report::{NestReport, ProgramReport, Report};
use super::unchanged::Unchanged;
use std::path::Path;

/// A nest may take so many times as long as one around it by measurements alone.
const MEASURED_WITHIN: f64 = 1.05;

/// A nest that stays counts from this share of the program's time on.
const LEAST_COUNTED: f64 = 0.01;
/// A program is told to gain otherwise than its nests say from so much of its time on, and from this factor on.
const LEAST_TOLD: f64 = 0.05;
const TOLD_FACTOR: f64 = 1.1;

/// The nests of a file.
pub(crate) struct NestsOfFile<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// Whether it is changed in the end.
    pub(crate) changed: bool,
    pub(crate) nests: &'a mut [NestReport],
}

/// For whom time is counted in which several nests are at work: the first of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Tuned,
    Tried,
    Untried,
    /// Of which nothing is to be said.
    Silent,
}

impl Rank {
    fn of(nest: &NestReport, changed: bool) -> Self {
        use Unchanged::{LeftOut, NoLegalSchedule, NotReplayable, NothingTried, Overlapped, TooShort};
        match nest.unchanged {
            None if changed => Self::Tuned,
            Some(TooShort | Overlapped) => Self::Silent,
            Some(LeftOut | NoLegalSchedule | NotReplayable | NothingTried) => Self::Untried,
            _ => Self::Tried,
        }
    }
}

impl Report {
    /// Counts the time of its nests, each part of it once, and makes what is known of the rest fit beside it.
    pub fn count_time(&mut self) {
        let Self { input, changed, nests, .. } = self;
        share_out(&mut [NestsOfFile { path: input, changed: *changed, nests }]);
        let counted = self.nests.iter().filter_map(|nest| Some((&nest.line, nest.time.own_share?)));
        self.coverage = self.coverage.take().map(|found| found.fitted(counted));
        for nest in &mut self.nests {
            let share = nest.time.share.map(|share| measured(share, 0.0, 1));
            let profiles = [nest.profile_before.as_mut(), nest.profile_after.as_mut()];
            profiles.into_iter().flatten().for_each(|profile| profile.share = share);
        }
    }

    /// Says where the program gains otherwise than its nests say.
    pub(super) fn note_unlike_nests(&mut self) {
        self.notes.extend(unlike_nests(&self.program, self.nests.iter()));
    }
}

impl NestReport {
    /// `function:line`, and the column where another begins in the same line.
    pub fn name(&self) -> String {
        format!("{}:{}", self.function, self.line)
    }

    /// Whether the nest is one of those that are counted, in a file that is changed in the end or not: rewritten ones, and others
    /// with time that is counted for them, if there is anything to say of them.
    pub fn counts(&self, changed: bool) -> bool {
        let has_time = |share: Option<f64>| share.is_none_or(|share| share >= LEAST_COUNTED);
        match Rank::of(self, changed) {
            _ if self.time.covered => false,
            Rank::Tuned => true,
            Rank::Silent => false,
            Rank::Tried | Rank::Untried => has_time(self.time.own_share),
        }
    }

    /// Whether the time of a nest is part of that of another one of its file.
    pub fn is_in_time_of(&self, other: &NestReport) -> bool {
        let has_within = |outer: &NestReport, inner: &NestReport| inner.time.within.contains(&outer.id);
        is_in_time_of(self, other, has_within)
    }
}

/// Whether the time of a nest is part of that of another, where `does_work_of` says whether the first of two does the work of the
/// second. If that one takes longer, most of its work is for others, and its time has that of the first in it; but for
/// neighbours that are taken as one.
fn is_in_time_of(
    nest: &NestReport,
    other: &NestReport,
    does_work_of: impl Fn(&NestReport, &NestReport) -> bool,
) -> bool {
    let fits = |outer: &NestReport, inner: &NestReport| {
        let shares = inner.time.share.zip(outer.time.share);
        shares.is_none_or(|(inner, outer)| inner <= MEASURED_WITHIN * outer) || outer.line.last.is_some()
    };
    (does_work_of(other, nest) && fits(other, nest)) || (does_work_of(nest, other) && !fits(nest, other))
}

/// Counts the time of the nests of some files, each part of it once.
pub(crate) fn share_out(files: &mut [NestsOfFile<'_>]) {
    let all: Vec<(usize, usize)> =
        files.iter().enumerate().flat_map(|(f, file)| (0..file.nests.len()).map(move |k| (f, k))).collect();
    let ranks: Vec<Rank> =
        all.iter().map(|(f, k)| Rank::of(&files[*f].nests[*k], files[*f].changed)).collect();
    // Whether the time of the first of two is counted for the second, if that is.
    let lent: &[NestsOfFile<'_>] = files;
    let is_in = |a: usize, b: usize| a != b && is_part(lent, all[a], all[b]);
    let mut own: Vec<Option<f64>> = vec![None; all.len()];
    let mut covered = vec![false; all.len()];
    for rank in [Rank::Tuned, Rank::Tried, Rank::Untried, Rank::Silent] {
        for a in (0..all.len()).filter(|a| ranks[*a] == rank) {
            let covers = |b: &usize| {
                let is_mutual = ranks[*b] == rank && is_in(*b, a) && a < *b;
                ranks[*b] <= rank && is_in(a, *b) && !is_mutual
            };
            covered[a] = (0..all.len()).any(|b| covers(&b));
            let share = files[all[a].0].nests[all[a].1].time.share;
            let inside = (0..all.len()).filter(|b| ranks[*b] <= rank && own[*b].is_some() && is_in(*b, a));
            let inside: f64 = inside.filter_map(|b| own[b]).sum();
            own[a] = share.map(|share| if covered[a] { 0.0 } else { (share - inside).max(0.0) });
        }
    }
    let factor = own.iter().flatten().sum::<f64>().max(1.0).recip();
    for (position, (f, k)) in all.into_iter().enumerate() {
        let time = &mut files[f].nests[k].time;
        time.own_share = own[position].map(|share| share * factor);
        time.covered = covered[position];
    }
}

/// Whether the time of the first of two nests is part of that of the second, each given by its file and its place there.
fn is_part(files: &[NestsOfFile<'_>], nest: (usize, usize), other: (usize, usize)) -> bool {
    let of = |(f, k): (usize, usize)| (&files[f].nests[k], files[f].path);
    let ((nest, file), (other, other_file)) = (of(nest), of(other));
    if file == other_file {
        return nest.is_in_time_of(other);
    }
    // A header's nest that several files have is one.
    let place = |nest: &NestReport, file: &Path| {
        let folder = file.parent().unwrap_or(Path::new(""));
        Some((folder.join(nest.line.file.as_ref()?), nest.line.line, nest.function.clone()))
    };
    if place(nest, file).is_some_and(|place_of_it| place(other, other_file) == Some(place_of_it)) {
        return true;
    }
    let has = |outer: &NestReport, inner: &NestReport| {
        let inner_file = if std::ptr::eq(inner, nest) { file } else { other_file };
        let is_it =
            |found: &InlinedReport| found.function == inner.function && is_same(&found.file, inner_file);
        inner.line.file.is_none() && outer.time.inlined.iter().any(is_it)
    };
    is_in_time_of(nest, other, has)
}

/// What is to be said where a program gains otherwise than the shares and the speedups of its rewritten nests say.
pub(crate) fn unlike_nests<'a>(
    program: &ProgramReport,
    nests: impl Iterator<Item = &'a NestReport>,
) -> Option<String> {
    let speedup = program.speedup?;
    let (low, high) = program.speedup_interval.unwrap_or((speedup, speedup));
    let rewritten = nests.filter(|nest| nest.unchanged.is_none());
    let gained: Option<f64> =
        rewritten.map(|nest| Some(nest.time.own_share? * (1.0 - 1.0 / nest.speedup?))).sum();
    let left = 1.0 - gained.filter(|gained| *gained != 0.0)?.min(0.99);
    let is_other = |of_program: f64| (left - 1.0 / of_program).abs() > LEAST_TOLD;
    match () {
        () if low * left > TOLD_FACTOR && is_other(low) => Some(format!(
            "by their shares and speedups the nests make the program {:.2}x; what is more comes from added flags, or from \
             where code and data now lie",
            1.0 / left
        )),
        () if high * left < 1.0 / TOLD_FACTOR && is_other(high) => Some(format!(
            "by their shares and speedups the nests would make the program {:.2}x; in it they gain less than alone",
            1.0 / left
        )),
        () => None,
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::LineReport;
    use crate::stages::TimeReport;

    /// A nest with this share of the time, within these others, rewritten or tried in vain.
    fn nest(id: usize, share: f64, within: &[usize], is_tuned: bool) -> NestReport {
        let time = TimeReport { share: Some(share), within: within.to_vec(), ..TimeReport::default() };
        let unchanged = (!is_tuned).then_some(Unchanged::NothingFaster);
        let line = LineReport::from(10 * (id as u32 + 1));
        NestReport { id, function: format!("f{id}"), line, time, unchanged, ..NestReport::default() }
    }

    fn own(nests: &mut [NestReport]) -> Vec<u32> {
        share_out(&mut [NestsOfFile { path: Path::new("a.c"), changed: true, nests }]);
        nests.iter().map(|nest| (100.0 * nest.time.own_share.unwrap_or(-1.0)).round() as u32).collect()
    }

    #[test]
    fn time_is_counted_once() {
        // A loop around two others, of which one is tuned.
        assert_eq!(
            own(&mut [nest(0, 0.9, &[], false), nest(1, 0.5, &[0], true), nest(2, 0.2, &[0], false)]),
            [40, 50, 0]
        );
        // The loop around them is tuned.
        assert_eq!(own(&mut [nest(0, 0.9, &[], true), nest(1, 0.5, &[0], true)]), [90, 0]);
        // A function that is inlined in a nest, and called more often elsewhere.
        assert_eq!(own(&mut [nest(0, 0.2, &[], true), nest(1, 0.7, &[0], true)]), [0, 70]);
        assert_eq!(own(&mut [nest(0, 0.2, &[], true), nest(1, 0.7, &[0], false)]), [20, 50]);
        // Clocks that say more than all.
        assert_eq!(own(&mut [nest(0, 0.6, &[], true), nest(1, 0.9, &[], false)]), [40, 60]);
    }

    #[test]
    fn a_loop_in_one_file_and_the_kernel_that_it_calls_in_another_are_counted_once() {
        let kernels = || vec![nest(0, 0.95, &[], true), nest(1, 0.02, &[], false)];
        let inlined = InlinedReport { function: "f0".into(), file: "src/kernels.c".into() };
        let counted = |is_tuned: bool| {
            let mut main = vec![nest(0, 0.96, &[], is_tuned)];
            main[0].time.inlined.push(inlined.clone());
            let mut kernels = kernels();
            share_out(&mut [
                NestsOfFile { path: Path::new("src/main.c"), changed: is_tuned, nests: &mut main },
                NestsOfFile { path: Path::new("src/kernels.c"), changed: true, nests: &mut kernels },
            ]);
            let all = main.iter().chain(&kernels);
            all.map(|nest| (100.0 * nest.time.own_share.unwrap_or(-1.0)).round() as u32).collect::<Vec<_>>()
        };
        assert_eq!(counted(true), [96, 0, 2]);
        assert_eq!(counted(false), [1, 95, 2]);
    }

    #[test]
    fn a_program_that_gains_otherwise_than_its_nests_is_told_of() {
        let told = |share: f64, speedup: f64, of_program: f64| {
            let mut nests = [nest(0, share, &[], true), nest(1, 0.1, &[], false)];
            nests[0].speedup = Some(speedup);
            own(&mut nests);
            let program = ProgramReport { speedup: Some(of_program), ..ProgramReport::default() };
            unlike_nests(&program, nests.iter())
        };
        assert!(
            told(0.1, 1.15, 1.6).is_some_and(|text| text.contains("make the program 1.01x; what is more"))
        );
        assert!(told(0.8, 4.0, 1.2).is_some_and(|text| text.contains("would make the program 2.50x")));
        assert_eq!((told(0.5, 2.0, 1.33), told(0.9, 10.0, 4.5), told(0.1, 1.15, 1.05)), (None, None, None));
    }

    #[test]
    fn a_nest_of_a_header_is_counted_in_one_of_its_files() {
        let of_header = || {
            let mut nest = nest(0, 0.6, &[], true);
            nest.line.file = Some("stencil.h".into());
            vec![nest]
        };
        let (mut one, mut two) = (of_header(), of_header());
        share_out(&mut [
            NestsOfFile { path: Path::new("one.c"), changed: true, nests: &mut one },
            NestsOfFile { path: Path::new("two.c"), changed: true, nests: &mut two },
        ]);
        assert_eq!((one[0].time.own_share, two[0].time.own_share), (Some(0.6), Some(0.0)));
        assert!(two[0].time.covered && !one[0].time.covered);
    }
}

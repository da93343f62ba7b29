//! From which size on a winner is faster: measured on smaller samples, and on the calls of other sizes that were timed.

use super::bench::{Bench, verdict_of};
use super::pace::Pace;
use super::select::LEAST_SPEEDUP;
use super::shrink::Shrinker;
use crate::budget::timing_seconds;
use crate::request::{Error, Setback};
use crate::schedule::{Rendering, Trial, Verdict};
use oxeye_codegen::SizeGuard;
use oxeye_measure::{MeasureError, Rejection, Sample, TimingOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A candidate that is no slower than this loses nothing that could be measured.
const NO_LOSS: f64 = 0.98;
/// Part of the time for comparing the finalists that all smaller samples have, and each of them.
const PART: f64 = 0.5;
const PART_OF_ONE: f64 = 0.04;
/// No more of a run's budget than this is for the smaller samples of one nest.
const PART_OF_BUDGET: f64 = 0.03;

/// Nor than this of what its turn has left, but for as much.
const PART_OF_TURN: f64 = 0.2;
const LEAST_SECONDS: f64 = 0.2;

/// Lengths that each extent is tried with alone, while the candidate loses: no powers of two, which may be slow for reasons
/// of their own.
const LENGTHS: [u32; 7] = [5, 9, 17, 33, 65, 129, 257];

/// How much longer it may take where the candidate was slower at the last of them.
const PATIENCE: f64 = 4.0;
/// Calls that comparing long ones takes.
const CALLS: f64 = 8.0;

/// A size at which a candidate was compared with the original.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rung {
    /// How large the nest is.
    pub(crate) size: f64,
    /// The original's time by the candidate's; 0 where the candidate must not run.
    pub(crate) speedup: f64,
    /// The same with one thread, if the candidate has several.
    pub(crate) alone: Option<f64>,
}

impl Rung {
    /// With as many threads as are best.
    fn best(&self) -> f64 {
        self.alone.map_or(self.speedup, |alone| alone.max(self.speedup))
    }

    /// With as many threads as a guard allows; `None` where it leaves the size to the original.
    fn under(&self, guard: SizeGuard) -> Option<f64> {
        let below = |least: Option<f64>| least.is_some_and(|least| self.size < least);
        let speedup = if below(guard.threads) { self.alone.unwrap_or(self.speedup) } else { self.speedup };
        (!below(guard.least)).then_some(speedup)
    }
}

/// The sizes that a candidate is for: above the largest at which it was seen to lose, and with several threads above the
/// largest at which one was faster. `wins` are sizes of calls for which it was chosen: they are not taken from it.
pub(crate) fn guard_for(rungs: &[Rung], wins: &[f64]) -> SizeGuard {
    let Some(least_win) = wins.iter().copied().reduce(f64::min) else { return SizeGuard::default() };
    let above = |is_lost: &dyn Fn(&Rung) -> bool| {
        let below = || rungs.iter().filter(|rung| rung.size < least_win);
        let lost = below().filter(|rung| is_lost(rung)).map(|rung| rung.size).reduce(f64::max)?;
        let next = below().map(|rung| rung.size).filter(|size| *size > lost).fold(least_win, f64::min);
        Some(round_between(lost, next))
    };
    let least = above(&|rung| rung.best() < NO_LOSS);
    let threads = above(&|rung| rung.alone.is_some_and(|alone| alone * NO_LOSS > rung.speedup));
    let threads = threads.filter(|threads| least.is_none_or(|least| *threads > least));
    SizeGuard { least, threads, ..SizeGuard::default() }
}

/// The number with fewest digits that is greater than `low` and not greater than `high`; the greatest of these.
fn round_between(low: f64, high: f64) -> f64 {
    if high < 1.0 {
        return high;
    }
    let magnitude = high.log10().floor() as i32;
    for digits in 0..3 {
        // Powers of ten that are whole numbers are exact.
        let shift = magnitude - digits;
        let unit = 10f64.powi(shift.abs());
        let rounded = if shift >= 0 { (high / unit).floor() * unit } else { (high * unit).floor() / unit };
        if rounded > low && rounded <= high {
            return rounded;
        }
    }
    high
}

/// A round number that is no more than half of this one, and more than a quarter: so far below what was captured, one may trust that
/// it is as it was there.
fn about_half(size: f64) -> f64 {
    round_between(size / 4.0, size / 2.0)
}

/// Finds out which sizes a trial is for that is faster than the original, and writes its text so. One that turns out to be
/// wrong at a smaller size, or whose gain does not stand without a test that cannot be written, is rejected: `false`.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn guard(bench: &Bench<'_>, how: Rendering<'_>, trial: &mut Trial) -> Result<bool, Error> {
    let mut rungs: Vec<Rung> = Vec::new();
    let ladder = Ladder::new(bench, trial);
    let is_hurried = bench.pace == Pace::Hurried;
    let smaller = match &ladder {
        Some(ladder) if !is_hurried => ladder.smaller_sizes(&mut rungs),
        _ => Ok(()),
    };
    if let Err(setback) = smaller {
        return wrong(bench, trial, setback);
    }
    let classes = trial.sizes.iter().map(|s| Rung { size: s.size, speedup: s.speedup, alone: None });
    rungs.extend(classes);
    let mut wins: Vec<f64> = trial.sizes.iter().filter(|s| s.speedup >= 1.0).map(|s| s.size).collect();
    if trial.sizes.is_empty() {
        wins.push(bench.size);
    }
    let mut guard = guard_for(&rungs, &wins);
    match &ladder {
        Some(ladder) if is_hurried => {
            (guard.least, guard.extents) = (Some(about_half(bench.size)), ladder.half_lengths());
        }
        Some(ladder) => match ladder.lengths(guard) {
            Ok(extents) => guard.extents = extents,
            Err(setback) => return wrong(bench, trial, setback),
        },
        None => {}
    }
    guard.openmp = loses_without_openmp(bench, trial, &rungs)?;
    // It may have won before, with a guard of then.
    if guard != trial.guard {
        let span = bench.site.nest().span;
        let proved = trial.proved.as_ref().map(|proved| proved.guarded(how, span, guard));
        if let Some(Ok(proved)) = proved {
            (trial.guard, trial.proved) = (guard, Some(Arc::new(proved)));
        }
    }
    let (least, sizes) = (trial.guard.least, &trial.sizes);
    if let Some(timing) = trial.timed.as_mut().filter(|_| !sizes.is_empty()) {
        *timing = timing.over(sizes, least);
        if timing.pessimistic() <= LEAST_SPEEDUP {
            let why = "it is slower on calls of another size, which cannot be told apart beforehand";
            trial.reject(Verdict::Slower, why.into());
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a trial with threads is slower than the original where the user's build stays without OpenMP. Of calls that are too long
/// for that, the largest of these sizes tells; where there is none, the original stays.
fn loses_without_openmp(bench: &Bench<'_>, trial: &Trial, rungs: &[Rung]) -> Result<bool, Error> {
    let site = bench.site;
    let (Some(library), Some(proved)) = (trial.library.as_deref(), &trial.proved) else { return Ok(false) };
    if !proved.is_parallel() || site.session.workshop.openmp_flag().is_none() {
        return Ok(false);
    }
    let max_seconds = PART * PART * timing_seconds(site.calls.share);
    let left = bench.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
    if CALLS * bench.baseline_seconds > max_seconds.max(PART_OF_TURN * left) {
        let largest =
            rungs.iter().filter(|rung| rung.alone.is_some()).max_by(|a, b| a.size.total_cmp(&b.size));
        return Ok(largest.and_then(|rung| rung.alone).is_none_or(|alone| alone < NO_LOSS));
    }
    let options = TimingOptions { max_seconds, min_samples: 5, max_samples: 15, ..TimingOptions::default() };
    let alone = bench.replay.with_threads(1);
    let compared = alone.compare_times(&bench.baseline, library, bench.sample(), &options);
    match site.session.judge(compared) {
        Ok(times) => Ok(times.ratio_median < NO_LOSS),
        Err(Setback::Item(_)) => Ok(false),
        Err(Setback::Run(error)) => Err(error),
    }
}

/// A trial that failed at a smaller size.
fn wrong(bench: &Bench<'_>, trial: &mut Trial, setback: Setback<Rejection>) -> Result<bool, Error> {
    let why = setback.item()?;
    trial.reject(verdict_of(&why), format!("at a smaller size: {}", bench.site.words(&why)));
    Ok(false)
}

/// Smaller sizes at which a winner is compared with the original.
struct Ladder<'a> {
    bench: &'a Bench<'a>,
    library: PathBuf,
    shrinker: Shrinker<'a>,
    /// Whether one thread is timed, too.
    asks_one: bool,
    /// Seconds for all of them, unless the candidate loses.
    most: f64,
}

impl<'a> Ladder<'a> {
    /// `None` where the nest has no other sizes, or none can be made.
    fn new(bench: &'a Bench<'a>, trial: &Trial) -> Option<Self> {
        let site = bench.site;
        let session = site.session;
        let (_, program, nest) = site.place.of(site.unit);
        let library = trial.library.as_deref()?.to_path_buf();
        if !site.known.constants.is_empty() {
            // There are no other sizes where the compiler knows them.
            return None;
        }
        let shrinker = Shrinker::new(
            (program, site.place.binding(site.unit)),
            nest,
            &site.calls.arguments,
            bench.sample(),
        )?;
        let in_team = program.has_team(nest.id);
        let has_threads = trial.proved.as_ref().is_some_and(|proved| proved.is_parallel());
        let asks_one = has_threads && session.threads > 1 && !in_team && !site.shares_work();
        let budget = session.options.budget.as_secs_f64();
        let left = bench.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let most = (PART * timing_seconds(site.calls.share)).min(PART_OF_BUDGET * budget);
        let most = most.min((PART_OF_TURN * left).max(LEAST_SECONDS));
        Some(Self { bench, library, shrinker, asks_one, most })
    }

    /// All extents shorter, the smallest size first, while there is time.
    fn smaller_sizes(&self, rungs: &mut Vec<Rung>) -> Result<(), Setback<Rejection>> {
        let begin = Instant::now();
        for (k, factor) in self.shrinker.factors().into_iter().enumerate() {
            // Between a loss and the size of the captured call, everything not measured is left to the original.
            let is_lost = rungs.last().is_some_and(|rung| rung.best() < NO_LOSS);
            let known = |size: f64| rungs.iter().any(|rung| rung.size == size);
            let make = |path: &Path| self.shrinker.shrunk(factor, path);
            match self.step(k, begin, is_lost, &known, &make)? {
                Step::Measured(rung) => rungs.push(rung),
                Step::Nothing => {}
                Step::TooLong => break,
            }
        }
        Ok(())
    }

    /// About half of how long each extent is that may be short where the nest is large.
    fn half_lengths(&self) -> [u32; SizeGuard::EXTENTS] {
        let mut extents = [0; SizeGuard::EXTENTS];
        for (at, length) in self.shrinker.lengths() {
            if let Some(least) = extents.get_mut(at) {
                *least = about_half(length as f64) as u32;
            }
        }
        extents
    }

    /// How long each extent must be, at sizes that a guard leaves to the candidate; 0 where it does not matter.
    fn lengths(&self, guard: SizeGuard) -> Result<[u32; SizeGuard::EXTENTS], Setback<Rejection>> {
        let mut extents = [0; SizeGuard::EXTENTS];
        let begin = Instant::now();
        let mut k = self.shrinker.factors().len();
        for (at, length) in self.shrinker.lengths() {
            let Some(least) = extents.get_mut(at) else { break };
            for short in LENGTHS.into_iter().filter(|short| i64::from(*short) < length) {
                let make = |path: &Path| self.shrinker.shortened(at, i64::from(short), path);
                k += 1;
                match self.step(k, begin, *least > 0, &|_| false, &make)? {
                    // Longer ones are left to the original until one is seen to win.
                    Step::Measured(rung) if rung.under(guard).is_some_and(|speedup| speedup < NO_LOSS) => {
                        *least = u32::try_from(length).unwrap_or(u32::MAX);
                    }
                    Step::Measured(_) if *least > 0 => {
                        *least = short;
                        break;
                    }
                    Step::Measured(_) | Step::Nothing | Step::TooLong => break,
                }
            }
        }
        Ok(extents)
    }

    /// Compares the two on the sample that `make` writes, unless its size is `known`.
    fn step(
        &self,
        k: usize,
        begin: Instant,
        is_lost: bool,
        known: &dyn Fn(f64) -> bool,
        make: &dyn Fn(&Path) -> Smaller,
    ) -> Result<Step, Setback<Rejection>> {
        let Self { bench, library, most, .. } = self;
        let session = bench.site.session;
        session.check_cancelled()?;
        let path = session.workshop.folder.join(format!("nest{}.smaller{k}.bin", bench.site.idx));
        let Some((sample, size)) = make(&path)? else { return Ok(Step::Nothing) };
        let expected = bench.baseline_seconds * size / bench.size.max(1.0);
        let patience = if is_lost { PATIENCE } else { 1.0 };
        let is_too_long = begin.elapsed().as_secs_f64() + CALLS * expected > patience * most;
        let rung = match is_too_long || known(size) {
            true => Ok(None),
            false => rung(bench, library, &sample, size, self.asks_one, most * PART_OF_ONE),
        };
        // What is left unread here would fill the folder.
        std::fs::remove_file(&path).map_err(|source| MeasureError::Io { action: "remove", path, source })?;
        Ok(match rung? {
            Some(rung) => Step::Measured(rung),
            None if is_too_long => Step::TooLong,
            None => Step::Nothing,
        })
    }
}

/// A smaller sample and its size, if there is one.
type Smaller = Result<Option<(Sample, f64)>, MeasureError>;

/// What came of one smaller size.
enum Step {
    Measured(Rung),
    /// The original does not run there, or it was measured before.
    Nothing,
    /// There is no time for it.
    TooLong,
}

/// The winner against the original on one smaller sample; `None` if the original does not run on it.
fn rung(
    bench: &Bench<'_>,
    library: &Path,
    sample: &Sample,
    size: f64,
    asks_one: bool,
    max_seconds: f64,
) -> Result<Option<Rung>, Setback<Rejection>> {
    let session = bench.site.session;
    let Ok(reference) = ok(session.judge(bench.replay.outputs(&bench.baseline, sample)))? else {
        return Ok(None);
    };
    let outputs = session.judge(bench.replay.outputs(library, sample))?;
    match bench.agreement(sample, &reference, library, &outputs) {
        Ok(_) => {}
        // Results may be ill-conditioned there, which they are not where it was chosen.
        Err(Setback::Item(Rejection::WrongOutput(_))) => {
            return Ok(Some(Rung { size, speedup: 0.0, alone: None }));
        }
        Err(setback) => return Err(setback),
    }
    let options = TimingOptions { max_seconds, min_samples: 5, max_samples: 15, ..TimingOptions::default() };
    let ratio = |threads: Option<usize>, max_seconds: f64| {
        let replay = threads.map_or_else(|| bench.replay.clone(), |n| bench.replay.with_threads(n));
        let options = TimingOptions { max_seconds, ..options };
        let compared = replay.compare_times(&bench.baseline, library, sample, &options);
        session.judge(compared).map(|times| times.ratio_median)
    };
    let mut speedup = ratio(None, max_seconds)?;
    let alone = if asks_one { Some(ratio(Some(1), max_seconds)?) } else { None };
    if speedup.max(alone.unwrap_or(0.0)) < NO_LOSS {
        // A loss costs what could be gained: once more, and longer.
        speedup = speedup.max(ratio(None, 3.0 * max_seconds)?);
    }
    Ok(Some(Rung { size, speedup, alone }))
}

/// Takes a failure of the thing at hand out of the way.
fn ok<T, R>(result: Result<T, Setback<R>>) -> Result<Result<T, R>, Setback<Rejection>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Setback::Item(why)) => Ok(Err(why)),
        Err(Setback::Run(error)) => Err(Setback::Run(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rung(size: f64, speedup: f64) -> Rung {
        Rung { size, speedup, alone: None }
    }

    fn guard(least: Option<f64>, threads: Option<f64>) -> SizeGuard {
        SizeGuard { least, threads, ..SizeGuard::default() }
    }

    #[test]
    fn no_guard_where_nothing_is_lost() {
        let rungs = [rung(1e3, 1.0), rung(1e5, 0.985), rung(1e7, 3.0)];
        assert_eq!(guard_for(&rungs, &[1e9]), guard(None, None));
        assert_eq!(guard_for(&[], &[1e9]), guard(None, None));
        assert_eq!(guard_for(&[rung(1e3, 0.5)], &[]), guard(None, None));
    }

    #[test]
    fn the_guard_is_above_the_largest_loss() {
        // As an LU that was tuned at 1024 and is slower at 333; that it wins at one size below does not help.
        let rungs = [rung(1e3, 0.2), rung(1e4, 1.1), rung(3.7e7, 0.43), rung(1.6e8, 1.3)];
        assert_eq!(guard_for(&rungs, &[1.07e9]), guard(Some(1e8), None));
        let rungs = [rung(1e3, 0.2), rung(1e4, 0.0)];
        assert_eq!(guard_for(&rungs, &[1.07e9]), guard(Some(1e9), None));
    }

    #[test]
    fn calls_for_which_it_was_chosen_keep_it() {
        let rungs = [rung(1e3, 0.5), rung(1e6, 0.5), rung(1e5, 2.0)];
        assert_eq!(guard_for(&rungs, &[1e9, 1e5]), guard(Some(1e5), None));
    }

    #[test]
    fn threads_are_for_sizes_at_which_they_pay() {
        let rung = |size, speedup, alone| Rung { size, speedup, alone: Some(alone) };
        let rungs = [rung(1e3, 0.1, 1.4), rung(2e4, 0.9, 1.5), rung(3e5, 2.5, 1.5)];
        assert_eq!(guard_for(&rungs, &[1e7]), guard(None, Some(3e5)));
        // Below 1e3 nothing is gained, and from there on by one thread.
        let rungs = [rung(900.0, 0.1, 0.8), rung(2e4, 0.9, 1.5), rung(3e5, 2.5, 1.5)];
        assert_eq!(guard_for(&rungs, &[1e7]), guard(Some(2e4), Some(3e5)));
        let rungs = [rung(900.0, 0.1, 0.8), rung(3e5, 2.5, 1.5)];
        assert_eq!(guard_for(&rungs, &[1e7]), guard(Some(3e5), None));
    }

    #[test]
    fn what_a_guard_leaves_to_the_original_is_not_lost() {
        let rung = Rung { size: 500.0, speedup: 0.7, alone: Some(1.3) };
        assert_eq!(rung.under(SizeGuard::default()), Some(0.7));
        assert_eq!(rung.under(guard(Some(400.0), Some(600.0))), Some(1.3));
        assert_eq!(rung.under(guard(Some(600.0), None)), None);
    }

    #[test]
    fn thresholds_are_round() {
        let between = [
            (333.0f64.powi(3), 615.0f64.powi(3)),
            (900.0, 1024.0),
            (1020.0, 1030.0),
            (7.0, 9.0),
            (95.0, 96.0),
        ];
        let round = between.map(|(low, high)| round_between(low, high));
        assert_eq!(round, [2e8, 1000.0, 1030.0, 9.0, 96.0]);
        assert_eq!(round_between(1023.0, 1024.0), 1024.0);
        assert_eq!([959.0f64.powi(2), 960.0, 3.0].map(about_half), [4e5, 400.0, 1.0]);
    }
}

//! The fastest candidates timed in turns with the original, and verified on every sample.

use super::bench::{Bench, Screened, original_outputs, verdict_of};
use super::pace::Pace;
use crate::budget::{LONG_SECONDS, timing_seconds};
use crate::mix::{Part, best_least};
use crate::request::{Error, Setback};
use crate::schedule::{Screening, SizeTiming, Timing, Trial, Verdict};
use oxeye_measure::{MeasureError, Patience, Rejection, TimingOptions};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A candidate must be this much faster, at the pessimistic end of the interval, to be chosen.
pub(super) const LEAST_SPEEDUP: f64 = 1.02;
/// A lot: the speedup seen in single runs that needs no repetition of long nests, and in a few of nests where many others wait.
const CLEAR_SPEEDUP: f64 = 1.25;
/// A finalist that was slower than the best by this factor when it was screened is not timed: it is not the best.
const BEHIND: f64 = 1.08;

/// From this speedup on, one whose interval tells nothing is looked at once more.
const PROMISING: f64 = 1.1;

/// What takes this many times as long as when it was screened is looked at once more: another program may have kept a
/// processor busy, which threads suffer from more than the original.
pub(crate) const DISTURBED: f64 = 1.4;

/// A candidate that gives the right outputs.
struct Finalist<'t> {
    screened: Screening,
    library: &'t Path,
}

/// Times the fastest finalists against the original: the positions of the trials that are faster beyond noise, the fastest
/// first. `finalists` are positions of trials that gave the right outputs; those that are out of the running are taken away.
/// `baseline_seconds` becomes the time of the original in its place, if that is less.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn select(
    bench: &Bench<'_>,
    finalists: &mut Vec<usize>,
    trials: &mut [Trial],
    baseline_seconds: &mut f64,
) -> Result<Vec<usize>, Error> {
    let session = bench.site.session;
    // The compiler may do better where the nest stands than in a function of its own; what counts is its place.
    if let Some(nanoseconds) = bench.sample().nanoseconds {
        *baseline_seconds = baseline_seconds.min(1e-9 * nanoseconds as f64);
    }
    let seconds_of = |trials: &[Trial], k: usize| trials[k].screened.map_or(f64::INFINITY, |s| s.score());
    let best = finalists.iter().map(|k| seconds_of(trials, *k)).fold(f64::INFINITY, f64::min);
    if *baseline_seconds > LONG_SECONDS && *baseline_seconds / best > CLEAR_SPEEDUP {
        *baseline_seconds = baseline_seconds.min(bench.again()?);
    }
    let baseline = *baseline_seconds;
    finalists.sort_by(|a, b| seconds_of(trials, *a).total_cmp(&seconds_of(trials, *b)).then(a.cmp(b)));
    let to_beat = baseline.min(bench.to_beat);
    // Where all are hurried, nothing is known of them yet.
    let is_hurried = bench.pace == Pace::Hurried;
    let may_win = |seconds: f64| seconds < to_beat || is_hurried;
    finalists.retain(|k| may_win(seconds_of(trials, *k)) && trials[*k].verdict == Verdict::Slower);
    finalists.truncate(session.options.top_k.max(1));
    let mut faster: Vec<(usize, Timing)> = Vec::new();
    let most = timing_seconds(bench.site.calls.share);
    let begin = Instant::now();
    for k in finalists.iter().copied() {
        session.check_cancelled()?;
        let seconds = seconds_of(trials, k);
        if faster.iter().any(|(best, _)| seconds > BEHIND * seconds_of(trials, *best)) {
            continue;
        }
        let Some(finalist) = Finalist::of(trials, k) else { continue };
        let left = bench.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let left = left.min(most - begin.elapsed().as_secs_f64());
        let timing = if baseline > LONG_SECONDS && baseline / seconds > CLEAR_SPEEDUP {
            Ok(Timing::by_single_runs(finalist.screened, baseline))
        } else {
            // The first is the best, as far as is known, and has most of the time.
            let seconds = (0.6 * left).max(0.2);
            let to_beat = faster.iter().map(|(_, t)| t.pessimistic()).fold(LEAST_SPEEDUP, f64::max);
            let first = compare(bench, &finalist, seconds, to_beat);
            let is_disturbed = |first: &Timing| {
                first.speedup * DISTURBED < bench.baseline_seconds / finalist.screened.seconds
            };
            match first {
                Ok(first) if is_disturbed(&first) || first.is_doubtful() => {
                    let second = compare(bench, &finalist, seconds, to_beat);
                    let is_better = |second: &Timing| match is_disturbed(&first) {
                        true => second.speedup > first.speedup,
                        false => second.pessimistic() > first.pessimistic(),
                    };
                    second.map(|second| if is_better(&second) { second } else { first })
                }
                known => known,
            }
        };
        let timing = timing.map(|timing| timing.against(baseline));
        let timing = timing.and_then(|timing| over_sizes(bench, &finalist, timing));
        match timing {
            Ok((timing, sizes)) => {
                if let Some(screened) = trials[k].screened.as_mut().filter(|_| is_hurried) {
                    (screened.seconds, screened.samples) = (timing.seconds, timing.samples);
                }
                trials[k].sizes = sizes;
                trials[k].timed = Some(timing);
                if timing.pessimistic() > LEAST_SPEEDUP {
                    faster.push((k, timing));
                }
            }
            Err(setback) => {
                let why = setback.item()?;
                trials[k].reject(verdict_of(&why), bench.site.words(&why));
            }
        }
    }
    faster.sort_by(|a, b| b.1.speedup.total_cmp(&a.1.speedup).then(a.0.cmp(&b.0)));
    Ok(faster.into_iter().map(|(k, _)| k).collect())
}

/// Whether a trial that was timed is right on every sample; if not, it is rejected.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn verify(bench: &Bench<'_>, trial: &mut Trial) -> Result<bool, Error> {
    let (Some(timing), Some(library)) = (trial.timed.as_mut(), trial.library.as_deref()) else {
        return Ok(false);
    };
    match verify_others(bench, library) {
        Ok(max_rel_error) => {
            timing.max_rel_error = timing.max_rel_error.max(max_rel_error);
            Ok(true)
        }
        Err(setback) => {
            let why = setback.item()?;
            trial.reject(verdict_of(&why), bench.site.words(&why));
            Ok(false)
        }
    }
}

/// Verifies a candidate that nobody proved on every sample, and times it in turns with the original.
///
/// # Errors
/// Why it is rejected, or why the run cannot go on.
pub(crate) fn measure_alone(
    bench: &Bench<'_>,
    library: Result<PathBuf, MeasureError>,
    max_seconds: f64,
) -> Result<Timing, Setback<Rejection>> {
    // It may be slower than the original, which is worth knowing.
    let call_seconds = 20.0 * bench.baseline_seconds + 5.0;
    let patience = Patience { best: f64::INFINITY, call_seconds, left: f64::INFINITY };
    let Screened { library, screening } = bench.run_candidate(library, patience)?;
    let mut timing = match bench.baseline_seconds > LONG_SECONDS {
        true => Timing::by_single_runs(screening, bench.baseline_seconds),
        false => {
            let finalist = Finalist { screened: screening, library: &library };
            compare(bench, &finalist, max_seconds, 0.0)?
        }
    };
    timing.max_rel_error = timing.max_rel_error.max(verify_others(bench, &library)?);
    Ok(timing)
}

impl Timing {
    /// Whether it would be chosen, but for runs that something else disturbed.
    fn is_doubtful(&self) -> bool {
        self.speedup > PROMISING && self.pessimistic() <= LEAST_SPEEDUP
    }
}

impl<'t> Finalist<'t> {
    fn of(trials: &'t [Trial], trial_idx: usize) -> Option<Self> {
        let trial = &trials[trial_idx];
        Some(Self { screened: trial.screened?, library: trial.library.as_deref()? })
    }
}

/// Times a candidate in turns with the original.
fn compare(
    bench: &Bench<'_>,
    finalist: &Finalist<'_>,
    max_seconds: f64,
    to_beat: f64,
) -> Result<Timing, Setback<Rejection>> {
    let enough_above = (bench.pace == Pace::Hurried).then_some(CLEAR_SPEEDUP);
    let options =
        TimingOptions { max_seconds, give_up_below: Some(to_beat), enough_above, ..TimingOptions::default() };
    let compared = bench.replay.compare_times(&bench.baseline, finalist.library, bench.sample(), &options);
    let times = bench.site.session.judge(compared)?;
    Ok(Timing {
        baseline_seconds: times.baseline_ns.median * 1e-9,
        seconds: times.candidate_ns.median * 1e-9,
        speedup: times.ratio_median,
        interval: Some((times.ratio_low, times.ratio_high)),
        samples: times.baseline_ns.n,
        spread: Some(times.baseline_ns.spread),
        max_rel_error: finalist.screened.max_rel_error.unwrap_or(0.0),
    })
}

/// A timing on the first sample, together with those on the others that are timed.
fn over_sizes(
    bench: &Bench<'_>,
    finalist: &Finalist<'_>,
    first: Timing,
) -> Result<(Timing, Vec<SizeTiming>), Setback<Rejection>> {
    if bench.others.is_empty() {
        return Ok((first, Vec::new()));
    }
    let Timing { baseline_seconds, seconds, speedup, interval, .. } = first;
    let (weight, size) = (bench.weight, bench.size);
    let mut sizes = vec![SizeTiming { baseline_seconds, seconds, speedup, interval, weight, size }];
    for other in &bench.others {
        let most = timing_seconds(bench.site.calls.share) * other.weight;
        let options = TimingOptions { max_seconds: most.clamp(0.1, 1.0), ..TimingOptions::default() };
        let compared = bench.replay.compare_times(&bench.baseline, finalist.library, other.sample, &options);
        let times = bench.site.session.judge(compared)?;
        sizes.push(SizeTiming {
            baseline_seconds: times.baseline_ns.median * 1e-9,
            seconds: times.candidate_ns.median * 1e-9,
            speedup: times.ratio_median,
            interval: Some((times.ratio_low, times.ratio_high)),
            weight: other.weight,
            size: other.size,
        });
    }
    let parts: Vec<Part> = sizes.iter().map(|size| size.part(size.speedup)).collect();
    Ok((first.over(&sizes, best_least(&parts)), sizes))
}

/// Compares outputs on the samples that were not screened on: the largest relative difference.
fn verify_others(bench: &Bench<'_>, library: &Path) -> Result<f64, Setback<Rejection>> {
    let session = bench.site.session;
    let mut max_rel_error = 0.0_f64;
    for sample in bench.site.calls.samples.iter().skip(1) {
        session.check_cancelled()?;
        // What takes long is compared in the whole program only, where there is no time.
        let seconds = sample.nanoseconds.map_or(0.0, |ns| 1e-9 * ns as f64);
        if seconds > LONG_SECONDS && !session.has_seconds(2.0 * seconds) {
            continue;
        }
        let reference = match session.judge(original_outputs(&bench.replay, &bench.baseline, sample)) {
            Ok(outputs) => outputs,
            // What the original cannot do again, the candidate cannot be held to.
            Err(Setback::Item(_)) => continue,
            Err(setback) => return Err(setback),
        };
        let seconds = reference.first_call_ns as f64 * 1e-9;
        let limited = bench.replay.with_call_limit(3.0 * seconds + 1.0);
        let outputs = session.judge(limited.outputs(library, sample))?;
        max_rel_error = max_rel_error.max(bench.agreement(sample, &reference, library, &outputs)?);
    }
    Ok(max_rel_error)
}

//! The end of stage 4: the fastest candidates timed in turns with the original, and the best of them verified on every
//! sample.

use crate::stages::measure::{Bench, LONG_SECONDS, MeasuredNest, original_outputs, verdict_of};
use crate::stages::report::Verdict;
use crate::{Error, Tuner};
use oxeye_measure::{Rejection, TimingOptions};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A candidate must be this much faster, at the pessimistic end of the interval, to be chosen.
const LEAST_SPEEDUP: f64 = 1.02;
/// A lot: the speedup seen in single runs that needs no repetition of long nests.
const CLEAR_SPEEDUP: f64 = 1.25;
/// Timing the finalists of a nest in turns with the original takes no longer than this, all together.
const MOST_TIMING_SECONDS: f64 = 3.0;
/// A finalist that was slower than the best by this factor when it was screened is not timed: it is not the best.
const BEHIND: f64 = 1.08;
/// The chosen candidate of a nest.
#[derive(Clone, Debug)]
pub struct Winner {
    /// Index into the trials.
    pub trial_idx: usize,
    /// Median seconds of the original in the interleaved timing.
    pub baseline_seconds: f64,
    /// Median seconds of the candidate.
    pub seconds: f64,
    /// Original by candidate.
    pub speedup: f64,
    /// Interval of the speedup, if there were enough runs for one.
    pub interval: Option<(f64, f64)>,
    /// Timed runs of each.
    pub samples: usize,
    /// Relative spread of the original's times, if there were several.
    pub spread: Option<f64>,
    /// Largest relative difference of an output element, over all samples.
    pub max_rel_error: f64,
    /// Whether floating-point sums are taken in another order.
    pub reassociated: bool,
    /// Whether its text needs OpenMP.
    pub openmp: bool,
}

/// A candidate that gives the right outputs.
pub(crate) struct Finalist {
    pub(crate) trial_idx: usize,
    pub(crate) library: PathBuf,
    pub(crate) seconds: f64,
    pub(crate) max_rel_error: f64,
    pub(crate) reassociated: bool,
    pub(crate) openmp: bool,
}

impl Tuner<'_> {
    /// Times the fastest finalists against the original and takes the best that is faster beyond noise and right on
    /// every sample.
    pub(crate) fn choose(
        &self,
        bench: &Bench<'_>,
        finalists: &mut Vec<Finalist>,
        result: &mut MeasuredNest,
    ) -> Result<(), Error> {
        // The compiler may do better where the nest stands than in a function of its own; what counts is its place.
        let in_place = bench.nest.samples[0].nanoseconds.map(|ns| ns as f64 * 1e-9);
        if let (Some(seconds), Some(in_place)) = (&mut result.baseline_seconds, in_place) {
            *seconds = seconds.min(in_place);
        }
        let baseline = result.baseline_seconds.unwrap_or(0.0);
        finalists.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.trial_idx.cmp(&b.trial_idx)));
        let still_right = |f: &Finalist| result.trials[f.trial_idx].verdict == Verdict::Slower;
        finalists.retain(|f| f.seconds < baseline && still_right(f));
        finalists.truncate(self.options.top_k.max(1));
        let mut timed: Vec<Winner> = Vec::new();
        let most = timing_seconds(bench.nest.share);
        let begin = Instant::now();
        for finalist in finalists.iter() {
            self.check_cancelled()?;
            let best = timed.iter().filter_map(|w| finalists.iter().find(|f| f.trial_idx == w.trial_idx));
            if best.into_iter().any(|best| finalist.seconds > BEHIND * best.seconds) {
                continue;
            }
            let left = bench.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
            let left = left.min(most - begin.elapsed().as_secs_f64());
            let winner = if baseline > LONG_SECONDS && baseline / finalist.seconds > CLEAR_SPEEDUP {
                Some(finalist.as_screened(baseline))
            } else {
                // The first is the best, as far as is known, and has most of the time.
                let seconds = (0.6 * left).max(0.2);
                let to_beat = timed.iter().map(Winner::pessimistic).fold(LEAST_SPEEDUP, f64::max);
                self.timed(bench, finalist, seconds, to_beat, result)?
            };
            if let Some(winner) = winner.map(|w| w.against(baseline)) {
                let trial = &mut result.trials[finalist.trial_idx];
                trial.timed_seconds = Some(winner.seconds);
                trial.timed = Some(winner.clone());
                if winner.pessimistic() > LEAST_SPEEDUP {
                    timed.push(winner);
                }
            }
        }
        timed.sort_by(|a, b| b.speedup.total_cmp(&a.speedup).then(a.trial_idx.cmp(&b.trial_idx)));
        for mut winner in timed {
            let Some(finalist) = finalists.iter().find(|f| f.trial_idx == winner.trial_idx) else { continue };
            match self.verify_others(bench, &finalist.library)? {
                Ok(max_rel_error) => {
                    winner.max_rel_error = winner.max_rel_error.max(max_rel_error);
                    result.trials[winner.trial_idx].verdict = Verdict::Chosen;
                    result.winner = Some(winner);
                    return Ok(());
                }
                Err(why) => {
                    let trial = &mut result.trials[winner.trial_idx];
                    trial.verdict = verdict_of(&why);
                    trial.why = Some(self.words(&why, bench.nest));
                }
            }
        }
        Ok(())
    }

    fn timed(
        &self,
        bench: &Bench<'_>,
        finalist: &Finalist,
        max_seconds: f64,
        to_beat: f64,
        result: &mut MeasuredNest,
    ) -> Result<Option<Winner>, Error> {
        let options = TimingOptions { max_seconds, give_up_below: Some(to_beat), ..TimingOptions::default() };
        let compared =
            bench.replay.compare_times(&bench.baseline, &finalist.library, &bench.nest.samples[0], &options);
        let times = match self.reject(compared)? {
            Ok(times) => times,
            Err(why) => {
                let trial = &mut result.trials[finalist.trial_idx];
                trial.verdict = verdict_of(&why);
                trial.why = Some(self.words(&why, bench.nest));
                return Ok(None);
            }
        };
        Ok(Some(Winner {
            baseline_seconds: times.baseline_ns.median * 1e-9,
            seconds: times.candidate_ns.median * 1e-9,
            speedup: times.ratio_median,
            interval: Some((times.ratio_low, times.ratio_high)),
            samples: times.baseline_ns.n,
            spread: Some(times.baseline_ns.spread),
            ..finalist.as_screened(0.0)
        }))
    }

    /// Compares outputs on the samples that were not screened on.
    fn verify_others(&self, bench: &Bench<'_>, library: &Path) -> Result<Result<f64, Rejection>, Error> {
        let mut max_rel_error = 0.0_f64;
        for sample in bench.nest.samples.iter().skip(1) {
            self.check_cancelled()?;
            let reference = match self.reject(original_outputs(&bench.replay, &bench.baseline, sample))? {
                Ok(outputs) => outputs,
                // What the original cannot do again, the candidate cannot be held to.
                Err(_) => continue,
            };
            let seconds = reference.first_call_ns as f64 * 1e-9;
            let limited = bench.replay.with_call_limit(3.0 * seconds + 1.0);
            let verified = limited.verify(&reference, library, sample, &bench.arguments, self.tolerance());
            match self.reject(verified)? {
                Ok(comparison) => max_rel_error = max_rel_error.max(comparison.max_rel_error),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(max_rel_error))
    }
}

impl Winner {
    /// Threads at work, where `most` are allowed.
    pub(crate) fn threads(&self, most: u32) -> u32 {
        if self.openmp { most } else { 1 }
    }

    /// The same against an original that takes less than it did in the comparison.
    fn against(mut self, baseline_seconds: f64) -> Winner {
        if baseline_seconds < self.baseline_seconds {
            let factor = baseline_seconds / self.baseline_seconds;
            self.baseline_seconds = baseline_seconds;
            self.speedup *= factor;
            self.interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        }
        self
    }

    /// The speedup at the lower end of its interval.
    fn pessimistic(&self) -> f64 {
        self.interval.map_or(self.speedup, |(low, _)| low)
    }
}

impl Finalist {
    /// A winner by single runs.
    fn as_screened(&self, baseline_seconds: f64) -> Winner {
        Winner {
            trial_idx: self.trial_idx,
            baseline_seconds,
            seconds: self.seconds,
            speedup: baseline_seconds / self.seconds,
            interval: None,
            samples: 1,
            spread: None,
            max_rel_error: self.max_rel_error,
            reassociated: self.reassociated,
            openmp: self.openmp,
        }
    }
}

/// Seconds for timing the finalists of a nest with this share of the program's time: precision is for nests that matter.
pub(crate) fn timing_seconds(share: Option<f64>) -> f64 {
    MOST_TIMING_SECONDS * (2.0 * share.unwrap_or(1.0)).clamp(0.15, 1.0)
}

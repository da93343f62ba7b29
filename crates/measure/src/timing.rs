//! Comparing the times of two replay libraries.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::MeasureError;
use crate::replay::Replay;
use crate::runner::CallTime;
use crate::sample::Sample;
use crate::statistics::{RatioInterval, Stat, ratio_interval};
use crate::team::Team;

/// When to stop comparing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimingOptions {
    /// Stop when the ratio is known this precisely: half the width of its interval, as a fraction.
    pub target_relative_precision: f64,
    /// Stop after this many wall-clock seconds. At least two pairs are taken in any case.
    pub max_seconds: f64,
    /// Fewest pairs before the precision counts as reached; 6 are needed for a confidence of 95 %.
    pub min_samples: usize,
    /// Most pairs.
    pub max_samples: usize,
    /// Stop also when the whole interval of the speedup lies below this: the candidate is of no interest then.
    pub give_up_below: Option<f64>,
    /// Stop also when the first few pairs all lie above this: how much faster the candidate is does not matter then.
    pub enough_above: Option<f64>,
}

/// So many pairs tell that a candidate is faster, where it does not matter by how much.
const TELLING_PAIRS: usize = 3;

impl Default for TimingOptions {
    fn default() -> TimingOptions {
        TimingOptions {
            target_relative_precision: 0.03,
            max_seconds: 10.0,
            min_samples: 7,
            max_samples: 100,
            give_up_below: None,
            enough_above: None,
        }
    }
}

/// The times of a baseline and a candidate on the same inputs, taken in turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeComparison {
    /// Speedup of the candidate: baseline time over candidate time.
    pub ratio_median: f64,
    /// Lower end of the speedup's interval.
    pub ratio_low: f64,
    /// Upper end of the speedup's interval.
    pub ratio_high: f64,
    /// Probability that the interval holds the speedup; 0.95 or more from 6 pairs on.
    pub confidence: f64,
    /// Whether the target precision was reached before the time ran out.
    pub converged: bool,
    /// Nanoseconds of one call of the baseline. One sample per turn: the median of the turn's calls.
    pub baseline_ns: Stat,
    /// Nanoseconds of one call of the candidate, likewise.
    pub candidate_ns: Stat,
    /// Copies of the inputs on which the call is repeated between two readings of the clock; above 1 for very short
    /// nests.
    pub copies: usize,
}

/// Shorter calls are timed on several copies at a time, as reading the clock takes time too.
const SHORT_NS: u64 = 20_000;
const BATCH_NS: u64 = 200_000;
const MAX_COPIES: u64 = 64;
const MAX_COPIED_BYTES: u64 = 1 << 20;
/// Calls shorter than this are repeated within a turn, and the turn's first call, which finds the other library's data
/// in the caches, is not counted.
const TURN_NS: u64 = 5_000_000;
/// A call whose threads waited for cores for no more than this part of its time is not disturbed.
const CALM: f64 = 0.02;

impl Replay {
    /// Times `baseline` and `candidate` in turns on `sample` until their ratio is known well enough.
    ///
    /// Each library runs in its own process; the one whose turn it is not is stopped altogether, so that its waiting
    /// threads take no processor time. Both processes are started anew as often as half of the time allows, since where
    /// memory and threads happen to lie makes a difference that lasts for a process's life. Inputs are restored,
    /// untimed, before every call. What threads wait for a core while other programs run is not in the times; of several
    /// threads that is only roughly so, since they also wait for each other, and pairs in which nobody waited count rather
    /// than others where there are enough of them.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`], naming the library, when one of them crashes or hangs.
    pub fn compare_times(
        &self,
        baseline: &Path,
        candidate: &Path,
        sample: &Sample,
        options: &TimingOptions,
    ) -> Result<TimeComparison, MeasureError> {
        let start = Instant::now();
        let budget = Duration::from_secs_f64(options.max_seconds.clamp(0.0, 1e9));
        let mut sides = [Side::start(self, baseline, sample)?, Side::start(self, candidate, sample)?];
        let longest_ns = sides.iter().map(|side| side.call_ns).max().unwrap_or(0);
        let copies = n_copies(longest_ns, sample.total_bytes());
        let min_pairs = options.min_samples.max(2);
        let mut pairs = Pairs::default();
        let mut converged = false;
        let interval = loop {
            if sides.iter().map(|side| side.used).sum::<Duration>()
                >= sides.iter().map(|side| side.start_cost).sum()
            {
                for side in &mut sides {
                    side.restart(self, sample)?;
                }
            }
            // Taking turns at going first cancels a drift of the machine's speed.
            let order = if pairs.all.len() % 2 == 0 { [0, 1] } else { [1, 0] };
            let mut is_calm = true;
            for side in order {
                is_calm &= sides[side].turn(copies)?;
            }
            pairs.add(sides[0].last() / sides[1].last(), is_calm);
            let ratios = pairs.telling(min_pairs);
            let interval = ratio_interval(ratios).unwrap_or(UNKNOWN);
            converged = converged
                || (ratios.len() >= min_pairs && interval.half_width() <= options.target_relative_precision);
            let hopeless =
                ratios.len() >= min_pairs && options.give_up_below.is_some_and(|least| interval.high < least);
            let is_enough = ratios.len() >= TELLING_PAIRS
                && options.enough_above.is_some_and(|least| ratios.iter().all(|ratio| *ratio > least));
            let used_up = start.elapsed() >= budget || pairs.all.len() >= options.max_samples;
            if converged || hopeless || is_enough || (used_up && ratios.len() >= 2) {
                break interval;
            }
        };
        let [baseline, candidate] = sides;
        Ok(TimeComparison {
            ratio_median: interval.median,
            ratio_low: interval.low,
            ratio_high: interval.high,
            confidence: interval.confidence,
            converged,
            baseline_ns: Stat::of(baseline.samples),
            candidate_ns: Stat::of(candidate.samples),
            copies,
        })
    }
}

/// Only for times of zero.
const UNKNOWN: RatioInterval = RatioInterval { median: 1.0, low: 0.0, high: f64::MAX, n: 0, confidence: 0.0 };

/// Ratios of times, one of each pair of turns.
#[derive(Default)]
struct Pairs {
    all: Vec<f64>,
    /// Those of pairs in which no thread waited for a core.
    calm: Vec<f64>,
}

impl Pairs {
    fn add(&mut self, ratio: f64, is_calm: bool) {
        self.all.push(ratio);
        if is_calm {
            self.calm.push(ratio);
        }
    }

    /// Those that count.
    fn telling(&self, enough: usize) -> &[f64] {
        if self.calm.len() >= enough { &self.calm } else { &self.all }
    }
}

/// One of the two libraries.
struct Side<'a> {
    library: &'a Path,
    runner: Team,
    /// Time to start and warm the process.
    start_cost: Duration,
    /// Time of its turns since then.
    used: Duration,
    call_ns: u64,
    samples: Vec<f64>,
}

impl<'a> Side<'a> {
    /// Starts the process, warms it, and stops it until its turn.
    fn start(replay: &Replay, library: &'a Path, sample: &Sample) -> Result<Side<'a>, MeasureError> {
        let start = Instant::now();
        let mut runner = replay.start_timing(library, sample)?;
        let first_ns = runner.call(1)?.first().map_or(0, |time| time.ns);
        // A long first call is enough, though it includes starting threads and touching memory.
        let call_ns = if first_ns > 100 * TURN_NS {
            first_ns
        } else {
            runner.call(1)?.first().map_or(0, |time| time.ns)
        };
        runner.pause();
        let (start_cost, used) = (start.elapsed(), Duration::ZERO);
        Ok(Side { library, runner, start_cost, used, call_ns: call_ns.max(1), samples: Vec::new() })
    }

    fn restart(&mut self, replay: &Replay, sample: &Sample) -> Result<(), MeasureError> {
        let fresh = Side::start(replay, self.library, sample)?;
        (self.runner, self.start_cost, self.used) = (fresh.runner, fresh.start_cost, fresh.used);
        // The shorter of two readings is the less disturbed one.
        self.call_ns = self.call_ns.min(fresh.call_ns);
        Ok(())
    }

    /// Whether it had the cores that it could run on.
    fn turn(&mut self, copies: usize) -> Result<bool, MeasureError> {
        let batch_ns = self.call_ns.saturating_mul(copies as u64);
        let n = (TURN_NS / batch_ns).clamp(1, 15) as usize;
        let warming = usize::from(batch_ns < TURN_NS);
        let start = Instant::now();
        self.runner.resume();
        let times = match copies {
            1 => self.runner.call(n + warming)?,
            _ => self.runner.together(|runner| runner.batch(copies, n + warming))?,
        };
        self.runner.pause();
        self.used += start.elapsed();
        let (ns, is_calm) = typical(&times[warming..]);
        self.samples.push(ns / copies as f64);
        Ok(is_calm)
    }

    fn last(&self) -> f64 {
        self.samples.last().copied().unwrap_or(0.0)
    }
}

/// What a call takes, by the calls of a turn, and whether no thread waited for a core: the median of the calls in which none
/// did. Where there are none of these, the least.
fn typical(times: &[CallTime]) -> (f64, bool) {
    let calm = times.iter().filter(|time| time.held_ns as f64 <= CALM * time.ns as f64);
    let calm = Stat::of(calm.map(|time| time.ns.max(1) as f64));
    if calm.n > 0 {
        return (calm.median, true);
    }
    (Stat::of(times.iter().map(|time| time.ns.max(1) as f64)).min, false)
}

/// The same for both sides, since copies change what is in the caches.
fn n_copies(call_ns: u64, bytes: u64) -> usize {
    if call_ns >= SHORT_NS {
        return 1;
    }
    let wanted = BATCH_NS / call_ns.max(1);
    let fitting = MAX_COPIED_BYTES / bytes.max(1);
    wanted.min(fitting).clamp(1, MAX_COPIES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_had_their_cores_count() {
        let time = |ns, held_ns| CallTime { ns, held_ns };
        assert_eq!(typical(&[time(100, 0), time(120, 2), time(50, 40), time(110, 1)]), (110.0, true));
        assert_eq!(typical(&[time(100, 50), time(120, 30)]), (100.0, false));
        let mut pairs = Pairs::default();
        for (ratio, is_calm) in [(2.0, true), (0.5, false), (2.1, true)] {
            pairs.add(ratio, is_calm);
        }
        assert_eq!((pairs.telling(2), pairs.telling(3)), (&[2.0, 2.1][..], &[2.0, 0.5, 2.1][..]));
    }

    #[test]
    fn only_short_calls_on_little_data_are_batched() {
        assert_eq!(n_copies(SHORT_NS, 100), 1);
        assert_eq!(n_copies(10_000, 1000), 20);
        assert_eq!(n_copies(1, 1000), 64);
        assert_eq!(n_copies(1000, 1 << 19), 2);
        assert_eq!(n_copies(1000, 1 << 30), 1);
    }
}

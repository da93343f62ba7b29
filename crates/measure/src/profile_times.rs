//! Times of a nest with its data outside the caches, and inside them.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::MeasureError;
use crate::replay::Replay;
use crate::sample::Sample;
use crate::statistics::Stat;
use crate::team::Team;

/// How to take cold and warm times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileTimingOptions {
    /// Bytes of other memory that are swept before a cold call, at most 1 GiB; should exceed the last cache.
    pub flush_bytes: u64,
    /// Wall-clock seconds for each of the two. The fewest samples are taken in any case.
    pub max_seconds: f64,
    /// Fewest samples of each.
    pub min_samples: usize,
    /// Most samples of each.
    pub max_samples: usize,
}

impl Default for ProfileTimingOptions {
    fn default() -> ProfileTimingOptions {
        ProfileTimingOptions { flush_bytes: 128 << 20, max_seconds: 2.0, min_samples: 3, max_samples: 30 }
    }
}

/// Cold and warm times of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProfileTimes {
    /// Nanoseconds of a call whose arguments are in no cache.
    pub cold: Stat,
    /// Nanoseconds of a call right after others on the same memory. A sample is the median of up to eight such calls,
    /// or of as many batches of calls where one is too short for the clock.
    pub warm: Stat,
    /// Whether the warm calls had their inputs restored, untimed, before each, since the nest cannot run on its own
    /// results. What they find in the caches is then what copying has left.
    pub warm_restored: bool,
    /// Bytes of other memory that were swept before each cold call.
    pub flushed_bytes: u64,
}

/// A sweep over more takes longer than it is worth.
const MAX_FLUSH_BYTES: u64 = 1 << 30;
/// Below this, several calls are timed together.
const SHORT_NS: u64 = 20_000;
/// Calls shorter than this are repeated within a sample.
const SAMPLE_NS: u64 = 5_000_000;
/// Above this, the call before has left nothing that matters in the caches.
const LONG_NS: u64 = 500_000_000;
/// Most calls without restored inputs: results that become inputs grow or vanish, which changes the times.
const MAX_IN_A_ROW: u64 = 64;

impl Replay {
    /// Times a library on a sample, cold and warm.
    ///
    /// **Cold**: before each call the inputs are restored, thrown out of the caches of all cores with `clflush` on x86,
    /// and other memory is swept over, which displaces the rest and, on other processors, the inputs as well, provided
    /// that it is larger than the last cache. **Warm**: the inputs are restored once, and the library is called up to
    /// 64 times in succession on the memory as the calls before have left it, so that each thread finds its part where
    /// it left it; the first call is not counted. A nest that crashes or hangs on its own results is timed with
    /// restored inputs instead. The library's threads exist already in either case, but go to sleep during a sweep, so
    /// that a cold parallel call of microseconds is mostly their waking.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes or hangs on its inputs.
    pub fn profile_times(
        &self,
        library: &Path,
        sample: &Sample,
        options: &ProfileTimingOptions,
    ) -> Result<ProfileTimes, MeasureError> {
        let flushed_bytes = options.flush_bytes.min(MAX_FLUSH_BYTES);
        let mut runner = self.start_timing(library, sample)?;
        runner.call(1)?;
        let cold = sampled(options, || {
            let times = runner.together(|one| one.call_cold(1, flushed_bytes))?;
            Ok(times.first().map_or(0.0, |time| time.ns as f64))
        })?;
        let call_ns = runner.call(1)?.first().map_or(1, |time| time.ns.max(1));
        let seconds = (call_ns as f64 * 20e-9).clamp(2.0, self.options().call_seconds.max(2.0));
        let (warm, warm_restored) = match sampled(options, || warm_sample(&mut runner, call_ns, seconds)) {
            Ok(warm) => (warm, false),
            Err(MeasureError::Rejected { .. }) => {
                let mut runner = self.start_timing(library, sample)?;
                runner.call(1)?;
                (sampled(options, || restored_sample(&mut runner, call_ns))?, true)
            }
            Err(error) => return Err(error),
        };
        Ok(ProfileTimes { cold, warm, warm_restored, flushed_bytes })
    }
}

/// Samples until the time is used up.
fn sampled(
    options: &ProfileTimingOptions,
    mut sample: impl FnMut() -> Result<f64, MeasureError>,
) -> Result<Stat, MeasureError> {
    let start = Instant::now();
    let budget = Duration::from_secs_f64(options.max_seconds.clamp(0.0, 1e9));
    let (fewest, most) = (options.min_samples.max(1), options.max_samples.max(1));
    let mut samples = Vec::new();
    while samples.len() < fewest || (samples.len() < most && start.elapsed() < budget) {
        samples.push(sample()?);
    }
    Ok(Stat::of(samples))
}

fn warm_sample(runner: &mut Team, call_ns: u64, seconds: f64) -> Result<f64, MeasureError> {
    let (batches, repetitions) = warm_plan(call_ns);
    let warming = usize::from(call_ns < LONG_NS);
    let times = runner.together(|one| one.call_warm(batches + warming, repetitions, seconds))?;
    let per_call = times[warming..].iter().map(|time| time.ns.max(1) as f64 / repetitions as f64);
    Ok(Stat::of(per_call).median)
}

/// How many batches of how many calls make a warm sample, the warming batch not included.
fn warm_plan(call_ns: u64) -> (usize, usize) {
    let call_ns = call_ns.max(1);
    let repetitions = if call_ns < SHORT_NS { (SHORT_NS / call_ns).clamp(1, 16) } else { 1 };
    let batches = (SAMPLE_NS / (call_ns * repetitions)).clamp(1, 8).min(MAX_IN_A_ROW / repetitions - 1);
    (batches as usize, repetitions as usize)
}

fn restored_sample(runner: &mut Team, call_ns: u64) -> Result<f64, MeasureError> {
    let (batches, _) = warm_plan(call_ns);
    let warming = usize::from(call_ns < LONG_NS);
    let times = runner.call(batches + warming)?;
    Ok(Stat::of(times[warming..].iter().map(|time| time.ns.max(1) as f64)).median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_too_many_calls_in_a_row() {
        for call_ns in [0, 1, 100, 1249, 1251, 5000, 19_999, 20_000, 1_000_000, LONG_NS, 10 * LONG_NS] {
            let (batches, repetitions) = warm_plan(call_ns);
            assert!(batches >= 1 && repetitions >= 1);
            assert!((batches + 1) * repetitions <= MAX_IN_A_ROW as usize, "{call_ns}");
        }
        assert_eq!(warm_plan(2_000), (5, 10));
        assert_eq!(warm_plan(1_000_000), (5, 1));
        assert_eq!(warm_plan(10 * LONG_NS), (1, 1));
    }
}

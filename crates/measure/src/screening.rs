//! A first impression of a candidate: seconds from as few calls as tell whether it is worth more.

use crate::error::{MeasureError, Rejection};
use crate::replay::Replay;
use crate::sample::Sample;
use std::path::Path;

/// From this time on one run of each tells enough if it tells a lot, seconds.
pub const LONG_SECONDS: f64 = 1.0;

/// A first call that takes less is cold more than it is long, seconds.
const SHORT_SECONDS: f64 = 0.05;

/// How long running a candidate may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Seconds of the best so far.
    pub best: f64,
    /// Limit of one call, seconds.
    pub call_seconds: f64,
    /// Seconds for all calls.
    pub left: f64,
}

/// What the first calls of a candidate took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impression {
    /// Seconds of one call.
    pub seconds: f64,
    /// Calls behind that.
    pub samples: usize,
    /// Seconds that the first call took longer than those behind it, if there were any.
    pub cold: f64,
}

impl Patience {
    /// For candidates that are only of interest if they come near the best so far. A first call is cold and may start
    /// threads.
    pub fn for_best(best: f64) -> Patience {
        Patience { best, call_seconds: 1.5 * best + 0.5, left: f64::INFINITY }
    }
}

/// How often a call that takes so many seconds is run for a first impression.
pub fn n_runs(seconds: f64) -> usize {
    ((0.1 / seconds.max(1e-6)) as usize).clamp(1, 5)
}

impl Replay {
    /// Seconds of one call, and of how many: of the first one, which took so many nanoseconds, if that was long, hopeless
    /// against the best so far, or all there is time for; else of a few more. `cold` is by how many seconds other first calls
    /// were slower than those behind them.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes or hangs.
    pub fn impression(
        &self,
        (library, sample): (&Path, &Sample),
        first_call_ns: u64,
        patience: Patience,
        cold: f64,
    ) -> Result<Impression, MeasureError> {
        let first = first_call_ns as f64 * 1e-9;
        // A first call is cold, but not by much more than others were.
        if first > LONG_SECONDS
            || (first > SHORT_SECONDS && first > 2.0 * patience.best + cold)
            || 3.0 * first > patience.left
        {
            return Ok(Impression { seconds: first, samples: 1, cold: 0.0 });
        }
        let samples = n_runs(first);
        let (cold, times) = self.time_from_first(library, sample, samples)?;
        // The least of few runs is the one with least noise from elsewhere.
        let least = times.into_iter().min().unwrap_or(first_call_ns);
        let cold = cold.saturating_sub(least) as f64 * 1e-9;
        Ok(Impression { seconds: least as f64 * 1e-9, samples, cold })
    }

    /// Seconds of one call on a sample on which the original takes so many: the least of a few; as long as it may take if it
    /// is much slower.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes.
    pub fn impression_beside(
        &self,
        library: &Path,
        sample: &Sample,
        original_seconds: f64,
    ) -> Result<f64, MeasureError> {
        let most = Patience::for_best(original_seconds).call_seconds;
        let times = self.with_call_limit(most).time_few(library, sample, n_runs(original_seconds));
        match times {
            Ok(times) => Ok(1e-9 * times.into_iter().min().unwrap_or_default().max(1) as f64),
            Err(error) if matches!(error.rejection(), Some(Rejection::TimedOut { .. })) => Ok(most),
            Err(error) => Err(error),
        }
    }
}

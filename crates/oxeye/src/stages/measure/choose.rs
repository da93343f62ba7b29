//! The end of stage 4: the fastest candidate that is right on every sample and at smaller sizes.

use super::bench::Bench;
use super::guard::guard;
use super::select::{select, verify};
use crate::request::Error;
use crate::schedule::{Rendering, Trial, Verdict};

/// Takes the best of the finalists: timed against the original, right on every sample, with a test of the sizes that it is
/// for. Gives the position of that trial. `finalists` are positions of trials that gave the right outputs; those that are out
/// of the running are taken away. `baseline_seconds` becomes the time of the original in its place, if that is less.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(crate) fn choose(
    bench: &Bench<'_>,
    how: Rendering<'_>,
    finalists: &mut Vec<usize>,
    trials: &mut [Trial],
    baseline_seconds: &mut f64,
) -> Result<Option<usize>, Error> {
    for k in select(bench, finalists, trials, baseline_seconds)? {
        let trial = &mut trials[k];
        if verify(bench, trial)? && guard(bench, how, trial)? {
            trial.verdict = Verdict::Chosen;
            return Ok(Some(k));
        }
    }
    Ok(None)
}

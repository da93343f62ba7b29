//! The whole program, before and after.

use crate::request::FpPolicy;
use oxeye_measure::{
    Invocation, MeasureError, RunOutcome, WholeComparison, WholeOptions, run_program, run_whole,
};

/// Programs that take longer, in seconds, are not run again for every doubt.
pub(crate) const LONGEST_TO_REPEAT: f64 = 2.0;
/// Runs of the original that show which of the numbers it prints vary, when the tuned program prints others.
const RUNS_IN_DOUBT: usize = 8;

/// Runs both in turns, so many times each. Where they print something else, the original is run more often: does it always
/// print the same? Times that it prints may be steady for a while. `seconds` is the time of one run.
///
/// # Errors
/// When one of them cannot be started.
pub(crate) fn compare(
    before: &Invocation,
    after: &Invocation,
    n_runs: usize,
    options: &WholeOptions,
    seconds: f64,
) -> Result<WholeComparison, MeasureError> {
    let whole = run_whole(before, after, n_runs, options)?;
    if whole.difference.is_none() || whole.before_timed_out || seconds > LONGEST_TO_REPEAT {
        return Ok(whole);
    }
    let mut options = options.clone();
    for _ in 0..RUNS_IN_DOUBT {
        options.earlier_outputs.push(run_program(before, &options.limits)?.stdout);
    }
    run_whole(before, after, n_runs, &options)
}

/// How a run ended, with the last line that it wrote to standard error.
pub(crate) fn ending(outcome: &RunOutcome) -> String {
    let words = String::from_utf8_lossy(&outcome.stderr);
    let words = words.lines().rfind(|l| !l.trim().is_empty()).map(|l| format!(": {}", l.trim()));
    format!("ends with {}{}", outcome.exit, words.unwrap_or_default())
}

/// How far numbers that a program prints may be apart, relative to the larger one; `None` asks for equal bytes.
pub(crate) fn printed_tolerance(fp: FpPolicy, reassociate: bool) -> Option<f64> {
    match fp {
        FpPolicy::Strict => None,
        _ if reassociate => Some(1e-6),
        _ => Some(1e-10),
    }
}

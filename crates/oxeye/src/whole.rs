//! The whole program, before and after.

use crate::clocks::FastClocks;
use crate::request::{Checks, Error, FpPolicy};
use oxeye_measure::{
    Invocation, Left, Limits, Tolerance, WholeComparison, WholeOptions, WholeRuns, run_whole,
};

/// Programs that take longer, in seconds, are not run again for every doubt.
pub(crate) const LONGEST_TO_REPEAT: f64 = 2.0;
/// Runs of the original that show which of the numbers it prints vary, when the tuned program prints others.
const RUNS_IN_DOUBT: usize = 8;

/// Flags under which the original rounds differently: without reordering, and with it in different ways. How far numbers move
/// between such builds is what reordering does to them.
pub(crate) const OTHER_BUILDS: [&[&str]; 6] = [
    &["-O2", "-fno-fast-math", "-fno-associative-math", "-ffp-contract=off"],
    &["-O3", "-ffast-math"],
    &["-O2", "-ffast-math", "-fno-tree-vectorize", "-ffp-contract=off"],
    &["-O1", "-ffast-math"],
    &["-O3", "-ffast-math", "-mprefer-vector-width=128"],
    &["-Os", "-ffast-math"],
];

/// Flags under which products and sums are rounded together in other places, or nowhere.
pub(crate) const OTHER_CONTRACTIONS: [&[&str]; 3] = [
    &["-ffp-contract=off"],
    &["-O1", "-ffp-contract=fast"],
    &["-O3", "-ffp-contract=fast", "-fno-tree-vectorize"],
];

/// A run in another number of threads takes no longer than this many times what the original takes, and this many seconds more.
const PATIENCE: (f64, f64) = (4.0, 4.0);
/// No more than this part of the time that is left goes to other builds of the original, but for so many.
const WITNESS_PART: f64 = 0.5;
const LEAST_WITNESSES: usize = 2;

/// The first of these builds, as many as there is time to make and to run in so many seconds each.
pub(crate) fn as_time_allows<'b>(
    builds: &'b [&'b [&'b str]],
    seconds: f64,
    has_seconds: impl Fn(f64) -> bool,
) -> &'b [&'b [&'b str]] {
    let is_possible = |n: &usize| *n <= LEAST_WITNESSES || has_seconds(*n as f64 * seconds / WITNESS_PART);
    &builds[..(0..=builds.len()).rev().find(is_possible).unwrap_or(0)]
}

/// What is asked of the original when another program printed something else.
pub(crate) struct InDoubt<'a> {
    /// Seconds of one run.
    pub(crate) seconds: f64,
    pub(crate) clocks: &'a FastClocks,
    /// What other builds of the original leave.
    pub(crate) witnesses: &'a dyn Fn(&WholeOptions) -> Result<Vec<Left>, Error>,
}

/// Runs both in turns, so many times each. Where they print something else, the original is asked more: does that depend on how
/// long it takes? Does it always print the same? Where only numbers differ, how far are those of its other builds?
///
/// # Errors
/// When one of them cannot be started.
pub(crate) fn compare(
    before: &Invocation,
    after: &Invocation,
    n_runs: usize,
    options: &WholeOptions,
    in_doubt: &InDoubt<'_>,
) -> Result<WholeComparison, Error> {
    compare_in_threads(before, after, n_runs, options, in_doubt, (0.0, &[]))
}

/// The same; where the second is so much faster, it is also run once in each of these other numbers of threads, and has to do
/// the same there.
///
/// # Errors
/// As [`compare`].
pub(crate) fn compare_in_threads(
    before: &Invocation,
    after: &Invocation,
    n_runs: usize,
    options: &WholeOptions,
    in_doubt: &InDoubt<'_>,
    (least_speedup, others): (f64, &[u32]),
) -> Result<WholeComparison, Error> {
    let mut options = options.clone();
    options.earlier.extend(in_doubt.clocks.known(options.threads));
    let mut runs = run_whole(before, after, n_runs, &options)?;
    let mut whole = decided(&runs, before, &mut options, in_doubt)?;
    for threads in others {
        if whole.difference.is_some() || whole.speedup.median < least_speedup {
            break;
        }
        // More threads than cores may wait for each other for any time.
        let seconds = options.limits.seconds.min(PATIENCE.0 * in_doubt.seconds + PATIENCE.1);
        let limits = Limits { seconds, ..options.limits };
        runs.add(after, &WholeOptions { limits, threads: Some(*threads as usize), ..options.clone() })?;
        whole = decided(&runs, before, &mut options, in_doubt)?;
    }
    Ok(whole)
}

/// Compares runs, and asks the original what it takes to tell whether a difference is one.
fn decided(
    runs: &WholeRuns,
    before: &Invocation,
    options: &mut WholeOptions,
    in_doubt: &InDoubt<'_>,
) -> Result<WholeComparison, Error> {
    let mut whole = runs.compared(options)?;
    let is_settled = |whole: &WholeComparison| whole.difference.is_none() || whole.before_timed_out;
    if is_settled(&whole) {
        return Ok(whole);
    }
    if in_doubt.clocks.known(options.threads).is_none() {
        options.earlier.extend(in_doubt.clocks.find_out(before, whole.before_exit, options));
        whole = runs.compared(options)?;
    }
    if !is_settled(&whole) && in_doubt.seconds <= LONGEST_TO_REPEAT {
        for _ in 0..RUNS_IN_DOUBT {
            options.earlier.push(options.run(before)?.1);
        }
        whole = runs.compared(options)?;
    }
    if !is_settled(&whole) && whole.is_number && options.relative_tolerance.is_some() {
        options.witnesses.extend((in_doubt.witnesses)(options)?);
        whole = runs.compared(options)?;
    }
    Ok(whole)
}

/// How far numbers that a program prints may be apart, relative to the larger one; `None` asks for equal bytes.
pub(crate) fn printed_tolerance(checks: &Checks, fp: FpPolicy, reassociate: bool) -> Option<f64> {
    checks.tolerance.or(match fp {
        FpPolicy::Strict => None,
        _ if reassociate => Some(1e-6),
        _ => Some(1e-10),
    })
}

/// How programs are compared.
pub(crate) fn rules(checks: &Checks, fp: FpPolicy, reassociate: bool) -> WholeOptions {
    let relative_tolerance = printed_tolerance(checks, fp, reassociate);
    let array_tolerance = match (checks.tolerance, relative_tolerance) {
        (Some(given), _) => Tolerance::Relative { f64: given, f32: given },
        (None, None) => Tolerance::Strict,
        (None, Some(f64)) => Tolerance::Relative { f64, f32: if reassociate { 1e-4 } else { 1e-5 } },
    };
    WholeOptions {
        relative_tolerance,
        array_tolerance,
        ignore: checks.ignore.clone(),
        files: checks.files.clone(),
        ..WholeOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_as_many_as_there_is_time_for() {
        let n = |left: f64| as_time_allows(&OTHER_BUILDS, 1.0, |seconds| seconds <= left).len();
        assert_eq!((n(0.0), n(4.0), n(8.0), n(100.0)), (2, 2, 4, OTHER_BUILDS.len()));
        assert_eq!(as_time_allows(&OTHER_BUILDS[..1], 1.0, |_| false).len(), 1);
    }

    #[test]
    fn bits_are_bits_unless_a_tolerance_is_given() {
        let strict = rules(&Checks::default(), FpPolicy::Strict, false);
        assert_eq!((strict.relative_tolerance, strict.array_tolerance), (None, Tolerance::Strict));
        let given = Checks { tolerance: Some(1e-3), ..Checks::default() };
        let given = rules(&given, FpPolicy::Strict, false);
        let tolerance = Tolerance::Relative { f64: 1e-3, f32: 1e-3 };
        assert_eq!((given.relative_tolerance, given.array_tolerance), (Some(1e-3), tolerance));
        let reordered = rules(&Checks::default(), FpPolicy::FromFlags, true);
        assert_eq!(reordered.relative_tolerance, Some(1e-6));
    }
}

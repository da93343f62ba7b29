//! Judging what a benchmark program printed.

use crate::process::{End, Finished};

/// The outcome of one run of a benchmark program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Ran, with the expected checksums.
    Good {
        /// Seconds in the kernel, by the program's own clock.
        kernel_seconds: f64,
        /// Largest relative difference of a checksum from the reference.
        error: f64,
    },
    /// Ran, with other checksums; the largest relative difference, infinite if the outputs differ in form.
    Wrong(f64),
    /// Ran past its limit.
    Timeout,
    /// Ended by a signal, or with an exit code other than 0.
    Crash(String),
}

impl Outcome {
    /// One word for tables and files.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Outcome::Good { .. } => "ok",
            Outcome::Wrong(_) => "wrong",
            Outcome::Timeout => "timeout",
            Outcome::Crash(_) => "crash",
        }
    }
}

/// Largest relative difference of checksums that still counts as the same result.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// Judges a run by its end and by its output against `reference`.
pub(crate) fn judge(finished: &Finished, reference: &str) -> Outcome {
    match finished.end {
        End::Timeout => return Outcome::Timeout,
        End::Signal(signal) => return Outcome::Crash(format!("signal {signal}")),
        End::Exit(0) => {}
        End::Exit(code) => return Outcome::Crash(format!("exit code {code}")),
    }
    let error = difference(&finished.stdout, reference);
    // Written so that a difference that is not a number is wrong.
    if !matches!(error.partial_cmp(&TOLERANCE), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
        return Outcome::Wrong(error);
    }
    match kernel_seconds(&finished.stderr) {
        Some(kernel_seconds) => Outcome::Good { kernel_seconds, error },
        None => Outcome::Crash("no kernel time printed".to_owned()),
    }
}

fn kernel_seconds(stderr: &str) -> Option<f64> {
    let value = stderr.lines().rev().find_map(|line| line.strip_prefix("kernel_seconds:"))?;
    value.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0)
}

/// The largest relative difference between the numbers of two outputs; infinite if anything else differs, or if a
/// number is not finite.
pub(crate) fn difference(output: &str, reference: &str) -> f64 {
    let (mut left, mut right) = (output.split_whitespace(), reference.split_whitespace());
    let mut largest: f64 = 0.0;
    loop {
        match (left.next(), right.next()) {
            (None, None) => return largest,
            (Some(a), Some(b)) => largest = largest.max(word_difference(a, b)),
            _ => return f64::INFINITY,
        }
    }
}

fn word_difference(a: &str, b: &str) -> f64 {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) if x.is_finite() && y.is_finite() => {
            let scale = x.abs().max(y.abs());
            if scale == 0.0 { 0.0 } else { (x - y).abs() / scale }
        }
        (Err(_), Err(_)) if a == b => 0.0,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn finished(stdout: &str, stderr: &str) -> Finished {
        Finished { end: End::Exit(0), stdout: stdout.into(), stderr: stderr.into(), wall: Duration::ZERO }
    }

    #[test]
    fn differences_are_relative_and_strict_about_form() {
        assert_eq!(difference("C: 1.0 2.0\n", "C: 1.0 2.0\n"), 0.0);
        assert!((difference("C: 1.001\n", "C: 1.0\n") - 1e-3).abs() < 1e-5);
        assert_eq!(difference("C: 1.0", "D: 1.0"), f64::INFINITY);
        assert_eq!(difference("C: 1.0", "C: 1.0 2.0"), f64::INFINITY);
        assert_eq!(difference("C: nan", "C: nan"), f64::INFINITY);
        assert_eq!(difference("C: 0.0", "C: 0.0"), 0.0);
    }

    #[test]
    fn a_run_is_good_only_with_the_right_sums_and_a_time() {
        let good = judge(&finished("C: 1.0", "kernel_seconds: 0.5\n"), "C: 1.0");
        assert_eq!(good, Outcome::Good { kernel_seconds: 0.5, error: 0.0 });
        assert_eq!(judge(&finished("C: 2.0", "kernel_seconds: 0.5\n"), "C: 1.0").word(), "wrong");
        assert_eq!(judge(&finished("", "kernel_seconds: 0.5\n"), "C: 1.0").word(), "wrong");
        assert_eq!(judge(&finished("C: 1.0", ""), "C: 1.0").word(), "crash");
    }
}

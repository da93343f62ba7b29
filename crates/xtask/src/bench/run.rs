//! Running programs under a time limit, and judging what they print.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It exited with this code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It ran past its time limit and was stopped.
    Timeout,
}

/// A finished process.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From start to end, by the clock on the wall.
    pub(crate) wall: Duration,
}

/// Runs `command` to its end, or until `limit` has passed: then it is asked to terminate, and killed if it does not.
pub(crate) fn run_limited(command: &mut Command, limit: Duration) -> Result<Finished> {
    // Files, not pipes: a process of its own that a stopped program leaves behind would keep a pipe open.
    let mut stdout = tempfile::tempfile().context("cannot create a temporary file")?;
    let mut stderr = tempfile::tempfile().context("cannot create a temporary file")?;
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
    let end = wait(&mut child, begin + limit)?;
    let wall = begin.elapsed();
    Ok(Finished { end, stdout: text(&mut stdout)?, stderr: text(&mut stderr)?, wall })
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn wait(child: &mut Child, deadline: Instant) -> Result<End> {
    const POLL: Duration = Duration::from_millis(2);
    const GRACE: Duration = Duration::from_secs(3);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match (status.code(), status.signal()) {
                (Some(code), _) => End::Exit(code),
                (None, signal) => End::Signal(signal.unwrap_or(0)),
            });
        }
        if Instant::now() >= deadline {
            break;
        }
        thread::sleep(POLL);
    }
    terminate(child);
    let patience = Instant::now() + GRACE;
    while Instant::now() < patience {
        if child.try_wait()?.is_some() {
            return Ok(End::Timeout);
        }
        thread::sleep(POLL);
    }
    child.kill()?;
    child.wait()?;
    Ok(End::Timeout)
}

/// Asks the process to terminate, so that it can end its own children and remove its files.
fn terminate(child: &Child) {
    if let Ok(pid) = libc::pid_t::try_from(child.id()) {
        // SAFETY: `kill` takes no pointers, and the child has not been waited for, so its id is still its own.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }
}

/// One run of a benchmark program, judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Ran, with the expected checksums.
    Good {
        /// Seconds in the kernel, by the program's own clock.
        kernel_seconds: f64,
        /// Largest relative difference of a checksum from the reference.
        error: f64,
    },
    /// Ran, with other checksums; the largest relative difference, infinite where the outputs have another form.
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

/// Largest relative difference of a checksum from the reference's that still counts as the same result.
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

    #[test]
    fn a_process_that_never_ends_is_stopped() {
        let finished =
            run_limited(Command::new("sleep").arg("60"), Duration::from_millis(50)).expect("sleep starts");
        assert_eq!(finished.end, End::Timeout);
        assert!(finished.wall < Duration::from_secs(30));
    }

    #[test]
    fn what_a_stopped_process_leaves_behind_does_not_hold_us_up() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo begun; sleep 10 & exec sleep 10"]);
        let finished = run_limited(&mut command, Duration::from_millis(100)).expect("sh starts");
        assert_eq!((finished.end, finished.stdout.as_str()), (End::Timeout, "begun\n"));
        assert!(finished.wall < Duration::from_secs(8));
    }

    #[test]
    fn exits_and_signals_are_told_apart() {
        let limit = Duration::from_secs(20);
        let sh = |script| run_limited(Command::new("sh").args(["-c", script]), limit).expect("sh starts").end;
        assert_eq!(sh("exit 3"), End::Exit(3));
        assert_eq!(sh("kill -SEGV $$"), End::Signal(11));
    }
}

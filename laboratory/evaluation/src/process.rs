//! Running programs under a time limit.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// It exited with this code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It ran past its time limit and was stopped.
    Timeout,
}

/// A finished process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Wall-clock time from start to end.
    pub wall: Duration,
}

/// Runs `command` to its end, or until `limit` has passed: then it is asked to terminate, and killed if it does not.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run_limited(command: &mut Command, limit: Duration) -> Result<Finished> {
    // Files, not pipes: a child that a stopped program leaves behind would keep a pipe open.
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

#[cfg(test)]
mod tests {
    use super::*;

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

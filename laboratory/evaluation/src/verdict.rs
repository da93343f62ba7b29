//! What a task found.

use std::process::ExitCode;

/// What a task that ran to its end found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is well: exit code 0.
    Good,
    /// The answer is negative: exit code 1.
    Bad,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Good => ExitCode::SUCCESS,
            Verdict::Bad => ExitCode::from(1),
        }
    }
}

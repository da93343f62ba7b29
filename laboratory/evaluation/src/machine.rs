//! Where and when a benchmark ran.

use std::fs;
use std::process::Command;
use std::thread;

use crate::repository;

/// Machine and date, for the head of a results file.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// Processor model as the kernel names it.
    pub(crate) cpu: String,
    /// Cores this process may use.
    pub(crate) cores: usize,
    /// Operating system and its kernel.
    pub(crate) system: String,
    /// Start of the run, in UTC.
    pub(crate) date: String,
    /// Load average over the minute before the start.
    pub(crate) load: Option<f64>,
    /// The commit measured, and whether the tree differed from it.
    pub(crate) commit: String,
}

impl Machine {
    /// Detects all of it; what cannot be found is called unknown.
    pub(crate) fn detect() -> Machine {
        let dirty =
            output("git", &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
        let commit = output("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_else(unknown);
        Machine {
            cpu: cpu().unwrap_or_else(unknown),
            cores: thread::available_parallelism().map_or(1, usize::from),
            system: output("uname", &["-srm"]).unwrap_or_else(unknown),
            date: output("date", &["-u", "+%Y-%m-%d %H:%M UTC"]).unwrap_or_else(unknown),
            load: load(),
            commit: if dirty { format!("{commit} with local changes") } else { commit },
        }
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(repository::root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

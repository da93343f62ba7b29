//! Building the programs, and asking the oracles whether their results are right.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::definition::{Application, Program};
use super::environment::Python;
use crate::process::{End, Finished, run_limited};

/// How programs are built.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    /// The compiler.
    pub(super) compiler: &'a str,
    /// Flags of every build.
    pub(super) flags: Vec<String>,
    /// Folder of the untuned file, for its headers.
    pub(super) include: &'a Path,
    /// Where executables and fields go.
    pub(super) work: &'a Path,
    /// Threads of programs and peers.
    pub(super) threads: u16,
    /// Time limit of a run.
    pub(super) limit: Duration,
}

/// A program that was built.
#[derive(Debug)]
pub(super) struct Built {
    executable: PathBuf,
    fields: PathBuf,
    threads: u16,
    limit: Duration,
    /// What its latest run did, in the unit of its definition.
    pub(super) work: Cell<Option<f64>>,
}

impl Builder<'_> {
    /// What a user would write behind the compiler for these sizes.
    pub(super) fn for_user(&self, sizes: &[String]) -> Vec<String> {
        [sizes, &self.flags[..]].concat()
    }

    /// Builds `source` as `name`.
    pub(super) fn build(
        &self,
        name: &str,
        source: &Path,
        sizes: &[String],
        added: &[String],
    ) -> Result<Built> {
        let executable = self.work.join(name).with_extension("exe");
        let mut command = Command::new(self.compiler);
        command.arg(source).arg("-o").arg(&executable).arg("-I").arg(self.include);
        command.arg("-DOXEYE_TIME").args(self.for_user(sizes)).args(added);
        let finished = run_limited(&mut command, Duration::from_secs(300))?;
        must(finished.end == End::Exit(0), || {
            format!("{} does not build {}: {}", self.compiler, source.display(), finished.stderr)
        })?;
        let fields = self.work.join(format!("{name}.fields"));
        Ok(Built { executable, fields, threads: self.threads, limit: self.limit, work: Cell::new(None) })
    }
}

impl Built {
    /// Runs it and has it write its fields; their folder.
    pub(super) fn fields(&self) -> Result<PathBuf> {
        if !self.fields.is_dir() {
            fs::create_dir(&self.fields)?;
            self.run(Some(&self.fields))?;
        }
        Ok(self.fields.clone())
    }

    /// Runs it and gives the seconds of its kernel; with a folder, it writes its fields there.
    pub(super) fn run(&self, folder: Option<&Path>) -> Result<f64> {
        let mut command = Command::new(&self.executable);
        command.args(folder).env("OMP_NUM_THREADS", self.threads.to_string());
        let finished = run_limited(&mut command, self.limit)?;
        let name = self.executable.file_stem().unwrap_or_default().to_string_lossy();
        match finished.end {
            End::Exit(0) => {}
            End::Exit(code) => bail!("the {name} program ended with {code}: {}", finished.stderr.trim_end()),
            End::Signal(signal) => bail!("the {name} program was ended by signal {signal}"),
            End::Timeout => bail!("the {name} program ran longer than {} s", self.limit.as_secs()),
        }
        let said = |key: &str| said(&finished.stderr, key);
        let (Some(seconds), Some(work)) = (said("kernel_seconds:"), said("kernel_work:")) else {
            bail!("the {name} program does not say how long its kernel took or how much it did");
        };
        self.work.set(Some(work));
        Ok(seconds)
    }
}

/// The positive number behind `key` in what a program wrote.
fn said(stderr: &str, key: &str) -> Option<f64> {
    let value = stderr.lines().rev().find_map(|line| line.strip_prefix(key))?;
    value.trim().parse().ok().filter(|value: &f64| *value > 0.0)
}

/// The oracle of one program.
#[derive(Debug)]
pub(super) struct Oracle<'a> {
    pub(super) python: &'a Python,
    pub(super) application: &'a Application,
    pub(super) program: &'a Program,
    /// The folder of `application.py`.
    pub(super) shared: &'a Path,
    pub(super) limit: Duration,
}

impl Oracle<'_> {
    /// A script of the application, with Python's path set so that it finds `application.py`.
    pub(super) fn script(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python.program);
        command.arg(self.application.folder.join(name)).env("PYTHONPATH", self.shared);
        command
    }

    /// Whether the oracle calls the fields in `folder` right; the largest difference, as a share of a field's maximum.
    ///
    /// # Errors
    /// If they are wrong, with what is.
    pub(super) fn judges(&self, folder: &Path) -> Result<f64> {
        let mut command = self.script("oracle.py");
        let answers = self.answers(command.arg(&self.program.name).arg(folder))?;
        right(answers.first().context("the oracle says nothing")?)
    }

    /// Has the oracle judge copies of `folder` in each of which one element of a field is changed; how many there were.
    ///
    /// # Errors
    /// If it calls one of them right.
    pub(super) fn finds_changes(&self, folder: &Path) -> Result<usize> {
        let changed = self.answers(self.shared_script().arg("change").arg(folder))?;
        let folders: Vec<OsString> =
            changed.iter().filter_map(|answer| answer["folder"].as_str().map(OsString::from)).collect();
        must(!folders.is_empty(), || "the program wrote no results".to_owned())?;
        let mut command = self.script("oracle.py");
        let answers = self.answers(command.arg(&self.program.name).arg(folder).args(&folders))?;
        must(answers.len() == folders.len() + 1, || "the oracle did not judge every folder".to_owned())?;
        for (answer, change) in answers[1..].iter().zip(&changed) {
            must(answer["right"] == false, || {
                format!("the oracle does not notice that an element of {} is changed", change["field"])
            })?;
        }
        for folder in &folders {
            fs::remove_dir_all(folder)?;
        }
        Ok(folders.len())
    }

    /// Whether two programs left the same; the largest difference.
    ///
    /// # Errors
    /// If they did not.
    pub(super) fn compares(&self, folder: &Path, other: &Path) -> Result<f64> {
        let answers = self.answers(self.shared_script().arg("compare").arg(folder).arg(other))?;
        right(answers.first().context("nothing was compared")?)
    }

    fn shared_script(&self) -> Command {
        let mut command = Command::new(&self.python.program);
        command.arg(self.shared.join("application.py"));
        command
    }

    /// The lines of JSON that a script answers with.
    fn answers(&self, command: &mut Command) -> Result<Vec<serde_json::Value>> {
        let Finished { end, stdout, stderr, .. } = run_limited(command, self.limit)?;
        must(matches!(end, End::Exit(0 | 1)), || format!("the script ended with {end:?}: {stderr}"))?;
        let answers: Vec<_> = stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        must(!answers.is_empty(), || format!("the script gave no answer: {stderr}"))?;
        Ok(answers)
    }
}

/// The largest difference of an answer that says that all is right.
pub(super) fn right(answer: &serde_json::Value) -> Result<f64> {
    must(answer["right"] == true, || format!("wrong: {}", answer["wrong"].as_str().unwrap_or("no answer")))?;
    answer["largest"].as_f64().context("the answer has no difference")
}

/// Fails with the reason if it is not `right`.
fn must(right: bool, why: impl FnOnce() -> String) -> Result<()> {
    if right { Ok(()) } else { bail!("{}", why()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_how_long_they_took() {
        let stderr = "kernel_work: 1e6\nkernel_seconds: 0.25\n";
        assert_eq!(said(stderr, "kernel_seconds:"), Some(0.25));
        assert_eq!(said(stderr, "kernel_work:"), Some(1e6));
        assert_eq!(said("kernel_seconds: 0\n", "kernel_seconds:"), None);
    }

    #[test]
    fn only_right_answers_are_right() {
        assert!(right(&serde_json::json!({"right": true, "largest": 1e-7})).is_ok());
        assert!(right(&serde_json::json!({"right": false, "largest": 1e-3, "wrong": "u differs"})).is_err());
        assert!(right(&serde_json::json!({"largest": 1e-7})).is_err());
    }
}

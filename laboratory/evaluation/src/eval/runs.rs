//! One search of every program, kept as JSON.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::args::Args;
use crate::corpus::Kernel;
use crate::errand::Errand;
use crate::process::{End, Finished};

/// The folder of the reports of searches.
pub(crate) struct Runs<'a> {
    args: &'a Args,
    folder: PathBuf,
}

impl<'a> Runs<'a> {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// If it holds searches made under other conditions, or cannot be written.
    pub(crate) fn open(args: &'a Args, folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join("conditions.txt");
        let wanted = conditions(args);
        match fs::read_to_string(&path) {
            Ok(found) => ensure!(
                found == wanted,
                "the searches in {} were made under other conditions:\n{found}now wanted:\n{wanted}\
                 name another folder with --work, or remove this one",
                folder.display()
            ),
            Err(_) => fs::write(&path, wanted).with_context(|| format!("cannot write {}", path.display()))?,
        }
        Ok(Runs { args, folder })
    }

    /// The report of a program's search.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn report(&self, kernel: &Kernel) -> Result<Value> {
        let path = self.file(kernel, "json");
        ensure!(path.exists(), "it was not searched");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
    }

    /// Whether there is a report of a program.
    pub(crate) fn has(&self, kernel: &Kernel) -> bool {
        self.file(kernel, "json").exists()
    }

    fn file(&self, kernel: &Kernel, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", kernel.name))
    }

    /// The search of a program, which leaves its report here.
    ///
    /// # Errors
    /// If what is left of an earlier one cannot be removed.
    pub(crate) fn search(&self, kernel: &Kernel, oxeye: &Path) -> Result<Errand> {
        if self.args.refresh {
            for extension in ["json", "jsonl"] {
                let path = self.file(kernel, extension);
                if path.exists() {
                    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
                }
            }
        }
        let mut command = Command::new(oxeye);
        // Whatever the user has learnt of these very programs must not help.
        command.env("OXEYE_DATABASE", self.folder.join("nothing-learnt.sqlite"));
        command.args(["search", "--compare-donors", "--no-learn"]).arg(&kernel.path);
        command.arg("-o").arg(self.file(kernel, "c"));
        command.arg("--log").arg(self.file(kernel, "jsonl")).arg("--json").arg(self.file(kernel, "json"));
        command.args(options(self.args)).arg("--").args(compiler(self.args, kernel));
        Ok(Errand::of(&command, Duration::from_secs(2 * self.args.budget + 600)))
    }

    /// Keeps what a search has said.
    ///
    /// # Errors
    /// If it failed.
    pub(crate) fn ended(&self, kernel: &Kernel, finished: &Finished) -> Result<()> {
        let log = self.file(kernel, "log");
        fs::write(&log, &finished.stderr).with_context(|| format!("cannot write {}", log.display()))?;
        match finished.end {
            // 1: the tuned program was discarded; the measurements of its nests hold.
            End::Exit(0 | 1) => Ok(()),
            End::Exit(code) => {
                bail!("exit code {code}: {}", finished.stderr.lines().last().unwrap_or_default())
            }
            End::Signal(signal) => bail!("ended by signal {signal}"),
            End::Timeout => bail!("not done after {:.0} s", finished.wall.as_secs_f64()),
        }
    }
}

/// The options that the measurements depend on.
fn options(args: &Args) -> Vec<String> {
    let mut words: Vec<String> = [
        ("--max-trials", args.max_trials.to_string()),
        ("--budget", format!("{}s", args.budget)),
        ("--seed", args.seed.to_string()),
        ("--top-k", args.top_k.to_string()),
    ]
    .into_iter()
    .flat_map(|(name, value)| [name.to_owned(), value])
    .collect();
    words.extend(args.threads.into_iter().flat_map(|n| ["--threads".to_owned(), n.to_string()]));
    words.extend(args.oxeye_options.split_whitespace().map(str::to_owned));
    words
}

/// The compiler and its arguments for a program.
pub(crate) fn compiler(args: &Args, kernel: &Kernel) -> Vec<String> {
    let mut words: Vec<String> = args.compiler.split_whitespace().map(str::to_owned).collect();
    words.extend(kernel.shrunk(args.shrink));
    words.push("-lm".into());
    words
}

fn conditions(args: &Args) -> String {
    format!("{}\n{}, sizes divided by {}\n", options(args).join(" "), args.compiler, args.shrink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;
    use crate::repository;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn args(words: &[&str]) -> Args {
        let words = std::iter::once("eval").chain(words.iter().copied());
        Command::try_parse_from(words).expect("the words are arguments").args
    }

    fn gemm() -> Kernel {
        let folder = repository::root().join("benchmarks/kernels");
        corpus::select(&folder, &["gemm".to_owned()]).expect("it is there").remove(0)
    }

    #[test]
    fn a_report_that_is_there_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let args = args(&["--budget", "60"]);
        let runs = Runs::open(&args, folder.path().into()).expect("it is new");
        let error = runs.report(&gemm()).expect_err("nothing was searched");
        assert!(error.to_string().contains("not searched"));
        fs::write(folder.path().join("gemm.json"), "{\"seconds\": 1}").expect("it can be written");
        let report = runs.report(&gemm()).expect("it is there");
        assert_eq!(report["seconds"], 1);
    }

    #[test]
    fn searches_under_other_conditions_are_not_mixed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, other) = (args(&["--shrink", "4"]), args(&["--shrink", "2"]));
        Runs::open(&first, folder.path().into()).expect("it is new");
        Runs::open(&first, folder.path().into()).expect("conditions are the same");
        let error = Runs::open(&other, folder.path().into()).err().expect("conditions differ");
        assert!(error.to_string().contains("sizes divided by 4\nnow wanted"), "{error}");
        let anew = args(&["--shrink", "4", "--refresh"]);
        Runs::open(&anew, folder.path().into()).expect("conditions are the same");
    }

    #[test]
    fn sizes_and_options_are_handed_on() {
        let args = args(&["--threads", "2", "--oxeye-options", "--fp strict"]);
        assert!(compiler(&args, &gemm()).contains(&"-DNI=500".to_owned()));
        let words = options(&args).join(" ");
        assert_eq!(words, "--max-trials 200 --budget 600s --seed 1 --top-k 3 --threads 2 --fp strict");
    }
}

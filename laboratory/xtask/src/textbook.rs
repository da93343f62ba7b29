//! `cargo xtask textbook`: searches the programs in `benchmarks/textbook` and exports the trials as one exchange file.
//!
//! The programs are training material: none of their nests is one of `benchmarks/kernels`, with which Oxeye is
//! evaluated. `--check` verifies that, and that every nest can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use oxeye_database::{OnDamage, SqliteStore, export_file, merge};
use oxeye_evaluation::corpus::{self, Kernel};
use oxeye_evaluation::errand::{self, Errand};
use oxeye_evaluation::forms::{self, POLICIES};
use oxeye_evaluation::process::{End, Finished};
use oxeye_evaluation::{Verdict, repository};
use oxeye_frontend::{Diagnostic, Severity};
use oxeye_nodes::NodesArgs;

use crate::excluded;

/// Options of `cargo xtask textbook`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Programs to search: names without `.c`, or all
    #[arg(long, value_delimiter = ',', default_value = "all")]
    programs: Vec<String>,
    /// Seconds of search for each program
    #[arg(long, default_value_t = 300.0)]
    seconds_each: f64,
    /// The exchange file to write
    #[arg(long, required_unless_present = "check")]
    out: Option<PathBuf>,
    /// Logs, reports and the database of the searches; a run resumes what it finds there
    #[arg(long, default_value = "target/textbook")]
    folder: PathBuf,
    /// Compiler and flags
    #[arg(long, default_value = "gcc -O3 -march=native -ffast-math", allow_hyphen_values = true)]
    compiler: String,
    /// Further options for `oxeye search`, such as "--seed 2 --max-trials 50"
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    oxeye_options: String,
    /// Use this oxeye instead of building it
    #[arg(long)]
    oxeye: Option<PathBuf>,
    /// Search nothing: list nests, and which of them cannot be read or are in benchmarks/kernels too
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// Where programs are searched, each by one node
    #[command(flatten)]
    nodes: NodesArgs,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let programs = corpus::select(&root.join("benchmarks/textbook"), &args.programs)?;
    match &args.out {
        None => check(&programs, &excluded::of_corpus(&root.join("benchmarks/kernels"))?),
        Some(out) => search_all(args, &programs, &root.join(&args.folder), &root.join(out)),
    }
}

/// Searches every program that was not, and exports what all searches have found.
fn search_all(args: &Args, programs: &[Kernel], folder: &Path, out: &Path) -> Result<Verdict> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let oxeye = match &args.oxeye {
        Some(path) => path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?,
        None => repository::build_binary("oxeye")?,
    };
    let searches = Searches { oxeye: &oxeye, args, folder };
    let wanted: Vec<&Kernel> = programs.iter().filter(|program| !searches.is_done(&program.name)).collect();
    eprintln!("{} of {} programs were searched before", programs.len() - wanted.len(), programs.len());
    let errands: Vec<Errand> = wanted.iter().map(|program| searches.errand(program)).collect();
    let mut failed = Vec::new();
    errand::run_all(&errands, errand::start(&args.nodes)?.as_ref(), &mut |idx, finished| {
        let name = wanted[idx].name.as_str();
        match finished.and_then(|finished| searches.ended(name, &finished)) {
            Ok(()) => eprintln!("{name}: searched"),
            Err(error) => {
                eprintln!("{name}: {error:#}");
                failed.push(name);
            }
        }
        Ok(())
    })?;
    let n = searches.export(programs, out)?;
    println!("{n} trials of {} programs in {}", programs.len() - failed.len(), out.display());
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
    }
    Ok(if failed.is_empty() { Verdict::Good } else { Verdict::Bad })
}

struct Searches<'a> {
    oxeye: &'a Path,
    args: &'a Args,
    folder: &'a Path,
}

impl Searches<'_> {
    fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{name}.{extension}"))
    }

    /// Whether there was a search at least as long.
    fn is_done(&self, name: &str) -> bool {
        let done = fs::read_to_string(self.file(name, "done")).ok();
        let seconds = done.and_then(|text| text.trim().parse::<f64>().ok());
        seconds.is_some_and(|seconds| seconds >= self.args.seconds_each)
    }

    /// The search of a program, which goes on where an earlier one was interrupted. Each has a database of its own, as one file
    /// cannot be written by several machines.
    fn errand(&self, program: &Kernel) -> Errand {
        let at = |extension: &str| self.file(&program.name, extension);
        let mut command = Command::new(self.oxeye);
        command.arg("search").arg(&program.path);
        command.arg("--budget").arg(format!("{}s", self.args.seconds_each));
        command.arg("--log").arg(at("search.jsonl")).arg("--database").arg(at("sqlite"));
        command.arg("--output").arg(at("oxeye.c")).arg("--json").arg(at("json"));
        command.args(self.args.oxeye_options.split_whitespace());
        command.arg("--").args(self.args.compiler.split_whitespace()).arg("-lm");
        Errand::of(&command, Duration::from_secs_f64(2.0 * self.args.seconds_each + 600.0))
    }

    /// Keeps what a search has said, and that it is done.
    fn ended(&self, name: &str, finished: &Finished) -> Result<()> {
        let keep = |extension: &str, text: &str| {
            let path = self.file(name, extension);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        keep("log", &finished.stderr)?;
        match finished.end {
            End::Exit(0) => keep("done", &format!("{}\n", self.args.seconds_each)),
            end => bail!("{end:?}; see {}", self.file(name, "log").display()),
        }
    }

    /// Writes the trials of all programs to one file; their number.
    fn export(&self, programs: &[Kernel], out: &Path) -> Result<u64> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut all = SqliteStore::open(&folder.path().join("all.sqlite"), OnDamage::Refuse)?;
        for name in programs.iter().map(|program| program.name.as_str()) {
            let path = self.file(name, "sqlite");
            if path.exists() {
                merge(&mut all, name, &SqliteStore::open_read_only(&path)?)?;
            }
        }
        let n = export_file(&all, out)?;
        if n == 0 {
            bail!("no search has found anything; see the logs in {}", self.folder.display());
        }
        Ok(n)
    }
}

/// Lists the nests of the programs. Bad if one cannot be read, or is one of `corpus`.
fn check(programs: &[Kernel], corpus: &BTreeSet<String>) -> Result<Verdict> {
    let mut faults = Vec::new();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut n_nests = 0;
    for program in programs {
        for policy in POLICIES {
            let found = forms::of_program(&program.path, policy)?;
            n_nests += found.nests.len();
            for nest in &found.nests {
                let place = format!("{}:{} {}", program.name, nest.line, nest.function);
                if corpus.contains(&nest.hash) {
                    faults.push(format!("{place}: its normal form is in benchmarks/kernels"));
                }
                if policy.reassociate {
                    println!("{} {place}", nest.hash);
                    places.entry(nest.hash.clone()).or_default().push(place);
                }
            }
            if !policy.reassociate {
                faults.extend(unread(&found, &program.path));
            }
        }
    }
    for same in places.values().filter(|same| same.len() > 1) {
        println!("one computation: {}", same.join(", "));
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    println!(
        "{} nests of {} programs, {} computations, {} faults",
        n_nests / POLICIES.len(),
        programs.len(),
        places.len(),
        faults.len()
    );
    Ok(if faults.is_empty() { Verdict::Good } else { Verdict::Bad })
}

/// Loops outside `main` that the frontend cannot read, with its reasons.
fn unread(found: &forms::ProgramForms, path: &Path) -> Vec<String> {
    let is_left = |d: &&Diagnostic| {
        d.severity == Severity::Warning && d.nest_line.is_some() && d.function.as_deref() != Some("main")
    };
    let left = found.diagnostics.iter().filter(is_left);
    left.map(|d| d.render(path, &found.source).trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::EXCLUDED;

    #[test]
    fn the_textbook_can_be_read_and_is_not_the_corpus() {
        let root = repository::root();
        let programs =
            corpus::select(&root.join("benchmarks/textbook"), &["all".to_owned()]).expect("programs");
        assert!(programs.len() > 30);
        let excluded = fs::read_to_string(root.join(EXCLUDED)).expect("the list");
        let excluded: BTreeSet<String> = excluded.lines().map(str::to_owned).collect();
        assert!(matches!(check(&programs, &excluded), Ok(Verdict::Good)));
    }
}

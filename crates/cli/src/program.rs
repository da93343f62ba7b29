//! Which program a subcommand is about, and how it is compiled and run.

use crate::mistakes::{self, Mistake};
use crate::tuning::duration;
use clap::Arg;
use oxeye::{Compiler, Options, RunCommand};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `--run` is, in brief.
const RUN: &str = "How to run it: './solver -n 200 < input.dat'";

/// A C file with what it takes to compile and run it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    /// The C file, or a DaCe program (.sdfg)
    pub(crate) file: PathBuf,
    /// How FILE is compiled [default: cc -O3 -march=native -lm]
    ///
    /// As you would type it, with further sources, objects and libraries.
    #[arg(last = true, value_name = "CC ARGS")]
    pub(crate) compiler: Vec<String>,
    #[command(flatten)]
    pub(crate) of_file: FileArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// How a program is run.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct RunArgs {
    /// How to run it: './solver -n 200 < input.dat'
    ///
    /// As in a shell; files that it writes by `>` are compared. Of a FILE, ./NAME stands for the program that CC makes, which is run
    /// without arguments by default; in a project it is any program.
    #[arg(long, value_name = "COMMAND", value_parser = command)]
    pub(crate) run: Option<String>,
    /// The folder that the program runs in [default: the present one]
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub(crate) cwd: Option<PathBuf>,
    /// The exit code of the program when all is well [default: 0]
    #[arg(long, value_name = "CODE", hide_short_help = true)]
    pub(crate) exit_code: Option<i32>,
    /// Stop a run of the program after this time, such as 90s or 5m
    ///
    /// [default: twenty times the budget]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub(crate) timeout: Option<Duration>,
    /// Time nests in N processes at once [default: as mpirun or srun is told]
    ///
    /// Each has its part of the cores; they share caches and memory as in a run that starts so many processes on this machine. The
    /// slowest counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), hide_short_help = true)]
    pub(crate) copies: Option<u32>,
    /// Keep the arguments of nests of this process of an MPI program
    ///
    /// [default: of the one that spends most time in nests]
    #[arg(long, value_name = "R", hide_short_help = true)]
    pub(crate) rank: Option<u32>,
    /// Most threads, 1 for no OpenMP [default: all cores]
    ///
    /// With --copies for each process [default: its part of the cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
}

/// What can be said of one file.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct FileArgs {
    /// Only the nests of this function
    #[arg(short, long, value_name = "NAME", requires = "file")]
    pub(crate) function: Option<String>,
    /// A size, for a function that no program calls
    ///
    /// May be repeated.
    #[arg(long = "set", value_name = "N=1024", value_parser = size, requires = "file")]
    sizes: Vec<(String, i64)>,
    /// Contents of an array, for a function that no program calls
    ///
    /// May be repeated.
    #[arg(long = "input", value_name = "A=FILE.npy", value_parser = input, requires = "file", hide_short_help = true)]
    inputs: Vec<(String, PathBuf)>,
    /// The Python that has DaCe, for DaCe programs
    ///
    /// [default: that of the active environment, else python3]
    #[arg(long, value_name = "PYTHON", requires = "file", hide_short_help = true)]
    python: Option<PathBuf>,
    /// Assume that pointer parameters of a function never overlap
    #[arg(long, hide_short_help = true)]
    pub(crate) no_alias: bool,
}

/// The option `--run` of a command that runs the program of a FILE and compares nothing.
pub(crate) fn run_of_file(arg: Arg) -> Arg {
    let text = "./NAME stands for the program that CC makes, which is run without arguments by default.";
    arg.long_help(format!("{RUN}\n\nAs in a shell. {text}"))
}

/// The same of a command that compares what a FILE and its tuned form do.
pub(crate) fn compared_run_of_file(arg: Arg) -> Arg {
    let text = "./NAME stands for the program that CC makes, which is run without arguments by default.";
    arg.long_help(format!("{RUN}\n\nAs in a shell; files that it writes by `>` are compared. {text}"))
}

/// The same of a command that is for projects only.
pub(crate) fn run_of_project(arg: Arg) -> Arg {
    arg.long_help(format!(
        "{RUN}\n\nAs in a shell; files that it writes by `>` are compared. It may be any program."
    ))
}

/// The options `--copies` and `--rank` of a command that times no nests: the first says how many threads there are by default, no
/// more, the second nothing.
pub(crate) fn without_times(arg: Arg) -> Arg {
    arg.hide(true)
}

/// The option `--timeout` of a command that has no budget.
pub(crate) fn timeout_without_budget(arg: Arg) -> Arg {
    arg.long_help("Stop a run of the program after this time, such as 90s or 5m\n\n[default: 20 minutes]")
}

impl ProgramArgs {
    /// Options with what these arguments say, the rest by default.
    ///
    /// # Errors
    /// If they cannot be what was meant.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        mistakes::check(&self.file, &self.compiler)?;
        let (run, of_file) = (&self.run, &self.of_file);
        let mut options = Options::new(&self.file);
        options.compiler = Compiler::from_words(&self.compiler, &options.file);
        options.focus.function = of_file.function.clone();
        options.sizes = of_file.sizes.iter().cloned().collect();
        options.inputs = of_file.inputs.iter().cloned().collect();
        options.no_alias = of_file.no_alias;
        options.python = of_file.python.clone();
        let command = run.run.as_deref().map(str::parse::<RunCommand>).transpose();
        options.run = command.map_err(|why| Mistake::new(format!("--run: {why}")))?.unwrap_or_default();
        options.run.folder = run.cwd.clone();
        options.run.exit_code = run.exit_code.unwrap_or(0);
        options.run.timeout = run.timeout;
        options.run.copies = run.copies.or(options.run.copies);
        options.run.rank = run.rank;
        options.threads = run.threads.unwrap_or(options.run.usual_threads());
        mistakes::check_folder(run.cwd.as_deref())?;
        Ok(options)
    }

    /// These arguments as words of a command line, without file, function and compiler. `None` if a path is no text.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let mut push = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let (run, of_file) = (&self.run, &self.of_file);
        for (name, value) in &of_file.sizes {
            push("--set", Some(format!("{name}={value}")));
        }
        for (name, path) in &of_file.inputs {
            push("--input", Some(format!("{name}={}", path.to_str()?)));
        }
        push("--run", run.run.clone());
        if let Some(folder) = &run.cwd {
            push("--cwd", Some(text(folder)?));
        }
        push("--exit-code", run.exit_code.map(|code| code.to_string()));
        push("--timeout", run.timeout.map(|time| format!("{}s", time.as_secs_f64())));
        push("--rank", run.rank.map(|rank| rank.to_string()));
        push("--copies", run.copies.map(|copies| copies.to_string()));
        push("--threads", run.threads.map(|threads| threads.to_string()));
        if let Some(python) = &of_file.python {
            push("--python", Some(text(python)?));
        }
        if of_file.no_alias {
            words.push("--no-alias".into());
        }
        Some(words)
    }
}

/// A command that a shell understands.
fn command(text: &str) -> Result<String, String> {
    RunCommand::in_project(text).map(|_| text.to_owned())
}

fn assignment(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim(), value.trim()))
        }
        _ => Err("expected NAME=VALUE".into()),
    }
}

fn size(text: &str) -> Result<(String, i64), String> {
    let (name, value) = assignment(text)?;
    let value = value.parse().map_err(|_| format!("`{value}` is not a whole number"))?;
    Ok((name.to_owned(), value))
}

fn input(text: &str) -> Result<(String, PathBuf), String> {
    let (name, value) = assignment(text)?;
    Ok((name.to_owned(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_need_both_sides() {
        assert_eq!(size("n=10"), Ok(("n".into(), 10)));
        assert!(size("n").is_err() && size("n=x").is_err() && size("=3").is_err());
    }
}

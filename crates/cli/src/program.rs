//! Which program a subcommand is about, and how it is compiled and run.

use oxeye::{Compiler, Options, RunCommand};
use std::path::PathBuf;
use std::str::FromStr;

/// A C file with what it takes to compile and run it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    /// The C file, or a DaCe program (.sdfg)
    pub(crate) file: PathBuf,
    /// Only the nests of this function
    #[arg(short, long)]
    pub(crate) function: Option<String>,
    /// A size, for a function that no program calls; may be repeated
    #[arg(long = "set", value_name = "N=1024", value_parser = size)]
    sizes: Vec<(String, i64)>,
    /// Contents of an array, for a function that no program calls; may be repeated
    #[arg(long = "input", value_name = "A=FILE.npy", value_parser = input)]
    inputs: Vec<(String, PathBuf)>,
    /// How the program is run, as in a shell: `./prog -n 200 < input.dat`. The first word stands for the program that CC
    /// makes [default: without arguments]
    #[arg(long, value_name = "COMMAND")]
    run: Option<Run>,
    /// The folder that the program runs in [default: the present one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The exit code of the program when all is well
    #[arg(long, value_name = "CODE", default_value_t = 0)]
    exit_code: i32,
    /// Most threads to use; 1 emits no OpenMP [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    /// The Python that has DaCe, for DaCe programs [default: that of the active environment, else python3]
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// Assume that pointer parameters of a function never overlap
    #[arg(long)]
    no_alias: bool,
    /// Compiler and arguments as you would type them, further sources and libraries included
    /// [default: cc -O3 -march=native -lm]
    #[arg(last = true, value_name = "CC ARGS")]
    pub(crate) compiler: Vec<String>,
}

impl ProgramArgs {
    /// Options with what these arguments say, the rest by default.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new(&self.file);
        options.compiler = Compiler::from_words(&self.compiler, &options.file);
        options.function = self.function.clone();
        options.sizes = self.sizes.iter().cloned().collect();
        options.inputs = self.inputs.iter().cloned().collect();
        options.threads = self.threads.unwrap_or(options.threads);
        options.no_alias = self.no_alias;
        options.python = self.python.clone();
        options.run = self.run.as_ref().map(|command| command.0.clone()).unwrap_or_default();
        options.run.folder = self.cwd.clone();
        options.run.exit_code = self.exit_code;
        options
    }

    /// These arguments as words of a command line, without file, function and compiler. `None` if a path is no text.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let mut push = |name: &str, value: String| words.extend([name.to_owned(), value]);
        for (name, value) in &self.sizes {
            push("--set", format!("{name}={value}"));
        }
        for (name, path) in &self.inputs {
            push("--input", format!("{name}={}", path.to_str()?));
        }
        if let Some(run) = &self.run {
            push("--run", run.1.clone());
        }
        if let Some(folder) = &self.cwd {
            push("--cwd", folder.to_str()?.to_owned());
        }
        if self.exit_code != 0 {
            push("--exit-code", self.exit_code.to_string());
        }
        if let Some(threads) = self.threads {
            push("--threads", threads.to_string());
        }
        if let Some(python) = &self.python {
            push("--python", python.to_str()?.to_owned());
        }
        if self.no_alias {
            words.push("--no-alias".into());
        }
        Some(words)
    }
}

/// A command with the words that it was read from.
#[derive(Clone, Debug)]
struct Run(RunCommand, String);

impl FromStr for Run {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(text.parse()?, text.to_owned()))
    }
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

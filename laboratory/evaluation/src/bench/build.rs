//! The contenders: which compilers are installed, and how each builds a kernel.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::corpus::Kernel;
use crate::process::{End, run_limited};

/// A compiler that builds the user's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compiler {
    /// GNU C.
    Gcc,
    /// Clang.
    Clang,
}

impl Compiler {
    /// The word used in options, tables and file names.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Clang => "clang",
        }
    }

    /// Names of the program, best first.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Compiler::Gcc => &["gcc"],
            Compiler::Clang => &["clang-19", "clang"],
        }
    }
}

/// What Oxeye is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// GNU C with the given flags.
    Gcc,
    /// Clang with the given flags.
    Clang,
    /// Clang with the given flags and its polyhedral optimiser.
    Polly,
}

impl Peer {
    /// The compiler that builds it.
    pub(crate) fn compiler(self) -> Compiler {
        match self {
            Peer::Gcc => Compiler::Gcc,
            Peer::Clang | Peer::Polly => Compiler::Clang,
        }
    }

    /// The word used in options, tables and file names.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Peer::Gcc => "gcc",
            Peer::Clang => "clang",
            Peer::Polly => "polly",
        }
    }

    /// Options on top of those that all builds share.
    pub(crate) fn flags(self, threads: usize) -> Vec<&'static str> {
        match self {
            Peer::Gcc | Peer::Clang => Vec::new(),
            Peer::Polly if threads == 1 => vec!["-mllvm", "-polly", "-mllvm", "-polly-vectorizer=stripmine"],
            Peer::Polly => {
                vec![
                    "-mllvm",
                    "-polly",
                    "-mllvm",
                    "-polly-parallel",
                    "-lgomp",
                    "-mllvm",
                    "-polly-vectorizer=stripmine",
                ]
            }
        }
    }
}

/// A compiler found on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Toolchain {
    /// Which one.
    pub(crate) compiler: Compiler,
    /// The program to call.
    pub(crate) program: &'static str,
    /// First line of its `--version`.
    pub(crate) version: String,
}

/// The toolchain for `compiler`, or none if no program of its names runs.
pub(crate) fn find(compiler: Compiler) -> Option<Toolchain> {
    compiler.programs().iter().find_map(|program| {
        let output = Command::new(program).arg("--version").output().ok().filter(|o| o.status.success())?;
        let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("unknown").to_owned();
        Some(Toolchain { compiler, program, version })
    })
}

impl Toolchain {
    /// Whether a trivial program compiles and links with `flags`.
    pub(crate) fn accepts(&self, flags: &[&str], work: &Path) -> bool {
        let source = work.join("probe.c");
        if fs::write(&source, "int main(void)\n{\n    return 0;\n}\n").is_err() {
            return false;
        }
        let output =
            Command::new(self.program).arg(&source).arg("-o").arg(work.join("probe")).args(flags).output();
        output.is_ok_and(|output| output.status.success())
    }
}

/// The options that every build of one kernel shares.
#[derive(Debug, Clone)]
pub(crate) struct Flags {
    /// The user's optimisation flags.
    pub(crate) user: Vec<String>,
    /// Sizes, as `-D` options.
    pub(crate) sizes: Vec<String>,
}

impl Flags {
    /// What a user of Oxeye would write after `--` and the name of the compiler.
    pub(crate) fn for_user(&self) -> Vec<String> {
        [&self.user[..], &self.sizes[..], &["-lm".to_owned()]].concat()
    }
}

/// Makes the kernel print its time, and checksums with enough digits for comparisons.
const HARNESS_DEFINES: [&str; 2] = ["-DOXEYE_TIME", "-DBENCH_FORMAT=\"%.12e\""];

/// Compiles `source`, a kernel of `kernels_folder` or a tuned copy of one, into `executable`.
pub(crate) fn compile(
    toolchain: &Toolchain,
    source: &Path,
    executable: &Path,
    kernels_folder: &Path,
    flags: &[String],
    extra: &[&str],
) -> Result<()> {
    let mut command = Command::new(toolchain.program);
    command.arg(source).arg("-o").arg(executable).arg("-I").arg(kernels_folder);
    command.args(HARNESS_DEFINES).args(flags).args(extra);
    let finished = run_limited(&mut command, Duration::from_secs(120))?;
    match finished.end {
        End::Exit(0) => Ok(()),
        End::Timeout => bail!("{} did not finish in two minutes", toolchain.program),
        _ => bail!("{} failed: {}", toolchain.program, first_error(&finished.stderr)),
    }
}

/// The first line of a compiler's messages that names an error, else the first line.
fn first_error(messages: &str) -> &str {
    messages
        .lines()
        .find(|line| line.contains("error"))
        .or_else(|| messages.lines().next())
        .unwrap_or("no message")
}

/// The checksums of `kernel` built with strict floating point (`-O2`, no fast-math), from the folder `cache` if this
/// exact text was run before.
pub(crate) fn reference(
    kernel: &Kernel,
    toolchain: &Toolchain,
    sizes: &[String],
    work: &Path,
    cache: &Path,
    limit: Duration,
) -> Result<String> {
    let folder = kernel.path.parent().unwrap_or(Path::new("."));
    let header = fs::read_to_string(folder.join("bench.h")).context("cannot read bench.h")?;
    let mut hasher = DefaultHasher::new();
    (&kernel.text, header, sizes, &toolchain.version, HARNESS_DEFINES).hash(&mut hasher);
    let cached = cache.join(format!("{}-{:016x}.txt", kernel.name, hasher.finish()));
    if let Ok(text) = fs::read_to_string(&cached) {
        return Ok(text);
    }
    let executable = work.join(format!("{}.reference", kernel.name));
    let flags = [&["-O2".to_owned()], sizes, &["-lm".to_owned()]].concat();
    compile(toolchain, &kernel.path, &executable, folder, &flags, &[])?;
    let finished = run_limited(&mut Command::new(&executable), limit)?;
    if finished.end != End::Exit(0) {
        bail!("the reference build ended with {:?}", finished.end);
    }
    fs::create_dir_all(cache)?;
    fs::write(&cached, &finished.stdout)?;
    Ok(finished.stdout)
}

/// What `oxeye optimize` did to one kernel.
#[derive(Debug, Clone)]
pub(crate) struct Tuning {
    /// The file to build: tuned, or the user's own where nothing won.
    pub(crate) source: PathBuf,
    /// Wall-clock seconds of the whole command.
    pub(crate) seconds: f64,
    /// Seconds of those in which the program ran.
    pub(crate) program_seconds: f64,
    /// The report's `program.verified`.
    pub(crate) verified: bool,
    /// Loop nests in the report.
    pub(crate) nests: usize,
    /// Nests with a recipe.
    pub(crate) tuned_nests: usize,
    /// Flags that the tuned file needs on top of the user's.
    pub(crate) added: Vec<String>,
}

/// How to call Oxeye.
#[derive(Debug, Clone)]
pub(crate) struct Oxeye {
    /// The binary.
    pub(crate) program: PathBuf,
    /// Threads of the tuned code.
    pub(crate) threads: usize,
    /// Further options, before `--`.
    pub(crate) options: Vec<String>,
    /// Time limit of one tuning.
    pub(crate) limit: Duration,
}

/// A program to be tuned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Its file.
    pub(crate) source: &'a Path,
    /// What the files that are written are called, without their endings.
    pub(crate) stem: &'a str,
    /// The user's compiler.
    pub(crate) compiler: &'a str,
    /// What the user would write behind it.
    pub(crate) flags: &'a [String],
}

impl Oxeye {
    /// Does `job`; files go to `work`.
    pub(crate) fn tune(&self, job: Job<'_>, work: &Path) -> Result<Tuning> {
        let stem = job.stem;
        let source = work.join(format!("{stem}.c"));
        let report = work.join(format!("{stem}.json"));
        let mut arguments: Vec<OsString> = vec!["optimize".into(), job.source.into()];
        arguments.extend(["-o".into(), source.clone().into(), "--json".into(), report.clone().into()]);
        arguments.extend(["--threads".into(), self.threads.to_string().into()]);
        arguments.extend(self.options.iter().map(OsString::from));
        arguments.extend(["--".into(), job.compiler.into()]);
        arguments.extend(job.flags.iter().map(OsString::from));
        let finished = run_limited(Command::new(&self.program).args(&arguments), self.limit)?;
        fs::write(work.join(format!("{stem}.log")), format!("{}{}", finished.stdout, finished.stderr))?;
        match finished.end {
            End::Exit(0 | 1) => {}
            End::Timeout => bail!("tuning took more than {} s", self.limit.as_secs()),
            End::Signal(signal) => bail!("oxeye was ended by signal {signal}"),
            End::Exit(101) => bail!("oxeye panicked: {}", panic_message(&finished.stderr)),
            End::Exit(code) => bail!("oxeye ended with code {code}: {}", last_line(&finished.stderr)),
        }
        let report = fs::read_to_string(&report).context("oxeye wrote no report")?;
        let report: serde_json::Value =
            serde_json::from_str(&report).context("oxeye's report is not JSON")?;
        let nests = report["nests"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(Tuning {
            source: if source.is_file() { source } else { job.source.to_owned() },
            seconds: finished.wall.as_secs_f64(),
            program_seconds: report["program_seconds"].as_f64().unwrap_or(0.0),
            verified: report["program"]["verified"].as_bool().unwrap_or(false),
            nests: nests.len(),
            tuned_nests: nests.iter().filter(|nest| has_recipe(&nest["recipe"])).count(),
            added: self.added_flags(&report["build"]["added"]),
        })
    }
}

impl Oxeye {
    /// The flags that the report says the tuned file needs.
    fn added_flags(&self, added: &serde_json::Value) -> Vec<String> {
        match added.as_array() {
            Some(flags) => flags.iter().filter_map(|flag| flag.as_str().map(str::to_owned)).collect(),
            None if self.threads > 1 => vec!["-fopenmp".to_owned()],
            None => Vec::new(),
        }
    }
}

/// Whether a nest's `recipe` changes anything.
fn has_recipe(recipe: &serde_json::Value) -> bool {
    match recipe {
        serde_json::Value::Null => false,
        serde_json::Value::String(text) => !text.is_empty(),
        serde_json::Value::Array(steps) => !steps.is_empty(),
        _ => true,
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message")
}

fn panic_message(text: &str) -> &str {
    text.lines().skip_while(|line| !line.contains("panicked")).nth(1).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_recognised_in_each_form() {
        assert!(!has_recipe(&serde_json::json!(null)));
        assert!(!has_recipe(&serde_json::json!("")));
        assert!(!has_recipe(&serde_json::json!([])));
        assert!(has_recipe(&serde_json::json!("tile i 32")));
        assert!(has_recipe(&serde_json::json!([{"tile": 32}])));
    }

    #[test]
    fn the_first_error_is_quoted() {
        assert_eq!(first_error("a.c: In function f\na.c:1: error: no\n"), "a.c:1: error: no");
        assert_eq!(first_error(""), "no message");
    }

    #[test]
    fn one_thread_means_no_parallel_polly() {
        assert!(!Peer::Polly.flags(1).contains(&"-polly-parallel"));
        assert!(Peer::Polly.flags(2).contains(&"-lgomp"));
    }
}

//! `cargo xtask bench`: Oxeye against its peers on the programs in `benchmarks/kernels`.
//!
//! For each kernel: a reference run gives the right checksums; Oxeye tunes the file; every contender is built with the
//! same flags; then all run in turn, one round after the other, so that a slow moment of the machine meets them all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::corpus::{self, Kernel};
use crate::machine::Machine;
use crate::process::run_limited;
use crate::{Verdict, repository};
use build::{Compiler, Flags, Job, Oxeye, Peer, Toolchain};
use outcome::{Outcome, judge};
use stats::{Contender, Entry, KernelResult, Sample};
use table::Conditions;

pub(crate) mod build;
mod outcome;
pub(crate) mod stats;
mod table;

/// Options of `cargo xtask bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Programs to run: names without `.c`, or the groups all, base (the thirty) and b (their variants)
    #[arg(long, value_delimiter = ',', default_value = "all")]
    kernels: Vec<String>,
    /// What to compare with
    #[arg(long, value_delimiter = ',', value_enum, default_value = "gcc,clang,polly")]
    peers: Vec<Peer>,
    /// Threads for Oxeye and for Polly
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Compiler of the user, for which Oxeye tunes
    #[arg(long, value_enum, default_value = "gcc")]
    compiler: UserCompiler,
    /// Flags of every build
    #[arg(long, default_value = "-O3 -march=native -ffast-math", allow_hyphen_values = true)]
    flags: String,
    /// Rounds; up to three times as many if a whole round takes less than a second
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Folder for bench.md, bench.csv and tuning.csv
    #[arg(long, default_value = "benchmarks/results")]
    out: PathBuf,
    /// Seconds that one run of a program may take
    #[arg(long, default_value_t = 60.0, value_parser = positive)]
    time_limit: f64,
    /// Seconds of runs per kernel after which no further round starts, once there are two
    #[arg(long, default_value_t = 60.0, value_parser = positive)]
    kernel_budget: f64,
    /// Seconds that one tuning may take
    #[arg(long, default_value_t = 300.0, value_parser = positive)]
    tuning_limit: f64,
    /// Sizes for all programs, such as "-DN=200 -DT=10"
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    size_defs: String,
    /// Divide every size by this number
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    shrink: u64,
    /// Further options for `oxeye optimize`, such as "--top-k 5"
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    oxeye_options: String,
    /// Use this oxeye instead of building it
    #[arg(long, conflicts_with = "no_oxeye")]
    oxeye: Option<PathBuf>,
    /// Only the peers
    #[arg(long)]
    no_oxeye: bool,
}

/// For which compilers Oxeye tunes.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum UserCompiler {
    Gcc,
    Clang,
    Both,
}

impl UserCompiler {
    fn compilers(self) -> &'static [Compiler] {
        match self {
            UserCompiler::Gcc => &[Compiler::Gcc],
            UserCompiler::Clang => &[Compiler::Clang],
            UserCompiler::Both => &[Compiler::Gcc, Compiler::Clang],
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err("it should be a number of seconds above 0".to_owned()),
    }
}

/// Runs the benchmarks and writes the results, after each kernel anew, so that an interrupted run leaves what it has.
///
/// # Errors
/// If there is nothing to measure, or results cannot be written.
pub fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let kernels = corpus::select(&root.join("benchmarks/kernels"), &args.kernels)?;
    let state = root.join("target/bench");
    fs::create_dir_all(&state).with_context(|| format!("cannot create {}", state.display()))?;
    let work = tempfile::tempdir_in(&state).context("cannot create a working folder")?;
    let session = Session::prepare(args, work.path(), &state)?;
    let out = root.join(&args.out);
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;

    let mut results = Vec::new();
    for (i, kernel) in kernels.iter().enumerate() {
        eprintln!("[{}/{}] {}", i + 1, kernels.len(), kernel.name);
        results.push(session.measure(kernel));
        write(&out.join("bench.csv"), &table::samples_csv(&results))?;
        write(&out.join("tuning.csv"), &table::tuning_csv(&results))?;
        write(&out.join("bench.md"), &table::markdown(&session.conditions, &session.contenders, &results))?;
    }
    eprintln!("results are in {}", out.display());
    Ok(verdict(&results))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Bad if Oxeye failed or was wrong anywhere, or nothing could be measured.
fn verdict(results: &[KernelResult]) -> Verdict {
    let failed = |entry: &Entry| {
        let ours = matches!(entry.contender, Contender::Oxeye(_));
        ours && (entry.failure.is_some() || entry.fault().is_some())
    };
    let any = results.iter().any(|r| r.failure.is_some() || r.entries.iter().any(failed));
    if any { Verdict::Bad } else { Verdict::Good }
}

/// What stays the same over all kernels.
struct Session<'a> {
    args: &'a Args,
    work: &'a Path,
    state: &'a Path,
    toolchains: Vec<Toolchain>,
    contenders: Vec<Contender>,
    oxeye: Option<Oxeye>,
    conditions: Conditions,
}

impl<'a> Session<'a> {
    /// Finds the contenders; each missing one leaves a note.
    fn prepare(args: &'a Args, work: &'a Path, state: &'a Path) -> Result<Session<'a>> {
        let threads = usize::from(args.threads);
        let mut notes = Vec::new();
        let mut toolchains = Vec::new();
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            toolchains.extend(build::find(compiler));
        }
        if toolchains.is_empty() {
            bail!(
                "neither gcc nor clang is installed; on Debian: apt-get install gcc clang-19 libomp-19-dev"
            );
        }

        let user_flags = words(&args.flags);
        let probe = |compiler: Compiler, flags: &[&str]| {
            let Some(toolchain) = toolchains.iter().find(|toolchain| toolchain.compiler == compiler) else {
                return Err(format!("{} is not installed", compiler.word()));
            };
            let all: Vec<&str> = user_flags.iter().map(String::as_str).chain(flags.iter().copied()).collect();
            if toolchain.accepts(&all, work) {
                Ok(())
            } else {
                Err(format!(
                    "{} builds not even a trivial program with `{}`",
                    toolchain.program,
                    all.join(" ")
                ))
            }
        };
        let mut contenders = Vec::new();
        for &peer in &args.peers {
            match probe(peer.compiler(), &peer.flags(threads)) {
                Ok(()) => contenders.push(Contender::Peer(peer)),
                Err(why) => notes.push(format!("no {} column: {why}", peer.word())),
            }
        }
        let oxeye = find_oxeye(args, &mut notes);
        if oxeye.is_some() {
            let openmp: &[&str] = if threads > 1 { &["-fopenmp"] } else { &[] };
            for &compiler in args.compiler.compilers() {
                match probe(compiler, openmp) {
                    Ok(()) => contenders.push(Contender::Oxeye(compiler)),
                    Err(why) => notes.push(format!("no oxeye-{} column: {why}", compiler.word())),
                }
            }
        }
        for note in &notes {
            eprintln!("note: {note}");
        }
        if contenders.is_empty() {
            bail!("there is nothing to measure");
        }
        let conditions = Conditions {
            machine: Machine::detect(),
            toolchains: toolchains.clone(),
            flags: args.flags.clone(),
            sizes: sizes_in_words(args),
            threads,
            notes,
        };
        Ok(Session { args, work, state, toolchains, contenders, oxeye, conditions })
    }

    fn toolchain(&self, compiler: Compiler) -> Result<&Toolchain> {
        let found = self.toolchains.iter().find(|toolchain| toolchain.compiler == compiler);
        found.with_context(|| format!("{} is not installed", compiler.word()))
    }

    fn measure(&self, kernel: &Kernel) -> KernelResult {
        let flags = Flags {
            user: words(&self.args.flags),
            sizes: [kernel.shrunk(self.args.shrink), words(&self.args.size_defs)].concat(),
        };
        let mut result = KernelResult {
            name: kernel.name.clone(),
            group: kernel.group(),
            rounds: 0,
            entries: vec![],
            failure: None,
        };
        let reference = match self.reference(kernel, &flags) {
            Ok(reference) => reference,
            Err(error) => {
                eprintln!("    reference: {error:#}");
                result.failure = Some(format!("no reference: {error:#}"));
                return result;
            }
        };
        for &contender in &self.contenders {
            result.entries.push(self.ready(contender, kernel, &flags));
        }
        self.race(&mut result, &reference);
        for entry in &result.entries {
            eprintln!("    {:12} {}", entry.contender.label(), in_words(entry));
        }
        result
    }

    fn reference(&self, kernel: &Kernel, flags: &Flags) -> Result<String> {
        let toolchain = self.toolchains.first().context("no compiler")?;
        let limit = Duration::from_secs_f64(5.0 * self.args.time_limit);
        build::reference(kernel, toolchain, &flags.sizes, self.work, &self.state.join("reference"), limit)
    }

    /// Tunes if that applies, and builds.
    fn ready(&self, contender: Contender, kernel: &Kernel, flags: &Flags) -> Entry {
        let mut entry = Entry { contender, samples: Vec::new(), tuning: None, failure: None };
        let outcome = match contender {
            Contender::Peer(peer) => self.build_peer(peer, kernel, flags),
            Contender::Oxeye(compiler) => self.build_tuned(compiler, kernel, flags, &mut entry),
        };
        if let Err(error) = outcome {
            eprintln!("    {}: {error:#}", contender.label());
            entry.failure = Some(format!("{error:#}"));
        }
        entry
    }

    fn build_peer(&self, peer: Peer, kernel: &Kernel, flags: &Flags) -> Result<()> {
        let toolchain = self.toolchain(peer.compiler())?;
        let executable = self.executable(&kernel.name, Contender::Peer(peer));
        let extra = peer.flags(self.conditions.threads);
        build::compile(toolchain, &kernel.path, &executable, folder(kernel), &flags.for_user(), &extra)
    }

    fn build_tuned(
        &self,
        compiler: Compiler,
        kernel: &Kernel,
        flags: &Flags,
        entry: &mut Entry,
    ) -> Result<()> {
        let toolchain = self.toolchain(compiler)?;
        let oxeye = self.oxeye.as_ref().context("no oxeye")?;
        let stem = format!("{}.{}", kernel.name, compiler.word());
        let job =
            Job { source: &kernel.path, stem: &stem, compiler: toolchain.program, flags: &flags.for_user() };
        let tuned = oxeye.tune(job, self.work);
        self.keep(&stem);
        let tuning = entry.tuning.insert(tuned?);
        eprintln!("    tuned for {} in {:.1} s", compiler.word(), tuning.seconds);
        let executable = self.executable(&kernel.name, Contender::Oxeye(compiler));
        let added: Vec<&str> = tuning.added.iter().map(String::as_str).collect();
        build::compile(toolchain, &tuning.source, &executable, folder(kernel), &flags.for_user(), &added)
    }

    /// Keeps the files of a tuning, to be looked at afterwards.
    fn keep(&self, stem: &str) {
        let kept = self.state.join("tuned");
        for extension in ["c", "json", "log"] {
            let name = format!("{stem}.{extension}");
            let copied =
                fs::create_dir_all(&kept).and_then(|()| fs::copy(self.work.join(&name), kept.join(&name)));
            if let Err(error) = copied
                && error.kind() != std::io::ErrorKind::NotFound
            {
                eprintln!("    cannot keep {name}: {error}");
            }
        }
    }

    fn executable(&self, kernel: &str, contender: Contender) -> PathBuf {
        self.work.join(format!("{kernel}.{}", contender.label()))
    }

    /// Runs all contenders in turn, round after round. One that was wrong, hung or crashed does not run again.
    fn race(&self, result: &mut KernelResult, reference: &str) {
        let begin = Instant::now();
        let wanted = usize::from(self.args.runs);
        let budget = Duration::from_secs_f64(self.args.kernel_budget);
        let n = result.entries.len();
        for round in 1..=3 * wanted {
            let round_begin = Instant::now();
            let name = result.name.clone();
            for turn in 0..n {
                let entry = &mut result.entries[(turn + round) % n];
                if entry.failure.is_some() || entry.fault().is_some() {
                    continue;
                }
                match self.sample(&self.executable(&name, entry.contender), reference, round) {
                    Ok(sample) => entry.samples.push(sample),
                    Err(error) => entry.failure = Some(format!("{error:#}")),
                }
            }
            result.rounds = round;
            let short = round_begin.elapsed() < Duration::from_secs(1);
            let spent = begin.elapsed() > budget;
            if (round >= wanted && !short) || (round >= 2 && spent) {
                break;
            }
        }
    }

    fn sample(&self, executable: &Path, reference: &str, round: usize) -> Result<Sample> {
        let mut command = Command::new(executable);
        command.env("OMP_NUM_THREADS", self.conditions.threads.to_string());
        let finished = run_limited(&mut command, Duration::from_secs_f64(self.args.time_limit))?;
        Ok(Sample { round, outcome: judge(&finished, reference), wall: finished.wall })
    }
}

fn folder(kernel: &Kernel) -> &Path {
    kernel.path.parent().unwrap_or(Path::new("."))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn sizes_in_words(args: &Args) -> String {
    let shrunk = if args.shrink > 1 { format!("all divided by {} ", args.shrink) } else { String::new() };
    format!("{shrunk}{}", args.size_defs).trim().to_owned()
}

/// The oxeye to use. None, with a note, if it does not build.
fn find_oxeye(args: &Args, notes: &mut Vec<String>) -> Option<Oxeye> {
    if args.no_oxeye {
        return None;
    }
    let program = match &args.oxeye {
        Some(path) => Ok(path.clone()),
        None => repository::build_binary("oxeye"),
    };
    match program {
        Ok(program) => Some(Oxeye {
            program,
            threads: usize::from(args.threads),
            options: words(&args.oxeye_options),
            limit: Duration::from_secs_f64(args.tuning_limit),
        }),
        Err(error) => {
            notes.push(format!("no Oxeye: {error:#}"));
            None
        }
    }
}

fn in_words(entry: &Entry) -> String {
    if let Some(failure) = &entry.failure {
        return format!("failed: {failure}");
    }
    match (entry.median(), entry.fault()) {
        (Some(seconds), _) => format!("{seconds:.6} s (median of {})", entry.samples.len()),
        (None, Some(Outcome::Wrong(error))) => format!("wrong result, off by {error:.1e}"),
        (None, Some(Outcome::Crash(why))) => format!("crash: {why}"),
        (None, Some(fault)) => fault.word().to_owned(),
        (None, None) => "not run".to_owned(),
    }
}

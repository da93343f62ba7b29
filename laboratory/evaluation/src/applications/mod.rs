//! `cargo xtask applications`: the programs in `benchmarks/applications` against the packages they come from.
//!
//! For each program: the package says whether its results are right, and that they are wrong once an element of a field
//! is changed; Oxeye tunes the file, and its results are judged again; then the untuned program, the tuned one and the
//! package's own code run in turn, one round after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::bench::build::{Oxeye, Tuning};
use crate::machine::Machine;
use crate::{Verdict, repository};
use definition::{Application, Program};
use environment::Python;
use oracle::Builder;
use table::{Conditions, Row};

mod definition;
mod environment;
mod oracle;
mod peer;
mod race;
mod table;

/// Options of `cargo xtask applications`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Applications or programs to run, such as `devito` or `deepwave/cpml`
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Sizes at which to tune and time
    #[arg(long, value_enum, default_value = "small")]
    size: Size,
    /// Threads for the tuned programs and for the peers
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// The user's compiler
    #[arg(long, default_value = "gcc")]
    compiler: String,
    /// Flags of every build
    #[arg(long, default_value = "-O3 -march=native -ffast-math", allow_hyphen_values = true)]
    flags: String,
    /// Rounds of timed runs
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Further options for `oxeye optimize`, such as "--quick"
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    oxeye_options: String,
    /// Use this oxeye instead of building it
    #[arg(long)]
    oxeye: Option<PathBuf>,
    /// Only ask the oracles: no tuning, no timing, no results file
    #[arg(long)]
    oracles: bool,
    /// Seconds that one run of a program, an oracle or a peer may take
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    /// Seconds that one tuning may take
    #[arg(long, default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..))]
    tuning_limit: u64,
    /// Folder of a Python environment, made if there is none [default: target/applications/venv]
    #[arg(long)]
    venv: Option<PathBuf>,
    /// Folder for applications.md and applications.json
    #[arg(long, default_value = "benchmarks/results")]
    out: PathBuf,
}

/// Which of a program's sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Size {
    /// Seconds.
    Small,
    /// As the package's users run it.
    Typical,
}

impl Size {
    fn word(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Typical => "typical",
        }
    }
}

/// Runs the applications and writes the results, after each program anew; rows of programs that are not run stay.
///
/// # Errors
/// If there is nothing to run, the Python environment cannot be made, or results cannot be written.
pub fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let shared = root.join("benchmarks/applications");
    let chosen = definition::select(&shared, &args.only)?;
    let state = root.join("target/applications");
    fs::create_dir_all(&state).with_context(|| format!("cannot create {}", state.display()))?;
    let venv = args.venv.clone().unwrap_or_else(|| state.join("venv"));
    let python = Python::prepare(&venv, &shared)?;
    let oxeye = if args.oracles { None } else { Some(find_oxeye(args)?) };
    let session = Session { args, shared: &shared, state: &state, python, oxeye, machine: Machine::detect() };

    let out = root.join(&args.out);
    let mut rows = table::read(&out.join("applications.json"))?;
    let mut verdict = Verdict::Good;
    for (i, (application, program)) in chosen.iter().enumerate() {
        eprintln!("[{}/{}] {}/{}", i + 1, chosen.len(), application.name, program.name);
        let row = session.measure(application, program);
        eprintln!("    {}", row.in_words());
        if row.failure.is_some() {
            verdict = Verdict::Bad;
        }
        if !args.oracles {
            table::put(&mut rows, row);
            fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
            table::write(&out, &rows)?;
        }
    }
    Ok(verdict)
}

fn find_oxeye(args: &Args) -> Result<Oxeye> {
    let program = match &args.oxeye {
        Some(path) => fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?,
        None => repository::build_binary("oxeye")?,
    };
    Ok(Oxeye {
        program,
        threads: usize::from(args.threads),
        options: words(&args.oxeye_options),
        limit: Duration::from_secs(args.tuning_limit),
    })
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// What stays the same over all programs.
struct Session<'a> {
    args: &'a Args,
    shared: &'a Path,
    state: &'a Path,
    python: Python,
    oxeye: Option<Oxeye>,
    machine: Machine,
}

impl Session<'_> {
    /// Everything about one program; what goes wrong is in the row.
    fn measure(&self, application: &Application, program: &Program) -> Row {
        let conditions = Conditions {
            size: self.args.size.word(),
            threads: self.args.threads,
            options: &self.args.oxeye_options,
            machine: &self.machine,
        };
        let mut row = Row::new(application, program, &conditions);
        if let Err(error) = self.fill(application, program, &mut row) {
            row.failure = Some(format!("{error:#}"));
        }
        row
    }

    fn fill(&self, application: &Application, program: &Program, row: &mut Row) -> Result<()> {
        let work = self.state.join(&application.name).join(&program.name);
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot remove {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        let limit = Duration::from_secs(self.args.time_limit);
        let builder = Builder {
            compiler: &self.args.compiler,
            flags: [words(&self.args.flags), words(&application.flags), vec!["-lm".to_owned()]].concat(),
            include: &application.folder,
            work: &work,
            threads: self.args.threads,
            limit,
        };
        let asked = oracle::Oracle { python: &self.python, application, program, shared: self.shared, limit };
        let source = application.folder.join(program.file());

        let small = builder.build("check-untuned", &source, &words(&program.check), &[])?;
        row.oracle_before = Some(asked.judges(&small.fields()?)?);
        row.changes_found = Some(asked.finds_changes(&small.fields()?)?);
        let Some(oxeye) = &self.oxeye else { return Ok(()) };

        let sizes = words(program.sizes(self.args.size.word()));
        row.sizes = sizes.join(" ");
        let flags = builder.for_user(&sizes);
        let job = crate::bench::build::Job {
            source: &source,
            stem: "tuned",
            compiler: &self.args.compiler,
            flags: &flags,
        };
        let tuning = oxeye.tune(job, &work)?;
        eprintln!("    tuned {} of {} nests in {:.0} s", tuning.tuned_nests, tuning.nests, tuning.seconds);
        row.tuning = Some((&tuning).into());
        let added = &tuning.added;
        let tuned_small = builder.build("check-tuned", &tuning.source, &words(&program.check), added)?;
        row.oracle_after = Some(asked.judges(&tuned_small.fields()?)?);
        self.time(&builder, &asked, &source, &sizes, &tuning, row)
    }

    /// Times the untuned program, the tuned one, and the peer, after their results were compared.
    fn time(
        &self,
        builder: &Builder<'_>,
        asked: &oracle::Oracle<'_>,
        source: &Path,
        sizes: &[String],
        tuning: &Tuning,
        row: &mut Row,
    ) -> Result<()> {
        let untuned = builder.build("untuned", source, sizes, &[])?;
        let tuned = builder.build("tuned", &tuning.source, sizes, &tuning.added)?;
        let fields = untuned.fields()?;
        row.tuned_difference = Some(asked.compares(&fields, &tuned.fields()?)?);
        let mut peer = None;
        if asked.program.peer {
            let mut started = peer::Peer::start(asked, &fields, builder)?;
            row.peer_difference = Some(started.wait_until_ready()?);
            peer = Some(started);
        }
        let mut contenders: Vec<race::Contender<'_>> = vec![race::program(&untuned), race::program(&tuned)];
        if let Some(peer) = &mut peer {
            contenders.push(Box::new(|| peer.seconds()));
        }
        let times = race::race(&mut contenders, usize::from(self.args.rounds))?;
        drop(contenders);
        let mut times = times.into_iter();
        row.untuned = times.next().unwrap_or_default();
        row.tuned = times.next().unwrap_or_default();
        row.peer = times.next();
        row.work = untuned.work.get();
        Ok(())
    }
}

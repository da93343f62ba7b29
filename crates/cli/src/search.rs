//! `oxeye search`: look for schedules beyond the suggested ones.

use crate::columns::wrapped;
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::knowledge::{Memory, knowledge, location};
use crate::manner::Manner;
use crate::nodes;
use crate::program::{self, ProgramArgs};
use crate::tuning::{JudgingArgs, ResultArgs, duration};
use oxeye::{Knowledge, Progress, Report, SearchOptions};
use oxeye_database::Location;
use oxeye_nodes::NodesArgs;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  Five minutes for the nests of a program, those with most of its time first
    oxeye search gemm.c --budget 5m -- gcc -O3 -march=native -ffast-math -lm

  The same with a log: a search resumes, or goes on with a longer budget
    oxeye search gemm.c --budget 5m --log gemm.search.jsonl -- gcc -O3 -lm
    oxeye search gemm.c --budget 1h --log gemm.search.jsonl -- gcc -O3 -lm

  One trial of the log as a file, whether it won or not
    oxeye apply gemm.search.jsonl gemm.c --trial 12 -o gemm_12.c

  A function without a program, 200 candidates, nothing added to the database
    oxeye search kernel.c -f jacobi --set n=2000 --budget 10m \\
        --max-trials 200 --no-learn -- gcc -O2

Every step of every candidate is proved legal before it is compiled; winners are
checked and timed as by `oxeye tune`. All trials, failures included, are
added to the recipe database when the search is done.

Exit codes:
  0    done; if nothing was faster, the output is the input unchanged, and the
       report says why
  1    the tuned program did not behave like the original and was discarded
  2    could not run
  130  interrupted; the log is kept, and the search can be resumed from it";

/// Search for faster schedules of a C file's loop nests for as long as a budget allows
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::compared_run_of_file))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Time for the whole search, such as 90s or 5m; a resumed search gets what is left of it
    #[arg(long, value_parser = duration)]
    budget: Duration,
    /// Seed of the random choices: the same measurements give the same search
    #[arg(long, default_value_t = SearchOptions::default().seed, value_name = "S")]
    seed: u64,
    /// Log every trial as a line of JSON (schema oxeye.search/1), and resume the search of a log that exists
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Compile and run at most this many candidates of each nest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_trials: Option<u32>,
    /// How many of the fastest are timed against the original
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    #[command(flatten)]
    nodes: NodesArgs,
    #[command(flatten)]
    judging: JudgingArgs,
    #[command(flatten)]
    results: ResultArgs,
    /// The recipe database that trials are added to [default: as `oxeye db path` says]
    #[arg(long, value_name = "FILE|ADDRESS", value_parser = location())]
    database: Option<Location>,
    /// Add nothing to the recipe database
    #[arg(long)]
    no_learn: bool,
    /// Begin with what each way of finding donors would pick, and report how those did
    #[arg(long, hide = true)]
    compare_donors: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let drawing = Drawing::new(manner, manner.verbose);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let (report, learnt) = outcome?;
    // A search that has ended has nothing to go on with.
    let details = if manner.verbose { searched(&report, manner) } else { String::new() };
    args.results.deliver(&report, &(details + &learnt), manner, &|_| None)
}

impl Args {
    /// Searches, and writes the tuned file. Also returns what there is to say of what was learnt.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<(Report, String)> {
        let mut options = self.program.options()?;
        (options.budget, options.top_k) = (self.budget, self.top_k as usize);
        self.judging.apply(&mut options);
        let log: Vec<&Path> = self.log.as_deref().into_iter().collect();
        self.results.apply(&mut options, &log)?;
        options.knowledge =
            if self.compare_donors { knowledge(self.database.as_ref()) } else { Knowledge::Nothing };
        let memory = if self.no_learn { None } else { Some(Memory::open(self.database.as_ref())?) };
        options.threads = self.nodes.threads(self.program.run.threads, options.threads);
        options.machines.nodes = nodes::start(&self.nodes)?;
        let max_trials = self.max_trials.map(|n| n as usize);
        let (seed, log, compare) = (self.seed, self.log.clone(), self.compare_donors);
        let searching = SearchOptions { seed, log, max_trials, compare };
        let (report, entries) = oxeye::search(&options, &searching, progress)?;
        Ok((report, memory.map(|memory| memory.learn(entries)).unwrap_or_default()))
    }
}

/// How the search of each nest went, for people.
fn searched(report: &Report, manner: &Manner) -> String {
    let mut out = String::new();
    for nest in report.search.iter().flat_map(|search| &search.nests) {
        let line = report.nests.get(nest.id).map_or(0, |n| n.line.line);
        let (measured, refused, hopeless) = (nest.measured, nest.refused, nest.hopeless);
        let sentence = format!(
            "line {line}: {measured} candidates measured, {refused} not legal or not applicable, \
             {hopeless} skipped as too slow by the model; {}",
            nest.stopped
        );
        out += &wrapped(&sentence, manner.view().width);
        for method in &nest.compared {
            let speedup = method.speedup.map_or("none correct".into(), |s| format!("{s:.2}x"));
            let picks = method.picks.join(", ");
            let _ = writeln!(out, "  donors by {}: best {speedup} of {picks}", method.method);
        }
    }
    out
}

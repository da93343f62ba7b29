//! Nodes that measure candidates besides this machine: the options that start them, and the subcommand that they run.

use crate::columns::wrapped;
use crate::exit::Exit;
use crate::interrupt::is_interrupted;
use crate::manner::Manner;
use crate::mistakes::Mistake;
use anyhow::Context;
use oxeye_measure::available_cores;
use oxeye_nodes::{Nodes, Starting, Worked, work};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Where candidates are measured.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Nodes")]
pub(crate) struct NodesArgs {
    /// Measure candidates on N nodes at once
    ///
    /// Slurm starts them if --slurm is given; else start `oxeye worker FOLDER` on each, with the folder of --shared.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), hide_short_help = true)]
    nodes: Option<u32>,
    /// Let Slurm start the nodes: '--partition=cpu --constraint=zen4'
    ///
    /// What sbatch is told besides: one job array with a whole node for each task. They have to be like the machine that this runs on.
    #[arg(
        long,
        value_name = "OPTIONS",
        requires = "nodes",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    slurm: Option<String>,
    /// Measure N candidates at a time on this machine
    ///
    /// Each has its part of the cores, and --threads is for each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with = "nodes", hide_short_help = true)]
    local_shards: Option<u32>,
    /// The folder that all nodes see [default: a new one in the present folder]
    ///
    /// One that is named stays, with what was measured in it.
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    shared: Option<PathBuf>,
    /// What a node runs [default: oxeye worker, from where this one is]
    #[arg(long, value_name = "COMMAND", hide_short_help = true)]
    worker: Option<String>,
}

impl NodesArgs {
    /// The threads of each candidate: as many as are given, or a part of all.
    pub(crate) fn threads(&self, given: Option<u32>, all: u32) -> u32 {
        given.unwrap_or(all / self.local_shards.unwrap_or(1)).max(1)
    }

    /// Starts the nodes, if any are asked for.
    ///
    /// # Errors
    /// If the options do not go together, or nothing can be started.
    pub(crate) fn start(&self) -> anyhow::Result<Option<Arc<Nodes>>> {
        let starting = match (self.local_shards, self.nodes, &self.slurm) {
            (Some(n), ..) if n as usize > available_cores() => {
                let cores = available_cores();
                let text =
                    format!("--local-shards {n}: each needs a core of its own, of which there are {cores}");
                return Err(Mistake::new(text).into());
            }
            (Some(n), ..) => Starting::Here(n as usize),
            (None, Some(n), Some(options)) => {
                let words = shlex::split(options).ok_or_else(|| {
                    Mistake::new(format!("--slurm: `{options}` has a quote without an end"))
                })?;
                Starting::Slurm { words, nodes: n as usize }
            }
            (None, Some(n), None) if self.shared.is_some() => Starting::Elsewhere(n as usize),
            (None, Some(_), None) => {
                return Err(Mistake::new(
                    "--nodes needs --slurm OPTIONS, which may be empty (''), or --shared FOLDER, for which `oxeye worker FOLDER` is started on each node",
                )
                .into());
            }
            (None, None, _) if self.shared.is_some() || self.worker.is_some() => {
                return Err(Mistake::new("--shared and --worker go with --nodes or --local-shards").into());
            }
            (None, None, _) => return Ok(None),
        };
        let nodes = Nodes::start(self.shared.as_deref(), &starting, &self.worker()?)?;
        Ok(Some(Arc::new(nodes)))
    }

    fn worker(&self) -> anyhow::Result<Vec<OsString>> {
        match &self.worker {
            Some(command) => {
                let words = shlex::split(command).filter(|words| !words.is_empty());
                let words =
                    words.ok_or_else(|| Mistake::new(format!("--worker: `{command}` is no command")))?;
                Ok(words.into_iter().map(OsString::from).collect())
            }
            None => {
                let own = std::env::current_exe().context("cannot find the program that runs")?;
                Ok(vec![own.into_os_string(), "worker".into()])
            }
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  On the node where the program is built and run, and on each of the others
    oxeye tune solver.c --nodes 2 --shared /scratch/solver -- gcc -O3
    oxeye worker /scratch/solver

It takes candidates from the folder, measures them, and ends when `oxeye tune`
does. A machine of another kind, or one that computes otherwise, is set aside.

Exit codes: 0 done, 1 set aside, 2 could not run, 130 interrupted.";

/// Measure candidates for an `oxeye tune` that runs elsewhere
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorkerArgs {
    /// The folder that both see
    folder: PathBuf,
    /// What this node is called [default: its name, and the number of the process]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Runs the subcommand.
pub(crate) fn run(args: WorkerArgs, manner: &Manner) -> anyhow::Result<Exit> {
    manner.say(&|_| format!("measures candidates for the run on {}\n", args.folder.display()))?;
    let worked = args.work(&is_interrupted)?;
    manner.say(&|view| wrapped(&words(&worked), view.width))?;
    Ok(match worked.aside {
        Some(_) => Exit::Negative,
        None if is_interrupted() => Exit::Interrupted,
        None => Exit::Done,
    })
}

impl WorkerArgs {
    /// Measures until there is no more to do.
    pub(crate) fn work(&self, stop: &dyn Fn() -> bool) -> anyhow::Result<Worked> {
        Ok(work(&self.folder, self.name.as_deref(), stop)?)
    }
}

/// What a worker has done, in a sentence.
fn words(worked: &Worked) -> String {
    let s = if worked.finished == 1 { "" } else { "s" };
    let done = format!("{}: {} candidate{s} measured", worked.node, worked.finished);
    match &worked.aside {
        Some(why) => format!("{done}; set aside: {why}"),
        None => done,
    }
}

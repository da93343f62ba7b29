//! The options of a command line that start nodes.

use crate::error::NodesError;
use crate::head::{Nodes, Starting};
use oxeye_measure::available_cores;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Options of a command whose tasks nodes can do.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Nodes")]
pub struct NodesArgs {
    /// Measure on N nodes at once
    ///
    /// Slurm starts them if --slurm is given; else start the subcommand `worker FOLDER` on each, with the folder of --shared.
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
    /// Measure N at a time on this machine
    ///
    /// Each has its part of the cores, and --threads is for each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with = "nodes", hide_short_help = true)]
    local_shards: Option<u32>,
    /// The folder that all nodes see [default: a new one in the present folder]
    ///
    /// One that is named stays, with what was measured in it.
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    shared: Option<PathBuf>,
    /// What a node runs [default: the subcommand worker of this program]
    #[arg(long, value_name = "COMMAND", hide_short_help = true)]
    worker: Option<String>,
}

impl NodesArgs {
    /// The threads of each task: as many as are given, or a part of all.
    pub fn threads(&self, given: Option<u32>, all: u32) -> u32 {
        given.unwrap_or(all / self.local_shards.unwrap_or(1)).max(1)
    }

    /// Starts the nodes, if any are asked for. They run the last word of `worker`, a subcommand of the present
    /// program as users type it, unless the user names a command.
    ///
    /// # Errors
    /// [`NodesError::Words`] if the options do not go together; others if nothing can be started.
    pub fn start(&self, worker: &str) -> Result<Option<Nodes>, NodesError> {
        match self.starting(worker)? {
            Some(starting) => {
                Nodes::start(self.shared.as_deref(), &starting, &self.worker(worker)?).map(Some)
            }
            None => Ok(None),
        }
    }

    fn starting(&self, worker: &str) -> Result<Option<Starting>, NodesError> {
        let words = |text: &str| Err(NodesError::Words(text.to_owned()));
        Ok(Some(match (self.local_shards, self.nodes, &self.slurm) {
            (Some(n), ..) if n as usize > available_cores() => {
                let cores = available_cores();
                return words(&format!(
                    "--local-shards {n}: each needs a core of its own, of which there are {cores}"
                ));
            }
            (Some(n), ..) => Starting::Here(n as usize),
            (None, Some(n), Some(options)) => match shlex::split(options) {
                Some(words) => Starting::Slurm { words, nodes: n as usize },
                None => return words(&format!("--slurm: `{options}` has a quote without an end")),
            },
            (None, Some(n), None) if self.shared.is_some() => Starting::Elsewhere(n as usize),
            (None, Some(_), None) => {
                return words(&format!(
                    "--nodes needs --slurm OPTIONS, which may be empty (''), or --shared FOLDER, for which `{worker} FOLDER` is started on each node"
                ));
            }
            (None, None, _) if self.shared.is_some() || self.worker.is_some() => {
                return words("--shared and --worker go with --nodes or --local-shards");
            }
            (None, None, _) => return Ok(None),
        }))
    }

    fn worker(&self, worker: &str) -> Result<Vec<OsString>, NodesError> {
        match &self.worker {
            Some(command) => {
                let words = shlex::split(command).filter(|words| !words.is_empty());
                let words =
                    words.ok_or_else(|| NodesError::Words(format!("--worker: `{command}` is no command")))?;
                Ok(words.into_iter().map(OsString::from).collect())
            }
            None => {
                let own = std::env::current_exe();
                let own = own.map_err(NodesError::io("find", Path::new("the program that runs")))?;
                let subcommand = worker.rsplit(' ').next().unwrap_or(worker);
                Ok(vec![own.into_os_string(), subcommand.into()])
            }
        }
    }
}

//! Nodes that measure candidates besides this machine: starting them, and the subcommand that they run.

use crate::columns::wrapped;
use crate::exit::Exit;
use crate::interrupt::is_interrupted;
use crate::manner::Manner;
use crate::mistakes::Mistake;
use oxeye_nodes::{Nodes, NodesArgs, NodesError, Worked, work};
use std::path::PathBuf;
use std::sync::Arc;

/// Starts the nodes, if any are asked for.
///
/// # Errors
/// If the options do not go together, or nothing can be started.
pub(crate) fn start(args: &NodesArgs) -> anyhow::Result<Option<Arc<Nodes>>> {
    match args.start("oxeye worker") {
        Ok(nodes) => Ok(nodes.map(Arc::new)),
        Err(NodesError::Words(text)) => Err(Mistake::new(text).into()),
        Err(error) => Err(error.into()),
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

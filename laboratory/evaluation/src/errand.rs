//! Programs that run to their ends one after another here, or on several nodes at once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use oxeye_nodes::{Nodes, NodesArgs, NodesError, Task, Worked, work_at};
use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::process::{Finished, run_limited};

/// A program that is to run. All paths in it are absolute, and nodes see what is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Errand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Variables of its environment, besides those that are set.
    pub environment: Vec<(String, String)>,
    /// Seconds that it may take.
    pub limit_seconds: u64,
}

impl Errand {
    /// What a command does.
    pub fn of(command: &Command, limit: Duration) -> Errand {
        let text = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
        let words = std::iter::once(command.get_program()).chain(command.get_args()).map(text).collect();
        let variables = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
        Errand { words, environment: variables.collect(), limit_seconds: limit.as_secs() }
    }

    fn run(&self) -> Result<Finished> {
        let Some((program, args)) = self.words.split_first() else { bail!("an errand without a program") };
        let mut command = Command::new(program);
        command.args(args).envs(self.environment.iter().cloned());
        run_limited(&mut command, Duration::from_secs(self.limit_seconds))
    }
}

/// An errand in the folder that nodes see.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Posted {
    errand: Errand,
    /// When it was posted: what an errand leaves are files, and its finding does not stand for them later.
    nanoseconds: u128,
}

impl Task for Posted {
    type Finding = Result<Finished, String>;

    fn identity(&self) -> impl Serialize {
        self
    }

    fn lost(node: String, n_nodes: usize) -> Self::Finding {
        Err(format!("{n_nodes} nodes have died with it, the last of them {node}"))
    }
}

/// Runs all errands and tells of each as soon as it is done.
///
/// # Errors
/// If nodes cannot be used, or `ended` fails. That a program cannot be started is told to `ended`.
pub fn run_all(
    errands: &[Errand],
    nodes: Option<&Nodes>,
    ended: &mut dyn FnMut(usize, Result<Finished>) -> Result<()>,
) -> Result<()> {
    let Some(nodes) = nodes else {
        return errands.iter().enumerate().try_for_each(|(idx, errand)| ended(idx, errand.run()));
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let posted = |errand: &Errand| Posted { errand: errand.clone(), nanoseconds: now.as_nanos() };
    let round = nodes.post(errands.iter().map(posted).collect())?;
    round.wait(&|| true, &mut |idx, finding| ended(idx, finding.map_err(anyhow::Error::msg)))
}

/// Starts the nodes that the options ask for.
///
/// # Errors
/// If the options do not go together, or nothing can be started.
pub fn start(args: &NodesArgs) -> Result<Option<Nodes>> {
    Ok(args.start("cargo xtask worker")?)
}

/// Options of `cargo xtask worker`.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// The folder that both see
    folder: PathBuf,
    /// What this node is called [default: its name, and the number of the process]
    #[arg(long)]
    name: Option<String>,
}

/// Runs errands for a task that runs elsewhere, until that ends.
///
/// # Errors
/// If the folder is not one of such a task, or cannot be used.
pub fn run(args: &WorkerArgs) -> Result<Verdict> {
    let Worked { node, finished, aside } = work(&args.folder, args.name.as_deref())?;
    println!(
        "{node}: {finished} done{}",
        aside.as_ref().map_or(String::new(), |why| format!("; set aside: {why}"))
    );
    Ok(if aside.is_none() { Verdict::Good } else { Verdict::Bad })
}

fn work(folder: &Path, name: Option<&str>) -> Result<Worked, NodesError> {
    let run = |errand: &Errand| errand.run().map_err(|error| format!("{error:#}"));
    work_at((folder, name), &|| false, |_, posted: &Posted| Ok(run(&posted.errand)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::End;
    use oxeye_nodes::Starting;

    fn errands() -> Vec<Errand> {
        let script = |k: u32| format!("echo $NUMBER; exit {k}");
        let errand = |k: u32| {
            let mut command = Command::new("sh");
            command.args(["-c", &script(k)]).env("NUMBER", k.to_string());
            Errand::of(&command, Duration::from_secs(60))
        };
        (0..5).map(errand).chain([Errand { words: vec!["/nowhere/program".into()], ..errand(0) }]).collect()
    }

    fn check(nodes: Option<&Nodes>) {
        let mut found: Vec<Option<Result<Finished>>> = errands().iter().map(|_| None).collect();
        let all = run_all(&errands(), nodes, &mut |idx, ended| {
            assert!(found[idx].replace(ended).is_none());
            Ok(())
        });
        all.expect("errands run");
        let last = found.pop().flatten().expect("the last one is told of");
        assert!(last.expect_err("there is no such program").to_string().contains("/nowhere/program"));
        for (idx, ended) in found.into_iter().enumerate() {
            let ended = ended.expect("all are told of").expect("it runs");
            assert_eq!((ended.end, ended.stdout), (End::Exit(idx as i32), format!("{idx}\n")));
        }
    }

    #[test]
    fn here_and_on_nodes_errands_end_alike() {
        check(None);
        let folder = tempfile::tempdir().expect("a folder");
        let shared = folder.path().join("shared");
        let nodes = Nodes::start(Some(&shared), &Starting::Elsewhere(2), &[]).expect("a new folder");
        std::thread::scope(|scope| {
            let workers = ["one", "two"].map(|name| scope.spawn(|| work(&shared, Some(name))));
            check(Some(&nodes));
            // The same again is done again.
            check(Some(&nodes));
            drop(nodes);
            let worked = workers.map(|worker| worker.join().expect("no panic").expect("it works"));
            assert_eq!(worked.iter().map(|worked| worked.finished).sum::<usize>(), 12);
        });
    }
}

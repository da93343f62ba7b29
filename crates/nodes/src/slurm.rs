//! Workers as a job array of Slurm.

use crate::error::NodesError;
use crate::folder::{Folder, LOGS};
use oxeye_measure::{Invocation, Limits, run_program};
use std::ffi::OsString;

/// A job array.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    id: String,
}

/// Slurm answers late while its controller is restarted.
const MOST_SECONDS: f64 = 60.0;

impl Job {
    /// Submits an array of so many tasks with a node each, with what the user tells sbatch.
    pub(crate) fn submit(
        words: &[String],
        n_nodes: usize,
        worker: &[OsString],
        folder: &Folder,
    ) -> Result<Job, NodesError> {
        let worker = worker.iter().map(|word| word.to_string_lossy().into_owned());
        let root = folder.root().to_string_lossy().into_owned();
        let worker: Vec<String> = worker.chain([root]).collect();
        let quoted = shlex::try_join(worker.iter().map(String::as_str))
            .map_err(|error| failed("sbatch", error.to_string()))?;
        let mut args: Vec<String> =
            ["--parsable", "--job-name=oxeye", "--nodes=1", "--ntasks=1", "--exclusive"]
                .map(str::to_owned)
                .to_vec();
        args.push(format!("--array=1-{n_nodes}"));
        args.push(format!("--output={}", folder.path(LOGS, "%A-%a.log").display()));
        args.extend(words.iter().cloned());
        args.extend(["--wrap".to_owned(), format!("exec {quoted}")]);
        let answer = run("sbatch", &args)?;
        // `ID` or `ID;CLUSTER`
        let id = answer.trim().split(';').next().unwrap_or_default().to_owned();
        match id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Err(failed("sbatch", format!("it named no job: {}", answer.trim()))),
            false => Ok(Job { id }),
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Why Slurm lets tasks of it wait, if it does.
    pub(crate) fn waits_for(&self) -> Option<String> {
        let args = ["--noheader", "--states=PENDING", "--format=%r", "--jobs", &self.id].map(str::to_owned);
        let answer = run("squeue", &args).ok()?;
        answer.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }

    /// Ends all tasks.
    pub(crate) fn cancel(&self) -> Result<(), NodesError> {
        run("scancel", &["--quiet".to_owned(), self.id.clone()]).map(drop)
    }
}

fn run(command: &str, args: &[String]) -> Result<String, NodesError> {
    let invocation = Invocation::new(command).args(args);
    let limits = Limits { seconds: MOST_SECONDS, ..Limits::default() };
    let outcome = run_program(&invocation, &limits).map_err(|error| failed(command, error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match outcome.exit.success() {
        true => Ok(text(&outcome.stdout)),
        false => {
            let said = text(&outcome.stderr);
            let said = said.trim();
            Err(failed(command, if said.is_empty() { outcome.exit.to_string() } else { said.to_owned() }))
        }
    }
}

fn failed(command: &str, text: String) -> NodesError {
    NodesError::Slurm { command: command.to_owned(), text }
}

//! The package's own code, in a process that waits to be asked for one run after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::oracle::{Builder, Oracle, right};

/// A `peer.py` that runs. It ends with this value.
#[derive(Debug)]
pub(super) struct Peer {
    process: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
    limit: Duration,
    log: PathBuf,
}

impl Peer {
    /// Starts the peer of the oracle's program on the inputs in `fields`.
    pub(super) fn start(asked: &Oracle<'_>, fields: &Path, builder: &Builder<'_>) -> Result<Peer> {
        let log = builder.work.join("peer.log");
        let mut command = asked.script("peer.py");
        command.arg(&asked.program.name).arg(fields).env("OMP_NUM_THREADS", builder.threads.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut process = command.spawn().context("cannot start the peer")?;
        let questions = process.stdin.take().context("the peer has no input")?;
        let output = BufReader::new(process.stdout.take().context("the peer has no output")?);
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // The packages print lines of their own.
                if line.starts_with('{') && sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Peer { process, questions, answers, limit: builder.limit, log })
    }

    /// Waits until it is set up and warm; how far its results are from the program's.
    pub(super) fn wait_until_ready(&mut self) -> Result<f64> {
        right(&self.answer()?).context("the peer computes something else")
    }

    /// Seconds of one run.
    pub(super) fn seconds(&mut self) -> Result<f64> {
        writeln!(self.questions, "run").context("the peer does not listen")?;
        self.answer()?["seconds"].as_f64().context("the peer does not say how long it took")
    }

    fn answer(&mut self) -> Result<serde_json::Value> {
        let Ok(line) = self.answers.recv_timeout(self.limit) else {
            bail!("the peer gave no answer; {} has what it said", self.log.display());
        };
        serde_json::from_str(&line).context("the peer's answer is no JSON")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! Real workers under a real Slurm, with candidates that sleep: many nodes on one machine have no more processors than one.

use anyhow::{Context, Result, anyhow, bail};
use oxeye_measure::{
    Argument, CompileJob, Compiler, ElementType, Init, Patience, Replay, ReplayOptions, Sample, SyntheticArg,
    Tolerance, WorkDir,
};
use oxeye_nodes::{Bench, Build, Candidate, Nodes, SharedOutputs, Starting};
use oxeye_slurm::Cluster;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What nodes did in a time.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) n_candidates: usize,
    pub(super) seconds: f64,
    /// Seconds to build one here, and to run it.
    pub(super) build: f64,
    pub(super) run: f64,
}

/// Nodes that have not come after so long do not come.
const WAIT: Duration = Duration::from_secs(60);

fn text(number: usize, milliseconds: u64) -> String {
    let nanoseconds = milliseconds * 1_000_000;
    format!(
        "// {number}\n#include <time.h>\nvoid oxeye_replay(void **args) {{\n    double *x = args[0];\n    \
         struct timespec wait = {{{}, {}}};\n    nanosleep(&wait, 0);\n    x[0] += 1;\n}}\n",
        nanoseconds / 1_000_000_000,
        nanoseconds % 1_000_000_000
    )
}

/// Lets so many nodes measure candidates for this time.
pub(super) fn measure(n_nodes: usize, oxeye: &Path, milliseconds: u64, time: Duration) -> Result<Measured> {
    if let Some(missing) = oxeye_slurm::missing() {
        bail!("there is no {missing}; install slurm-wlm and munge, or give --costs");
    }
    let cluster = Cluster::start(n_nodes).map_err(|error| anyhow!(error))?;
    let folder = tempfile::tempdir()?;
    let nodes = Nodes::start(Some(&folder.path().join("shared")), &Starting::Elsewhere(n_nodes), &[])?;
    let words = ["--parsable", "--exclusive", "--nodes=1", "--output=/dev/null"].map(str::to_owned);
    let array = format!("--array=1-{n_nodes}");
    let wrap = format!("exec '{}' worker '{}'", oxeye.display(), folder.path().join("shared").display());
    let words: Vec<&str> =
        words.iter().map(String::as_str).chain([array.as_str(), "--wrap", &wrap]).collect();
    cluster.run("sbatch", &words).map_err(|error| anyhow!(error))?;
    let begin = Instant::now();
    while nodes.width() < n_nodes {
        if begin.elapsed() > WAIT {
            bail!("only {} of {n_nodes} nodes came", nodes.width());
        }
        sleep(Duration::from_millis(100));
    }
    let alone = Alone::new(milliseconds)?;
    let bench = alone.share(&nodes)?;
    let task = |number: usize| -> Result<Candidate> {
        let build = alone.build(&nodes, &text(number, milliseconds))?;
        let best_seconds = 1e-3 * milliseconds as f64;
        Ok(Candidate {
            bench: bench.clone(),
            build,
            best_seconds,
            call_seconds: Patience::for_best(best_seconds).call_seconds,
        })
    };
    // Every node opens the bench before the clock runs.
    let mut number = 0;
    let mut post = |n: usize| -> Result<Vec<Candidate>> {
        let first = number;
        number += n;
        (first..number).map(task).collect()
    };
    let mut warm = nodes.post(post(4 * n_nodes)?)?;
    while !warm.is_done() {
        warm.poll()?;
        sleep(Duration::from_millis(5));
    }
    // As a search does: a generation after the other, four candidates for each node in each.
    let begin = Instant::now();
    let mut n_candidates = 0;
    while begin.elapsed() < time {
        let mut round = nodes.post(post((4 * n_nodes).max(16))?)?;
        while !round.is_done() && begin.elapsed() < time {
            n_candidates += round.poll()?.len();
            sleep(Duration::from_millis(5));
        }
    }
    let reports = nodes.reports();
    if let Some(node) = reports.iter().find(|node| node.aside.is_some()) {
        bail!("{}: {}", node.name, node.aside.clone().unwrap_or_default());
    }
    Ok(Measured { n_candidates, seconds: begin.elapsed().as_secs_f64(), build: alone.build, run: alone.run })
}

/// The original, built and run on this machine.
struct Alone {
    work: WorkDir,
    compiler: Compiler,
    sample: Sample,
    outputs: oxeye_measure::Outputs,
    milliseconds: u64,
    build: f64,
    run: f64,
}

impl Alone {
    fn new(milliseconds: u64) -> Result<Self> {
        let work = WorkDir::new()?;
        let compiler = Compiler::new("cc", ["-O2"]);
        let arg = SyntheticArg { element: ElementType::F64, elements: 1000, init: Init::Random { seed: 1 } };
        let sample = Sample::synthetic(&work.join("sample"), &[arg])?;
        let source = work.write("original.c", text(0, milliseconds))?;
        let begin = Instant::now();
        let library = compiler.compile(&CompileJob::shared_library(source, work.join("original.so")))?;
        let build = begin.elapsed().as_secs_f64();
        let replay = Replay::new(&compiler, &work, ReplayOptions::default())?;
        let begin = Instant::now();
        let outputs = replay.outputs(&library, &sample)?;
        let patience = Patience::for_best(1e-3 * milliseconds as f64);
        replay.impression((&library, &sample), outputs.first_call_ns, patience, 0.0)?;
        let run = begin.elapsed().as_secs_f64();
        Ok(Self { work, compiler, sample, outputs, milliseconds, build, run })
    }

    fn build(&self, nodes: &Nodes, text: &str) -> Result<Build> {
        let text = nodes.share_text(text.as_bytes())?;
        let (compiler, args, link_args) = (self.compiler.clone(), Vec::new(), Vec::new());
        Ok(Build { text, compiler, args, link_args, seconds: 60.0 })
    }

    fn share(&self, nodes: &Nodes) -> Result<String> {
        let original = std::fs::read_to_string(self.work.join("original.c")).context("the original")?;
        let bench = Bench {
            original: self.build(nodes, &original)?,
            compiler_version: self.compiler.version()?,
            samples: vec![nodes.share_file(&self.sample.path)?],
            original_seconds: vec![1e-3 * self.milliseconds as f64],
            reference: SharedOutputs {
                file: nodes.share_file(self.outputs.path())?,
                changed: vec![self.outputs.changed(0)],
                first_call_ns: self.outputs.first_call_ns,
            },
            arguments: vec![Argument::buffer("x", ElementType::F64)],
            tolerance: Tolerance::Strict,
            is_steady: true,
            threads: 1,
            copies: 1,
        };
        Ok(nodes.share_bench(&bench)?)
    }
}

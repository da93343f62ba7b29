//! A node at work: takes tasks, builds, runs, compares and times them, and tells what it found.

use crate::board::Taken;
use crate::error::NodesError;
use crate::folder::{BENCHES, DISTRUSTED, END, Folder, HEAD, NODES, SESSION, STORE, clean, host_name};
use crate::heart::Heart;
use crate::task::{Bench, Build, Finding, NodeFile, Outcome, SCHEMA, SessionFile, Task};
use oxeye_host::this_machine;
use oxeye_measure::{
    CompileJob, Compiler, MeasureError, Outputs, Patience, Rejection, Replay, ReplayOptions, Sample, WorkDir,
    verify,
};
use serde::Serialize;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The original may take so many times as long as where the command runs.
const ALIKE: f64 = 2.0;
/// It is timed so often before that is said.
const ATTEMPTS: usize = 4;
/// A call of the original may take so many times as long, and so many seconds more.
const SLOW_ORIGINAL: (f64, f64) = (20.0, 10.0);
/// How long a node waits for the session, and between two looks for tasks.
const WAIT_FOR_SESSION: Duration = Duration::from_secs(60);
const SHORT_LOOK: Duration = Duration::from_millis(10);
const LONG_LOOK: Duration = Duration::from_millis(500);
/// A command without a sign of life for so many times as long as a node has ended.
const LATE_HEAD: f64 = 4.0;
/// A result that cannot be written is tried so often again.
const WRITES: u32 = 3;

/// What a node has done in the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worked {
    /// Its name.
    pub node: String,
    /// Tasks that it has finished.
    pub finished: usize,
    /// Why it was set aside, if it was.
    pub aside: Option<String>,
}

/// Takes tasks from a folder until the command that posts them has ended, or `stop` says so: what was begun then waits for
/// another node. `name` has to differ from those of all other nodes; without one it is made of host and process.
///
/// # Errors
/// If the folder is not one of [`Nodes`](crate::Nodes), or cannot be read or written.
pub fn work(root: &Path, name: Option<&str>, stop: &dyn Fn() -> bool) -> Result<Worked, NodesError> {
    let folder = Folder::at(root);
    let session = session(&folder, stop)?;
    let name = name.map_or_else(own_name, clean);
    let mut node = Node { folder, session, name, finished: 0, stop };
    let _heart = Heart::start(&node.folder, NODES, &format!("{}.beat", node.name));
    node.tell(None)?;
    let here = this_machine();
    let aside = match node.session.machine.as_ref().filter(|machine| **machine != here) {
        Some(machine) => Some(format!("it is another machine: {here}, not {machine}")),
        None => node.take_tasks()?,
    };
    node.tell(aside.as_deref())?;
    Ok(Worked { node: node.name, finished: node.finished, aside })
}

/// The name that Slurm or the system gives this node, and the process: a node that is started again is another one.
fn own_name() -> String {
    let node = std::env::var("SLURMD_NODENAME").map_or_else(|_| host_name(), |name| clean(&name));
    format!("{node}-{}", std::process::id())
}

/// What tasks have in common; waits for it, as a node may start before the command that it works for.
fn session(folder: &Folder, stop: &dyn Fn() -> bool) -> Result<SessionFile, NodesError> {
    let begin = Instant::now();
    loop {
        let found: Option<SessionFile> = folder.read_value("", SESSION)?;
        if let Some(session) = found {
            let version = env!("CARGO_PKG_VERSION");
            let text = match session.schema == SCHEMA && session.version == version {
                true => return Ok(session),
                false => format!(
                    "it is used by Oxeye {} and this is {version}; nodes need the same one",
                    session.version
                ),
            };
            return Err(NodesError::Folder { path: folder.root().to_owned(), text });
        }
        if stop() || begin.elapsed() > WAIT_FOR_SESSION {
            let why = if folder.root().is_dir() { "" } else { ", nor the folder itself" };
            let text =
                format!("no {SESSION} came up in it{why}; start this for a folder that `oxeye tune` uses");
            return Err(NodesError::Folder { path: folder.root().to_owned(), text });
        }
        sleep(LONG_LOOK);
    }
}

struct Node<'s> {
    folder: Folder,
    session: SessionFile,
    name: String,
    finished: usize,
    stop: &'s dyn Fn() -> bool,
}

impl Node<'_> {
    /// Tells who takes part, or why not any more.
    fn tell(&self, aside: Option<&str>) -> Result<(), NodesError> {
        let aside = aside.map(str::to_owned);
        let file = NodeFile { host: host_name(), aside, finished: self.finished };
        self.folder.write_value(NODES, &format!("{}.json", self.name), &file)
    }

    /// Works until there is no more to do; why this node is set aside, if it is.
    fn take_tasks(&mut self) -> Result<Option<String>, NodesError> {
        let mut opened: Option<OpenBench> = None;
        let mut pause = SHORT_LOOK;
        while !(self.stop)() && !self.is_over() {
            let Some(taken) = self.folder.take(&self.name)? else {
                sleep(pause);
                pause = (pause * 2).min(LONG_LOOK);
                continue;
            };
            pause = SHORT_LOOK;
            match self.found(&taken.task, &mut opened) {
                // What was killed with this process tells nothing.
                _ if (self.stop)() => {
                    self.folder.give_back(&taken.name, &self.name)?;
                }
                Ok(finding) => self.finish(&taken, &finding)?,
                Err(Trouble::Here(why)) => {
                    self.folder.give_back(&taken.name, &self.name)?;
                    return Ok(Some(why));
                }
                Err(Trouble::Folder(error)) => {
                    self.folder.give_back(&taken.name, &self.name)?;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Whether the command has ended.
    fn is_over(&self) -> bool {
        let is_there = |kind: &str, name: &str| self.folder.path(kind, name).exists();
        let distrusted = format!("{}.{DISTRUSTED}", self.name);
        if !is_there("", SESSION) || is_there("", END) || is_there(NODES, &distrusted) {
            return true;
        }
        let (head, own) =
            (self.folder.touched("", HEAD), self.folder.touched(NODES, &format!("{}.beat", self.name)));
        let late = |(head, own): (_, std::time::SystemTime)| own.duration_since(head).unwrap_or_default();
        head.zip(own).is_some_and(|times| late(times).as_secs_f64() > LATE_HEAD * self.session.lapse_seconds)
    }

    fn finish(&mut self, taken: &Taken, finding: &Finding) -> Result<(), NodesError> {
        let mut written = self.folder.finish(taken, &self.name, finding);
        for attempt in 1..=WRITES {
            if written.is_ok() {
                break;
            }
            sleep(LONG_LOOK * attempt);
            written = self.folder.finish(taken, &self.name, finding);
        }
        if let Err(error) = written {
            self.folder.give_back(&taken.name, &self.name)?;
            return Err(error);
        }
        self.finished += 1;
        // It is for those who watch.
        let _ = self.tell(None);
        Ok(())
    }

    fn found(&self, task: &Task, opened: &mut Option<OpenBench>) -> Result<Finding, Trouble> {
        if opened.as_ref().is_none_or(|bench| bench.name != task.bench) {
            // The files of the one before make room first.
            *opened = None;
            *opened = Some(OpenBench::open(&self.folder, &self.session, &task.bench)?);
        }
        let Some(bench) = opened else { return Err(Trouble::Here("its bench is gone".into())) };
        let outcome = bench.measure(&self.folder, &self.session, task)?;
        Ok(Finding { node: self.name.clone(), original_seconds: bench.seconds.clone(), outcome })
    }
}

/// Why a task could not be measured.
enum Trouble {
    /// Something is the matter with this node.
    Here(String),
    /// Something is the matter with the folder.
    Folder(NodesError),
}

impl From<NodesError> for Trouble {
    fn from(error: NodesError) -> Trouble {
        Trouble::Folder(error)
    }
}

impl From<MeasureError> for Trouble {
    fn from(error: MeasureError) -> Trouble {
        Trouble::Here(format!("nothing can be measured on it: {error}"))
    }
}

/// A nest with what its candidates are replayed with, on this node.
struct OpenBench {
    name: String,
    bench: Bench,
    work: WorkDir,
    replay: Replay,
    samples: Vec<Sample>,
    reference: Outputs,
    /// Seconds of the original on each sample.
    seconds: Vec<f64>,
    /// Most seconds that a first call took longer than those behind it.
    cold: Cell<f64>,
    n_built: Cell<usize>,
}

impl OpenBench {
    /// Copies what is needed from the folder, and sees whether the original does here what it does elsewhere.
    fn open(folder: &Folder, session: &SessionFile, name: &str) -> Result<OpenBench, Trouble> {
        let file = format!("{name}.json");
        let bench: Option<Bench> = folder.read_value(BENCHES, &file)?;
        let bench =
            bench.ok_or_else(|| NodesError::damaged(&folder.path(BENCHES, &file), "it is missing"))?;
        check_compiler(&bench).map_err(Trouble::Here)?;
        let work = WorkDir::new()?;
        let near = |name: &str| -> Result<PathBuf, NodesError> {
            let path = work.join(name);
            folder.fetch(name, &path)?;
            Ok(path)
        };
        let samples = bench.samples.iter().map(|name| Ok(Sample::open(&near(name)?)?));
        let samples = samples.collect::<Result<Vec<_>, NodesError>>()?;
        let Some(first) = samples.first() else {
            return Err(NodesError::damaged(&folder.path(BENCHES, &file), "it has no sample").into());
        };
        let shared = &bench.reference;
        let reference =
            Outputs::kept(first, near(&shared.file)?, shared.changed.clone(), shared.first_call_ns);
        let options = ReplayOptions {
            threads: bench.threads,
            copies: bench.copies,
            call_seconds: 600.0,
            ..ReplayOptions::default()
        };
        let replay = Replay::new(&bench.original.compiler, &work, options)?;
        let opened = OpenBench {
            name: name.to_owned(),
            bench,
            work,
            replay,
            samples,
            reference,
            seconds: Vec::new(),
            cold: Cell::new(0.0),
            n_built: Cell::new(0),
        };
        let original = opened.build(folder, session, &opened.bench.original);
        let original =
            original.map_err(|error| Trouble::Here(format!("it cannot build the original: {error}")))?;
        let seconds = opened.try_original(&original)?;
        Ok(OpenBench { seconds, ..opened })
    }

    /// Seconds of the original on each sample, if it computes and takes about what it does elsewhere.
    fn try_original(&self, original: &Path) -> Result<Vec<f64>, Trouble> {
        let here = |error: MeasureError| Trouble::Here(format!("it cannot run the original: {error}"));
        let (first, elsewhere) = (&self.samples[0], &self.bench.original_seconds);
        let limit = SLOW_ORIGINAL.0 * elsewhere.first().copied().unwrap_or(0.0) + SLOW_ORIGINAL.1;
        let outputs = self.replay.with_call_limit(limit).outputs(original, first).map_err(here)?;
        let compared = verify(&self.reference, &outputs, &self.bench.arguments, self.bench.tolerance)?;
        if let Some(mismatch) = compared.mismatch.filter(|_| self.bench.is_steady) {
            return Err(Trouble::Here(format!("the original computes something else on it: {mismatch}")));
        }
        let mut all = Vec::new();
        for (k, (sample, elsewhere)) in self.samples.iter().zip(elsewhere).enumerate() {
            let mut seconds = f64::INFINITY;
            for _ in 0..ATTEMPTS {
                let once = match k {
                    0 => {
                        let patience = Patience::for_best(f64::INFINITY);
                        let of = (original, sample);
                        self.replay
                            .impression(of, outputs.first_call_ns, patience, 0.0)
                            .map_err(here)?
                            .seconds
                    }
                    _ => self.replay.impression_beside(original, sample, ALIKE * elsewhere).map_err(here)?,
                };
                seconds = seconds.min(once);
                if seconds < ALIKE * elsewhere {
                    break;
                }
            }
            let ratio = seconds / elsewhere;
            if k == 0 && ratio > ALIKE {
                return Err(Trouble::Here(format!(
                    "the original takes {ratio:.2} times as long on it as where it was measured first"
                )));
            }
            all.push(seconds);
        }
        Ok(all)
    }

    fn build(&self, folder: &Folder, session: &SessionFile, build: &Build) -> Result<PathBuf, MeasureError> {
        let number = self.n_built.replace(self.n_built.get() + 1);
        let output = self.work.join(format!("library{number}.so"));
        let job = CompileJob::shared_library(folder.path(STORE, &build.text), output);
        let job = job.args(build.args.clone()).link_args(build.link_args.clone());
        let cwd = Some(session.folder.clone()).filter(|folder| folder.is_dir());
        let compiler: &Compiler = &build.compiler;
        compiler.compile(&CompileJob { cwd, seconds: build.seconds, ..job })
    }

    fn measure(&self, folder: &Folder, session: &SessionFile, task: &Task) -> Result<Outcome, Trouble> {
        let run = || -> Result<Outcome, MeasureError> {
            let library = self.build(folder, session, &task.build)?;
            let outcome = self.run(&library, task);
            // A search tries thousands.
            let _ = std::fs::remove_file(&library);
            outcome
        };
        match run() {
            Ok(outcome) => Ok(outcome),
            Err(error) => match error.rejection() {
                Some(Rejection::WrongOutput(_)) => Ok(Outcome::Wrong),
                Some(why) => Ok(Outcome::Rejected { why }),
                None => Err(error.into()),
            },
        }
    }

    fn run(&self, library: &Path, task: &Task) -> Result<Outcome, MeasureError> {
        let sample = &self.samples[0];
        // What takes longer here may take as much longer with a candidate.
        let slower = (self.seconds[0] / self.bench.original_seconds[0]).max(1.0);
        let (best, call_seconds) = (slower * task.best_seconds, slower * task.call_seconds);
        let patience = Patience { best, call_seconds, left: f64::INFINITY };
        let outputs = self.replay.with_call_limit(call_seconds).outputs(library, sample)?;
        let compared = verify(&self.reference, &outputs, &self.bench.arguments, self.bench.tolerance)?;
        if compared.mismatch.is_some() {
            return Ok(Outcome::Wrong);
        }
        let of = (library, sample);
        let first = self.replay.impression(of, outputs.first_call_ns, patience, self.cold.get())?;
        self.cold.set(self.cold.get().max(first.cold));
        let mut seconds = vec![first.seconds];
        for (sample, original) in self.samples.iter().zip(&self.seconds).skip(1) {
            seconds.push(self.replay.impression_beside(library, sample, *original)?);
        }
        Ok(Outcome::Right { seconds, samples: first.samples, max_rel_error: compared.max_rel_error })
    }
}

/// Whether the compiler here is the one that a bench is for; else in which way it is not.
fn check_compiler(bench: &Bench) -> Result<(), String> {
    let (compiler, wanted) = (&bench.original.compiler, &bench.compiler_version);
    match compiler.version() {
        Ok(version) if version == *wanted => Ok(()),
        Ok(version) => Err(format!("its {} is another one: {version}, not {wanted}", compiler.program)),
        Err(MeasureError::CompilerNotFound { program }) => Err(format!("it has no compiler `{program}`")),
        Err(error) => Err(error.to_string()),
    }
}

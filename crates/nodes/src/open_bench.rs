//! A node at work on candidates: builds, runs, compares and times them.

use crate::candidate::{Bench, Build, Candidate, Finding, Outcome};
use crate::error::NodesError;
use crate::folder::{BENCHES, Folder, STORE};
use crate::session::SessionFile;
use crate::worker::{Desk, Trouble, Worked, work_at};
use oxeye_measure::{
    CompileJob, Compiler, MeasureError, Outputs, Patience, Rejection, Replay, ReplayOptions, Sample, WorkDir,
    verify,
};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// The original may take so many times as long as where the command runs.
const ALIKE: f64 = 2.0;
/// It is timed so often before that is said.
const ATTEMPTS: usize = 4;
/// A call of the original may take so many times as long, and so many seconds more.
const SLOW_ORIGINAL: (f64, f64) = (20.0, 10.0);

/// Measures candidates, as [`work_at`] does other tasks.
///
/// # Errors
/// As [`work_at`].
pub fn work(root: &Path, name: Option<&str>, stop: &dyn Fn() -> bool) -> Result<Worked, NodesError> {
    let mut opened: Option<OpenBench> = None;
    work_at((root, name), stop, |desk, candidate| found(desk, candidate, &mut opened))
}

fn found(desk: &Desk, candidate: &Candidate, opened: &mut Option<OpenBench>) -> Result<Finding, Trouble> {
    let Desk { folder, session, .. } = desk;
    if opened.as_ref().is_none_or(|bench| bench.name != candidate.bench) {
        // The files of the one before make room first.
        *opened = None;
        *opened = Some(OpenBench::open(folder, session, &candidate.bench)?);
    }
    let Some(bench) = opened else { return Err(Trouble::Here("its bench is gone".into())) };
    let outcome = bench.measure(folder, session, candidate)?;
    Ok(Finding { node: desk.node().to_owned(), original_seconds: bench.seconds.clone(), outcome })
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

    fn measure(
        &self,
        folder: &Folder,
        session: &SessionFile,
        candidate: &Candidate,
    ) -> Result<Outcome, Trouble> {
        let run = || -> Result<Outcome, MeasureError> {
            let library = self.build(folder, session, &candidate.build)?;
            let outcome = self.run(&library, candidate);
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

    fn run(&self, library: &Path, candidate: &Candidate) -> Result<Outcome, MeasureError> {
        let sample = &self.samples[0];
        // What takes longer here may take as much longer with a candidate.
        let slower = (self.seconds[0] / self.bench.original_seconds[0]).max(1.0);
        let (best, call_seconds) = (slower * candidate.best_seconds, slower * candidate.call_seconds);
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

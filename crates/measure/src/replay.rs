//! Replaying a nest from a shared library, isolated in a process of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::argument::Argument;
use crate::compare::{Comparison, Tolerance, verify};
use crate::compiler::{CompileJob, Compiler};
use crate::cores::{allowed_cores, shares};
use crate::error::{MeasureError, Rejection};
use crate::outputs::Outputs;
use crate::runner::{Placement, RUNNER_C, Runner, RunnerSetup};
use crate::sample::Sample;
use crate::team::Team;
use crate::workdir::WorkDir;

/// The function a replay library exports, as `void oxeye_replay(void **args)`: `args[i]` points to argument `i`, an
/// array or a single element.
pub const REPLAY_SYMBOL: &str = "oxeye_replay";

/// How replay processes run.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// `OMP_NUM_THREADS`.
    pub threads: usize,
    /// Processes that run at once where times are taken, each with its part of the cores; the slowest of them counts.
    pub copies: usize,
    /// Wall-clock limit of one call.
    pub call_seconds: f64,
    /// Limit of the address space; `None` is eight times the sample and 16 GiB, as run-time libraries reserve much more
    /// than they use.
    pub memory_bytes: Option<u64>,
    /// Further environment variables.
    pub env: Vec<(String, OsString)>,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions { threads: 1, copies: 1, call_seconds: 60.0, memory_bytes: None, env: Vec::new() }
    }
}

/// Runs replay libraries on samples.
#[derive(Clone, Debug)]
pub struct Replay {
    runner: PathBuf,
    dir: PathBuf,
    options: ReplayOptions,
}

/// Numbers the files of outputs.
static N_OUTPUTS: AtomicUsize = AtomicUsize::new(0);

impl Replay {
    /// Builds the replay program with the user's compiler in `work`, which must outlive the value.
    ///
    /// # Errors
    /// When the compiler is missing or cannot make programs.
    pub fn new(compiler: &Compiler, work: &WorkDir, options: ReplayOptions) -> Result<Replay, MeasureError> {
        let dir = work.subdir("replay")?;
        let runner = dir.join("runner");
        let source = work.write("replay/runner.c", RUNNER_C)?;
        compiler
            .bare()
            .compile(&CompileJob::executable(source, &runner).args(["-O2"]).link_args(["-ldl"]))?;
        Ok(Replay { runner, dir, options })
    }

    /// The same replay program, whose folder must outlive the value, with these options and its files in `work`.
    ///
    /// # Errors
    /// When the folder for the files cannot be made.
    pub fn sharing(other: &Replay, work: &WorkDir, options: ReplayOptions) -> Result<Replay, MeasureError> {
        Ok(Replay { runner: other.runner.clone(), dir: work.subdir("replay")?, options })
    }

    /// The options in force.
    pub fn options(&self) -> &ReplayOptions {
        &self.options
    }

    /// The same with another limit for one call, for example a multiple of the original's time.
    pub fn with_call_limit(&self, seconds: f64) -> Replay {
        Replay {
            runner: self.runner.clone(),
            dir: self.dir.clone(),
            options: ReplayOptions { call_seconds: seconds, ..self.options.clone() },
        }
    }

    /// The same with another number of threads, to see how a nest scales.
    pub fn with_threads(&self, threads: usize) -> Replay {
        Replay {
            runner: self.runner.clone(),
            dir: self.dir.clone(),
            options: ReplayOptions { threads, ..self.options.clone() },
        }
    }

    /// Calls a library once on a sample, with its arguments next to guard pages, and keeps what it wrote.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes, hangs, or writes out of bounds.
    pub fn outputs(&self, library: &Path, sample: &Sample) -> Result<Outputs, MeasureError> {
        let number = N_OUTPUTS.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.join(format!("outputs{number}.bin"));
        let mut runner = self.start(library, sample, (&path, Placement::Guard), &[])?;
        let first_call_ns = runner.call(1)?.first().map_or(0, |time| time.ns);
        runner.check_canaries()?;
        // Made before the file, so that a failed dump is removed too.
        let sample = sample.clone();
        let mut outputs = Outputs { sample, path, is_own: true, changed: Vec::new(), first_call_ns };
        outputs.changed = runner.dump()?;
        Ok(outputs)
    }

    /// Calls a library once on a sample and compares what it wrote with `baseline`, the original's outputs on the same
    /// sample.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes, hangs, writes out of bounds, or gives a wrong output.
    pub fn verify(
        &self,
        baseline: &Outputs,
        library: &Path,
        sample: &Sample,
        args: &[Argument],
        tolerance: Tolerance,
    ) -> Result<Comparison, MeasureError> {
        let candidate = self.outputs(library, sample)?;
        let comparison = verify(baseline, &candidate, args, tolerance)?;
        match comparison.mismatch {
            Some(mismatch) => Err(MeasureError::rejected(library, Rejection::WrongOutput(mismatch))),
            None => Ok(comparison),
        }
    }

    /// Nanoseconds of one call after a warming one.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes or hangs.
    pub fn time_once(&self, library: &Path, sample: &Sample) -> Result<u64, MeasureError> {
        Ok(self.time_few(library, sample, 1)?.first().copied().unwrap_or(0))
    }

    /// Nanoseconds of `n` calls after a warming one, each on fresh inputs. For screening; candidates are compared by
    /// [`Replay::compare_times`].
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes or hangs.
    pub fn time_few(&self, library: &Path, sample: &Sample, n: usize) -> Result<Vec<u64>, MeasureError> {
        Ok(self.time_from_first(library, sample, n)?.1)
    }

    /// The same, with the time of the call before them: it has to get pages and to start threads.
    ///
    /// # Errors
    /// As [`Replay::time_few`].
    pub fn time_from_first(
        &self,
        library: &Path,
        sample: &Sample,
        n: usize,
    ) -> Result<(u64, Vec<u64>), MeasureError> {
        let mut runner = self.start_timing(library, sample)?;
        let first = runner.call(1)?.first().map_or(0, |time| time.ns);
        Ok((first, runner.call(n)?.iter().map(|time| time.ns).collect()))
    }

    pub(crate) fn start_timing(&self, library: &Path, sample: &Sample) -> Result<Team, MeasureError> {
        let copies = self.options.copies.max(1);
        let cores = if copies > 1 { allowed_cores() } else { Vec::new() };
        let parts = if copies > 1 { shares(copies, &cores) } else { vec![Vec::new()] };
        Team::start(copies, cores.len(), |k| self.start_alone(library, sample, &parts[k]))
    }

    /// One process for times, on these cores; on all if none are named.
    pub(crate) fn start_alone(
        &self,
        library: &Path,
        sample: &Sample,
        cores: &[usize],
    ) -> Result<Runner, MeasureError> {
        self.start(library, sample, (Path::new("/dev/null"), Placement::Natural), cores)
    }

    fn start(
        &self,
        library: &Path,
        sample: &Sample,
        (outputs, placement): (&Path, Placement),
        cores: &[usize],
    ) -> Result<Runner, MeasureError> {
        let default_memory = sample.total_bytes().saturating_mul(8).saturating_add(16 << 30);
        let mut env = self.options.env.clone();
        env.push(("OMP_NUM_THREADS".to_owned(), self.options.threads.max(1).to_string().into()));
        Runner::start(&RunnerSetup {
            runner: &self.runner,
            library: &absolute(library),
            sample,
            outputs,
            placement,
            cores,
            env: &env,
            call_seconds: self.options.call_seconds,
            memory_bytes: self.options.memory_bytes.unwrap_or(default_memory),
        })
    }
}

/// A library name without a slash would be searched for in the system's folders.
fn absolute(library: &Path) -> PathBuf {
    std::path::absolute(library).unwrap_or_else(|_| library.to_path_buf())
}

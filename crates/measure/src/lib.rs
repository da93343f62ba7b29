//! Compiles C translation units, runs programs isolated, captures the arguments of loop nests from a running program,
//! replays nests on copies of those arguments, compares outputs and compares times.
//!
//! The crate is handed C text, file names and lists of [`Argument`]s; it knows nothing of the IR. Everything that
//! touches the clock, the environment or processes lives here.
//!
//! ```
//! use oxeye_measure::{CompileJob, Compiler, Invocation, Limits, WorkDir, run_program};
//!
//! # fn main() -> Result<(), oxeye_measure::MeasureError> {
//! let work = WorkDir::new()?;
//! let source = work.write("hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n")?;
//! let compiler = Compiler::new("cc", ["-O2"]);
//! let program = compiler.compile(&CompileJob::executable(source, work.join("hello")))?;
//! let outcome = run_program(&Invocation::new(program), &Limits::default())?;
//! assert_eq!(outcome.stdout, b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! # The path of a nest
//!
//! 1. [`CAPTURE_RUNTIME_C`] in front of an instrumented program, run by [`capture`], gives a [`Capture`] per nest whose
//!    [`Sample`]s hold the input arguments of some invocations; without a program, [`Sample::synthetic`] makes them.
//! 2. The original nest and each candidate become shared libraries exporting `void oxeye_replay(void **args)`.
//! 3. A [`Replay`] runs them in processes of their own: [`Replay::outputs`] and [`verify`] compare results,
//!    [`Replay::time_few`] screens, [`Replay::compare_times`] decides; [`Replay::profile_times`] and [`Replay::counted`]
//!    describe how a nest performs. [`Conditioning`] judges ill-conditioned results.
//! 4. [`sample_stacks`] finds the lines of a program that take its time, those outside of nests among them.
//! 5. [`run_whole`] compares the finished program with the original.
//!
//! # What it does not do
//!
//! It does not generate code, choose candidates, or decide what is legal or worth emitting.

mod argument;
mod aside;
mod busy;
mod capture;
mod clock;
mod compare;
mod compiler;
mod conditioning;
mod cores;
mod counted;
pub mod counters;
mod descriptors;
mod error;
mod left;
mod npy;
mod outputs;
mod perturb;
mod process;
mod profile_times;
mod replay;
mod runner;
mod sample;
mod sampling;
mod screening;
mod statistics;
mod swings;
mod team;
mod text;
mod thread_lines;
mod timing;
mod tokens;
mod trace;
mod watch;
mod whole;
mod workdir;
mod written;

pub use argument::{Argument, ArgumentKind, ElementType, Fields};
pub use capture::{CAPTURE_RUNTIME_C, Capture, CaptureRun, SizeClass, capture, capture_parts};
pub use clock::left_with_fast_clocks;
pub use compare::{Comparison, Doubt, Tolerance, verify, verify_within};
pub use compiler::{CompileJob, Compiler, CompilerFamily, OutputKind, compile_all, in_parallel};
pub use conditioning::Conditioning;
pub use cores::{allowed_cores, shares};
pub use counted::{CountedCalls, CountingOptions};
pub use counters::{Counter, CounterReading, CounterSurvey, MissingCounter};
pub use error::{MeasureError, Mismatch, Rejection};
pub use left::{ComparedFile, Left, WatchedFiles};
pub use npy::{NpyArray, read_npy_header};
pub use outputs::Outputs;
pub use perturb::Perturbation;
pub use process::{Companion, Exit, Invocation, Limits, RunOutcome, kill_everything, run_program};
pub use profile_times::{ProfileTimes, ProfileTimingOptions};
pub use replay::{REPLAY_SYMBOL, Replay, ReplayOptions};
pub use sample::{Init, Sample, SampleArg, SizeSource, SyntheticArg};
pub use sampling::{SampledRun, SourceLine, sample_stacks};
pub use screening::{Impression, LONG_SECONDS, Patience, n_runs};
pub use statistics::{RatioInterval, Stat, quantile, ratio_interval};
pub use swings::{MOST_RUNS, SAFETY, Swings};
pub use text::{Pattern, TextComparison, TextRules, compare_text};
pub use timing::{TimeComparison, TimingOptions};
pub use trace::{Interval, SiteTimes, TRACE_RUNTIME_C, TraceOptions, TraceRun, trace, trace_link_args};
pub use watch::{
    SameContents, SeenValues, WATCH_RUNTIME_C, WatchLimits, Watched, WatchedRuns, WatchedSite, watch,
};
pub use whole::{WholeComparison, WholeOptions, WholeRuns, available_cores, run_whole};
pub use workdir::WorkDir;

//! One run: what it was asked, what it runs on, and what it knows. Every stage is a function of a session and of what the
//! stage before it returned.

use crate::budget::WallTime;
use crate::knowledge::{Embedder, KnownNests, NestDescription, Undescribed};
use crate::machine::{HostReport, detect, has, vector};
use crate::readings::Readings;
use crate::request::{Error, Event, FpPolicy, Knowledge, Options, Phase, Progress, Setback, files};
use crate::schedule::Rendering;
use crate::workshop::{Workshop, complaint};
use oxeye_binding::Binding;
use oxeye_codegen::Isa;
use oxeye_database::Context;
use oxeye_embed::HostVector;
use oxeye_host::{Effort, HostProfile, Step};
use oxeye_ir::{Nest, SymId};
use oxeye_measure::{Left, MeasureError, Rejection, Tolerance, kill_everything};
use oxeye_nodes::Nodes;
use oxeye_transform::{Machine, Policy, PreparedNest};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// One run: its options, the machine, the compiler, and what is known of other nests.
pub struct Session<'a> {
    pub(crate) options: &'a Options,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) workshop: Workshop,
    /// What was read.
    pub(crate) readings: Readings,
    pub(crate) host: HostReport,
    /// What this machine can do; `None` where it could not be measured.
    pub(crate) host_profile: Option<HostProfile>,
    pub(crate) known: KnownNests,
    /// Threads of the emitted code, as far as the compiler can.
    pub(crate) threads: u32,
    /// Sentences on the run as a whole.
    pub(crate) notes: Vec<String>,
    /// OpenMP directives that the build leaves off, as long as it is not decided what becomes of them.
    pub(crate) dormant: Option<Dormant>,
    /// The program with these on, where they are.
    pub(crate) awake: Option<Awake>,
    /// Instructions that the flags leave unused, once that was asked.
    isa: OnceLock<Option<Isa>>,
    time: RunTime,
}

/// OpenMP directives that a build leaves off.
pub(crate) struct Dormant {
    source: PathBuf,
    /// Which of the notes tells of them.
    note: usize,
    /// Whether they leave open in which order sums are added up, once that is known.
    pub(crate) leave_order_open: bool,
}

/// The user's own program with its OpenMP directives switched on.
pub(crate) struct Awake {
    pub(crate) executable: PathBuf,
    /// The time of the program as it is by that of this one.
    pub(crate) speedup: f64,
    /// Whether they leave open in which order sums are added up.
    pub(crate) leave_order_open: bool,
    /// What the program as it is leaves when it is built in other ways, if that was asked.
    pub(crate) witnesses: Arc<OnceLock<Vec<Left>>>,
}

/// A program that has not ended after so many times the budget is taken to run forever.
const PROGRAM_BUDGETS: u32 = 20;

/// How long a run takes, and its programs.
struct RunTime {
    start: Instant,
    /// Nanoseconds that the user's program has run.
    program_ns: AtomicU64,
    /// When the budget began to count, nanoseconds after the start; the greatest number as long as it does not.
    begin_ns: AtomicU64,
    /// Nanoseconds that one run of the program takes, once that is known.
    one_run_ns: AtomicU64,
}

impl RunTime {
    fn new(options: &Options) -> Self {
        // The program of a project has been run.
        let run = options.project.as_ref().map(|project| &project.run);
        Self {
            start: Instant::now(),
            program_ns: AtomicU64::new(0),
            begin_ns: AtomicU64::new(if run.is_some() { 0 } else { u64::MAX }),
            one_run_ns: AtomicU64::new(run.map_or(0, |run| (1e9 * run.seconds) as u64)),
        }
    }
}

impl<'a> Session<'a> {
    /// The nodes that measure candidates, if there are any.
    pub(crate) fn nodes(&self) -> Option<&'a Nodes> {
        self.options.machines.nodes.as_deref()
    }

    /// Looks at the machine and the compiler, and checks that the results can be written.
    ///
    /// # Errors
    /// If the file is not there, the compiler is missing, or the output cannot be written.
    pub fn new(options: &'a Options, progress: &'a dyn Progress) -> Result<Self, Error> {
        files::check_readable(&options.file)?;
        let output = options.output_path();
        files::check_writable(&output, &[])?;
        if let Some(path) = &options.save_recipe {
            files::check_writable(path, &[&options.file, &output])?;
        }
        Self::for_reading(options, progress)
    }

    /// The same for a run that writes nothing.
    ///
    /// # Errors
    /// If the file is not there, or the compiler is missing.
    pub fn for_reading(options: &'a Options, progress: &'a dyn Progress) -> Result<Self, Error> {
        let mut session = Self::with(options, &options.knowledge, progress)?;
        if let Some(copies) = options.run.copies.filter(|copies| *copies > 1) {
            let note = format!("nests are timed in {copies} processes at once, and the slowest counts");
            session.notes.push(note);
        }
        session.find_openmp()?;
        session.know_machine()?;
        Ok(session)
    }

    /// The same for a run that measures no nest and looks nothing up.
    ///
    /// # Errors
    /// If the file is not there, or the compiler is missing.
    pub(crate) fn for_watching(options: &'a Options, progress: &'a dyn Progress) -> Result<Self, Error> {
        Self::with(options, &Knowledge::Nothing, progress)
    }

    fn with(options: &'a Options, knowledge: &Knowledge, progress: &'a dyn Progress) -> Result<Self, Error> {
        let time = RunTime::new(options);
        files::check_readable(&options.file)?;
        let workshop = Workshop::new(options)?;
        let mut notes = Vec::new();
        Ok(Self {
            options,
            progress,
            host: detect(&workshop.compiler, None),
            workshop,
            readings: options.project.as_ref().map(|project| project.readings.clone()).unwrap_or_default(),
            host_profile: None,
            known: KnownNests::open(knowledge, &mut notes)?,
            threads: options.threads.max(1),
            notes,
            dormant: None,
            awake: None,
            isa: OnceLock::new(),
            time,
        })
    }

    /// Takes the kept profile of this machine, or measures one briefly.
    fn know_machine(&mut self) -> Result<(), Error> {
        self.enter(Phase::Machine)?;
        let compiler = self.workshop.compiler.bare();
        let known = self.options.machines.profile.clone().map(Ok);
        let mut heard =
            |step: Step| self.progress.event(Event::Machine { label: step.label, fraction: step.fraction });
        let found =
            known.unwrap_or_else(|| oxeye_host::load_or_measure(Effort::Brief, Some(&compiler), &mut heard));
        match found {
            Ok(profile) => {
                self.host = detect(&self.workshop.compiler, Some(&profile));
                if profile.is_provisional() {
                    let note = "the machine was busy while it was measured: its ceilings are lower bounds, so no candidate was left out for them, and it is measured again at the next run";
                    self.notes.push(note.into());
                }
                self.host_profile = Some(profile);
            }
            Err(error) => self.notes.push(format!("the machine could not be measured: {error}")),
        }
        self.check_cancelled()
    }

    /// Falls back to one thread where the compiler cannot link OpenMP.
    fn find_openmp(&mut self) -> Result<(), Error> {
        if self.threads == 1 {
            return Ok(());
        }
        if let Err(error) = self.workshop.try_openmp() {
            self.check_cancelled()?;
            let why = complaint(&error.to_string());
            self.threads = 1;
            self.notes.push(format!(
                "{} cannot build OpenMP code ({why}), so one thread is used; for clang install libomp",
                self.workshop.compiler.program
            ));
            return Ok(());
        }
        let own = std::iter::once(self.options.file.as_path()).chain(self.options.compiler.sources());
        let flag = self.workshop.openmp_flag();
        if let (Some(source), Some(flag)) = (own.into_iter().find(|s| has_openmp(s)), flag) {
            self.threads = 1;
            if self.options.project.as_ref().is_some_and(|project| project.stays_asleep) {
                return Ok(());
            }
            self.dormant =
                Some(Dormant { source: source.to_owned(), note: self.notes.len(), leave_order_open: false });
            self.notes.push(format!(
                "{} has OpenMP directives, which {flag} would switch on, so one thread is used; give {flag} to use more",
                source.display()
            ));
        }
        Ok(())
    }

    /// From now on, directives that the build leaves off are on, or stay off for this reason, if there is more to say of it.
    pub(crate) fn decide(&mut self, tried: Result<Awake, Option<String>>) {
        let (Some(Dormant { source, note, .. }), Some(flag)) =
            (self.dormant.take(), self.workshop.openmp_flag())
        else {
            return;
        };
        let begin =
            format!("{} has OpenMP directives that its build leaves off; with {flag}", source.display());
        match tried {
            Ok(awake) => {
                self.notes[note] = format!(
                    "{begin} the program does the same, {:.2}x as fast, so they are on",
                    awake.speedup
                );
                self.threads = self.options.threads;
                self.workshop.wake_directives();
                self.awake = Some(awake);
            }
            Err(Some(why)) => self.notes[note] = format!("{begin} {why}, so one thread is used"),
            Err(None) => {}
        }
    }

    /// Whether directives that are on, or tried, though the build leaves them off, leave open in which order sums are added up.
    pub(crate) fn leaves_order_open(&self) -> bool {
        self.awake.as_ref().is_some_and(|awake| awake.leave_order_open)
            || self.dormant.as_ref().is_some_and(|dormant| dormant.leave_order_open)
    }

    pub(crate) fn enter(&self, phase: Phase) -> Result<(), Error> {
        self.progress.event(Event::Phase(phase));
        self.check_cancelled()
    }

    /// Whether to try no more.
    pub(crate) fn is_over(&self, end: Instant) -> bool {
        self.progress.enough() || Instant::now() >= end
    }

    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// What a run returns: whatever went wrong after it was told to stop went wrong because of that.
    pub(crate) fn outcome<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| if self.progress.cancelled() { Error::Cancelled } else { error })
    }

    /// Beginning of the run.
    pub(crate) fn start(&self) -> Instant {
        self.time.start
    }

    /// From now on the budget counts, if it did not yet: the first run of the program has ended, or there is none.
    pub(crate) fn begin_budget(&self) {
        let now = self.time.start.elapsed().as_nanos() as u64;
        // Who is second finds that it counts.
        let _ = self.time.begin_ns.compare_exchange(u64::MAX, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// One run of the program takes so many seconds. If that is long, `another`, a run that the verdict would need as well, comes
    /// on top of the budget.
    pub(crate) fn note_run(&self, seconds: f64, another: Duration) {
        self.time.one_run_ns.store((1e9 * seconds) as u64, Ordering::Relaxed);
        if self.wall_time().is_short_for(seconds) {
            self.time.begin_ns.fetch_add(another.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// How the budget is divided.
    pub(crate) fn wall_time(&self) -> WallTime {
        WallTime {
            budget: self.options.budget,
            run_seconds: self.time.one_run_ns.load(Ordering::Relaxed) as f64 * 1e-9,
            build_seconds: self.workshop.build_seconds(),
            is_judged_once: false,
        }
    }

    /// Tells those who watch how much time there is.
    pub(crate) fn tell_budget(&self) {
        self.progress.event(self.wall_time().event(self.budget_used()));
    }

    /// Whether the program of a project takes too long to be run for each of its files: it is compared when all of them are done.
    pub(crate) fn is_judged_later(&self) -> bool {
        self.options.project.is_some() && self.awake.is_none() && self.wall_time().is_long()
    }

    /// When the budget began to count; now, if it does not yet.
    fn budget_start(&self) -> Instant {
        let begin = self.time.begin_ns.load(Ordering::Relaxed);
        if begin == u64::MAX { Instant::now() } else { self.time.start + Duration::from_nanos(begin) }
    }

    /// What is used of the budget.
    pub(crate) fn budget_used(&self) -> Duration {
        self.budget_start().elapsed()
    }

    /// What is left of the budget.
    pub(crate) fn budget_left(&self) -> Duration {
        self.wall_time().left(self.budget_used())
    }

    /// Whether something that takes so many seconds is over before the budget is.
    pub(crate) fn has_seconds(&self, seconds: f64) -> bool {
        self.budget_left().as_secs_f64() >= seconds
    }

    /// When the budget is used up.
    pub(crate) fn end_of_budget(&self) -> Instant {
        Instant::now() + self.budget_left()
    }

    /// When trying ends.
    pub(crate) fn end_of_trials(&self) -> Instant {
        self.budget_start() + self.time_for_trials().end_of_trials(self.budget_used())
    }

    /// The same where nothing has won so far.
    pub(crate) fn end_of_late_trials(&self) -> Instant {
        self.budget_start() + self.time_for_trials().end_of_late_trials()
    }

    /// The wall time, without the runs for a verdict if that is somebody else's.
    fn time_for_trials(&self) -> WallTime {
        let time = self.wall_time();
        let run_seconds = if self.is_judged_later() { 0.0 } else { time.run_seconds };
        WallTime { run_seconds, ..time }
    }

    /// Runs the user's program by `run`, and keeps account of the time.
    pub(crate) fn in_program<T>(&self, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = run();
        self.time.program_ns.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    /// Seconds that the user's program has run, before and after.
    pub(crate) fn program_seconds(&self) -> f64 {
        self.time.program_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// How long one run of the user's program may take.
    pub(crate) fn program_limit(&self) -> Duration {
        if let Some(timeout) = self.options.run.timeout {
            return timeout;
        }
        let known = self.options.project.as_ref().map_or(0.0, |project| project.run.seconds);
        let limit = (self.options.budget * PROGRAM_BUDGETS).max(Duration::from_secs(10));
        limit.max(Duration::from_secs_f64(5.0 * known.clamp(0.0, 1e6)))
    }

    /// Instructions with wider vectors than the flags allow, if this processor has them and the compiler can use them in single
    /// functions. Those that round products and sums together are for flags that let operations be reordered.
    pub(crate) fn isa(&self) -> Option<Isa> {
        let known: &[Isa] =
            if self.options.reassociate() { &[Isa::Avx512, Isa::Avx2Fma] } else { &[Isa::Avx2] };
        *self.isa.get_or_init(|| {
            let is_wider = |isa: &Isa| isa.vector_bytes() > self.host.vector_bytes && has(*isa);
            known.iter().copied().find(|isa| is_wider(isa) && self.workshop.try_isa(*isa).is_ok())
        })
    }

    /// What recipes for so many threads need to know of the machine.
    pub(crate) fn machine(&self, threads: u32) -> Machine {
        Machine {
            l1: self.host.l1_bytes,
            l2: self.host.l2_bytes,
            l3: self.host.l3_bytes,
            threads,
            vector_bytes: self.host.vector_bytes,
        }
    }

    /// The machine as feature vectors have it.
    pub(crate) fn host_vector(&self) -> HostVector {
        vector(&self.host, self.host_profile.as_ref(), self.threads)
    }

    /// The policy under which recipes are applied.
    pub(crate) fn policy(&self) -> Policy {
        Policy { reassociate: self.options.reassociate(), finite: self.options.finite() }
    }

    /// How recipes become text for so many threads in a file with this source, in a function with this binding.
    pub(crate) fn rendering<'s>(
        &self,
        (source, binding): (&'s str, &'s Binding),
        threads: u32,
    ) -> Rendering<'s> {
        let plain_sums = self.options.compiler.vectorizes_sums();
        let declarations_first = self.options.compiler.declares_first();
        let roots_set_errno = self.options.compiler.keeps_errno_of_roots();
        let (policy, guard) = (self.policy(), Default::default());
        Rendering {
            source,
            binding,
            threads,
            policy,
            guard,
            known: &[],
            isa: None,
            own: None,
            plain_sums,
            roots_set_errno,
            declarations_first,
            checks: false,
        }
    }

    /// How far outputs of a nest may be apart. Without an explicit word for bits, compilers may contract a product and a
    /// sum into one rounding, and do so differently around different loops.
    pub(crate) fn tolerance(&self, nest: &Nest) -> Tolerance {
        match self.options.fp {
            FpPolicy::Strict => Tolerance::Strict,
            _ if self.reorders(nest) => Tolerance::reassociate(),
            _ => Tolerance::Relative { f64: 1e-12, f32: 1e-5 },
        }
    }

    /// Whether floating-point operations of a nest may be reordered, some of them at least.
    pub(crate) fn reorders(&self, nest: &Nest) -> bool {
        self.options.fp != FpPolicy::Strict && (self.options.reassociate() || !nest.unordered.is_empty())
    }

    /// Where and how this run measures, in the words of the database.
    pub(crate) fn context(&self) -> Context {
        use oxeye_database::FpPolicy;
        let host_key = match &self.host_profile {
            Some(profile) => profile.key.to_string(),
            None => format!("unknown, {} threads", self.host.cores),
        };
        Context {
            host_key,
            compiler: self.workshop.compiler.program.clone(),
            flags: self.workshop.compiler.args.clone(),
            threads: self.threads,
            policy: if self.policy().reassociate { FpPolicy::Reassociate } else { FpPolicy::Strict },
        }
    }

    /// The encoder.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn embedder(&self) -> Result<&'static Embedder, Undescribed> {
        Ok(self.known.embedder.clone()?)
    }

    /// What a nest is known by; `seconds` is the time of one run, if known.
    ///
    /// # Errors
    /// Why there is no description.
    pub(crate) fn describe(
        &self,
        nest: &PreparedNest<'_>,
        value_of: &dyn Fn(SymId) -> Option<i64>,
        seconds: Option<f64>,
    ) -> Result<NestDescription, Undescribed> {
        self.embedder()?.describe(nest, value_of, &self.host_vector(), self.policy(), seconds)
    }

    /// Separates what is a candidate's fault from what is not.
    ///
    /// # Errors
    /// Why the candidate is rejected, or why the run cannot go on.
    pub(crate) fn judge<T>(&self, outcome: Result<T, MeasureError>) -> Result<T, Setback<Rejection>> {
        outcome.map_err(|error| {
            // Killed processes are our own doing then.
            if let Err(cancelled) = self.check_cancelled() {
                return cancelled.into();
            }
            match error.rejection() {
                Some(rejection) => Setback::Item(rejection),
                None => error.into(),
            }
        })
    }
}

/// Kills every child process of a run in progress. For a signal handler; the run itself must be told through
/// [`Progress::cancelled`].
pub fn interrupt() {
    kill_everything();
}

/// Whether a source does something else when it is compiled for OpenMP.
pub(crate) fn has_openmp(source: &Path) -> bool {
    let text = std::fs::read(source).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_directive = |line: &str| {
        let pragma = line.trim_start().strip_prefix('#').map(str::trim_start);
        let what = pragma.and_then(|p| p.strip_prefix("pragma")).map(str::trim_start);
        what.is_some_and(|w| w.starts_with("omp")) || line.contains("_Pragma") && line.contains("omp")
    };
    text.contains("_OPENMP") || text.lines().any(is_directive)
}

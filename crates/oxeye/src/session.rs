//! What all stages share, and the pipeline itself.

use crate::knowledge::{shipped, store::Recipes};
use crate::machine::description as machine;
use crate::request::files;
use crate::stages::capture::complaint;
use crate::stages::record;
use crate::stages::report::HostReport;
use crate::{Embedder, Emitted, Error, Event, Options, Phase, Progress, Report};
use oxeye_database::{NewEntry, Origin};
use oxeye_frontend::{ReadOptions, Unit, read_c};
use oxeye_host::{Effort, HostProfile};
use oxeye_measure::{CompileJob, Compiler, Replay, ReplayOptions, WorkDir, kill_everything};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Tunes the loop nests of `options.file` and writes the tuned file. If nothing faster is found, the tuned file is the
/// input byte for byte, and the report says why.
///
/// # Errors
/// If the run cannot be done; no file is written then.
pub fn optimize(options: &Options, progress: &dyn Progress) -> Result<Report, Error> {
    let tuner = Tuner::new(options, progress)?;
    let report = tuner.pipeline().map(|emitted| emitted.report());
    report.map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

/// The same as [`optimize`], and every trial, failures included, for a recipe database.
///
/// # Errors
/// As [`optimize`].
pub fn optimize_and_learn(
    options: &Options,
    progress: &dyn Progress,
) -> Result<(Report, Vec<NewEntry>), Error> {
    let tuner = Tuner::new(options, progress)?;
    let found = tuner.pipeline().map(|emitted| (emitted.report(), record::entries(&emitted, Origin::Learn)));
    found.map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

/// Kills every child process of a run in progress. For a signal handler; the run itself must be told through
/// [`Progress::cancelled`].
pub fn interrupt() {
    kill_everything();
}

/// One run: its options, its compiler, the machine, and a folder for everything temporary.
pub struct Tuner<'a> {
    pub(crate) options: &'a Options,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) compiler: Compiler,
    pub(crate) host: HostReport,
    /// What this machine can do; `None` where it could not be measured.
    pub(crate) host_profile: Option<HostProfile>,
    /// What makes vectors of nests, or why nothing does.
    pub(crate) embedder: Result<&'static Embedder, String>,
    /// What is known of other nests, if the run may look.
    pub(crate) recipes: Option<Recipes>,
    pub(crate) work: WorkDir,
    /// What nests are replayed with, once it is built.
    replay: OnceLock<Replay>,
    /// Threads of the emitted code, as far as the compiler can.
    pub(crate) threads: u32,
    /// Sentences on the run as a whole.
    pub(crate) notes: Vec<String>,
    /// Beginning of the run.
    pub(crate) start: Instant,
    /// Nanoseconds that the user's program has run.
    program_ns: AtomicU64,
    source_folder: PathBuf,
}

impl<'a> Tuner<'a> {
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
        let start = Instant::now();
        files::check_readable(&options.file)?;
        let compiler = Compiler::new(&options.compiler.command, &options.compiler.args);
        compiler.version()?;
        let folder = match options.file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut tuner = Self {
            options,
            progress,
            host: machine::detect(&compiler, None),
            host_profile: None,
            compiler,
            embedder: shipped::shipped_embedder().map_err(|error| error.to_string()),
            recipes: None,
            work: WorkDir::new()?,
            replay: OnceLock::new(),
            threads: options.threads.max(1),
            notes: Vec::new(),
            start,
            program_ns: AtomicU64::new(0),
            source_folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        };
        tuner.recipes = Recipes::open(&options.knowledge, &mut tuner.notes)?;
        tuner.find_openmp()?;
        tuner.know_machine()?;
        Ok(tuner)
    }

    /// Takes the kept profile of this machine, or measures one briefly.
    fn know_machine(&mut self) -> Result<(), Error> {
        self.enter(Phase::Machine)?;
        match oxeye_host::load_or_measure(Effort::Brief, Some(&self.compiler.bare()), &mut |_| {}) {
            Ok(profile) => {
                self.host = machine::detect(&self.compiler, Some(&profile));
                self.host_profile = Some(profile);
            }
            Err(error) => self.notes.push(format!("the machine could not be measured: {error}")),
        }
        self.check_cancelled()
    }

    fn pipeline(&self) -> Result<Emitted<'_>, Error> {
        let unit = self.read()?;
        let captured = self.capture(unit)?;
        let candidates = self.candidates(captured)?;
        let measured = self.measure(candidates)?;
        let emitted = self.emit(measured)?;
        emitted.write()?;
        Ok(emitted)
    }

    /// Stage 1: the file as functions of loop nests. What cannot be read is told to the progress and kept.
    ///
    /// # Errors
    /// If the compiler does not preprocess the file, or it is not C.
    pub fn read(&self) -> Result<Unit, Error> {
        self.enter(Phase::Reading)?;
        let unit = read_c(&self.options.file, &read_options(self.options))?;
        for diagnostic in &unit.diagnostics {
            let text = diagnostic.render(&unit.path, &unit.source);
            self.progress.event(Event::Diagnostic(&text));
        }
        Ok(unit)
    }

    pub(crate) fn enter(&self, phase: Phase) -> Result<(), Error> {
        self.progress.event(Event::Phase(phase));
        self.check_cancelled()
    }

    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Runs the user's program by `run`, and keeps account of the time.
    pub(crate) fn in_program<T>(&self, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = run();
        self.program_ns.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    /// Seconds that the user's program has run, before and after.
    pub(crate) fn program_seconds(&self) -> f64 {
        self.program_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// How long one run of the user's program may take.
    pub(crate) fn program_limit(&self) -> Duration {
        (self.options.budget * 2).max(Duration::from_secs(10))
    }

    /// A job that builds a whole program from a variant of the user's file.
    pub(crate) fn program_job(&self, source: &Path, name: &str, openmp: bool) -> CompileJob {
        CompileJob::executable(source, self.work.join(name)).args(self.variant_args(openmp))
    }

    /// A job that builds a replay library.
    pub(crate) fn replay_job(&self, source: &Path, name: &str, openmp: bool) -> CompileJob {
        // Without the first, gcc inlines less in a library than in the program the nest comes from; without the second,
        // `-Werror` would fail on text that is not the user's.
        let more = ["-fno-semantic-interposition", "-w"].map(str::to_owned);
        let args = self.variant_args(openmp).into_iter().chain(more);
        CompileJob::shared_library(source, self.work.join(name)).args(args)
    }

    /// The compiler for replay libraries: without what cannot go into a shared library.
    pub(crate) fn replay_compiler(&self) -> Compiler {
        let fits = |a: &&String| {
            let is_object = !a.starts_with('-') && (a.ends_with(".o") || a.ends_with(".a"));
            !is_object
                && !matches!(a.as_str(), "-static" | "-pie" | "-no-pie" | "-static-pie" | "-fwhole-program")
        };
        Compiler::new(&self.compiler.program, self.compiler.args.iter().filter(fits))
    }

    /// What nests are replayed with.
    pub(crate) fn replay(&self) -> Result<Replay, Error> {
        if let Some(replay) = self.replay.get() {
            return Ok(replay.clone());
        }
        let options =
            ReplayOptions { threads: self.threads as usize, call_seconds: 600.0, ..ReplayOptions::default() };
        let replay = Replay::new(&self.replay_compiler(), &self.work, options)?;
        Ok(self.replay.get_or_init(|| replay).clone())
    }

    /// Writes a variant of the user's file into the work folder. It passes for the user's file itself, in the compiler's
    /// words and in its own (`__FILE__`, failed assertions).
    pub(crate) fn write_variant(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let path = self.options.file.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        Ok(self.work.write(name, format!("{mark}#line 1 \"{path}\"\n{text}"))?)
    }

    /// Flags to compile text that stands elsewhere than the user's file as if it stood there.
    fn variant_args(&self, openmp: bool) -> Vec<String> {
        let mut args = vec!["-iquote".to_owned(), self.source_folder.to_string_lossy().into_owned()];
        if openmp {
            args.extend(self.openmp_flag());
        }
        args
    }

    /// `-fopenmp`, unless the user gives it anyway.
    pub(crate) fn openmp_flag(&self) -> Option<String> {
        let given = self.compiler.args.iter().any(|a| a.starts_with("-fopenmp") && a != "-fopenmp-simd");
        (!given).then(|| "-fopenmp".to_owned())
    }

    /// Falls back to one thread where the compiler cannot link OpenMP.
    fn find_openmp(&mut self) -> Result<(), Error> {
        if self.threads == 1 {
            return Ok(());
        }
        let own = std::iter::once(self.options.file.as_path()).chain(self.options.compiler.sources());
        if let (Some(source), Some(flag)) = (own.into_iter().find(|s| has_openmp(s)), self.openmp_flag()) {
            self.threads = 1;
            self.notes.push(format!(
                "{} has OpenMP directives, which {flag} would switch on, so one thread is used; give {flag} to use more",
                source.display()
            ));
            return Ok(());
        }
        let text = "#include <omp.h>\nint oxeye_probe(void) { return omp_get_max_threads(); }\n";
        let source = self.work.write("probe.c", text)?;
        let bare = Compiler::new(&self.compiler.program, [""; 0]);
        let job = CompileJob::shared_library(source, self.work.join("probe.so")).args(["-fopenmp"]);
        if let Err(error) = bare.compile(&job) {
            self.check_cancelled()?;
            let why = complaint(&error.to_string());
            self.threads = 1;
            self.notes.push(format!(
                "{} cannot build OpenMP code ({why}), so one thread is used; for clang install libomp",
                self.compiler.program
            ));
        }
        Ok(())
    }
}

/// Whether a source does something else when it is compiled for OpenMP.
fn has_openmp(source: &Path) -> bool {
    let text = std::fs::read(source).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_directive = |line: &str| {
        let pragma = line.trim_start().strip_prefix('#').map(str::trim_start);
        let what = pragma.and_then(|p| p.strip_prefix("pragma")).map(str::trim_start);
        what.is_some_and(|w| w.starts_with("omp")) || line.contains("_Pragma") && line.contains("omp")
    };
    text.contains("_OPENMP") || text.lines().any(is_directive)
}

pub(crate) fn read_options(options: &Options) -> ReadOptions {
    ReadOptions {
        compiler: options.compiler.command.clone(),
        args: options.compiler.args.clone(),
        function: options.function.clone(),
        no_alias: options.no_alias,
    }
}

//! Where things are built: the compiler, the temporary folder, and how variants of the user's file are compiled.

use crate::openmp::{OPENMP_FLAG, has_openmp_flag};
use crate::request::{Error, Options, ProjectFile};
use oxeye_codegen::Isa;
use oxeye_measure::{CompileJob, Compiler, MeasureError, Replay, ReplayOptions, WorkDir, in_parallel};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

/// The compiler, and a folder for everything temporary.
pub(crate) struct Workshop {
    pub(crate) compiler: Compiler,
    pub(crate) folder: WorkDir,
    /// The user's file.
    file: PathBuf,
    /// Where it stands.
    source_folder: PathBuf,
    /// The project it is part of, if its program is built by more than one command.
    project: Option<ProjectFile>,
    /// Whether OpenMP directives that the user's build leaves off are on in all but the original.
    is_woken: bool,
    /// The user's own program, once it is built.
    original: OnceLock<PathBuf>,
    /// Seconds that building the user's program takes, once that is known.
    build_seconds: OnceLock<f64>,
    /// What nests are replayed with, once it is built, and in how many processes at once they are timed.
    replay: OnceLock<Replay>,
    copies: usize,
    /// What linkers are told that replay libraries export.
    exports: PathBuf,
    /// What replays of a file of a project are linked with.
    linked: OnceLock<Vec<String>>,
}

/// All that is looked up in replay libraries.
const EXPORTS: &str = "{ global: oxeye_*; local: *; };\n";

/// A program to be built of a variant of the user's file.
#[derive(Clone, Debug)]
pub(crate) struct ProgramJob {
    compile: CompileJob,
    /// The name of the variant.
    name: String,
    openmp: bool,
    /// Whether it is the user's own text.
    is_original: bool,
}

/// Seconds for the user's own program to be built: as long as its user would wait.
const ORIGINAL_SECONDS: f64 = 3600.0;
/// Seconds for a variant of it, if it is not known how long the original takes, or it is soon done.
const VARIANT_SECONDS: f64 = 120.0;
/// Seconds for a replay library likewise.
const LIBRARY_SECONDS: f64 = 30.0;
/// How much longer than the original a variant may take, and a replay library.
const VARIANT_FACTOR: f64 = 10.0;
const LIBRARY_FACTOR: f64 = 3.0;

impl ProgramJob {
    /// Adds flags.
    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.compile = self.compile.args(args);
        self
    }

    /// Adds words for the linker.
    pub(crate) fn link_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.compile = self.compile.link_args(args);
        self
    }

    /// The most memory that the compiler may take.
    pub(crate) fn with_memory(mut self, bytes: u64) -> Self {
        self.compile.memory_bytes = Some(bytes);
        self
    }
}

impl Workshop {
    /// For a run on the user's file.
    ///
    /// # Errors
    /// If the compiler is missing, or there is no room for temporary files.
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let compiler = Compiler::new(&options.compiler.command, &options.compiler.args);
        compiler.version()?;
        let folder = match options.file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let work = WorkDir::within(options.shared_folder())?;
        Ok(Self {
            compiler,
            exports: work.write("replay.map", EXPORTS)?,
            folder: work,
            file: options.file.clone(),
            source_folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
            project: options.project.clone(),
            is_woken: false,
            original: OnceLock::new(),
            build_seconds: OnceLock::new(),
            replay: OnceLock::new(),
            copies: options.run.copies.unwrap_or(1) as usize,
            linked: OnceLock::new(),
        })
    }

    /// From now on, OpenMP directives that the user's build leaves off are on in all but the original.
    pub(crate) fn wake_directives(&mut self) {
        self.is_woken = true;
    }

    /// The flag that switches these directives on, where they are.
    pub(crate) fn woken_flag(&self) -> Option<String> {
        self.openmp_flag().filter(|_| self.is_woken)
    }

    /// A job that builds a whole program from a variant of the user's file.
    pub(crate) fn program_job(&self, source: &Path, name: &str, openmp: bool) -> ProgramJob {
        self.plain_job(source, name, openmp || self.is_woken)
    }

    /// The same with OpenMP only where it is asked for.
    pub(crate) fn plain_job(&self, source: &Path, name: &str, openmp: bool) -> ProgramJob {
        let compile = CompileJob::executable(source, self.folder.join(name))
            // Which lines take the time is found by the debug information; the code is the same with it.
            .args(["-g"])
            .args(self.variant_args(openmp));
        let compile =
            CompileJob { seconds: VARIANT_SECONDS.max(VARIANT_FACTOR * self.build_seconds()), ..compile };
        ProgramJob { compile, name: name.to_owned(), openmp, is_original: false }
    }

    /// A job that builds the user's own program, under the name `original`.
    pub(crate) fn original_job(&self, source: &Path) -> ProgramJob {
        let mut job = self.plain_job(source, "original", false);
        (job.compile.seconds, job.is_original) = (ORIGINAL_SECONDS, true);
        job
    }

    /// Seconds that building the user's program takes; 0 as long as that is not known.
    pub(crate) fn build_seconds(&self) -> f64 {
        self.build_seconds.get().copied().unwrap_or(0.0)
    }

    /// Builds a program.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn build(&self, job: &ProgramJob) -> Result<PathBuf, MeasureError> {
        if !job.is_original {
            return self.build_now(job);
        }
        if let Some(original) = self.original.get() {
            return Ok(original.clone());
        }
        let begin = Instant::now();
        let built = self.build_now(job)?;
        let of_object = self.project.as_ref().filter(|_| self.has_object());
        let compiled = of_object.map_or(0.0, |project| project.build.compile_seconds(project.unit));
        self.build_seconds.get_or_init(|| compiled + begin.elapsed().as_secs_f64());
        Ok(self.original.get_or_init(|| built).clone())
    }

    /// Compiles the variant of a file of a project.
    ///
    /// # Errors
    /// If it does not compile.
    pub(crate) fn compile(project: &ProjectFile, job: &ProgramJob) -> Result<PathBuf, MeasureError> {
        let (args, memory) = (&job.compile.args, job.compile.memory_bytes);
        let name = format!("unit{}-{}", project.unit, job.name);
        project.build.compile(project.unit, &job.compile.sources[0], &name, args, memory)
    }

    /// Whether the project has the object of the file as it is: it was made when the project was built, or anew for files that
    /// the file includes, which then are not those that are read here.
    fn has_object(&self) -> bool {
        let Some(project) = &self.project else { return false };
        let units = &project.build.project().units;
        project.closed.iter().all(|path| units.iter().any(|unit| unit.source == *path))
    }

    fn build_now(&self, job: &ProgramJob) -> Result<PathBuf, MeasureError> {
        let Some(project) = &self.project else { return self.compiler.compile(&job.compile) };
        let output = &job.compile.output;
        let replaced = match job.is_original && self.has_object() {
            true => BTreeMap::new(),
            false => BTreeMap::from([(project.unit, Self::compile(project, job)?)]),
        };
        let openmp = self.openmp_flag().filter(|_| job.openmp);
        let openmp = openmp.filter(|flag| !project.link_flags.contains(flag));
        let more: Vec<String> = project.link_flags.iter().cloned().chain(openmp).collect();
        project.build.link(&project.product, &replaced, &more, output)
    }

    /// Compiles a variant of the user's file, that needs OpenMP, as the user's own build would that does not know. Warnings are
    /// errors in some builds, and directives without OpenMP are worth one. Where no warning is an error, nothing is done.
    ///
    /// # Errors
    /// If it does not compile.
    pub(crate) fn try_without_openmp(&self, source: &Path, name: &str) -> Result<(), MeasureError> {
        let flags = match &self.project {
            Some(project) => &project.build.project().units[project.unit].flags,
            None => &self.compiler.args,
        };
        if self.openmp_flag().is_none() || !flags.iter().any(|flag| flag.starts_with("-Werror")) {
            return Ok(());
        }
        let (name, args) = (format!("{name}-plain"), self.variant_args(false));
        match &self.project {
            Some(project) => project.build.compile(project.unit, source, &name, &args, None).map(drop),
            None => {
                let job = CompileJob::shared_library(source, self.folder.join(format!("{name}.so")));
                self.replay_compiler().compile(&job.args(args)).map(drop)
            }
        }
    }

    /// Builds programs, so many at a time.
    pub(crate) fn build_all(
        &self,
        jobs: &[ProgramJob],
        at_a_time: usize,
    ) -> Vec<Result<PathBuf, MeasureError>> {
        in_parallel(jobs, at_a_time, |job| self.build(job))
    }

    /// A job that builds a replay library.
    pub(crate) fn replay_job(&self, source: &Path, name: &str, openmp: bool) -> CompileJob {
        // Without the first, gcc inlines less in a library than in the program the nest comes from; without the second,
        // `-Werror` and `-pedantic-errors` would fail on text that is not the user's.
        let more = ["-fno-semantic-interposition", "-w"];
        // What the nest does not use is left out, and with it what only the program that loads the library could give.
        let sections = ["-ffunction-sections", "-fdata-sections"].map(str::to_owned);
        let mut only_used = vec!["-Wl,--gc-sections".to_owned()];
        // The rest of the program may use functions of the file.
        if !self.linked().iter().any(|arg| arg.starts_with("-Wl,")) {
            only_used.push(format!("-Wl,--version-script={}", self.exports.display()));
        }
        let args = self
            .variant_args(openmp || self.is_woken)
            .into_iter()
            .chain(more.map(str::to_owned))
            .chain(sections);
        let seconds = LIBRARY_SECONDS.max(LIBRARY_FACTOR * self.build_seconds());
        CompileJob { seconds, ..CompileJob::shared_library(source, self.folder.join(name)) }
            .args(args)
            .link_args(only_used)
            // Libraries leave it to the program.
            .link_args(["-lm"])
    }

    /// The compiler for replay libraries: without what cannot go into a shared library.
    pub(crate) fn replay_compiler(&self) -> Compiler {
        let fits = |a: &&String| {
            let is_object = !a.starts_with('-') && (a.ends_with(".o") || a.ends_with(".a"));
            !is_object
                && !matches!(a.as_str(), "-static" | "-pie" | "-no-pie" | "-static-pie" | "-fwhole-program")
        };
        let args = self.compiler.args.iter().filter(fits).chain(self.linked());
        Compiler::new(&self.compiler.program, args)
    }

    /// What replays of a file of a project are linked with besides: its libraries, and the rest of the program if the file
    /// uses anything of that. A nest whose replay lacks something is left out later.
    fn linked(&self) -> &[String] {
        let Some(project) = &self.project else { return &[] };
        self.linked.get_or_init(|| {
            let mut linked = Vec::new();
            if let Ok(Some(rest)) = project.build.rest(&project.product, project.unit) {
                linked.push(format!("-Wl,{}", rest.display()));
            }
            linked.extend(project.product.libraries());
            linked
        })
    }

    /// What nests are replayed with, in so many threads; built at the first call.
    ///
    /// # Errors
    /// If it cannot be built.
    pub(crate) fn replay(&self, threads: u32) -> Result<Replay, Error> {
        if let Some(replay) = self.replay.get() {
            return Ok(replay.clone());
        }
        let options = ReplayOptions {
            threads: threads as usize,
            copies: self.copies,
            call_seconds: 600.0,
            ..ReplayOptions::default()
        };
        let shared = self.project.as_ref().and_then(|project| project.replay.as_ref());
        let replay = match shared {
            Some(shared) => Replay::sharing(shared, &self.folder, options)?,
            None => Replay::new(&self.replay_compiler(), &self.folder, options)?,
        };
        Ok(self.replay.get_or_init(|| replay).clone())
    }

    /// Writes a variant of the user's file into the folder. It passes for the user's file itself, in the compiler's words
    /// and in its own (`__FILE__`, failed assertions).
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write_variant(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let text = passing_for(&self.file, text);
        Ok(self.folder.write(name, oxeye_frontend::encoded(&text))?)
    }

    /// `-fopenmp`, unless the user gives it anyway.
    pub(crate) fn openmp_flag(&self) -> Option<String> {
        (!has_openmp_flag(&self.compiler.args)).then(|| OPENMP_FLAG.to_owned())
    }

    /// Builds something small with OpenMP.
    ///
    /// # Errors
    /// The compiler's words, if it cannot.
    pub(crate) fn try_openmp(&self) -> Result<(), oxeye_measure::MeasureError> {
        let text = "#include <omp.h>\nint oxeye_probe(void) { return omp_get_max_threads(); }\n";
        let source = self.folder.write("probe.c", text)?;
        let bare = Compiler::new(&self.compiler.program, [""; 0]);
        let job = CompileJob::shared_library(source, self.folder.join("probe.so")).args([OPENMP_FLAG]);
        bare.compile(&job).map(drop)
    }

    /// Builds something small with a function for these instructions.
    ///
    /// # Errors
    /// The compiler's words, if it cannot.
    pub(crate) fn try_isa(&self, isa: Isa) -> Result<(), MeasureError> {
        let (name, features) = (isa.word(), isa.features());
        let supports: Vec<String> =
            features.iter().map(|f| format!("__builtin_cpu_supports(\"{f}\")")).collect();
        let text = format!(
            "static __attribute__((target(\"{}\"))) int wide(void) {{ return 1; }}\n\
             int oxeye_probe(void) {{ return {} && wide(); }}\n",
            features.join(","),
            supports.join(" && ")
        );
        let source = self.folder.write(format!("probe-{name}.c"), text)?;
        let flags = self.compiler.args.iter().filter(|flag| flag.starts_with("-m"));
        let job = CompileJob::shared_library(source, self.folder.join(format!("probe-{name}.so")));
        Compiler::new(&self.compiler.program, flags).compile(&job).map(drop)
    }

    /// Flags to compile text that stands elsewhere than the user's file as if it stood there.
    fn variant_args(&self, openmp: bool) -> Vec<String> {
        let mut args = vec!["-iquote".to_owned(), self.source_folder.to_string_lossy().into_owned()];
        if openmp {
            args.extend(self.openmp_flag());
        }
        args
    }
}

/// A variant of a file's text that passes for the file itself.
pub(crate) fn passing_for(file: &Path, text: &str) -> String {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let path = file.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("{mark}#line 1 \"{path}\"\n{text}")
}

/// The first error among a compiler's words, without the place in a text that the user never sees.
pub(crate) fn complaint(words: &str) -> String {
    let line = words.lines().find(|l| l.contains("error:")).or(words.lines().next()).unwrap_or_default();
    line.split_once("error:").map_or(line, |(_, what)| what).trim().to_owned()
}

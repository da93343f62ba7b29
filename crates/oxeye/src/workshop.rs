//! Where things are built: the compiler, the temporary folder, and how variants of the user's file are compiled.

use crate::request::{Error, Options};
use oxeye_measure::{CompileJob, Compiler, Replay, ReplayOptions, WorkDir};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The compiler, and a folder for everything temporary.
pub(crate) struct Workshop {
    pub(crate) compiler: Compiler,
    pub(crate) folder: WorkDir,
    /// The user's file.
    file: PathBuf,
    /// Where it stands.
    source_folder: PathBuf,
    /// What nests are replayed with, once it is built.
    replay: OnceLock<Replay>,
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
        Ok(Self {
            compiler,
            folder: WorkDir::new()?,
            file: options.file.clone(),
            source_folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
            replay: OnceLock::new(),
        })
    }

    /// A job that builds a whole program from a variant of the user's file.
    pub(crate) fn program_job(&self, source: &Path, name: &str, openmp: bool) -> CompileJob {
        // Which lines take the time is found by the debug information; the code is the same with it.
        CompileJob::executable(source, self.folder.join(name)).args(["-g"]).args(self.variant_args(openmp))
    }

    /// A job that builds a replay library.
    pub(crate) fn replay_job(&self, source: &Path, name: &str, openmp: bool) -> CompileJob {
        // Without the first, gcc inlines less in a library than in the program the nest comes from; without the second,
        // `-Werror` would fail on text that is not the user's.
        let more = ["-fno-semantic-interposition", "-w"].map(str::to_owned);
        let args = self.variant_args(openmp).into_iter().chain(more);
        CompileJob::shared_library(source, self.folder.join(name)).args(args)
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

    /// What nests are replayed with, in so many threads; built at the first call.
    ///
    /// # Errors
    /// If it cannot be built.
    pub(crate) fn replay(&self, threads: u32) -> Result<Replay, Error> {
        if let Some(replay) = self.replay.get() {
            return Ok(replay.clone());
        }
        let options =
            ReplayOptions { threads: threads as usize, call_seconds: 600.0, ..ReplayOptions::default() };
        let replay = Replay::new(&self.replay_compiler(), &self.folder, options)?;
        Ok(self.replay.get_or_init(|| replay).clone())
    }

    /// Writes a variant of the user's file into the folder. It passes for the user's file itself, in the compiler's words
    /// and in its own (`__FILE__`, failed assertions).
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write_variant(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let path = self.file.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        let text = format!("{mark}#line 1 \"{path}\"\n{text}");
        Ok(self.folder.write(name, oxeye_frontend::encoded(&text))?)
    }

    /// `-fopenmp`, unless the user gives it anyway.
    pub(crate) fn openmp_flag(&self) -> Option<String> {
        let given = self.compiler.args.iter().any(|a| a.starts_with("-fopenmp") && a != "-fopenmp-simd");
        (!given).then(|| "-fopenmp".to_owned())
    }

    /// Builds something small with OpenMP.
    ///
    /// # Errors
    /// The compiler's words, if it cannot.
    pub(crate) fn try_openmp(&self) -> Result<(), oxeye_measure::MeasureError> {
        let text = "#include <omp.h>\nint oxeye_probe(void) { return omp_get_max_threads(); }\n";
        let source = self.folder.write("probe.c", text)?;
        let bare = Compiler::new(&self.compiler.program, [""; 0]);
        let job = CompileJob::shared_library(source, self.folder.join("probe.so")).args(["-fopenmp"]);
        bare.compile(&job).map(drop)
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

/// The first error among a compiler's words, without the place in a text that the user never sees.
pub(crate) fn complaint(words: &str) -> String {
    let line = words.lines().find(|l| l.contains("error:")).or(words.lines().next()).unwrap_or_default();
    line.split_once("error:").map_or(line, |(_, what)| what).trim().to_owned()
}

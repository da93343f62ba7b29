//! The user's compiler.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::process::{Exit, Invocation, Limits, run_program};
use crate::workdir::WorkDir;

/// A compiler and the flags every translation unit is compiled with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// The program as the user names it.
    pub program: String,
    /// The user's flags. Libraries among them (`-lm`, `-Wl,...`) are moved behind the sources.
    pub args: Vec<String>,
}

/// The family of compilers, as far as flags are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CompilerFamily {
    Gcc,
    Clang,
    Other,
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A program.
    Executable,
    /// A shared library (`-shared -fPIC`).
    SharedLibrary,
    /// An object (`-c`).
    Object,
}

/// One compilation.
#[derive(Clone, Debug)]
pub struct CompileJob {
    /// Translation units and objects, in order; the first one names the job in messages.
    pub sources: Vec<PathBuf>,
    /// The file to make.
    pub output: PathBuf,
    /// The kind of that file.
    pub kind: OutputKind,
    /// Flags after the compiler's own.
    pub args: Vec<String>,
    /// Flags after the sources.
    pub link_args: Vec<String>,
    /// Where the compiler runs, so that relative include folders work; `None` is the present folder.
    pub cwd: Option<PathBuf>,
    /// Wall-clock limit.
    pub seconds: f64,
    /// Most memory that the compiler may take.
    pub memory_bytes: Option<u64>,
}

impl CompileJob {
    /// Makes a program from one source.
    pub fn executable(source: impl Into<PathBuf>, output: impl Into<PathBuf>) -> CompileJob {
        CompileJob {
            sources: vec![source.into()],
            output: output.into(),
            kind: OutputKind::Executable,
            args: Vec::new(),
            link_args: Vec::new(),
            cwd: None,
            seconds: 120.0,
            memory_bytes: None,
        }
    }

    /// Makes a shared library from one source.
    pub fn shared_library(source: impl Into<PathBuf>, output: impl Into<PathBuf>) -> CompileJob {
        CompileJob { kind: OutputKind::SharedLibrary, ..CompileJob::executable(source, output) }
    }

    /// Makes an object from one source.
    pub fn object(source: impl Into<PathBuf>, output: impl Into<PathBuf>) -> CompileJob {
        CompileJob { kind: OutputKind::Object, ..CompileJob::executable(source, output) }
    }

    /// Adds flags.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> CompileJob {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds flags after the sources.
    pub fn link_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> CompileJob {
        self.link_args.extend(args.into_iter().map(Into::into));
        self
    }

    fn name(&self) -> &Path {
        self.sources.first().unwrap_or(&self.output)
    }
}

impl Compiler {
    /// A compiler with its flags.
    pub fn new(program: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Compiler {
        Compiler { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }

    /// The first line of `--version`, such as `gcc (Debian 12.2.0-14) 12.2.0`. Asked once per program.
    ///
    /// # Errors
    /// When the compiler is missing or does not know `--version`.
    pub fn version(&self) -> Result<String, MeasureError> {
        Ok(self.version_text()?.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Whose compiler it is, judged by `--version`.
    ///
    /// # Errors
    /// When the compiler is missing or does not know `--version`.
    pub fn family(&self) -> Result<CompilerFamily, MeasureError> {
        let text = self.version_text()?;
        Ok(if text.contains("clang") {
            CompilerFamily::Clang
        } else if text.contains("Free Software Foundation") {
            CompilerFamily::Gcc
        } else {
            CompilerFamily::Other
        })
    }

    fn version_text(&self) -> Result<String, MeasureError> {
        static KNOWN: OnceLock<Mutex<Vec<(String, String)>>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        if let Some((_, text)) = lock(known).iter().find(|(program, _)| *program == self.program) {
            return Ok(text.clone());
        }
        let invocation = Invocation::new(&self.program).args(["--version"]).env("LC_ALL", "C");
        let outcome = run_program(&invocation, &Limits { seconds: 30.0, ..Limits::default() })
            .map_err(|error| self.not_found(error))?;
        if !outcome.exit.success() {
            let text = format!("failed ({})", outcome.exit);
            return Err(MeasureError::NotACompiler { program: self.program.clone(), text });
        }
        let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
        if text.trim().is_empty() {
            let text = "prints nothing".to_owned();
            return Err(MeasureError::NotACompiler { program: self.program.clone(), text });
        }
        lock(known).push((self.program.clone(), text.clone()));
        Ok(text)
    }

    /// The same compiler with only those of its flags that select the target machine and the floating-point mode at the
    /// start of a program: without the user's sources, includes and definitions.
    pub fn bare(&self) -> Compiler {
        const WHOLE: [&str; 4] = ["-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-mdaz-ftz"];
        const STARTS: [&str; 7] =
            ["-m32", "-m64", "-mabi=", "--target=", "--sysroot", "--gcc-toolchain", "-fsanitize="];
        let kept = |arg: &&String| {
            WHOLE.contains(&arg.as_str()) || STARTS.iter().any(|start| arg.starts_with(start))
        };
        Compiler { program: self.program.clone(), args: self.args.iter().filter(kept).cloned().collect() }
    }

    /// The command line of a job, without the program. A job that wants no warnings (`-w`) has none that are errors either: what
    /// is pedantic is one in spite of `-w`.
    pub fn command_line(&self, job: &CompileJob) -> Vec<String> {
        let (mut line, libraries) = split_libraries(&self.args);
        if job.args.iter().any(|flag| flag == "-w") {
            line.retain(|flag| !makes_errors(flag));
        }
        line.extend(job.args.iter().cloned());
        match job.kind {
            OutputKind::Executable => {}
            OutputKind::SharedLibrary => line.extend(["-shared".to_owned(), "-fPIC".to_owned()]),
            OutputKind::Object => line.push("-c".to_owned()),
        }
        line.extend(job.sources.iter().map(|path| path.to_string_lossy().into_owned()));
        line.extend(["-o".to_owned(), job.output.to_string_lossy().into_owned()]);
        if job.kind != OutputKind::Object {
            line.extend(libraries);
            line.extend(job.link_args.iter().cloned());
        }
        line
    }

    /// Runs one job and returns its output file. A compiler that fails without finding a fault in the text is asked again.
    ///
    /// # Errors
    /// A missing compiler, a refused translation unit, or the time limit.
    pub fn compile(&self, job: &CompileJob) -> Result<PathBuf, MeasureError> {
        const MOST_ATTEMPTS: usize = 3;
        let mut result = self.compile_once(job);
        for _ in 1..MOST_ATTEMPTS {
            match &result {
                Err(MeasureError::CompileFailed { text, .. }) if !finds_fault(text) => {
                    result = self.compile_once(job);
                }
                _ => break,
            }
        }
        result
    }

    /// Whether programs that it makes run here, with a run-time library that its flags ask for, such as a sanitizer's.
    ///
    /// # Errors
    /// Why not, in a line.
    pub fn makes_programs(&self, environment: &[(&str, &str)]) -> Result<(), String> {
        let run = || {
            let work = WorkDir::new()?;
            let source = work.write("probe.c", "int main(void) { return 0; }\n")?;
            let program = self.compile(&CompileJob::executable(source, work.join("probe")))?;
            let set = |run: Invocation, (name, value): &(&str, &str)| run.env(*name, *value);
            let invocation = environment.iter().fold(Invocation::new(program), set);
            run_program(&invocation, &Limits { seconds: 20.0, ..Limits::default() })
        };
        match run() {
            Ok(outcome) if outcome.exit.success() => Ok(()),
            Ok(outcome) => Err(format!("a program that it made ends with {}", outcome.exit)),
            Err(error) => {
                let error = error.to_string();
                let missing =
                    error.lines().find(|line| line.contains("cannot find") || line.contains("error"));
                Err(missing.or(error.lines().next()).unwrap_or_default().trim().to_owned())
            }
        }
    }

    fn compile_once(&self, job: &CompileJob) -> Result<PathBuf, MeasureError> {
        let invocation = Invocation::new(&self.program)
            .args(self.command_line(job))
            .env("LC_ALL", "C")
            .cwd(job.cwd.clone());
        if let Some(cwd) = job.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
            let source = std::io::ErrorKind::NotADirectory.into();
            return Err(MeasureError::Io { action: "compile in", path: cwd.to_path_buf(), source });
        }
        let limits = Limits { seconds: job.seconds, memory_bytes: job.memory_bytes, output_bytes: 1 << 20 };
        let outcome = run_program(&invocation, &limits).map_err(|error| self.not_found(error))?;
        let (program, file) = (self.program.clone(), job.name().to_path_buf());
        match outcome.exit {
            // Linkers mark what they make as executable; preprocessed text and assembly are not.
            Exit::Exited(0) if job.kind == OutputKind::Object && job.output.exists() => {
                Ok(job.output.clone())
            }
            Exit::Exited(0) if is_executable(&job.output) => Ok(job.output.clone()),
            Exit::Exited(0) => Err(MeasureError::CompileFailed {
                program,
                file,
                text: "no program was made; is there `-c`, `-S`, `-E` or `-fsyntax-only` among the flags?"
                    .into(),
            }),
            Exit::TimedOut => Err(MeasureError::CompileTimedOut { program, file, seconds: job.seconds }),
            exit => {
                let mut text = first_diagnostics(&String::from_utf8_lossy(&outcome.stderr));
                if text.is_empty() {
                    text = format!("the compiler ended with {exit} and said nothing");
                }
                Err(MeasureError::CompileFailed { program, file, text })
            }
        }
    }

    fn not_found(&self, error: MeasureError) -> MeasureError {
        match error {
            MeasureError::Spawn { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                MeasureError::CompilerNotFound { program: self.program.clone() }
            }
            other => other,
        }
    }
}

/// Runs jobs, at most `parallelism` at a time; results are in the jobs' order.
pub fn compile_all(
    compiler: &Compiler,
    jobs: &[CompileJob],
    parallelism: usize,
) -> Vec<Result<PathBuf, MeasureError>> {
    in_parallel(jobs, parallelism, |job| compiler.compile(job))
}

/// Does something with each job, for so many at a time. The results are in the order of the jobs.
pub fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    parallelism: usize,
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let n_threads = parallelism.clamp(1, jobs.len().max(1));
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
        Ok(pool) => pool.install(|| jobs.par_iter().map(&work).collect()),
        // The system may refuse threads and still start compilers.
        Err(_) => jobs.iter().map(work).collect(),
    }
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o111 != 0)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Whether a flag makes errors of warnings, and has no other meaning.
fn makes_errors(flag: &str) -> bool {
    flag.starts_with("-Werror") || matches!(flag, "-pedantic-errors" | "--pedantic-errors")
}

/// Separates what must come after the sources, in order.
fn split_libraries(args: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut flags, mut libraries) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "-l" || arg == "-Xlinker" {
            libraries.push(arg.clone());
            libraries.extend(rest.next().cloned());
        } else if arg.starts_with("-l") || arg.starts_with("-Wl,") {
            libraries.push(arg.clone());
        } else {
            flags.push(arg.clone());
        }
    }
    (flags, libraries)
}

/// The first errors with the lines that explain them, or the first lines if none is marked as an error.
/// Whether a compiler that fails does so because of the text: not if it was killed, or ended without a word of an error.
fn finds_fault(words: &str) -> bool {
    let is_own =
        |line: &str| line.contains("internal compiler error") || line.contains("fatal error: Killed");
    let mut errors =
        words.lines().filter(|line| line.contains("error") || line.contains("undefined reference"));
    errors.any(|line| !is_own(line)) || words.starts_with("no program was made")
}

fn first_diagnostics(stderr: &str) -> String {
    const KEPT_LINES: usize = 12;
    const KEPT_CHARS: usize = 400;
    let lines: Vec<&str> = stderr.lines().collect();
    // What the driver of the compiler says of the linker's failure says nothing of its cause.
    let is_summary = |line: &str| line.starts_with("collect2:") || line.contains("linker command failed");
    let is_linker = |line: &str| line.contains("undefined reference") || line.contains("ld: ");
    let is_fault = |line: &&str| line.contains("error") && !is_summary(line) || is_linker(line);
    let first = lines.iter().position(is_fault);
    // Objects of one call have names that say nothing.
    let is_told = |line: &&&str| !line.contains(": in function `");
    let kept = lines[first.unwrap_or(0)..].iter().filter(is_told).take(KEPT_LINES);
    kept.map(|line| line.chars().take(KEPT_CHARS).collect::<String>()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::WorkDir;

    #[test]
    fn a_compiler_that_fails_now_and_then_is_asked_again() {
        let folder = WorkDir::new().expect("a folder");
        let source = folder.write("a.c", "int f(void) { return 1; }\n").expect("written");
        let wrong = folder.write("b.c", "int f(void) { return x; }\n").expect("written");
        let script = format!(
            "#!/bin/sh\necho x >> '{0}/calls'\n[ $(($(wc -l < '{0}/calls') % 2)) = 1 ] && exit 1\nexec cc \"$@\"\n",
            folder.path().display()
        );
        let flaky = folder.write("flaky", script).expect("written");
        std::fs::set_permissions(&flaky, std::fs::Permissions::from_mode(0o755)).expect("made");
        let compiler = Compiler::new(flaky.to_string_lossy(), [""; 0]);
        let made = compiler.compile(&CompileJob::object(source, folder.join("a.o")));
        assert!(made.is_ok(), "{made:?}");
        let refused = compiler.compile(&CompileJob::object(wrong, folder.join("b.o")));
        assert!(refused.is_err_and(|error| error.to_string().contains("undeclared")));
        let calls = std::fs::read_to_string(folder.join("calls")).expect("read");
        assert_eq!(calls.lines().count(), 4, "what is wrong is not compiled more often than it must be");
    }

    #[test]
    fn linkers_have_the_word_on_what_they_miss() {
        let words = "/usr/bin/ld: cannot find -lnope: No such file or directory\n\
                     collect2: error: ld returned 1 exit status\n";
        assert!(first_diagnostics(words).starts_with("/usr/bin/ld: cannot find -lnope"));
        let words = "a.c:1: warning: x\n/usr/bin/ld: /tmp/cc1.o: in function `main':\n\
                     a.c:3: undefined reference to `helper'\ncollect2: error: ld returned 1 exit status\n";
        assert!(first_diagnostics(words).starts_with("a.c:3: undefined reference to `helper'"));
    }

    #[test]
    fn libraries_move_behind_the_sources() {
        let compiler = Compiler::new("cc", ["-O2", "-lm", "-l", "dl", "-Wl,--as-needed", "-g"]);
        let line = compiler.command_line(&CompileJob::shared_library("a.c", "a.so").link_args(["-lfoo"]));
        let expected = [
            "-O2",
            "-g",
            "-shared",
            "-fPIC",
            "a.c",
            "-o",
            "a.so",
            "-lm",
            "-l",
            "dl",
            "-Wl,--as-needed",
            "-lfoo",
        ];
        assert_eq!(line, expected);
    }

    #[test]
    fn without_warnings_none_is_an_error() {
        let work = WorkDir::new().expect("work folder");
        let source = work.write("late.c", "void f(void) { g(); int i; (void)i; }\n").expect("written");
        let compiler = Compiler::new("gcc", ["-std=c89", "-pedantic-errors", "-Werror"]);
        let job = CompileJob::object(source, work.join("late.o"));
        assert!(compiler.compile(&job).is_err());
        assert!(compiler.compile(&job.args(["-w"])).is_ok());
    }

    /// Whether there is clang 19; it has to be if `OXEYE_REQUIRE` names `clang`.
    fn has_clang() -> bool {
        let is_there = Compiler::new("clang-19", [""; 0]).family().is_ok();
        let is_required =
            std::env::var("OXEYE_REQUIRE").is_ok_and(|list| list.split(',').any(|w| w == "clang"));
        assert!(is_there || !is_required, "clang-19 is required but cannot be run");
        is_there
    }

    #[test]
    fn a_refused_unit_gives_the_compilers_words() {
        let work = WorkDir::new().expect("work folder");
        let source = work.write("bad.c", "int f(void) { return nonsense; }\n").expect("written");
        let job = CompileJob::shared_library(source, work.join("bad.so"));
        for program in ["gcc", "clang-19"].into_iter().take(1 + usize::from(has_clang())) {
            let error = Compiler::new(program, ["-O1"]).compile(&job).expect_err("does not compile");
            assert!(error.to_string().contains("bad.c"), "{error}");
            assert!(error.to_string().contains("nonsense"), "{error}");
            assert!(error.rejection().is_some());
        }
    }

    #[test]
    fn a_missing_compiler_is_named() {
        let compiler = Compiler::new("no-such-cc", [""; 0]);
        let job = CompileJob::executable("a.c", "a");
        assert!(
            matches!(compiler.compile(&job), Err(MeasureError::CompilerNotFound { program }) if program == "no-such-cc")
        );
        assert!(compiler.family().is_err());
    }

    #[test]
    fn families_are_told_apart() {
        assert_eq!(Compiler::new("gcc", [""; 0]).family().expect("gcc"), CompilerFamily::Gcc);
        if has_clang() {
            assert_eq!(Compiler::new("clang-19", [""; 0]).family().expect("clang"), CompilerFamily::Clang);
        }
        assert!(Compiler::new("gcc", [""; 0]).version().expect("gcc").contains("gcc"));
    }

    #[test]
    fn several_jobs_keep_their_order() {
        let work = WorkDir::new().expect("work folder");
        let jobs: Vec<CompileJob> = (0..5)
            .map(|i| {
                let text =
                    if i == 3 { "broken".to_owned() } else { format!("int f{i}(void) {{ return {i}; }}\n") };
                let source = work.write(format!("f{i}.c"), text).expect("written");
                CompileJob::shared_library(source, work.join(format!("f{i}.so")))
            })
            .collect();
        let results = compile_all(&Compiler::new("gcc", ["-O0"]), &jobs, 2);
        assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, false, true]);
        assert_eq!(results[4].as_ref().expect("compiled"), &jobs[4].output);
    }
}

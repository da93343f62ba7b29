//! Where a program spends its time, found by sampling its call stacks.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use addr2line::Loader;

use crate::compiler::{CompileJob, Compiler};
use crate::error::MeasureError;
use crate::process::{Invocation, Limits, RunOutcome, run_program};
use crate::workdir::WorkDir;

/// Preloaded into the program; takes the samples.
const SAMPLER_C: &str = include_str!("c/sampler.c");

/// Words of a record, of what is loaded, and their numbers: see `sampler.c`.
const RECORD_WORDS: usize = 25;
const OBJECT_WORDS: usize = 128;
const MOST_OBJECTS: usize = 255;
const HEADER_WORDS: usize = 2;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file as the debug information names it, with the folder of the compilation in front if that is relative.
    pub file: PathBuf,
    /// The line, from 1; 0 in a library of which no line is known: the file is the library then.
    pub line: u32,
    /// The column in bytes, from 1; 0 where it is not known.
    pub column: u32,
}

/// A sampled run.
#[derive(Clone, Debug)]
pub struct SampledRun {
    /// How the program ended, and its output.
    pub outcome: RunOutcome,
    /// For each sample the calls that were being made, the innermost first, inlined ones among them. Calls without debug
    /// information are left out but for the innermost one, if it is in a shared library; samples without any line are empty.
    pub stacks: Vec<Vec<SourceLine>>,
}

/// Runs a dynamically linked program that was built with `-g`, and looks every few milliseconds of processor time at what
/// it, its libraries, and the programs that it starts are doing. The samples of all threads count alike.
///
/// # Errors
/// When the program cannot be started, or the sampler cannot be built for this system.
pub fn sample_stacks(
    invocation: &Invocation,
    limits: &Limits,
    compiler: &Compiler,
    folder: &WorkDir,
) -> Result<SampledRun, MeasureError> {
    let source = folder.write("sampler.c", SAMPLER_C)?;
    let sampler = compiler.compile(
        &CompileJob::shared_library(source, folder.join("sampler.so")).link_args(["-lrt", "-ldl"]),
    )?;
    let records = folder.subdir("stacks")?;
    let sampled = invocation.clone().env("OXEYE_SAMPLES", &records).preload(&sampler);
    let outcome = run_program(&sampled, limits)?;
    let mut files: Vec<PathBuf> = fs::read_dir(&records)
        .map_err(MeasureError::io("read", &records))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort_unstable();
    let mut lines = Lines::default();
    let mut stacks = Vec::new();
    for file in files {
        let bytes = records_in(&file).map_err(MeasureError::io("read", &file))?;
        stacks.extend(lines.of_process(&bytes));
    }
    // As large as the samples that fit in, but for its end full of holes.
    let _ = fs::remove_dir_all(&records);
    Ok(SampledRun { outcome, stacks })
}

/// What a process has written: the files are as large as the most that they could hold.
fn records_in(path: &Path) -> io::Result<Vec<u8>> {
    const WORD: usize = 8;
    let file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    let before_records = WORD * (HEADER_WORDS + MOST_OBJECTS * OBJECT_WORDS);
    (&file).take(before_records as u64).read_to_end(&mut bytes)?;
    let taken = bytes.first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
    (&file).take(taken.saturating_mul((WORD * RECORD_WORDS) as u64)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Debug information of all programs and libraries so far, and what was found in it.
#[derive(Default)]
struct Lines {
    loaders: HashMap<PathBuf, Option<Loader>>,
    known: HashMap<(PathBuf, u64), Vec<SourceLine>>,
}

/// A program or library where a process had it.
struct Loaded {
    bias: u64,
    end: u64,
    path: PathBuf,
}

impl Lines {
    /// The records of one process as source lines.
    fn of_process(&mut self, bytes: &[u8]) -> Vec<Vec<SourceLine>> {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
            .collect();
        let Some((header, rest)) = words.split_at_checked(HEADER_WORDS) else { return Vec::new() };
        let Some((objects, records)) = rest.split_at_checked(MOST_OBJECTS * OBJECT_WORDS) else {
            return Vec::new();
        };
        let (taken, n_objects) = (header[0] as usize, header[1] as usize);
        let loaded: Vec<Loaded> = objects
            .chunks_exact(OBJECT_WORDS)
            .take(n_objects)
            .map(|words| {
                let path: Vec<u8> = words[2..].iter().flat_map(|word| word.to_ne_bytes()).collect();
                let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
                Loaded { bias: words[0], end: words[1], path: OsStr::from_bytes(path).into() }
            })
            .collect();
        let stacks = records.chunks_exact(RECORD_WORDS).take(taken).map(|record| {
            let n_frames = (record[0] as usize).min(RECORD_WORDS - 1);
            let mut lines = Vec::new();
            let mut library = None;
            for (depth, address) in record[1..][..n_frames].iter().enumerate() {
                let Some(object) = loaded.iter().find(|o| (o.bias..o.end).contains(address)) else {
                    continue;
                };
                // All but the innermost are where calls return to, which may belong to the next line.
                let address = address.wrapping_sub(object.bias).wrapping_sub(u64::from(depth > 0));
                let found = self.at(&object.path, address);
                if depth == 0 && found.is_empty() && is_library(&object.path) {
                    library = Some(SourceLine { file: object.path.clone(), line: 0, column: 0 });
                }
                lines.extend_from_slice(found);
            }
            library.filter(|_| !lines.is_empty()).into_iter().chain(lines).collect()
        });
        stacks.collect()
    }

    /// The line at an address of a program or library, and those of the calls that were inlined there.
    fn at(&mut self, object: &Path, address: u64) -> &[SourceLine] {
        let loaders = &mut self.loaders;
        self.known.entry((object.to_owned(), address)).or_insert_with(|| {
            let loader = loaders.entry(object.to_owned()).or_insert_with(|| Loader::new(object).ok());
            loader.as_ref().map_or_else(Vec::new, |loader| lines_at(loader, address))
        })
    }
}

/// Whether a file that is loaded is a shared library, by its name.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}

/// The line at an address, and those of the calls that were inlined there.
fn lines_at(loader: &Loader, address: u64) -> Vec<SourceLine> {
    let mut lines = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return lines };
    while let Ok(Some(frame)) = frames.next() {
        let Some(location) = frame.location else { continue };
        if let (Some(file), Some(line)) = (location.file, location.line.filter(|line| *line > 0)) {
            let column = location.column.unwrap_or(0);
            lines.push(SourceLine { file: PathBuf::from(file), line, column });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "#include <math.h>\n#include <stdio.h>\n\
static double work(int n) {\n    double s = 0;\n    for (int i = 0; i < n; i++)\n        s += sin(i * 0.5);\n    return s;\n}\n\
int main(void) {\n    double s = 0;\n    for (int k = 0; k < 400; k++)\n        s += work(40000);\n    printf(\"%g\\n\", s);\n    return 0;\n}\n";

    #[test]
    fn time_is_found_in_the_lines_that_take_it_and_in_their_callers() {
        let folder = WorkDir::new().expect("a folder");
        let source = folder.write("hot.c", PROGRAM).expect("written");
        let compiler = Compiler::new("cc", ["-O2", "-g"]);
        let job = CompileJob::executable(&source, folder.join("hot")).link_args(["-lm"]);
        let program = compiler.compile(&job).expect("compiled");
        let run = sample_stacks(&Invocation::new(program), &Limits::default(), &compiler, &folder);
        let run = run.expect("a run");
        assert!(run.outcome.exit.success());
        assert!(run.stacks.len() >= 5, "only {} samples", run.stacks.len());
        let with = |lines: std::ops::RangeInclusive<u32>| {
            let is_hit = |stack: &&Vec<SourceLine>| {
                stack.iter().any(|at| at.file.ends_with("hot.c") && lines.contains(&at.line))
            };
            run.stacks.iter().filter(is_hit).count()
        };
        // `sin` has no lines; the loop that calls it has them, and so does `main`.
        assert!(with(3..=8) * 10 >= run.stacks.len() * 9);
        assert!(with(9..=15) * 10 >= run.stacks.len() * 9);
        let is_in_sin = |stack: &&Vec<SourceLine>| {
            stack[0].line == 0 && stack[0].file.to_string_lossy().contains("libm") && stack.len() > 1
        };
        let n_in_sin = run.stacks.iter().filter(|stack| !stack.is_empty()).filter(is_in_sin).count();
        assert!(n_in_sin > 0 && run.stacks.iter().all(|stack| stack.iter().skip(1).all(|at| at.line > 0)));
    }

    #[test]
    fn a_program_that_crashes_keeps_its_samples() {
        let folder = WorkDir::new().expect("a folder");
        let text = "#include <stdlib.h>\nvolatile double x;\nint main(void) {\n    for (long i = 0; i < 200000000; i++) x += i;\n    abort();\n}\n";
        let source = folder.write("crash.c", text).expect("written");
        let compiler = Compiler::new("cc", ["-O1", "-g"]);
        let program =
            compiler.compile(&CompileJob::executable(&source, folder.join("crash"))).expect("compiled");
        let run = sample_stacks(&Invocation::new(program), &Limits::default(), &compiler, &folder);
        let run = run.expect("a run");
        assert!(!run.outcome.exit.success());
        assert!(run.stacks.iter().any(|stack| stack.iter().any(|at| at.line == 4)));
    }

    #[test]
    fn libraries_that_other_programs_load_are_seen() {
        let folder = WorkDir::new().expect("a folder");
        let compiler = Compiler::new("cc", ["-O1", "-g"]);
        let text = "volatile double x;\nvoid work(void) {\n    for (long i = 0; i < 200000000; i++)\n        x += i;\n}\n";
        let source = folder.write("work.c", text).expect("written");
        let library = folder.join("libwork.so");
        compiler.compile(&CompileJob::shared_library(&source, &library)).expect("compiled");
        let text = "#include <dlfcn.h>\nint main(int n, char **names) {\n    void *l = dlopen(names[1], RTLD_NOW);\n    ((void (*)(void))dlsym(l, \"work\"))();\n    return 0;\n}\n";
        let source = folder.write("main.c", text).expect("written");
        let job = CompileJob::executable(&source, folder.join("main")).link_args(["-ldl"]);
        let program = compiler.compile(&job).expect("compiled");
        // The shell is busy before another program takes its place.
        let script =
            format!("for k in $(seq 1 20000); do :; done; exec {} {}", program.display(), library.display());
        let run = Invocation::new("/bin/sh").args(["-c", &script]);
        let run = sample_stacks(&run, &Limits::default(), &compiler, &folder).expect("a run");
        let in_loop = |stack: &&Vec<SourceLine>| stack.iter().any(|at| at.file.ends_with("work.c"));
        assert!(run.outcome.exit.success(), "{}", run.outcome.exit);
        let n_inside = run.stacks.iter().filter(in_loop).count();
        assert!(n_inside >= 5 && n_inside * 10 >= run.stacks.len() * 8, "{n_inside} of {}", run.stacks.len());
    }

    #[test]
    fn handlers_of_the_programs_own_timers_do_not_take_the_time() {
        let folder = WorkDir::new().expect("a folder");
        let compiler = Compiler::new("cc", ["-O1", "-g"]);
        let text = "#include <signal.h>\n#include <sys/time.h>\nvolatile int ticks;\nvolatile double x;\n\
static void tick(int s) {\n    ticks += s > 0;\n}\n\
int main(void) {\n    struct itimerval often = {{0, 1000}, {0, 1000}};\n    signal(SIGPROF, tick);\n\
    setitimer(ITIMER_PROF, &often, 0);\n    for (long i = 0; i < 200000000; i++)\n        x += i;\n    return 0;\n}\n";
        let source = folder.write("timers.c", text).expect("written");
        let job = CompileJob::executable(&source, folder.join("timers"));
        let program = compiler.compile(&job).expect("compiled");
        let run = sample_stacks(&Invocation::new(program), &Limits::default(), &compiler, &folder);
        let stacks = run.expect("a run").stacks;
        let in_handler = stacks.iter().filter(|stack| stack.iter().any(|at| (5..=7).contains(&at.line)));
        let n_inside = in_handler.count();
        assert!(stacks.len() >= 5 && n_inside * 4 <= stacks.len(), "{n_inside} of {}", stacks.len());
    }
}

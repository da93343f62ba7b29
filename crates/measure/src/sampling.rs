//! Where a program spends its time, found by sampling its call stacks.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use addr2line::Loader;

use crate::compiler::{CompileJob, Compiler};
use crate::error::MeasureError;
use crate::process::{Invocation, Limits, RunOutcome, run_program};
use crate::workdir::WorkDir;

/// Preloaded into the program; takes the samples.
const SAMPLER_C: &str = include_str!("c/sampler.c");

/// Words of a record, and of what stands before the first: see `sampler.c`.
const RECORD_WORDS: usize = 25;
const HEADER_WORDS: usize = 2;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file as the debug information names it, with the folder of the compilation in front if that is relative.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
}

/// A sampled run.
#[derive(Clone, Debug)]
pub struct SampledRun {
    /// How the program ended, and its output.
    pub outcome: RunOutcome,
    /// For each sample the calls that were being made, the innermost first, inlined ones among them. Lines without debug
    /// information are left out, samples without any line are not.
    pub stacks: Vec<Vec<SourceLine>>,
}

/// Runs a dynamically linked program that was built with `-g`, and looks every few milliseconds of processor time at what
/// it is doing. The samples of all threads count alike.
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
    let sampler = compiler.compile(&CompileJob::shared_library(source, folder.join("sampler.so")))?;
    let records = folder.write("stacks.bin", [])?;
    let mut preloaded = OsString::from(sampler);
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preloaded.push(":");
        preloaded.push(others);
    }
    let invocation = invocation.clone().env("OXEYE_SAMPLES", &records).env("LD_PRELOAD", preloaded);
    let outcome = run_program(&invocation, limits)?;
    let bytes = fs::read(&records).map_err(MeasureError::io("read", &records))?;
    // As large as the samples that fit in, but for its end full of holes.
    let _ = fs::remove_file(&records);
    let stacks = in_lines(&bytes, &invocation.program)?;
    Ok(SampledRun { outcome, stacks })
}

/// The records of the sampler as source lines.
fn in_lines(bytes: &[u8], program: &Path) -> Result<Vec<Vec<SourceLine>>, MeasureError> {
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes"))).collect();
    let Some((header, records)) = words.split_at_checked(HEADER_WORDS) else { return Ok(Vec::new()) };
    let (taken, bias) = (header[0] as usize, header[1]);
    let loader = Loader::new(program)
        .map_err(|error| MeasureError::sample(program, format!("its debug information: {error}")))?;
    let mut known: HashMap<u64, Vec<SourceLine>> = HashMap::new();
    let stacks = records.chunks_exact(RECORD_WORDS).take(taken).map(|record| {
        let n_frames = (record[0] as usize).min(RECORD_WORDS - 1);
        let mut lines = Vec::new();
        for (depth, address) in record[1..][..n_frames].iter().enumerate() {
            // All but the innermost are where calls return to, which may belong to the next line.
            let address = address.wrapping_sub(bias).wrapping_sub(u64::from(depth > 0));
            lines.extend_from_slice(known.entry(address).or_insert_with(|| lines_at(&loader, address)));
        }
        lines
    });
    Ok(stacks.collect())
}

/// The line at an address, and those of the calls that were inlined there.
fn lines_at(loader: &Loader, address: u64) -> Vec<SourceLine> {
    let mut lines = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return lines };
    while let Ok(Some(frame)) = frames.next() {
        let Some(location) = frame.location else { continue };
        if let (Some(file), Some(line)) = (location.file, location.line.filter(|line| *line > 0)) {
            lines.push(SourceLine { file: PathBuf::from(file), line });
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
}

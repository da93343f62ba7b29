//! Counts by callgrind.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use oxeye_analysis::traffic::CacheGeometry;

use oxeye_evaluation::corpus::Kernel;
use oxeye_evaluation::process::{End, run_limited};

/// Takes the place of the programs' `bench.h`.
const HARNESS: &str = include_str!("bench.h");
const COMPILER: &str = "gcc";

/// Data misses between the start and the end of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Misses {
    /// Data reads and writes.
    pub(crate) accesses: u64,
    /// Of the first level.
    pub(crate) first: u64,
    /// Of the last level.
    pub(crate) last: u64,
}

/// Builds `kernel` with `flags`, those of its sizes included, and counts it with callgrind, or takes the counts from
/// `cache` if this exact text was counted before.
pub(crate) fn count(
    kernel: &Kernel,
    flags: &[String],
    caches: &[CacheGeometry; 2],
    cache: &Path,
    limit: Duration,
) -> Result<Misses> {
    let mut hasher = DefaultHasher::new();
    let geometry = caches.each_ref().map(|cache| (cache.bytes, cache.ways, cache.line_bytes));
    (&kernel.text, HARNESS, flags, geometry).hash(&mut hasher);
    let cached = cache.join(format!("{}-{:016x}.out", kernel.name, hasher.finish()));
    if !cached.is_file() {
        measure(kernel, flags, caches, cache, &cached, limit)?;
    }
    let text = fs::read_to_string(&cached).with_context(|| format!("cannot read {}", cached.display()))?;
    parse(&text).with_context(|| format!("{} has no counts", cached.display()))
}

fn measure(
    kernel: &Kernel,
    flags: &[String],
    caches: &[CacheGeometry; 2],
    cache: &Path,
    out: &Path,
    limit: Duration,
) -> Result<()> {
    let work = tempfile::tempdir_in(cache).context("cannot create a working folder")?;
    let source = work.path().join(format!("{}.c", kernel.name));
    fs::write(&source, &kernel.text)?;
    fs::write(work.path().join("bench.h"), HARNESS)?;
    let executable = work.path().join(&kernel.name);
    let mut compile = Command::new(COMPILER);
    // The sweep reaches every set of the last cache several times over.
    compile.arg(&source).arg("-o").arg(&executable).arg(format!("-DSWEEP_BYTES={}", 4 * caches[1].bytes));
    compile.args(flags).arg("-lm");
    let built = run_limited(&mut compile, Duration::from_secs(120))?;
    if built.end != End::Exit(0) {
        bail!("{COMPILER} failed: {}", built.stderr);
    }
    let written = work.path().join("callgrind.out");
    let of = |cache: &CacheGeometry| format!("{},{},{}", cache.bytes, cache.ways, cache.line_bytes);
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--cache-sim=yes", "--collect-atstart=no"]);
    command.arg(format!("--D1={}", of(&caches[0]))).arg(format!("--LL={}", of(&caches[1])));
    command.arg(format!("--callgrind-out-file={}", written.display())).arg(&executable);
    let finished = run_limited(&mut command, limit)?;
    match finished.end {
        End::Exit(0) => {}
        End::Timeout => bail!("callgrind took more than {} s", limit.as_secs()),
        other => bail!("callgrind ended with {other:?}: {}", finished.stderr),
    }
    fs::rename(&written, out).context("callgrind wrote nothing")
}

/// The counts in a file that callgrind wrote.
fn parse(text: &str) -> Option<Misses> {
    let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
    let names: Vec<&str> = line("events:")?.split_whitespace().collect();
    let counts: Vec<u64> =
        line("totals:")?.split_whitespace().map_while(|count| count.parse().ok()).collect();
    // Trailing zeros are left out.
    let count = |name: &str| {
        let position = names.iter().position(|n| *n == name)?;
        Some(counts.get(position).copied().unwrap_or(0))
    };
    Some(Misses {
        accesses: count("Dr")? + count("Dw")?,
        first: count("D1mr")? + count("D1mw")?,
        last: count("DLmr")? + count("DLmw")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found() {
        let text = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\nfn=main\n1 2\n\ntotals: 90 20 10 1 5 4 1 3\n";
        assert_eq!(parse(text), Some(Misses { accesses: 30, first: 9, last: 3 }));
        assert_eq!(parse("events: Ir\ntotals: 7\n"), None);
    }
}

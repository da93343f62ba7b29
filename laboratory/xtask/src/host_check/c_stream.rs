//! McCalpin's algorithm as a C program.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use oxeye_evaluation::repository;

/// The program, built for one size; its folder lives as long as this.
pub(super) struct CStream {
    folder: TempDir,
}

impl CStream {
    /// Builds it for this array length and number of rounds.
    pub(super) fn build(cc: &str, flags: &str, n: usize, rounds: u32) -> Result<CStream> {
        let folder = tempfile::tempdir().context("cannot make a folder for temporary files")?;
        let source = repository::root().join("benchmarks/host/stream.c");
        let status = Command::new(cc)
            .args(flags.split_whitespace())
            .args([format!("-DN={n}"), format!("-DROUNDS={rounds}")])
            .arg(&source)
            .arg("-o")
            .arg(folder.path().join("stream"))
            .status()
            .with_context(|| format!("cannot start {cc}"))?;
        if !status.success() {
            bail!("{cc} cannot build {}", source.display());
        }
        Ok(CStream { folder })
    }

    /// Runs it with one thread on each of these processors. Best bandwidths in GB/s by kernel.
    pub(super) fn run(&self, cpus: &[u32]) -> Result<BTreeMap<String, f64>> {
        let places: Vec<String> = cpus.iter().map(|cpu| format!("{{{cpu}}}")).collect();
        let output = Command::new(self.folder.path().join("stream"))
            .env("OMP_NUM_THREADS", cpus.len().to_string())
            .env("OMP_PLACES", places.join(","))
            .env("OMP_PROC_BIND", "close")
            .output()
            .context("cannot start the C program")?;
        if !output.status.success() {
            bail!("the C program failed: {}", output.status);
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse::<f64>().ok()? * 1e-3))
        };
        Ok(text.lines().filter_map(line).collect())
    }
}

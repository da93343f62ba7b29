//! Files that several subcommands read.

use anyhow::{Context, Result};
use oxeye_dataset::journal::read_journal;
use oxeye_dataset::record::Record;
use oxeye_dataset::table;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The records of all files; the first of several with one id.
pub(crate) fn read_all(inputs: &[PathBuf]) -> Result<Vec<Record>> {
    let mut seen = BTreeSet::new();
    let mut records = Vec::new();
    for path in inputs {
        let found = read(path).with_context(|| format!("no nests from {}", path.display()))?;
        records.extend(
            found.into_iter().filter(|r| seen.insert((r.nest.seed, r.nest.id.clone(), r.cpu.clone()))),
        );
    }
    Ok(records)
}

fn read(path: &Path) -> Result<Vec<Record>> {
    if path.extension().is_some_and(|e| e == "jsonl") {
        Ok(read_journal(path)?)
    } else {
        Ok(table::read(path)?)
    }
}

/// The hashes of a file, one per line.
pub(crate) fn excluded(path: Option<&Path>) -> Result<BTreeSet<String>> {
    let Some(path) = path else { return Ok(BTreeSet::new()) };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

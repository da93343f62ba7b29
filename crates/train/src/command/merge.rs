//! `oxeye-train merge` and `oxeye-train stats`

use super::database::excluded;
use super::shard::Shard;
use anyhow::{Context, Result};
use oxeye_train::dataset::{self, Statistics};
use oxeye_train::journal::read_journal;
use oxeye_train::record::Record;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct MergeArgs {
    /// Datasets (`.parquet`) and journals (`.jsonl`).
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The dataset to write.
    #[arg(long, short)]
    out: PathBuf,
    /// A file of hashes of normal forms, one a line in hexadecimal: nests with these are left out.
    #[arg(long)]
    exclude: Option<PathBuf>,
    /// Only the i-th of n parts, i from 0; spellings of one computation stay together.
    #[arg(long, default_value = "0/1", value_name = "I/N")]
    shard: Shard,
}

#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {
    /// Datasets (`.parquet`) and journals (`.jsonl`).
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
}

pub(crate) fn merge(args: &MergeArgs) -> Result<()> {
    let mut records = read_all(&args.inputs)?;
    let excluded = excluded(args.exclude.as_deref())?;
    let n = records.len();
    records.retain(|r| !excluded.contains(&r.normal_hash));
    eprintln!("{} nests left out", n - records.len());
    let records = args.shard.of(records, |record| &record.nest.group);
    dataset::write(&args.out, &records)?;
    println!("{} nests in {}", records.len(), args.out.display());
    Ok(())
}

pub(crate) fn stats(args: &StatsArgs) -> Result<()> {
    print!("{}", Statistics::of(&read_all(&args.inputs)?));
    Ok(())
}

/// The records of all files; of several with one id the first.
pub(crate) fn read_all(inputs: &[PathBuf]) -> Result<Vec<Record>> {
    let mut seen = BTreeSet::new();
    let mut records = Vec::new();
    for path in inputs {
        let found = read(path).with_context(|| format!("cannot read {}", path.display()))?;
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
        Ok(dataset::read(path)?)
    }
}

//! `oxeye-train merge` and `oxeye-train stats`

use super::input::{excluded, read_all};
use super::shard::Shard;
use anyhow::Result;
use oxeye_dataset::statistics::Statistics;
use oxeye_dataset::table;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(crate) struct MergeArgs {
    /// Datasets (`.parquet`) and journals (`.jsonl`).
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The dataset to write.
    #[arg(long, short)]
    out: PathBuf,
    /// A file of hashes of normal forms, one per line in hexadecimal: nests with these are left out.
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
    table::write(&args.out, &records)?;
    println!("{} nests in {}", records.len(), args.out.display());
    Ok(())
}

pub(crate) fn stats(args: &StatsArgs) -> Result<()> {
    print!("{}", Statistics::of(&read_all(&args.inputs)?));
    Ok(())
}

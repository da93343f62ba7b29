//! `oxeye-train database`

use super::input::{excluded, read_all};
use anyhow::{Context, Result, bail};
use oxeye::Embedder;
use oxeye_database::{NewEntry, Origin, Timestamp, parse_line};
use oxeye_dataset::recipes::{Harvest, Source, chosen_trials, embed_entry, harvest, write_entries};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Datasets (`.parquet`) and journals (`.jsonl`).
    #[arg(requires = "date")]
    inputs: Vec<PathBuf>,
    /// An exchange file of searches; the best trials of every nest are taken, and a few of the worst. May be repeated.
    #[arg(long)]
    trials: Vec<PathBuf>,
    /// A file of hashes of normal forms, one per line in hexadecimal: nests with these are left out.
    #[arg(long)]
    exclude: Option<PathBuf>,
    /// When the datasets were measured, such as 2026-11-21T00:00:00Z.
    #[arg(long)]
    date: Option<Timestamp>,
    /// Weights of the encoder that embeds the nests; without it entries have no embeddings.
    #[arg(long)]
    encoder: Option<PathBuf>,
    /// The database to write, or an exchange file if the name ends in `.jsonl`.
    #[arg(long, short)]
    out: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let excluded = excluded(args.exclude.as_deref())?;
    let embedder = args.encoder.as_deref().map(embedder).transpose()?;
    let mut entries = Vec::new();
    if let Some(measured_at) = args.date {
        let source = Source { name: name_of(&args.inputs), measured_at, embedder: embedder.as_ref() };
        let harvest = harvest(&read_all(&args.inputs)?, &excluded, &source);
        tell(&harvest);
        entries.extend(harvest.entries);
    }
    for path in &args.trials {
        let found = trials(path, &excluded)?;
        let chosen = chosen_trials(&found);
        println!("{} of {} trials in {}", chosen.len(), found.len(), path.display());
        for mut entry in chosen.into_iter().cloned() {
            match &embedder {
                Some(embedder) => embed_entry(&mut entry, embedder)
                    .map_err(|why| anyhow::anyhow!("{}, nest {}: {why}", path.display(), entry.nest.hash))?,
                None => entry.embedding = None,
            }
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        bail!("there is nothing to write: no nest was measured, or all are left out");
    }
    let n = write_entries(entries, &args.out)?;
    let bytes = std::fs::metadata(&args.out).map_or(0, |m| m.len());
    println!("{n} entries in {}, {:.1} MB", args.out.display(), bytes as f64 * 1e-6);
    Ok(())
}

fn embedder(path: &Path) -> Result<Embedder> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Embedder::from_bytes(&bytes).with_context(|| format!("no encoder of this version: {}", path.display()))
}

fn tell(harvest: &Harvest) {
    let Harvest { entries, n_nests, n_excluded, n_repeated, noise, unusable_reason } = harvest;
    println!(
        "{} entries of {n_nests} measured nests; {n_excluded} nests left out, {n_repeated} other spellings",
        entries.len()
    );
    println!("gains and losses are beyond {noise:.1} %, which nine in ten repetitions stay within");
    for (why, n) in unusable_reason {
        println!("{n} x {why}");
    }
}

/// The file names of the datasets.
fn name_of(inputs: &[PathBuf]) -> String {
    inputs.iter().map(|path| short_name(path)).collect::<Vec<_>>().join(", ")
}

fn short_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The trials of an exchange file as shipped entries, without nests that are left out.
fn trials(path: &Path, excluded: &BTreeSet<String>) -> Result<Vec<NewEntry>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut entries = Vec::new();
    let mut n_excluded = 0;
    for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let parsed = parse_line(line.as_bytes());
        let mut entry = match parsed {
            Ok(addition) => addition.content,
            Err(reason) => bail!("{}, line {}: {reason}", path.display(), idx + 1),
        };
        if excluded.contains(&entry.nest.hash) {
            n_excluded += 1;
            continue;
        }
        entry.provenance.origin = Origin::Shipped;
        entry.provenance.imported_from.get_or_insert_with(|| short_name(path));
        entries.push(entry);
    }
    if n_excluded > 0 {
        println!("{n_excluded} trials of {} left out", path.display());
    }
    Ok(entries)
}

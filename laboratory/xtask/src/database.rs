//! `cargo xtask database`: the recipe database that is part of Oxeye, `models/recipes.sqlite`.
//!
//! Its entries come from the measured dataset and from searches (`cargo xtask textbook`). Nests of
//! `benchmarks/kernels`, with which Oxeye is evaluated, are left out: `models/excluded.txt` lists the hashes of their
//! normal forms.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use oxeye_evaluation::{Verdict, repository};

use crate::excluded;

/// Options of `cargo xtask database`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Measured datasets (`.parquet`) and journals (`.jsonl`)
    #[arg(long, value_delimiter = ',', default_value = "models/dataset.parquet")]
    data: Vec<PathBuf>,
    /// Exchange files of searches; missing ones are skipped
    #[arg(long, value_delimiter = ',', default_value = "models/textbook.jsonl")]
    trials: Vec<PathBuf>,
    /// Weights of the encoder that embeds the nests
    #[arg(long, default_value = "models/encoder.safetensors")]
    encoder: PathBuf,
    /// When the datasets were measured
    #[arg(long, default_value = "2026-11-21T00:00:00Z")]
    date: String,
    /// The database to write, or an exchange file if the name ends in `.jsonl`
    #[arg(long, default_value = "models/recipes.sqlite")]
    out: PathBuf,
    /// Only write the list of excluded normal forms
    #[arg(long)]
    only_excluded: bool,
}

/// Hashes of normal forms that neither dataset nor database may contain, one per line.
pub(crate) const EXCLUDED: &str = "models/excluded.txt";

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let excluded = root.join(EXCLUDED);
    let text = excluded_text(&root)?;
    std::fs::write(&excluded, &text).with_context(|| format!("cannot write {}", excluded.display()))?;
    eprintln!("{} normal forms of benchmarks/kernels in {}", text.lines().count(), excluded.display());
    if args.only_excluded {
        return Ok(Verdict::Good);
    }
    let train = repository::build_binary("oxeye-train")?;
    let mut command = Command::new(&train);
    command.current_dir(&root).arg("database").args(&args.data).arg("--exclude").arg(&excluded);
    for trials in args.trials.iter().filter(|path| root.join(path).exists()) {
        command.arg("--trials").arg(trials);
    }
    command.arg("--encoder").arg(&args.encoder).arg("--date").arg(&args.date).arg("--out").arg(&args.out);
    let status = command.status().with_context(|| format!("cannot start {}", train.display()))?;
    if !status.success() {
        bail!("oxeye-train database ended with {status}");
    }
    Ok(Verdict::Good)
}

/// The hashes of the corpus, one per line.
fn excluded_text(root: &Path) -> Result<String> {
    let hashes = excluded::of_corpus(&root.join("benchmarks/kernels"))?;
    Ok(hashes.into_iter().map(|hash| hash + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_database::{Order, RecipeStore, SqliteStore};
    use std::collections::BTreeSet;

    #[test]
    fn the_list_of_what_is_left_out_is_current() {
        let root = repository::root();
        let written = std::fs::read_to_string(root.join(EXCLUDED)).expect("the list");
        let current = excluded_text(&root).expect("the corpus can be read");
        assert!(written == current, "run `cargo xtask database --only-excluded`");
        assert!(current.lines().count() > 100);
    }

    #[test]
    fn the_default_database_knows_nothing_of_the_corpus() {
        let path = repository::root().join("models/recipes.sqlite");
        if !path.exists() {
            return;
        }
        let excluded = excluded_text(&repository::root()).expect("the corpus can be read");
        let excluded: BTreeSet<&str> = excluded.lines().collect();
        let store = SqliteStore::open_read_only(&path).expect("a database");
        for entry in store.entries(Order::OldestFirst) {
            let entry = entry.expect("reads");
            assert!(!excluded.contains(entry.content.nest.hash.as_str()), "{}", entry.id);
        }
    }
}

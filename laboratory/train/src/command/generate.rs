//! `oxeye-train generate`

use anyhow::{Context, Result};
use oxeye_dataset::generate::generate;
use oxeye_dataset::nest::{Family, write_nests};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Equal seeds give equal nests.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of nests, all spellings counted.
    #[arg(long, short, default_value_t = 1000)]
    n: usize,
    /// The file to write, one JSON object per line.
    #[arg(long, short, default_value = "nests.jsonl")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let nests = generate(args.seed, args.n);
    write_nests(&args.out, &nests).context("no nests were written")?;
    for family in Family::ALL {
        let of_family = || nests.iter().filter(|n| n.family == family);
        let n_first = of_family().filter(|n| n.id == n.group).count();
        let seconds: f64 = of_family().map(|n| n.estimated_seconds).sum();
        println!(
            "{family:12} {:5} nests of {n_first:5} computations, {seconds:7.1} s by estimate",
            of_family().count()
        );
    }
    Ok(())
}

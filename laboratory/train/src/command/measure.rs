//! `oxeye-train measure`

use super::shard::Shard;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use oxeye_dataset::journal::{Journal, read_journal};
use oxeye_dataset::measure::{MeasureOptions, MeasuredHost, measure};
use oxeye_dataset::nest::{GeneratedNest, read_nests};
use oxeye_dataset::record::{Record, Status};
use oxeye_dataset::table;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Nests from `generate`.
    nests: PathBuf,
    /// The dataset to write; the journal lies beside it, with the extension `.jsonl`.
    #[arg(long, short, default_value = "dataset.parquet")]
    out: PathBuf,
    /// Only the i-th of n parts, i from 0; spellings of one computation stay together.
    #[arg(long, default_value = "0/1", value_name = "I/N")]
    shard: Shard,
    /// Start no nest after this many seconds.
    #[arg(long)]
    limit_seconds: Option<f64>,
    /// Seconds for timing the versions of one nest.
    #[arg(long, default_value_t = 2.0)]
    timing_seconds: f64,
    /// Threads of parallel loops; all cores if not given.
    #[arg(long)]
    threads: Option<u32>,
    /// Apply the panel to nests as generated instead of their normal forms.
    #[arg(long)]
    as_generated: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let nests = args.shard.of(read_nests(&args.nests)?, |nest| &nest.group);
    if nests.is_empty() {
        bail!("there are no nests in this shard of {}", args.nests.display());
    }
    let mut options = MeasureOptions {
        timing_seconds: args.timing_seconds,
        as_generated: args.as_generated,
        limit: args.limit_seconds.map(Duration::from_secs_f64),
        ..MeasureOptions::default()
    };
    options.threads = args.threads.unwrap_or(options.threads);
    let host = MeasuredHost::this_machine(options.threads);
    let mut journal = Journal::open(&args.out.with_extension("jsonl"))?;
    let n_before = nests.iter().filter(|n| journal.has(&n.id)).count();
    let bar = ProgressBar::new(nests.len() as u64).with_position(n_before as u64).with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} nests, {elapsed} of {duration}, {wide_msg}")
            .context("the bar's template")?,
    );
    bar.reset_eta();
    let mut tell = |nest: &GeneratedNest, record: Option<&Record>| match record {
        None => bar.set_message(nest.id.clone()),
        Some(record) => {
            bar.inc(1);
            bar.println(summary(record));
        }
    };
    measure(&nests, &host, &options, &mut journal, &mut tell)?;
    bar.finish_and_clear();
    let of_shard: BTreeSet<&str> = nests.iter().map(|n| n.id.as_str()).collect();
    let mut records = read_journal(&args.out.with_extension("jsonl"))?;
    records.retain(|r| of_shard.contains(r.nest.id.as_str()));
    table::write(&args.out, &records)?;
    println!("{} of {} nests are in {}", records.len(), nests.len(), args.out.display());
    Ok(())
}

/// One line about a nest.
fn summary(record: &Record) -> String {
    let id = &record.nest.id;
    if let Some(why) = &record.failure {
        return format!("{id}: {why}");
    }
    if let Some(other) = &record.same_form_as {
        return format!("{id}: has the normal form of {other}");
    }
    let timed = record.panel.iter().filter(|r| r.status == Status::Timed);
    let versions = timed.clone().filter(|r| r.same_as.is_none()).count();
    let ms = |seconds: Option<f64>| seconds.unwrap_or(0.0) * 1e3;
    let best = timed.clone().filter_map(|r| r.seconds).fold(f64::INFINITY, f64::min);
    let [judged, compiled, run] = record.cost;
    format!(
        "{id}: {:.2} ms, normal form {:.2}, best {:.2} of {} templates in {versions} versions \
         ({judged:.1} + {compiled:.1} + {run:.1} s)",
        ms(record.source_seconds),
        ms(record.subject_seconds()),
        best * 1e3,
        timed.count(),
    )
}

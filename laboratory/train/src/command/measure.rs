//! `oxeye-train measure`

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use oxeye_dataset::elsewhere;
use oxeye_dataset::journal::{Journal, read_journal};
use oxeye_dataset::measure::{MeasureOptions, MeasuredHost, measure};
use oxeye_dataset::nest::{GeneratedNest, read_nests};
use oxeye_dataset::record::{Record, Status};
use oxeye_dataset::table;
use oxeye_nodes::{NodesArgs, Worked};
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
    /// Start no nest after this many seconds.
    #[arg(long)]
    limit_seconds: Option<f64>,
    /// Seconds for timing the versions of one nest.
    #[arg(long, default_value_t = 2.0)]
    timing_seconds: f64,
    /// Threads of parallel loops; all cores if not given, or the part of them that --local-shards leaves.
    #[arg(long)]
    threads: Option<u32>,
    /// Apply the panel to nests as generated instead of their normal forms.
    #[arg(long)]
    as_generated: bool,
    #[command(flatten)]
    nodes: NodesArgs,
}

/// Measures for an `oxeye-train measure` that runs elsewhere.
#[derive(clap::Args, Debug)]
pub(crate) struct WorkerArgs {
    /// The folder that both see.
    folder: PathBuf,
    /// What this node is called; its name, and the number of the process if not given.
    #[arg(long)]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let nests = read_nests(&args.nests)?;
    if nests.is_empty() {
        bail!("there are no nests in {}", args.nests.display());
    }
    let mut options = MeasureOptions {
        timing_seconds: args.timing_seconds,
        as_generated: args.as_generated,
        limit: args.limit_seconds.map(Duration::from_secs_f64),
        ..MeasureOptions::default()
    };
    options.threads = args.nodes.threads(args.threads, options.threads);
    let nodes = args.nodes.start("oxeye-train worker")?;
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
    match &nodes {
        Some(nodes) => elsewhere::measure_on(nodes, &nests, &options, &mut journal, &mut tell)?,
        None => {
            let host = MeasuredHost::this_machine(options.threads);
            measure(&nests, &host, &options, &mut journal, &mut tell)?
        }
    };
    bar.finish_and_clear();
    let of_file: BTreeSet<&str> = nests.iter().map(|n| n.id.as_str()).collect();
    let mut records = read_journal(&args.out.with_extension("jsonl"))?;
    records.retain(|r| of_file.contains(r.nest.id.as_str()));
    table::write(&args.out, &records)?;
    println!("{} of {} nests are in {}", records.len(), nests.len(), args.out.display());
    Ok(())
}

/// Runs `oxeye-train worker`.
pub(crate) fn work(args: &WorkerArgs) -> Result<()> {
    let Worked { node, finished, aside } = elsewhere::work(&args.folder, args.name.as_deref(), &|| false)?;
    match aside {
        Some(why) => bail!("{node} is set aside: {why}"),
        None => println!("{node}: {finished} computations measured"),
    }
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

//! `oxeye-train train` and `oxeye-train evaluate`

use super::merge::read_all;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use oxeye_embed::{ModelInfo, Weights};
use oxeye_train::card::Card;
use oxeye_train::curves::{self, Epoch};
use oxeye_train::dataset::Statistics;
use oxeye_train::example::Example;
use oxeye_train::metrics::Metrics;
use oxeye_train::model::{
    TorchEncoder, TrainOptions, Trained, architecture, is_held_out, n_groups, predict, train,
};
use oxeye_train::nest::{Family, read_nests};
use oxeye_train::record::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Datasets (`.parquet`) and journals (`.jsonl`).
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Where to write the weights; card and curves lie beside them.
    #[arg(long, short, default_value = "models/encoder.safetensors")]
    out: PathBuf,
    #[command(flatten)]
    how: How,
    /// Keep every epoch in this folder, and go on from there after an interruption.
    #[arg(long)]
    checkpoints: Option<PathBuf>,
    /// Nests from `generate` to begin with; they need not have been measured.
    #[arg(long)]
    pretrain: Option<PathBuf>,
    /// Also train without each family in turn and put what comes of that on the card.
    #[arg(long)]
    leave_out: bool,
}

#[derive(clap::Args, Debug)]
struct How {
    /// Equal seeds and data give equal weights, up to rounding.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Most passes over the data.
    #[arg(long, default_value_t = TrainOptions::default().epochs)]
    epochs: usize,
    /// Passes over unlabelled nests before them.
    #[arg(long, default_value_t = 10)]
    pretrain_epochs: usize,
    /// Stop when the held-out loss has not improved for so many epochs.
    #[arg(long, default_value_t = TrainOptions::default().patience)]
    patience: usize,
    /// Nests a step.
    #[arg(long, default_value_t = TrainOptions::default().batch)]
    batch: usize,
    /// Greatest step size.
    #[arg(long, default_value_t = TrainOptions::default().rate)]
    rate: f64,
    /// Weight decay.
    #[arg(long, default_value_t = TrainOptions::default().decay)]
    decay: f64,
    /// Hold out this family instead of every tenth computation.
    #[arg(long, value_parser = family)]
    hold_out: Option<Family>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct EvaluateArgs {
    /// Datasets (`.parquet`) and journals (`.jsonl`).
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Weights to evaluate.
    #[arg(long, short, default_value = "models/encoder.safetensors")]
    model: PathBuf,
    /// All nests, not only every tenth computation, which training holds out.
    #[arg(long)]
    all: bool,
    /// Give the profile of a run.
    #[arg(long)]
    profiled: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn family(name: &str) -> Result<Family, String> {
    let names = || Family::ALL.map(Family::name).join(", ");
    Family::from_name(name).ok_or_else(|| format!("the families are {}", names()))
}

impl How {
    fn options(&self, unlabelled: bool) -> TrainOptions {
        TrainOptions {
            seed: self.seed,
            epochs: self.epochs,
            pretrain_epochs: if unlabelled { self.pretrain_epochs } else { 0 },
            patience: self.patience,
            batch: self.batch,
            rate: self.rate,
            decay: self.decay,
            hold_out: self.hold_out,
            ..TrainOptions::default()
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let records = read_all(&args.data)?;
    let examples = examples(&records)?;
    let unlabelled = match &args.pretrain {
        None => Vec::new(),
        Some(path) => unlabelled(path, &records, &examples)?,
    };
    let options = args.how.options(!unlabelled.is_empty());
    let version = records.iter().map(|r| r.panel_version).max().unwrap_or(0);
    let model_id = format!("seed{}-{}nests-panel{version}", options.seed, examples.len());
    let info = ModelInfo::new(model_id, version.to_string(), architecture(&examples));
    eprintln!("{} nests of {} computations", examples.len(), n_groups(&examples));
    let trained = one(&examples, &unlabelled, &info, &options, args.checkpoints.as_deref())?;
    let mut left_out = BTreeMap::new();
    if args.leave_out {
        let families: BTreeSet<Family> = examples.iter().map(|e| e.family).collect();
        for family in families {
            let options = TrainOptions { hold_out: Some(family), ..options.clone() };
            let folder = args.checkpoints.as_ref().map(|f| f.join(family.name()));
            eprintln!("without {family}");
            let trained = one(&examples, &unlabelled, &info, &options, folder.as_deref())?;
            left_out.insert(family, trained.held_out);
        }
    }
    write(args, &records, &info, &options, &trained, &left_out)
}

/// Trains with a progress bar.
fn one(
    examples: &[Example],
    unlabelled: &[Example],
    info: &ModelInfo,
    options: &TrainOptions,
    checkpoints: Option<&Path>,
) -> Result<Trained> {
    let bar = ProgressBar::new(options.epochs as u64).with_style(ProgressStyle::with_template(
        "{bar:30} epoch {pos}/{len}, {elapsed} of {duration}, {wide_msg}",
    )?);
    let mut tell = |epoch: &Epoch| {
        bar.set_position(epoch.epoch as u64);
        bar.set_message(format!(
            "loss {:.3}, held out {:.3}, Spearman {:.3}, MAPE {:.2}",
            epoch.loss, epoch.held_out_loss, epoch.spearman, epoch.mape
        ));
    };
    let trained = train(examples, unlabelled, info.clone(), options, checkpoints, &mut tell)?;
    bar.finish_and_clear();
    let m = &trained.held_out;
    eprintln!(
        "{} epochs; held out: Spearman {:.3}, within nests {:.3}, MAPE {:.3}, median {:.3}, top 3 {:.3}",
        trained.epochs.len(),
        m.spearman,
        m.spearman_within,
        m.mape,
        m.median_ape,
        m.top3
    );
    Ok(trained)
}

/// Weights, curves, and card.
fn write(
    args: &Args,
    records: &[Record],
    info: &ModelInfo,
    options: &TrainOptions,
    trained: &Trained,
    left_out: &BTreeMap<Family, Metrics>,
) -> Result<()> {
    if let Some(folder) = args.out.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    trained.weights.save(&args.out)?;
    let beside = |name: &str| args.out.with_extension(name);
    std::fs::write(beside("csv"), curves::csv(&trained.epochs))?;
    std::fs::write(beside("svg"), curves::svg(&trained.epochs))?;
    let data = Statistics::of(records);
    let machines: BTreeSet<String> =
        records.iter().map(|r| format!("{} with {} threads", r.cpu, r.threads)).collect();
    let compilers: BTreeSet<String> = records.iter().map(|r| format!("{} {}", r.compiler, r.flags)).collect();
    let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join("; ");
    let best = (1..=trained.epochs.len())
        .min_by(|a, b| trained.epochs[a - 1].held_out_loss.total_cmp(&trained.epochs[b - 1].held_out_loss));
    let card = Card {
        info,
        data: &data,
        n_nests: trained.n_nests,
        held_out: options.hold_out.map_or("every tenth computation".into(), |f| format!("the family {f}")),
        epochs: (trained.epochs.len(), best.unwrap_or(0)),
        metrics: [&trained.held_out, &trained.held_out_profiled],
        measured: format!("measured on {} by {}", list(machines), list(compilers)),
        command: std::env::args()
            .enumerate()
            .map(|(k, a)| if k == 0 { "oxeye-train".into() } else { a })
            .collect::<Vec<_>>()
            .join(" "),
        options: serde_json::json!(options).to_string(),
        left_out,
    };
    std::fs::write(beside("md"), card.markdown())?;
    println!("{}", args.out.display());
    Ok(())
}

pub(crate) fn evaluate(args: &EvaluateArgs) -> Result<()> {
    let examples = examples(&read_all(&args.data)?)?;
    let weights = Weights::load(&args.model)?;
    let panel = weights.info().architecture.panel;
    if examples.iter().any(|e| e.log_speedups.len() != panel) {
        bail!("{} is for a panel of {panel} templates, the data is not", args.model.display());
    }
    let encoder = TorchEncoder::new(&weights, tch::Device::cuda_if_available())?;
    let options = TrainOptions::default();
    let chosen: Vec<&Example> = examples.iter().filter(|e| args.all || is_held_out(e, &options)).collect();
    let guesses = predict(&encoder, &chosen, args.profiled, options.batch);
    let all = Metrics::of(&chosen, &guesses);
    let families = Metrics::by_family(&chosen, &guesses);
    if args.json {
        println!("{}", serde_json::json!({ "all": all, "families": families }));
        return Ok(());
    }
    println!("family        nests  responses  Spearman  within   MAPE  median  applicable  top 3");
    let row = |name: &str, m: &Metrics| {
        println!(
            "{name:12} {:6} {:10} {:9.3} {:7.3} {:6.3} {:7.3} {:11.3} {:6.3}",
            m.n_nests,
            m.n_responses,
            m.spearman,
            m.spearman_within,
            m.mape,
            m.median_ape,
            m.applicable_accuracy,
            m.top3
        );
    };
    families.iter().for_each(|(family, m)| row(family.name(), m));
    row("all", &all);
    println!("\nMAPE by template");
    all.mape_by_template.iter().enumerate().skip(1).for_each(|(t, error)| println!("  t{t:02} {error:.3}"));
    Ok(())
}

fn examples(records: &[Record]) -> Result<Vec<Example>> {
    let mut examples = Vec::new();
    for record in records {
        examples.extend(Example::of(record)?);
    }
    if examples.is_empty() {
        bail!("no nest of the data has measurements");
    }
    Ok(examples)
}

/// Nests that were not measured, as if on the machine of the data; those that were are left out.
fn unlabelled(path: &Path, records: &[Record], examples: &[Example]) -> Result<Vec<Example>> {
    let known: BTreeSet<(u64, &str)> = records.iter().map(|r| (r.nest.seed, r.nest.group.as_str())).collect();
    let host = &records.first().context("there is no data")?.host;
    let nests = read_nests(path)?;
    let width = examples[0].log_speedups.len();
    let unknown = nests.iter().filter(|n| !known.contains(&(n.seed, n.group.as_str())));
    unknown.map(|nest| Ok(Example::unlabelled(nest, host, width)?)).collect()
}

//! `oxeye-train train` and `oxeye-train evaluate`

use super::input::read_all;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use oxeye_dataset::nest::{Family, read_nests};
use oxeye_dataset::record::Record;
use oxeye_dataset::statistics::Statistics;
use oxeye_embed::{ModelInfo, Weights};
use oxeye_train::card::Card;
use oxeye_train::curves::{self, Epoch};
use oxeye_train::donors::{Choice, Nearest, Vectors, choices, far, nearest};
use oxeye_train::example::Example;
use oxeye_train::metrics::{Floor, Metrics, PanelGuess};
use oxeye_train::model::{
    LossWeights, TorchEncoder, TrainOptions, Trained, architecture, embeddings, is_held_out, n_groups,
    predict, train,
};
use oxeye_train::versions::versions_of_all;
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
    /// Keep every epoch in this folder, and resume from there after an interruption.
    #[arg(long)]
    checkpoints: Option<PathBuf>,
    /// Nests from `generate` for pretraining; they need not be measured.
    #[arg(long)]
    pretrain: Option<PathBuf>,
    /// Also train without each family in turn and put the results on the card; this also finds how far donors may be.
    #[arg(long)]
    leave_out: bool,
    #[command(flatten)]
    cache: Cache,
}

#[derive(clap::Args, Debug)]
struct Cache {
    /// Where the features of the versions of nests are kept [default: beside the first file of data].
    #[arg(long)]
    versions: Option<PathBuf>,
    /// Threads that compute them.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

#[derive(clap::Args, Debug)]
struct How {
    /// Equal seeds and data give equal weights, up to rounding.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Passes over the data.
    #[arg(long, default_value_t = TrainOptions::default().epochs)]
    epochs: usize,
    /// Passes over unlabelled nests before them.
    #[arg(long, default_value_t = 10)]
    pretrain_epochs: usize,
    /// Further passes for the predictions for schedules alone.
    #[arg(long, default_value_t = TrainOptions::default().head_epochs)]
    head_epochs: usize,
    /// Nests per step.
    #[arg(long, default_value_t = TrainOptions::default().batch)]
    batch: usize,
    /// Largest step size.
    #[arg(long, default_value_t = TrainOptions::default().rate)]
    rate: f64,
    /// Weight decay.
    #[arg(long, default_value_t = TrainOptions::default().decay)]
    decay: f64,
    /// Dropout of the predictions for schedules.
    #[arg(long, default_value_t = TrainOptions::default().dropout)]
    dropout: f64,
    /// Noise added to features of schedules, in units of their spread.
    #[arg(long, default_value_t = TrainOptions::default().jitter)]
    jitter: f64,
    /// Share of steps in which predictions for schedules do not see the nest's embedding.
    #[arg(long, default_value_t = TrainOptions::default().without_context)]
    without_context: f64,
    /// Weight of the relative error of predicted speedups.
    #[arg(long, default_value_t = TrainOptions::default().weights.relative)]
    relative: f64,
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
    /// Evaluate on all nests, not only on the held-out tenth.
    #[arg(long)]
    all: bool,
    /// Use the profiles of runs.
    #[arg(long)]
    profiled: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cache: Cache,
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
            head_epochs: self.head_epochs,
            batch: self.batch,
            rate: self.rate,
            decay: self.decay,
            dropout: self.dropout,
            jitter: self.jitter,
            without_context: self.without_context,
            hold_out: self.hold_out,
            weights: LossWeights { relative: self.relative, ..LossWeights::default() },
            ..TrainOptions::default()
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let records = read_all(&args.data)?;
    let examples = examples(&records, &args.data, &args.cache)?;
    let unlabelled = match &args.pretrain {
        None => Vec::new(),
        Some(path) => unlabelled(path, &records, &examples)?,
    };
    let options = args.how.options(!unlabelled.is_empty());
    let version = records.iter().map(|r| r.panel_version).max().unwrap_or(0);
    let model_id = format!("seed{}-{}nests-panel{version}", options.seed, examples.len());
    let info = ModelInfo::new(model_id, version.to_string(), architecture(&examples));
    eprintln!("{} nests of {} computations", examples.len(), n_groups(&examples));
    let mut trained = one(&examples, &unlabelled, &info, &options, args.checkpoints.as_deref())?;
    let mut left_out = LeftOut::default();
    if args.leave_out {
        let families: BTreeSet<Family> = examples.iter().map(|e| e.family).collect();
        for family in families {
            let options = TrainOptions { hold_out: Some(family), ..options.clone() };
            let folder = args.checkpoints.as_ref().map(|f| f.join(family.name()));
            eprintln!("without {family}");
            let trained = one(&examples, &unlabelled, &info, &options, folder.as_deref())?;
            left_out.add(family, &examples, &options, &trained)?;
        }
        let info = ModelInfo { far: far(&left_out.nearest), ..info.clone() };
        trained.weights = TorchEncoder::new(&trained.weights, tch::Device::Cpu)?.weights(info)?;
    }
    write(args, &records, &options, &trained, &left_out.finished(&examples))
}

/// Results of training without each family.
#[derive(Default)]
struct LeftOut<'a> {
    metrics: BTreeMap<Family, [Metrics; 2]>,
    /// All nests, each with the predictions of the model that did not see its family.
    nests: Vec<&'a Example>,
    guesses: [Vec<PanelGuess>; 2],
    nearest: Vec<Nearest>,
    /// Ways to choose, with the number of nests.
    choices: Vec<(usize, Vec<Choice>)>,
}

/// The same over all families.
struct Finished {
    metrics: BTreeMap<Family, [Metrics; 2]>,
    all: Option<[Metrics; 2]>,
    choices: Vec<Choice>,
}

impl<'a> LeftOut<'a> {
    fn add(
        &mut self,
        family: Family,
        examples: &'a [Example],
        options: &TrainOptions,
        trained: &Trained,
    ) -> Result<()> {
        let encoder = TorchEncoder::new(&trained.weights, tch::Device::cuda_if_available())?;
        let (nests, donors): (Vec<&Example>, Vec<&Example>) =
            examples.iter().partition(|e| is_held_out(e, options));
        let vectors = |name: &'static str, profiled: bool| Vectors {
            name,
            donors: embeddings(&encoder, &donors, profiled, options.batch),
            nests: embeddings(&encoder, &nests, profiled, options.batch),
        };
        let learnt =
            [vectors("nearest by embedding", false), vectors("nearest by embedding with profile", true)];
        self.nearest.extend(nearest(&donors, &nests, &learnt[0]));
        let all: Vec<Vectors> = [Vectors::hand_made(&donors, &nests)].into_iter().chain(learnt).collect();
        let guesses = [false, true].map(|profiled| predict(&encoder, &nests, profiled, options.batch));
        self.choices.push((nests.len(), choices(&donors, &nests, &all, &guesses[0])));
        for (all, guesses) in self.guesses.iter_mut().zip(guesses) {
            all.extend(guesses);
        }
        self.nests.extend(nests);
        self.metrics.insert(family, [trained.held_out.clone(), trained.held_out_profiled.clone()]);
        Ok(())
    }

    fn finished(self, examples: &[Example]) -> Finished {
        let whole = self.nests.len() == examples.len();
        let all = whole.then(|| [0, 1].map(|k| Metrics::of(&self.nests, &self.guesses[k])));
        let n_nests: usize = self.choices.iter().map(|(n, _)| n).sum();
        let mean = |position: usize, of: fn(&Choice) -> f64| {
            let weighed = self.choices.iter().map(|(n, list)| *n as f64 * of(&list[position]));
            weighed.sum::<f64>() / n_nests as f64
        };
        let first = self.choices.first().map_or(&[][..], |(_, list)| list);
        let choices = first.iter().enumerate().map(|(position, choice)| Choice {
            name: choice.name.clone(),
            response_distance: choice
                .response_distance
                .map(|_| mean(position, |c| c.response_distance.unwrap_or(f64::NAN))),
            reached: mean(position, |c| c.reached),
        });
        let choices = choices.collect();
        Finished { metrics: self.metrics, all, choices }
    }
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
    options: &TrainOptions,
    trained: &Trained,
    left_out: &Finished,
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
    let card = Card {
        info: trained.weights.info(),
        data: &data,
        n_nests: trained.n_nests,
        held_out: options.hold_out.map_or("every tenth computation".into(), |f| format!("the family {f}")),
        epochs: trained.epochs.len(),
        metrics: [&trained.held_out, &trained.held_out_profiled],
        measured: format!("measured on {} by {}", list(machines), list(compilers)),
        command: std::env::args()
            .enumerate()
            .map(|(k, a)| if k == 0 { "oxeye-train".into() } else { a })
            .collect::<Vec<_>>()
            .join(" "),
        options: serde_json::json!(options).to_string(),
        left_out: &left_out.metrics,
        left_out_all: left_out.all.as_ref(),
        choices: &left_out.choices,
        floor: Floor::of(records),
    };
    std::fs::write(beside("md"), card.markdown())?;
    std::fs::write(beside("json"), format!("{:#}\n", card.json()))?;
    println!("{}", args.out.display());
    Ok(())
}

pub(crate) fn evaluate(args: &EvaluateArgs) -> Result<()> {
    let records = read_all(&args.data)?;
    let examples = examples(&records, &args.data, &args.cache)?;
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
        println!("{}", serde_json::json!({ "all": all, "families": families, "floor": Floor::of(&records) }));
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
    let floor = Floor::of(&records);
    println!(
        "second measurement against the first: {} speedups, Spearman {:.3}, MAPE {:.3}, median {:.3}",
        floor.n, floor.spearman, floor.mape, floor.median_ape
    );
    println!("\nMAPE by template");
    all.mape_by_template.iter().enumerate().skip(1).for_each(|(t, error)| println!("  t{t:02} {error:.3}"));
    Ok(())
}

fn examples(records: &[Record], data: &[PathBuf], cache: &Cache) -> Result<Vec<Example>> {
    let beside = data.first().map(|path| path.with_extension("versions.jsonl"));
    let file = cache.versions.clone().or(beside);
    let bar = ProgressBar::new(records.len() as u64).with_style(ProgressStyle::with_template(
        "{bar:30} schedules of nest {pos}/{len}, {elapsed} of {duration}",
    )?);
    let versions = versions_of_all(records, file.as_deref(), cache.jobs, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let mut examples = Vec::new();
    for (record, versions) in records.iter().zip(&versions) {
        examples.extend(Example::of(record, versions)?);
    }
    if examples.is_empty() {
        bail!("no nest of the data has measurements");
    }
    let timed = |e: &Example| e.log_speedups.iter().flatten().count();
    let lost: usize = examples.iter().map(|e| timed(e) - e.versions.iter().flatten().count()).sum();
    if lost > 0 {
        eprintln!("{lost} timed templates cannot be made again as they were measured");
    }
    Ok(examples)
}

/// The nests that were not measured, for the machine of the data.
fn unlabelled(path: &Path, records: &[Record], examples: &[Example]) -> Result<Vec<Example>> {
    let known: BTreeSet<(u64, &str)> = records.iter().map(|r| (r.nest.seed, r.nest.group.as_str())).collect();
    let host = &records.first().context("there is no data")?.host;
    let nests = read_nests(path)?;
    let width = examples[0].log_speedups.len();
    let unknown = nests.iter().filter(|n| !known.contains(&(n.seed, n.group.as_str())));
    unknown.map(|nest| Ok(Example::unlabelled(nest, host, width)?)).collect()
}

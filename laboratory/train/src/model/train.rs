//! The training loop.

use super::adamw::AdamW;
use super::batch::{Batch, Schedules, Targets};
use super::encoder::TorchEncoder;
use super::loss::{LossWeights, loss, schedule_losses};
use crate::curves::{Epoch, N_PARTS};
use crate::example::{Example, WORST};
use crate::metrics::{Metrics, PanelGuess};
use oxeye_dataset::nest::Family;
use oxeye_embed::{
    Architecture, EmbedError, FeatureList, ModelInfo, N_SCHEDULE, NestGraph, SCHEDULE_SCALE, SCHEDULE_SHIFT,
    ScheduleFeature, Weights,
};
use oxeye_random::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tch::{Device, TchError, Tensor};

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainOptions {
    /// Seed of the first weights and of the order of nests.
    pub seed: u64,
    /// Passes over the data.
    pub epochs: usize,
    /// Further passes for the predictions for schedules alone: embeddings do not change.
    pub head_epochs: usize,
    /// Passes over unlabelled nests before them.
    pub pretrain_epochs: usize,
    /// Nests per step.
    pub batch: usize,
    /// Largest step size; it rises over the first epochs and falls to zero along a cosine.
    pub rate: f64,
    /// Weight decay.
    pub decay: f64,
    /// Share of steps in which a nest's profile is given.
    pub profiled: f64,
    /// Share of steps in which predictions for schedules do not see the nest's embedding.
    pub without_context: f64,
    /// Dropout of the predictions for schedules.
    pub dropout: f64,
    /// Noise added to the features of schedules in a step, in units of their spread.
    pub jitter: f64,
    /// Objectives.
    pub weights: LossWeights,
    /// The family that is held out; without one, every tenth group.
    pub hold_out: Option<Family>,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            epochs: 25,
            head_epochs: 120,
            pretrain_epochs: 0,
            batch: 64,
            rate: 2e-3,
            decay: 1e-2,
            profiled: 0.5,
            without_context: 0.5,
            dropout: 0.1,
            jitter: 0.05,
            weights: LossWeights::default(),
            hold_out: None,
        }
    }
}

/// Training cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// There are too few examples.
    #[error("there are {training} nests to train on and {held_out} held out; at least one of each is needed")]
    TooFew {
        /// Examples to train on.
        training: usize,
        /// Held-out examples.
        held_out: usize,
    },
    /// The weights are invalid.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// An error of libtorch.
    #[error(transparent)]
    Torch(#[from] TchError),
    /// A checkpoint cannot be used.
    #[error("cannot use the checkpoint {}: {what}", path.display())]
    Checkpoint {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// A trained encoder.
pub struct Trained {
    /// The weights of the last epoch: no epoch is chosen by held-out examples.
    pub weights: Weights,
    /// All epochs.
    pub epochs: Vec<Epoch>,
    /// On the held-out nests, without profiles.
    pub held_out: Metrics,
    /// On the held-out nests, with profiles.
    pub held_out_profiled: Metrics,
    /// Nests to train on, and held out.
    pub n_nests: (usize, usize),
}

/// The contents of a checkpoint besides its tensors.
#[derive(Serialize, Deserialize)]
struct State {
    options: TrainOptions,
    model_id: String,
    epochs: Vec<Epoch>,
    steps: i32,
}

/// Whether an example is held out.
pub fn is_held_out(example: &Example, options: &TrainOptions) -> bool {
    match options.hold_out {
        Some(family) => example.family == family,
        None => {
            let mut rng =
                Rng::new(example.group.bytes().fold(0, |h, b| h * 31 % 1_000_003 + u64::from(b)), 1);
            rng.within(0, 9) == 0
        }
    }
}

/// Trains an encoder. With a folder for checkpoints, every epoch is saved there, and an interrupted run with the same
/// options is resumed; `progress` is called after every epoch.
///
/// # Errors
/// If there are no examples, or a checkpoint cannot be used.
pub fn train(
    examples: &[Example],
    unlabelled: &[Example],
    info: ModelInfo,
    options: &TrainOptions,
    checkpoints: Option<&Path>,
    progress: &mut dyn FnMut(&Epoch),
) -> Result<Trained, TrainError> {
    let (held_out, training): (Vec<&Example>, Vec<&Example>) =
        examples.iter().partition(|e| is_held_out(e, options));
    if training.is_empty() || held_out.is_empty() {
        return Err(TrainError::TooFew { training: training.len(), held_out: held_out.len() });
    }
    // A step consists of thousands of small operations: sharing each among threads costs more than it gains.
    tch::set_num_threads(1);
    let device = Device::cuda_if_available();
    let mut encoder = TorchEncoder::new(&first_weights(options.seed, &info, &training)?, device)?;
    let mut optimiser = AdamW::new(&encoder, options.decay);
    let mut epochs: Vec<Epoch> = Vec::new();
    match checkpoints.map(|folder| load(folder, options, &info)).transpose()?.flatten() {
        Some(saved) => {
            encoder = TorchEncoder::new(&saved.weights, device)?;
            optimiser.restore(saved.state.steps, saved.moments);
            epochs = saved.state.epochs;
        }
        None => {
            // Targets of nests that were not measured are estimates, good for a start only.
            let unlabelled: Vec<&Example> = unlabelled.iter().filter(|e| !is_held_out(e, options)).collect();
            for pass in 0..if unlabelled.is_empty() { 0 } else { options.pretrain_epochs } {
                let rng = Rng::new(options.seed, 1_000_000 + pass as u64);
                pass_over(&mut encoder, &mut optimiser, &unlabelled, options, options.rate / 2.0, rng);
            }
        }
    }
    while epochs.len() < options.epochs {
        let number = epochs.len() + 1;
        let rng = Rng::new(options.seed, number as u64);
        let (loss, parts) =
            pass_over(&mut encoder, &mut optimiser, &training, options, rate(options, number), rng);
        let guesses = predict(&encoder, &held_out, false, options.batch);
        let metrics = Metrics::of(&held_out, &guesses);
        let epoch = Epoch {
            epoch: number,
            loss,
            parts,
            held_out_loss: speedup_loss(&held_out, &guesses),
            spearman: metrics.spearman,
            mape: metrics.mape,
        };
        progress(&epoch);
        epochs.push(epoch);
        if let Some(folder) = checkpoints {
            save(folder, &encoder, &optimiser, options, &info, &epochs)?;
        }
    }
    head_passes(&mut encoder, &mut optimiser, &training, options);
    let metrics = |profiled| {
        let guesses = predict(&encoder, &held_out, profiled, options.batch);
        Metrics::of(&held_out, &guesses)
    };
    Ok(Trained {
        held_out: metrics(false),
        held_out_profiled: metrics(true),
        n_nests: (training.len(), held_out.len()),
        weights: encoder.weights(info)?,
        epochs,
    })
}

/// Uniform by the widths of layers (He et al., "Delving deep into rectifiers", 2015, with gain 1), norms at one, biases
/// at zero; predictions for schedules start at the model's estimate of their time.
fn first_weights(seed: u64, info: &ModelInfo, examples: &[&Example]) -> Result<Weights, EmbedError> {
    let shapes = info.architecture.tensors();
    let (shift, scale) = spread(examples);
    let hidden = info.architecture.cost;
    let estimate = ScheduleFeature::Seconds.index();
    // What the feature's transform divides log2 by.
    let per_feature = 16.0;
    let mut rng = Rng::new(seed, 0);
    Weights::new(info.clone(), |name| {
        let (_, shape) = shapes.iter().find(|(n, _)| n == name)?;
        let n: usize = shape.iter().product();
        Some(match shape.as_slice() {
            _ if name == SCHEDULE_SHIFT => shift.clone(),
            _ if name == SCHEDULE_SCALE => scale.clone(),
            [1, _] if name.starts_with("cost.") => {
                let mut weight = vec![0.0; n];
                weight[hidden + estimate] = per_feature / scale[estimate];
                weight
            }
            [1] if name.starts_with("cost.") => vec![per_feature * shift[estimate]],
            [_, n_in] => {
                let radius = (3.0 / *n_in as f64).sqrt();
                (0..n).map(|_| (radius * (2.0 * rng.unit() - 1.0)) as f32).collect()
            }
            _ if name.ends_with("norm.weight") => vec![1.0; n],
            _ => vec![0.0; n],
        })
    })
}

/// Mean of each feature of the schedules, and one over its standard deviation, which is at least a twentieth.
fn spread(examples: &[&Example]) -> (Vec<f32>, Vec<f32>) {
    let versions = || examples.iter().flat_map(|e| e.versions.iter().flatten());
    let n = versions().count().max(1) as f64;
    let of = |k: usize| {
        let mean = versions().map(|v| f64::from(v[k])).sum::<f64>() / n;
        let variance = versions().map(|v| (f64::from(v[k]) - mean).powi(2)).sum::<f64>() / n;
        (mean as f32, (1.0 / variance.sqrt().max(0.05)) as f32)
    };
    (0..N_SCHEDULE).map(of).unzip()
}

fn rate(options: &TrainOptions, epoch: usize) -> f64 {
    let warm = (epoch as f64 / 5.0).min(1.0);
    let done = epoch as f64 / (options.epochs + 1) as f64;
    options.rate * warm * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

/// One pass over the nests in random order, spellings of one computation in the same batch. Returns the mean loss and
/// its parts.
fn pass_over(
    encoder: &mut TorchEncoder,
    optimiser: &mut AdamW,
    examples: &[&Example],
    options: &TrainOptions,
    rate: f64,
    mut rng: Rng,
) -> (f64, [f64; N_PARTS]) {
    let mut groups: Vec<Vec<&Example>> = Vec::new();
    for example in examples {
        match groups.last_mut() {
            Some(group) if group[0].group == example.group => group.push(example),
            _ => groups.push(vec![example]),
        }
    }
    rng.shuffle(&mut groups);
    // Dropout uses libtorch's own random numbers.
    tch::manual_seed(rng.bits() as i64);
    let order: Vec<&Example> = groups.into_iter().flatten().collect();
    let (mut total, mut parts, mut n_batches) = (0.0, [0.0; N_PARTS], 0.0);
    for batch in order.chunks(options.batch.max(2)) {
        let profiled: Vec<bool> = batch.iter().map(|_| rng.chance(options.profiled)).collect();
        let graphs: Vec<NestGraph> = batch.iter().zip(&profiled).map(|(e, p)| graph_of(e, *p)).collect();
        let device = encoder.device();
        let union = Batch::of(&graphs.iter().collect::<Vec<_>>(), device);
        let targets = Targets::of(batch, device);
        let mut schedules = Schedules::of(batch, &profiled, device);
        schedules.jitter(options.jitter, encoder.scale(), &mut rng);
        let prediction = encoder.forward(&union);
        let context = seen_at_times(&prediction.context, options, &mut rng);
        let log2_seconds = encoder.log2_seconds(&context, &schedules, options.dropout);
        let loss = loss(&prediction, &log2_seconds, &schedules, &targets, batch, &options.weights);
        total += loss.total.double_value(&[]);
        parts.iter_mut().zip(loss.parts).for_each(|(sum, part)| *sum += part);
        n_batches += 1.0;
        optimiser.step(encoder, &loss.total, rate);
    }
    (total / n_batches, parts.map(|p| p / n_batches))
}

/// The context of each nest, or zeros.
fn seen_at_times(context: &Tensor, options: &TrainOptions, rng: &mut Rng) -> Tensor {
    let seen = |_| if rng.chance(options.without_context) { 0.0f32 } else { 1.0 };
    let seen: Vec<f32> = (0..context.size()[0]).map(seen).collect();
    context * Tensor::from_slice(&seen).to_device(context.device()).unsqueeze(1)
}

/// Trains the predictions for schedules, given embeddings that no longer change.
fn head_passes(
    encoder: &mut TorchEncoder,
    optimiser: &mut AdamW,
    examples: &[&Example],
    options: &TrainOptions,
) {
    let contexts = [false, true].map(|profiled| contexts(encoder, examples, profiled, options.batch));
    let device = encoder.device();
    for pass in 0..options.head_epochs {
        let number = 2_000_000 + pass as u64;
        let mut rng = Rng::new(options.seed, number);
        tch::manual_seed(options.seed as i64 ^ number as i64);
        let mut order: Vec<usize> = (0..examples.len()).collect();
        rng.shuffle(&mut order);
        let done = pass as f64 / options.head_epochs as f64;
        let rate = options.rate * 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        for chunk in order.chunks(options.batch.max(2)) {
            let batch: Vec<&Example> = chunk.iter().map(|k| examples[*k]).collect();
            let profiled: Vec<bool> = batch.iter().map(|_| rng.chance(options.profiled)).collect();
            let rows = chunk.iter().zip(&profiled).map(|(k, p)| contexts[usize::from(*p)].get(*k as i64));
            let context = Tensor::stack(&rows.collect::<Vec<_>>(), 0);
            let mut schedules = Schedules::of(&batch, &profiled, device);
            schedules.jitter(options.jitter, encoder.scale(), &mut rng);
            let context = seen_at_times(&context, options, &mut rng);
            let found = encoder.log2_seconds(&context, &schedules, options.dropout);
            let [speedup, relative, seconds] = schedule_losses(&found, &schedules);
            let weights = &options.weights;
            let loss = speedup * weights.speedup + relative * weights.relative + seconds * weights.seconds;
            optimiser.step(encoder, &loss, rate);
        }
    }
}

/// The part of the embeddings that predictions for schedules see, one row per nest.
fn contexts(encoder: &TorchEncoder, examples: &[&Example], profiled: bool, batch: usize) -> Tensor {
    tch::no_grad(|| {
        let of = |chunk: &[&Example]| {
            let graphs: Vec<NestGraph> = chunk.iter().map(|e| graph_of(e, profiled)).collect();
            encoder.forward(&Batch::of(&graphs.iter().collect::<Vec<_>>(), encoder.device())).context
        };
        Tensor::cat(&examples.chunks(batch.max(1)).map(of).collect::<Vec<_>>(), 0)
    })
}

/// The predictions of an encoder for nests.
pub fn predict(
    encoder: &TorchEncoder,
    examples: &[&Example],
    profiled: bool,
    batch: usize,
) -> Vec<PanelGuess> {
    let mut guesses = Vec::new();
    tch::no_grad(|| {
        for chunk in examples.chunks(batch.max(1)) {
            let graphs: Vec<NestGraph> = chunk.iter().map(|e| graph_of(e, profiled)).collect();
            let device = encoder.device();
            let prediction = encoder.forward(&Batch::of(&graphs.iter().collect::<Vec<_>>(), device));
            let schedules = Schedules::of(chunk, &vec![profiled; chunk.len()], device);
            let log2_seconds =
                encoder.log2_seconds(&prediction.context, &schedules, 0.0).mean_dim(1, false, None);
            let found = rows(&(log2_seconds.index_select(0, &schedules.before) - &log2_seconds));
            let (panel, applicable) =
                (rows(&prediction.log_speedups), rows(&prediction.applicable.sigmoid()));
            let seconds = rows(&prediction.log_seconds);
            let width = panel.len() / chunk.len();
            guesses.extend((0..chunk.len()).map(|k| {
                PanelGuess {
                    log_speedups: schedules.rows[k]
                        .iter()
                        .enumerate()
                        .map(|(t, row)| row.map_or(panel[k * width + t], |row| found[row]).max(WORST as f32))
                        .collect(),
                    applicable: applicable[k * width..(k + 1) * width].to_vec(),
                    log_seconds: seconds[k],
                }
            }));
        }
    });
    guesses
}

/// Embeddings of nests, of length 1.
pub fn embeddings(
    encoder: &TorchEncoder,
    examples: &[&Example],
    profiled: bool,
    batch: usize,
) -> Vec<Vec<f32>> {
    let mut found = Vec::new();
    tch::no_grad(|| {
        for chunk in examples.chunks(batch.max(1)) {
            let graphs: Vec<NestGraph> = chunk.iter().map(|e| graph_of(e, profiled)).collect();
            let z = encoder.forward(&Batch::of(&graphs.iter().collect::<Vec<_>>(), encoder.device())).z_p;
            let z = rows(&(&z / z.norm_scalaropt_dim(2, [1], true).clamp_min(1e-6)));
            found.extend(z.chunks(z.len() / chunk.len()).map(<[f32]>::to_vec));
        }
    });
    found
}

/// The graph, with the profile or without.
fn graph_of(example: &Example, profiled: bool) -> NestGraph {
    let graph = example.graph.clone();
    if profiled { graph.with_profile(&example.profile) } else { graph }
}

/// All numbers of a tensor, row by row.
fn rows(t: &Tensor) -> Vec<f32> {
    Vec::try_from(t.to_device(Device::Cpu).contiguous().reshape([-1])).unwrap_or_default()
}

/// Huber loss of log2 speedups.
fn speedup_loss(examples: &[&Example], guesses: &[PanelGuess]) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for (example, guess) in examples.iter().zip(guesses) {
        for (wanted, found) in example.log_speedups.iter().zip(&guess.log_speedups).skip(1) {
            let Some(wanted) = wanted else { continue };
            let error = f64::from((wanted - found).abs());
            sum += if error <= 1.0 { 0.5 * error * error } else { error - 0.5 };
            n += 1.0;
        }
    }
    sum / f64::max(n, 1.0)
}

/// A checkpoint that was read.
struct Saved {
    state: State,
    weights: Weights,
    moments: Vec<(String, Tensor)>,
}

fn save(
    folder: &Path,
    encoder: &TorchEncoder,
    optimiser: &AdamW,
    options: &TrainOptions,
    info: &ModelInfo,
    epochs: &[Epoch],
) -> Result<(), TrainError> {
    let broken = |what: String| TrainError::Checkpoint { path: folder.to_owned(), what };
    // All files of one epoch in a folder of their own, which is complete or absent.
    std::fs::create_dir_all(folder).map_err(|e| broken(e.to_string()))?;
    let temporary = tempfile::tempdir_in(folder).map_err(|e| broken(e.to_string()))?;
    let (steps, moments) = optimiser.state();
    Tensor::write_safetensors(&moments, temporary.path().join("moments.safetensors"))?;
    encoder.weights(info.clone())?.save(temporary.path().join("weights.safetensors"))?;
    let state =
        State { options: options.clone(), model_id: info.model_id.clone(), epochs: epochs.to_vec(), steps };
    let text = serde_json::json!(state).to_string();
    std::fs::write(temporary.path().join("state.json"), text).map_err(|e| broken(e.to_string()))?;
    let (place, old) = (folder.join("last"), folder.join("before"));
    let _ = std::fs::remove_dir_all(&old);
    if place.exists() {
        std::fs::rename(&place, &old).map_err(|e| broken(e.to_string()))?;
    }
    std::fs::rename(temporary.keep(), &place).map_err(|e| broken(e.to_string()))
}

/// The newest complete checkpoint, if there is one; an error if it is of another run.
fn load(folder: &Path, options: &TrainOptions, info: &ModelInfo) -> Result<Option<Saved>, TrainError> {
    let broken = |what: String| TrainError::Checkpoint { path: folder.to_owned(), what };
    let places = [folder.join("last"), folder.join("before")];
    let Some(place) = places.into_iter().find(|p| p.join("state.json").is_file()) else { return Ok(None) };
    let text = std::fs::read_to_string(place.join("state.json")).map_err(|e| broken(e.to_string()))?;
    let state: State = serde_json::from_str(&text).map_err(|e| broken(e.to_string()))?;
    if state.options != *options || state.model_id != info.model_id {
        return Err(broken("it is of a run with other options; name another folder, or remove it".into()));
    }
    Ok(Some(Saved {
        weights: Weights::load(place.join("weights.safetensors"))?,
        moments: Tensor::read_safetensors(place.join("moments.safetensors"))?,
        state,
    }))
}

/// The groups of examples.
pub fn n_groups(examples: &[Example]) -> usize {
    examples.iter().map(|e| e.group.as_str()).collect::<BTreeSet<_>>().len()
}

/// The usual sizes for the panel of a dataset.
pub fn architecture(examples: &[Example]) -> Architecture {
    Architecture::with_panel(examples.first().map_or(1, |e| e.log_speedups.len()))
}

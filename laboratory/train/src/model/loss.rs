//! The loss of training.

use super::batch::{Schedules, Targets};
use super::encoder::Prediction;
use crate::curves::N_PARTS;
use crate::example::{Example, response_distance};
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Reduction, Tensor};

/// Weights of the objectives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossWeights {
    /// Huber loss of log2 speedups of schedules.
    pub speedup: f64,
    /// Relative error of speedups of schedules, cut at [`MOST_LOG_ERROR`] where they are too large.
    pub relative: f64,
    /// Huber loss of log2 seconds of schedules.
    pub seconds: f64,
    /// Huber loss of log2 speedups of templates, predicted without their schedules.
    pub panel: f64,
    /// Cross entropy of applicability.
    pub applicable: f64,
    /// Huber loss of log10 of seconds and of GFLOP/s of the original nest.
    pub runtime: f64,
    /// Spellings of one computation against the rest of the batch.
    pub contrastive: f64,
    /// Distances of embeddings against distances of responses.
    pub metric: f64,
}

impl Default for LossWeights {
    fn default() -> Self {
        Self {
            speedup: 1.0,
            relative: 0.5,
            seconds: 0.1,
            panel: 0.2,
            applicable: 0.2,
            runtime: 0.1,
            contrastive: 0.05,
            metric: 0.5,
        }
    }
}

/// The value of each objective on a batch; their weighted sum can be differentiated.
pub(super) struct Loss {
    pub(super) total: Tensor,
    /// In the order of [`LossWeights`] and of [`PARTS`](crate::curves::PARTS).
    pub(super) parts: [f64; N_PARTS],
}

/// Temperature of the contrastive objective (van den Oord, Li and Vinyals, "Representation learning with contrastive
/// predictive coding", 2018).
const TEMPERATURE: f64 = 0.2;

/// Errors of log2 beyond this count by their size, those below by their square.
const HUBER: f64 = 0.3;

/// The relative error does not grow beyond predictions that are too large by this power of two.
const MOST_LOG_ERROR: f64 = 2.0;

/// `log2_seconds` are those of the schedules, one column per member.
pub(super) fn loss(
    prediction: &Prediction,
    log2_seconds: &Tensor,
    schedules: &Schedules,
    targets: &Targets,
    examples: &[&Example],
    weights: &LossWeights,
) -> Loss {
    let device = prediction.z.device();
    let [speedup, relative, seconds] = schedule_losses(log2_seconds, schedules);
    let panel = huber(&prediction.log_speedups, &targets.log_speedups, &targets.speedup_mask, 1.0);
    let entropy = prediction.applicable.binary_cross_entropy_with_logits::<Tensor>(
        &targets.applicable,
        None,
        None,
        Reduction::None,
    );
    let applicable = masked(&entropy, &targets.applicable_mask);
    let runtime = huber(&prediction.log_seconds, &targets.log_seconds, &targets.seconds_mask, 0.5)
        + huber(&prediction.log_gflops, &targets.log_gflops, &targets.gflops_mask, 0.5);
    let length = prediction.z.norm_scalaropt_dim(2, [1], true).clamp_min(1e-6);
    let unit = &prediction.z / length;
    let contrastive = contrastive(&unit, examples, device);
    // The embedding with the profile of a run should be as good.
    let length = prediction.z_p.norm_scalaropt_dim(2, [1], true).clamp_min(1e-6);
    let metric =
        (metric(&unit, examples, device) + metric(&(&prediction.z_p / length), examples, device)) / 2.0;
    let weighed: [(Tensor, f64); N_PARTS] = [
        (speedup, weights.speedup),
        (relative, weights.relative),
        (seconds, weights.seconds),
        (panel, weights.panel),
        (applicable, weights.applicable),
        (runtime, weights.runtime),
        (contrastive, weights.contrastive),
        (metric, weights.metric),
    ];
    let parts = std::array::from_fn(|k| weighed[k].0.double_value(&[]));
    let total = weighed.iter().fold(Tensor::zeros([], (Kind::Float, device)), |sum, (l, w)| sum + l * *w);
    Loss { total, parts }
}

/// Losses of log2 speedups, of speedups relative to the measured ones, and of log2 seconds, from the predicted log2
/// seconds with one column per member: every member learns by itself.
pub(super) fn schedule_losses(log2_seconds: &Tensor, schedules: &Schedules) -> [Tensor; 3] {
    let per_member = |found: &Tensor, wanted: &Tensor, weights: &Tensor| {
        let weights = weights.unsqueeze(1).expand_as(found);
        huber(found, &wanted.unsqueeze(1).expand_as(found), &weights, HUBER)
    };
    let speedups = log2_seconds.index_select(0, &schedules.before) - log2_seconds;
    let weights = schedules.weights.unsqueeze(1).expand_as(&speedups);
    let error = (&speedups - schedules.log_speedups.unsqueeze(1)).clamp_max(MOST_LOG_ERROR);
    [
        per_member(&speedups, &schedules.log_speedups, &schedules.weights),
        masked(&(error.exp2() - 1.0).abs(), &weights),
        per_member(log2_seconds, &schedules.log_seconds, &schedules.log_seconds.ones_like()),
    ]
}

fn huber(found: &Tensor, wanted: &Tensor, mask: &Tensor, delta: f64) -> Tensor {
    masked(&found.huber_loss(wanted, Reduction::None, delta), mask)
}

/// The mean over known targets.
fn masked(values: &Tensor, mask: &Tensor) -> Tensor {
    (values * mask).sum(Kind::Float) / mask.sum(Kind::Float).clamp_min(1.0)
}

/// For every nest with another spelling in the batch, that one should be nearer than all others.
fn contrastive(unit: &Tensor, examples: &[&Example], device: Device) -> Tensor {
    let pairs: Vec<(i64, i64)> = examples
        .iter()
        .enumerate()
        .filter_map(|(i, a)| {
            let other = |(j, b): (usize, &&Example)| (i != j && a.group == b.group).then_some(j as i64);
            Some((i as i64, examples.iter().enumerate().find_map(other)?))
        })
        .collect();
    if pairs.is_empty() {
        return Tensor::zeros([], (Kind::Float, device));
    }
    let n = examples.len() as i64;
    let own = Tensor::eye(n, (Kind::Bool, device));
    let similar = (unit.matmul(&unit.transpose(0, 1)) / TEMPERATURE).masked_fill(&own, -1e9);
    let rows = Tensor::from_slice(&pairs.iter().map(|p| p.0).collect::<Vec<_>>()).to_device(device);
    let wanted = Tensor::from_slice(&pairs.iter().map(|p| p.1).collect::<Vec<_>>()).to_device(device);
    similar.index_select(0, &rows).cross_entropy_for_logits(&wanted)
}

/// The distance of two embeddings, from 0 to 2, should grow with that of the responses.
fn metric(unit: &Tensor, examples: &[&Example], device: Device) -> Tensor {
    let n = examples.len();
    let (mut wanted, mut mask) = (vec![0.0f32; n * n], vec![0.0f32; n * n]);
    for i in 0..n {
        for j in 0..i {
            if let Some(distance) = response_distance(examples[i], examples[j]) {
                wanted[i * n + j] = 2.0 * distance / (1.0 + distance);
                mask[i * n + j] = 1.0;
            }
        }
    }
    let shape = [n as i64, n as i64];
    let wanted = Tensor::from_slice(&wanted).reshape(shape).to_device(device);
    let mask = Tensor::from_slice(&mask).reshape(shape).to_device(device);
    let cosine = unit.matmul(&unit.transpose(0, 1));
    // The square root has no slope at zero.
    let distance = (cosine * -2.0 + 2.0).clamp_min(1e-4).sqrt();
    masked(&(distance - wanted).square(), &mask)
}

//! The encoder: from a graph to its embedding.

use crate::architecture::{
    Architecture, INPUT_LIMIT, ModelInfo, SCHEDULE_SCALE, SCHEDULE_SHIFT, cost_name, input_name,
};
use crate::error::EmbedError;
use crate::graph::{NestGraph, NodeKind};
use crate::layers::{Linear, Round, Wiring, relu, vector};
use crate::schedule::ScheduleFeatures;
use crate::schema::{N_NODE, N_PROFILE, ProfileFeature, ScheduleFeature};
use crate::weights::Weights;
use ndarray::{Array1, Array2, Axis, s};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An encoder with its weights, ready to embed. [`crate::architecture`] says what it computes.
#[derive(Clone, Debug)]
pub struct Encoder {
    info: ModelInfo,
    inputs: Vec<Linear>,
    rounds: Vec<Round>,
    host: Linear,
    readout: [Linear; 2],
    profile: [Linear; 2],
    gate: Linear,
    shift: Array1<f32>,
    scale: Array1<f32>,
    context: Linear,
    members: Vec<[Linear; 3]>,
    speedup: Linear,
    applicable: Linear,
    seconds: Linear,
    gflops: Linear,
}

/// What an encoder makes of a nest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// The encoder it comes from; distances between embeddings of different ones mean nothing.
    pub model_id: String,
    /// The static embedding, of length 1.
    pub nest: Vec<f32>,
    /// The embedding of nest and profile, of length 1; `None` without a profile.
    pub profiled: Option<Vec<f32>>,
    /// An embedding for each node of the graph, by its id and in its order.
    pub nodes: Vec<(String, Vec<f32>)>,
    /// Predictions for each template of the panel, made without looking at its schedule.
    pub panel: Vec<PanelPrediction>,
    /// Time of the original nest: log10 of seconds.
    pub log_seconds: f32,
    /// Rate of the original nest: log10 of GFLOP/s.
    pub log_gflops: f32,
    /// What predictions for schedules see of the embedding, with the profile if there is one.
    #[serde(default)]
    pub context: Vec<f32>,
    /// Measured time of the original nest: log2 of seconds; `None` if no profile has it.
    #[serde(default)]
    pub measured_log2_seconds: Option<f32>,
}

/// The encoder's prediction for one template of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PanelPrediction {
    /// log2 of the speedup over the original nest.
    pub log_speedup: f32,
    /// Probability that the template applies.
    pub applicable: f32,
}

impl Encoder {
    /// From weights.
    ///
    /// # Errors
    /// [`EmbedError::MissingTensor`], though never for weights that [`Weights`] accepted.
    pub fn new(weights: &Weights) -> Result<Self, EmbedError> {
        let linear = |name: &str| Linear::new(weights, name);
        let info = weights.info().clone();
        Ok(Self {
            inputs: NodeKind::ALL
                .into_iter()
                .map(|kind| linear(&input_name(kind)))
                .collect::<Result<_, _>>()?,
            rounds: (0..info.architecture.rounds)
                .map(|r| Round::new(weights, r))
                .collect::<Result<_, _>>()?,
            host: linear("host")?,
            readout: [linear("readout.1")?, linear("readout.2")?],
            profile: [linear("profile.1")?, linear("profile.2")?],
            gate: linear("profile.gate")?,
            shift: vector(weights, SCHEDULE_SHIFT)?,
            scale: vector(weights, SCHEDULE_SCALE)?,
            context: linear("cost.context")?,
            members: (0..info.architecture.members)
                .map(|m| {
                    let layer = |layer| linear(&cost_name(m, layer));
                    Ok([layer(1)?, layer(2)?, layer(3)?])
                })
                .collect::<Result<_, EmbedError>>()?,
            speedup: linear("head.speedup")?,
            applicable: linear("head.applicable")?,
            seconds: linear("head.seconds")?,
            gflops: linear("head.gflops")?,
            info,
        })
    }

    /// From a file of weights.
    ///
    /// # Errors
    /// As [`Weights::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, EmbedError> {
        Self::new(&Weights::load(path)?)
    }

    /// From the bytes of a file of weights.
    ///
    /// # Errors
    /// As [`Weights::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EmbedError> {
        Self::new(&Weights::from_bytes(bytes)?)
    }

    /// Untrained, of the usual sizes, for a panel of 16 templates: a function of the seed. To save it or to choose its
    /// sizes, start from [`Weights::random`].
    ///
    /// # Errors
    /// None in practice; see [`Encoder::new`].
    pub fn random(seed: u64) -> Result<Self, EmbedError> {
        Self::new(&Weights::random(seed, Architecture::with_panel(16))?)
    }

    /// What this encoder is.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Embeds a nest, with its profile if the graph has one.
    ///
    /// # Errors
    /// As [`NestGraph::check`], and [`EmbedError::EmbeddingNotFinite`] if the weights make numbers overflow.
    pub fn embed(&self, graph: &NestGraph) -> Result<Embedding, EmbedError> {
        graph.check()?;
        let wiring = Wiring::new(graph);
        let mut nodes = self.input(graph);
        for round in &self.rounds {
            nodes = round.apply(&wiring, &nodes);
        }
        let z = self.readout(graph, &nodes);
        let profiled = graph.profile.as_ref().map(|profile| self.with_profile(&z, &profile.0));
        let latest = profiled.as_ref().unwrap_or(&z);
        let list = |head: &Linear| head.apply(latest).into_raw_vec_and_offset().0;
        let predictions = list(&self.speedup).into_iter().zip(list(&self.applicable));
        let embedding = Embedding {
            model_id: self.info.model_id.clone(),
            nest: normalised(&z),
            profiled: profiled.as_ref().map(normalised),
            nodes: graph
                .nodes
                .iter()
                .zip(nodes.outer_iter())
                .map(|(n, h)| (n.id.clone(), h.to_vec()))
                .collect(),
            panel: predictions
                .map(|(log_speedup, logit)| PanelPrediction { log_speedup, applicable: sigmoid(logit) })
                .collect(),
            log_seconds: self.seconds.apply(latest)[(0, 0)],
            log_gflops: self.gflops.apply(latest)[(0, 0)],
            context: self.context.apply(latest).mapv(f32::tanh).into_raw_vec_and_offset().0,
            measured_log2_seconds: measured(graph),
        };
        if embedding.is_finite() { Ok(embedding) } else { Err(EmbedError::EmbeddingNotFinite) }
    }

    /// log2 of the speedup of each schedule of a nest over the original, from their features; exactly 0 for a schedule
    /// like `before`. `embedding` is the nest's, from this encoder.
    ///
    /// # Errors
    /// [`EmbedError::OtherModel`] for an embedding of another encoder, and [`EmbedError::EmbeddingNotFinite`] if
    /// features or the weights make numbers overflow.
    pub fn speedups(
        &self,
        embedding: &Embedding,
        before: &ScheduleFeatures,
        after: &[ScheduleFeatures],
    ) -> Result<Vec<f32>, EmbedError> {
        if embedding.model_id != self.info.model_id
            || embedding.context.len() != self.info.architecture.context
        {
            return Err(EmbedError::OtherModel {
                found: embedding.model_id.clone(),
                expected: self.info.model_id.clone(),
            });
        }
        let log_seconds = |schedule: &ScheduleFeatures| self.log2_seconds(embedding, before, schedule);
        let as_it_is = log_seconds(before);
        let speedups: Vec<f32> = after.iter().map(|schedule| as_it_is - log_seconds(schedule)).collect();
        match speedups.iter().all(|speedup| speedup.is_finite()) {
            true => Ok(speedups),
            false => Err(EmbedError::EmbeddingNotFinite),
        }
    }

    /// `g`
    fn log2_seconds(
        &self,
        embedding: &Embedding,
        before: &ScheduleFeatures,
        schedule: &ScheduleFeatures,
    ) -> f32 {
        let x = (Array1::from(schedule.to_vec()) - &self.shift) * &self.scale;
        let limit = INPUT_LIMIT as f32;
        let mut input = x.mapv(|x| x.clamp(-limit, limit)).to_vec();
        input.extend(&embedding.context);
        input.extend(residual(before, embedding.measured_log2_seconds));
        let input = Array1::from(input).insert_axis(Axis(0));
        let x = x.insert_axis(Axis(0));
        let of_member = |[first, second, third]: &[Linear; 3]| {
            let inner = relu(second.apply(&relu(first.apply(&input))));
            third.apply(&ndarray::concatenate![Axis(1), inner, x])[(0, 0)]
        };
        self.members.iter().map(of_member).sum::<f32>() / self.members.len() as f32
    }

    fn input(&self, graph: &NestGraph) -> Array2<f32> {
        let mut nodes = Array2::zeros((graph.nodes.len(), self.info.architecture.hidden));
        for (kind, input) in NodeKind::ALL.into_iter().zip(&self.inputs) {
            let of_kind = positions(graph, kind);
            let mut features = Array2::zeros((of_kind.len(), N_NODE));
            for (mut row, &position) in features.outer_iter_mut().zip(&of_kind) {
                row.iter_mut().zip(graph.nodes[position].features.iter()).for_each(|(to, from)| *to = *from);
            }
            for (row, &position) in input.apply(&features).outer_iter().zip(&of_kind) {
                nodes.row_mut(position).assign(&row);
            }
        }
        nodes
    }

    /// `z`, as one row.
    fn readout(&self, graph: &NestGraph, nodes: &Array2<f32>) -> Array2<f32> {
        let hidden = self.info.architecture.hidden;
        let host = self.host.apply(&Array2::from_shape_fn((1, graph.host.len()), |(_, idx)| graph.host[idx]));
        let mut summary = Array2::zeros((1, 2 * NodeKind::ALL.len() * hidden + host.ncols()));
        for (kind_idx, kind) in NodeKind::ALL.into_iter().enumerate() {
            let of_kind = nodes.select(Axis(0), &positions(graph, kind));
            if let Some(mean) = of_kind.mean_axis(Axis(0)) {
                let max = of_kind.fold_axis(Axis(0), f32::NEG_INFINITY, |a, b| a.max(*b));
                let start = 2 * kind_idx * hidden;
                summary.slice_mut(s![0, start..start + hidden]).assign(&mean);
                summary.slice_mut(s![0, start + hidden..start + 2 * hidden]).assign(&max);
            }
        }
        summary.slice_mut(s![.., 2 * NodeKind::ALL.len() * hidden..]).assign(&host);
        let [first, second] = &self.readout;
        second.apply(&relu(first.apply(&summary)))
    }

    fn with_profile(&self, z: &Array2<f32>, profile: &[f32; N_PROFILE]) -> Array2<f32> {
        let profile = Array1::from(profile.to_vec()).insert_axis(Axis(0));
        let [first, second] = &self.profile;
        let shift = second.apply(&relu(first.apply(&profile)));
        let gate = self.gate.apply(&ndarray::concatenate![Axis(1), z.view(), profile]).mapv(sigmoid);
        z + &(gate * shift)
    }
}

/// `r` of the specification: how far the measured time of a nest as it is (log2 of seconds) is from the model's estimate,
/// given the features of its schedule.
pub fn residual(before: &ScheduleFeatures, measured_log2_seconds: Option<f32>) -> [f32; 2] {
    let estimate = before.raw(ScheduleFeature::Seconds).log2() as f32;
    measured_log2_seconds.map_or([0.0; 2], |measured| [((measured - estimate) / 8.0).clamp(-1.0, 1.0), 1.0])
}

/// log2 of the seconds that a graph's profile tells.
fn measured(graph: &NestGraph) -> Option<f32> {
    let profile = graph.profile.as_ref().filter(|profile| profile.is_set(ProfileFeature::SecondsKnown))?;
    Some(profile.raw(ProfileFeature::Seconds).log2() as f32).filter(|seconds| seconds.is_finite())
}

impl Embedding {
    fn is_finite(&self) -> bool {
        let own = [&self.nest, &self.context];
        let vectors = self.nodes.iter().map(|(_, h)| h).chain(own).chain(&self.profiled);
        let panel = self.panel.iter().flat_map(|p| [p.log_speedup, p.applicable]);
        vectors.flatten().copied().chain(panel).chain([self.log_seconds, self.log_gflops]).all(f32::is_finite)
    }
}

fn positions(graph: &NestGraph, kind: NodeKind) -> Vec<usize> {
    let of_kind = graph.nodes.iter().enumerate().filter(|(_, node)| node.kind == kind);
    of_kind.map(|(position, _)| position).collect()
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Of length 1; a vector of length 0 stays as it is.
fn normalised(row: &Array2<f32>) -> Vec<f32> {
    let length = row.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    let divisor = if length > 0.0 { length } else { 1.0 };
    row.iter().map(|x| (f64::from(*x) / divisor) as f32).collect()
}

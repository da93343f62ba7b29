//! The encoder's architecture: the specification that training and inference share.
//!
//! A relational graph network with an edge-conditioned mean over neighbours, after Schlichtkrull et al., "Modeling
//! relational data with graph convolutional networks" (2018). `H`, `R`, `Z`, `P`, `G`, `M`, `C`, `D` and `E` are the
//! fields of [`Architecture`]. All numbers are `f32`; a *linear* layer named `x` has tensors `x.weight` `[out, in]` and
//! `x.bias` `[out]` and maps a vector `v` to `weight · v + bias`, as PyTorch's `Linear`.
//!
//! **Input.** For a node `i` of kind `k` with features `x_i` of width [`N_NODE`]:
//!
//! ```text
//! h_i = linear(in.<k>)(x_i)                                        k: loop stmt access array            -> H
//! ```
//!
//! **Rounds** `r = 0 .. R`. A *relation* is an edge kind with a direction: along `fwd`, the start of an edge is a
//! neighbour of its end; along `rev`, the end is a neighbour of the start. `N_q(i)` are the pairs of a neighbour `j`
//! and the features `e` of the edge, one for each edge. The sum leaves out relations in which `i` has no neighbour.
//!
//! ```text
//! m_i = sum over relations q of
//!         mean over (j, e) in N_q(i) of relu(linear(round.<r>.<edge kind>.<fwd|rev>)([h_j ; e]))        -> H
//! u_i = h_i + linear(round.<r>.update.2)(relu(linear(round.<r>.update.1)([h_i ; m_i])))                 -> H
//! h_i = (u_i - mean(u_i)) / sqrt(var(u_i) + 1e-5) * round.<r>.norm.weight + round.<r>.norm.bias         -> H
//! ```
//!
//! All nodes are updated at once; `var` is the population variance. `h_i` after the last round is the node's embedding.
//!
//! **Readout.** For each kind, in the order loop, stmt, access, array: the mean of `h` over the nodes of the kind, then
//! the maximum by component; zeros for a kind without nodes. With the host's features `t` of width [`N_HOST`]:
//!
//! ```text
//! g = linear(host)(t)                                                                                   -> G
//! z = linear(readout.2)(relu(linear(readout.1)([mean_loop ; max_loop ; … ; max_array ; g])))            -> Z
//! ```
//!
//! The static embedding is `z / |z|`.
//!
//! **Profile**, only if the graph has one, of features `p` of width [`N_PROFILE`]:
//!
//! ```text
//! gate = sigmoid(linear(profile.gate)([z ; p]))                                                         -> Z
//! z_p  = z + gate * linear(profile.2)(relu(linear(profile.1)(p)))                                       -> Z
//! ```
//!
//! The profiled embedding is `z_p / |z_p|`. Without a profile `z_p` is `z`.
//!
//! **Schedules.** What a schedule of the nest with features `s` of width [`N_SCHEDULE`] takes, as log2 of seconds, is
//! the mean over the members `k = 0 .. E` of `g_k`. `r` are two numbers: where the nest's time as it is was measured,
//! its log2 less that of the model's estimate for the nest as it is ([`crate::ScheduleFeature::Seconds`]), an eighth of
//! it and between -1 and 1, and 1; else 0 and 0.
//!
//! ```text
//! x   = (s - schedule.shift) * schedule.scale                                                           -> N_SCHEDULE
//! x'  = x, not below -3 and not above 3                                                                 -> N_SCHEDULE
//! c   = tanh(linear(cost.context)(z_p))                                                                 -> C
//! a   = relu(linear(cost.<k>.1)([x' ; c ; r]))                                                          -> D
//! b   = relu(linear(cost.<k>.2)(a))                                                                     -> D
//! g_k = linear(cost.<k>.3)([b ; x])                                                                     -> 1
//! ```
//!
//! The log2 of a schedule's speedup is `g` of the nest as it is less `g` of the schedule.
//!
//! **Heads**, from `z_p` as it is, not normalised:
//!
//! ```text
//! linear(head.speedup)          -> P    log2 of each panel template's speedup, guessed without looking at its schedule
//! linear(head.applicable)       -> P    logit of the template being applicable
//! linear(head.seconds)          -> 1    log10 of seconds of the nest as it is
//! linear(head.gflops)           -> 1    log10 of GFLOP/s of the nest as it is
//! ```
//!
//! # The file
//!
//! Safetensors with exactly the tensors of [`Architecture::tensors`], all `F32`, and one entry of metadata that counts,
//! [`crate::METADATA_KEY`]: [`ModelInfo`] as JSON. [`crate::Weights`] reads and writes it.

use crate::error::EmbedError;
use crate::graph::{EdgeKind, NodeKind};
use crate::schema::{FEATURE_SCHEMA, N_EDGE, N_HOST, N_NODE, N_PROFILE, N_SCHEDULE};
use serde::{Deserialize, Serialize};

/// The sizes of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Architecture {
    /// `H`: width of node embeddings.
    pub hidden: usize,
    /// `R`: rounds of messages.
    pub rounds: usize,
    /// `Z`: width of the nest's embedding.
    pub embedding: usize,
    /// `P`: templates of the panel.
    pub panel: usize,
    /// `G`: width of the host's part of the readout.
    pub host: usize,
    /// `M`: width of the hidden layers of readout and profile.
    pub readout: usize,
    /// `C`: width of the part of the embedding that predictions for schedules see.
    pub context: usize,
    /// `D`: width of the hidden layers of predictions for schedules.
    pub cost: usize,
    /// `E`: predictions for schedules that are averaged.
    pub members: usize,
}

/// What a file of weights says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// [`FEATURE_SCHEMA`].
    pub schema: String,
    /// Which training run these weights are from.
    pub model_id: String,
    /// Version of the panel that the heads predict.
    pub panel_version: String,
    /// The sizes.
    pub architecture: Architecture,
    /// The distance of embeddings, from 0 to 2, beyond which one nest says nothing about another; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<f32>,
}

/// The two ways along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// From start to end: the end receives messages of the start.
    Forward,
    /// From end to start.
    Reverse,
}

impl Way {
    /// Both, in the order of the sum.
    pub const ALL: [Way; 2] = [Way::Forward, Way::Reverse];

    /// As in the names of tensors.
    pub fn name(self) -> &'static str {
        match self {
            Way::Forward => "fwd",
            Way::Reverse => "rev",
        }
    }
}

/// Largest accepted value of any size but the rounds, and of the rounds: a file with larger ones is damaged.
const MAX_WIDTH: usize = 4096;
const MAX_ROUNDS: usize = 16;

impl Architecture {
    /// The usual sizes, for a panel of this many templates.
    pub fn with_panel(panel: usize) -> Self {
        Self {
            hidden: 48,
            rounds: 2,
            embedding: 64,
            panel,
            host: 32,
            readout: 128,
            context: 8,
            cost: 64,
            members: 4,
        }
    }

    /// Checks that the sizes are usable.
    ///
    /// # Errors
    /// [`EmbedError::Metadata`] if one is zero or absurdly large.
    pub fn check(&self) -> Result<(), EmbedError> {
        let Self { hidden, embedding, panel, host, readout, context, cost, members, .. } = *self;
        let widths = [hidden, embedding, panel, host, readout, context, cost, members];
        let is_sound = |size: usize, max: usize| (1..=max).contains(&size);
        if widths.into_iter().all(|width| is_sound(width, MAX_WIDTH)) && is_sound(self.rounds, MAX_ROUNDS) {
            return Ok(());
        }
        let reason = format!("sizes must be in 1..={MAX_WIDTH}, rounds in 1..={MAX_ROUNDS}: {self:?}");
        Err(EmbedError::Metadata { reason })
    }

    /// Every tensor with its shape, in the order of the specification.
    pub fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let &Self { hidden, rounds, embedding, panel, host, readout, context, cost, members } = self;
        let mut tensors = Tensors::default();
        for kind in NodeKind::ALL {
            tensors.linear(input_name(kind), hidden, N_NODE);
        }
        for round in 0..rounds {
            for kind in EdgeKind::ALL {
                for way in Way::ALL {
                    tensors.linear(relation_name(round, kind, way), hidden, hidden + N_EDGE);
                }
            }
            tensors.linear(update_name(round, 1), hidden, 2 * hidden);
            tensors.linear(update_name(round, 2), hidden, hidden);
            tensors.pair(norm_name(round), vec![hidden], hidden);
        }
        tensors.linear("host".into(), host, N_HOST);
        tensors.linear("readout.1".into(), readout, 2 * NodeKind::ALL.len() * hidden + host);
        tensors.linear("readout.2".into(), embedding, readout);
        tensors.linear("profile.1".into(), readout, N_PROFILE);
        tensors.linear("profile.2".into(), embedding, readout);
        tensors.linear("profile.gate".into(), embedding, embedding + N_PROFILE);
        tensors.0.push((SCHEDULE_SHIFT.into(), vec![N_SCHEDULE]));
        tensors.0.push((SCHEDULE_SCALE.into(), vec![N_SCHEDULE]));
        tensors.linear("cost.context".into(), context, embedding);
        for member in 0..members {
            tensors.linear(cost_name(member, 1), cost, N_SCHEDULE + context + 2);
            tensors.linear(cost_name(member, 2), cost, cost);
            tensors.linear(cost_name(member, 3), 1, cost + N_SCHEDULE);
        }
        tensors.linear("head.speedup".into(), panel, embedding);
        tensors.linear("head.applicable".into(), panel, embedding);
        tensors.linear("head.seconds".into(), 1, embedding);
        tensors.linear("head.gflops".into(), 1, embedding);
        tensors.0
    }
}

/// Names and shapes in order.
#[derive(Default)]
struct Tensors(Vec<(String, Vec<usize>)>);

impl Tensors {
    fn linear(&mut self, name: String, n_out: usize, n_in: usize) {
        self.pair(name, vec![n_out, n_in], n_out);
    }

    fn pair(&mut self, name: String, weight: Vec<usize>, bias: usize) {
        self.0.push((format!("{name}.weight"), weight));
        self.0.push((format!("{name}.bias"), vec![bias]));
    }
}

impl ModelInfo {
    /// Of weights for the features of this build.
    pub fn new(
        model_id: impl Into<String>,
        panel_version: impl Into<String>,
        architecture: Architecture,
    ) -> Self {
        let schema = FEATURE_SCHEMA.to_owned();
        Self {
            schema,
            model_id: model_id.into(),
            panel_version: panel_version.into(),
            architecture,
            far: None,
        }
    }

    /// The text of the file's metadata.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Reads the text of a file's metadata.
    ///
    /// # Errors
    /// [`EmbedError::OtherSchema`] if the weights belong to other features, [`EmbedError::Metadata`] if an entry is
    /// missing or out of range.
    pub fn from_json(text: &str) -> Result<Self, EmbedError> {
        let invalid = |reason: String| EmbedError::Metadata { reason };
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if let Some(schema) = value.get("schema").and_then(serde_json::Value::as_str)
            && schema != FEATURE_SCHEMA
        {
            return Err(EmbedError::OtherSchema { found: schema.to_owned() });
        }
        let info: Self = serde_json::from_value(value).map_err(|error| invalid(error.to_string()))?;
        info.architecture.check()?;
        Ok(info)
    }
}

/// The input layer of a kind of node.
pub(crate) fn input_name(kind: NodeKind) -> String {
    format!("in.{}", kind.name())
}

/// The message layer of a relation.
pub(crate) fn relation_name(round: usize, kind: EdgeKind, way: Way) -> String {
    format!("round.{round}.{}.{}", kind.name(), way.name())
}

/// The first or second layer of a round's update.
pub(crate) fn update_name(round: usize, layer: usize) -> String {
    format!("round.{round}.update.{layer}")
}

/// How far the features of schedules may be from their mean, in units of their spread, where they are not added up.
pub const INPUT_LIMIT: f64 = 3.0;
/// What is subtracted from the features of schedules, and what they are then multiplied by.
pub const SCHEDULE_SHIFT: &str = "schedule.shift";
/// See [`SCHEDULE_SHIFT`].
pub const SCHEDULE_SCALE: &str = "schedule.scale";

/// A layer of a member of the predictions for schedules.
pub(crate) fn cost_name(member: usize, layer: usize) -> String {
    format!("cost.{member}.{layer}")
}

/// A round's normalization.
pub(crate) fn norm_name(round: usize) -> String {
    format!("round.{round}.norm")
}

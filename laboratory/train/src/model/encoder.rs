//! The encoder of `oxeye-embed` in tch, for training: [`oxeye_embed::Architecture`] specifies both.

use super::batch::{Batch, Schedules};
use oxeye_embed::{
    Architecture, EdgeKind, EmbedError, INPUT_LIMIT, ModelInfo, NodeKind, SCHEDULE_SCALE, SCHEDULE_SHIFT,
    Way, Weights,
};
use std::collections::BTreeMap;
use tch::{Device, Kind, Tensor};

/// Trainable weights, by their names in files.
pub struct TorchEncoder {
    info: ModelInfo,
    pub(super) tensors: BTreeMap<String, Tensor>,
    device: Device,
}

/// The predictions for a batch, one row per graph.
pub struct Prediction {
    /// The embedding without the profile, not normalised.
    pub z: Tensor,
    /// The embedding with the profile if there is one, not normalised.
    pub z_p: Tensor,
    /// The part of the embedding that predictions for schedules see.
    pub context: Tensor,
    /// log2 speedups.
    pub log_speedups: Tensor,
    /// Logits.
    pub applicable: Tensor,
    /// log10 of seconds.
    pub log_seconds: Tensor,
    /// log10 of GFLOP/s.
    pub log_gflops: Tensor,
}

impl TorchEncoder {
    /// An encoder with the given weights.
    ///
    /// # Errors
    /// If a tensor is missing, which never happens with [`Weights`].
    pub fn new(weights: &Weights, device: Device) -> Result<Self, EmbedError> {
        let info = weights.info().clone();
        let mut tensors = BTreeMap::new();
        for (name, shape) in info.architecture.tensors() {
            let (_, values) = weights.tensor(&name).ok_or_else(|| EmbedError::MissingTensor(name.clone()))?;
            let shape: Vec<i64> = shape.iter().map(|n| *n as i64).collect();
            let is_trained = ![SCHEDULE_SHIFT, SCHEDULE_SCALE].contains(&name.as_str());
            let tensor = Tensor::from_slice(values).reshape(shape).to_device(device);
            let tensor = tensor.set_requires_grad(is_trained);
            tensors.insert(name, tensor);
        }
        Ok(Self { info, tensors, device })
    }

    /// The current weights.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn weights(&self, info: ModelInfo) -> Result<Weights, EmbedError> {
        Weights::new(info, |name| {
            let tensor = self.tensors.get(name)?.detach().to_device(Device::Cpu).contiguous();
            Vec::<f32>::try_from(tensor.reshape([-1])).ok()
        })
    }

    /// The description of the weights.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The device of the weights.
    pub fn device(&self) -> Device {
        self.device
    }

    /// One over the spread of each feature of schedules.
    pub(super) fn scale(&self) -> &Tensor {
        self.tensor(SCHEDULE_SCALE)
    }

    fn tensor(&self, name: &str) -> &Tensor {
        &self.tensors[name]
    }

    fn linear(&self, name: &str, input: &Tensor) -> Tensor {
        input.matmul(&self.tensor(&format!("{name}.weight")).transpose(0, 1))
            + self.tensor(&format!("{name}.bias"))
    }

    /// The forward pass.
    pub fn forward(&self, batch: &Batch) -> Prediction {
        let Architecture { rounds, .. } = self.info.architecture;
        let inputs: Vec<Tensor> = NodeKind::ALL
            .into_iter()
            .zip(&batch.features)
            .map(|(kind, features)| self.linear(&format!("in.{}", kind.name()), features))
            .collect();
        let mut h = Tensor::cat(&inputs, 0);
        for round in 0..rounds {
            h = self.round(batch, round, &h);
        }
        let z = self.readout(batch, &h);
        let z_p = self.with_profile(batch, &z);
        Prediction {
            log_speedups: self.linear("head.speedup", &z_p),
            applicable: self.linear("head.applicable", &z_p),
            log_seconds: self.linear("head.seconds", &z_p).squeeze_dim(1),
            log_gflops: self.linear("head.gflops", &z_p).squeeze_dim(1),
            context: self.linear("cost.context", &z_p).tanh(),
            z,
            z_p,
        }
    }

    /// `g_k` of every schedule, one column per member, from the context of each nest, one row per nest. `dropout` is for
    /// training; 0 is none.
    pub fn log2_seconds(&self, context: &Tensor, schedules: &Schedules, dropout: f64) -> Tensor {
        let x = (&schedules.features - self.tensor(SCHEDULE_SHIFT)) * self.tensor(SCHEDULE_SCALE);
        let near = x.clamp(-INPUT_LIMIT, INPUT_LIMIT);
        let context = context.index_select(0, &schedules.graphs);
        let input = Tensor::cat(&[&near, &context, &schedules.residuals], 1);
        let of_member = |member: usize| {
            let layer = |k: usize, input: &Tensor| self.linear(&format!("cost.{member}.{k}"), input);
            let hidden = layer(1, &input).relu().dropout(dropout, dropout > 0.0);
            let hidden = layer(2, &hidden).relu().dropout(dropout, dropout > 0.0);
            layer(3, &Tensor::cat(&[&hidden, &x], 1))
        };
        Tensor::cat(&(0..self.info.architecture.members).map(of_member).collect::<Vec<_>>(), 1)
    }

    fn round(&self, batch: &Batch, round: usize, h: &Tensor) -> Tensor {
        let hidden = self.info.architecture.hidden as i64;
        let mut heard = Tensor::zeros_like(h);
        for kind in EdgeKind::ALL {
            for way in Way::ALL {
                let relation = &batch.relations[kind as usize][usize::from(way == Way::Reverse)];
                if relation.is_empty {
                    continue;
                }
                let name = format!("round.{round}.{}.{}", kind.name(), way.name());
                let weight = self.tensor(&format!("{name}.weight"));
                // The weight in two parts: the part for the neighbour is computed once per node, not once per edge.
                let of_node = h.matmul(&weight.narrow(1, 0, hidden).transpose(0, 1));
                let of_edge = relation
                    .features
                    .matmul(&weight.narrow(1, hidden, weight.size()[1] - hidden).transpose(0, 1));
                let message = of_node.index_select(0, &relation.neighbours)
                    + of_edge
                    + self.tensor(&format!("{name}.bias"));
                heard = heard.index_add(0, &relation.receivers, &(message.relu() * &relation.shares));
            }
        }
        let inner = self.linear(&format!("round.{round}.update.1"), &Tensor::cat(&[h, &heard], 1)).relu();
        let updated = h + self.linear(&format!("round.{round}.update.2"), &inner);
        updated.layer_norm(
            [hidden],
            Some(self.tensor(&format!("round.{round}.norm.weight"))),
            Some(self.tensor(&format!("round.{round}.norm.bias"))),
            1e-5,
            false,
        )
    }

    fn readout(&self, batch: &Batch, h: &Tensor) -> Tensor {
        let hidden = self.info.architecture.hidden as i64;
        let options = (Kind::Float, self.device);
        let mut parts = Vec::new();
        let mut first = 0;
        for (kind, graphs) in batch.graphs.iter().enumerate() {
            let n = graphs.size()[0];
            let of_kind = h.narrow(0, first, n);
            first += n;
            let zeros = Tensor::zeros([batch.n_graphs, hidden], options);
            let counts = batch.counts[kind].unsqueeze(1);
            parts.push(zeros.index_add(0, graphs, &of_kind) / counts.clamp_min(1.0));
            let least = Tensor::full([batch.n_graphs, hidden], -1e30, options);
            let greatest = least.index_reduce(0, graphs, &of_kind, "amax", true);
            parts.push(greatest.where_self(&counts.gt(0.5), &zeros));
        }
        parts.push(self.linear("host", &batch.hosts));
        self.linear("readout.2", &self.linear("readout.1", &Tensor::cat(&parts, 1)).relu())
    }

    fn with_profile(&self, batch: &Batch, z: &Tensor) -> Tensor {
        let p = &batch.profiles;
        let gate = self.linear("profile.gate", &Tensor::cat(&[z, p], 1)).sigmoid();
        let shift = self.linear("profile.2", &self.linear("profile.1", p).relu());
        z + gate * shift * batch.profiled.unsqueeze(1)
    }
}

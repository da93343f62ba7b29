//! AdamW with a state that can be saved, unlike that of tch.

use super::encoder::TorchEncoder;
use std::collections::BTreeMap;
use tch::Tensor;

/// Decoupled weight decay (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
pub(super) struct AdamW {
    /// First and second moments by name of the tensor.
    moments: BTreeMap<String, [Tensor; 2]>,
    steps: i32,
    decay: f64,
}

const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;
/// Gradients are clipped to this length.
const CLIP: f64 = 1.0;

impl AdamW {
    pub(super) fn new(encoder: &TorchEncoder, decay: f64) -> Self {
        let zeros = |t: &Tensor| [t.zeros_like().detach(), t.zeros_like().detach()];
        let moments = encoder.tensors.iter().map(|(name, t)| (name.clone(), zeros(t))).collect();
        Self { moments, steps: 0, decay }
    }

    /// One step down the gradient of `loss`.
    pub(super) fn step(&mut self, encoder: &mut TorchEncoder, loss: &Tensor, rate: f64) {
        encoder.tensors.values_mut().for_each(Tensor::zero_grad);
        loss.backward();
        self.steps += 1;
        let corrections = BETAS.map(|beta| 1.0 - beta.powi(self.steps));
        tch::no_grad(|| {
            let squares = encoder.tensors.values().filter(|t| t.grad().defined()).map(|t| {
                let gradient = t.grad();
                (&gradient * &gradient).sum(tch::Kind::Float)
            });
            let squares: Vec<Tensor> = squares.collect();
            let length = Tensor::stack(&squares, 0).sum(tch::Kind::Float).double_value(&[]).sqrt();
            let scale = if length > CLIP { CLIP / length } else { 1.0 };
            for (name, tensor) in &mut encoder.tensors {
                let gradient = tensor.grad();
                let Some([first, second]) = self.moments.get_mut(name) else { continue };
                if !gradient.defined() {
                    continue;
                }
                let gradient = gradient * scale;
                *first = &*first * BETAS[0] + &gradient * (1.0 - BETAS[0]);
                *second = &*second * BETAS[1] + &gradient * &gradient * (1.0 - BETAS[1]);
                let direction = (&*first / corrections[0]) / ((&*second / corrections[1]).sqrt() + EPSILON);
                // Biases and norms are not decayed.
                let decay = if tensor.dim() > 1 { rate * self.decay } else { 0.0 };
                let updated = &*tensor * (1.0 - decay) - direction * rate;
                tensor.copy_(&updated);
            }
        });
    }

    /// The state, for a checkpoint.
    pub(super) fn state(&self) -> (i32, Vec<(String, Tensor)>) {
        let named = self.moments.iter().flat_map(|(name, [first, second])| {
            [
                (format!("first.{name}"), first.shallow_clone()),
                (format!("second.{name}"), second.shallow_clone()),
            ]
        });
        (self.steps, named.collect())
    }

    /// Continues from a checkpoint.
    pub(super) fn restore(&mut self, steps: i32, tensors: Vec<(String, Tensor)>) {
        self.steps = steps;
        for (name, tensor) in tensors {
            let (which, name) = name.split_once('.').unwrap_or_default();
            if let Some(moments) = self.moments.get_mut(name) {
                moments[usize::from(which == "second")] = tensor.to_device(moments[0].device());
            }
        }
    }
}

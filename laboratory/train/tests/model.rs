//! The encoder in libtorch: it computes what that of `oxeye-embed` does, and its training learns.
#![cfg(feature = "torch")]

#[path = "../src/testing.rs"]
mod testing;

use oxeye_embed::{Architecture, Encoder, ModelInfo, Weights};
use oxeye_train::example::{self, Example};
use oxeye_train::model::{Batch, TorchEncoder, TrainOptions, architecture, embeddings, predict, train};
use tch::{Device, Tensor};

fn examples(n: usize) -> Vec<Example> {
    (0..n).map(testing::example).collect()
}

fn values(t: &Tensor) -> Vec<f32> {
    Vec::try_from(t.detach().contiguous().reshape([-1])).unwrap()
}

/// Inference in `oxeye-embed` and the forward pass here compute the same, with and without a profile.
#[test]
fn both_encoders_agree() {
    let examples = examples(24);
    let weights = Weights::random(3, architecture(&examples)).unwrap();
    let (torch, plain) = (TorchEncoder::new(&weights, Device::Cpu).unwrap(), Encoder::new(&weights).unwrap());
    let graphs: Vec<_> = examples
        .iter()
        .enumerate()
        .map(|(k, e)| if k % 2 == 0 { e.graph.clone() } else { e.graph.clone().with_profile(&e.profile) })
        .collect();
    let found = torch.forward(&Batch::of(&graphs.iter().collect::<Vec<_>>(), Device::Cpu));
    let length = found.z.norm_scalaropt_dim(2, [1], true);
    let (z, speedups) = (values(&(&found.z / length)), values(&found.log_speedups));
    let (applicable, seconds) = (values(&found.applicable.sigmoid()), values(&found.log_seconds));
    let gflops = values(&found.log_gflops);
    let panel = weights.info().architecture.panel;
    for (k, graph) in graphs.iter().enumerate() {
        let embedding = plain.embed(graph).unwrap();
        let close = |a: f32, b: f32| assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{a} {b}");
        embedding.nest.iter().zip(&z[k * embedding.nest.len()..]).for_each(|(a, b)| close(*a, *b));
        for (t, guess) in embedding.panel.iter().enumerate() {
            close(guess.log_speedup, speedups[k * panel + t]);
            close(guess.applicable, applicable[k * panel + t]);
        }
        close(embedding.log_seconds, seconds[k]);
        close(embedding.log_gflops, gflops[k]);
    }
}

/// So do the predictions for schedules, and a schedule equal to the original nest gains exactly nothing.
#[test]
fn both_predict_the_same_for_schedules() {
    let examples = examples(12);
    let weights = Weights::random(4, architecture(&examples)).unwrap();
    let (torch, plain) = (TorchEncoder::new(&weights, Device::Cpu).unwrap(), Encoder::new(&weights).unwrap());
    let all: Vec<&Example> = examples.iter().collect();
    for profiled in [false, true] {
        let guesses = predict(&torch, &all, profiled, 5);
        for (example, guess) in examples.iter().zip(&guesses) {
            let graph = match profiled {
                true => example.graph.clone().with_profile(&example.profile),
                false => example.graph.clone(),
            };
            let embedding = plain.embed(&graph).unwrap();
            let before = example.versions[0].unwrap();
            let after: Vec<_> = example.versions.iter().flatten().copied().collect();
            let found = plain.speedups(&embedding, &before, &after).unwrap();
            let timed =
                example.versions.iter().zip(&guess.log_speedups).filter(|(version, _)| version.is_some());
            assert_eq!(found[0], 0.0);
            assert!(found.iter().any(|speedup| speedup.abs() > 1e-3));
            for (found, (_, torch)) in found.iter().zip(timed) {
                let found = found.max(example::WORST as f32);
                assert!((found - torch).abs() <= 1e-5 * found.abs().max(1.0) * 4.0, "{found} {torch}");
            }
        }
    }
}

#[test]
fn embeddings_are_those_of_the_other_encoder() {
    let examples = examples(4);
    let weights = Weights::random(5, architecture(&examples)).unwrap();
    let (torch, plain) = (TorchEncoder::new(&weights, Device::Cpu).unwrap(), Encoder::new(&weights).unwrap());
    let found = embeddings(&torch, &examples.iter().collect::<Vec<_>>(), true, 3);
    for (example, found) in examples.iter().zip(&found) {
        let embedding = plain.embed(&example.graph.clone().with_profile(&example.profile)).unwrap();
        let profiled = embedding.profiled.unwrap();
        assert!(profiled.iter().zip(found).all(|(a, b)| (a - b).abs() <= 1e-5));
    }
}

/// Weights go through a file unchanged.
#[test]
fn exported_weights_are_those_that_were_trained() {
    let info = ModelInfo::new("test", "0", Architecture::with_panel(5));
    let weights = Weights::random(8, info.architecture).unwrap();
    let torch = TorchEncoder::new(&weights, Device::Cpu).unwrap();
    let exported = torch.weights(info).unwrap();
    let read = Weights::from_bytes(&exported.to_bytes().unwrap()).unwrap();
    assert!(weights.names().all(|name| weights.tensor(name) == read.tensor(name)));
}

fn options() -> TrainOptions {
    TrainOptions { epochs: 6, head_epochs: 3, batch: 16, ..TrainOptions::default() }
}

#[test]
fn training_learns_repeats_and_resumes() {
    let examples = examples(40);
    let info = ModelInfo::new("test", "0", architecture(&examples));
    let run = |options: &TrainOptions, folder: Option<&std::path::Path>| {
        train(&examples, &[], info.clone(), options, folder, &mut |_| {}).unwrap()
    };
    let learnt = run(&TrainOptions { epochs: 25, ..options() }, None);
    let losses: Vec<f64> = learnt.epochs.iter().map(|e| e.loss).collect();
    assert!(losses[losses.len() - 1] < 0.8 * losses[0], "{losses:?}");
    let whole = run(&options(), None);
    assert_eq!(whole.n_nests.0 + whole.n_nests.1, 40);
    // Sums over threads may be taken in any order, so equal up to rounding.
    let again = run(&options(), None);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-3 * (1.0 + a.abs());
    assert!(whole.epochs.iter().zip(&again.epochs).all(|(a, b)| near(a.loss, b.loss)));
    // A run that stops after three epochs and is resumed.
    let folder = tempfile::tempdir().unwrap();
    let mut n = 0;
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        train(&examples, &[], info.clone(), &options(), Some(folder.path()), &mut |_| {
            n += 1;
            assert!(n < 4, "the process ends here");
        })
    }));
    assert!(stopped.is_err());
    let resumed = run(&options(), Some(folder.path()));
    assert_eq!(resumed.epochs.len(), 6);
    assert!(whole.epochs.iter().zip(&resumed.epochs).all(|(a, b)| near(a.loss, b.loss)));
    let other = TrainOptions { seed: 2, ..options() };
    assert!(train(&examples, &[], info.clone(), &other, Some(folder.path()), &mut |_| {}).is_err());
}

//! The encoder against a direct implementation of its specification, and against numbers worked out by hand.

use super::{difference, graph_of_sample, graph_of_text, shape};
use crate::{
    Architecture, EdgeKind, Embedding, Encoder, Features, ModelInfo, N_NODE, N_PROFILE, N_SCHEDULE,
    NestGraph, NodeKind, ProfileFeature, ProfileVector, ScheduleFeature, ScheduleFeatures, Weights,
};
use oxeye_ir::testing::{Random, random_program};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SMALL: Architecture = Architecture {
    hidden: 6,
    rounds: 2,
    embedding: 5,
    panel: 3,
    host: 4,
    readout: 7,
    context: 2,
    cost: 4,
    members: 2,
};

/// The specification, one node and one number at a time, in double precision.
struct Oracle<'w>(&'w Weights);

impl Oracle<'_> {
    fn tensor(&self, name: &str) -> &[f32] {
        self.0.tensor(name).unwrap_or_else(|| panic!("there is no {name}")).1
    }

    fn linear(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let (weight, bias) = (self.tensor(&format!("{name}.weight")), self.tensor(&format!("{name}.bias")));
        assert_eq!(weight.len(), bias.len() * input.len(), "{name}");
        let row = |out: usize| &weight[out * input.len()..(out + 1) * input.len()];
        let dot = |out: usize| row(out).iter().zip(input).map(|(w, x)| f64::from(*w) * x).sum::<f64>();
        (0..bias.len()).map(|out| f64::from(bias[out]) + dot(out)).collect()
    }

    fn round(&self, graph: &NestGraph, round: usize, h: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let message = |node: usize| {
            let mut sum = vec![0.0; h[node].len()];
            for kind in EdgeKind::ALL {
                for way in ["fwd", "rev"] {
                    let mut received = Vec::new();
                    for edge in graph.edges.iter().filter(|edge| edge.kind == kind) {
                        let (neighbour, receiver) =
                            if way == "fwd" { (edge.from, edge.to) } else { (edge.to, edge.from) };
                        if receiver == node {
                            let input = [h[neighbour].clone(), wide(&*edge.features)].concat();
                            received
                                .push(self.linear(&format!("round.{round}.{}.{way}", kind.name()), &input));
                        }
                    }
                    for vector in &received {
                        for (sum, x) in sum.iter_mut().zip(vector) {
                            *sum += x.max(0.0) / received.len() as f64;
                        }
                    }
                }
            }
            sum
        };
        let updated = |node: usize| {
            let input = [h[node].clone(), message(node)].concat();
            let hidden = relu(self.linear(&format!("round.{round}.update.1"), &input));
            let change = self.linear(&format!("round.{round}.update.2"), &hidden);
            let u: Vec<f64> = h[node].iter().zip(change).map(|(h, c)| h + c).collect();
            let n = u.len() as f64;
            let mean = u.iter().sum::<f64>() / n;
            let variance = u.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            let weight = self.tensor(&format!("round.{round}.norm.weight"));
            let bias = self.tensor(&format!("round.{round}.norm.bias"));
            let scaled = |idx: usize| (u[idx] - mean) / (variance + 1e-5).sqrt() * f64::from(weight[idx]);
            (0..u.len()).map(|idx| scaled(idx) + f64::from(bias[idx])).collect()
        };
        (0..h.len()).map(updated).collect()
    }

    fn embed(&self, graph: &NestGraph) -> Embedding {
        let architecture = self.0.info().architecture;
        let input =
            |node: &crate::Node| self.linear(&format!("in.{}", node.kind.name()), &wide(&*node.features));
        let mut h: Vec<Vec<f64>> = graph.nodes.iter().map(input).collect();
        for round in 0..architecture.rounds {
            h = self.round(graph, round, &h);
        }
        let mut summary = Vec::new();
        for kind in NodeKind::ALL {
            let of_kind = || graph.nodes.iter().zip(&h).filter(|(node, _)| node.kind == kind).map(|(_, h)| h);
            let n = of_kind().count();
            let column = |idx: usize| of_kind().map(move |h| h[idx]);
            summary.extend((0..architecture.hidden).map(|idx| column(idx).sum::<f64>() / n.max(1) as f64));
            let max = |idx: usize| column(idx).reduce(f64::max).unwrap_or(0.0);
            summary.extend((0..architecture.hidden).map(max));
        }
        summary.extend(self.linear("host", &wide(&*graph.host)));
        let z = self.linear("readout.2", &relu(self.linear("readout.1", &summary)));
        let profiled = graph.profile.as_ref().map(|profile| {
            let p = wide(&**profile);
            let gate = self.linear("profile.gate", &[z.clone(), p.clone()].concat());
            let shift = self.linear("profile.2", &relu(self.linear("profile.1", &p)));
            let gated = |idx: usize| z[idx] + sigmoid(gate[idx]) * shift[idx];
            (0..z.len()).map(gated).collect::<Vec<f64>>()
        });
        let latest = profiled.as_ref().unwrap_or(&z);
        let speedups = self.linear("head.speedup", latest);
        let logits = self.linear("head.applicable", latest);
        let panel = speedups.iter().zip(&logits).map(|(&speedup, &logit)| crate::PanelPrediction {
            log_speedup: speedup as f32,
            applicable: sigmoid(logit) as f32,
        });
        Embedding {
            model_id: self.0.info().model_id.clone(),
            nest: unit(&z),
            profiled: profiled.as_deref().map(unit),
            nodes: graph.nodes.iter().zip(&h).map(|(node, h)| (node.id.clone(), narrow(h))).collect(),
            panel: panel.collect(),
            log_seconds: self.linear("head.seconds", latest)[0] as f32,
            log_gflops: self.linear("head.gflops", latest)[0] as f32,
            context: narrow(&self.context(latest)),
            measured_log2_seconds: graph.profile.map(|profile| seconds_of(&profile).log2() as f32),
        }
    }

    fn context(&self, z: &[f64]) -> Vec<f64> {
        self.linear("cost.context", z).into_iter().map(f64::tanh).collect()
    }

    /// `g` of the specification.
    fn log2_seconds(
        &self,
        embedding: &Embedding,
        before: &ScheduleFeatures,
        schedule: &ScheduleFeatures,
    ) -> f64 {
        let (shift, scale) = (self.tensor("schedule.shift"), self.tensor("schedule.scale"));
        let x: Vec<f64> = (0..N_SCHEDULE)
            .map(|k| (f64::from(schedule[k]) - f64::from(shift[k])) * f64::from(scale[k]))
            .collect();
        let r = embedding.measured_log2_seconds.map_or([0.0; 2], |measured| {
            let estimate = before.raw(ScheduleFeature::Seconds).log2();
            [((f64::from(measured) - estimate) / 8.0).clamp(-1.0, 1.0), 1.0]
        });
        let near = x.iter().map(|x| x.clamp(-3.0, 3.0)).collect();
        let input = [near, wide(&embedding.context), r.to_vec()].concat();
        let n = self.0.info().architecture.members;
        let member = |k: usize| {
            let a = relu(self.linear(&format!("cost.{k}.1"), &input));
            let b = relu(self.linear(&format!("cost.{k}.2"), &a));
            self.linear(&format!("cost.{k}.3"), &[b, x.clone()].concat())[0]
        };
        (0..n).map(member).sum::<f64>() / n as f64
    }
}

fn seconds_of(profile: &Features<N_PROFILE>) -> f64 {
    profile.raw(ProfileFeature::Seconds)
}

fn wide(list: &[f32]) -> Vec<f64> {
    list.iter().map(|x| f64::from(*x)).collect()
}

fn narrow(list: &[f64]) -> Vec<f32> {
    list.iter().map(|x| *x as f32).collect()
}

fn relu(list: Vec<f64>) -> Vec<f64> {
    list.into_iter().map(|x| x.max(0.0)).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn unit(list: &[f64]) -> Vec<f32> {
    let length = list.iter().map(|x| x * x).sum::<f64>().sqrt();
    list.iter().map(|x| (x / length) as f32).collect()
}

fn assert_close(found: &Embedding, expected: &Embedding) {
    let numbers = |embedding: &Embedding| -> Vec<f32> {
        let panel = embedding.panel.iter().flat_map(|p| [p.log_speedup, p.applicable]);
        let lists = [&embedding.nest, &embedding.context].into_iter().chain(&embedding.profiled);
        let all = lists.chain(embedding.nodes.iter().map(|(_, h)| h)).flatten().copied().chain(panel);
        all.chain([embedding.log_seconds, embedding.log_gflops]).collect()
    };
    let distance = difference(&numbers(found), &numbers(expected));
    assert!(distance < 1e-5, "{distance}: {found:?}\n{expected:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn the_encoder_computes_its_specification(seed in any::<u64>()) {
        let weights = Weights::random(seed, SMALL).expect("the sizes are sound");
        let encoder = Encoder::new(&weights).expect("random weights are valid");
        let graph = graph_of_sample(&random_program(seed, &shape(seed)));
        assert_close(&encoder.embed(&graph).expect("it is sound"), &Oracle(&weights).embed(&graph));
        let profile = ProfileVector { seconds: Some(1e-3), gflops: Some(2.5), ..ProfileVector::default() };
        let profiled = graph.clone().with_profile(&profile);
        let embedding = encoder.embed(&profiled).expect("it is sound");
        assert_close(&embedding, &Oracle(&weights).embed(&profiled));
        // A profile leaves the static embedding alone, and is not ignored.
        let without = encoder.embed(&graph).expect("it is sound");
        prop_assert_eq!(&embedding.nest, &without.nest);
        prop_assert_ne!(embedding.profiled.as_ref(), Some(&embedding.nest));
        prop_assert_ne!(&embedding.panel, &without.panel);
        // Schedules with any features, whatever the embedding.
        let mut random = Random::new(seed);
        let mut schedule = || Features([0.0; N_SCHEDULE].map(|_| random.between(-300, 300) as f32 / 100.0));
        let (before, after) = (schedule(), schedule());
        for embedding in [&embedding, &without] {
            let oracle = Oracle(&weights);
            let expected =
                oracle.log2_seconds(embedding, &before, &before) - oracle.log2_seconds(embedding, &before, &after);
            let found = encoder.speedups(embedding, &before, &[after]).expect("it is sound")[0];
            prop_assert!((f64::from(found) - expected).abs() < 1e-5 * expected.abs().max(10.0), "{} {}", found, expected);
        }
    }
}

#[test]
fn the_usual_sizes_compute_the_specification_too() {
    let weights = Weights::random(11, Architecture::with_panel(24)).expect("the sizes are sound");
    let encoder = Encoder::new(&weights).expect("random weights are valid");
    let graph = graph_of_sample(&random_program(5, &shape(5)));
    assert_close(&encoder.embed(&graph).expect("it is sound"), &Oracle(&weights).embed(&graph));
}

/// One loop, one statement `x[i] = 1.0`, its access and its array, through weights of which few are not zero.
#[test]
fn numbers_worked_out_by_hand() {
    let graph = graph_of_text(
        "program p { array A0 x: f64[10] param dataflow { N0 } nest N0 in p { \
         for L0 i: i32 in 0 .. 10 { S0: x[i] = 1.0 } } }",
        &[],
    );
    assert_eq!(
        graph.nodes.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(),
        ["L0", "S0", "S0.0", "A0"]
    );
    let architecture =
        Architecture { hidden: 2, rounds: 1, embedding: 2, panel: 1, host: 1, readout: 2, ..SMALL };
    let info = ModelInfo::new("by hand", "none", architecture);
    let weights = Weights::new(info, |name| {
        let (_, shape) = architecture.tensors().into_iter().find(|(known, _)| known == name)?;
        let mut values = vec![0.0; shape.iter().product()];
        match name {
            // Loops begin as (3, 0), the others as (0, 0).
            "in.loop.bias" => values[0] = 3.0,
            // The statement receives (3, 0) from its loop: relu(1 * 3 - 1, 0) = (2, 0).
            "round.0.body.fwd.weight" => values[0] = 1.0,
            "round.0.body.fwd.bias" => values[0] = -1.0,
            // Only half the message is kept: the statement's change is (1, 0).
            "round.0.update.1.weight" => values[2] = 0.5,
            "round.0.update.2.weight" => values[0] = 1.0,
            // Two different numbers become 1 and -1, up to the epsilon; equal ones become 0.
            "round.0.norm.weight" => values.fill(1.0),
            "round.0.norm.bias" => values[1] = 0.25,
            // Loops' mean of the first component, statements' maximum of the second.
            "readout.1.weight" => (values[0], values[17 + 7]) = (1.0, -1.0),
            "readout.2.weight" => (values[0], values[3]) = (3.0, 4.0),
            "head.speedup.bias" => values[0] = 0.5,
            "head.seconds.weight" => values[1] = 2.0,
            _ => {}
        }
        Some(values)
    });
    let encoder = Encoder::new(&weights.expect("it is complete")).expect("it is complete");
    let embedding = encoder.embed(&graph).expect("it is sound");
    // Of (3, 0): mean 1.5, variance 2.25; of (1, 0): mean 0.5, variance 0.25.
    let of_loop = 1.5 / (2.25_f32 + 1e-5).sqrt();
    let of_stmt = 0.5 / (0.25_f32 + 1e-5).sqrt();
    let expected = [[of_loop, 0.25 - of_loop], [of_stmt, 0.25 - of_stmt], [0.0, 0.25], [0.0, 0.25]];
    for ((id, found), expected) in embedding.nodes.iter().zip(&expected) {
        assert!(difference(found, expected) < 1e-6, "{id}: {found:?}");
    }
    let z = [3.0 * of_loop, 4.0 * (of_stmt - 0.25)];
    let length = (z[0] * z[0] + z[1] * z[1]).sqrt();
    assert!(difference(&embedding.nest, &[z[0] / length, z[1] / length]) < 1e-6);
    assert!((embedding.log_seconds - 2.0 * z[1]).abs() < 1e-5);
    assert_eq!((embedding.panel[0].log_speedup, embedding.panel[0].applicable), (0.5, 0.5));
    assert_eq!(graph.nodes[0].features.len(), N_NODE);
}

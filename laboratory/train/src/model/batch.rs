//! Several graphs as one disjoint union, with the targets of each.

use crate::example::Example;
use oxeye_embed::{
    EdgeKind, Features, N_EDGE, N_HOST, N_NODE, N_PROFILE, N_SCHEDULE, NestGraph, NodeKind, ScheduleFeatures,
    Way, residual,
};
use oxeye_random::Rng;
use std::collections::BTreeMap;
use tch::{Device, Kind, Tensor};

/// A union of graphs. Nodes are ordered by kind, in the order of [`NodeKind::ALL`].
pub struct Batch {
    pub(super) n_graphs: i64,
    /// By kind of node: features.
    pub(super) features: Vec<Tensor>,
    /// By kind of node: the graph of each.
    pub(super) graphs: Vec<Tensor>,
    /// By kind of node: the number in each graph.
    pub(super) counts: Vec<Tensor>,
    /// By kind of edge, along and against it.
    pub(super) relations: Vec<[Relation; 2]>,
    pub(super) hosts: Tensor,
    pub(super) profiles: Tensor,
    /// 1 for graphs with a profile, else 0.
    pub(super) profiled: Tensor,
}

/// The pairs of nodes that exchange messages.
pub(super) struct Relation {
    pub(super) is_empty: bool,
    pub(super) neighbours: Tensor,
    pub(super) receivers: Tensor,
    pub(super) features: Tensor,
    /// One over the number of neighbours of the receiver.
    pub(super) shares: Tensor,
}

/// The targets of the graphs of a batch. Where a mask is 0, the target is unknown.
pub(super) struct Targets {
    pub(super) log_speedups: Tensor,
    pub(super) speedup_mask: Tensor,
    pub(super) applicable: Tensor,
    pub(super) applicable_mask: Tensor,
    pub(super) log_seconds: Tensor,
    pub(super) seconds_mask: Tensor,
    pub(super) log_gflops: Tensor,
    pub(super) gflops_mask: Tensor,
}

/// Schedules of the nests of a batch.
pub struct Schedules {
    /// Features, one row per schedule.
    pub(super) features: Tensor,
    /// The graph of each.
    pub(super) graphs: Tensor,
    /// The row of the original nest of each.
    pub(super) before: Tensor,
    /// What is known of the measured time of the nest, one row per schedule: `r` of the specification.
    pub(super) residuals: Tensor,
    /// log2 of the speedup over the original nest.
    pub(super) log_speedups: Tensor,
    /// log2 of seconds.
    pub(super) log_seconds: Tensor,
    /// 0 for original nests, else the weight of the speedup: the root of the number of templates that give this
    /// schedule.
    pub(super) weights: Tensor,
    /// For each graph, the row of each template.
    pub(super) rows: Vec<Vec<Option<usize>>>,
}

impl Schedules {
    /// Adds noise of this spread, in units of one over `scale`: similar nests behave similarly.
    pub(super) fn jitter(&mut self, spread: f64, scale: &Tensor, rng: &mut Rng) {
        if spread > 0.0 {
            // The sum of uniform numbers is nearly normal.
            let mut normal = || ((0..4).map(|_| rng.unit()).sum::<f64>() - 2.0) * spread * 3.0f64.sqrt();
            let noise: Vec<f32> = (0..self.features.numel()).map(|_| normal() as f32).collect();
            let noise = Tensor::from_slice(&noise).to_device(scale.device()).reshape(self.features.size());
            self.features = &self.features + noise / scale;
        }
    }

    /// The schedules of examples; `profiled` says whether the profile of each is used.
    pub fn of(examples: &[&Example], profiled: &[bool], device: Device) -> Self {
        let mut features: Vec<f32> = Vec::new();
        let (mut graphs, mut before, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
        let (mut log_speedups, mut log_seconds, mut weights) = (Vec::new(), Vec::new(), Vec::<f32>::new());
        let mut rows = Vec::new();
        for (g, (example, profiled)) in examples.iter().zip(profiled).enumerate() {
            let first = graphs.len();
            let measured = example.profile.seconds.filter(|_| *profiled).map(|s| s.log2() as f32);
            let as_it_is = example.versions.first().copied().flatten();
            let residual = as_it_is.map_or([0.0; 2], |version| residual(&version, measured));
            // Versions with equal features and times are one.
            let mut known: BTreeMap<(Vec<u32>, u32), usize> = BTreeMap::new();
            let row = |(version, speedup): (&Option<ScheduleFeatures>, &Option<f32>)| {
                as_it_is?;
                let (version, speedup) = ((*version)?, (*speedup)?);
                let key = (version.iter().map(|x| x.to_bits()).collect(), speedup.to_bits());
                let row = *known.entry(key).or_insert_with(|| {
                    features.extend(version.0);
                    graphs.push(g as i64);
                    before.push(first as i64);
                    residuals.extend(residual);
                    log_speedups.push(speedup);
                    let seconds = example.log_seconds.unwrap_or(0.0) * std::f32::consts::LOG2_10;
                    log_seconds.push(seconds - speedup);
                    weights.push(0.0);
                    graphs.len() - 1
                });
                if row > first {
                    weights[row] += 1.0;
                }
                Some(row)
            };
            rows.push(example.versions.iter().zip(&example.log_speedups).map(row).collect());
        }
        let vector = |values: &[f32]| Tensor::from_slice(values).to_device(device);
        let roots: Vec<f32> = weights.iter().map(|w| w.sqrt()).collect();
        Self {
            features: matrix(&features, N_SCHEDULE, device),
            graphs: Tensor::from_slice(&graphs).to_device(device),
            before: Tensor::from_slice(&before).to_device(device),
            residuals: matrix(&residuals, 2, device),
            log_speedups: vector(&log_speedups),
            log_seconds: vector(&log_seconds),
            weights: vector(&roots),
            rows,
        }
    }
}

impl Batch {
    /// The batch of some graphs, each with its profile if it has one.
    pub fn of(graphs: &[&NestGraph], device: Device) -> Self {
        let mut features: Vec<Vec<f32>> = vec![Vec::new(); NodeKind::ALL.len()];
        let mut owners: Vec<Vec<i64>> = vec![Vec::new(); NodeKind::ALL.len()];
        // Kind and position within the kind of every node of every graph.
        let mut places: Vec<Vec<(usize, usize)>> = Vec::new();
        for (g, graph) in graphs.iter().enumerate() {
            let place = |node: &oxeye_embed::Node| {
                let kind = node.kind as usize;
                features[kind].extend(node.features.0);
                owners[kind].push(g as i64);
                (kind, owners[kind].len() - 1)
            };
            places.push(graph.nodes.iter().map(place).collect());
        }
        let mut starts = vec![0; NodeKind::ALL.len()];
        for kind in 1..starts.len() {
            starts[kind] = starts[kind - 1] + owners[kind - 1].len();
        }
        let n_nodes: usize = owners.iter().map(Vec::len).sum();
        let position = |(kind, place): (usize, usize)| (starts[kind] + place) as i64;
        let relation = |kind: EdgeKind, way: Way| {
            let (mut neighbours, mut receivers, mut features) = (Vec::new(), Vec::new(), Vec::new());
            for (graph, places) in graphs.iter().zip(&places) {
                for edge in graph.edges.iter().filter(|e| e.kind == kind) {
                    let (from, to) = (position(places[edge.from]), position(places[edge.to]));
                    let (neighbour, receiver) = if way == Way::Forward { (from, to) } else { (to, from) };
                    neighbours.push(neighbour);
                    receivers.push(receiver);
                    features.extend(edge.features.0);
                }
            }
            let mut n_heard = vec![0.0f32; n_nodes];
            receivers.iter().for_each(|r| n_heard[*r as usize] += 1.0);
            let shares: Vec<f32> = receivers.iter().map(|r| 1.0 / n_heard[*r as usize]).collect();
            Relation {
                is_empty: receivers.is_empty(),
                features: matrix(&features, N_EDGE, device),
                shares: matrix(&shares, 1, device),
                neighbours: Tensor::from_slice(&neighbours).to_device(device),
                receivers: Tensor::from_slice(&receivers).to_device(device),
            }
        };
        let profile = |g: &&NestGraph| g.profile.unwrap_or_else(Features::zero).0;
        let count = |owners: &Vec<i64>| {
            let mut counts = vec![0.0f32; graphs.len()];
            owners.iter().for_each(|g| counts[*g as usize] += 1.0);
            Tensor::from_slice(&counts).to_device(device)
        };
        Self {
            n_graphs: graphs.len() as i64,
            features: features.iter().map(|f| matrix(f, N_NODE, device)).collect(),
            graphs: owners.iter().map(|o| Tensor::from_slice(o).to_device(device)).collect(),
            counts: owners.iter().map(count).collect(),
            relations: EdgeKind::ALL
                .into_iter()
                .map(|kind| [relation(kind, Way::Forward), relation(kind, Way::Reverse)])
                .collect(),
            hosts: matrix(&graphs.iter().flat_map(|g| g.host.0).collect::<Vec<_>>(), N_HOST, device),
            profiles: matrix(&graphs.iter().flat_map(profile).collect::<Vec<_>>(), N_PROFILE, device),
            profiled: Tensor::from_slice(
                &graphs.iter().map(|g| f32::from(u8::from(g.profile.is_some()))).collect::<Vec<_>>(),
            )
            .to_device(device),
        }
    }
}

impl Targets {
    pub(super) fn of(examples: &[&Example], device: Device) -> Self {
        let width = examples.first().map_or(0, |e| e.log_speedups.len());
        let known = |values: Vec<Option<f32>>, width: usize| {
            let mask: Vec<f32> = values.iter().map(|v| f32::from(u8::from(v.is_some()))).collect();
            let values: Vec<f32> = values.into_iter().map(|v| v.unwrap_or(0.0)).collect();
            (matrix(&values, width, device), matrix(&mask, width, device))
        };
        // The original nest has a speedup of one by definition: there is nothing to learn.
        let speedups = |e: &&Example| {
            let mut list = e.log_speedups.clone();
            list.iter_mut().take(1).for_each(|first| *first = Some(0.0));
            list
        };
        let flag = |a: &Option<bool>| a.map(|a| f32::from(u8::from(a)));
        let (log_speedups, speedup_mask) = known(examples.iter().flat_map(speedups).collect(), width);
        let (applicable, applicable_mask) =
            known(examples.iter().flat_map(|e| e.applicable.iter().map(flag)).collect(), width);
        let (log_seconds, seconds_mask) = known(examples.iter().map(|e| e.log_seconds).collect(), 1);
        let (log_gflops, gflops_mask) = known(examples.iter().map(|e| e.log_gflops).collect(), 1);
        Self {
            log_speedups,
            speedup_mask,
            applicable,
            applicable_mask,
            log_seconds: log_seconds.squeeze_dim(1),
            seconds_mask: seconds_mask.squeeze_dim(1),
            log_gflops: log_gflops.squeeze_dim(1),
            gflops_mask: gflops_mask.squeeze_dim(1),
        }
    }
}

fn matrix(values: &[f32], width: usize, device: Device) -> Tensor {
    let rows = values.len().checked_div(width).unwrap_or(0);
    Tensor::from_slice(values).to_kind(Kind::Float).reshape([rows as i64, width as i64]).to_device(device)
}

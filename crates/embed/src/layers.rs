//! The encoder's layers over rows of numbers.

use crate::architecture::{Way, norm_name, relation_name, update_name};
use crate::error::EmbedError;
use crate::graph::{EdgeKind, NestGraph};
use crate::schema::N_EDGE;
use crate::weights::Weights;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Added to variances, as PyTorch's `LayerNorm` does.
const NORM_EPSILON: f32 = 1e-5;

/// `weight · x + bias` for every row `x`.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    pub(crate) fn new(weights: &Weights, name: &str) -> Result<Self, EmbedError> {
        Ok(Self {
            weight: matrix(weights, &format!("{name}.weight"))?,
            bias: vector(weights, &format!("{name}.bias"))?,
        })
    }

    pub(crate) fn apply(&self, rows: &Array2<f32>) -> Array2<f32> {
        rows.dot(&self.weight.t()) + &self.bias
    }
}

/// The rectifier: negative numbers become 0.
pub(crate) fn relu(mut rows: Array2<f32>) -> Array2<f32> {
    rows.mapv_inplace(|x| x.max(0.0));
    rows
}

/// A round of messages between all nodes.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    relations: Vec<Relation>,
    update: [Linear; 2],
    norm: Norm,
}

impl Round {
    pub(crate) fn new(weights: &Weights, round: usize) -> Result<Self, EmbedError> {
        let mut relations = Vec::new();
        for kind in EdgeKind::ALL {
            for way in Way::ALL {
                relations.push(Relation::new(weights, round, kind, way)?);
            }
        }
        let update = |layer| Linear::new(weights, &update_name(round, layer));
        Ok(Self { relations, update: [update(1)?, update(2)?], norm: Norm::new(weights, &norm_name(round))? })
    }

    pub(crate) fn apply(&self, wiring: &Wiring, nodes: &Array2<f32>) -> Array2<f32> {
        let mut messages = Array2::zeros(nodes.raw_dim());
        for relation in &self.relations {
            relation.add_messages(wiring, nodes, &mut messages);
        }
        let [first, second] = &self.update;
        let joined = ndarray::concatenate![Axis(1), nodes.view(), messages];
        self.norm.apply(nodes + second.apply(&relu(first.apply(&joined))))
    }
}

/// The edges of a graph by kind.
pub(crate) struct Wiring {
    kinds: Vec<Wires>,
}

struct Wires {
    /// Positions of start and end.
    ends: Vec<(usize, usize)>,
    /// Features, a row for each edge.
    features: Array2<f32>,
}

impl Wiring {
    /// Of a sound graph.
    pub(crate) fn new(graph: &NestGraph) -> Self {
        let wires = |kind: EdgeKind| {
            let edges: Vec<_> = graph.edges.iter().filter(|edge| edge.kind == kind).collect();
            let mut features = Array2::zeros((edges.len(), N_EDGE));
            for (mut row, edge) in features.outer_iter_mut().zip(&edges) {
                row.assign(&ArrayView2::from(&[*edge.features]).row(0));
            }
            Wires { ends: edges.iter().map(|edge| (edge.from, edge.to)).collect(), features }
        };
        Self { kinds: EdgeKind::ALL.into_iter().map(wires).collect() }
    }
}

/// Messages along one kind of edge, one way.
#[derive(Clone, Debug)]
struct Relation {
    kind_idx: usize,
    way: Way,
    /// The part of the layer that sees the neighbour.
    of_node: Array2<f32>,
    /// The part of the layer that sees the edge.
    of_edge: Array2<f32>,
    bias: Array1<f32>,
}

impl Relation {
    fn new(weights: &Weights, round: usize, kind: EdgeKind, way: Way) -> Result<Self, EmbedError> {
        let Linear { weight, bias } = Linear::new(weights, &relation_name(round, kind, way))?;
        let hidden = weight.ncols() - N_EDGE;
        let of_node = weight.slice(s![.., ..hidden]).to_owned();
        let of_edge = weight.slice(s![.., hidden..]).to_owned();
        Ok(Self { kind_idx: kind as usize, way, of_node, of_edge, bias })
    }

    /// Adds to each node the mean over its neighbours.
    fn add_messages(&self, wiring: &Wiring, nodes: &Array2<f32>, messages: &mut Array2<f32>) {
        let wires = &wiring.kinds[self.kind_idx];
        if wires.ends.is_empty() {
            return;
        }
        let ends = || {
            wires.ends.iter().map(|&(from, to)| match self.way {
                Way::Forward => (from, to),
                Way::Reverse => (to, from),
            })
        };
        // A node with many neighbours is multiplied once.
        let mut neighbours: Vec<usize> = ends().map(|(neighbour, _)| neighbour).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let projected = nodes.select(Axis(0), &neighbours).dot(&self.of_node.t());
        let mut rows = wires.features.dot(&self.of_edge.t()) + &self.bias;
        for (mut row, (neighbour, _)) in rows.outer_iter_mut().zip(ends()) {
            if let Ok(position) = neighbours.binary_search(&neighbour) {
                row += &projected.row(position);
            }
        }
        let rows = relu(rows);
        let mut n_neighbours = vec![0_u32; nodes.nrows()];
        ends().for_each(|(_, node)| n_neighbours[node] += 1);
        for (row, (_, node)) in rows.outer_iter().zip(ends()) {
            messages.row_mut(node).scaled_add(1.0 / n_neighbours[node] as f32, &row);
        }
    }
}

/// Layer normalization (Ba, Kiros and Hinton, 2016).
#[derive(Clone, Debug)]
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
}

impl Norm {
    fn new(weights: &Weights, name: &str) -> Result<Self, EmbedError> {
        Ok(Self {
            weight: vector(weights, &format!("{name}.weight"))?,
            bias: vector(weights, &format!("{name}.bias"))?,
        })
    }

    fn apply(&self, mut rows: Array2<f32>) -> Array2<f32> {
        for mut row in rows.outer_iter_mut() {
            let mean = row.sum() / row.len() as f32;
            row -= mean;
            let variance = row.dot(&row) / row.len() as f32;
            row /= (variance + NORM_EPSILON).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
        rows
    }
}

fn matrix(weights: &Weights, name: &str) -> Result<Array2<f32>, EmbedError> {
    let missing = || EmbedError::MissingTensor(name.to_owned());
    let (shape, values) = weights.tensor(name).ok_or_else(missing)?;
    let &[n_rows, n_columns] = shape else { return Err(missing()) };
    Array2::from_shape_vec((n_rows, n_columns), values.to_vec()).map_err(|_| missing())
}

pub(crate) fn vector(weights: &Weights, name: &str) -> Result<Array1<f32>, EmbedError> {
    let (_, values) = weights.tensor(name).ok_or_else(|| EmbedError::MissingTensor(name.to_owned()))?;
    Ok(Array1::from(values.to_vec()))
}

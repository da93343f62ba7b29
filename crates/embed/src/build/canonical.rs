//! An order of nodes and edges that depends on nothing but the graph.

use crate::graph::{Edge, Node};
use crate::vector::Features;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Sorts nodes by kind, features and surroundings, and edges by kind and ends.
///
/// Surroundings are told apart by colour refinement (Weisfeiler and Leman, 1968). Nodes that it cannot tell apart have
/// equal embeddings, so their order does not matter.
pub(super) fn ordered(nodes: Vec<Node>, edges: Vec<Edge>) -> (Vec<Node>, Vec<Edge>) {
    let colours = refined(&nodes, &edges);
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by(|&a, &b| {
        let (left, right) = (&nodes[a], &nodes[b]);
        let kinds = left.kind.cmp(&right.kind);
        kinds.then_with(|| compared(&left.features, &right.features)).then(colours[a].cmp(&colours[b]))
    });
    let mut positions = vec![0; nodes.len()];
    for (position, &node_idx) in order.iter().enumerate() {
        positions[node_idx] = position;
    }
    let mut slots: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let nodes = order.iter().filter_map(|&node_idx| slots[node_idx].take()).collect();
    let renamed = |edge: Edge| Edge { from: positions[edge.from], to: positions[edge.to], ..edge };
    let mut edges: Vec<Edge> = edges.into_iter().map(renamed).collect();
    edges.sort_by(|a, b| {
        (a.kind, a.from, a.to).cmp(&(b.kind, b.from, b.to)).then_with(|| compared(&a.features, &b.features))
    });
    (nodes, edges)
}

fn compared<const N: usize>(a: &Features<N>, b: &Features<N>) -> Ordering {
    let unequal = a.iter().zip(b.iter()).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    unequal.unwrap_or(Ordering::Equal)
}

/// A number for each node, equal for nodes whose surroundings look the same.
fn refined(nodes: &[Node], edges: &[Edge]) -> Vec<u64> {
    let mut colours: Vec<u64> =
        nodes.iter().map(|node| hash(node.kind as u64, bits(&node.features))).collect();
    let labels: Vec<u64> = edges.iter().map(|edge| hash(edge.kind as u64, bits(&edge.features))).collect();
    let mut n_distinct = 0;
    loop {
        let n_now = colours.iter().collect::<BTreeSet<_>>().len();
        if n_now <= n_distinct {
            return colours;
        }
        n_distinct = n_now;
        let mut around: Vec<Vec<u64>> = vec![Vec::new(); nodes.len()];
        for (edge, &label) in edges.iter().zip(&labels) {
            around[edge.to].push(hash(1, [label, colours[edge.from]]));
            around[edge.from].push(hash(2, [label, colours[edge.to]]));
        }
        for (colour, mut neighbours) in colours.iter_mut().zip(around) {
            neighbours.sort_unstable();
            *colour = hash(*colour, neighbours);
        }
    }
}

fn bits<const N: usize>(features: &Features<N>) -> impl Iterator<Item = u64> {
    features.iter().map(|feature| u64::from(feature.to_bits()))
}

/// FNV-1a over 64-bit words, with a final mix so that all bits count.
fn hash(seed: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    let step = |state: u64, word: u64| {
        let state = (state ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        state ^ (state >> 29)
    };
    words.into_iter().fold(step(0xcbf2_9ce4_8422_2325, seed), step)
}

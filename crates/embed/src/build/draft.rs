//! A graph being made.

use crate::graph::{Edge, EdgeKind, Node, NodeKind};
use crate::schema::{FeatureList, N_EDGE, N_NODE};
use crate::vector::Features;
use std::collections::HashMap;

/// A graph being made: nodes in any order, edges by positions in it.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    positions: HashMap<(NodeKind, String), usize>,
}

impl Draft {
    pub(super) fn node(&mut self, kind: NodeKind, id: String, features: Features<N_NODE>) {
        self.positions.insert((kind, id.clone()), self.nodes.len());
        self.nodes.push(Node { kind, id, features });
    }

    /// Adds an edge between nodes that are there; equal edges count once.
    pub(super) fn edge(&mut self, kind: EdgeKind, from: &str, to: &str, features: Features<N_EDGE>) {
        let (from_kind, to_kind) = kind.ends();
        let position = |kind, id: &str| self.positions.get(&(kind, id.to_owned())).copied();
        if let (Some(from), Some(to)) = (position(from_kind, from), position(to_kind, to)) {
            let edge = Edge { kind, from, to, features };
            if !self.edges.contains(&edge) {
                self.edges.push(edge);
            }
        }
    }
}

/// Sets the ratio of two quantities; zero if one is unknown.
pub(super) fn set_ratio<const N: usize>(
    features: &mut Features<N>,
    feature: impl FeatureList,
    value: Option<f64>,
    over: Option<f64>,
) {
    if let (Some(value), Some(over)) = (value, over.filter(|over| *over > 0.0)) {
        features.set(feature, value / over);
    }
}

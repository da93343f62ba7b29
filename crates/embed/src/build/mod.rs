//! From a nest to its graph.

mod accesses;
mod canonical;
mod carried;
mod facts;
mod loops;
mod reach;
mod stmts;

use crate::error::EmbedError;
use crate::graph::{Edge, EdgeKind, Features, NestGraph, Node, NodeKind};
use crate::schema::{FEATURE_SCHEMA, FeatureList, N_EDGE, N_NODE};
use crate::vectors::HostVector;
use carried::Carried;
use facts::Facts;
use oxeye_ir::{Nest, Program, SymId};
use reach::Reach;
use std::collections::HashMap;

/// The graph of `nest`, which belongs to `program` (or will: a transformed nest need not be in it yet), under values of
/// the symbols and on a machine. Symbols without a value leave the features that need them unknown.
///
/// The result depends neither on names nor on ids, nor on the order of statements as far as the dependences leave it
/// open. Nothing is normalised here: nests that should be found alike are normalised before.
///
/// # Errors
/// [`EmbedError::UnknownArray`] if the nest uses an array that the program does not declare, and
/// [`EmbedError::EmptyNest`] if it has no statement.
pub fn graph(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
    host: &HostVector,
) -> Result<NestGraph, EmbedError> {
    if let Some(array) = nest.arrays().into_iter().find(|array| !program.arrays.contains_key(array)) {
        return Err(EmbedError::UnknownArray { nest: nest.id, array });
    }
    let facts = Facts::new(program, nest, value_of, host);
    if facts.stmts.is_empty() {
        return Err(EmbedError::EmptyNest(nest.id));
    }
    let reach = Reach::new(&facts);
    let carried = Carried::new(&facts);
    let mut draft = Draft::default();
    loops::add(&facts, &reach, &carried, &mut draft);
    stmts::add(&facts, &mut draft);
    accesses::add(&facts, &reach, &mut draft);
    carried.add_edges(&facts, &mut draft);
    let (nodes, edges) = canonical::ordered(draft.nodes, draft.edges);
    Ok(NestGraph { schema: FEATURE_SCHEMA.to_owned(), nodes, edges, host: host.features(), profile: None })
}

/// A graph being made: nodes in any order, edges by positions in it.
#[derive(Default)]
struct Draft {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    positions: HashMap<(NodeKind, String), usize>,
}

impl Draft {
    fn node(&mut self, kind: NodeKind, id: String, features: Features<N_NODE>) {
        self.positions.insert((kind, id.clone()), self.nodes.len());
        self.nodes.push(Node { kind, id, features });
    }

    /// Adds an edge between nodes that are there; equal edges count once.
    fn edge(&mut self, kind: EdgeKind, from: &str, to: &str, features: Features<N_EDGE>) {
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

/// Sets the ratio of two quantities; left at zero if one is not known.
fn set_ratio<const N: usize>(
    features: &mut Features<N>,
    feature: impl FeatureList,
    value: Option<f64>,
    over: Option<f64>,
) {
    if let (Some(value), Some(over)) = (value, over.filter(|over| *over > 0.0)) {
        features.set(feature, value / over);
    }
}

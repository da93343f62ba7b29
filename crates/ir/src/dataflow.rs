//! The dataflow graph of a region: arrays and nests, connected by memlets.

use crate::{ArrayId, Expr, IndexRange, NestId};
use petgraph::stable_graph::StableGraph;
use serde::{Deserialize, Serialize};

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DataNode {
    /// An array at one point of the region's order; each nest that writes an array adds such a node.
    Array(ArrayId),
    /// A loop nest.
    Nest(NestId),
}

/// The data that one nest moves from or to one array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memlet {
    /// The array.
    pub array: ArrayId,
    /// The indices touched in each dimension; `None` where unknown. The box of these ranges contains every element touched,
    /// provided that no loop of the nest is empty.
    pub subset: Vec<Option<IndexRange>>,
    /// Elements in that box, if the subset is known.
    pub volume: Option<Expr>,
}

/// Nests of one region in execution order, with the arrays between them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DataflowGraph {
    pub(crate) graph: StableGraph<DataNode, Memlet>,
    /// Nests in execution order.
    pub(crate) order: Vec<NestId>,
}

/// Compares nests, arrays and memlets, in insertion order.
impl PartialEq for DataflowGraph {
    fn eq(&self, other: &Self) -> bool {
        let nodes = |g: &Self| g.graph.node_indices().map(|n| g.graph[n]).collect::<Vec<_>>();
        self.order == other.order && nodes(self) == nodes(other) && self.memlets().eq(other.memlets())
    }
}

impl DataflowGraph {
    /// Nests in execution order.
    pub fn nests(&self) -> &[NestId] {
        &self.order
    }

    /// All memlets with source and destination, in insertion order.
    pub fn memlets(&self) -> impl Iterator<Item = (DataNode, DataNode, &Memlet)> + '_ {
        self.graph.edge_indices().filter_map(|e| {
            let (from, to) = self.graph.edge_endpoints(e)?;
            Some((self.graph[from], self.graph[to], &self.graph[e]))
        })
    }
}

//! Computes what nests read and write, and builds dataflow graphs from it.

use crate::{
    ArrayId, BinaryOp, DataNode, DataflowGraph, Expr, IndexRange, Memlet, Nest, NestId, Program, Region,
    Storage,
};
use petgraph::stable_graph::{NodeIndex, StableGraph};
use std::collections::BTreeMap;

impl Program {
    /// Rebuilds every dataflow graph of the control structure from its list of nests, after nests have changed.
    pub fn rebuild_dataflow(&mut self) {
        let mut body = std::mem::replace(&mut self.body, Region::Sequence(Vec::new()));
        body.for_each_graph_mut(&mut |graph| *graph = DataflowGraph::build(self, graph.nests()));
        self.body = body;
    }
}

impl DataflowGraph {
    /// The graph of these nests, executed in this order. A nest that is not in `program` keeps its place and moves
    /// nothing. Reshapes are nodes of the array whose memory they have. Temporaries of a nest are not part of the graph.
    pub fn build(program: &Program, nests: &[NestId]) -> Self {
        let mut graph = StableGraph::new();
        let mut current: BTreeMap<ArrayId, NodeIndex> = BTreeMap::new();
        let memory = |array: ArrayId| program.reshapes.get(&array).copied().unwrap_or(array);
        for id in nests {
            let nest_node = graph.add_node(DataNode::Nest(*id));
            let Some(nest) = program.nests.get(id) else { continue };
            for memlet in memlets(program, nest, false) {
                let array = memory(memlet.array);
                let from = *current.entry(array).or_insert_with(|| graph.add_node(DataNode::Array(array)));
                graph.add_edge(from, nest_node, memlet);
            }
            for memlet in memlets(program, nest, true) {
                let array = memory(memlet.array);
                let to = graph.add_node(DataNode::Array(array));
                current.insert(array, to);
                graph.add_edge(nest_node, to, memlet);
            }
        }
        Self { graph, order: nests.to_vec() }
    }
}

/// What the nest reads (or writes), one memlet per array, by ascending id.
fn memlets(program: &Program, nest: &Nest, is_written: bool) -> Vec<Memlet> {
    let is_moved = |array: ArrayId| {
        let storage = program.arrays.get(&array).map(|a| a.storage);
        !matches!(storage, Some(Storage::Body(_) | Storage::Temp(_)))
    };
    let mut touched: BTreeMap<ArrayId, Vec<Vec<Option<IndexRange>>>> = BTreeMap::new();
    for found in nest.access_ranges(&is_moved) {
        if if is_written { found.is_written } else { found.is_read } {
            touched.entry(found.access.array).or_default().push(found.indices);
        }
    }
    let memlet = |(array, boxes): (ArrayId, Vec<Vec<Option<IndexRange>>>)| {
        let n_dims = boxes.iter().map(Vec::len).min().unwrap_or(0);
        let hull = |dim: usize| {
            let ranges: Option<Vec<_>> = boxes.iter().map(|indices| indices[dim].clone()).collect();
            IndexRange::hull(ranges?)
        };
        let subset: Vec<_> = (0..n_dims).map(hull).collect();
        let volume = subset.iter().try_fold(Expr::from(1), |volume, range| {
            let length = Expr::binary(BinaryOp::Add, difference(range.as_ref()?), Expr::from(1));
            Some(Expr::binary(BinaryOp::Mul, volume, length))
        });
        Memlet { array, subset, volume }
    };
    touched.into_iter().map(memlet).collect()
}

fn difference(range: &IndexRange) -> Expr {
    if range.first == Expr::from(0) {
        range.last.clone()
    } else {
        Expr::binary(BinaryOp::Sub, range.last.clone(), range.first.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Names;

    #[test]
    fn propagates_through_loops() {
        let program = Program::parse(
            "program p {
               symbol P0 n: i32
               symbol P1 m: i32
               array A0 x: f64[n][m] param
               array A1 y: f64[n] param
               array A2 t: f64 body(L0)
               array A3 idx: i32[n] param
               dataflow { N0 N1 }
               nest N0 in p {
                 for L0 i: i32 in 1 .. n - 1 {
                   S0: t = y[i - 1] + y[i + 1] + y[idx[i]]
                   for L1 j: i32 in 0 .. i + 1 { S1: x[i][j] = t }
                 }
               }
               nest N1 in p {
                 for L0 ii: i32 in 0 .. n step 32 {
                   for L1 i: i32 in ii .. min(n, ii + 32) {
                     for L2 j: i32 in 0 .. min(m, n) { S0: y[i] += x[n - 1 - i][j] }
                   }
                 }
               }
             }",
        )
        .unwrap();
        let names = Names::new(&program);
        let crate::Region::Dataflow(graph) = &program.body else { panic!("not a dataflow region") };
        let shown: Vec<String> = graph
            .memlets()
            .map(|(from, to, memlet)| {
                let range = |r: &Option<IndexRange>| match r {
                    Some(r) => format!("[{} .. {}]", names.expr(&r.first), names.expr(&r.last)),
                    None => "[?]".into(),
                };
                let subset: String = memlet.subset.iter().map(range).collect();
                let volume = memlet.volume.as_ref().map_or("?".into(), |v| names.expr(v));
                format!("{from:?} -> {to:?}: {subset} {volume}")
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Array(A1) -> Nest(N0): [?] ?",
                "Array(A3) -> Nest(N0): [1 .. n - 2] n - 2",
                "Nest(N0) -> Array(A0): [1 .. n - 2][0 .. n - 2] (n - 2) * (n - 1)",
                "Array(A0) -> Nest(N1): [0 .. n - 1][0 .. min(m - 1, n - 1)] n * (min(m - 1, n - 1) + 1)",
                "Array(A1) -> Nest(N1): [0 .. n - 1] n",
                "Nest(N1) -> Array(A1): [0 .. n - 1] n",
            ]
        );
    }
}

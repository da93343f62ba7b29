//! Computes what nests read and write, and builds dataflow graphs from it.

use crate::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, DataNode, DataflowGraph, Expr, Loop, Memlet, Nest,
    NestId, Node, Program, Region, Storage, Var,
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
    /// nothing. Temporaries of a nest are not part of the graph.
    pub fn build(program: &Program, nests: &[NestId]) -> Self {
        let mut graph = StableGraph::new();
        let mut current: BTreeMap<ArrayId, NodeIndex> = BTreeMap::new();
        for id in nests {
            let nest_node = graph.add_node(DataNode::Nest(*id));
            let Some(nest) = program.nests.get(id) else { continue };
            for memlet in memlets(program, nest, false) {
                let array = memlet.array;
                let from = *current.entry(array).or_insert_with(|| graph.add_node(DataNode::Array(array)));
                graph.add_edge(from, nest_node, memlet);
            }
            for memlet in memlets(program, nest, true) {
                let to = graph.add_node(DataNode::Array(memlet.array));
                current.insert(memlet.array, to);
                graph.add_edge(nest_node, to, memlet);
            }
        }
        Self { graph, order: nests.to_vec() }
    }
}

/// An end of a range: the minimum (of last indices) or maximum (of first ones) of these expressions.
type End = Vec<Affine>;

/// The ranges that accesses to one dimension touch; `None` once one of them is unknown.
type Ranges = Option<Vec<(End, End)>>;

/// Alternatives for one end above this number are dropped; each alone is a valid bound.
const MAX_ALTERNATIVES: usize = 4;

/// What the nest reads (or writes), one memlet per array, by ascending id.
fn memlets(program: &Program, nest: &Nest, is_written: bool) -> Vec<Memlet> {
    let mut touched: BTreeMap<ArrayId, Vec<Ranges>> = BTreeMap::new();
    for (path, access) in accesses_with_loops(nest, is_written) {
        let storage = program.arrays.get(&access.array).map(|a| a.storage);
        if matches!(storage, Some(Storage::Body(_) | Storage::Temp(_))) {
            continue;
        }
        let ranges: Vec<_> = access.indices.iter().map(|index| range(index, &path)).collect();
        let union = touched.entry(access.array).or_insert_with(|| vec![Some(Vec::new()); ranges.len()]);
        for (known, range) in union.iter_mut().zip(ranges) {
            match (&mut *known, range) {
                (Some(ranges), Some(range)) if !ranges.contains(&range) => ranges.push(range),
                (_, None) => *known = None,
                _ => {}
            }
        }
    }
    touched
        .into_iter()
        .map(|(array, dims)| {
            let subset: Vec<_> = dims.iter().map(|ranges| ranges.as_deref().map(hull)).collect();
            let one = Some(Expr::from(1));
            let volume = subset.iter().fold(one, |volume, range| {
                let (first, last) = range.as_ref()?;
                let length = Expr::binary(BinaryOp::Add, difference(last, first), Expr::from(1));
                Some(Expr::binary(BinaryOp::Mul, volume?, length))
            });
            Memlet { array, subset, volume }
        })
        .collect()
}

fn accesses_with_loops(nest: &Nest, is_written: bool) -> Vec<(Vec<&Loop>, &Access)> {
    let mut found = Vec::new();
    nest.visit(&mut |path, node| {
        let mut add = |access| found.push((path.to_vec(), access));
        match node {
            Node::Stmt(s) if is_written => add(&s.target),
            _ if is_written => {}
            Node::Stmt(s) => {
                if s.update.reads_target() {
                    add(&s.target);
                }
                s.target.indices.iter().flat_map(Expr::reads).for_each(&mut add);
                s.value.reads().into_iter().for_each(add);
            }
            Node::If { condition, .. } => condition.reads().into_iter().for_each(add),
            Node::Loop(l) => {
                for term in l.lower.0.iter().chain(&l.upper.0) {
                    if let BoundTerm::Data(e) = term {
                        e.reads().into_iter().for_each(&mut add);
                    }
                }
            }
        }
    });
    found
}

/// First and last value of an index inside these loops, in terms of symbols.
fn range(index: &Expr, path: &[&Loop]) -> Option<(End, End)> {
    let affine = index.as_affine()?;
    Some((end(affine, path, false)?, end(affine, path, true)?))
}

/// Replaces iterators by the ends of their ranges, innermost first.
fn end(affine: &Affine, path: &[&Loop], is_last: bool) -> Option<End> {
    let mut alternatives = vec![affine.clone()];
    for l in path.iter().rev() {
        let mut next = Vec::new();
        for affine in &alternatives {
            let c = affine.coefficient(l.id);
            if c == 0 {
                next.push(affine.clone());
                continue;
            }
            let takes_upper = (c > 0) == is_last;
            let bound: &Bound = if takes_upper { &l.upper } else { &l.lower };
            for term in &bound.0 {
                if let BoundTerm::Affine { expr, divisor: 1 } = term {
                    let value = expr.clone().offset(if takes_upper { -1 } else { 0 });
                    next.push(affine.substitute(&|v| (v == Var::Loop(l.id)).then(|| value.clone())));
                }
            }
        }
        alternatives.clear();
        for affine in next {
            add_alternative(&mut alternatives, affine, is_last);
        }
        alternatives.truncate(MAX_ALTERNATIVES);
    }
    alternatives.retain(|a| a.loops().next().is_none());
    (!alternatives.is_empty()).then_some(alternatives)
}

/// Adds to a minimum (of last indices) or maximum (of first ones), keeping the tighter of comparable ones.
fn add_alternative(alternatives: &mut End, affine: Affine, is_minimum: bool) {
    for other in alternatives.iter_mut() {
        if let Some(difference) = (affine.clone() - other.clone()).as_constant() {
            if (difference < 0) == is_minimum {
                *other = affine;
            }
            return;
        }
    }
    alternatives.push(affine);
}

/// The smallest range that contains all of these.
fn hull(ranges: &[(End, End)]) -> (Expr, Expr) {
    let firsts = ranges.iter().map(|(first, _)| first);
    let lasts = ranges.iter().map(|(_, last)| last);
    (join(firsts, BinaryOp::Min, BinaryOp::Max), join(lasts, BinaryOp::Max, BinaryOp::Min))
}

/// Combines the alternatives of each end with `inner`, and the results with `outer`.
fn join<'a>(ends: impl Iterator<Item = &'a End>, outer: BinaryOp, inner: BinaryOp) -> Expr {
    let mut single: End = Vec::new();
    let mut combined: Vec<Expr> = Vec::new();
    for end in ends {
        match end.as_slice() {
            [affine] => add_alternative(&mut single, affine.clone(), outer == BinaryOp::Min),
            several => combined.extend(reduce(several.iter().cloned().map(Expr::Affine), inner)),
        }
    }
    let all = single.into_iter().map(Expr::Affine).chain(combined);
    reduce(all, outer).unwrap_or_else(|| Expr::from(0))
}

fn difference(last: &Expr, first: &Expr) -> Expr {
    if *first == Expr::from(0) {
        last.clone()
    } else {
        Expr::binary(BinaryOp::Sub, last.clone(), first.clone())
    }
}

fn reduce(exprs: impl Iterator<Item = Expr>, op: BinaryOp) -> Option<Expr> {
    exprs.reduce(|l, r| Expr::binary(op, l, r))
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
                let range = |r: &Option<(Expr, Expr)>| match r {
                    Some((first, last)) => format!("[{} .. {}]", names.expr(first), names.expr(last)),
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

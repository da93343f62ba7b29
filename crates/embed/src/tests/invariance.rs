//! What the graph and its embedding must not depend on.

use super::{difference, embed, graph_of_sample, shape};
use crate::{EdgeKind, NestGraph, NodeKind};
use oxeye_analysis::{Level, dependences};
use oxeye_ir::testing::{Random, Sample, random_program};
use oxeye_ir::{
    Affine, Array, ArrayId, BoundTerm, Constraint, DataflowGraph, Expr, Loop, LoopId, Nest, Node, Program,
    Region, Stmt, StmtId, Storage, SymId, Symbol, Var,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeSet, HashMap};

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn names_and_ids_do_not_matter(seed in any::<u64>()) {
        let sample = random_program(seed, &shape(seed));
        let other = renamed(&sample, seed);
        let (graph, again) = (graph_of_sample(&sample), graph_of_sample(&other));
        assert_same(&graph, &again, &sample.program);
    }

    #[test]
    fn the_order_of_independent_neighbours_does_not_matter(seed in any::<u64>()) {
        let sample = random_program(seed, &shape(seed));
        let graph = graph_of_sample(&sample);
        for other in swapped(&sample) {
            assert_same(&graph, &graph_of_sample(&other), &other.program);
        }
    }

    #[test]
    fn the_order_of_a_graphs_nodes_does_not_matter(seed in any::<u64>()) {
        let graph = graph_of_sample(&random_program(seed, &shape(seed)));
        let mut random = Random::new(seed);
        let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
        for idx in (1..order.len()).rev() {
            order.swap(idx, random.below(idx + 1));
        }
        let position = |old: usize| order.iter().position(|&from| from == old).expect("a permutation");
        let mut shuffled = graph.clone();
        shuffled.nodes = order.iter().map(|&from| graph.nodes[from].clone()).collect();
        for edge in &mut shuffled.edges {
            (edge.from, edge.to) = (position(edge.from), position(edge.to));
        }
        shuffled.edges.reverse();
        prop_assert!(difference(&embed(&graph).nest, &embed(&shuffled).nest) < 1e-5);
    }

    #[test]
    fn the_same_comes_out_twice(seed in any::<u64>()) {
        let sample = random_program(seed, &shape(seed));
        let (graph, again) = (graph_of_sample(&sample), graph_of_sample(&sample));
        prop_assert_eq!(embed(&graph), embed(&again));
        prop_assert_eq!(graph, again);
    }
}

#[test]
fn swaps_are_tried_often_enough() {
    let n_tried: usize = (0..100).map(|seed| swapped(&random_program(seed, &shape(seed))).len()).sum();
    assert!(n_tried > 30, "{n_tried} swaps in 100 programs");
}

/// Equal up to ids, and up to nodes that cannot be told apart.
fn assert_same(a: &NestGraph, b: &NestGraph, program: &Program) {
    let nodes = |graph: &NestGraph| -> Vec<_> {
        graph.nodes.iter().map(|node| (node.kind, node.features.map(f32::to_bits))).collect()
    };
    let edges = |graph: &NestGraph| {
        let end = |at: usize| graph.nodes[at].features.map(f32::to_bits);
        let mut edges: Vec<(EdgeKind, [Vec<u32>; 3])> = Vec::new();
        for edge in &graph.edges {
            let features = edge.features.map(f32::to_bits).to_vec();
            edges.push((edge.kind, [end(edge.from).to_vec(), end(edge.to).to_vec(), features]));
        }
        edges.sort();
        edges
    };
    assert_eq!(nodes(a), nodes(b), "{program}");
    assert_eq!(edges(a), edges(b), "{program}");
    let distance = difference(&embed(a).nest, &embed(b).nest);
    assert!(distance < 1e-5, "embeddings differ by {distance}:\n{program}");
}

/// The same program under other names and ids, declared in another order.
fn renamed(sample: &Sample, seed: u64) -> Sample {
    let old = &sample.program;
    let shuffled = |n: usize, salt: u64| {
        let mut random = Random::new(seed ^ salt);
        let mut ids: Vec<u32> = (0..n as u32).map(|id| 3 * id + 1).collect();
        for idx in (1..n).rev() {
            ids.swap(idx, random.below(idx + 1));
        }
        ids
    };
    let nest = sample.nest();
    let map = Renaming {
        loops: nest
            .loops()
            .iter()
            .map(|l| l.id)
            .zip(shuffled(nest.loops().len(), 1).into_iter().map(LoopId))
            .collect(),
        stmts: nest
            .stmts()
            .iter()
            .map(|s| s.id)
            .zip(shuffled(nest.stmts().len(), 2).into_iter().map(StmtId))
            .collect(),
        arrays: old
            .arrays
            .keys()
            .copied()
            .zip(shuffled(old.arrays.len(), 3).into_iter().map(ArrayId))
            .collect(),
        symbols: old
            .symbols
            .keys()
            .copied()
            .zip(shuffled(old.symbols.len(), 4).into_iter().map(SymId))
            .collect(),
    };
    let mut program = Program::new("otherwise");
    for symbol in old.symbols.values().rev() {
        let id = map.symbols[&symbol.id];
        program.symbols.insert(id, Symbol { id, name: format!("size{}", id.0), ty: symbol.ty });
    }
    for array in old.arrays.values().rev() {
        let id = map.arrays[&array.id];
        let shape = array.shape.iter().map(|extent| extent.clone().map(|extent| map.expr(extent))).collect();
        let storage = match array.storage {
            Storage::Body(l) => Storage::Body(map.loops[&l]),
            Storage::Temp(Some(l)) => Storage::Temp(Some(map.loops[&l])),
            other => other,
        };
        program.arrays.insert(id, Array { id, name: format!("x{}", id.0), shape, storage, ..array.clone() });
    }
    let constraint = |c: &Constraint| Constraint { expr: map.affine(&c.expr), relation: c.relation };
    program.assumptions = old.assumptions.iter().map(constraint).collect();
    let live_out = nest.live_out.iter().map(|array| map.arrays[array]).collect();
    let roots = nest.roots.iter().map(|node| map.node(node)).collect();
    let nest = Nest { function: "otherwise".into(), roots, live_out, ..nest.clone() };
    let id = nest.id;
    program.nests.insert(id, nest);
    program.body = Region::Dataflow(DataflowGraph::build(&program, &[id]));
    let symbols = sample.symbols.iter().map(|(id, value)| (map.symbols[id], *value)).collect();
    Sample { program, symbols }
}

struct Renaming {
    loops: HashMap<LoopId, LoopId>,
    stmts: HashMap<StmtId, StmtId>,
    arrays: HashMap<ArrayId, ArrayId>,
    symbols: HashMap<SymId, SymId>,
}

impl Renaming {
    fn affine(&self, affine: &Affine) -> Affine {
        affine.substitute(&|var| {
            Some(match var {
                Var::Loop(id) => Affine::var(self.loops[&id]),
                Var::Sym(id) => Affine::var(self.symbols[&id]),
            })
        })
    }

    fn expr(&self, mut expr: Expr) -> Expr {
        expr.rewrite(&mut |e| match e {
            Expr::Affine(affine) => *affine = self.affine(affine),
            Expr::Read(access) => access.array = self.arrays[&access.array],
            _ => {}
        });
        expr
    }

    fn node(&self, node: &Node) -> Node {
        let nodes = |nodes: &[Node]| nodes.iter().map(|node| self.node(node)).collect();
        match node {
            Node::Loop(l) => {
                let mut l: Loop = l.clone();
                l.id = self.loops[&l.id];
                l.name = format!("it{}", l.id.0);
                for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                    *term = match term.clone() {
                        BoundTerm::Affine { expr, divisor } => {
                            BoundTerm::Affine { expr: self.affine(&expr), divisor }
                        }
                        BoundTerm::Data(expr) => BoundTerm::Data(self.expr(expr)),
                        BoundTerm::Open => BoundTerm::Open,
                    };
                }
                l.body = nodes(&l.body);
                Node::Loop(l)
            }
            Node::Stmt(stmt) => {
                let mut stmt: Stmt = stmt.clone();
                stmt.id = self.stmts[&stmt.id];
                stmt.target.array = self.arrays[&stmt.target.array];
                stmt.target.indices = stmt.target.indices.into_iter().map(|index| self.expr(index)).collect();
                stmt.value = self.expr(stmt.value);
                stmt.line = Some(stmt.id.0);
                Node::Stmt(stmt)
            }
            Node::If { condition, then, otherwise } => Node::If {
                condition: self.expr(condition.clone()),
                then: nodes(then),
                otherwise: nodes(otherwise),
            },
        }
    }
}

/// The program with two neighbouring nodes exchanged, for all neighbours that may be.
fn swapped(sample: &Sample) -> Vec<Sample> {
    let ordered: BTreeSet<(StmtId, StmtId)> = dependences(&sample.program, sample.nest())
        .expect("a small nest")
        .iter()
        .filter(|dependence| dependence.level == Level::Independent)
        .map(|dependence| (dependence.src.stmt, dependence.dst.stmt))
        .collect();
    let mut results = Vec::new();
    swaps(&sample.nest().roots, &ordered, &mut |roots| {
        let mut other = sample.clone();
        other.program.nests[0].roots = roots;
        results.push(other);
    });
    results
}

/// Calls `f` with every variant of `nodes` in which one pair of neighbours, here or deeper, is exchanged.
fn swaps(nodes: &[Node], ordered: &BTreeSet<(StmtId, StmtId)>, f: &mut dyn FnMut(Vec<Node>)) {
    for idx in 0..nodes.len() {
        if idx + 1 < nodes.len() {
            let (first, second) = (stmts(&nodes[idx]), stmts(&nodes[idx + 1]));
            if first.iter().all(|a| second.iter().all(|b| !ordered.contains(&(*a, *b)))) {
                let mut exchanged = nodes.to_vec();
                exchanged.swap(idx, idx + 1);
                f(exchanged);
            }
        }
        for (body_idx, body) in nodes[idx].bodies().into_iter().enumerate() {
            swaps(body, ordered, &mut |inside| {
                let mut changed = nodes.to_vec();
                *changed[idx].bodies_mut()[body_idx] = inside;
                f(changed);
            });
        }
    }
}

fn stmts(node: &Node) -> Vec<StmtId> {
    match node {
        Node::Stmt(stmt) => vec![stmt.id],
        _ => node.bodies().into_iter().flatten().flat_map(stmts).collect(),
    }
}

#[test]
fn differences_do_matter() {
    let text = |bound: &str, index: &str| {
        format!(
            "program p {{ symbol P0 n: i32 array A0 x: f64[n][n] param array A1 y: f64[n][n] param dataflow {{ N0 }} \
             nest N0 in p {{ for L0 i: i32 in 0 .. n {{ for L1 j: i32 in 0 .. {bound} {{ S0: x[i][j] = y{index} + 1.0 }} \
             }} }} }}"
        )
    };
    let of = |bound, index, n| super::graph_of_text(&text(bound, index), &[("n", n)]);
    let plain = of("n", "[i][j]", 100);
    for other in [of("i", "[i][j]", 100), of("n", "[j][i]", 100), of("n", "[i][j]", 1000)] {
        assert_ne!(plain.nodes, other.nodes);
        assert!(difference(&embed(&plain).nest, &embed(&other).nest) > 1e-3);
    }
    assert_eq!(plain.nodes_of(NodeKind::Loop).count(), 2);
}

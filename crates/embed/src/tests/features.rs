//! Features of nests that can be worked out by hand, and of extreme sizes.

use super::{embed, graph_of, graph_of_text, shape};
use crate::{
    AccessFeature as A, ArrayFeature, EdgeFeature as E, EdgeKind, EmbedError, Features, HandMadeFeature,
    HostVector, LoopFeature as L, N_NODE, NestGraph, NodeKind, ProfileVector, StmtFeature as S, graph,
    hand_made,
};
use oxeye_ir::testing::random_program;
use oxeye_ir::{ArrayId, Program};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const MATMUL: &str = "program matmul { symbol P0 n: i32 array A0 C: f64[n][n] param array A1 A: f64[n][n] param \
    array A2 B: f64[n][n] param dataflow { N0 } nest N0 in matmul { for L0 i: i32 in 0 .. n { \
    for L1 j: i32 in 0 .. n { S0: C[i][j] = 0.0 for L2 k: i32 in 0 .. n { S1: C[i][j] += A[i][k] * B[k][j] } } } } }";

fn node<'g>(graph: &'g NestGraph, id: &str) -> &'g Features<N_NODE> {
    &graph.nodes.iter().find(|node| node.id == id).unwrap_or_else(|| panic!("there is no {id}")).features
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-4 * (1.0 + expected.abs())
}

#[test]
fn a_matrix_product() {
    let graph = graph_of_text(MATMUL, &[("n", 64)]);
    let (outer, middle, inner) = (node(&graph, "L0"), node(&graph, "L1"), node(&graph, "L2"));
    assert!(close(inner.raw(L::Trip), 64.0) && close(inner.raw(L::Iterations), 262_144.0));
    assert!(inner.is_set(L::Innermost) && !middle.is_set(L::Innermost) && outer.is_set(L::Outermost));
    assert!(outer.is_set(L::Perfect) && !middle.is_set(L::Perfect));
    assert!(outer.is_set(L::CarriesNothing) && middle.is_set(L::CarriesNothing));
    assert!(inner.is_set(L::CarriesReduction) && !inner.is_set(L::CarriesFlow));
    // A row of A, a column of B in lines of its own, one element of C.
    assert!(close(inner.raw(L::Footprint), 512.0 + 64.0 * 64.0 + 64.0));
    // All of B, a row of A, a row of C.
    assert!(close(middle.raw(L::Footprint), 32768.0 + 512.0 + 512.0));
    assert!(close(outer.raw(L::Footprint), 3.0 * 32768.0));
    assert!(close(f64::from(outer.get(L::FootprintL1)), (3.0_f64).log2() / 8.0));
    let update = node(&graph, "S1");
    assert!(update.is_set(S::Add) && update.is_set(S::Reduces) && !update.is_set(S::Sets));
    assert!(close(update.raw(S::FloatAdds), 1.0) && close(update.raw(S::FloatMuls), 1.0));
    let first = node(&graph, "S0");
    assert!(first.is_set(S::Sets) && !first.is_set(S::Reduces) && close(first.raw(S::Runs), 4096.0));
    let b = graph.nodes.iter().find(|node| {
        node.kind == NodeKind::Access && node.features.is_set(A::Value) && node.features.is_set(A::InnerLarge)
    });
    let b = b.expect("B is walked by columns").features;
    assert!(close(b.raw(A::InnerStride), 512.0) && b.is_set(A::OuterZero));
    assert!(close(b.raw(A::Reuse), 64.0) && close(b.raw(A::ReuseBytes), 33_792.0));
    let strides = graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Stride);
    assert_eq!(strides.count(), 4 * 3 + 2);
    let carried: Vec<_> = graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Carried).collect();
    assert!(carried.iter().all(|edge| edge.features.is_set(E::Reduction)));
    let hand = hand_made(&graph);
    let n_bytes = 3.0 * 32768.0;
    let intensity = f64::from(hand[HandMadeFeature::Intensity as usize]) * 16.0;
    assert!((intensity.exp2() - 2.0 * 262_144.0 / n_bytes).abs() < 1e-2);
    assert_eq!(hand[HandMadeFeature::OuterParallel as usize], 1.0);
}

#[test]
fn a_stencil_in_place() {
    let graph = graph_of_text(
        "program seidel { symbol P0 n: i32 array A0 x: f32[n][n] param dataflow { N0 } nest N0 in seidel { \
         for L0 i: i32 in 1 .. n - 1 { for L1 j: i32 in 1 .. n - 1 { \
         S0: x[i][j] = x[i - 1][j + 1] + x[i][j - 1] } } } }",
        &[("n", 1026)],
    );
    assert!(node(&graph, "L0").is_set(L::CarriesFlow) && node(&graph, "L1").is_set(L::CarriesFlow));
    assert!(node(&graph, "L1").is_set(L::Backtracks) && !node(&graph, "L0").is_set(L::Backtracks));
    let diagonal =
        graph.edges.iter().find(|edge| edge.kind == EdgeKind::Carried && edge.features.is_set(E::Backward));
    let diagonal = diagonal.expect("there is a dependence on the diagonal").features;
    assert!(close(diagonal.raw(E::Distance), 1.0) && close(diagonal.raw(E::Skew), 1.0));
    assert!(diagonal.is_set(E::AllKnown) && diagonal.is_set(E::Flow) && !diagonal.is_set(E::Reduction));
    assert!(node(&graph, "S0").is_set(S::SelfRead));
    assert!(!node(&graph, "L0").is_set(L::CarriesNothing));
}

#[test]
fn indirect_accesses_and_ragged_bounds() {
    let graph = graph_of_text(
        "program spmv { symbol P0 n: i32 symbol P1 m: i32 array A0 y: f64[n] param array A1 row: i32[n + 1] param \
         array A2 col: i32[m] param array A3 v: f64[m] param array A4 x: f64[n] param dataflow { N0 } \
         nest N0 in spmv { for L0 i: i32 in 0 .. n { S0: y[i] = 0.0 \
         for L1 k: i32 in data(row[i]) .. data(row[i + 1]) { S1: y[i] += v[k] * x[col[k]] } } } }",
        &[("n", 1000), ("m", 5000)],
    );
    let inner = node(&graph, "L1");
    assert!(inner.is_set(L::BoundsFromData) && inner.is_set(L::UpperVaries) && !inner.is_set(L::TripKnown));
    assert!(node(&graph, "L0").is_set(L::TripKnown));
    let gather = graph.nodes_of(NodeKind::Access).find(|node| node.features.is_set(A::Indirect));
    let gather = gather.expect("x is gathered").features;
    assert!(gather.is_set(A::InnerUnknown) && gather.is_set(A::OuterZero) && !gather.is_set(A::NonAffine));
    assert!(gather.is_set(A::FootprintKnown) && close(gather.raw(A::Footprint), 8000.0));
    assert!(
        node(&graph, "A2").is_set(ArrayFeature::Addresses)
            && node(&graph, "A1").is_set(ArrayFeature::Addresses)
    );
    assert!(
        node(&graph, "A4").is_set(ArrayFeature::Indirect)
            && !node(&graph, "A3").is_set(ArrayFeature::Indirect)
    );
    assert!(!node(&graph, "S1").is_set(S::RunsKnown) && node(&graph, "S0").is_set(S::RunsKnown));
}

#[test]
fn guards_triangles_and_steps() {
    let graph = graph_of_text(
        "program p { symbol P0 n: i32 array A0 x: i64[n] param array A1 m: i32[n] param dataflow { N0 } nest N0 in p { \
         for L0 i: i32 in 0 .. n { for L1 j: i32 in i .. n step -2 { if m[j] > 0 { S0: x[j] max= i } } } } }",
        &[("n", 100)],
    );
    let inner = node(&graph, "L1");
    assert!(inner.is_set(L::LowerVaries) && !inner.is_set(L::UpperVaries) && inner.is_set(L::HasGuards));
    assert!(inner.is_set(L::Backward) && close(inner.raw(L::Step), 2.0) && close(inner.raw(L::Trip), 25.5));
    assert!(close(node(&graph, "L0").raw(L::BoundsInside), 1.0) && inner.is_set(L::Guarding));
    let stmt = node(&graph, "S0");
    assert!(
        stmt.is_set(S::Guarded)
            && stmt.is_set(S::GuardData)
            && stmt.is_set(S::Max)
            && stmt.is_set(S::Reduces)
    );
    assert!(stmt.is_set(S::UsesIterators) && !stmt.is_set(S::RunsExact) && !stmt.is_set(S::ResultFloat));
}

#[test]
fn unknown_sizes_are_marked() {
    let graph = graph_of_text(MATMUL, &[]);
    for id in ["L0", "L1", "L2"] {
        let l = node(&graph, id);
        assert!(!l.is_set(L::TripKnown) && !l.is_set(L::FootprintKnown), "{id}");
        assert_eq!((l.get(L::Trip), l.get(L::Footprint), l.get(L::FootprintL1)), (0.0, 0.0, 0.0));
    }
    // What does not need sizes is known all the same.
    assert!(node(&graph, "L2").is_set(L::CarriesReduction));
    let large = graph.nodes_of(NodeKind::Access).filter(|node| node.features.is_set(A::InnerLarge));
    assert_eq!(large.count(), 1);
    assert!(!node(&graph, "A0").is_set(ArrayFeature::SizeKnown));
    embed(&graph);
}

#[test]
fn a_machine_without_figures_leaves_ratios_open() {
    let program = Program::parse(MATMUL).expect("it parses");
    let graph =
        graph(&program, &program.nests[0], &|_| Some(64), &HostVector::default()).expect("it is valid");
    assert_eq!(node(&graph, "L0").get(L::FootprintL1), 0.0);
    assert!(node(&graph, "L0").is_set(L::FootprintKnown));
    assert_eq!(graph.host, Features::zero());
}

#[test]
fn nests_that_are_none_are_errors() {
    let mut program = Program::parse(MATMUL).expect("it parses");
    let mut nest = program.nests[0].clone();
    program.arrays.shift_remove(&ArrayId(2));
    let result = graph(&program, &nest, &|_| None, &HostVector::default());
    assert!(matches!(result, Err(EmbedError::UnknownArray { array: ArrayId(2), .. })));
    nest.roots.clear();
    let result = graph(&program, &nest, &|_| None, &HostVector::default());
    assert!(matches!(result, Err(EmbedError::EmptyNest(_))));
}

#[test]
fn graphs_survive_json_and_unsound_ones_are_refused() {
    let profile = ProfileVector { seconds: Some(0.01), gflops: Some(3.0), ..ProfileVector::default() };
    let graph = graph_of_text(MATMUL, &[("n", 64)]).with_profile(&profile);
    let text = serde_json::to_string(&graph).expect("it is a value");
    let again: NestGraph = serde_json::from_str(&text).expect("it was written by us");
    assert_eq!(again, graph);
    assert!(serde_json::from_str::<NestGraph>(&text.replacen("0.0,", "", 1)).is_err());
    let unsound: [fn(&mut NestGraph); 6] = [
        |graph| graph.nodes.clear(),
        |graph| graph.edges[0].from = 1_000_000,
        |graph| graph.edges[0].kind = EdgeKind::Array,
        |graph| graph.nodes[0].features.0[0] = f32::NAN,
        |graph| graph.host.0[0] = f32::INFINITY,
        |graph| graph.schema = "oxeye.features/0".into(),
    ];
    for spoil in unsound {
        let mut graph = graph.clone();
        spoil(&mut graph);
        assert!(graph.check().is_err());
        assert!(crate::Encoder::random(1).expect("random weights are valid").embed(&graph).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn absurd_sizes_give_finite_features(seed in any::<u64>()) {
        let sample = random_program(seed, &shape(seed));
        let huge = 1_000_000_000_000_000_000;
        for size in [None, Some(0), Some(1), Some(-7), Some(100_000), Some(huge), Some(-huge), Some(i64::MAX)] {
            let graph = graph_of(&sample.program, size);
            prop_assert!(graph.check().is_ok());
            prop_assert!(graph.nodes.iter().all(|node| node.features.iter().all(|x| x.abs() <= 4.0)));
            prop_assert!(hand_made(&graph).iter().all(|x| x.abs() <= 4.0));
            prop_assert_eq!(hand_made(&graph).len(), hand_made_width());
            embed(&graph);
        }
    }
}

fn hand_made_width() -> usize {
    <HandMadeFeature as crate::FeatureList>::TABLE.len()
}

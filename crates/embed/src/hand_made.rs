//! The usual hand-made features of a nest: the baseline that a learnt embedding has to beat.

use crate::graph::{EdgeKind, NestGraph, Node, NodeKind};
use crate::schema::{
    AccessFeature, ArrayFeature, EdgeFeature, Feature, FeatureList, HostFeature, LoopFeature, StmtFeature,
    Transform, features,
};
use crate::vector::Features;

/// Width of the vector of hand-made features.
/// Width of the vector of hand-made features.
pub const N_HAND_MADE: usize = HandMadeFeature::TABLE.len();

/// A fixed vector of what an expert would write down about a nest: operation counts, intensity, strides, depth,
/// footprints and dependences, each as [`HandMadeFeature`] says.
pub fn hand_made(graph: &NestGraph) -> Vec<f32> {
    let mut features = Features::zero();
    let total_flops = operations(graph, &mut features);
    memory(graph, total_flops, &mut features);
    strides(graph, &mut features);
    loops(graph, &mut features);
    dependences(graph, &mut features);
    features.to_vec()
}

features! {
    /// Features of a whole nest, made by hand.
    HandMadeFeature, "Hand-made features of a nest":
    Loops "loops" "loops" Log "Loops.";
    Depth "depth" "loops" Count "Loops around the deepest statement.";
    Stmts "stmts" "statements" Log "Statements.";
    Arrays "arrays" "arrays" Log "Arrays of at least one dimension.";
    Reads "reads" "accesses" Log "Accesses that read.";
    Writes "writes" "accesses" Log "Accesses that write.";
    SizesKnown "sizes_known" "flag" Flag "All executions could be counted.";
    Executions "executions" "executions" Log "Executions of all statements.";
    FloatAdds "float_adds" "operations" Log "Floating-point additions and subtractions in total.";
    FloatMuls "float_muls" "operations" Log "Floating-point multiplications in total.";
    FloatDivs "float_divs" "operations" Log "Floating-point divisions and square roots in total.";
    FloatCompares "float_compares" "operations" Log "Floating-point comparisons and selections in total.";
    Integer "integer" "operations" Log "Operations on integers in total.";
    Calls "calls" "calls" Log "Calls of exponential, logarithmic, trigonometric and error functions in total.";
    F32Share "f32_share" "1" Share "Share of the floating-point targets that are f32.";
    Bytes "bytes" "bytes" Log "Memory touched.";
    BytesL1 "bytes_l1" "1" Ratio "The same over the first-level cache.";
    BytesL2 "bytes_l2" "1" Ratio "The same over the second-level cache.";
    BytesL3 "bytes_l3" "1" Ratio "The same over the third-level cache.";
    Intensity "intensity" "FLOP/B" Scale "Floating-point operations per byte of memory touched.";
    InnerZero "inner_zero" "1" Share "Share of the accesses that the innermost loop does not move.";
    InnerOne "inner_one" "1" Share "Share of the accesses that it moves by one element.";
    InnerSmall "inner_small" "1" Share "Share of the accesses that it moves within a cache line.";
    InnerLarge "inner_large" "1" Share "Share of the accesses that it moves by a cache line or more.";
    InnerUnknown "inner_unknown" "1" Share "Share of the accesses that it moves in an unknown way.";
    OuterZero "outer_zero" "1" Share "Share of the accesses that the outermost loop does not move.";
    OuterOne "outer_one" "1" Share "Share of the accesses that it moves by one element.";
    OuterLarge "outer_large" "1" Share "Share of the accesses that it moves by a cache line or more.";
    Indirect "indirect" "1" Share "Share of the accesses that are indirect.";
    Reuse "reuse" "uses" Log "Average over the accesses of the uses of one element.";
    OuterTrip "outer_trip" "iterations" Log "Largest number of iterations of an outermost loop.";
    InnerTrip "inner_trip" "iterations" Log "Largest number of iterations of an innermost loop.";
    OuterParallel "outer_parallel" "flag" Flag "An outermost loop carries nothing.";
    InnerParallel "inner_parallel" "flag" Flag "All innermost loops carry nothing.";
    InnerReduction "inner_reduction" "flag" Flag "An innermost loop carries a reduction.";
    InnerRecurrence "inner_recurrence" "flag" Flag "An innermost loop carries a flow dependence that is no reduction.";
    ParallelShare "parallel_share" "1" Share "Share of the loops that carry nothing.";
    Flow "flow" "dependences" Log "Flow dependences between statements, carried.";
    Anti "anti" "dependences" Log "Anti dependences between statements, carried.";
    Output "output" "dependences" Log "Output dependences between statements, carried.";
    Reductions "reductions" "statements" Log "Statements that reduce.";
    Independent "independent" "dependences" Log "Dependences within an iteration.";
    Distance "distance" "iterations" Log "Largest known distance of a carried dependence.";
    UnknownDistances "unknown_distances" "1" Share "Share of the carried dependences whose distance is not constant.";
    Triangular "triangular" "1" Share "Share of the loops whose bounds depend on loops around them.";
    Perfect "perfect" "1" Share "Share of the loops with loops inside that are perfectly nested.";
    Guarded "guarded" "1" Share "Share of the statements under guards.";
}

type HandMade = Features<N_HAND_MADE>;

/// Counts and mix; returns the floating-point operations.
fn operations(graph: &NestGraph, features: &mut HandMade) -> f64 {
    use HandMadeFeature as F;
    use StmtFeature as S;
    let stmts = || graph.nodes_of(NodeKind::Stmt);
    // Where executions are unknown, each statement counts once.
    let runs =
        |stmt: &Node| if stmt.features.is_set(S::RunsKnown) { stmt.features.raw(S::Runs) } else { 1.0 };
    let sum = |parts: &[S]| -> f64 {
        stmts().map(|stmt| runs(stmt) * parts.iter().map(|&part| stmt.features.raw(part)).sum::<f64>()).sum()
    };
    features.set(F::Stmts, stmts().count() as f64);
    features.set(F::Depth, stmts().map(|stmt| stmt.features.raw(S::Depth)).fold(0.0, f64::max));
    features.flag(F::SizesKnown, stmts().all(|stmt| stmt.features.is_set(S::RunsKnown)));
    features.set(F::Executions, stmts().map(runs).sum());
    let adds = sum(&[S::FloatAdds]);
    let muls = sum(&[S::FloatMuls]);
    let divs = sum(&[S::FloatDivs, S::CallsRoot]);
    let compares = sum(&[S::FloatCompares, S::CallsCheap]);
    let calls = sum(&[S::CallsExponential, S::CallsTrigonometric]);
    features.set(F::FloatAdds, adds);
    features.set(F::FloatMuls, muls);
    features.set(F::FloatDivs, divs);
    features.set(F::FloatCompares, compares);
    features.set(F::Integer, sum(&[S::Integer]));
    features.set(F::Calls, calls);
    let is_f32 = |stmt: &&Node| stmt.features.raw(S::ResultBytes) < 6.0;
    let floats = || stmts().filter(|stmt| stmt.features.is_set(S::ResultFloat));
    features.set(F::F32Share, share(floats().filter(is_f32).count(), floats().count()));
    features.set(F::Reductions, stmts().filter(|stmt| stmt.features.is_set(S::Reduces)).count() as f64);
    features.set(F::Guarded, share_of(stmts(), S::Guarded));
    adds + muls + divs + compares + calls
}

fn memory(graph: &NestGraph, total_flops: f64, features: &mut HandMade) {
    use ArrayFeature as A;
    use HandMadeFeature as F;
    let arrays = || graph.nodes_of(NodeKind::Array);
    features.set(F::Arrays, arrays().filter(|array| !array.features.is_set(A::Scalar)).count() as f64);
    let bytes: f64 = arrays().map(|array| array.features.raw(A::Touched)).sum();
    if arrays().all(|array| array.features.is_set(A::TouchedKnown)) && bytes > 0.0 {
        features.set(F::Bytes, bytes);
        features.set(F::Intensity, total_flops / bytes);
        for (known, cache, ratio) in [
            (HostFeature::L1Known, HostFeature::L1, F::BytesL1),
            (HostFeature::L2Known, HostFeature::L2, F::BytesL2),
            (HostFeature::L3Known, HostFeature::L3, F::BytesL3),
        ] {
            if graph.host.is_set(known) {
                features.set(ratio, bytes / graph.host.raw(cache).max(1.0));
            }
        }
    }
}

fn strides(graph: &NestGraph, features: &mut HandMade) {
    use AccessFeature as A;
    use HandMadeFeature as F;
    let accesses = || graph.nodes_of(NodeKind::Access);
    let n_writes = accesses().filter(|access| access.features.is_set(A::Write)).count();
    features.set(F::Writes, n_writes as f64);
    features.set(F::Reads, (accesses().count() - n_writes) as f64);
    for (from, to) in [
        (A::InnerZero, F::InnerZero),
        (A::InnerOne, F::InnerOne),
        (A::InnerSmall, F::InnerSmall),
        (A::InnerLarge, F::InnerLarge),
        (A::InnerUnknown, F::InnerUnknown),
        (A::OuterZero, F::OuterZero),
        (A::OuterOne, F::OuterOne),
        (A::OuterLarge, F::OuterLarge),
        (A::Indirect, F::Indirect),
    ] {
        features.set(to, share_of(accesses(), from));
    }
    let uses: f64 = accesses().map(|access| access.features.raw(A::Reuse)).sum();
    features.set(F::Reuse, uses / accesses().count().max(1) as f64);
}

fn loops(graph: &NestGraph, features: &mut HandMade) {
    use HandMadeFeature as F;
    use LoopFeature as L;
    let loops = || graph.nodes_of(NodeKind::Loop);
    let outermost = || loops().filter(|l| l.features.is_set(L::Outermost));
    let innermost = || loops().filter(|l| l.features.is_set(L::Innermost));
    features.set(F::Loops, loops().count() as f64);
    features.set(F::OuterTrip, outermost().map(|l| l.features.raw(L::Trip)).fold(0.0, f64::max));
    features.set(F::InnerTrip, innermost().map(|l| l.features.raw(L::Trip)).fold(0.0, f64::max));
    features.flag(F::OuterParallel, outermost().any(|l| l.features.is_set(L::CarriesNothing)));
    features.flag(F::InnerParallel, innermost().all(|l| l.features.is_set(L::CarriesNothing)));
    features.flag(F::InnerReduction, innermost().any(|l| l.features.is_set(L::CarriesReduction)));
    features.flag(F::InnerRecurrence, innermost().any(|l| l.features.is_set(L::CarriesFlow)));
    features.set(F::ParallelShare, share_of(loops(), L::CarriesNothing));
    let varies = |l: &&Node| l.features.is_set(L::LowerVaries) || l.features.is_set(L::UpperVaries);
    features.set(F::Triangular, share(loops().filter(varies).count(), loops().count()));
    features.set(F::Perfect, share_of(loops().filter(|l| !l.features.is_set(L::Innermost)), L::Perfect));
}

fn dependences(graph: &NestGraph, features: &mut HandMade) {
    use EdgeFeature as E;
    use HandMadeFeature as F;
    let of_kind = |kind| graph.edges.iter().filter(move |edge| edge.kind == kind);
    let carried = || of_kind(EdgeKind::Carried);
    for (from, to) in [(E::Flow, F::Flow), (E::Anti, F::Anti), (E::Output, F::Output)] {
        features.set(to, carried().filter(|edge| edge.features.is_set(from)).count() as f64);
    }
    let n_independent = of_kind(EdgeKind::Flow).chain(of_kind(EdgeKind::Order)).count();
    features.set(F::Independent, n_independent as f64);
    features.set(F::Distance, carried().map(|edge| edge.features.raw(E::Distance)).fold(0.0, f64::max));
    let n_unknown = carried().filter(|edge| !edge.features.is_set(E::DistanceKnown)).count();
    features.set(F::UnknownDistances, share(n_unknown, carried().count()));
}

/// The share of nodes that have a flag.
fn share_of<'n>(nodes: impl Iterator<Item = &'n Node>, flag: impl FeatureList) -> f64 {
    let (n_set, n) =
        nodes.fold((0, 0), |(n_set, n), node| (n_set + usize::from(node.features.is_set(flag)), n + 1));
    share(n_set, n)
}

fn share(n: usize, of: usize) -> f64 {
    n as f64 / of.max(1) as f64
}

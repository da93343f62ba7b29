//! Loop nodes and the edges between loops.

use super::carried::{Carried, LoopSummary};
use super::draft::{Draft, set_ratio};
use super::facts::{AccessFacts, Facts, LoopFacts, StrideClass};
use super::reach::Reach;
use crate::graph::{EdgeKind, NodeKind};
use crate::schema::{LoopFeature, N_NODE};
use crate::vector::Features;
use oxeye_ir::{BoundTerm, Execution, Loop, Node};

pub(super) fn add(facts: &Facts<'_>, reach: &Reach, carried: &Carried, draft: &mut Draft) {
    for (loop_idx, of_loop) in facts.loops.iter().enumerate() {
        let mut features = Features::zero();
        structure(facts, loop_idx, &mut features);
        bounds(facts, loop_idx, &mut features);
        dependences(&carried.by(of_loop.l.id), &mut features);
        memory(facts, reach, loop_idx, &mut features);
        draft.node(NodeKind::Loop, of_loop.l.id.to_string(), features);
    }
    for of_loop in &facts.loops {
        if let Some(&outer) = of_loop.path.last() {
            let outer = facts.loops[outer].l.id.to_string();
            draft.edge(EdgeKind::Nest, &outer, &of_loop.l.id.to_string(), Features::zero());
        }
    }
}

fn structure(facts: &Facts<'_>, loop_idx: usize, features: &mut Features<N_NODE>) {
    use LoopFeature as F;
    let LoopFacts { l, path, trip, total, .. } = &facts.loops[loop_idx];
    let n_below = facts.loops_below(loop_idx).count();
    let deepest = facts.loops_below(loop_idx).map(|inner| inner.path.len()).max();
    features.set(F::Depth, path.len() as f64);
    features.set(F::Height, deepest.map_or(0, |depth| depth - path.len()) as f64);
    if let (Some(trip), Some(total)) = (trip, total) {
        features.flag(F::TripKnown, true);
        features.flag(F::TripExact, trip.exact && total.exact);
        features.set(F::Trip, trip.value);
        features.set(F::Iterations, total.value);
    }
    features.set(F::Step, l.step.unsigned_abs() as f64);
    features.flag(F::Backward, l.step < 0);
    features.flag(F::Innermost, n_below == 0);
    features.flag(F::Outermost, path.is_empty());
    features.flag(F::Perfect, matches!(l.body.as_slice(), [Node::Loop(_)]));
    let inner = facts.loops_below(loop_idx).filter(|inner| inner.path.last() == Some(&loop_idx));
    features.set(F::ChildLoops, inner.count() as f64);
    let stmts = facts.stmts_below(loop_idx).filter(|stmt| stmt.path.last() == Some(&loop_idx));
    features.set(F::ChildStmts, stmts.count() as f64);
    features.set(F::Stmts, facts.stmts_below(loop_idx).count() as f64);
    features.flag(F::HasGuards, l.body.iter().any(|node| matches!(node, Node::If { .. })));
    features.flag(F::Parallel, matches!(l.execution, Execution::Parallel { .. }));
    features.flag(F::Vector, matches!(l.execution, Execution::Vector { .. }));
    features.flag(F::Unrolled, l.execution == Execution::Unrolled);
}

fn bounds(facts: &Facts<'_>, loop_idx: usize, features: &mut Features<N_NODE>) {
    use LoopFeature as F;
    let LoopFacts { l, path, .. } = &facts.loops[loop_idx];
    let varies = |terms: &[BoundTerm]| {
        terms.iter().any(|term| path.iter().any(|&outer| term.uses(facts.loops[outer].l.id)))
    };
    features.flag(F::LowerVaries, varies(&l.lower.0));
    features.flag(F::UpperVaries, varies(&l.upper.0));
    let is_rounded = |term: &BoundTerm| matches!(term, BoundTerm::Affine { divisor, .. } if *divisor != 1);
    let is_combined = l.lower.0.len() > 1 || l.upper.0.len() > 1 || terms(l).any(is_rounded);
    features.flag(F::BoundsCombined, is_combined);
    features
        .flag(F::BoundsFromData, terms(l).any(|term| matches!(term, BoundTerm::Data(_) | BoundTerm::Open)));
    let bound = facts.loops_below(loop_idx).filter(|inner| terms(inner.l).any(|term| term.uses(l.id)));
    features.set(F::BoundsInside, bound.count() as f64);
    let mut guards = facts.stmts_below(loop_idx).flat_map(|stmt| &stmt.guards);
    features.flag(F::Guarding, guards.any(|guard| guard.uses(l.id)));
}

fn terms(l: &Loop) -> impl Iterator<Item = &BoundTerm> {
    l.lower.0.iter().chain(&l.upper.0)
}

fn dependences(carried: &LoopSummary, features: &mut Features<N_NODE>) {
    use LoopFeature as F;
    features.flag(F::CarriesNothing, carried.is_empty());
    features.flag(F::CarriesFlow, carried.flow);
    features.flag(F::CarriesFalse, carried.reuse);
    features.flag(F::CarriesReduction, carried.reduction);
    features.flag(F::CarriesInexact, carried.inexact);
    if let Some(distance) = carried.distance {
        features.flag(F::DistanceKnown, true);
        features.set(F::Distance, distance.unsigned_abs() as f64);
    }
    features.flag(F::Backtracks, carried.backtracks);
}

fn memory(facts: &Facts<'_>, reach: &Reach, loop_idx: usize, features: &mut Features<N_NODE>) {
    use LoopFeature as F;
    let (all, body) = (reach.loops[loop_idx], reach.bodies[loop_idx]);
    if let (Some(all), Some(body)) = (all, body) {
        features.flag(F::FootprintKnown, true);
        features.set(F::Footprint, all);
        features.set(F::Body, body);
        set_ratio(features, F::FootprintL1, Some(all), facts.host.l1_bytes);
        set_ratio(features, F::FootprintL2, Some(all), facts.host.l2_bytes);
        set_ratio(features, F::FootprintL3, Some(all), facts.host.l3_bytes);
        set_ratio(features, F::BodyL1, Some(body), facts.host.l1_bytes);
        set_ratio(features, F::BodyL2, Some(body), facts.host.l2_bytes);
    }
    let depth = facts.loops[loop_idx].path.len();
    let steps: Vec<StrideClass> = facts
        .stmts_below(loop_idx)
        .flat_map(|stmt| &stmt.accesses)
        .filter_map(|access: &AccessFacts| access.steps.get(depth))
        .map(|step| step.class)
        .collect();
    let share = |wanted: &[StrideClass]| {
        let n = steps.iter().filter(|class| wanted.contains(class)).count();
        n as f64 / steps.len().max(1) as f64
    };
    use StrideClass::{Large, One, Small, Unknown};
    features.set(F::MovedShare, share(&[One, Small, Large, Unknown]));
    features.set(F::UnitShare, share(&[One]));
    features.set(F::LargeShare, share(&[Large, Unknown]));
}

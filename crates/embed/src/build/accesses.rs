//! Access and array nodes, and the edges that lead to them and from accesses to loops.

use super::draft::{Draft, set_ratio};
use super::facts::{AccessFacts, Facts, Step, StmtFacts, StrideClass, access_id};
use super::reach::Reach;
use crate::graph::{EdgeKind, NodeKind};
use crate::schema::{AccessFeature, ArrayFeature, EdgeFeature, N_EDGE, N_NODE};
use crate::vector::Features;
use oxeye_analysis::Role;
use oxeye_ir::{ArrayId, Expr, Storage};
use std::collections::BTreeSet;

pub(super) fn add(facts: &Facts<'_>, reach: &Reach, draft: &mut Draft) {
    for array in facts.nest.arrays() {
        draft.node(NodeKind::Array, array.to_string(), array_features(facts, reach, array));
    }
    for stmt in &facts.stmts {
        for (access_idx, access) in stmt.accesses.iter().enumerate() {
            let id = access_id(stmt, access_idx);
            draft.node(NodeKind::Access, id.clone(), access_features(facts, reach, stmt, access));
            draft.edge(EdgeKind::Access, &stmt.stmt.id.to_string(), &id, Features::zero());
            draft.edge(EdgeKind::Array, &id, &access.source.array.to_string(), Features::zero());
            for (depth, step) in access.steps.iter().enumerate() {
                let outer = &facts.loops[stmt.path[depth]];
                let features =
                    stride_features(*step, outer.trip.map(|trip| trip.value), access.steps.len() - 1 - depth);
                draft.edge(EdgeKind::Stride, &id, &outer.l.id.to_string(), features);
            }
        }
    }
}

fn stride_features(step: Step, trip: Option<f64>, n_inside: usize) -> Features<N_EDGE> {
    use EdgeFeature as F;
    let mut features = Features::zero();
    let class = match step.class {
        StrideClass::Zero => F::StrideZero,
        StrideClass::One => F::StrideOne,
        StrideClass::Small => F::StrideSmall,
        StrideClass::Large => F::StrideLarge,
        StrideClass::Unknown => F::StrideUnknown,
    };
    features.flag(class, true);
    features.set(F::Stride, step.bytes.unwrap_or(0.0));
    if let (Some(bytes), Some(trip)) = (step.bytes, trip) {
        features.set(F::Span, bytes.abs() * trip);
    }
    features.set(F::LoopsInside, n_inside as f64);
    features
}

fn access_features(
    facts: &Facts<'_>,
    reach: &Reach,
    stmt: &StmtFacts<'_>,
    access: &AccessFacts,
) -> Features<N_NODE> {
    use AccessFeature as F;
    let mut features = Features::zero();
    let role = match access.role {
        Role::Target => F::Write,
        Role::Update => F::Update,
        Role::Value => F::Value,
        Role::TargetIndex => F::Index,
        Role::Guard => F::Guard,
        Role::Bound => F::Bound,
    };
    features.flag(role, true);
    features.flag(F::Conditional, !access.exact);
    features.set(F::Bytes, facts.element_bytes(access.source.array));
    indices(facts, stmt, access, &mut features);
    if let Some(runs) = facts.access_runs(stmt, access) {
        features.flag(F::RunsKnown, true);
        features.set(F::Runs, runs.value);
    }
    let inner = [F::InnerZero, F::InnerOne, F::InnerSmall, F::InnerLarge, F::InnerUnknown];
    movement(access.steps.last(), inner, F::InnerStride, &mut features);
    let outer = [F::OuterZero, F::OuterOne, F::OuterSmall, F::OuterLarge, F::OuterUnknown];
    movement(access.steps.first(), outer, F::OuterStride, &mut features);
    reuse(facts, reach, stmt, access, &mut features);
    if let Some(bytes) = Reach::of_access(facts, stmt, access) {
        features.flag(F::FootprintKnown, true);
        features.set(F::Footprint, bytes);
        set_ratio(&mut features, F::FootprintL2, Some(bytes), facts.host.l2_bytes);
    }
    features
}

fn indices(facts: &Facts<'_>, stmt: &StmtFacts<'_>, access: &AccessFacts, features: &mut Features<N_NODE>) {
    use AccessFeature as F;
    let indices = &access.source.indices;
    features.set(F::Dims, indices.len() as f64);
    let non_affine = || indices.iter().filter(|index| index.as_affine().is_none());
    features.flag(F::Indirect, non_affine().any(|index| !index.reads().is_empty()));
    features.flag(F::NonAffine, non_affine().any(|index| index.reads().is_empty()));
    let around = || stmt.path.iter().take(access.steps.len()).map(|&loop_idx| facts.loops[loop_idx].l.id);
    features.flag(F::Coupled, around().any(|id| indices.iter().filter(|index| index.uses(id)).count() > 1));
    features.flag(F::Skewed, indices.iter().any(|index| around().filter(|&id| index.uses(id)).count() > 1));
    let offset = |index: &Expr| index.as_affine().map(|affine| affine.constant_part().unsigned_abs());
    features.set(F::Offset, indices.iter().filter_map(offset).max().unwrap_or(0) as f64);
}

/// One of `classes` (in the order of [`StrideClass`]) and the stride.
fn movement(
    step: Option<&Step>,
    classes: [AccessFeature; 5],
    stride: AccessFeature,
    features: &mut Features<N_NODE>,
) {
    if let Some(step) = step {
        features.flag(classes[step.class as usize], true);
        features.set(stride, step.bytes.unwrap_or(0.0));
    }
}

fn reuse(
    facts: &Facts<'_>,
    reach: &Reach,
    stmt: &StmtFacts<'_>,
    access: &AccessFacts,
    features: &mut Features<N_NODE>,
) {
    use AccessFeature as F;
    let steps = access.steps.iter().zip(&stmt.path);
    let still: Vec<usize> =
        steps.filter(|(step, _)| step.class == StrideClass::Zero).map(|(_, &l)| l).collect();
    features.set(F::Still, still.len() as f64);
    features.set(F::StillShare, still.len() as f64 / access.steps.len().max(1) as f64);
    let uses: Option<f64> =
        still.iter().map(|&loop_idx| facts.loops[loop_idx].trip.map(|trip| trip.value)).product();
    let between = still.last().map(|&loop_idx| reach.bodies[loop_idx]);
    // Without reuse there is nothing between two uses, and that is known.
    if let (Some(uses), Some(between)) = (uses, between.unwrap_or(Some(0.0))) {
        features.flag(F::ReuseKnown, true);
        features.set(F::Reuse, uses);
        if !still.is_empty() {
            features.set(F::ReuseBytes, between);
            set_ratio(features, F::ReuseL1, Some(between), facts.host.l1_bytes);
            set_ratio(features, F::ReuseL2, Some(between), facts.host.l2_bytes);
            set_ratio(features, F::ReuseL3, Some(between), facts.host.l3_bytes);
        }
    }
}

fn array_features(facts: &Facts<'_>, reach: &Reach, id: ArrayId) -> Features<N_NODE> {
    use ArrayFeature as F;
    let array = facts.program.array(id);
    let host = facts.host;
    let mut features = Features::zero();
    features.flag(F::Float, array.element.is_float());
    features.set(F::ElementBytes, array.element.bytes() as f64);
    features.set(F::Dims, array.shape.len() as f64);
    features.flag(F::Scalar, array.shape.is_empty());
    let storage = match array.storage {
        Storage::Param => F::Param,
        Storage::Global => F::Global,
        Storage::Local => F::Local,
        Storage::Body(_) => F::Private,
        Storage::Temp(of) => {
            features.flag(F::Private, of.is_some());
            F::Temp
        }
    };
    features.flag(storage, true);
    let outlives = matches!(array.storage, Storage::Param | Storage::Global);
    features.flag(F::LiveOut, outlives || facts.nest.live_out.contains(&id));
    if let Some(bytes) = facts.array_bytes(id) {
        features.flag(F::SizeKnown, true);
        features.set(F::Bytes, bytes);
        set_ratio(&mut features, F::BytesL1, Some(bytes), host.l1_bytes);
        set_ratio(&mut features, F::BytesL2, Some(bytes), host.l2_bytes);
        set_ratio(&mut features, F::BytesL3, Some(bytes), host.l3_bytes);
    }
    if let Some(bytes) = reach.arrays.get(&id).copied().flatten() {
        features.flag(F::TouchedKnown, true);
        features.set(F::Touched, bytes);
        set_ratio(&mut features, F::TouchedL1, Some(bytes), host.l1_bytes);
        set_ratio(&mut features, F::TouchedL2, Some(bytes), host.l2_bytes);
        set_ratio(&mut features, F::TouchedL3, Some(bytes), host.l3_bytes);
    }
    let accesses = || facts.stmts.iter().flat_map(|stmt| &stmt.accesses).filter(|a| a.source.array == id);
    let n_writes = accesses().filter(|access| access.role.is_write()).count();
    let n_reads = accesses().count() - n_writes;
    features.flag(F::Read, n_reads > 0);
    features.flag(F::Written, n_writes > 0);
    features.set(F::Reads, n_reads as f64);
    features.set(F::Writes, n_writes as f64);
    let is_indirect = |index: &Expr| index.as_affine().is_none() && !index.reads().is_empty();
    features.flag(F::Indirect, accesses().any(|access| access.source.indices.iter().any(is_indirect)));
    let controls =
        accesses().any(|access| matches!(access.role, Role::Guard | Role::Bound | Role::TargetIndex));
    features.flag(F::Addresses, controls || inside_indices(facts).contains(&id));
    features
}

/// Arrays that are read to find elements of others.
fn inside_indices(facts: &Facts<'_>) -> BTreeSet<ArrayId> {
    let indices = facts.nest.accesses().into_iter().flat_map(|(access, _)| &access.indices);
    indices.flat_map(|index| index.reads()).map(|access| access.array).collect()
}

//! Dependences as edges, and what they mean for the loops that carry them.

use super::draft::Draft;
use super::facts::Facts;
use crate::graph::EdgeKind;
use crate::schema::{EdgeFeature, N_EDGE};
use crate::vector::Features;
use oxeye_analysis::{Dependence, DependenceKind, Level, Role};
use oxeye_ir::LoopId;

/// The dependences of a nest.
pub(super) struct Carried {
    dependences: Vec<Found>,
}

struct Found {
    dependence: Dependence,
    /// Whether it is that of a reduction on itself.
    is_reduction: bool,
    /// Magnitude of the steps of the common loops.
    steps: Vec<i64>,
}

/// What one loop carries.
#[derive(Default)]
pub(super) struct LoopSummary {
    pub(super) flow: bool,
    /// Anti or output.
    pub(super) reuse: bool,
    pub(super) reduction: bool,
    pub(super) inexact: bool,
    /// Whether a dependence that an outer loop carries may go backward in this one.
    pub(super) backtracks: bool,
    /// Least known distance in iterations, reductions left out.
    pub(super) distance: Option<i64>,
}

impl LoopSummary {
    pub(super) fn is_empty(&self) -> bool {
        !(self.flow || self.reuse || self.reduction || self.inexact)
    }
}

/// A nest with more dependences has no graph: its relatives would be as large, and hardly ever known.
const MOST_EDGES: usize = 4000;

impl Carried {
    /// `None` if there are too many.
    pub(super) fn new(facts: &Facts<'_>) -> Option<Self> {
        let found = |dependence: Dependence| {
            let step = |id: &LoopId| {
                let of = facts.loops.iter().find(|outer| outer.l.id == *id);
                of.map_or(1, |outer| i64::try_from(outer.l.step.unsigned_abs()).unwrap_or(i64::MAX).max(1))
            };
            let steps = dependence.common.iter().map(step).collect();
            let is_reduction = is_reduction(facts, &dependence);
            Found { dependence, is_reduction, steps }
        };
        Some(Self { dependences: facts.model.dependences(MOST_EDGES)?.into_iter().map(found).collect() })
    }

    pub(super) fn by(&self, id: LoopId) -> LoopSummary {
        let mut summary = LoopSummary::default();
        for found in &self.dependences {
            let (dependence, Level::Carried(depth)) = (&found.dependence, found.dependence.level) else {
                continue;
            };
            let Some(position) = dependence.common.iter().position(|common| *common == id) else { continue };
            if position > depth {
                summary.backtracks |= !found.is_reduction && dependence.directions[position].earlier;
                continue;
            }
            if position < depth {
                continue;
            }
            summary.inexact |= !dependence.exact;
            match (found.is_reduction, dependence.kind) {
                (true, _) => summary.reduction = true,
                (false, DependenceKind::Flow) => summary.flow = true,
                (false, _) => summary.reuse = true,
            }
            if !found.is_reduction {
                summary.distance = [summary.distance, found.distance(depth)].into_iter().flatten().min();
            }
        }
        summary
    }

    pub(super) fn add_edges(&self, facts: &Facts<'_>, draft: &mut Draft) {
        for found in &self.dependences {
            let dependence = &found.dependence;
            let (src, dst) = (dependence.src.stmt.to_string(), dependence.dst.stmt.to_string());
            let features = found.features(facts);
            match (dependence.level, dependence.kind) {
                (Level::Independent, DependenceKind::Flow) => {
                    draft.edge(EdgeKind::Flow, &src, &dst, features)
                }
                (Level::Independent, _) => draft.edge(EdgeKind::Order, &src, &dst, features),
                (Level::Carried(depth), _) => {
                    draft.edge(EdgeKind::Carried, &src, &dst, features);
                    draft.edge(EdgeKind::Carries, &dependence.common[depth].to_string(), &dst, features);
                }
            }
        }
    }
}

impl Found {
    /// Iterations, not iterators.
    fn distance(&self, depth: usize) -> Option<i64> {
        self.dependence.directions.get(depth)?.distance.map(|distance| distance / self.steps[depth])
    }

    fn features(&self, facts: &Facts<'_>) -> Features<N_EDGE> {
        use EdgeFeature as F;
        let dependence = &self.dependence;
        let mut features = Features::zero();
        features.flag(F::Flow, dependence.kind == DependenceKind::Flow);
        features.flag(F::Anti, dependence.kind == DependenceKind::Anti);
        features.flag(F::Output, dependence.kind == DependenceKind::Output);
        features.flag(F::Exact, dependence.exact);
        features.flag(F::Reduction, self.is_reduction);
        features.flag(F::Scalar, facts.program.array(dependence.array).shape.is_empty());
        let Level::Carried(depth) = dependence.level else { return features };
        let inside = &dependence.directions[depth + 1..];
        features.set(F::LevelOuter, depth as f64);
        features.set(F::LevelInner, inside.len() as f64);
        if let Some(distance) = self.distance(depth) {
            features.flag(F::DistanceKnown, true);
            features.set(F::Distance, distance.unsigned_abs() as f64);
        }
        features
            .flag(F::AllKnown, dependence.directions.iter().all(|direction| direction.distance.is_some()));
        features.flag(F::Backward, inside.iter().any(|direction| direction.earlier));
        features.flag(F::Forward, inside.iter().any(|direction| direction.later));
        let backward =
            (depth + 1..dependence.directions.len()).filter_map(|depth| self.distance(depth)).min();
        features.set(F::Skew, backward.map_or(0.0, |distance| -(distance as f64)));
        features
    }
}

/// Whether a dependence is that of an accumulation on itself, so that only rounding depends on its order.
fn is_reduction(facts: &Facts<'_>, dependence: &Dependence) -> bool {
    let role = |endpoint: &oxeye_analysis::Endpoint| {
        let stmt = facts.model.stmt(endpoint.stmt)?;
        stmt.accesses.get(endpoint.access).map(|access| access.role)
    };
    let accumulates = |endpoint| matches!(role(endpoint), Some(Role::Update | Role::Target));
    let stmt = facts.stmts.iter().find(|stmt| stmt.stmt.id == dependence.src.stmt);
    dependence.src.stmt == dependence.dst.stmt
        && stmt.is_some_and(|stmt| stmt.stmt.update.is_reduction())
        && accumulates(&dependence.src)
        && accumulates(&dependence.dst)
}

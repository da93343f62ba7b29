//! The dependences of the original nest between the statements of a schedule.

use crate::policy::Policy;
use crate::schedule::space::Space;
use crate::schedule::{OriginalPair, Schedule, Statement};
use oxeye_analysis::DependenceRelation;
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
use oxeye_ir::{LoopId, Update, Var};

/// The pairs of instances of `s` and `t` of the schedule, as instances 0 and 1, that have the dependence.
pub(super) fn joined(
    schedule: &Schedule,
    pair: &OriginalPair,
    s: &Statement,
    t: &Statement,
) -> (Space, System) {
    let mut space = Space::default();
    let mut system = System::new(0);
    for c in &schedule.program.assumptions {
        space.add(&mut system, 0, c);
    }
    for (instance, statement) in [(0, s), (1, t)] {
        for c in &statement.domain {
            space.add(&mut system, instance, c);
        }
    }
    let DependenceRelation { src, dst, pairs, .. } = &pair.relation;
    let model = &schedule.original.model;
    let mut forms: Vec<(Vec<(usize, i64)>, i64)> = Vec::new();
    for (instance, stmt, statement) in [(0, src.0, s), (1, dst.0, t)] {
        for l in &model.stmts[stmt].loops {
            // Loops inside an atomic statement belong to it alone.
            forms.push(match statement.map.get(&l.id) {
                Some(value) => (space.terms(instance, value), value.constant_part()),
                None => (vec![(space.column(instance, Var::Loop(l.id)), 1)], 0),
            });
        }
    }
    forms.extend(model.symbols.iter().map(|id| (vec![(space.column(0, Var::Sym(*id)), 1)], 0)));
    // Existential variables get ids of loops that no nest has.
    let n_unknown = pairs.system.n_vars() - forms.len();
    let unknown = (1..=n_unknown as u32).map(|k| Var::Loop(LoopId(u32::MAX - k)));
    forms.extend(unknown.map(|var| (vec![(space.column(0, var), 1)], 0)));
    space.fit(&mut system);
    system.extend_substituted(&pairs.system, &forms);
    (space, system)
}

/// The system of one dependence of an imported schedule; instance 0 is the source.
pub(crate) fn pair_system(schedule: &Schedule, pair: &OriginalPair) -> (Space, System) {
    joined(schedule, pair, &schedule.statements[pair.source.0], &schedule.statements[pair.sink.0])
}

/// Whether a dependence joins accumulations that may be reordered under the policy.
pub(crate) fn accumulates(schedule: &Schedule, pair: &OriginalPair, policy: Policy) -> bool {
    let a = &schedule.statements[pair.source.0].accesses[pair.source.1];
    let b = &schedule.statements[pair.sink.0].accesses[pair.sink.1];
    let float = schedule.program.array(a.array).element.is_float();
    matches!((a.update, b.update), (Some(u), Some(v)) if same_accumulation(u, v))
        && (policy.reassociate || !float || schedule.nest.unordered.contains(&a.array))
}

/// Whether two updates of one element may be reordered.
pub(super) fn same_accumulation(a: Update, b: Update) -> bool {
    let class = |u| if u == Update::Sub { Update::Add } else { u };
    a.is_reduction() && class(a) == class(b)
}

pub(super) fn possible(system: &System) -> bool {
    feasible(system, Limit::default()) != Feasibility::Infeasible
}

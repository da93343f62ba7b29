//! The dependences of the original program.

use crate::Policy;
use crate::schedule::space::Space;
use crate::schedule::{MemoryAccess, Schedule, Statement};
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
use oxeye_ir::{ArrayId, Update};
use std::collections::BTreeMap;

/// A dependence in the original program, found on import: access `a` of statement `s` comes before access `b` of `t`,
/// their common loops being equal above `depth` and ordered at `depth` (`None`: all equal, textual order).
#[derive(Clone, Debug)]
pub(crate) struct OriginalPair {
    pub(crate) source: (usize, usize),
    pub(crate) sink: (usize, usize),
    pub(crate) depth: Option<usize>,
}

/// The system of one dependence of an imported schedule; instance 0 is the source.
pub(crate) fn pair_system(schedule: &Schedule, pair: &OriginalPair) -> (Space, System) {
    let (source, sink) = (&schedule.statements[pair.source.0], &schedule.statements[pair.sink.0]);
    let mut space = Space::default();
    let mut system = System::new(0);
    let accesses = (&source.accesses[pair.source.1], &sink.accesses[pair.sink.1]);
    dependence_system(schedule, &mut space, &mut system, (source, accesses.0), (sink, accesses.1));
    order_system(&mut space, &mut system, source, sink, pair.depth);
    space.fit(&mut system);
    (space, system)
}

/// Whether a dependence joins accumulations that may change places under the policy.
pub(crate) fn accumulates(schedule: &Schedule, pair: &OriginalPair, policy: Policy) -> bool {
    let a = &schedule.statements[pair.source.0].accesses[pair.source.1];
    let b = &schedule.statements[pair.sink.0].accesses[pair.sink.1];
    let float = schedule.program.array(a.array).element.is_float();
    matches!((a.update, b.update), (Some(u), Some(v)) if same_accumulation(u, v))
        && (policy.reassociate || !float)
}

/// Whether two updates of one element may change places.
pub(super) fn same_accumulation(a: Update, b: Update) -> bool {
    let class = |u| if u == Update::Sub { Update::Add } else { u };
    a.is_reduction() && class(a) == class(b)
}

pub(super) fn possible(system: &System) -> bool {
    feasible(system, Limit::default()) != Feasibility::Infeasible
}

/// Both instances inside their domains, touching the same element. Instance 0 is the source.
pub(super) fn dependence_system(
    schedule: &Schedule,
    space: &mut Space,
    system: &mut System,
    (source, a): (&Statement, &MemoryAccess),
    (sink, b): (&Statement, &MemoryAccess),
) {
    for c in &schedule.program.assumptions {
        space.add(system, 0, c);
    }
    for (instance, statement, access) in [(0, source, a), (1, sink, b)] {
        for c in &statement.domain {
            space.add(system, instance, c);
        }
        for c in &access.inner {
            let c = oxeye_ir::Constraint { expr: statement.mapped(&c.expr), relation: c.relation };
            space.add(system, instance, &c);
        }
    }
    for (i, j) in a.located.iter().zip(&b.located) {
        if let (Some(i), Some(j)) = (i, j) {
            add_difference(space, system, (0, &source.mapped(i)), (1, &sink.mapped(j)), 0, true);
        }
    }
}

/// `right − left + constant` is zero (`equal`) or not negative.
fn add_difference(
    space: &mut Space,
    system: &mut System,
    (p, left): (u8, &oxeye_ir::Affine),
    (q, right): (u8, &oxeye_ir::Affine),
    constant: i64,
    equal: bool,
) {
    let mut terms = space.terms(q, right);
    for (column, c) in space.terms(p, left) {
        match terms.iter_mut().find(|(k, _)| *k == column) {
            Some((_, existing)) => *existing -= c,
            None => terms.push((column, -c)),
        }
    }
    space.fit(system);
    let constant = right.constant_part() - left.constant_part() + constant;
    if equal {
        system.add_eq(&terms, constant);
    } else {
        system.add_ge(&terms, constant);
    }
}

/// The source comes first in the original program: equal above `depth`, ordered there.
pub(super) fn order_system(
    space: &mut Space,
    system: &mut System,
    source: &Statement,
    sink: &Statement,
    depth: Option<usize>,
) {
    let n_common = common_loops(source, sink);
    for d in 0..depth.unwrap_or(n_common) {
        let l = source.time.loops[d].0;
        add_difference(space, system, (0, &source.map[&l]), (1, &sink.map[&l]), 0, true);
    }
    if let Some(d) = depth {
        let (l, reverse) = source.time.loops[d];
        let (x, y) = ((0, &source.map[&l]), (1, &sink.map[&l]));
        if reverse {
            add_difference(space, system, y, x, -1, false);
        } else {
            add_difference(space, system, x, y, -1, false);
        }
    }
}

fn common_loops(s: &Statement, t: &Statement) -> usize {
    (0..s.time.loops.len().min(t.time.loops.len()))
        .take_while(|d| {
            s.time.positions[..=*d] == t.time.positions[..=*d] && s.time.loops[*d].0 == t.time.loops[*d].0
        })
        .count()
}

/// All pairs of accesses of the original program that depend on each other.
pub(crate) fn original_pairs(schedule: &Schedule) -> Vec<OriginalPair> {
    let mut pairs = Vec::new();
    let mut written: BTreeMap<ArrayId, bool> = BTreeMap::new();
    for s in &schedule.statements {
        for a in &s.accesses {
            *written.entry(a.array).or_default() |= a.write;
        }
    }
    for (i, s) in schedule.statements.iter().enumerate() {
        for (j, t) in schedule.statements.iter().enumerate() {
            let n_common = common_loops(s, t);
            let textual = s.time.positions.get(n_common) < t.time.positions.get(n_common);
            for (x, a) in s.accesses.iter().enumerate() {
                if !written[&a.array] {
                    continue;
                }
                for (y, b) in t.accesses.iter().enumerate() {
                    if a.array != b.array || !(a.write || b.write) {
                        continue;
                    }
                    let mut space = Space::default();
                    let mut system = System::new(0);
                    dependence_system(schedule, &mut space, &mut system, (s, a), (t, b));
                    space.fit(&mut system);
                    if !possible(&system) {
                        continue;
                    }
                    for depth in (0..n_common).map(Some).chain(textual.then_some(None)) {
                        let (mut space, mut system) = (space.clone(), system.clone());
                        order_system(&mut space, &mut system, s, t, depth);
                        space.fit(&mut system);
                        if possible(&system) {
                            pairs.push(OriginalPair { source: (i, x), sink: (j, y), depth });
                        }
                    }
                }
            }
        }
    }
    pairs
}

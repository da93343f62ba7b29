//! The dependences of the original nest, which [`oxeye_analysis`] finds, between the statements of a schedule.

use crate::policy::Policy;
use crate::schedule::space::Space;
use crate::schedule::{MemoryAccess, Schedule, Statement};
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
use oxeye_analysis::{DependenceRelation, Level, NestModel, Role, StmtAccess, StmtModel};
use oxeye_ir::{LoopId, Node, Update, Var};

/// A dependence of the original nest: access `a` of statement `s` comes before access `b` of `t`, their common loops being
/// equal above `depth` and ordered at `depth` (`None`: all equal, textual order).
#[derive(Clone, Debug)]
pub(crate) struct OriginalPair {
    pub(crate) source: (usize, usize),
    pub(crate) sink: (usize, usize),
    pub(crate) depth: Option<usize>,
    relation: DependenceRelation,
}

/// The nest as it was imported, and its dependences.
#[derive(Debug, Default)]
pub(crate) struct Original {
    model: NestModel,
    pub(crate) pairs: Vec<OriginalPair>,
}

impl Original {
    /// Of a schedule as it was imported: its statements stand in textual order, each one or several of the nest's.
    pub(crate) fn new(schedule: &Schedule) -> Self {
        let model = NestModel::new(&schedule.program, &schedule.nest);
        let holders: Vec<usize> = schedule
            .statements
            .iter()
            .enumerate()
            .flat_map(|(s, statement)| std::iter::repeat_n(s, n_stmts(&statement.node)))
            .collect();
        let accesses: Vec<Vec<Option<usize>>> = model
            .stmts
            .iter()
            .zip(&holders)
            .map(|(stmt, s)| places(stmt, &schedule.statements[*s]))
            .collect();
        let pair = |relation: DependenceRelation| {
            let place = |(stmt, access): (usize, usize)| Some((holders[stmt], accesses[stmt][access]?));
            let (source, sink) = (place(relation.src)?, place(relation.dst)?);
            let n_outer = |s: usize| schedule.statements[s].time.loops.len();
            let depth = match relation.level {
                Level::Carried(depth) => Some(depth),
                Level::Independent => None,
            };
            // What stays inside one run of an atomic statement is nobody's business.
            let is_inside = source.0 == sink.0 && depth.is_none_or(|d| d >= n_outer(source.0));
            (!is_inside).then_some(OriginalPair { source, sink, depth, relation })
        };
        let mut pairs: Vec<OriginalPair> = model.relations().into_iter().filter_map(pair).collect();
        pairs.sort_by_key(|p| (p.source.0, p.sink.0, p.source.1, p.sink.1, p.depth.unwrap_or(usize::MAX)));
        Self { model, pairs }
    }
}

fn n_stmts(node: &Node) -> usize {
    match node {
        Node::Stmt(_) => 1,
        _ => node.bodies().into_iter().flatten().map(n_stmts).sum(),
    }
}

/// Which of the statement's accesses each access of one of its assignments is; `None` for arrays that live inside it.
fn places(stmt: &StmtModel, statement: &Statement) -> Vec<Option<usize>> {
    let mut taken = vec![false; statement.accesses.len()];
    let n_target = statement.assignment().map_or(0, |s| if s.update.reads_target() { 2 } else { 1 });
    let mut place = |access: &StmtAccess| {
        let fits = |k: usize, own: &MemoryAccess| match (statement.assignment(), access.role) {
            (None, _) => own.source == access.source && own.write == access.role.is_write(),
            (Some(_), Role::Update) => k == 0,
            (Some(_), Role::Target) => k + 1 == n_target,
            (Some(_), _) => k >= n_target && own.source == access.source && !taken[k],
        };
        let found = statement.accesses.iter().enumerate().position(|(k, own)| fits(k, own))?;
        taken[found] = true;
        Some(found)
    };
    stmt.accesses.iter().map(&mut place).collect()
}

/// The pairs of instances of `s` and `t` of the schedule, as instances 0 and 1, between which there is the dependence.
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
            // Loops inside an atomic statement are only its own.
            forms.push(match statement.map.get(&l.id) {
                Some(value) => (space.terms(instance, value), value.constant_part()),
                None => (vec![(space.column(instance, Var::Loop(l.id)), 1)], 0),
            });
        }
    }
    forms.extend(model.symbols.iter().map(|id| (vec![(space.column(0, Var::Sym(*id)), 1)], 0)));
    // Unknowns have the ids of loops that no nest has.
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

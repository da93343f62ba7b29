//! Whether a schedule keeps every dependence.

use super::dependences::{joined, possible, same_accumulation};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::packed_contraction::Contraction;
use crate::schedule::space::Space;
use crate::schedule::{ComparedStep, OriginalPair, Question, Schedule, TimeStep, Tree, leaves};
use oxeye_analysis::omega::System;
use oxeye_ir::{ArrayId, Execution, LoopId, Reduction, Update, Var};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Checks every dependence. Returns whether floating-point accumulations are reordered.
///
/// # Errors
/// A dependence that the schedule breaks, as a message.
pub(crate) fn check(schedule: &Schedule, policy: Policy) -> Result<bool, Reason> {
    schedule.original.known()?;
    let judge = Judge::new(schedule, policy);
    if let Some(reason) = schedule.program.one_thread(schedule.nest.id)
        && uses_threads(&schedule.roots)
    {
        let text = format!("one thread has to run the nest as a whole: {reason}");
        return Err(Reason::new(RefusalKind::ConcurrencyDoesNotNest, text));
    }
    concurrency_fits(schedule, &schedule.roots, None)?;
    let adds_floats = |c: &Contraction| {
        let stmt = schedule.statements[c.statements[0]].assignment();
        stmt.is_some_and(|stmt| schedule.program.array(stmt.target.array).element.is_float())
    };
    let mut reassociated =
        any_contraction(&schedule.roots, &|c| c.accumulates_apart(&schedule.statements) && adds_floats(c));
    let states = schedule.original.verdicts.states(&schedule.statements);
    let mut of_origin: Vec<Vec<usize>> = vec![Vec::new(); schedule.statements.len()];
    for (s, statement) in schedule.statements.iter().enumerate() {
        of_origin[statement.origin].push(s);
    }
    for (k, pair) in schedule.original.pairs.iter().enumerate() {
        for &s in &of_origin[pair.source.0] {
            for &t in &of_origin[pair.sink.0] {
                reassociated |= judge.pair((k, pair), (s, t), [states[s], states[t]])?;
            }
        }
    }
    Ok(reassociated)
}

fn uses_threads(trees: &[Tree]) -> bool {
    trees.iter().any(|tree| match tree {
        Tree::Leaf(_) => false,
        Tree::PackedContraction(c) => c.parallel.is_some(),
        Tree::Loop(loop_node) => {
            matches!(loop_node.execution, Execution::Parallel { .. }) || uses_threads(&loop_node.body)
        }
    })
}

/// Whether concurrent loops contain only what can run inside them: no team of threads in a parallel loop, nothing
/// concurrent in vector lanes, and in a loop with reductions no other use of the reduced variables.
fn concurrency_fits(
    schedule: &Schedule,
    trees: &[Tree],
    outer: Option<(LoopId, bool)>,
) -> Result<(), Reason> {
    for tree in trees {
        let (id, parallel, reductions) = match tree {
            Tree::Leaf(_) => continue,
            Tree::PackedContraction(_) => match outer {
                Some((l, false)) => {
                    return Err(nested("a packed contraction", schedule, l, "in vector lanes"));
                }
                _ => continue,
            },
            Tree::Loop(loop_node) => match &loop_node.execution {
                Execution::Sequential | Execution::Unrolled => {
                    concurrency_fits(schedule, &loop_node.body, outer)?;
                    continue;
                }
                Execution::Parallel { reductions, .. } => (loop_node.id, true, reductions),
                Execution::Vector { reductions, .. } => (loop_node.id, false, reductions),
            },
        };
        let what = format!("concurrent loop {}", schedule.loop_name(id));
        match outer {
            Some((l, false)) => return Err(nested(&what, schedule, l, "in vector lanes")),
            Some((l, true)) if parallel => return Err(nested(&what, schedule, l, "on several threads")),
            _ => {}
        }
        let Tree::Loop(loop_node) = tree else { continue };
        for r in reductions {
            let accesses = leaves(tree).into_iter().flat_map(|s| schedule.statements[s].accesses.iter());
            let mut own = accesses.filter(|a| a.array == r.array);
            if !own.all(|a| a.update.is_some_and(|u| same_accumulation(u, r.op))) {
                let name = &schedule.program.array(r.array).name;
                let at = schedule.loop_name(id);
                return Err(Reason::new(
                    RefusalKind::ConcurrencyDoesNotNest,
                    format!(
                        "{name} is accumulated in private copies by loop {at}, which also uses it otherwise"
                    ),
                ));
            }
        }
        concurrency_fits(schedule, &loop_node.body, Some((id, parallel)))?;
    }
    Ok(())
}

fn nested(what: &str, schedule: &Schedule, outer: LoopId, how: &str) -> Reason {
    Reason::new(
        RefusalKind::ConcurrencyDoesNotNest,
        format!("{what} would be inside loop {}, which already runs {how}", schedule.loop_name(outer)),
    )
}

fn any_contraction(trees: &[Tree], f: &dyn Fn(&Contraction) -> bool) -> bool {
    trees.iter().any(|t| match t {
        Tree::PackedContraction(c) => f(c),
        Tree::Loop(b) => any_contraction(&b.body, f),
        Tree::Leaf(_) => false,
    })
}

pub(super) struct LoopFacts {
    pub(super) reverse: bool,
    /// `Some` for concurrent loops.
    pub(super) reductions: Option<Vec<Reduction>>,
    /// Whether what its iterations store stays in order, as in batches.
    pub(super) stores_in_order: bool,
}

impl LoopFacts {
    /// The accumulations that are listed where iterations of the loop have these accesses at the same time; `None` where the
    /// accesses stay in order.
    fn concurrent(&self, conflict: Conflict) -> Option<&Vec<Reduction>> {
        self.reductions.as_ref().filter(|_| !(self.stores_in_order && conflict.are_targets))
    }
}

/// Two accesses of the same elements that must stay in order.
#[derive(Clone, Copy)]
pub(super) struct Conflict {
    pub(super) array: ArrayId,
    pub(super) is_float: bool,
    /// If both belong to accumulations: their update.
    pub(super) accumulation: Option<Update>,
    /// Whether both belong to what their statements write.
    pub(super) are_targets: bool,
}

impl Conflict {
    /// Whether the accumulation that both belong to is one of these.
    fn is_listed(&self, reductions: &[Reduction]) -> bool {
        reductions
            .iter()
            .any(|r| r.array == self.array && self.accumulation.is_some_and(|u| same_accumulation(u, r.op)))
    }
}

/// The order of two accesses by the steps of time, where neither comes too late.
pub(super) enum Order {
    /// One step separates them.
    Decided {
        /// Floating-point accumulations are reordered.
        reordered: bool,
    },
    /// No step separates the remaining pairs.
    Together {
        /// Floating-point accumulations are reordered.
        reordered: bool,
    },
}

pub(super) struct Judge<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) policy: Policy,
    pub(super) times: Vec<Vec<TimeStep>>,
    pub(super) loops: BTreeMap<LoopId, LoopFacts>,
    /// The packed contraction that each statement is part of.
    contractions: Vec<Option<&'a Contraction>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(schedule: &'a Schedule, policy: Policy) -> Self {
        let mut judge = Self {
            schedule,
            policy,
            times: vec![Vec::new(); schedule.statements.len()],
            loops: BTreeMap::new(),
            contractions: vec![None; schedule.statements.len()],
        };
        judge.walk(&schedule.roots, &mut Vec::new());
        judge
    }

    /// The packed contraction that a statement is part of.
    pub(super) fn contraction_of(&self, s: usize) -> Option<&'a Contraction> {
        self.contractions[s]
    }

    fn walk(&mut self, trees: &'a [Tree], path: &mut Vec<TimeStep>) {
        for (position, tree) in trees.iter().enumerate() {
            path.push(TimeStep::Position(position));
            match tree {
                Tree::Loop(loop_node) => {
                    let reductions = match &loop_node.execution {
                        Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } => {
                            Some(reductions.clone())
                        }
                        Execution::Sequential | Execution::Unrolled => None,
                    };
                    let is_in_lanes = matches!(loop_node.execution, Execution::Vector { .. });
                    let stores_in_order = loop_node.batch.is_some() && is_in_lanes;
                    let facts = LoopFacts { reverse: loop_node.reverse, reductions, stores_in_order };
                    self.loops.insert(loop_node.id, facts);
                    path.push(TimeStep::Loop(loop_node.id));
                    self.walk(&loop_node.body, path);
                    path.pop();
                }
                Tree::Leaf(s) => self.times[*s] = path.clone(),
                Tree::PackedContraction(c) => {
                    for id in c.all_loops() {
                        let reductions = c.is_concurrent(id).then(Vec::new);
                        self.loops
                            .insert(id, LoopFacts { reverse: false, reductions, stores_in_order: false });
                    }
                    for s in &c.statements {
                        self.times[*s] = path.iter().cloned().chain(c.compute_time()).collect();
                        self.contractions[*s] = Some(c);
                    }
                }
            }
            path.pop();
        }
    }

    /// The time of `access` of `s`. Operands that a contraction packs are read when their block is packed, and its
    /// target is loaded before and stored after the register tile; between accumulations of one statement, the time of
    /// the computation counts.
    pub(super) fn time(&self, s: usize, access: usize, accumulation: bool) -> Vec<TimeStep> {
        let time = &self.times[s];
        match self.contraction_of(s) {
            Some(c) => {
                let outer = time.len() - c.compute_time().len();
                time[..outer].iter().cloned().chain(c.access_time(access, accumulation)).collect()
            }
            None => time.clone(),
        }
    }

    /// Checks one original dependence, of this index, between two statements of the schedule in these states. `Ok(true)`
    /// if it is broken only by reassociation, which the policy allows.
    fn pair(
        &self,
        (k, pair): (usize, &OriginalPair),
        (s, t): (usize, usize),
        states: [usize; 2],
    ) -> Result<bool, Reason> {
        let (source, sink) = (&self.schedule.statements[s], &self.schedule.statements[t]);
        let (a, b) = (&source.accesses[pair.source.1], &sink.accesses[pair.sink.1]);
        let accumulation = matches!((a.update, b.update), (Some(u), Some(v)) if same_accumulation(u, v));
        let together = || self.contraction_of(s).is_some_and(|c| c.statements.contains(&t));
        let own = accumulation && (s == t || together());
        let (x, y) = (self.time(s, pair.source.1, own), self.time(t, pair.sink.1, own));
        let conflict = Conflict {
            array: a.array,
            is_float: self.schedule.program.array(a.array).element.is_float(),
            accumulation: a.update.filter(|_| accumulation),
            are_targets: pair.relation.are_targets(&self.schedule.original.model),
        };
        let ends = [x.len() == y.len(), x != self.times[s] || y != self.times[t]];
        let question = self.compared(&x, &y, conflict).map(|order| Question {
            pair: k,
            states,
            order,
            ends,
            reassociate: self.policy.reassociate,
        });
        let verdicts = &self.schedule.original.verdicts;
        if let Some(reordered) = question.as_ref().and_then(|question| verdicts.known(question)) {
            return Ok(reordered);
        }
        let (mut space, mut system) = joined(self.schedule, pair, source, sink);
        let explain = |system: &System, space: &Space, at| self.explain(system, space, (s, a), (t, b), at);
        let reordered = match self.ordered((&mut space, &mut system), (&x, &y), conflict, &explain)? {
            Order::Decided { reordered } => reordered,
            Order::Together { reordered } => {
                if ends == [true, true] && !self.may_reorder(conflict) && possible(&system) {
                    return Err(explain(&system, &space, None));
                }
                reordered
            }
        };
        if let Some(question) = question {
            verdicts.keep(question, reordered);
        }
        Ok(reordered)
    }

    /// All that [`Judge::ordered`] looks at in the times of two accesses; `None` if they do not fit together.
    fn compared(&self, x: &[TimeStep], y: &[TimeStep], conflict: Conflict) -> Option<Box<[ComparedStep]>> {
        let mut steps = Vec::new();
        for (step_x, step_y) in x.iter().zip(y) {
            let step = match (step_x, step_y) {
                (TimeStep::Position(p), TimeStep::Position(q)) => match p.cmp(q) {
                    Ordering::Less => ComparedStep::Before,
                    Ordering::Equal => ComparedStep::Same,
                    Ordering::Greater => ComparedStep::After,
                },
                (TimeStep::Loop(l), TimeStep::Loop(m)) if l == m => {
                    let facts = &self.loops[l];
                    let concurrent =
                        facts.concurrent(conflict).map(|reductions| conflict.is_listed(reductions));
                    ComparedStep::Loop { id: *l, reverse: facts.reverse, concurrent }
                }
                _ => return None,
            };
            steps.push(step);
            if matches!(step, ComparedStep::Before | ComparedStep::After) {
                break;
            }
        }
        Some(steps.into())
    }

    /// Whether two accesses may be reordered: by the policy, or since the source leaves their order open.
    pub(super) fn may_reorder(&self, conflict: Conflict) -> bool {
        let is_left_open = || self.schedule.nest.unordered.contains(&conflict.array);
        conflict.accumulation.is_some() && (self.policy.reassociate || !conflict.is_float || is_left_open())
    }

    /// Whether the accesses of instances 0, at time `x`, come before those of instances 1, at time `y`, for all pairs
    /// in the system. Afterwards, the system holds the pairs that no step of time separates.
    pub(super) fn ordered(
        &self,
        (space, system): (&mut Space, &mut System),
        (x, y): (&[TimeStep], &[TimeStep]),
        conflict: Conflict,
        explain: &dyn Fn(&System, &Space, Option<LoopId>) -> Reason,
    ) -> Result<Order, Reason> {
        let is_float = conflict.is_float;
        let may_reorder = self.may_reorder(conflict);
        let mut reordered = false;
        for (step_x, step_y) in x.iter().zip(y) {
            match (step_x, step_y) {
                (TimeStep::Position(p), TimeStep::Position(q)) if p == q => {}
                (TimeStep::Position(p), TimeStep::Position(q)) => {
                    if p > q && possible(system) {
                        if may_reorder {
                            return Ok(Order::Decided { reordered: is_float });
                        }
                        return Err(explain(system, space, None));
                    }
                    return Ok(Order::Decided { reordered });
                }
                (TimeStep::Loop(l), TimeStep::Loop(m)) if l == m => {
                    let facts = &self.loops[l];
                    let (cx, cy) = (space.column(0, Var::Loop(*l)), space.column(1, Var::Loop(*l)));
                    space.fit(system);
                    let (first, second) = if facts.reverse { (cy, cx) } else { (cx, cy) };
                    // y before x
                    let mark = system.mark();
                    system.add_ge(&[(first, 1), (second, -1)], -1);
                    let swapped = possible(system);
                    if swapped && !may_reorder && facts.concurrent(conflict).is_none() {
                        return Err(explain(system, space, Some(*l)));
                    }
                    reordered |= swapped && is_float;
                    if let Some(reductions) = facts.concurrent(conflict) {
                        let listed = conflict.is_listed(reductions);
                        let mut concurrent = swapped;
                        if !concurrent {
                            system.rollback(mark);
                            system.add_ge(&[(second, 1), (first, -1)], -1);
                            concurrent = possible(system);
                        }
                        if concurrent && !(listed && may_reorder) {
                            return Err(explain(system, space, Some(*l)));
                        }
                        reordered |= concurrent && is_float;
                    }
                    system.rollback(mark);
                    system.add_eq(&[(cx, 1), (cy, -1)], 0);
                }
                _ => return Err(Reason::unsupported("the schedule tree is inconsistent")),
            }
        }
        Ok(Order::Together { reordered })
    }
}

//! The one judge of legality.
//!
//! A schedule is legal if no pair of dependent statement instances changes order: for every two accesses to the same
//! element, at least one a write, the instance that came first in the original program still comes first. The question
//! goes, pair by pair and loop level by loop level, to the exact integer test; "unknown" counts as illegal.
//!
//! Accumulations (`x += …` on both sides of a pair) may change order, not run concurrently, when the policy lets
//! floating point reassociate or when the type is an integer one; they may run concurrently on a loop that lists them as
//! reductions.

use crate::Policy;
use crate::schedule::{MemoryAccess, OriginalPair, Schedule, Statement, Tree, leaves};
use crate::space::Space;
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible, sample};
use oxeye_ir::{ArrayId, Execution, LoopId, Reduction, Update, Var};
use std::collections::BTreeMap;

/// When an access happens: tree positions and loops in turn, `Position` first and last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TimeStep {
    Position(usize),
    Loop(LoopId),
}

/// A dependence that the schedule breaks, in words.
pub(crate) fn check(schedule: &Schedule, policy: Policy) -> Result<bool, String> {
    let judge = Judge::new(schedule, policy);
    concurrency_fits(schedule, &schedule.roots, None)?;
    let mut reassociated = any_contraction(&schedule.roots, &|c| c.accumulates_apart(schedule));
    for pair in schedule.pairs.iter() {
        for s in judge.of_origin(pair.source.0) {
            for t in judge.of_origin(pair.sink.0) {
                reassociated |= judge.pair(pair, s, t)?;
            }
        }
    }
    Ok(reassociated)
}

/// Whether concurrent loops hold only what can run inside them: no further team of threads in a parallel loop, nothing
/// concurrent in vector lanes, and in a loop with reductions no other use of what is reduced.
fn concurrency_fits(
    schedule: &Schedule,
    trees: &[Tree],
    outer: Option<(LoopId, bool)>,
) -> Result<(), String> {
    for tree in trees {
        let (id, parallel, reductions) = match tree {
            Tree::Leaf(_) => continue,
            Tree::Contraction(_) => match outer {
                Some((l, false)) => return Err(nested("a contraction", schedule, l, "in vector lanes")),
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
            let accesses = leaves(tree).into_iter().flat_map(|s| &schedule.statements[s].accesses);
            let mut own = accesses.filter(|a| a.array == r.array);
            if !own.all(|a| a.update.is_some_and(|u| same_accumulation(u, r.op))) {
                let name = &schedule.program.array(r.array).name;
                let at = schedule.loop_name(id);
                return Err(format!(
                    "{name} is accumulated in private copies by loop {at}, which also uses it otherwise"
                ));
            }
        }
        concurrency_fits(schedule, &loop_node.body, Some((id, parallel)))?;
    }
    Ok(())
}

fn nested(what: &str, schedule: &Schedule, outer: LoopId, how: &str) -> String {
    format!("{what} would be inside loop {}, which already runs {how}", schedule.loop_name(outer))
}

fn any_contraction(
    trees: &[Tree],
    f: &dyn Fn(&crate::steps::packed_contraction::Contraction) -> bool,
) -> bool {
    trees.iter().any(|t| match t {
        Tree::Contraction(c) => f(c),
        Tree::Loop(b) => any_contraction(&b.body, f),
        Tree::Leaf(_) => false,
    })
}

struct LoopFacts {
    reverse: bool,
    /// Some for concurrent loops.
    reductions: Option<Vec<Reduction>>,
}

struct Judge<'a> {
    schedule: &'a Schedule,
    policy: Policy,
    times: Vec<Vec<TimeStep>>,
    loops: BTreeMap<LoopId, LoopFacts>,
}

impl<'a> Judge<'a> {
    fn new(schedule: &'a Schedule, policy: Policy) -> Self {
        let mut judge = Self {
            schedule,
            policy,
            times: vec![Vec::new(); schedule.statements.len()],
            loops: BTreeMap::new(),
        };
        judge.walk(&schedule.roots, &mut Vec::new());
        judge
    }

    fn walk(&mut self, trees: &[Tree], path: &mut Vec<TimeStep>) {
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
                    self.loops.insert(loop_node.id, LoopFacts { reverse: loop_node.reverse, reductions });
                    path.push(TimeStep::Loop(loop_node.id));
                    self.walk(&loop_node.body, path);
                    path.pop();
                }
                Tree::Leaf(s) => self.times[*s] = path.clone(),
                Tree::Contraction(c) => {
                    for id in c.all_loops() {
                        let reductions = c.is_concurrent(id).then(Vec::new);
                        self.loops.insert(id, LoopFacts { reverse: false, reductions });
                    }
                    for s in &c.statements {
                        self.times[*s] = path.iter().cloned().chain(c.compute_time()).collect();
                    }
                }
            }
            path.pop();
        }
    }

    fn of_origin(&self, origin: usize) -> impl Iterator<Item = usize> + '_ {
        let statements = &self.schedule.statements;
        (0..statements.len()).filter(move |s| statements[*s].origin == origin)
    }

    /// When `access` of `s` happens. Operands that a contraction packs are read when their block is packed, and its
    /// target is loaded before and stored after the register tile; between accumulations of one statement the
    /// computation itself counts.
    fn time(&self, s: usize, access: usize, accumulation: bool) -> Vec<TimeStep> {
        let time = &self.times[s];
        match contraction_of(&self.schedule.roots, s) {
            Some(c) => {
                let outer = time.len() - c.compute_time().len();
                time[..outer].iter().cloned().chain(c.access_time(access, accumulation)).collect()
            }
            None => time.clone(),
        }
    }

    /// Judges one original dependence between two statements of the schedule. `Ok(true)` if only reassociation makes
    /// it acceptable.
    fn pair(&self, pair: &OriginalPair, s: usize, t: usize) -> Result<bool, String> {
        let (source, sink) = (&self.schedule.statements[s], &self.schedule.statements[t]);
        let (a, b) = (&source.accesses[pair.source.1], &sink.accesses[pair.sink.1]);
        let mut space = Space::default();
        let mut system = System::new(0);
        dependence_system(self.schedule, &mut space, &mut system, (source, a), (sink, b));
        order_system(&mut space, &mut system, source, sink, pair.depth);
        space.fit(&mut system);

        let accumulation = matches!((a.update, b.update), (Some(u), Some(v)) if same_accumulation(u, v));
        let element = self.schedule.program.array(a.array).element;
        let may_reorder = accumulation && (self.policy.reassociate || !element.is_float());
        let together = || contraction_of(&self.schedule.roots, s).is_some_and(|c| c.statements.contains(&t));
        let own = accumulation && (s == t || together());
        let (x, y) = (self.time(s, pair.source.1, own), self.time(t, pair.sink.1, own));
        let mut reordered = false;
        for (step_x, step_y) in x.iter().zip(&y) {
            match (step_x, step_y) {
                (TimeStep::Position(p), TimeStep::Position(q)) if p == q => {}
                (TimeStep::Position(p), TimeStep::Position(q)) => {
                    if p > q && possible(&system) {
                        if may_reorder {
                            return Ok(element.is_float());
                        }
                        return Err(self.explain(&system, &space, (s, a), (t, b), None));
                    }
                    return Ok(reordered);
                }
                (TimeStep::Loop(l), TimeStep::Loop(m)) if l == m => {
                    let facts = &self.loops[l];
                    let (cx, cy) = (space.column(0, Var::Loop(*l)), space.column(1, Var::Loop(*l)));
                    space.fit(&mut system);
                    let (first, second) = if facts.reverse { (cy, cx) } else { (cx, cy) };
                    // y before x
                    let mark = system.mark();
                    system.add_ge(&[(first, 1), (second, -1)], -1);
                    let swapped = possible(&system);
                    if swapped && !may_reorder && facts.reductions.is_none() {
                        return Err(self.explain(&system, &space, (s, a), (t, b), Some(*l)));
                    }
                    reordered |= swapped && element.is_float();
                    if let Some(reductions) = &facts.reductions {
                        let listed = reductions.iter().any(|r| {
                            r.array == a.array
                                && accumulation
                                && a.update.is_some_and(|u| same_accumulation(u, r.op))
                        });
                        let mut concurrent = swapped;
                        if !concurrent {
                            system.rollback(mark);
                            system.add_ge(&[(second, 1), (first, -1)], -1);
                            concurrent = possible(&system);
                        }
                        if concurrent && !(listed && may_reorder) {
                            return Err(self.explain(&system, &space, (s, a), (t, b), Some(*l)));
                        }
                        reordered |= concurrent && element.is_float();
                    }
                    system.rollback(mark);
                    system.add_eq(&[(cx, 1), (cy, -1)], 0);
                }
                _ => return Err("the schedule tree is inconsistent".to_owned()),
            }
        }
        if x.len() == y.len()
            && (x != self.times[s] || y != self.times[t])
            && !may_reorder
            && possible(&system)
        {
            return Err(self.explain(&system, &space, (s, a), (t, b), None));
        }
        Ok(reordered)
    }

    fn explain(
        &self,
        system: &System,
        space: &Space,
        (s, a): (usize, &MemoryAccess),
        (t, b): (usize, &MemoryAccess),
        at: Option<LoopId>,
    ) -> String {
        let kind = match (a.write, b.write) {
            (true, true) => "both write",
            (true, false) => "the first writes what the second reads:",
            _ => "the second overwrites what the first reads:",
        };
        let name = &self.schedule.program.array(a.array).name;
        let describe = |s: usize| {
            let statement = &self.schedule.statements[s];
            match statement.assignment().and_then(|s| s.line) {
                Some(line) => format!("{} (line {line})", statement.id),
                None => statement.id.to_string(),
            }
        };
        let place = match at {
            Some(l) => {
                let how = if self.loops[&l].reductions.is_some() { "concurrent" } else { "reordered" };
                format!("loop {} would be {how}", self.schedule.loop_name(l))
            }
            None => "their order would change".to_owned(),
        };
        let mut text =
            format!("{} and {} depend on each other ({kind} {name}); {place}", describe(s), describe(t));
        let element = self.schedule.program.array(a.array).element;
        if let (Some(u), Some(v)) = (a.update, b.update)
            && same_accumulation(u, v)
            && element.is_float()
            && !self.policy.reassociate
        {
            let what = match u {
                Update::Mul => "product",
                Update::Min => "minimum",
                Update::Max => "maximum",
                _ => "sum",
            };
            text.push_str(&format!(", and a floating-point {what} may not be taken in another order"));
        }
        if let Some(point) = sample(system, Limit::default()) {
            let instance = |which: u8, statement: &Statement| {
                let values: Vec<String> = statement
                    .time
                    .loops
                    .iter()
                    .map(|(l, _)| {
                        let value = statement.map[l].evaluate(&|v| point.get(space.find(which, v)?).copied());
                        let info = self.schedule.iterators.get(l).map_or("?", |i| i.name.as_str());
                        format!("{info}={}", value.map_or("?".into(), |v| v.to_string()))
                    })
                    .collect();
                values.join(", ")
            };
            let first = instance(0, &self.schedule.statements[s]);
            let second = instance(1, &self.schedule.statements[t]);
            if !first.is_empty() {
                text.push_str(&format!("; for example ({first}) must come before ({second})"));
            }
        }
        text
    }
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

/// The contraction that computes a statement, if one does.
pub(crate) fn contraction_of(
    trees: &[Tree],
    s: usize,
) -> Option<&crate::steps::packed_contraction::Contraction> {
    trees.iter().find_map(|tree| match tree {
        Tree::Contraction(c) if c.statements.contains(&s) => Some(&**c),
        Tree::Loop(b) => contraction_of(&b.body, s),
        _ => None,
    })
}

/// Whether two updates of one element may change places.
fn same_accumulation(a: Update, b: Update) -> bool {
    let class = |u| if u == Update::Sub { Update::Add } else { u };
    a.is_reduction() && class(a) == class(b)
}

fn possible(system: &System) -> bool {
    feasible(system, Limit::default()) != Feasibility::Infeasible
}

/// Both instances inside their domains, touching the same element. Instance 0 is the source.
fn dependence_system(
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
fn order_system(
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

//! Turns a schedule back into an IR nest with explicit bounds and guards.
//!
//! The bounds of a loop are the domains of the statements inside, projected on the loops up to it (Fourier–Motzkin);
//! the constraints of a statement's domain that the loops around it do not imply become a guard.

mod batches;
mod conditions;
mod packed_contraction;
mod pieces;
mod regions;
mod rewrite;
mod scalar_replacement;
mod storage;

pub(crate) use conditions::{bounds_from, condition, guarded};
pub(crate) use regions::{as_known, conditions_on};
pub(crate) use rewrite::{for_each_access, make_unique, placed, rename_array};

use conditions::complementary;
use regions::{Known, MOST_UNSWITCHED, if_false, if_true, invariant_condition, negation};
use rewrite::{drop_unused, relocate};

use crate::refusal::Reason;
use crate::schedule::space::{gist, implies, is_empty, project};
use crate::schedule::{LoopNode, Schedule, Tree, leaves};
use oxeye_ir::{
    Affine, Array, Bound, Constraint, Execution, Expr, Loop, LoopId, Nest, Node, Program, Relation, Var,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The nest that a schedule describes, and the program with the temporaries it uses.
///
/// If the statements of a loop have no common range because some may not run at all, the nest is generated for the case
/// that all run, with `original` for the other case.
pub(crate) fn generate(mut schedule: Schedule, original: &Nest) -> Result<(Program, Nest), Reason> {
    let whole: Vec<Array> = schedule.temporaries.iter().map(|t| schedule.program.array(*t).clone()).collect();
    pieces::separate(&mut schedule);
    let mut layouts = storage::assign(&mut schedule)?;
    let (mut program, mut roots) = match trees_under(&schedule, &[]) {
        Ok(found) => found,
        Err(reason) => {
            let all_run = all_run(&schedule);
            if all_run.is_empty() {
                return Err(reason);
            }
            // The original nest uses these arrays in full.
            for array in whole {
                layouts.remove(&array.id);
                Arc::make_mut(&mut schedule.program).arrays.insert(array.id, array);
            }
            let (program, roots) = trees_under(&schedule, &all_run)?;
            (program, guarded(&all_run, roots, original.roots.clone()))
        }
    };
    for node in &mut roots {
        relocate(node, &layouts);
    }
    let mut nest = Nest::clone(&schedule.nest);
    nest.roots = roots;
    for l in nest.loops() {
        if let Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } = &l.execution
            && let Some(r) = reductions.iter().find(|r| {
                let is_private = schedule.privates.iter().any(|p| p.array == r.array);
                is_private && layouts.get(&r.array).is_some_and(|l| !l.kept.is_empty())
            })
        {
            let name = &schedule.program.array(r.array).name;
            return Err(Reason::not_writable(format!(
                "{name}, which loop {} accumulates, would need a copy for every iteration",
                l.name
            )));
        }
    }
    batches::lower(&mut program, &mut nest, &schedule)?;
    make_unique(&mut program, &mut nest, schedule.next_loop);
    drop_unused(&mut program, &nest, &schedule);
    Ok((program, nest))
}

/// The schedule's loops, assuming the constraints `given` on symbols.
fn trees_under(schedule: &Schedule, given: &[Constraint]) -> Result<(Program, Vec<Node>), Reason> {
    let context = [&schedule.program.assumptions, given].concat();
    let mut program = Program::clone(&schedule.program);
    let paths = schedule.paths();
    let mut generator = Generator { schedule, program: &mut program, paths, conditions: Vec::new() };
    let roots = generator.trees(&schedule.roots, &mut Vec::new(), &context)?;
    Ok((program, roots))
}

/// Constraints on symbols without which some statement never runs.
fn all_run(schedule: &Schedule) -> Vec<Constraint> {
    let mut found = Vec::new();
    for (statement, path) in schedule.statements.iter().zip(schedule.paths()) {
        found.extend(project(&statement.domain, &path));
    }
    gist(&found, &schedule.program.assumptions)
}

pub(crate) struct Generator<'a> {
    pub(crate) schedule: &'a Schedule,
    /// Gets the temporaries made during generation.
    pub(crate) program: &'a mut Program,
    paths: Vec<Vec<LoopId>>,
    /// Conditions, tested before the loops that are being generated, that hold inside them.
    conditions: Vec<Expr>,
}

impl Generator<'_> {
    fn trees(
        &mut self,
        trees: &[Tree],
        outer: &mut Vec<LoopId>,
        context: &[Constraint],
    ) -> Result<Vec<Node>, Reason> {
        let mut nodes = Vec::new();
        for tree in trees {
            match tree {
                Tree::Leaf(s) => {
                    let new = self.leaf(*s, context);
                    match (nodes.last_mut(), new.as_slice()) {
                        (Some(last), [only]) if complementary(last, only) => {
                            if let Node::If { then, .. } = last {
                                *last = then[0].clone();
                            }
                        }
                        _ => nodes.extend(new),
                    }
                }
                Tree::Loop(loop_node) => nodes.extend(self.loop_node(loop_node, outer, context)?),
                Tree::PackedContraction(c) => nodes.extend(self.contraction(c, outer, context)?),
            }
        }
        Ok(nodes)
    }

    fn leaf(&self, s: usize, context: &[Constraint]) -> Vec<Node> {
        let statement = &self.schedule.statements[s];
        if is_empty(&[context, &statement.domain].concat()) {
            return Vec::new();
        }
        let rows = [context, &statement.domain].concat();
        let nodes = Known { rows: &rows, conditions: &self.conditions }.decided(vec![placed(statement)]);
        if nodes.is_empty() {
            return nodes;
        }
        guarded(&gist(&statement.domain, context), nodes, Vec::new())
    }

    /// The constraints of the statement's domain on the loops in `outer` and `id`.
    fn projected(&self, s: usize, outer: &[LoopId], id: Option<LoopId>) -> Vec<Constraint> {
        let statement = &self.schedule.statements[s];
        let away: Vec<LoopId> =
            self.paths[s].iter().copied().filter(|l| !outer.contains(l) && Some(*l) != id).collect();
        project(&statement.domain, &away)
    }

    /// Constraints on `outer` and `id` that hold for all of `stmts`.
    fn common(
        &self,
        stmts: &[usize],
        outer: &[LoopId],
        id: Option<LoopId>,
        context: &[Constraint],
    ) -> Vec<Constraint> {
        let projections: Vec<Vec<Constraint>> = stmts.iter().map(|s| self.projected(*s, outer, id)).collect();
        if let [only] = projections.as_slice() {
            return gist(only, context);
        }
        let facts: Vec<Vec<Constraint>> = projections.iter().map(|p| [context, p].concat()).collect();
        let mut rows = Vec::new();
        for row in projections.iter().flatten() {
            let halves = match row.relation {
                Relation::NonNegative => vec![row.clone()],
                Relation::Zero => [1, -1]
                    .map(|sign| Constraint { expr: row.expr.scaled(sign), relation: Relation::NonNegative })
                    .to_vec(),
            };
            for half in halves {
                if !rows.contains(&half) && facts.iter().all(|f| implies(f, &half)) {
                    rows.push(half);
                }
            }
        }
        gist(&rows, context)
    }

    fn loop_node(
        &mut self,
        loop_node: &LoopNode,
        outer: &mut Vec<LoopId>,
        context: &[Constraint],
    ) -> Result<Vec<Node>, Reason> {
        let stmts: Vec<usize> = loop_node
            .body
            .iter()
            .flat_map(leaves)
            .filter(|s| !is_empty(&[context, &self.schedule.statements[*s].domain].concat()))
            .collect();
        if stmts.is_empty() {
            return Ok(Vec::new());
        }
        if !loop_node.separate.is_empty() {
            let full = self.full_tile(&stmts, &loop_node.separate, outer, context);
            let plain = LoopNode { separate: Vec::new(), ..loop_node.clone() };
            let general = self.loop_node(&plain, outer, context)?;
            if full.is_empty() {
                return Ok(general);
            }
            let inside = [context, &full].concat();
            if is_empty(&inside) {
                return Ok(general);
            }
            let special = self.loop_node(&plain, outer, &inside)?;
            return Ok(guarded(&full, special, general));
        }
        let rows = self.common(&stmts, outer, Some(loop_node.id), context);
        let (own, mut before): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| r.expr.uses(loop_node.id));
        before.retain(|r| r.expr.loops().next().is_some());
        let (lower, upper) = bounds_from(&own, loop_node.id);
        if lower.is_empty() || upper.is_empty() {
            return Err(Reason::not_writable(format!(
                "the bounds of loop {} differ between its statements in a way that cannot be written as one range",
                self.schedule.loop_name(loop_node.id)
            )));
        }
        let inside = [context, &own, &before].concat();
        if let Some(condition) = self.unswitched(loop_node, outer, &inside) {
            return self.under_both(loop_node, condition, outer, context);
        }
        outer.push(loop_node.id);
        let body = self.trees(&loop_node.body, outer, &inside);
        outer.pop();
        let body = body?;
        if body.is_empty() {
            return Ok(Vec::new());
        }
        let info = &self.schedule.iterators[&loop_node.id];
        let (lower, upper) = (Bound(lower), Bound(upper));
        let execution = match &loop_node.execution {
            // A partial tile is a plain loop.
            Execution::Unrolled if trip_count(&lower, &upper).is_none() => Execution::Sequential,
            other => other.clone(),
        };
        let node = Loop {
            id: loop_node.id,
            name: info.name.clone(),
            ty: info.ty,
            lower,
            upper,
            step: if loop_node.reverse { -1 } else { 1 },
            execution,
            body,
        };
        let known = [context, &before].concat();
        let nodes = match loop_node.batch {
            Some(_) => vec![Node::Loop(node)],
            None => self.accumulate(node, outer, &known, &inside)?,
        };
        Ok(guarded(&before, nodes, Vec::new()))
    }

    /// A condition that an innermost loop does not change, and that it need not test in every iteration.
    fn unswitched(&self, loop_node: &LoopNode, outer: &[LoopId], inside: &[Constraint]) -> Option<Expr> {
        if self.conditions.len() >= MOST_UNSWITCHED {
            return None;
        }
        loop_node.body.iter().find_map(|tree| match tree {
            Tree::Leaf(s) if self.schedule.statements[*s].assignment().is_none() => {
                invariant_condition(&self.leaf(*s, inside), outer)
            }
            _ => None,
        })
    }

    /// The loop for the case that `condition` holds, and for the other.
    fn under_both(
        &mut self,
        loop_node: &LoopNode,
        condition: Expr,
        outer: &mut Vec<LoopId>,
        context: &[Constraint],
    ) -> Result<Vec<Node>, Reason> {
        self.conditions.push(condition.clone());
        let then = self.loop_node(loop_node, outer, &[context, &if_true(&condition)].concat());
        self.conditions.pop();
        self.conditions.push(negation(condition.clone()));
        let otherwise = self.loop_node(loop_node, outer, &[context, &if_false(&condition)].concat());
        self.conditions.pop();
        Ok(match (then?, otherwise?) {
            (then, otherwise) if then.is_empty() && otherwise.is_empty() => Vec::new(),
            (then, otherwise) if then.is_empty() => {
                vec![Node::If { condition: negation(condition), then: otherwise, otherwise: then }]
            }
            (then, otherwise) => vec![Node::If { condition, then, otherwise }],
        })
    }

    /// Conditions on the loops in `outer` under which every point of the tile in `points` is in every domain, as far as
    /// the loops outside the tile decide that.
    fn full_tile(
        &self,
        stmts: &[usize],
        points: &[LoopId],
        outer: &[LoopId],
        context: &[Constraint],
    ) -> Vec<Constraint> {
        let mut full = Vec::new();
        for s in stmts {
            let domain = &self.schedule.statements[*s].domain;
            let boxes: BTreeMap<LoopId, (Affine, Affine)> =
                points.iter().filter_map(|p| tile_box(domain, *p).map(|b| (*p, b))).collect();
            for row in gist(domain, context) {
                if row.relation == Relation::Zero || !row.expr.loops().any(|l| boxes.contains_key(&l)) {
                    continue;
                }
                let worst = row.expr.substitute(&|v| match v {
                    Var::Loop(l) => boxes.get(&l).map(|(low, high)| {
                        if row.expr.coefficient(l) > 0 { low.clone() } else { high.clone() }
                    }),
                    Var::Sym(_) => None,
                });
                if worst.loops().any(|l| !outer.contains(&l)) || worst.as_constant().is_some_and(|c| c >= 0) {
                    continue;
                }
                let worst = Constraint { expr: worst, relation: Relation::NonNegative };
                if !full.contains(&worst) {
                    full.push(worst);
                }
            }
        }
        gist(&full, context)
    }
}

/// The number of iterations, if it is the same every time the loop is entered.
fn trip_count(lower: &Bound, upper: &Bound) -> Option<i64> {
    (upper.as_affine()?.clone() - lower.as_affine()?.clone()).as_constant()
}

/// The widest `low ≤ point ≤ low + size − 1` with constant size among the constraints.
fn tile_box(domain: &[Constraint], point: LoopId) -> Option<(Affine, Affine)> {
    let rest = |c: &Constraint, sign: i64| {
        (c.expr.coefficient(point) == sign && c.relation == Relation::NonNegative)
            .then(|| c.expr.clone().add_scaled(&Affine::var(point), -sign).scaled(-sign))
    };
    let lows: Vec<Affine> = domain.iter().filter_map(|c| rest(c, 1)).collect();
    let highs: Vec<Affine> = domain.iter().filter_map(|c| rest(c, -1)).collect();
    let tiled = |a: &Affine| a.loops().next().is_some();
    lows.iter()
        .filter(|l| tiled(l))
        .flat_map(|l| highs.iter().map(move |h| (l.clone(), h.clone())))
        .find(|(l, h)| (h.clone() - l.clone()).as_constant().is_some_and(|n| n > 0))
}

//! Merges statements that belong together, once everything is distributed.
//!
//! Works on the roots of a nest, each of which is one statement in its loops or a cycle of statements. Every reordering
//! is first checked by the judge.
//!
//! - *Dead stores* are removed: elements that are overwritten, or belong to an array that is never read.
//! - *Updates in place* of the same elements become one statement: `x[i] -= m; x[i] /= d` is `x[i] = (x[i] − m) / d`.
//! - *Peeled iterations* are put back into their loop.

use super::rewrites::Done;
use super::tidy::is_reduction;
use crate::instances::{Instances, loops_under, stmts_under};
use crate::legality;
use crate::policy::Policy;
use crate::rewrite::Rewrite;
use crate::schedule::Schedule;
use crate::schedule::space::implies;
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::steps;
use crate::steps::{Reorder, Transformation};
use oxeye_analysis::bound_constraints;
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, Constraint, Expr, Loop, LoopId, Nest, Node, Program, Stmt,
    StmtId, Storage, Types, Update, Var,
};
use std::collections::BTreeMap;

/// Applies all three until nothing changes; returns what was done, as messages.
pub(super) fn merge(program: &Program, nest: &mut Nest, policy: Policy, instances: &mut Instances) -> Done {
    let mut done = Done::new();
    let did = |rewrite| move |what| (rewrite, what);
    while let Some(what) = drop_dead(program, nest, instances)
        .map(did(Rewrite::DeadStore))
        .or_else(|| merge_updates(program, nest, policy, instances).map(did(Rewrite::UpdatesMerged)))
        .or_else(|| reattach(program, nest, policy, instances).map(did(Rewrite::PeeledIteration)))
    {
        done.push(what);
    }
    done
}

/// Whether the array is not read after the nest.
pub(super) fn is_scratch(program: &Program, nest: &Nest, id: ArrayId) -> bool {
    match program.array(id).storage {
        Storage::Local => !nest.live_out.contains(&id),
        Storage::Temp(_) | Storage::Body(_) => true,
        Storage::Param | Storage::Global => false,
    }
}

fn drop_dead(program: &Program, nest: &mut Nest, instances: &mut Instances) -> Option<String> {
    let read: Vec<ArrayId> = nest.accesses().into_iter().filter(|(_, w)| !w).map(|(a, _)| a.array).collect();
    let is_dead = |stmt: &&Stmt| {
        let id = stmt.target.array;
        let in_value = stmt.value.reads().iter().filter(|a| a.array == id).count();
        let own = in_value + usize::from(stmt.update != Update::Assign);
        is_scratch(program, nest, id) && own == read.iter().filter(|a| **a == id).count()
    };
    let (stmt, id) = nest.stmts().into_iter().find(is_dead).map(|s| (s.id, s.target.array))?;
    remove(&mut nest.roots, stmt);
    instances.drop(stmt, Rewrite::DeadStore);
    Some(format!("{stmt}: dropped, {} is never read", program.array(id).name))
}

/// Removes a statement and whatever is empty without it.
fn remove(nodes: &mut Vec<Node>, stmt: StmtId) {
    nodes.retain_mut(|node| {
        node.bodies_mut().into_iter().for_each(|b| remove(b, stmt));
        match node {
            Node::Stmt(s) => s.id != stmt,
            _ => node.bodies().iter().any(|b| !b.is_empty()),
        }
    });
}

/// The loops and the statement of a root with a single statement.
fn single(node: &Node) -> Option<(Vec<&Loop>, &Stmt)> {
    let mut path = Vec::new();
    let mut node = node;
    loop {
        match node {
            Node::Stmt(s) => return Some((path, s)),
            Node::Loop(l) => {
                let [only] = l.body.as_slice() else { return None };
                path.push(l);
                node = only;
            }
            Node::If { .. } => return None,
        }
    }
}

/// The iterator and offset of each dimension whose index is an iterator plus a constant.
fn plain_dims(target: &Access, loops: &[&Loop]) -> Option<BTreeMap<LoopId, (usize, i64)>> {
    let mut found = BTreeMap::new();
    for (dim, index) in target.affine_indices()?.into_iter().enumerate() {
        let own: Vec<LoopId> = index.loops().collect();
        match own.as_slice() {
            [] => {}
            [l] => {
                let offset = index.clone().add_scaled(&Affine::var(*l), -1).as_constant()?;
                if found.insert(*l, (dim, offset)).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    (found.len() == loops.len() && loops.iter().all(|l| found.contains_key(&l.id))).then_some(found)
}

/// The loops of `b` in terms of those of `a`, if both visit the same elements of the same array.
fn same_elements(
    program: &Program,
    (loops_a, a): &(Vec<&Loop>, &Stmt),
    (loops_b, b): &(Vec<&Loop>, &Stmt),
) -> Option<BTreeMap<LoopId, Affine>> {
    if a.target.array != b.target.array || loops_a.iter().chain(loops_b).any(|l| l.step != 1) {
        return None;
    }
    let (dims_a, dims_b) = (plain_dims(&a.target, loops_a)?, plain_dims(&b.target, loops_b)?);
    let mut map = BTreeMap::new();
    for (lb, (dim, cb)) in &dims_b {
        let (la, (_, ca)) = dims_a.iter().find(|(_, (d, _))| d == dim)?;
        map.insert(*lb, Affine::var(*la).offset(ca - cb));
    }
    let with = |v: Var| match v {
        Var::Loop(l) => map.get(&l).cloned(),
        Var::Sym(_) => None,
    };
    let domain = |loops: &[&Loop]| -> Option<Vec<Constraint>> {
        let own = loops.iter().map(|l| bound_constraints(&Affine::var(l.id), &l.lower, &l.upper));
        Some(own.collect::<Option<Vec<_>>>()?.concat())
    };
    let own = domain(loops_a)?;
    let other: Vec<Constraint> = domain(loops_b)?.iter().map(|c| c.substitute(&with)).collect();
    let inside = |p: &[Constraint], q: &[Constraint]| {
        let context = [p, &program.assumptions].concat();
        q.iter().all(|c| implies(&context, c))
    };
    let target_b: Vec<Affine> = b.target.affine_indices()?.iter().map(|i| i.substitute(&with)).collect();
    let same_target = a.target.affine_indices()?.into_iter().zip(&target_b).all(|(x, y)| x == y);
    (same_target && inside(&own, &other) && inside(&other, &own)).then_some(map)
}

fn merge_updates(
    program: &Program,
    nest: &mut Nest,
    policy: Policy,
    instances: &mut Instances,
) -> Option<String> {
    let n = nest.roots.len();
    for b in 0..n {
        for a in (0..b).rev() {
            let (Some(first), Some(second)) = (single(&nest.roots[a]), single(&nest.roots[b])) else {
                continue;
            };
            let Some(map) = same_elements(program, &first, &second) else { continue };
            let Some(merged) = merged(program, &first, &second, &map) else { continue };
            let (id_a, id_b) = (first.1.id, second.1.id);
            let Some(place) =
                [a, b].into_iter().find(|place| may_meet(program, nest, policy, *place, (id_a, id_b), &map))
            else {
                continue;
            };
            let name = &program.array(merged.target.array).name;
            let what = format!("{id_a} and {id_b}: one update of {name}");
            instances.append(id_a, id_b, &|v| match v {
                Var::Loop(l) => map.get(&l).cloned(),
                Var::Sym(_) => None,
            });
            let mut node = nest.roots[a].clone();
            set_stmt(&mut node, merged);
            nest.roots[place] = node;
            nest.roots.remove(if place == a { b } else { a });
            return Some(what);
        }
    }
    None
}

fn set_stmt(node: &mut Node, stmt: Stmt) {
    match node {
        Node::Stmt(s) => *s = stmt,
        _ => {
            for body in node.bodies_mut() {
                if let Some(first) = body.first_mut() {
                    return set_stmt(first, stmt);
                }
            }
        }
    }
}

/// The two statements as one in the loops of the first, where they access equal elements.
fn merged(
    program: &Program,
    (path, a): &(Vec<&Loop>, &Stmt),
    (_, b): &(Vec<&Loop>, &Stmt),
    map: &BTreeMap<LoopId, Affine>,
) -> Option<Stmt> {
    let own = Expr::Read(a.target.clone());
    let id = a.target.array;
    let full = |update: Update, x: Expr, value: Expr| {
        let op = match update {
            Update::Assign => return value,
            Update::Add => BinaryOp::Add,
            Update::Sub => BinaryOp::Sub,
            Update::Mul => BinaryOp::Mul,
            Update::Div => BinaryOp::Div,
            Update::Min => BinaryOp::Min,
            Update::Max => BinaryOp::Max,
        };
        Expr::binary(op, x, value)
    };
    let mut second = b.value.clone();
    second.substitute(&|v| match v {
        Var::Loop(l) => map.get(&l).cloned(),
        Var::Sym(_) => None,
    });
    let foreign = |e: &Expr| e.reads().iter().any(|r| r.array == id && **r != a.target);
    if foreign(&a.value) || foreign(&second) || is_reduction(a, path) {
        return None;
    }
    let n_uses =
        second.reads().iter().filter(|r| r.array == id).count() + usize::from(b.update != Update::Assign);
    let first = full(a.update, own.clone(), a.value.clone());
    let (from, to) = (Types::inside(program, path).expr(&first), program.array(id).element);
    let first = if from == to { first } else { Expr::Cast(to, Box::new(first)) };
    let value = match n_uses {
        0 => second,
        1 => {
            let mut value = full(b.update, own.clone(), second);
            value.rewrite(&mut |e| {
                if *e == own {
                    *e = first.clone();
                }
            });
            value
        }
        _ => return None,
    };
    Some(Stmt { update: Update::Assign, value, ..(*a).clone() })
}

/// Whether statement `b` may run directly after `a`, iteration by iteration, at the place of root `place`.
fn may_meet(
    program: &Program,
    nest: &Nest,
    policy: Policy,
    place: usize,
    (a, b): (StmtId, StmtId),
    map: &BTreeMap<LoopId, Affine>,
) -> bool {
    let mut schedule = Schedule::import(program, nest);
    let Some(of_a) = schedule.statements.iter().find(|s| s.id == a) else { return false };
    // b's iterator for each of a's: l_a = l_b + c.
    let of_b: Option<Vec<Affine>> = of_a
        .time
        .loops
        .iter()
        .map(|(la, _)| {
            let (lb, e) = map.iter().find(|(_, e)| e.uses(*la))?;
            Some(Affine::var(*lb).offset(-e.constant_part()))
        })
        .collect();
    let Some(of_b) = of_b else { return false };
    let of_a: Vec<Affine> = of_a.time.loops.iter().map(|(l, _)| Affine::var(*l)).collect();
    let together = |loops: &[Affine], last: usize| {
        let by =
            loops.iter().flat_map(|e| [Dimension::At(0), Dimension::By { expr: e.clone(), reverse: false }]);
        let mut dimensions: Vec<Dimension> = by.chain([Dimension::At(last)]).collect();
        if dimensions.len() > 1 {
            dimensions[0] = Dimension::At(2 * place);
        } else {
            dimensions[0] = Dimension::At(2 * place + last);
        }
        dimensions
    };
    let schedules = schedule
        .statements
        .iter()
        .map(|s| {
            let dimensions = match s.id {
                id if id == a => together(&of_a, 0),
                id if id == b => together(&of_b, 1),
                _ => as_written(&schedule, s.time.positions.first().map_or(0, |p| 2 * p), &s.time),
            };
            StatementSchedule { stmt: s.id, dimensions }
        })
        .collect();
    is_legal(&mut schedule, schedules, policy)
}

fn as_written(schedule: &Schedule, first: usize, time: &crate::schedule::OriginalTime) -> Vec<Dimension> {
    let by = |l: LoopId| {
        let reverse = schedule.loop_node(l).is_some_and(|b| b.reverse);
        Dimension::By { expr: Affine::var(l), reverse }
    };
    let inner = time.loops.iter().zip(time.positions.iter().skip(1));
    std::iter::once(Dimension::At(first))
        .chain(inner.flat_map(|((l, _), p)| [by(*l), Dimension::At(*p)]))
        .collect()
}

fn is_legal(schedule: &mut Schedule, schedules: Vec<StatementSchedule>, policy: Policy) -> bool {
    // Sums keep their order: merging is no reason to reorder them.
    let exact = Policy { reassociate: false, finite: false };
    steps::edit(schedule, &Transformation::Reorder(Reorder { schedules }), policy).is_ok()
        && legality::check(schedule, exact).is_ok()
}

/// Puts a root that is one more iteration of another's outermost loop back into that loop.
fn reattach(program: &Program, nest: &mut Nest, policy: Policy, instances: &mut Instances) -> Option<String> {
    let n = nest.roots.len();
    for k in 0..n {
        let Node::Loop(l) = &nest.roots[k] else { continue };
        let (Some(lower), Some(upper)) = (l.lower.as_affine(), l.upper.as_affine()) else { continue };
        if l.step != 1 {
            continue;
        }
        for other in (0..n).filter(|o| *o != k) {
            let at = if other > k { upper.clone() } else { lower.clone().offset(-1) };
            let mut iteration = l.body.clone();
            iteration.iter_mut().for_each(|b| b.substitute(&|v| (v == Var::Loop(l.id)).then(|| at.clone())));
            let [iteration] = iteration.as_slice() else { continue };
            if anonymous(iteration) != anonymous(&nest.roots[other]) {
                continue;
            }
            // An empty loop has no next iteration.
            let runs = Constraint::ge(upper.clone(), lower.clone());
            if !implies(&program.assumptions, &runs) || !may_move(program, nest, policy, other, k) {
                continue;
            }
            reattached(instances, l, &nest.roots[other], (&at, other > k));
            let name = l.name.clone();
            let Node::Loop(mut longer) = nest.roots[k].clone() else { continue };
            if other > k {
                longer.upper = Bound::from(upper.clone().offset(1));
            } else {
                longer.lower = Bound::from(at);
            }
            nest.roots[k] = Node::Loop(longer);
            nest.roots.remove(other);
            return Some(format!("loop {name}: a peeled iteration put back"));
        }
    }
    None
}

/// The iteration `at` of loop `l`, after or before the others, now performs what `alone`, which has the same text, did.
fn reattached(instances: &mut Instances, l: &Loop, alone: &Node, (at, is_last): (&Affine, bool)) {
    let own = Affine::var(l.id);
    let others = match is_last {
        true => Constraint::lt(own.clone(), at.clone()),
        false => Constraint::lt(at.clone(), own.clone()),
    };
    let loops: BTreeMap<LoopId, LoopId> =
        loops_under([alone]).into_iter().zip(loops_under(&l.body)).collect();
    for (inside, outside) in stmts_under(&l.body).into_iter().zip(stmts_under([alone])) {
        instances.restrict(inside, &others);
        instances.restrict(outside, &Constraint::eq(own.clone(), at.clone()));
        instances.append(inside, outside, &|v| match v {
            Var::Loop(l) => loops.get(&l).map(|l| Affine::var(*l)),
            Var::Sym(_) => None,
        });
    }
}

/// The node with ids made equal where they do not matter.
fn anonymous(node: &Node) -> Node {
    let mut fresh = super::rotate::Fresh { next_loop: u32::MAX / 2, next_stmt: u32::MAX / 2 };
    let mut nodes = [node.clone()];
    fresh.rename(&mut nodes);
    fn strip(node: &mut Node) {
        match node {
            Node::Loop(l) => l.name.clear(),
            Node::Stmt(s) => s.line = None,
            Node::If { .. } => {}
        }
        node.bodies_mut().into_iter().flatten().for_each(strip);
    }
    let [mut node] = nodes;
    strip(&mut node);
    node
}

/// Whether root `from` may stand next to root `to`, after it if it comes later.
fn may_move(program: &Program, nest: &Nest, policy: Policy, from: usize, to: usize) -> bool {
    let mut schedule = Schedule::import(program, nest);
    let place = |p: usize| match p {
        p if p != from => 3 * p + 1,
        _ if from > to => 3 * to + 2,
        _ => 3 * to,
    };
    let schedules = schedule
        .statements
        .iter()
        .map(|s| {
            let first = s.time.positions.first().map_or(0, |p| place(*p));
            StatementSchedule { stmt: s.id, dimensions: as_written(&schedule, first, &s.time) }
        })
        .collect();
    is_legal(&mut schedule, schedules, policy)
}

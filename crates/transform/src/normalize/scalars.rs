//! Removes scalars that only pass a value on to the element it is meant for.
//!
//! *Forward substitution*: a scalar that is written once per iteration and used once is replaced by its value.
//! *Accumulation in place* (the inverse of scalar replacement): `s = 0; for k: s += e; c[i] = s` becomes `c[i] = 0; for
//! k: c[i] += e`. Both are done only where nothing in between can see the difference: the value's operands do not
//! change, and no other access in the loop's body touches the element's array.

use super::rewrites::Done;
use crate::instances::{Instances, stmts_under};
use crate::rewrite::Rewrite;
use crate::scan::for_each_access;
use oxeye_ir::{
    Access, ArrayId, Expr, Loop, LoopId, Nest, Node, Program, Stmt, StmtId, Storage, Types, Update, Var,
};

/// Applies both until nothing changes; returns what was done.
pub(super) fn dissolve(program: &Program, nest: &mut Nest, instances: &mut Instances) -> Done {
    let mut done = Done::new();
    let is_own = |s: Storage| matches!(s, Storage::Temp(_) | Storage::Body(_));
    let scalars: Vec<ArrayId> =
        program.arrays.values().filter(|a| a.shape.is_empty() && is_own(a.storage)).map(|a| a.id).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for scalar in &scalars {
            let name = &program.array(*scalar).name;
            let mut roots = std::mem::take(&mut nest.roots);
            let what = in_scope(&mut roots, *scalar, &mut Vec::new(), &mut |body, path| {
                if substitute_forward(program, body, path, *scalar, instances) {
                    return Some((
                        Rewrite::ForwardSubstitution,
                        format!("scalar {name}: replaced by its value"),
                    ));
                }
                let target = accumulate_in_place(program, body, *scalar, instances)?;
                let what = format!("scalar {name}: accumulated in {}", program.array(target).name);
                Some((Rewrite::AccumulationInPlace, what))
            });
            nest.roots = roots;
            if let Some(what) = what {
                done.push(what);
                changed = true;
            }
        }
    }
    done
}

/// Rewrites a list of nodes inside these loops; returns what it did.
pub(super) type InScope<'a> = dyn FnMut(&mut Vec<Node>, &[Loop]) -> Option<(Rewrite, String)> + 'a;

/// Calls `f` with the innermost list of nodes that contains all uses of the scalar, and the loops around it (without
/// their bodies).
pub(super) fn in_scope(
    nodes: &mut Vec<Node>,
    scalar: ArrayId,
    path: &mut Vec<Loop>,
    f: &mut InScope<'_>,
) -> Option<(Rewrite, String)> {
    let uses = |nodes: &[Node]| accesses(nodes).iter().filter(|(a, _)| a.array == scalar).count();
    let all = uses(nodes);
    if all == 0 {
        return None;
    }
    for node in nodes.iter_mut() {
        let header = match node {
            Node::Loop(l) => Some(Loop { body: Vec::new(), ..l.clone() }),
            _ => None,
        };
        for body in node.bodies_mut() {
            if uses(body) == all {
                let depth = path.len();
                path.extend(header.clone());
                let found = in_scope(body, scalar, path, f);
                path.truncate(depth);
                return found;
            }
        }
    }
    f(nodes, path)
}

/// All accesses under nodes, with whether they write.
pub(super) fn accesses(nodes: &[Node]) -> Vec<(Access, bool)> {
    let nest = Nest::new(oxeye_ir::NestId(0), "", nodes.to_vec());
    nest.accesses().into_iter().map(|(a, w)| (a.clone(), w)).collect()
}

fn substitute_forward(
    program: &Program,
    body: &mut Vec<Node>,
    path: &[Loop],
    scalar: ArrayId,
    instances: &mut Instances,
) -> bool {
    let all = accesses(body);
    let n_writes = all.iter().filter(|(a, w)| *w && a.array == scalar).count();
    let n_reads = all.iter().filter(|(a, w)| !*w && a.array == scalar).count();
    let definition = body.iter().position(|n| matches!(n, Node::Stmt(s) if s.target.array == scalar));
    let (1, 1, Some(k)) = (n_writes, n_reads, definition) else { return false };
    let Node::Stmt(stmt) = body[k].clone() else { return false };
    if stmt.update != Update::Assign {
        return false;
    }
    let used_before = accesses(&body[..k]).iter().any(|(a, _)| a.array == scalar);
    let operands: Vec<ArrayId> = stmt.value.reads().iter().map(|a| a.array).collect();
    let overwritten = accesses(&body[k + 1..]).iter().any(|(a, w)| *w && operands.contains(&a.array));
    // The last write may be by the statement that uses the value: it reads first.
    let overwritten = overwritten && !reads_before_writing(&body[k + 1..], scalar, &operands);
    if used_before || overwritten {
        return false;
    }
    let around: Vec<&Loop> = path.iter().collect();
    let (from, to) = (Types::inside(program, &around).expr(&stmt.value), program.array(scalar).element);
    let value = if from == to { stmt.value } else { Expr::Cast(to, Box::new(stmt.value)) };
    body.remove(k);
    let mut users = Vec::new();
    body.iter().for_each(|n| readers(n, scalar, &mut users));
    instances.absorb(stmt.id, &users, Rewrite::ForwardSubstitution);
    instances.move_array(scalar, Rewrite::ForwardSubstitution);
    body.iter_mut().for_each(|n| replace_reads(n, scalar, &value));
    true
}

/// The statements whose execution reads the array: those that read it themselves, and those under a guard or in a loop
/// that does.
fn readers(node: &Node, array: ArrayId, found: &mut Vec<StmtId>) {
    let reads = |e: &Expr| e.reads().iter().any(|a| a.array == array);
    let here = match node {
        Node::Stmt(s) => s.target.indices.iter().any(reads) || reads(&s.value),
        Node::If { condition, .. } => reads(condition),
        Node::Loop(l) => {
            let mut terms = l.lower.0.iter().chain(&l.upper.0);
            terms.any(|t| matches!(t, oxeye_ir::BoundTerm::Data(e) if reads(e)))
        }
    };
    if here {
        found.extend(stmts_under([node]));
    } else {
        node.bodies().into_iter().flatten().for_each(|n| readers(n, array, found));
    }
}

/// Whether the only write to `operands` is by a statement of this very list that is also the only use of `scalar`.
fn reads_before_writing(nodes: &[Node], scalar: ArrayId, operands: &[ArrayId]) -> bool {
    let mut writers = nodes.iter().filter(|n| {
        accesses(std::slice::from_ref(*n)).iter().any(|(a, w)| *w && operands.contains(&a.array))
    });
    let (Some(Node::Stmt(only)), None) = (writers.next(), writers.next()) else { return false };
    only.value.reads().iter().any(|a| a.array == scalar)
}

fn replace_reads(node: &mut Node, scalar: ArrayId, value: &Expr) {
    let expr = |e: &mut Expr| {
        e.rewrite(&mut |e| {
            if matches!(e, Expr::Read(a) if a.array == scalar) {
                *e = value.clone();
            }
        });
    };
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(expr);
            let mut value = std::mem::replace(&mut s.value, Expr::from(0));
            expr(&mut value);
            s.value = value;
        }
        Node::If { condition, .. } => expr(condition),
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                if let oxeye_ir::BoundTerm::Data(e) = term {
                    expr(e);
                }
            }
        }
    }
    for body in node.bodies_mut() {
        body.iter_mut().for_each(|n| replace_reads(n, scalar, value));
    }
}

/// The array that replaces the scalar, if one can.
fn accumulate_in_place(
    program: &Program,
    body: &mut Vec<Node>,
    scalar: ArrayId,
    instances: &mut Instances,
) -> Option<ArrayId> {
    let uses = |n: &Node| accesses(std::slice::from_ref(n)).iter().any(|(a, _)| a.array == scalar);
    let first = body.iter().position(uses)?;
    let last = body.iter().rposition(uses)?;
    let (Node::Stmt(start), Node::Stmt(end)) = (&body[first], &body[last]) else { return None };
    let starts = start.target.array == scalar && start.update == Update::Assign;
    let ends = end.update == Update::Assign
        && end.target.array != scalar
        && end.value.reads().iter().any(|a| a.array == scalar);
    let target = end.target.clone();
    let mut inside = false;
    for index in target.affine_indices()? {
        inside |= index.terms().any(|(v, _)| matches!(v, Var::Loop(k) if deeper(body, k)));
    }
    let same_type = program.array(target.array).element == program.array(scalar).element;
    // What else reads it would have to read the target, which its source does not.
    let mut readers = Vec::new();
    body.iter().for_each(|n| strangers(n, scalar, &mut readers));
    if readers != [end.id] {
        return None;
    }
    // Besides the final store, only an initial load may touch the array, and only that element.
    let loads = matches!(&start.value, Expr::Read(a) if *a == target);
    let others = accesses(body).iter().filter(|(a, _)| a.array == target.array).count();
    if first == last || !starts || !ends || inside || !same_type || others != 1 + usize::from(loads) {
        return None;
    }
    let ends = [start.id, end.id];
    let mut onto = Vec::new();
    body.iter().for_each(|n| writers(n, scalar, &mut onto));
    for node in &mut *body {
        for_each_access(node, &mut |a| {
            if a.array == scalar {
                *a = target.clone();
            }
        });
    }
    let copies = |n: &Node| matches!(n, Node::Stmt(Stmt { target, update: Update::Assign, value: Expr::Read(a), .. }) if a == target);
    let stays = [first, last].map(|k| !copies(&body[k]));
    for (k, stays) in [(last, stays[1]), (first, stays[0])] {
        if !stays {
            body.remove(k);
        }
    }
    onto.retain(|stmt| stays[0] || *stmt != ends[0]);
    let ends = [(ends[0], stays[0]), (ends[1], stays[1])];
    instances.spread(target.array, &onto, ends, Rewrite::AccumulationInPlace);
    instances.move_array(scalar, Rewrite::AccumulationInPlace);
    Some(target.array)
}

/// The statements whose execution reads the array, and that write another.
pub(super) fn strangers(node: &Node, array: ArrayId, found: &mut Vec<StmtId>) {
    let mut all = Vec::new();
    readers(node, array, &mut all);
    let mut own = Vec::new();
    writers(node, array, &mut own);
    found.extend(all.into_iter().filter(|stmt| !own.contains(stmt)));
}

/// The statements that write the array.
pub(super) fn writers(node: &Node, array: ArrayId, found: &mut Vec<StmtId>) {
    match node {
        Node::Stmt(s) if s.target.array == array => found.push(s.id),
        _ => node.bodies().into_iter().flatten().for_each(|n| writers(n, array, found)),
    }
}

fn deeper(nodes: &[Node], id: LoopId) -> bool {
    nodes
        .iter()
        .any(|n| matches!(n, Node::Loop(l) if l.id == id) || n.bodies().into_iter().any(|b| deeper(b, id)))
}

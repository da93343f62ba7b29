//! Privatization of scalars that every iteration of a loop writes before it reads them.
//!
//! Such a scalar carries nothing from one iteration to the next, so for the judge each iteration has its own copy: an
//! array indexed by the loops around it. [`crate::scan`] later decides how much of that array the transformed nest
//! needs: a register if all uses of an element stay together, an array otherwise.

use crate::schedule::Private;
use oxeye_analysis::{affine_condition, bound_constraints};
use oxeye_ir::{
    Access, Affine, ArrayId, BoundTerm, Expr, Loop, LoopId, Nest, Node, Program, Storage, Update,
};
use std::collections::BTreeMap;

/// For each loop to which the scalar is private in a maximal part of the nest: the loops that index it.
type Webs = BTreeMap<LoopId, Vec<LoopId>>;

/// Gives private scalars separate names and indexes each by the loops around it.
pub(crate) fn privatize(program: &Program, nest: &Nest) -> (Program, Nest, Vec<Private>) {
    let (mut program, mut nest) = (program.clone(), nest.clone());
    let mut privates = Vec::new();
    for array in nest.arrays() {
        let decl = program.array(array);
        let webs = match decl.storage {
            Storage::Body(l) | Storage::Temp(Some(l)) => {
                path_to(&nest.roots, l).map(|path| Webs::from([(l, path)]))
            }
            Storage::Local if decl.shape.is_empty() && !nest.live_out.contains(&array) => {
                let mut webs = Webs::new();
                cover(&nest.roots, array, &mut Vec::new(), &mut webs).then_some(webs)
            }
            _ => None,
        };
        for (at, loops) in webs.unwrap_or_default() {
            let mut decl = program.array(array).clone();
            decl.shape = loops.iter().map(|_| None).chain(decl.shape).collect();
            decl.storage = Storage::Temp(None);
            decl.name = stem(&decl.name);
            let own = program.add_array(decl);
            rename_in(&mut nest.roots, at, array, own, &loops);
            privates.push(Private { array: own, n_loops: loops.len() });
        }
    }
    (program, nest, privates)
}

/// A name for a copy of a scalar: that of a variable as it is, and an identifier made of the first and the last one of a
/// path to a member, `g_u` for `g->grid.u` and `z_re` for `(__real__ z)`.
pub(crate) fn stem(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let (parts, words): (Vec<&str>, Vec<&str>) =
        words.partition(|word| matches!(*word, "__real__" | "__imag__"));
    let part = match parts.last() {
        Some(&"__real__") => "_re",
        Some(_) => "_im",
        None => "",
    };
    match words.as_slice() {
        [] => name.to_owned(),
        [only] => format!("{only}{part}"),
        [first, .., last] => format!("{first}_{last}{part}"),
    }
}

fn importable(l: &Loop) -> bool {
    let own = Affine::var(l.id);
    bound_constraints(&own, &l.lower, &l.upper).is_some()
        && (l.step.abs() == 1 || (l.lower.as_affine().is_some() && l.upper.as_affine().is_some()))
}

/// Loops from the root to `target` inclusive, if none of them is part of an atomic subtree.
fn path_to(nodes: &[Node], target: LoopId) -> Option<Vec<LoopId>> {
    nodes.iter().find_map(|node| match node {
        Node::Loop(l) if importable(l) => {
            if l.id == target {
                return Some(vec![l.id]);
            }
            let mut rest = path_to(&l.body, target)?;
            rest.insert(0, l.id);
            Some(rest)
        }
        Node::If { condition, then, otherwise } if affine_condition(condition).is_some() => {
            path_to(then, target).or_else(|| path_to(otherwise, target))
        }
        _ => None,
    })
}

/// Finds the innermost loops that make `array` private and together hold all its accesses.
fn cover(nodes: &[Node], array: ArrayId, path: &mut Vec<LoopId>, webs: &mut Webs) -> bool {
    nodes.iter().filter(|n| touches(n, array)).all(|node| match node {
        Node::Stmt(_) => false,
        Node::If { condition, then, otherwise } => {
            affine_condition(condition).is_some()
                && cover(then, array, path, webs)
                && cover(otherwise, array, path, webs)
        }
        Node::Loop(l) => {
            if !importable(l) {
                return false;
            }
            path.push(l.id);
            let mut inner = Webs::new();
            let covered = if cover(&l.body, array, path, &mut inner) {
                webs.append(&mut inner);
                true
            } else if written_before_read(&l.body, array).is_some() {
                webs.insert(l.id, path.clone());
                true
            } else {
                false
            };
            path.pop();
            covered
        }
    })
}

fn touches(node: &Node, array: ArrayId) -> bool {
    let reads = |e: &Expr| e.reads().iter().any(|a| a.array == array);
    match node {
        Node::Stmt(s) => s.target.array == array || s.target.indices.iter().any(reads) || reads(&s.value),
        Node::If { condition, .. } => {
            reads(condition) || node.bodies().into_iter().flatten().any(|n| touches(n, array))
        }
        Node::Loop(l) => bounds_touch(l, array) || l.body.iter().any(|n| touches(n, array)),
    }
}

fn bounds_touch(l: &Loop, array: ArrayId) -> bool {
    let reads = |e: &Expr| e.reads().iter().any(|a| a.array == array);
    l.lower.0.iter().chain(&l.upper.0).any(|t| matches!(t, BoundTerm::Data(e) if reads(e)))
}

/// Whether each read in execution order follows a write on every way that leads to it; `None` if not. With it, whether
/// every way through the nodes writes.
fn written_before_read(body: &[Node], array: ArrayId) -> Option<bool> {
    let reads = |e: &Expr| e.reads().iter().any(|a| a.array == array);
    for node in body.iter().filter(|n| touches(n, array)) {
        let written = match node {
            Node::Stmt(s) => {
                let overwrites = s.target.array == array && s.update == Update::Assign && !reads(&s.value);
                overwrites.then_some(true)?
            }
            Node::If { condition, .. } if reads(condition) => return None,
            Node::If { then, otherwise, .. } => {
                let (then, otherwise) =
                    (written_before_read(then, array)?, written_before_read(otherwise, array)?);
                then && otherwise
            }
            Node::Loop(l) if bounds_touch(l, array) => return None,
            // The first iteration of a loop that goes on until it is left runs in any case.
            Node::Loop(l) => written_before_read(&l.body, array)? && l.upper.is_open(),
        };
        if written {
            return Some(true);
        }
    }
    Some(false)
}

/// Inside loop `at`, replaces `from` by `to` indexed by `loops`.
fn rename_in(nodes: &mut [Node], at: LoopId, from: ArrayId, to: ArrayId, loops: &[LoopId]) {
    for node in nodes {
        if let Node::Loop(l) = node
            && l.id == at
        {
            for child in &mut l.body {
                rename(child, from, to, loops);
            }
            return;
        }
        for body in node.bodies_mut() {
            rename_in(body, at, from, to, loops);
        }
    }
}

fn rename(node: &mut Node, from: ArrayId, to: ArrayId, loops: &[LoopId]) {
    let access = |a: &mut Access| {
        if a.array == from {
            a.array = to;
            let own = std::mem::take(&mut a.indices);
            a.indices = loops.iter().map(|l| Expr::from(*l)).chain(own).collect();
        }
    };
    let expr = |e: &mut Expr| {
        e.rewrite(&mut |e| {
            if let Expr::Read(a) = e {
                access(a);
            }
        });
    };
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(expr);
            access(&mut s.target);
            expr(&mut s.value);
        }
        Node::If { condition, then, otherwise } => {
            expr(condition);
            then.iter_mut().chain(otherwise).for_each(|n| rename(n, from, to, loops));
        }
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                if let BoundTerm::Data(e) = term {
                    expr(e);
                }
            }
            l.body.iter_mut().for_each(|n| rename(n, from, to, loops));
        }
    }
}

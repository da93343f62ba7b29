//! Values that are stored only to be read once are computed where they are read.
//!
//! NumPy's `0.2 * (a + b + c)` is a loop nest and an array for each operator. Where one loop nest stores all of an array that
//! only one later statement reads, in the same iterations, the statement computes the value itself:
//!
//! ```text
//! for i: t[i] = a[i] + b[i]          for i: c[i] = 2 * (a[i] + b[i])
//! for i: c[i] = 2 * t[i]
//! ```
//!
//! The program is the same if what the value is computed from does not change in between, and nobody else sees the array.

use super::names::type_of;
use super::state::Lowering;
use crate::lower::visit_outline;
use oxeye_ir::{
    Affine, ArrayId, Expr, Loop, Nest, NestId, Node, Program, Region, Stmt, Storage, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// The most parts that an expression grows to.
const MAX_SIZE: usize = 300;

impl Lowering {
    /// Does that in all nests; returns those that changed.
    pub(super) fn fold(&mut self) -> BTreeSet<NestId> {
        let Some(asked) = self.asked_by_control() else { return BTreeSet::new() };
        let mut users: BTreeMap<ArrayId, usize> = BTreeMap::new();
        for nest in self.program.nests.values() {
            nest.arrays().into_iter().for_each(|id| *users.entry(id).or_default() += 1);
        }
        let mut found = BTreeSet::new();
        let ids: Vec<NestId> = self.program.nests.keys().copied().collect();
        for id in ids {
            let Some(mut nest) = self.program.nests.get(&id).cloned() else { continue };
            let mut uses: BTreeMap<ArrayId, [usize; 2]> = BTreeMap::new();
            for (access, is_write) in nest.accesses() {
                uses.entry(access.array).or_default()[usize::from(is_write)] += 1;
            }
            let program = &self.program;
            let is_handed_on = |array: ArrayId| {
                uses.get(&array) == Some(&[1, 1])
                    && users.get(&array) == Some(&1)
                    && !asked.contains(&array)
                    && matches!(program.array(array).storage, Storage::Local | Storage::Body(_))
            };
            if fold_in(program, &mut nest.roots, &is_handed_on) {
                self.program.nests.insert(id, Nest::new(id, self.program.name.clone(), nest.roots));
                found.insert(id);
            }
        }
        found
    }

    /// Arrays that something else than nests uses; none if it may be any.
    fn asked_by_control(&self) -> Option<BTreeSet<ArrayId>> {
        let mut asked = BTreeSet::new();
        let mut is_known = true;
        self.program.body.visit(&mut |region| match region {
            Region::Opaque(opaque) => {
                for list in [&opaque.reads, &opaque.writes] {
                    is_known &= list.is_some();
                    asked.extend(list.iter().flatten());
                }
            }
            Region::Branch { condition, .. } => {
                asked.extend(condition.iter().flat_map(Expr::reads).map(|a| a.array));
            }
            Region::Loop(l) => {
                let ends = l.range.iter().flat_map(|(a, b)| [a, b]);
                asked.extend(ends.flat_map(Expr::reads).map(|a| a.array));
            }
            _ => {}
        });
        visit_outline(&self.outline, &mut |e| asked.extend(e.reads().into_iter().map(|a| a.array)));
        is_known.then_some(asked)
    }
}

/// The same in a list of nodes and all that is in them.
fn fold_in(program: &Program, nodes: &mut Vec<Node>, is_handed_on: &dyn Fn(ArrayId) -> bool) -> bool {
    let mut has_changed = false;
    for node in nodes.iter_mut() {
        has_changed |= match node {
            Node::Loop(l) => fold_in(program, &mut l.body, is_handed_on),
            Node::If { then, otherwise, .. } => {
                fold_in(program, then, is_handed_on) | fold_in(program, otherwise, is_handed_on)
            }
            Node::Stmt(_) => false,
        };
    }
    let mut at = 0;
    while at < nodes.len() {
        if let Some((reader, changed)) = folded(program, nodes, at, is_handed_on) {
            nodes[reader] = changed;
            nodes.remove(at);
            has_changed = true;
        } else {
            at += 1;
        }
    }
    has_changed
}

/// The later node that reads what the node at a position stores, as one that computes it.
fn folded(
    program: &Program,
    nodes: &[Node],
    at: usize,
    is_handed_on: &dyn Fn(ArrayId) -> bool,
) -> Option<(usize, Node)> {
    let (loops, [Node::Stmt(store)]) = chain(nodes.get(at)?) else { return None };
    let array = store.target.array;
    let is_plain = store.update == Update::Assign
        && is_handed_on(array)
        && store.target.indices == iterators(&loops)
        && loops.iter().all(|l| l.step == 1)
        && type_of(program, &store.value) == program.array(array).element;
    if !is_plain || size(&store.value) > MAX_SIZE {
        return None;
    }
    let needed: BTreeSet<ArrayId> = store.value.reads().into_iter().map(|a| a.array).collect();
    for (reader, node) in nodes.iter().enumerate().skip(at + 1) {
        let accesses = Nest::new(NestId(0), "", vec![node.clone()]);
        let accesses = accesses.accesses();
        let is_changed = accesses.iter().any(|(a, is_write)| *is_write && needed.contains(&a.array));
        if accesses.iter().any(|(a, is_write)| !is_write && a.array == array) {
            let mut changed = node.clone();
            return (!is_changed && replaced(&mut changed, &loops, store)).then_some((reader, changed));
        }
        if is_changed {
            return None;
        }
    }
    None
}

/// Puts the stored value into the only statement that reads it, if it runs in the same iterations.
fn replaced(node: &mut Node, stored_in: &[&Loop], store: &Stmt) -> bool {
    let (loops, body) = chain(node);
    let names: BTreeMap<Var, Affine> =
        stored_in.iter().zip(&loops).map(|(l, k)| (Var::Loop(l.id), Affine::var(k.id))).collect();
    let with = |var: Var| names.get(&var).cloned();
    let is_same = |(l, k): (&&Loop, &&Loop)| {
        let mut copy = Node::Loop(Loop { body: Vec::new(), ..(*l).clone() });
        copy.substitute(&with);
        matches!(&copy, Node::Loop(copy) if k.step == 1 && copy.lower == k.lower && copy.upper == k.upper)
    };
    if loops.len() != stored_in.len() || !stored_in.iter().zip(&loops).all(is_same) {
        return false;
    }
    let wanted = iterators(&loops);
    let reads = |e: &Expr| e.reads().iter().any(|a| a.array == store.target.array);
    let position = body.iter().position(|inner| match inner {
        Node::Stmt(stmt) => {
            let is_here = |a: &oxeye_ir::Access| a.array == store.target.array && a.indices == wanted;
            stmt.value.reads().into_iter().any(is_here) && !stmt.target.indices.iter().any(reads)
        }
        _ => false,
    });
    let Some(position) = position else { return false };
    let mut value = store.value.clone();
    value.substitute(&with);
    let Some(Node::Stmt(stmt)) = innermost(node).get_mut(position) else { return false };
    if size(&stmt.value) + size(&value) > MAX_SIZE {
        return false;
    }
    stmt.value.rewrite(&mut |e| {
        if matches!(e, Expr::Read(access) if access.array == store.target.array) {
            *e = value.clone();
        }
    });
    true
}

/// Loops of which each is alone in the one around it, and what is in the last of them.
fn chain(node: &Node) -> (Vec<&Loop>, &[Node]) {
    let (mut loops, mut body) = (Vec::new(), std::slice::from_ref(node));
    while let [Node::Loop(l)] = body {
        loops.push(l);
        body = &l.body;
    }
    (loops, body)
}

/// The second of [`chain`], to be changed.
fn innermost(node: &mut Node) -> &mut [Node] {
    let mut body = std::slice::from_mut(node);
    while matches!(body, [Node::Loop(_)]) {
        let [Node::Loop(l)] = body else { break };
        body = &mut l.body;
    }
    body
}

fn iterators(loops: &[&Loop]) -> Vec<Expr> {
    loops.iter().map(|l| Expr::from(l.id)).collect()
}

fn size(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(size).sum::<usize>()
}

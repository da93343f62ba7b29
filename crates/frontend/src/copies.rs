//! Members of structures that live inside a nest, replaced by what they hold.
//!
//! A sum of structures, `sum = add(sum, times(a, b))`, is made of copies from one member to the next; without them it is
//! one sum for every member again, `sum.x += a.x * b.x`.

use crate::lower::{as_update, natural};
use oxeye_ir::{Access, ArrayId, BoundTerm, Expr, Nest, Node, Program, Update};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Removes members that are set once and read once, or that only have another one's value.
pub(crate) fn remove_copies(program: &mut Program, members: &HashSet<ArrayId>) {
    if members.is_empty() {
        return;
    }
    let mut nests = std::mem::take(&mut program.nests);
    for nest in nests.values_mut() {
        // Each removal may allow another one.
        while let Some(counts) = Counts::of(nest, members) {
            let mut roots = std::mem::take(&mut nest.roots);
            let is_changed = remove_one(&mut roots, program, &counts);
            nest.roots = roots;
            if !is_changed {
                break;
            }
        }
    }
    program.nests = nests;
    let used: BTreeSet<ArrayId> = program.nests.values().flat_map(Nest::arrays).collect();
    program.arrays.retain(|id, _| used.contains(id) || !members.contains(id));
}

/// How often each member is read, of those that are set by one statement.
struct Counts(BTreeMap<ArrayId, usize>);

impl Counts {
    /// `None` if there are no such members.
    fn of(nest: &Nest, members: &HashSet<ArrayId>) -> Option<Self> {
        let mut counts: BTreeMap<ArrayId, (usize, usize)> = BTreeMap::new();
        for (access, is_written) in nest.accesses() {
            if members.contains(&access.array) && access.indices.is_empty() {
                let (writes, reads) = counts.entry(access.array).or_default();
                *(if is_written { writes } else { reads }) += 1;
            }
        }
        let once = counts.into_iter().filter(|(_, (writes, _))| *writes == 1);
        let reads: BTreeMap<ArrayId, usize> = once.map(|(id, (_, reads))| (id, reads)).collect();
        (!reads.is_empty()).then_some(Self(reads))
    }
}

/// Whether a member could be removed.
fn remove_one(nodes: &mut Vec<Node>, program: &Program, counts: &Counts) -> bool {
    for k in 0..nodes.len() {
        let is_removed = match &nodes[k] {
            Node::Stmt(s) if s.update == Update::Assign && s.target.indices.is_empty() => {
                let n_reads = counts.0.get(&s.target.array).copied();
                n_reads.is_some_and(|n| replace(&mut nodes[k..], program, n))
            }
            _ => false,
        };
        if is_removed {
            nodes.remove(k);
            return true;
        }
        let bodies: Vec<&mut Vec<Node>> = match &mut nodes[k] {
            Node::Stmt(_) => Vec::new(),
            Node::Loop(l) => vec![&mut l.body],
            Node::If { then, otherwise, .. } => vec![then, otherwise],
        };
        if bodies.into_iter().any(|body| remove_one(body, program, counts)) {
            return true;
        }
    }
    false
}

/// Puts what the first statement stores in place of all reads of it, if they have that value.
fn replace(nodes: &mut [Node], program: &Program, n_reads: usize) -> bool {
    let Some((Node::Stmt(first), rest)) = nodes.split_first_mut() else { return false };
    let target = first.target.array;
    let element = program.array(target).element;
    let is_name = match &first.value {
        Expr::Read(access) => access.indices.is_empty(),
        Expr::Float { .. } => true,
        _ => false,
    };
    // Functions of complex numbers are computed once for both parts of their results.
    let mut is_part = false;
    first.value.visit(&mut |e| {
        is_part |= matches!(e, Expr::Call { function, .. } if function.complex().is_some());
    });
    if n_reads == 0 || n_reads > 1 && !is_name || is_part {
        return false;
    }
    let value = match natural(program, &first.value) {
        Some(ty) if ty == element => first.value.clone(),
        _ => Expr::Cast(element, Box::new(first.value.clone())),
    };
    let read: BTreeSet<ArrayId> = value.reads().iter().map(|access| access.array).collect();
    let changes = |id: ArrayId| {
        let is_pair =
            |(a, b): &(ArrayId, ArrayId)| (*a == id && read.contains(b)) || (*b == id && read.contains(a));
        read.contains(&id) || program.may_alias.iter().any(is_pair)
    };
    let (mut n_left, mut n_nodes) = (n_reads, 0);
    for node in rest.iter() {
        if n_left == 0 {
            break;
        }
        n_nodes += 1;
        let mut accesses = Vec::new();
        accesses_of(node, &mut accesses);
        let n_here =
            accesses.iter().filter(|(access, is_written)| access.array == target && !is_written).count();
        let is_changed = accesses.iter().any(|(access, is_written)| *is_written && changes(access.array));
        n_left -= n_here.min(n_left);
        let is_in_order = match node {
            // It reads before it writes.
            Node::Stmt(_) => !is_changed || n_left == 0,
            Node::Loop(_) if n_here > 0 => is_name && !is_changed,
            Node::If { .. } | Node::Loop(_) => !is_changed || n_left == 0 && n_here == 0,
        };
        if !is_in_order {
            return false;
        }
    }
    if n_left > 0 {
        return false;
    }
    rest[..n_nodes].iter_mut().for_each(|node| put(node, target, &value, program));
    true
}

fn accesses_of<'n>(node: &'n Node, found: &mut Vec<(&'n Access, bool)>) {
    found.extend(node.own_accesses());
    node.bodies().into_iter().flatten().for_each(|inner| accesses_of(inner, found));
}

fn put(node: &mut Node, target: ArrayId, value: &Expr, program: &Program) {
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(|index| put_in(index, target, value));
            put_in(&mut s.value, target, value);
            if s.update == Update::Assign {
                let element = program.array(s.target.array).element;
                (s.update, s.value) = as_update(&s.target, s.value.clone(), element);
            }
        }
        Node::If { condition, then, otherwise } => {
            put_in(condition, target, value);
            then.iter_mut().chain(otherwise).for_each(|node| put(node, target, value, program));
        }
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                if let BoundTerm::Data(e) = term {
                    put_in(e, target, value);
                }
            }
            l.body.iter_mut().for_each(|node| put(node, target, value, program));
        }
    }
}

fn put_in(e: &mut Expr, target: ArrayId, value: &Expr) {
    match e {
        Expr::Read(access) if access.array == target && access.indices.is_empty() => *e = value.clone(),
        _ => e.children_mut().into_iter().for_each(|child| put_in(child, target, value)),
    }
}

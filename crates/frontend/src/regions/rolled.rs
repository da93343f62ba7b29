//! Loops that their authors unrolled, as they were before: the same instances of the same statements in the same order.
//!
//! `for (i = 0; i < n4; i += 4) { y[i] += x[i]; y[i + 1] += x[i + 1]; ... }` is a loop over one statement, and the loop over the rest
//! behind it, `for (; i < n; i++) y[i] += x[i];`, goes on with it.

use crate::prove::{Facts, has_whole_steps};
use oxeye_ir::{Affine, Bound, Expr, Loop, LoopId, Node, Program, StmtId, Storage, Var};
use std::collections::BTreeMap;

/// Rolls up the loops of a nest before which tests are made.
pub(super) fn roll_all(program: &mut Program, roots: &mut Vec<Node>, facts: &Facts, tests: &[Expr]) {
    let mut known = facts.clone();
    program.assumptions.iter().for_each(|assumption| known.push(assumption.clone()));
    tests.iter().for_each(|test| known.push_condition(test, true));
    let mut gone = Vec::new();
    roll(roots, &known, &mut gone);
    for (gone, in_place) in gone {
        for array in program.arrays.values_mut().filter(|array| array.storage == Storage::Body(gone)) {
            array.storage = Storage::Body(in_place);
        }
    }
}

/// Rolls the loops up that stand among nodes or in them. `gone` becomes the loops that are left out, with those that take their places.
fn roll(nodes: &mut Vec<Node>, facts: &Facts, gone: &mut Vec<(LoopId, LoopId)>) {
    for node in nodes.iter_mut() {
        let mut inside = facts.clone();
        if let Node::Loop(l) = node {
            inside.push_loop(l);
        }
        node.bodies_mut().into_iter().for_each(|body| roll(body, &inside, gone));
        if let Node::Loop(l) = node {
            gone.extend(roll_up(l));
        }
    }
    let mut k = 1;
    while k < nodes.len() {
        let joined = match &nodes[k - 1..=k] {
            [Node::Loop(first), Node::Loop(rest)] => joined(first, rest, facts),
            _ => None,
        };
        match joined {
            Some(joined) => drop(nodes.splice(k - 1..=k, [Node::Loop(joined)])),
            None => k += 1,
        }
    }
}

/// Where the body is several copies of its first part, each for the iterator of a later step, one copy is left; a loop inside that counts
/// the steps is left out. Returns that one.
fn roll_up(l: &mut Loop) -> Option<(LoopId, LoopId)> {
    let step = usize::try_from(l.step).ok().filter(|_| has_whole_steps(l))?;
    if let [Node::Loop(inner)] = l.body.as_slice()
        && inner.step == 1
        && inner.lower.as_affine().and_then(Affine::as_constant) == Some(0)
        && inner.upper.as_affine().and_then(Affine::as_constant) == Some(l.step)
        && inner.body.iter().all(|node| is_of_their_sum(node, l.id, inner.id))
    {
        let inner_id = inner.id;
        let mut body = inner.body.clone();
        body.iter_mut()
            .for_each(|node| node.substitute(&|v| (v == Var::Loop(inner_id)).then(Affine::default)));
        (l.body, l.step) = (body, 1);
        return Some((inner_id, l.id));
    }
    let n_nodes = l.body.len();
    let fits = |n: &usize| n_nodes.is_multiple_of(*n) && step.is_multiple_of(*n);
    let are_copies = |n: &usize| {
        let by = l.step / *n as i64;
        let (first, later) = l.body.split_at(n_nodes / n);
        later.chunks(first.len()).zip(1..).all(|(copy, k)| {
            let shifted = |node: &Node| {
                let mut node = node.clone();
                node.substitute(&|v| (v == Var::Loop(l.id)).then(|| Affine::var(l.id).offset(k * by)));
                node
            };
            let expected: Vec<Node> = first.iter().map(shifted).collect();
            anonymous(&expected) == anonymous(copy)
        })
    };
    if let Some(n) = (2..=n_nodes).rev().filter(fits).find(are_copies) {
        l.body.truncate(n_nodes / n);
        l.step /= n as i64;
    }
    None
}

/// Whether what a node does changes with the sum of two iterators alone.
fn is_of_their_sum(node: &Node, outer: LoopId, inner: LoopId) -> bool {
    let with = |one: LoopId, other: LoopId| {
        let mut node = node.clone();
        node.substitute(&|v| match v {
            Var::Loop(id) if id == one => Some(Affine::var(outer)),
            Var::Loop(id) if id == other => Some(Affine::default()),
            _ => None,
        });
        node
    };
    with(outer, inner) == with(inner, outer)
}

/// Two loops over the same body as one, where the second begins at the end of the first.
fn joined(first: &Loop, rest: &Loop, facts: &Facts) -> Option<Loop> {
    let (begin, middle, end) = (first.lower.as_affine()?, first.upper.as_affine()?, rest.upper.as_affine()?);
    let is_behind = |a: &Affine, b: &Affine| facts.prove_non_negative(&(b.clone() - a.clone()));
    let goes_on = match rest.lower.as_affine() {
        // Without an iteration of the first, the second would begin before it.
        Some(lower) => lower == middle && is_behind(begin, middle),
        None => {
            rest.lower == Bound(vec![begin.clone().into(), middle.clone().into()]) && is_behind(middle, end)
        }
    };
    let is_alike =
        first.step == 1 && rest.step == 1 && first.ty == rest.ty && first.execution == rest.execution;
    let same = |v: Var| (v == Var::Loop(rest.id)).then(|| Affine::var(first.id));
    let mut body = rest.body.clone();
    body.iter_mut().for_each(|node| node.substitute(&same));
    (goes_on && is_alike && anonymous(&body) == anonymous(&first.body))
        .then(|| Loop { upper: rest.upper.clone(), ..first.clone() })
}

/// Nodes without what tells copies of them apart.
fn anonymous(nodes: &[Node]) -> Vec<Node> {
    fn strip(nodes: &mut [Node], loops: &mut BTreeMap<LoopId, LoopId>) {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    let id = LoopId(u32::MAX - loops.len() as u32);
                    loops.insert(l.id, id);
                    (l.id, l.name) = (id, String::new());
                }
                Node::Stmt(s) => (s.id, s.line) = (StmtId(0), None),
                Node::If { .. } => {}
            }
            node.bodies_mut().into_iter().for_each(|body| strip(body, loops));
        }
    }
    let mut nodes = nodes.to_vec();
    let mut loops = BTreeMap::new();
    strip(&mut nodes, &mut loops);
    let new = |v: Var| match v {
        Var::Loop(id) => loops.get(&id).map(|id| Affine::var(*id)),
        Var::Sym(_) => None,
    };
    nodes.iter_mut().for_each(|node| node.substitute(&new));
    nodes
}

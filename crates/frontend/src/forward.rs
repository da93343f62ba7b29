//! Scalars in indices and bounds, replaced by what they hold, in nests where they decide how far a loop goes.
//!
//! In `s = start[a]; for (i = 0; i < n - s; i++) x[s + i] += …` nothing can be said about the elements of `x`; with
//! `start[a]` in place of `s`, [`crate::ragged`] can.

use crate::lower::Holdings;
use oxeye_ir::{ArrayId, Bound, BoundTerm, Expr, Nest, Node, Program};

/// Replaces them in all nests. The stores remain: the text of the user needs the variables.
pub(crate) fn forward(program: &mut Program) {
    let mut nests = std::mem::take(&mut program.nests);
    for nest in nests.values_mut().filter(|nest| has_scalar_bounds(nest)) {
        let mut holdings = Holdings::of(program, nest);
        let mut roots = std::mem::take(&mut nest.roots);
        nodes(&mut roots, &mut holdings);
        nest.roots = roots;
    }
    program.nests = nests;
}

/// Whether a bound reads a scalar that the nest writes.
fn has_scalar_bounds(nest: &Nest) -> bool {
    let accesses = nest.accesses();
    let is_written = |id: ArrayId| accesses.iter().any(|(access, written)| *written && access.array == id);
    let bounds = nest.loops().into_iter().flat_map(|l| l.lower.0.iter().chain(&l.upper.0));
    bounds.into_iter().any(|term| match term {
        BoundTerm::Data(e) => {
            e.reads().iter().any(|access| access.indices.is_empty() && is_written(access.array))
        }
        BoundTerm::Affine { .. } | BoundTerm::Open => false,
    })
}

fn nodes(all: &mut [Node], holdings: &mut Holdings<'_>) {
    for node in all {
        match node {
            Node::Stmt(s) => {
                s.target.indices.iter_mut().for_each(|index| put(index, holdings));
                indices(&mut s.value, holdings);
                holdings.store(s);
            }
            Node::If { condition, then, otherwise } => {
                indices(condition, holdings);
                let before = holdings.clone();
                nodes(then, holdings);
                holdings.clone_from(&before);
                nodes(otherwise, holdings);
                *holdings = before;
                holdings.forget(then);
                holdings.forget(otherwise);
            }
            Node::Loop(l) => {
                let bound = |bound: &mut Bound| {
                    for term in &mut bound.0 {
                        if let BoundTerm::Data(e) = term {
                            put(e, holdings);
                        }
                    }
                };
                bound(&mut l.lower);
                bound(&mut l.upper);
                holdings.forget(&l.body);
                nodes(&mut l.body, holdings);
                holdings.forget(&l.body);
            }
        }
    }
}

/// Indices in an expression.
fn indices(e: &mut Expr, holdings: &Holdings<'_>) {
    match e {
        Expr::Read(access) => access.indices.iter_mut().for_each(|index| put(index, holdings)),
        _ => e.children_mut().into_iter().for_each(|child| indices(child, holdings)),
    }
}

fn put(e: &mut Expr, holdings: &Holdings<'_>) {
    if !e.reads().iter().any(|access| access.indices.is_empty()) {
        return;
    }
    if let Some(known) = holdings.known(e).filter(|known| known != e && !holdings.may_be_written(known)) {
        *e = known;
    }
}

//! Moves constant factors of scratch sums to the uses of the sums.
//!
//! `t[i] = 0; t[i] += a * x[i][k]` with a scalar `a` that does not change, where `t` is scratch: the factor moves to
//! the uses of `t`, `a * t[i]`, so that it does not matter which of two consecutive products it was written in. Only
//! where floating point may be reassociated.

use super::merge::is_scratch;
use super::rewrites::Done;
use crate::rewrite::Rewrite;
use oxeye_analysis::is_covered;
use oxeye_ir::{ArrayId, BinaryOp, Expr, Nest, Node, Program, Stmt, Update};

/// Moves factors from accumulations into scratch arrays to the uses of the arrays; returns what was done, as messages.
pub(super) fn move_to_uses(program: &Program, nest: &mut Nest) -> Done {
    let mut done = Done::new();
    for id in nest.arrays() {
        let decl = program.array(id);
        if decl.shape.is_empty() || !decl.element.is_float() || !is_scratch(program, nest, id) {
            continue;
        }
        let Some(shared) = shared_factors(nest, id) else { continue };
        // The contents of the array before the nest do not have the factor.
        if !is_covered(program, nest, id, &[]) {
            continue;
        }
        for root in &mut nest.roots {
            statements(root, &mut |stmt| {
                if stmt.target.array == id {
                    if stmt.update == Update::Add {
                        let rest = stmt.value.factors().into_iter().filter(|f| !shared.contains(f)).cloned();
                        if let Some(value) = rest.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b)) {
                            stmt.value = value;
                        }
                    }
                    return;
                }
                stmt.value.rewrite(&mut |e| {
                    if matches!(e, Expr::Read(a) if a.array == id) {
                        let own = e.clone();
                        *e = shared.iter().cloned().fold(own, |p, f| Expr::binary(BinaryOp::Mul, p, f));
                    }
                });
            });
        }
        let what = format!("array {}: its constant factors moved to where it is used", decl.name);
        done.push((Rewrite::FactorsToUses, what));
    }
    done
}

/// The constant factors shared by everything added to the array, if the array is only a sum from zero that values of
/// other statements read.
fn shared_factors(nest: &Nest, id: ArrayId) -> Option<Vec<Expr>> {
    let written: Vec<ArrayId> =
        nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
    let constant = |e: &Expr| match e {
        Expr::Float { .. } => true,
        Expr::Read(a) => a.indices.is_empty() && !written.contains(&a.array),
        _ => false,
    };
    let mut shared: Option<Vec<Expr>> = None;
    let mut n_known = 0;
    for stmt in nest.stmts() {
        let reads = stmt.value.reads();
        n_known += reads.iter().filter(|a| a.array == id).count();
        if stmt.target.array != id {
            continue;
        }
        n_known += 1;
        if reads.iter().any(|a| a.array == id) {
            return None;
        }
        match stmt.update {
            Update::Assign if matches!(&stmt.value, Expr::Float { text, .. } if text.starts_with("0.0")) => {}
            Update::Add => {
                n_known += 1;
                let all = stmt.value.factors();
                let own: Vec<Expr> = all.iter().copied().filter(|f| constant(f)).cloned().collect();
                if own.len() == all.len() || shared.get_or_insert_with(|| own.clone()) != &own {
                    return None;
                }
            }
            _ => return None,
        }
    }
    // Uses in conditions, bounds and indices would not get the factor.
    let n_uses = nest.accesses().iter().filter(|(a, _)| a.array == id).count();
    shared.filter(|s| !s.is_empty() && n_uses == n_known)
}

fn statements(node: &mut Node, f: &mut dyn FnMut(&mut Stmt)) {
    if let Node::Stmt(s) = node {
        f(s);
    }
    node.bodies_mut().into_iter().flatten().for_each(|n| statements(n, f));
}

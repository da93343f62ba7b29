//! Checks of values in memory that end the program: `if (fabs(a[j][j]) < 1e-12) { puts("singular"); exit(1); }`. A nest that
//! leaves alone what they read is the same without them wherever none fails, which loops before it find out.

use super::exits::Check;
use super::hull::hull;
use super::lowerer::Lowerer;
use super::row_scans::{chain, join, symbols};
use super::uses::{Use, iterators, uses};
use crate::ast::{Range, Scalar};
use crate::prove::Facts;
use oxeye_binding::RowScan;
use oxeye_ir::{
    Access, ArrayId, BinaryOp, Expr, Nest, Node, Program, ScalarType, Stmt, Storage, UnaryOp, Update,
};
use std::collections::{BTreeMap, BTreeSet};

/// What is done before a nest that has no checks any more.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) scans: Vec<RowScan>,
    pub(crate) tests: Vec<Expr>,
}

impl Lowerer<'_> {
    /// Marks the place of a check that ends the program if its condition holds, or if it does not. `false` if there is nothing to be checked beforehand.
    pub(super) fn marked(
        &mut self,
        condition: &Expr,
        fails_if: bool,
        at: Range,
        out: &mut Vec<Node>,
    ) -> bool {
        let is_test = matches!(
            condition,
            Expr::Unary(UnaryOp::Not, _)
                | Expr::Binary(
                    BinaryOp::Lt
                        | BinaryOp::Le
                        | BinaryOp::Gt
                        | BinaryOp::Ge
                        | BinaryOp::Eq
                        | BinaryOp::Ne
                        | BinaryOp::And
                        | BinaryOp::Or,
                    ..
                )
        );
        let Some((_, owner)) =
            self.loops.last().copied().filter(|_| is_test && !condition.reads().is_empty())
        else {
            return false;
        };
        let scalar = Scalar { ty: ScalarType::I32, spelling: None, is_volatile: false, is_bool: false };
        let marker = self.own_scalar("check", &scalar, Storage::Body(owner));
        self.state.checks.insert(marker.array, Check { fails_if, at });
        self.push(marker, Update::Assign, condition.clone(), at, out);
        true
    }
}

/// Takes the marked checks out of a nest: the loops that find out whether one of them fails, and that none does; `None` if that
/// cannot be found out.
pub(crate) fn without_checks(
    program: &mut Program,
    nest: &mut Nest,
    checks: &BTreeMap<ArrayId, Check>,
    facts: &Facts,
) -> Option<Checked> {
    let marked: Vec<Stmt> =
        nest.stmts().into_iter().filter(|s| checks.contains_key(&s.target.array)).cloned().collect();
    let mut checked = Checked::default();
    let places: Vec<Vec<Use>> = marked.iter().map(|s| uses(program, nest, s.target.array, 0)).collect();
    nest.roots.retain_mut(|node| keep(node, &marked));
    let left: BTreeSet<ArrayId> = nest.arrays().into_iter().collect();
    let known = nest.vars();
    for (s, places) in marked.iter().zip(places) {
        let [place] = places.as_slice() else { return None };
        let is_kept = |read: &Access| left.contains(&read.array) && is_left_alone(program, nest, read, facts);
        // Replays have what the nest itself uses.
        let mut is_known = true;
        s.value.visit(&mut |e| {
            if let Expr::Affine(a) = e {
                is_known &= a.terms().all(|(v, _)| known.contains(&v));
            }
        });
        if place.n_unknown > 0 || !is_known || !s.value.reads().into_iter().all(is_kept) {
            return None;
        }
        let fails = match checks.get(&s.target.array)?.fails_if {
            true => s.value.clone(),
            false => Expr::Unary(UnaryOp::Not, Box::new(s.value.clone())),
        };
        let mut place = place.clone();
        place.guards.push((fails, place.loops.len()));
        let found = symbols(program, "check", s.target.array);
        let wanted = vec![(found, Expr::from(1), Expr::from(1))];
        join(program, chain(place, wanted)?, &mut checked.scans);
        // Where none fails, what was found is an empty range, which ends before its beginning at zero.
        checked.tests.push(Expr::binary(BinaryOp::Lt, found.1.into(), Expr::from(0)));
    }
    Some(checked)
}

/// Whether anything is left of a node without these stores, which are taken out of it.
fn keep(node: &mut Node, stores: &[Stmt]) -> bool {
    match node {
        Node::Stmt(s) => !stores.iter().any(|store| store.id == s.id),
        Node::If { then, otherwise, .. } => {
            then.retain_mut(|node| keep(node, stores));
            otherwise.retain_mut(|node| keep(node, stores));
            !then.is_empty() || !otherwise.is_empty()
        }
        Node::Loop(l) => {
            l.body.retain_mut(|node| keep(node, stores));
            !l.body.is_empty()
        }
    }
}

/// Whether a nest stores nothing to an element, whatever its symbols are.
fn is_left_alone(program: &Program, nest: &Nest, read: &Access, facts: &Facts) -> bool {
    let all = uses(program, nest, read.array, 0);
    let stores: Vec<&Use> = all.iter().filter(|u| u.is_store).collect();
    if stores.is_empty() {
        return true;
    }
    let is_outside = |(d, index): (usize, &Expr)| {
        let Some(index) = index.as_affine().filter(|_| iterators(index).is_empty()) else { return false };
        let Some(ends) = hull(&stores, d) else { return false };
        let proved = |end: &Vec<oxeye_ir::Affine>, is_low: bool| {
            end.iter().any(|end| {
                let distance = if is_low { end.clone() - index.clone() } else { index.clone() - end.clone() };
                facts.prove_non_negative(&distance.offset(-1))
            })
        };
        ends.low.iter().all(|end| proved(end, true)) || ends.high.iter().all(|end| proved(end, false))
    };
    read.indices.iter().enumerate().any(is_outside)
}

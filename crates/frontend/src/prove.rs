//! Facts about iterators and symbols at a place, and conclusions from them.

use oxeye_analysis::omega::{System, implies_ge};
use oxeye_ir::{Affine, BinaryOp, Bound, BoundTerm, Constraint, Expr, Loop, LoopId, Relation, UnaryOp, Var};
use std::collections::BTreeSet;

/// Whether a loop in steps of more than one ends a whole number of steps behind its first value.
pub(crate) fn has_whole_steps(l: &Loop) -> bool {
    let is_multiple = |a: Affine| a.constant_part() % l.step == 0 && a.terms().all(|(_, c)| c % l.step == 0);
    let ends = l.lower.as_affine().zip(l.upper.as_affine());
    l.step > 1 && ends.is_some_and(|(first, end)| is_multiple(end.clone() - first.clone()))
}

/// A stack of constraints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts(Vec<Constraint>);

impl Facts {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Drops the facts for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Constraint) -> bool) {
        self.0.retain(|c| keep(c));
    }

    pub(crate) fn push(&mut self, constraint: Constraint) {
        if !self.0.contains(&constraint) {
            self.0.push(constraint);
        }
    }

    /// Adds that the iterator of `l` is within its bounds.
    pub(crate) fn push_loop(&mut self, l: &Loop) {
        let iterator = Affine::var(l.id);
        for (expr, divisor) in affine_terms(&l.lower) {
            self.push(Constraint::ge(iterator.scaled(divisor), expr.clone()));
        }
        for (expr, divisor) in affine_terms(&l.upper) {
            self.push(Constraint::lt(iterator.scaled(divisor), expr.clone()));
        }
        if let Some(end) = l.upper.as_affine().filter(|_| has_whole_steps(l)) {
            self.push(Constraint::ge(end.clone().offset(-l.step), iterator.clone()));
        }
        if let Some((tiles, size)) = l.tile() {
            // There is an element, and the first tile begins at 0.
            self.push(Constraint::ge(size.clone(), Affine::constant(1)));
            if self.prove_non_negative(&Affine::var(tiles)) {
                self.push(Constraint::ge(iterator, Affine::constant(0)));
            }
        }
    }

    /// Adds that the condition is non-zero (`holds`) or zero.
    pub(crate) fn push_condition(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.push_condition(inner, !holds),
            Expr::Binary(BinaryOp::And, l, r) if holds => {
                self.push_condition(l, true);
                self.push_condition(r, true);
            }
            Expr::Binary(BinaryOp::Or, l, r) if !holds => {
                self.push_condition(l, false);
                self.push_condition(r, false);
            }
            Expr::Binary(op, l, r) => {
                let (Some(l), Some(r)) = (l.as_affine().cloned(), r.as_affine().cloned()) else { return };
                let constraint = match (op, holds) {
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => Constraint::lt(l, r),
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => Constraint::ge(r, l),
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => Constraint::lt(r, l),
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => Constraint::ge(l, r),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => Constraint::eq(l, r),
                    _ => return,
                };
                self.push(constraint);
            }
            _ => {}
        }
    }

    /// The same; what is unequal to one end of its range is within the other values, too.
    pub(crate) fn push_choice(&mut self, condition: &Expr, holds: bool) {
        self.push_condition(condition, holds);
        let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), l, r) = condition else { return };
        let (Some(l), Some(r)) = (l.as_affine().cloned(), r.as_affine().cloned()) else { return };
        if (*op == BinaryOp::Ne) != holds {
            return;
        }
        let distance = l.clone() - r.clone();
        if self.prove_non_negative(&distance) {
            self.push(Constraint::lt(r, l));
        } else if self.prove_non_negative(&-distance) {
            self.push(Constraint::lt(l, r));
        }
    }

    /// What an iterator is never less than (`is_lower`), or never greater than.
    pub(crate) fn bounds(&self, id: LoopId, is_lower: bool) -> impl Iterator<Item = Affine> + '_ {
        let c = if is_lower { 1 } else { -1 };
        let says = move |constraint: &&Constraint| {
            constraint.relation == Relation::NonNegative && constraint.expr.coefficient(id) == c
        };
        self.0.iter().filter(says).map(move |constraint| {
            let rest = constraint.expr.clone() - Affine::term(id, c);
            if is_lower { -rest } else { rest }
        })
    }

    /// Whether `expr >= 0` follows.
    pub(crate) fn prove_non_negative(&self, expr: &Affine) -> bool {
        if let Some(value) = expr.as_constant() {
            return value >= 0;
        }
        let mut vars: BTreeSet<Var> = expr.terms().map(|(v, _)| v).collect();
        let mut relevant = vec![false; self.0.len()];
        // Constraints that share variables, transitively.
        loop {
            let mut changed = false;
            for (k, constraint) in self.0.iter().enumerate() {
                if !relevant[k] && constraint.expr.terms().any(|(v, _)| vars.contains(&v)) {
                    relevant[k] = true;
                    changed = true;
                    vars.extend(constraint.expr.terms().map(|(v, _)| v));
                }
            }
            if !changed {
                break;
            }
        }
        let vars: Vec<Var> = vars.into_iter().collect();
        let row = |a: &Affine| -> Vec<(usize, i64)> {
            a.terms().filter_map(|(v, c)| Some((vars.binary_search(&v).ok()?, c))).collect()
        };
        let mut system = System::new(vars.len());
        for (constraint, _) in self.0.iter().zip(&relevant).filter(|(_, r)| **r) {
            let terms = row(&constraint.expr);
            match constraint.relation {
                Relation::Zero => system.add_eq(&terms, constraint.expr.constant_part()),
                Relation::NonNegative => system.add_ge(&terms, constraint.expr.constant_part()),
            }
        }
        implies_ge(&system, &row(expr), expr.constant_part())
    }
}

fn affine_terms(bound: &Bound) -> impl Iterator<Item = (&Affine, i64)> {
    bound.0.iter().filter_map(|term| match term {
        BoundTerm::Affine { expr, divisor } => Some((expr, *divisor)),
        BoundTerm::Data(_) | BoundTerm::Open => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::SymId;

    #[test]
    fn bounds_and_guards_are_used() {
        let (i, j, n) = (Affine::var(LoopId(0)), Affine::var(LoopId(1)), Affine::var(SymId(0)));
        let mut facts = Facts::default();
        facts.push(Constraint::ge(i.clone(), 0.into()));
        facts.push(Constraint::lt(i.clone(), n.clone()));
        facts.push(Constraint::ge(j.clone(), 0.into()));
        facts.push(Constraint::ge(i.clone(), j.clone()));
        assert!(facts.prove_non_negative(&(n.clone() - j.clone()).offset(-1)));
        assert!(!facts.prove_non_negative(&j.clone().offset(-1)));
        let condition = Expr::Binary(BinaryOp::Gt, Box::new(j.clone().into()), Box::new(Expr::from(0)));
        facts.push_condition(&condition, true);
        assert!(facts.prove_non_negative(&j.offset(-1)));
    }
}

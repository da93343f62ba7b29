//! Polynomials of integers, to find out whether two sizes are equal.

use oxeye_ir::{BinaryOp, Expr, UnaryOp};
use std::collections::BTreeMap;

/// Sums of products. What is no sum or product is a variable by its own spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Polynomial(BTreeMap<Vec<String>, i128>);

/// More terms than sizes have.
const MAX_TERMS: usize = 200;

impl Polynomial {
    pub(crate) fn constant(value: i128) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Self(terms)
    }

    fn variable(name: String) -> Self {
        Self(BTreeMap::from([(vec![name], 1)]))
    }

    pub(crate) fn of(expr: &Expr) -> Self {
        let known = match expr {
            Expr::Affine(a) => {
                let mut sum = Self::constant(a.constant_part().into());
                for (var, coefficient) in a.terms() {
                    sum = sum.plus(&Self::variable(var.to_string()), coefficient.into());
                }
                Some(sum)
            }
            Expr::Unary(UnaryOp::Neg, e) => Some(Self::default().plus(&Self::of(e), -1)),
            Expr::Binary(BinaryOp::Add, l, r) => Some(Self::of(l).plus(&Self::of(r), 1)),
            Expr::Binary(BinaryOp::Sub, l, r) => Some(Self::of(l).plus(&Self::of(r), -1)),
            Expr::Binary(BinaryOp::Mul, l, r) => Self::of(l).times(&Self::of(r)),
            _ => None,
        };
        known.unwrap_or_else(|| Self::variable(format!("{expr:?}")))
    }

    fn plus(mut self, other: &Self, factor: i128) -> Self {
        for (term, coefficient) in &other.0 {
            let entry = self.0.entry(term.clone()).or_insert(0);
            *entry = entry.saturating_add(coefficient.saturating_mul(factor));
        }
        self.0.retain(|_, c| *c != 0);
        self
    }

    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        if self.0.len().saturating_mul(other.0.len()) > MAX_TERMS {
            return None;
        }
        let mut product = Self::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut term: Vec<String> = left.iter().chain(right).cloned().collect();
                term.sort_unstable();
                product = product.plus(&Self(BTreeMap::from([(term, a.saturating_mul(*b))])), 1);
            }
        }
        Some(product)
    }

    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.0.first_key_value() {
            None => Some(0),
            Some((term, value)) if term.is_empty() && self.0.len() == 1 => Some(*value),
            _ => None,
        }
    }
}

/// Whether two expressions are the same polynomial.
pub(crate) fn are_equal(a: &Expr, b: &Expr) -> bool {
    a == b || Polynomial::of(a) == Polynomial::of(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::{Affine, SymId};

    #[test]
    fn products_are_expanded() {
        let n = || Expr::from(SymId(0));
        let minus = |e, k: i64| Expr::binary(BinaryOp::Sub, e, Expr::from(k));
        let times = |a, b| Expr::binary(BinaryOp::Mul, a, b);
        // (n - 2)² and n·(n - 4) + 4
        let square = times(minus(n(), 2), minus(n(), 2));
        let other = Expr::binary(BinaryOp::Add, times(n(), minus(n(), 4)), Expr::from(4));
        assert!(are_equal(&square, &other));
        assert!(!are_equal(&square, &times(n(), n())));
        assert_eq!(Polynomial::of(&Expr::from(Affine::constant(3))).as_constant(), Some(3));
    }
}

//! Numbers taken apart by quotient and remainder: digits with sizes that only the run knows.

use oxeye_ir::{Affine, BinaryOp, Expr, LoopId};

/// A product: a number, and what it is multiplied with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Product {
    pub(super) number: i64,
    pub(super) factors: Vec<Expr>,
}

/// A loop's variable as digits of a number: `… + digit₂·size₁·size₀ + digit₁·size₀ + digit₀`.
#[derive(Clone, Debug)]
pub(super) struct Digits {
    pub(super) loops: Vec<LoopId>,
    /// From the last digit on, how many values each has; that of the first one is not needed.
    pub(super) sizes: Vec<Product>,
}

/// How long the rows of some memory are. Symbols are called by name: a nest that is lowered again has others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowLength {
    Symbol(String),
    Number(i64),
}

impl Product {
    pub(super) fn of(e: &Expr) -> Product {
        match e {
            Expr::Binary(BinaryOp::Mul, l, r) => Product::of(l).times(Product::of(r)),
            Expr::Affine(a) => {
                let terms: Vec<_> = a.terms().collect();
                match (terms.as_slice(), a.constant_part()) {
                    ([], number) => Product { number, factors: Vec::new() },
                    ([(var, c)], 0) => {
                        let factors = vec![Affine::var(*var).into()];
                        Product { number: *c, factors }
                    }
                    _ => Product { number: 1, factors: vec![e.clone()] },
                }
            }
            e => Product { number: 1, factors: vec![e.clone()] },
        }
    }

    pub(super) fn times(mut self, other: Product) -> Product {
        self.number = self.number.saturating_mul(other.number);
        self.factors.extend(other.factors);
        self
    }

    /// What is left if another product is taken out.
    pub(super) fn without(&self, other: &Product) -> Option<Product> {
        let number = self.number.checked_div(other.number)?;
        let mut left = Product { number, factors: self.factors.clone() };
        for factor in &other.factors {
            let position = left.factors.iter().position(|f| f == factor)?;
            left.factors.remove(position);
        }
        (number.checked_mul(other.number) == Some(self.number)).then_some(left)
    }

    pub(super) fn is_same(&self, other: &Product) -> bool {
        self.without(other).is_some_and(|left| left.number == 1 && left.factors.is_empty())
    }

    pub(super) fn value(&self) -> Expr {
        let number = Expr::from(self.number);
        let mut factors = self.factors.iter().cloned();
        let Some(first) = factors.next() else { return number };
        let product = factors.fold(first, |l, r| Expr::binary(BinaryOp::Mul, l, r));
        if self.number == 1 { product } else { Expr::binary(BinaryOp::Mul, number, product) }
    }
}

impl Digits {
    /// The digits from one position to another, the last one being 0, as a number.
    pub(super) fn value(&self, from: usize, to: usize) -> Expr {
        let mut weight = Product { number: 1, factors: Vec::new() };
        let mut sum = Expr::from(0);
        for k in from..=to {
            let digit = Expr::from(Affine::var(self.loops[k]));
            sum = Expr::binary(BinaryOp::Add, Expr::binary(BinaryOp::Mul, weight.value(), digit), sum);
            if let Some(size) = self.sizes.get(k) {
                weight = weight.times(size.clone());
            }
        }
        sum
    }

    /// `whole / by` and `whole % by`, if the digits are the places of that division.
    pub(super) fn divided(&self, whole: &Expr, by: &Product) -> Option<(Expr, Expr)> {
        let n = self.loops.len();
        for from in 0..n {
            for to in from..n {
                if self.value(from, to) != *whole {
                    continue;
                }
                let mut size = Product { number: 1, factors: Vec::new() };
                for k in from..to {
                    size = size.times(self.sizes[k].clone());
                    if size.is_same(by) {
                        return Some((self.value(k + 1, to), self.value(from, k)));
                    }
                }
            }
        }
        None
    }
}

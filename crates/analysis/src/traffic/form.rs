//! Integer expressions over iterators, in a form that is fast to evaluate.

use std::collections::HashMap;

use crate::counts::binary;
use oxeye_ir::{Affine, BinaryOp, BoundTerm, Expr, LoopId, ScalarType, SymId, UnaryOp, Var};

/// `Σ coefficient · iterator + constant`, with iterators by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) terms: Vec<(usize, i64)>,
    pub(super) constant: i64,
}

impl Linear {
    pub(super) fn value(&self, iterators: &[i64]) -> i64 {
        self.terms.iter().fold(self.constant, |sum, &(slot, coefficient)| {
            sum.wrapping_add(coefficient.wrapping_mul(iterators[slot]))
        })
    }

    pub(super) fn coefficient(&self, slot: usize) -> i64 {
        self.terms.iter().find(|(s, _)| *s == slot).map_or(0, |(_, coefficient)| *coefficient)
    }

    /// `self + factor · other`; `None` on overflow.
    pub(super) fn plus(mut self, other: &Linear, factor: i64) -> Option<Linear> {
        for &(slot, coefficient) in &other.terms {
            let more = coefficient.checked_mul(factor)?;
            match self.terms.iter_mut().find(|(s, _)| *s == slot) {
                Some((_, c)) => *c = c.checked_add(more)?,
                None => self.terms.push((slot, more)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(self)
    }
}

/// One term of a loop bound: `⌈numerator / divisor⌉`, or a formula.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Quotient(Linear, i64),
    Formula(Formula),
}

impl Term {
    fn value(&self, iterators: &[i64]) -> Option<i64> {
        match self {
            Term::Quotient(numerator, 1) => Some(numerator.value(iterators)),
            Term::Quotient(numerator, divisor) => {
                let value = numerator.value(iterators);
                Some(value.div_euclid(*divisor) + i64::from(value.rem_euclid(*divisor) != 0))
            }
            Term::Formula(formula) => formula.value(iterators),
        }
    }

    pub(super) fn uses(&self, slot: usize) -> bool {
        match self {
            Term::Quotient(numerator, _) => numerator.coefficient(slot) != 0,
            Term::Formula(formula) => formula.uses(slot),
        }
    }
}

/// The greatest or least value of the terms; `None` if none has a value.
pub(super) fn extreme(terms: &[Term], iterators: &[i64], choose: fn(i64, i64) -> i64) -> Option<i64> {
    terms.iter().filter_map(|term| term.value(iterators)).reduce(choose)
}

/// An integer expression. Data-dependent parts have no value.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Linear(Linear),
    Unary(UnaryOp, Box<Formula>),
    Binary(BinaryOp, Box<Formula>, Box<Formula>),
    Select(Box<[Formula; 3]>),
    Unknown,
}

impl Formula {
    pub(super) fn value(&self, iterators: &[i64]) -> Option<i64> {
        match self {
            Formula::Linear(linear) => Some(linear.value(iterators)),
            Formula::Unary(op, inner) => {
                let value = inner.value(iterators)?;
                match op {
                    UnaryOp::Neg => value.checked_neg(),
                    UnaryOp::Not => Some(i64::from(value == 0)),
                    UnaryOp::BitNot => Some(!value),
                }
            }
            Formula::Binary(BinaryOp::And, left, right) => {
                match (left.value(iterators), right.value(iterators)) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (Some(_), Some(_)) => Some(1),
                    _ => None,
                }
            }
            Formula::Binary(BinaryOp::Or, left, right) => {
                match (left.value(iterators), right.value(iterators)) {
                    (Some(0), Some(0)) => Some(0),
                    (Some(value), _) | (_, Some(value)) if value != 0 => Some(1),
                    _ => None,
                }
            }
            Formula::Binary(op, left, right) => binary(*op, left.value(iterators)?, right.value(iterators)?),
            Formula::Select(parts) => {
                let [condition, then, otherwise] = &**parts;
                if condition.value(iterators)? != 0 {
                    then.value(iterators)
                } else {
                    otherwise.value(iterators)
                }
            }
            Formula::Unknown => None,
        }
    }

    pub(super) fn uses(&self, slot: usize) -> bool {
        match self {
            Formula::Linear(linear) => linear.coefficient(slot) != 0,
            Formula::Unary(_, inner) => inner.uses(slot),
            Formula::Binary(_, left, right) => left.uses(slot) || right.uses(slot),
            Formula::Select(parts) => parts.iter().any(|part| part.uses(slot)),
            Formula::Unknown => false,
        }
    }

    /// Whether no part depends on data.
    pub(super) fn is_known(&self) -> bool {
        match self {
            Formula::Linear(_) => true,
            Formula::Unary(_, inner) => inner.is_known(),
            Formula::Binary(_, left, right) => left.is_known() && right.is_known(),
            Formula::Select(parts) => parts.iter().all(Formula::is_known),
            Formula::Unknown => false,
        }
    }
}

/// What variables stand for: iterators have slots, other symbols have values.
pub(super) struct Scope<'a> {
    pub(super) loops: HashMap<LoopId, usize>,
    /// Iterators of control loops.
    pub(super) symbols: HashMap<SymId, usize>,
    pub(super) value_of: &'a dyn Fn(SymId) -> Option<i64>,
}

impl Scope<'_> {
    /// `None` if a symbol has no value, or on overflow.
    pub(super) fn linear(&self, affine: &Affine) -> Option<Linear> {
        affine.terms().try_fold(
            Linear { terms: Vec::new(), constant: affine.constant_part() },
            |sum, term| {
                let slot = match term.0 {
                    Var::Loop(id) => Some(*self.loops.get(&id)?),
                    Var::Sym(id) => self.symbols.get(&id).copied(),
                };
                let part = match (slot, term.0) {
                    (Some(slot), _) => Linear { terms: vec![(slot, 1)], constant: 0 },
                    (None, Var::Sym(id)) => Linear { terms: Vec::new(), constant: (self.value_of)(id)? },
                    (None, Var::Loop(_)) => return None,
                };
                sum.plus(&part, term.1)
            },
        )
    }

    pub(super) fn term(&self, term: &BoundTerm) -> Option<Term> {
        match term {
            BoundTerm::Affine { expr, divisor } => {
                Some(Term::Quotient(self.linear(expr)?, (*divisor).max(1)))
            }
            BoundTerm::Data(expr) => {
                let formula = self.formula(expr);
                formula.is_known().then_some(Term::Formula(formula))
            }
            BoundTerm::Open => None,
        }
    }

    /// The expression, as far as it is known without data.
    pub(super) fn formula(&self, expr: &Expr) -> Formula {
        match expr {
            Expr::Affine(affine) => self.linear(affine).map_or(Formula::Unknown, Formula::Linear),
            Expr::Unary(op, inner) => Formula::Unary(*op, Box::new(self.formula(inner))),
            Expr::Binary(op, left, right) => {
                Formula::Binary(*op, Box::new(self.formula(left)), Box::new(self.formula(right)))
            }
            Expr::Select { condition, then, otherwise } => {
                Formula::Select(Box::new([condition, then, otherwise].map(|part| self.formula(part))))
            }
            Expr::Cast(ScalarType::I32 | ScalarType::I64 | ScalarType::U32 | ScalarType::U64, inner) => {
                self.formula(inner)
            }
            Expr::Float { .. } | Expr::Read(_) | Expr::Call { .. } | Expr::Cast(..) => Formula::Unknown,
        }
    }
}

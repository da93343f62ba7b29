//! Integer expressions as linear forms over the variables of a system.

use crate::omega::{Row, System, implies_ge};
use oxeye_ir::{Affine, BinaryOp, Expr, LoopId, ScalarType, SymId, UnaryOp, Var};

/// Which iterator or symbol each variable of a system stands for: the loops around a statement, outermost first, then
/// the symbols of the program in their order. Existential variables follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The loops, outermost first.
    pub loops: Vec<LoopId>,
    /// The symbols.
    pub symbols: Vec<SymId>,
}

impl Space {
    /// The number of loops and symbols together.
    pub fn len(&self) -> usize {
        self.loops.len() + self.symbols.len()
    }

    /// Whether there is neither a loop nor a symbol.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of `var`.
    pub fn index_of(&self, var: Var) -> Option<usize> {
        match var {
            Var::Loop(id) => self.loops.iter().position(|&l| l == id),
            Var::Sym(id) => Some(self.loops.len() + self.symbols.iter().position(|&s| s == id)?),
        }
    }

    /// `affine` over this space; `None` if it uses a variable that is not in the space.
    pub fn row(&self, affine: &Affine) -> Option<Row> {
        let mut row = Row { coeffs: vec![0; self.len()], constant: affine.constant_part() };
        for (var, coeff) in affine.terms() {
            row.coeffs[self.index_of(var)?] = coeff;
        }
        Some(row)
    }
}

/// An index that is the remainder of a value by a length: two of them are equal exactly if their values are a multiple of
/// the length apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// What the index is a remainder of.
    pub value: Row,
    /// The length, which is positive.
    pub length: Row,
}

/// Adds what is known of expressions to a system, with existential variables where an expression is not linear.
/// Whatever cannot be expressed exactly is left out, so the system only ever gains points; `exact` is false then.
pub(crate) struct Encoder<'a> {
    pub(crate) space: &'a Space,
    pub(crate) system: System,
    pub(crate) exact: bool,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(space: &'a Space, system: System) -> Self {
        Self { space, system, exact: true }
    }

    /// The value of an integer expression as a linear form; `None` if nothing is known of it.
    pub(crate) fn value(&mut self, expr: &Expr) -> Option<Row> {
        match expr {
            Expr::Affine(affine) => self.space.row(affine),
            Expr::Unary(UnaryOp::Neg, inner) => scaled(&self.value(inner)?, -1),
            Expr::Cast(ty, inner) => {
                let value = self.value(inner)?;
                match ty {
                    ScalarType::I32 | ScalarType::I64 => Some(value),
                    ScalarType::U32 | ScalarType::U64 if self.proves_ge(&value) => Some(value),
                    _ => None,
                }
            }
            Expr::Binary(op, left, right) => match op {
                BinaryOp::Min | BinaryOp::Max => self.piecewise(expr),
                _ => {
                    let left = self.value(left)?;
                    let right = self.value(right)?;
                    self.arithmetic(*op, &left, &right)
                }
            },
            Expr::Select { .. } => self.piecewise(expr),
            Expr::Float { .. } | Expr::Read(_) | Expr::Unary(..) | Expr::Call { .. } => None,
        }
    }

    /// Requires that `condition` is non-zero (`holds`) or zero.
    pub(crate) fn assume(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.assume(inner, !holds),
            Expr::Binary(BinaryOp::And, left, right) if holds => {
                self.assume(left, true);
                self.assume(right, true);
            }
            Expr::Binary(BinaryOp::Or, left, right) if !holds => {
                self.assume(left, false);
                self.assume(right, false);
            }
            Expr::Binary(op, left, right) if is_comparison(*op) => {
                match (self.value(left), self.value(right)) {
                    (Some(left), Some(right)) => self.compare(*op, holds, &left, &right),
                    _ => self.exact = false,
                }
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => self.exact = false,
            _ => match self.value(condition) {
                Some(value) => {
                    let op = if holds { BinaryOp::Ne } else { BinaryOp::Eq };
                    self.compare(op, true, &value, &Row::default());
                }
                None => self.exact = false,
            },
        }
    }

    /// Requires `row >= 0`.
    pub(crate) fn require_ge(&mut self, row: Row) {
        self.system.add_ge_row(row);
    }

    fn compare(&mut self, op: BinaryOp, holds: bool, left: &Row, right: &Row) {
        let op = if holds { op } else { negated(op) };
        let (Some(more), Some(less)) = (difference(left, right), difference(right, left)) else {
            self.exact = false;
            return;
        };
        let above = |row: Row| offset(row, -1);
        let required = match op {
            BinaryOp::Lt => above(less),
            BinaryOp::Le => Some(less),
            BinaryOp::Gt => above(more),
            BinaryOp::Ge => Some(more),
            BinaryOp::Eq => {
                self.system.add_eq_row(more);
                return;
            }
            _ if self.proves_ge(&more) => above(more),
            _ if self.proves_ge(&less) => above(less),
            _ => None,
        };
        match required {
            Some(row) => self.system.add_ge_row(row),
            None => self.exact = false,
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: &Row, right: &Row) -> Option<Row> {
        let factor = right.is_constant().then_some(right.constant);
        match (op, factor) {
            (BinaryOp::Add, _) => added(left, 1, right, 1),
            (BinaryOp::Sub, _) => difference(left, right),
            (BinaryOp::Mul, Some(factor)) => scaled(left, factor),
            (BinaryOp::Mul, None) if left.is_constant() => scaled(right, left.constant),
            (BinaryOp::Shl, Some(shift @ 0..=31)) => scaled(left, 1 << shift),
            (BinaryOp::Shr, Some(shift @ 0..=31)) => self.floor_division(left, 1 << shift),
            (BinaryOp::BitAnd, Some(mask)) if (0..i64::MAX).contains(&mask) && (mask + 1) & mask == 0 => {
                let quotient = self.floor_division(left, mask + 1)?;
                added(left, 1, &quotient, -(mask + 1))
            }
            (BinaryOp::Div, Some(divisor)) => self.truncated_division(left, divisor),
            (BinaryOp::Rem, Some(divisor)) => {
                let quotient = self.truncated_division(left, divisor)?;
                added(left, 1, &quotient, divisor.checked_neg()?)
            }
            (BinaryOp::Rem, None) => self.remainder(left, right),
            _ => None,
        }
    }

    /// `value % divisor` of symbols: a variable in its range, or the value where that is less than the divisor.
    fn remainder(&mut self, value: &Row, divisor: &Row) -> Option<Row> {
        if !self.proves_ge(value) || !self.proves_ge(&offset(divisor.clone(), -1)?) {
            return None;
        }
        if self.proves_ge(&offset(difference(divisor, value)?, -1)?) {
            return Some(value.clone());
        }
        self.exact = false;
        let rest = self.fresh();
        self.system.add_ge_row(rest.clone());
        self.system.add_ge_row(offset(difference(divisor, &rest)?, -1)?);
        self.system.add_ge_row(difference(value, &rest)?);
        Some(rest)
    }

    /// What an index on a ring is the remainder of: `value % length`, or `value == 0 ? length - 1 : value - 1`, whose two
    /// sides are a length apart. `None` for others.
    pub(crate) fn ring(&mut self, index: &Expr) -> Option<Ring> {
        let (mark, exact) = (self.system.mark(), self.exact);
        let found = match index {
            Expr::Cast(ScalarType::I32 | ScalarType::I64, inner) => self.ring(inner),
            Expr::Binary(BinaryOp::Rem, value, length) => {
                let pair = self.value(value).zip(self.value(length));
                pair.map(|(value, length)| Ring { value, length }).filter(|ring| {
                    let first = offset(ring.length.clone(), -1);
                    self.proves_ge(&ring.value) && first.is_some_and(|row| self.proves_ge(&row))
                })
            }
            Expr::Select { then, otherwise, .. } => {
                let sides = self.value(then).zip(self.value(otherwise));
                sides.and_then(|(then, otherwise)| {
                    let apart = [difference(&then, &otherwise)?, difference(&otherwise, &then)?];
                    let length = apart
                        .into_iter()
                        .find(|row| offset(row.clone(), -1).is_some_and(|row| self.proves_ge(&row)))?;
                    let last = offset(length.clone(), -1)?;
                    let is_inside = self.choices_bounded(index, 1, &Row::default())
                        && self.choices_bounded(index, -1, &last);
                    is_inside.then_some(Ring { value: then, length })
                })
            }
            _ => None,
        };
        let is_over_domain = |row: &Row| row.terms().all(|(var, _)| var < self.space.len());
        let found = found.filter(|ring| is_over_domain(&ring.value) && is_over_domain(&ring.length));
        self.system.rollback(mark);
        self.exact = exact;
        found
    }

    /// `value / divisor`, rounded towards zero.
    fn truncated_division(&mut self, value: &Row, divisor: i64) -> Option<Row> {
        if divisor == 0 {
            return None;
        }
        let size = divisor.checked_abs()?;
        let negative = scaled(value, -1)?;
        let quotient = if self.proves_ge(value) {
            self.floor_division(value, size)?
        } else if self.proves_ge(&negative) {
            let quotient = self.floor_division(&negative, size)?;
            scaled(&quotient, -1)?
        } else {
            // Covers both roundings: |size * quotient - value| < size.
            self.exact = false;
            let quotient = self.fresh();
            let rest = added(value, 1, &quotient, size.checked_neg()?)?;
            self.system.add_ge_row(offset(rest.clone(), size - 1)?);
            self.system.add_ge_row(offset(scaled(&rest, -1)?, size - 1)?);
            quotient
        };
        scaled(&quotient, divisor.signum())
    }

    /// `value / divisor`, rounded down, for a positive divisor.
    fn floor_division(&mut self, value: &Row, divisor: i64) -> Option<Row> {
        let quotient = self.fresh();
        let rest = added(value, 1, &quotient, divisor.checked_neg()?)?;
        self.system.add_ge_row(offset(scaled(&rest, -1)?, divisor - 1)?);
        self.system.add_ge_row(rest);
        Some(quotient)
    }

    /// The value of a choice between expressions: a variable within the bounds that hold for both sides.
    fn piecewise(&mut self, expr: &Expr) -> Option<Row> {
        let mut leaves = Vec::new();
        collect_leaves(expr, &mut leaves);
        let candidates: Vec<Row> = leaves.into_iter().filter_map(|leaf| self.value(leaf)).collect();
        let value = self.fresh();
        let mut pinned = false;
        for candidate in &candidates {
            let mut both = true;
            for sign in [1, -1] {
                if self.choices_bounded(expr, sign, candidate) {
                    self.system.add_ge_row(added(&value, sign, candidate, -sign)?);
                } else {
                    both = false;
                }
            }
            pinned |= both;
        }
        self.exact &= pinned;
        Some(value)
    }

    /// Whether `sign * (expr - candidate) >= 0`, whichever side of each choice is taken.
    fn choices_bounded(&mut self, expr: &Expr, sign: i64, candidate: &Row) -> bool {
        let Some((condition, then, otherwise)) = as_choice(expr) else {
            let (mark, exact) = (self.system.mark(), self.exact);
            let value = self.value(expr).and_then(|value| added(&value, sign, candidate, -sign));
            let answer = value.is_some_and(|row| self.proves_ge(&row));
            self.system.rollback(mark);
            self.exact = exact;
            return answer;
        };
        [(then, true), (otherwise, false)].into_iter().all(|(side, holds)| {
            let (mark, exact) = (self.system.mark(), self.exact);
            self.assume(&condition, holds);
            let answer = self.choices_bounded(side, sign, candidate);
            self.system.rollback(mark);
            self.exact = exact;
            answer
        })
    }

    fn proves_ge(&self, row: &Row) -> bool {
        let terms: Vec<_> = row.terms().collect();
        implies_ge(&self.system, &terms, row.constant)
    }

    pub(crate) fn fresh(&mut self) -> Row {
        let var = self.system.add_var();
        let mut coeffs = vec![0; var + 1];
        coeffs[var] = 1;
        Row { coeffs, constant: 0 }
    }
}

fn collect_leaves<'e>(expr: &'e Expr, leaves: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, left, right) => {
            collect_leaves(left, leaves);
            collect_leaves(right, leaves);
        }
        Expr::Select { then, otherwise, .. } => {
            collect_leaves(then, leaves);
            collect_leaves(otherwise, leaves);
        }
        _ => leaves.push(expr),
    }
}

/// Minimum, maximum or selection as `condition ? then : otherwise`.
fn as_choice(expr: &Expr) -> Option<(Expr, &Expr, &Expr)> {
    match expr {
        Expr::Select { condition, then, otherwise } => Some(((**condition).clone(), then, otherwise)),
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), left, right) => {
            let op = if *op == BinaryOp::Min { BinaryOp::Lt } else { BinaryOp::Gt };
            Some((Expr::Binary(op, left.clone(), right.clone()), left, right))
        }
        _ => None,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Lt | Le | Gt | Ge | Eq | Ne)
}

fn negated(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        other => other,
    }
}

/// `p * left + q * right`; `None` on overflow.
pub(crate) fn added(left: &Row, p: i64, right: &Row, q: i64) -> Option<Row> {
    let len = left.coeffs.len().max(right.coeffs.len());
    let sum = |x: i64, y: i64| p.checked_mul(x)?.checked_add(q.checked_mul(y)?);
    let coeffs = (0..len).map(|var| sum(left.coeff(var), right.coeff(var))).collect::<Option<_>>()?;
    Some(Row { coeffs, constant: sum(left.constant, right.constant)? })
}

pub(crate) fn difference(left: &Row, right: &Row) -> Option<Row> {
    added(left, 1, right, -1)
}

pub(crate) fn scaled(row: &Row, factor: i64) -> Option<Row> {
    added(row, factor, &Row::default(), 0)
}

pub(crate) fn offset(mut row: Row, value: i64) -> Option<Row> {
    row.constant = row.constant.checked_add(value)?;
    Some(row)
}

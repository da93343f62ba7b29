//! Integer expressions without C's conversions, where these do not matter.

use super::access::has_wide_cast;
use super::lowerer::Lowerer;
use super::value::{Value, common, is_comparison, wraps};
use crate::arithmetic::widen;
use oxeye_ir::{Affine, BinaryOp, BoundTerm, Expr, Nest, Program, ScalarType, SymId, UnaryOp, Var};
use std::collections::BTreeSet;

/// Assumptions about unsigned arithmetic. Sums and products of counters and sizes are assumed to stay below the limits of their
/// type, once it is tested that no size is a negative number in disguise; those with great constants, of values in memory, or
/// whose quotients and remainders are taken are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Values must be the same.
    Exact,
    /// Values modulo 2⁶⁴ must be the same: pointer arithmetic, conversion to `long`.
    Index,
    /// Values modulo 2³² must be the same: conversion to `int`, whose result is assumed to fit.
    Narrow,
    /// As `Exact`, but a 64-bit limit that wraps means an endless loop, so its value is arbitrary.
    Limit,
}

impl Lowerer<'_> {
    pub(crate) fn exact(&self, e: &Expr) -> Option<Expr> {
        self.stripped(e, Mode::Exact)
    }

    /// Converted to the type of the comparison.
    pub(crate) fn compared(&self, value: &Value, ty: ScalarType) -> Expr {
        if wraps(ty) && value.ty != ty { Expr::Cast(ty, Box::new(value.e.clone())) } else { value.e.clone() }
    }

    /// An index.
    pub(crate) fn index(&mut self, value: Value) -> Expr {
        match self.stripped(&value.e, Mode::Index) {
            Some(e) => self.with_quotients_before(e, false),
            None => value.e,
        }
    }

    /// An expression that was stripped of conversions, with its products in 64 bits if the source has them so.
    pub(super) fn in_its_width(&self, mut e: Expr, source: &Expr) -> Expr {
        if e.as_affine().is_none() && has_wide_cast(source) {
            widen(&mut e);
        }
        e
    }

    pub(super) fn is_non_negative(&self, e: &Expr) -> bool {
        match e {
            Expr::Affine(a) => self.facts.prove_non_negative(a),
            // The greatest 64-bit numbers are negative ones in disguise.
            Expr::Cast(ScalarType::I64, inner) => {
                self.natural(inner) == ScalarType::U32 || self.is_non_negative(inner)
            }
            Expr::Binary(
                BinaryOp::Add | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Min,
                l,
                r,
            ) => self.is_non_negative(l) && self.is_non_negative(r),
            Expr::Binary(BinaryOp::Max, l, r) => self.is_non_negative(l) || self.is_non_negative(r),
            Expr::Binary(op, ..) => is_comparison(*op),
            Expr::Select { then, otherwise, .. } => {
                self.is_non_negative(then) && self.is_non_negative(otherwise)
            }
            _ => false,
        }
    }

    /// Whether a sum of products is provably not above `most`, or its factors are below `great` and none is a value in memory,
    /// so that it is not made to wrap around.
    fn stays_below(&self, e: &Expr, most: i64, great: i64) -> bool {
        let mut is_plain = true;
        e.visit(&mut |e| match e {
            Expr::Affine(a) if a.as_constant().is_some_and(|c| (0..=most).contains(&c)) => {}
            Expr::Affine(a) => {
                let constants = a.terms().map(|(_, c)| c).chain([a.constant_part()]);
                is_plain &= constants.into_iter().all(|c| c.saturating_abs() < great);
            }
            // Numbers in memory may be of any size.
            Expr::Read(_) => {
                let ty = self.natural(e);
                let is_wide = matches!(ty, ScalarType::U64 | ScalarType::I64);
                is_plain &= !(is_wide || ty == ScalarType::U32 && most <= u32::MAX.into());
            }
            Expr::Binary(BinaryOp::Mul, l, r) => {
                let is_great = |e: &Expr| {
                    let mut e = e;
                    while let Expr::Cast(_, inner) = e {
                        e = inner;
                    }
                    e.as_affine().and_then(Affine::as_constant).is_some_and(|c| c.saturating_abs() >= great)
                };
                is_plain &= ![l, r].into_iter().any(|e| is_great(e) || !e.reads().is_empty());
            }
            _ => {}
        });
        let is_proved = || {
            e.as_affine()
                .is_some_and(|a| self.facts.prove_non_negative(&(Affine::constant(most) - a.clone())))
        };
        is_plain || is_proved()
    }

    /// A signed integer expression of the same value; `None` if that cannot be proved.
    pub(crate) fn stripped(&self, e: &Expr, mode: Mode) -> Option<Expr> {
        match e {
            Expr::Affine(_) => Some(e.clone()),
            Expr::Cast(to, inner) => self.stripped_cast(e, *to, inner, mode),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), l, r) => {
                let ty = common(self.natural(l), self.natural(r));
                if ty.is_float() {
                    return None;
                }
                // Inside a product or a 64-bit sum, wrapping of the parts is still wrapping of the whole.
                let inner = if ty == ScalarType::U32 && mode != Mode::Narrow { Mode::Exact } else { mode };
                let result = Expr::binary(*op, self.stripped(l, inner)?, self.stripped(r, inner)?);
                let is_fine = match ty {
                    ScalarType::U32 => {
                        let most = if mode == Mode::Narrow { i32::MAX.into() } else { u32::MAX.into() };
                        (mode == Mode::Narrow || self.is_non_negative(&result))
                            && self.stays_below(&result, most, 1 << 16)
                    }
                    ScalarType::U64 if mode == Mode::Exact => {
                        self.is_non_negative(&result) && self.stays_below(&result, i64::MAX, 1 << 32)
                    }
                    _ => true,
                };
                is_fine.then_some(result)
            }
            Expr::Binary(op, ..) if is_comparison(*op) => Some(e.clone()),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => Some(e.clone()),
            Expr::Binary(op, l, r) => {
                let ty = common(self.natural(l), self.natural(r));
                if ty.is_float() {
                    return None;
                }
                let (l, r) = (self.exact(l)?, self.exact(r)?);
                if wraps(ty) && !(self.is_non_negative(&l) && self.is_non_negative(&r)) {
                    return None;
                }
                if ty == ScalarType::U32 {
                    let most = u32::MAX.into();
                    let is_exact = |e: &Expr| !has_product(e) && self.stays_below(e, most, 64);
                    if !(is_exact(&l) && is_exact(&r)) {
                        return None;
                    }
                }
                Some(Expr::Binary(*op, Box::new(l), Box::new(r)))
            }
            Expr::Select { condition, then, otherwise } => {
                let ty = self.natural(e);
                if ty.is_float() {
                    return None;
                }
                let (then, otherwise) = (self.exact(then)?, self.exact(otherwise)?);
                if wraps(ty) && !(self.is_non_negative(&then) && self.is_non_negative(&otherwise)) {
                    return None;
                }
                let (condition, then, otherwise) = (condition.clone(), Box::new(then), Box::new(otherwise));
                Some(Expr::Select { condition, then, otherwise })
            }
            Expr::Unary(UnaryOp::Neg, inner) if !wraps(self.natural(inner)) => {
                Some(Expr::unary(UnaryOp::Neg, self.stripped(inner, mode)?))
            }
            Expr::Read(_) => match self.natural(e) {
                ty if ty.is_float() => None,
                ScalarType::U32 | ScalarType::U64 => Some(Expr::Cast(ScalarType::I64, Box::new(e.clone()))),
                _ => Some(e.clone()),
            },
            Expr::Unary(..) | Expr::Call { .. } => {
                let ty = self.natural(e);
                (!ty.is_float() && !wraps(ty)).then(|| e.clone())
            }
            Expr::Float { .. } => None,
        }
    }

    /// Tests before the nest that sums and products of 32 unsigned bits in the end of a loop do not wrap around, where that is fixed
    /// then: `u * 8`, `u * v`.
    pub(super) fn keeps_within_unsigned(&mut self, end: &Expr) {
        let mut parts = Vec::new();
        end.visit(&mut |e| {
            if self.natural(e) != ScalarType::U32 {
                return;
            }
            match e {
                Expr::Affine(a) if a.terms().map(|(_, c)| c.max(0)).sum::<i64>() > 1 => parts.push(e.clone()),
                Expr::Binary(BinaryOp::Mul, ..) => parts.extend(self.exact(e)),
                Expr::Binary(BinaryOp::Shl, l, r) => {
                    let bits = r.as_affine().and_then(Affine::as_constant);
                    let unit = bits.filter(|bits| (0..32).contains(bits)).map(|bits| Expr::from(1 << bits));
                    let product =
                        self.exact(l).zip(unit).map(|(l, unit)| Expr::binary(BinaryOp::Mul, l, unit));
                    parts.extend(product);
                }
                _ => {}
            }
        });
        for part in parts.iter().filter(|part| part.reads().is_empty()) {
            self.is_at_most(part, u32::MAX.into());
        }
    }

    /// Tests before the nest that a difference of 32 unsigned bits in the end of a loop is not negative, where that is fixed then:
    /// `p - 1`.
    pub(super) fn does_not_pass_zero(&mut self, end: &Expr) {
        if self.natural(end) != ScalarType::U32 || self.exact(end).is_some() {
            return;
        }
        let difference = self.stripped(end, Mode::Narrow);
        if let Some(a) = difference.as_ref().and_then(Expr::as_affine).filter(|a| a.as_constant().is_none()) {
            self.is_at_least(a, 0);
        }
    }

    /// Whether this is an unsigned iterator minus something.
    fn is_less_than_own(&self, e: &Expr) -> bool {
        let Some(a) = e.as_affine().filter(|a| a.constant_part() <= 0) else { return false };
        let terms: Vec<(Var, i64)> = a.terms().collect();
        match terms.as_slice() {
            [(Var::Loop(id), 1)] => self.loop_types.get(id) == Some(&ScalarType::U32),
            _ => false,
        }
    }

    /// Whether a number that may not fit into an `int` is read from memory.
    fn reads_wide(&self, e: &Expr) -> bool {
        let mut found = false;
        e.visit(&mut |e| {
            use ScalarType::{I64, U32, U64};
            found |= matches!(e, Expr::Read(_)) && matches!(self.natural(e), I64 | U32 | U64);
        });
        found
    }

    fn stripped_cast(&self, e: &Expr, to: ScalarType, inner: &Expr, mode: Mode) -> Option<Expr> {
        let from = self.natural(inner);
        if to.is_float() {
            return None;
        }
        if from.is_float() {
            return (!wraps(to)).then(|| e.clone());
        }
        match to {
            ScalarType::I64 => self.stripped(inner, mode),
            ScalarType::U64 => {
                let value = self.stripped(inner, mode)?;
                let is_fine = mode != Mode::Exact || wraps(from) || self.is_non_negative(&value);
                is_fine.then_some(value)
            }
            ScalarType::U32 | ScalarType::I32 if mode == Mode::Narrow => self.stripped(inner, mode),
            ScalarType::U32 => {
                let value = self.exact(inner)?;
                let is_fine = match value.as_affine().and_then(Affine::as_constant) {
                    Some(c) => u32::try_from(c).is_ok(),
                    // A 32-bit iterator or symbol is an affine expression in a cast to its own type.
                    None => {
                        let is_own = matches!(inner, Expr::Affine(a) if a.as_var().is_some());
                        (is_own || from.bytes() <= 4 || self.is_less_than_own(inner))
                            && self.is_non_negative(&value)
                    }
                };
                is_fine.then_some(value)
            }
            ScalarType::I32 if from.bytes() <= 4 && from != ScalarType::U32 => self.stripped(inner, mode),
            // Only of counters and sizes it is assumed that they fit.
            ScalarType::I32 if self.reads_wide(inner) => Some(e.clone()),
            ScalarType::I32 => Some(self.stripped(inner, Mode::Narrow).unwrap_or_else(|| e.clone())),
            _ => Some(e.clone()),
        }
    }
}

/// Whether variables are multiplied with each other.
fn has_product(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= matches!(e, Expr::Binary(BinaryOp::Mul, ..)));
    found
}

/// Tests that unsigned symbols in sums are no negative numbers in disguise (`n + m` for `m = -1`): without such, what
/// `Lowerer::stays_below` takes to be small enough does not wrap around. Where quotients are taken, 64-bit ones are none either,
/// and no symbol is that is `counted` with before the nest. What other `tests` say is not said again.
pub(crate) fn disguised(
    program: &Program,
    nest: &Nest,
    counted: &BTreeSet<SymId>,
    tests: &[Expr],
) -> Vec<Expr> {
    let symbol = |(var, _): (Var, i64)| match var {
        Var::Sym(id) => Some(id),
        Var::Loop(_) => None,
    };
    let mut found = counted.clone();
    nest.visit_affine(&mut |a| {
        if a.terms().count() > 1 {
            found.extend(a.terms().filter_map(symbol));
        }
    });
    let mut divided = counted.clone();
    for term in nest.loops().into_iter().flat_map(|l| l.lower.0.iter().chain(&l.upper.0)) {
        if let BoundTerm::Affine { expr, divisor: 2.. } = term {
            divided.extend(expr.terms().filter_map(symbol));
        }
    }
    nest.visit_exprs(&mut |e| {
        if let Expr::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr, l, _) = e {
            l.visit(&mut |e| {
                divided.extend(e.as_affine().into_iter().flat_map(Affine::terms).filter_map(symbol));
            });
        }
    });
    let is_of = |id: &SymId, ty| program.symbols.get(id).is_some_and(|s| s.ty == ty);
    let test =
        |op, id: SymId, end: i64| Expr::Binary(op, Box::new(Expr::from(id)), Box::new(Expr::from(end)));
    let narrow = found
        .iter()
        .filter(|id| is_of(id, ScalarType::U32))
        .map(|id| test(BinaryOp::Le, *id, i32::MAX.into()));
    let is_tested = |id: &SymId| {
        let is_least = |e: &Expr| e.as_affine().and_then(Affine::as_constant) >= Some(0);
        tests.iter().any(
            |test| matches!(test, Expr::Binary(BinaryOp::Ge, l, r) if **l == Expr::from(*id) && is_least(r)),
        )
    };
    let is_doubtful = |id: &&SymId| is_of(id, ScalarType::U64) && !is_tested(id);
    let wide = divided.iter().filter(is_doubtful).map(|id| test(BinaryOp::Ge, *id, 0));
    narrow.chain(wide).collect()
}

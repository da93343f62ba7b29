//! Parts of subscripts that are no sums, such as `(i + 1) % n`, `i == 0 ? n - 1 : i - 1` and `row[k]`: while a subscript is
//! taken apart, an iterator stands for each of them, and what it can be is found out where it stands.

use crate::polynomial::{Polynomial, polynomial};
use crate::prove::Facts;
use oxeye_ir::{Affine, ArrayId, BinaryOp, Constraint, Expr, LoopId, ScalarType, UnaryOp, Var};

/// Most parts for one array.
const MOST: usize = 24;

/// The parts of all subscripts of an array.
#[derive(Default)]
pub(crate) struct StandIns(Vec<Expr>);

/// No loop has these ids.
fn iterator_for(part: usize) -> LoopId {
    LoopId(u32::MAX - part as u32)
}

impl StandIns {
    /// A subscript of `array` as a sum of products, with stand-ins for its parts.
    pub(crate) fn enter(
        &mut self,
        e: &Expr,
        array: ArrayId,
        of: &dyn Fn(ArrayId) -> ScalarType,
    ) -> Option<Polynomial> {
        polynomial(e, &mut |part| {
            // Accesses to the array are met in one order before and after it has dimensions.
            if part.reads().iter().any(|access| access.array == array) || !is_signed(part, of) {
                return None;
            }
            let known = self.0.iter().position(|known| known == part);
            let k = known.unwrap_or_else(|| {
                self.0.push(part.clone());
                self.0.len() - 1
            });
            (k < MOST).then(|| Var::Loop(iterator_for(k)))
        })
    }

    /// A sum with the parts themselves in it again.
    pub(crate) fn leave(&self, mut sum: Affine) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        for (k, part) in self.0.iter().enumerate() {
            let factor = sum.coefficient(iterator_for(k));
            sum = sum - Affine::term(iterator_for(k), factor);
            match factor {
                0 => {}
                1 => parts.push(part.clone()),
                _ => parts.push(Expr::Binary(
                    BinaryOp::Mul,
                    Box::new(Expr::from(factor)),
                    Box::new(part.clone()),
                )),
            }
        }
        let is_nothing = sum.as_constant() == Some(0) && !parts.is_empty();
        let rest = (!is_nothing).then(|| Expr::from(sum));
        let all = parts.into_iter().chain(rest);
        all.reduce(|l, r| Expr::Binary(BinaryOp::Add, Box::new(l), Box::new(r)))
            .unwrap_or_else(|| Expr::from(0))
    }

    /// The stand-ins in a subscript with their first and last values, where these can be told; `facts` learn them. `known` says what
    /// scalars hold.
    pub(crate) fn bounds(
        &self,
        p: &Polynomial,
        facts: &mut Facts,
        known: &dyn Fn(&Expr) -> Option<Expr>,
        extreme: &dyn Fn(&Affine, bool) -> Option<Affine>,
    ) -> Vec<(LoopId, (Affine, Affine))> {
        let mut found = Vec::new();
        for (k, part) in self.0.iter().enumerate() {
            let iterator = iterator_for(k);
            if !p.keys().flatten().any(|var| *var == Var::Loop(iterator)) {
                continue;
            }
            let part = &known(part).unwrap_or_else(|| part.clone());
            let least = limits(part, true, extreme).into_iter().find(|at| is_beyond(part, at, true, facts));
            let most = limits(part, false, extreme).into_iter().find(|at| is_beyond(part, at, false, facts));
            if let (Some(least), Some(most)) = (least, most) {
                facts.push(Constraint::ge(Affine::var(iterator), least.clone()));
                facts.push(Constraint::ge(most.clone(), Affine::var(iterator)));
                found.push((iterator, (least, most)));
            }
        }
        found
    }
}

/// Whether the value is of a type whose products do not wrap around.
fn is_signed(e: &Expr, of: &dyn Fn(ArrayId) -> ScalarType) -> bool {
    use ScalarType::{I8, I16, I32, I64, U8, U16};
    match e {
        Expr::Affine(_) | Expr::Unary(UnaryOp::Not, _) | Expr::Cast(I32 | I64, _) => true,
        Expr::Read(access) => matches!(of(access.array), I8 | I16 | I32 | I64 | U8 | U16),
        Expr::Binary(op, l, r) => {
            let is_arithmetic = matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::BitAnd
                    | BinaryOp::Min
                    | BinaryOp::Max
            );
            is_arithmetic && is_signed(l, of) && is_signed(r, of)
        }
        Expr::Select { then, otherwise, .. } => is_signed(then, of) && is_signed(otherwise, of),
        _ => false,
    }
}

/// What a part might never be less than (`is_low`), or never greater than, the narrowest first.
fn limits(e: &Expr, is_low: bool, extreme: &dyn Fn(&Affine, bool) -> Option<Affine>) -> Vec<Affine> {
    let mut found: Vec<Affine> = match e {
        Expr::Affine(a) => extreme(a, is_low).into_iter().collect(),
        Expr::Cast(ScalarType::I64, inner) => limits(inner, is_low, extreme),
        Expr::Binary(BinaryOp::Rem, _, r) => match (is_low, r.as_affine()) {
            (false, Some(r)) => vec![r.clone().offset(-1)],
            _ => Vec::new(),
        },
        Expr::Binary(BinaryOp::BitAnd, _, mask) if !is_low => mask.as_affine().cloned().into_iter().collect(),
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, l, r) => {
            [l, r].into_iter().flat_map(|e| limits(e, is_low, extreme)).collect()
        }
        Expr::Select { condition, then, otherwise } => {
            // A condition may take away the last value: `i == n - 1 ? 0 : i + 1`.
            let inward = if is_low { 1 } else { -1 };
            let at_ends = at_ends(condition, then, otherwise);
            let all = at_ends.iter().chain([&**then, &**otherwise]);
            let both = all.flat_map(|e| limits(e, is_low, extreme));
            both.flat_map(|limit| [limit.clone().offset(inward), limit]).collect()
        }
        _ => Vec::new(),
    };
    if is_low {
        found.insert(0, Affine::constant(0));
    }
    found
}

/// The sides of a choice at the first or last value for which they are chosen.
fn at_ends(condition: &Expr, then: &Expr, otherwise: &Expr) -> Vec<Expr> {
    let Expr::Binary(op, l, r) = condition else { return Vec::new() };
    let (Some(l), Some(r)) = (l.as_affine(), r.as_affine()) else { return Vec::new() };
    let ends: &[(&Expr, i64)] = match op {
        BinaryOp::Lt => &[(then, -1), (otherwise, 0)],
        BinaryOp::Le => &[(then, 0), (otherwise, 1)],
        BinaryOp::Gt => &[(then, 1), (otherwise, 0)],
        BinaryOp::Ge => &[(then, 0), (otherwise, -1)],
        BinaryOp::Eq => &[(then, 0)],
        BinaryOp::Ne => &[(otherwise, 0)],
        _ => &[],
    };
    let distance = l.clone() - r.clone();
    ends.iter().filter_map(|(e, apart)| with_zero(e.as_affine()?, &distance.clone().offset(-apart))).collect()
}

/// An expression where `zero` is 0, with one variable less.
fn with_zero(e: &Affine, zero: &Affine) -> Option<Expr> {
    let (of, factor) = zero.terms().find(|(v, c)| matches!(v, Var::Loop(_)) && c.abs() == 1)?;
    let value = Affine::var(of) - zero.scaled(factor);
    Some(Expr::from(e.substitute(&|v| (v == of).then(|| value.clone()))))
}

/// Whether `e` is provably never less than `limit` (`is_low`), or never greater.
fn is_beyond(e: &Expr, limit: &Affine, is_low: bool, facts: &Facts) -> bool {
    let proves = |great: &Affine, small: &Affine| facts.prove_non_negative(&(great.clone() - small.clone()));
    match e {
        Expr::Affine(a) if is_low => proves(a, limit),
        Expr::Affine(a) => proves(limit, a),
        Expr::Cast(ScalarType::I64, inner) => is_beyond(inner, limit, is_low, facts),
        // As in C, the remainder has the sign of what is divided.
        Expr::Binary(BinaryOp::Rem, l, r) => {
            let zero = Affine::constant(0);
            let divisor = r.as_affine().filter(|r| proves(r, &Affine::constant(1)));
            divisor.is_some_and(|r| match is_low {
                true => proves(&zero, limit) && is_beyond(l, &zero, true, facts),
                false => proves(limit, &r.clone().offset(-1)),
            })
        }
        // The bits of a mask that is not negative.
        Expr::Binary(BinaryOp::BitAnd, _, mask) => {
            let mask = mask.as_affine().filter(|mask| mask.as_constant().is_some_and(|mask| mask >= 0));
            mask.is_some_and(
                |mask| if is_low { proves(&Affine::constant(0), limit) } else { proves(limit, mask) },
            )
        }
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), l, r) => {
            let (l, r) = (is_beyond(l, limit, is_low, facts), is_beyond(r, limit, is_low, facts));
            if (*op == BinaryOp::Max) == is_low { l || r } else { l && r }
        }
        Expr::Select { condition, then, otherwise } => {
            [(then, true), (otherwise, false)].into_iter().all(|(e, holds)| {
                let mut facts = facts.clone();
                facts.push_choice(condition, holds);
                is_beyond(e, limit, is_low, &facts)
            })
        }
        _ => false,
    }
}

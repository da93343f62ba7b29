//! C values: expressions with their types, and their properties that do not depend on context.

pub(super) use crate::arithmetic::{common, promoted};
use oxeye_ir::{Affine, BinaryOp, Expr, ScalarType};

/// An expression; the type it has in the IR is the type it has in C.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) e: Expr,
    pub(crate) ty: ScalarType,
}

pub(super) fn is_unsigned(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64)
}

/// Whether arithmetic in this type wraps: an unsigned type that is not promoted to `int`.
pub(super) fn wraps(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::U32 | ScalarType::U64)
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Lt | Le | Gt | Ge | Eq | Ne)
}

/// The value, if it is an integer constant of any type.
pub(super) fn constant(value: &Value) -> Option<i64> {
    match &value.e {
        Expr::Cast(ty, inner) if !ty.is_float() => {
            let value = inner.as_affine()?.as_constant()?;
            fits(value, *ty).then_some(value)
        }
        e => e.as_affine()?.as_constant(),
    }
}

fn fits(value: i64, ty: ScalarType) -> bool {
    match ty {
        ScalarType::I8 => i8::try_from(value).is_ok(),
        ScalarType::U8 => u8::try_from(value).is_ok(),
        ScalarType::I16 => i16::try_from(value).is_ok(),
        ScalarType::U16 => u16::try_from(value).is_ok(),
        ScalarType::I32 => i32::try_from(value).is_ok(),
        ScalarType::U32 => u32::try_from(value).is_ok(),
        ScalarType::U64 => value >= 0,
        _ => true,
    }
}

/// An integer operation on constants; the flag says that the result is a truth value.
pub(super) fn fold(op: BinaryOp, a: i64, b: i64, ty: ScalarType) -> Option<(i64, bool)> {
    use BinaryOp::*;
    if !fits(a, ty) || !fits(b, ty) {
        return None;
    }
    let shift = u32::try_from(b).ok().filter(|s| *s < 31);
    let value = match op {
        Add => a.checked_add(b)?,
        Sub => a.checked_sub(b)?,
        Mul => a.checked_mul(b)?,
        Div => a.checked_div(b)?,
        Rem => a.checked_rem(b)?,
        Shl if a >= 0 => a.checked_mul(1i64 << shift?)?,
        Shr if a >= 0 => a >> shift?,
        BitAnd => a & b,
        BitOr => a | b,
        BitXor => a ^ b,
        Min => a.min(b),
        Max => a.max(b),
        Lt => return Some((i64::from(a < b), true)),
        Le => return Some((i64::from(a <= b), true)),
        Gt => return Some((i64::from(a > b), true)),
        Ge => return Some((i64::from(a >= b), true)),
        Eq => return Some((i64::from(a == b), true)),
        Ne => return Some((i64::from(a != b), true)),
        And => return Some((i64::from(a != 0 && b != 0), true)),
        Or => return Some((i64::from(a != 0 || b != 0), true)),
        Shl | Shr => return None,
    };
    fits(value, ty).then_some((value, false))
}

/// `a / divisor`, if every coefficient is divisible.
pub(super) fn divided(a: &Affine, divisor: i64) -> Option<Affine> {
    let quotient = |c: i64| if c.checked_rem(divisor)? == 0 { c.checked_div(divisor) } else { None };
    let mut result = Affine::constant(quotient(a.constant_part())?);
    for (var, c) in a.terms() {
        result = result + Affine::term(var, quotient(c)?);
    }
    Some(result)
}

/// Whether reading any element of the expression's arrays would make it depend on memory.
pub(super) fn reads_memory(e: &Expr) -> bool {
    !e.reads().is_empty()
}

//! The types of C's arithmetic, and sums of products in wider ones.

use oxeye_ir::{BinaryOp, Expr, ScalarType};

/// C's integer promotion.
pub(crate) fn promoted(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 | ScalarType::U8 | ScalarType::I16 | ScalarType::U16 => ScalarType::I32,
        other => other,
    }
}

/// C's usual arithmetic conversions.
pub(crate) fn common(a: ScalarType, b: ScalarType) -> ScalarType {
    use ScalarType::{F32, F64, I32, I64, U32, U64};
    let (a, b) = (promoted(a), promoted(b));
    [F64, F32, U64, I64, U32].into_iter().find(|t| a == *t || b == *t).unwrap_or(I32)
}

/// Computes products in 64 bits, but for those that wrap around in 32.
pub(crate) fn widen(e: &mut Expr) {
    let wraps = |e: &Expr| matches!(e, Expr::Cast(ScalarType::U32, _));
    match e {
        Expr::Binary(BinaryOp::Mul, l, r) if !wraps(l) && !wraps(r) => {
            widen(l);
            widen(r);
            let factor = std::mem::replace(&mut **l, Expr::from(0));
            **l = match factor {
                Expr::Cast(ScalarType::I64, _) => factor,
                factor => Expr::Cast(ScalarType::I64, Box::new(factor)),
            };
        }
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max, l, r) => {
            widen(l);
            widen(r);
        }
        Expr::Select { then, otherwise, .. } => {
            widen(then);
            widen(otherwise);
        }
        Expr::Unary(_, inner) | Expr::Cast(ScalarType::I64, inner) => widen(inner),
        _ => {}
    }
}

//! The types of C's arithmetic.

use oxeye_ir::ScalarType;

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

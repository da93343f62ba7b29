//! Types of expressions, by C's rules on an LP64 machine, and names of their vectors.

use oxeye_ir::{Affine, BinaryOp, Expr, Loop, Program, ScalarType, UnaryOp, Var};

/// The declared type of an iterator: always signed, so that bounds such as `t - 5` keep their meaning.
pub(crate) fn iterator_type(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I64 | ScalarType::U64 | ScalarType::U32 => ScalarType::I64,
        _ => ScalarType::I32,
    }
}

/// The declared type of a loop's iterator.
pub(crate) fn loop_type(l: &Loop) -> ScalarType {
    iterator_type(l.ty)
}

/// Whether there are vectors of this type.
pub(crate) fn has_vectors(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F32 | ScalarType::F64 | ScalarType::I32 | ScalarType::I64)
}

/// `f64x8`
pub(crate) fn vector_name(ty: ScalarType, lanes: u32) -> String {
    format!("{}x{lanes}", ty.name())
}

/// The C type of a vector variable.
pub(crate) fn vector_type(ty: ScalarType, lanes: u32) -> String {
    format!("oxeye_{}", vector_name(ty, lanes))
}

/// The macro that reads `lanes` consecutive elements as one vector.
pub(crate) fn vector_macro(ty: ScalarType, lanes: u32) -> String {
    format!("OXEYE_{}", vector_name(ty, lanes).to_uppercase())
}

/// Gives the types of the iterators in scope.
pub(crate) trait IteratorTypes {
    /// The declared type of an iterator.
    fn type_of_loop(&self, id: oxeye_ir::LoopId) -> ScalarType;
}

pub(crate) fn affine_type(program: &Program, loops: &dyn IteratorTypes, a: &Affine) -> ScalarType {
    let is_wide = |v: Var| match v {
        Var::Loop(l) => loops.type_of_loop(l) == ScalarType::I64,
        Var::Sym(s) => program.symbols.get(&s).is_some_and(|s| iterator_type(s.ty) == ScalarType::I64),
    };
    let fits = |c: i64| i32::try_from(c).is_ok();
    if a.terms().any(|(v, c)| is_wide(v) || !fits(c)) || !fits(a.constant_part()) {
        ScalarType::I64
    } else {
        ScalarType::I32
    }
}

/// C's usual arithmetic conversions.
pub(crate) fn common_type(a: ScalarType, b: ScalarType) -> ScalarType {
    use ScalarType::*;
    if a == F64 || b == F64 {
        return F64;
    }
    if a == F32 || b == F32 {
        return F32;
    }
    let promote = |t| if t == I8 || t == U8 || t == I16 || t == U16 { I32 } else { t };
    match (promote(a), promote(b)) {
        (U64, _) | (_, U64) => U64,
        (I64, _) | (_, I64) => I64,
        (U32, _) | (_, U32) => U32,
        _ => I32,
    }
}

/// The C type of an expression.
pub(crate) fn expr_type(program: &Program, loops: &dyn IteratorTypes, e: &Expr) -> ScalarType {
    let of = |e: &Expr| expr_type(program, loops, e);
    match e {
        Expr::Affine(a) => affine_type(program, loops, a),
        Expr::Float { ty, .. } | Expr::Cast(ty, _) => *ty,
        Expr::Read(access) => program.arrays.get(&access.array).map_or(ScalarType::F64, |a| a.element),
        Expr::Unary(UnaryOp::Not, _) => ScalarType::I32,
        Expr::Unary(_, e) => common_type(of(e), ScalarType::I32),
        Expr::Binary(op, l, r) => match op {
            BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::And
            | BinaryOp::Or => ScalarType::I32,
            BinaryOp::Shl | BinaryOp::Shr => common_type(of(l), ScalarType::I32),
            _ => common_type(of(l), of(r)),
        },
        Expr::Call { function, .. } if let Some((_, result)) = function.integers() => result,
        Expr::Call { single, .. } => {
            if *single {
                ScalarType::F32
            } else {
                ScalarType::F64
            }
        }
        Expr::Select { then, otherwise, .. } => common_type(of(then), of(otherwise)),
    }
}

/// The value, if the expression is an integer constant.
pub(crate) fn constant(e: &Expr) -> Option<i64> {
    e.as_affine().and_then(Affine::as_constant)
}

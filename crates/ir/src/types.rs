//! Types of expressions: C's usual arithmetic conversions on an LP64 machine.

use crate::{Affine, BinaryOp, Expr, Loop, LoopId, Program, ScalarType, UnaryOp, Var};

impl ScalarType {
    /// The type after integer promotion.
    pub fn promoted(self) -> ScalarType {
        match self {
            ScalarType::I8 | ScalarType::U8 | ScalarType::I16 | ScalarType::U16 => ScalarType::I32,
            other => other,
        }
    }

    /// The common type of two operands.
    pub fn common(self, other: ScalarType) -> ScalarType {
        use ScalarType::*;
        let (a, b) = (self.promoted(), other.promoted());
        [F64, F32, U64, I64, U32].into_iter().find(|t| a == *t || b == *t).unwrap_or(I32)
    }

    /// Whether values are signed integers that C computes with in `int`, where sums fit that this type has no room for.
    pub fn is_narrow(self) -> bool {
        matches!(self, ScalarType::I8 | ScalarType::I16)
    }

    /// Whether values are unsigned integers.
    pub fn is_unsigned(self) -> bool {
        matches!(self, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64)
    }
}

impl BinaryOp {
    /// Whether the result is a truth value: 0 or 1, of type `int`.
    pub fn is_logical(self) -> bool {
        use BinaryOp::*;
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne | And | Or)
    }

    /// Whether C allows only integer operands.
    pub fn is_integer_only(self) -> bool {
        use BinaryOp::*;
        matches!(self, Rem | BitAnd | BitOr | BitXor | Shl | Shr)
    }
}

/// The types of the variables at one place: iterators from their loops, the rest from the program.
#[derive(Clone, Copy)]
pub struct Types<'a> {
    program: &'a Program,
    path: &'a [&'a Loop],
}

impl<'a> Types<'a> {
    /// Inside these loops, outermost first.
    pub fn inside(program: &'a Program, path: &'a [&'a Loop]) -> Self {
        Self { program, path }
    }

    fn iterator(&self, id: LoopId) -> ScalarType {
        self.path.iter().rev().find(|l| l.id == id).map_or(ScalarType::I32, |l| l.ty)
    }

    fn var(&self, var: Var) -> ScalarType {
        match var {
            Var::Loop(l) => self.iterator(l),
            Var::Sym(s) => self.program.symbols.get(&s).map_or(ScalarType::I32, |s| s.ty),
        }
    }

    /// The type of an affine expression: that of its variables, `long` if a constant does not fit `int`.
    pub fn affine(&self, affine: &Affine) -> ScalarType {
        affine_type(affine, &|v| self.var(v))
    }

    /// The type of an expression. Undeclared things count as `int`.
    pub fn expr(&self, expr: &Expr) -> ScalarType {
        expr_type(expr, self.program, &|v| self.var(v))
    }
}

pub(crate) fn affine_type(affine: &Affine, type_of: &dyn Fn(Var) -> ScalarType) -> ScalarType {
    let literal = |value: i64| if i32::try_from(value).is_ok() { ScalarType::I32 } else { ScalarType::I64 };
    affine
        .terms()
        .fold(literal(affine.constant_part()), |ty, (var, c)| ty.common(type_of(var)).common(literal(c)))
}

pub(crate) fn expr_type(expr: &Expr, program: &Program, type_of: &dyn Fn(Var) -> ScalarType) -> ScalarType {
    let of = |e: &Expr| expr_type(e, program, type_of);
    match expr {
        Expr::Affine(a) => affine_type(a, type_of),
        Expr::Float { ty, .. } | Expr::Cast(ty, _) => *ty,
        Expr::Read(access) => program.arrays.get(&access.array).map_or(ScalarType::I32, |a| a.element),
        Expr::Unary(UnaryOp::Not, _) => ScalarType::I32,
        Expr::Unary(UnaryOp::Neg | UnaryOp::BitNot, e) => of(e).promoted(),
        Expr::Binary(op, ..) if op.is_logical() => ScalarType::I32,
        Expr::Binary(BinaryOp::Shl | BinaryOp::Shr, l, _) => of(l).promoted(),
        Expr::Binary(_, l, r) => of(l).common(of(r)),
        Expr::Call { function, .. } if let Some((_, result)) = function.integers() => result,
        Expr::Call { single: true, .. } => ScalarType::F32,
        Expr::Call { .. } => ScalarType::F64,
        Expr::Select { then, otherwise, .. } => of(then).common(of(otherwise)),
    }
}

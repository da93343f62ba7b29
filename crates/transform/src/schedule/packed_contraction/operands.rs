//! The parts of a contraction's value that belong to rows, to columns, or to both.

use super::Part;
use crate::schedule::Statement;
use oxeye_ir::{Affine, BinaryOp, Expr, LoopId, Program, ScalarType, UnaryOp};

/// The parts of the value, by dependence on row, column and depth.
pub(crate) struct Shape<'a> {
    pub(crate) statement: &'a Statement,
    pub(crate) rows: &'a [LoopId],
    pub(crate) columns: &'a [LoopId],
    pub(crate) depth: &'a [LoopId],
}

impl Shape<'_> {
    fn of_affine(&self, a: &Affine) -> (bool, bool, bool) {
        let a = self.statement.mapped(a);
        let any = |loops: &[LoopId]| loops.iter().any(|id| a.uses(*id));
        (any(self.rows), any(self.columns), any(self.depth))
    }

    /// Whether row, column and depth iterators occur.
    fn uses(&self, e: &Expr) -> (bool, bool, bool) {
        let mut all = (false, false, false);
        e.visit(&mut |e| {
            if let Expr::Affine(a) = e {
                let u = self.of_affine(a);
                all = (all.0 | u.0, all.1 | u.1, all.2 | u.2);
            }
        });
        all
    }

    fn part(&self, e: &Expr) -> Part {
        match self.uses(e) {
            (false, false, false) => Part::Outer,
            (_, false, _) => Part::Rows,
            (false, true, _) => Part::Columns,
            (true, true, _) => Part::Mixed,
        }
    }

    /// Largest subexpressions that belong to one side, in evaluation order; `None` if one combines rows and columns in
    /// an index.
    pub(crate) fn operands<'e>(&self, e: &'e Expr, found: &mut Vec<(Part, &'e Expr)>) -> Option<()> {
        match self.part(e) {
            Part::Outer => Some(()),
            side @ (Part::Rows | Part::Columns) => {
                found.push((side, e));
                Some(())
            }
            Part::Mixed => match e {
                Expr::Unary(UnaryOp::Neg, a) => self.operands(a, found),
                Expr::Binary(
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max,
                    a,
                    b,
                ) => {
                    self.operands(a, found)?;
                    self.operands(b, found)
                }
                _ => None,
            },
        }
    }

    /// Whether the value is zero whenever every operand of this side is.
    pub(crate) fn vanishes(&self, e: &Expr, side: Part) -> bool {
        match self.part(e) {
            part if part == side => true,
            Part::Mixed => match e {
                Expr::Unary(_, a) => self.vanishes(a, side),
                Expr::Binary(BinaryOp::Mul, a, b) => self.vanishes(a, side) || self.vanishes(b, side),
                Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                    self.vanishes(a, side) && self.vanishes(b, side)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether arithmetic in the expression is done in this floating type, with integers only as operands.
pub(crate) fn has_type(program: &Program, e: &Expr, ty: ScalarType) -> bool {
    match e {
        Expr::Affine(_) => true,
        Expr::Float { ty: own, .. } => *own == ty,
        Expr::Read(a) => program.array(a.array).element == ty,
        Expr::Unary(_, a) => has_type(program, a, ty),
        Expr::Binary(_, a, b) => {
            let is_affine = |e: &Expr| e.as_affine().is_some();
            has_type(program, a, ty) && has_type(program, b, ty) && !(is_affine(a) && is_affine(b))
        }
        Expr::Call { single, args, .. } => {
            *single == (ty == ScalarType::F32) && args.iter().all(|a| has_type(program, a, ty))
        }
        Expr::Select { then, otherwise, .. } => {
            has_type(program, then, ty) && has_type(program, otherwise, ty)
        }
        Expr::Cast(own, _) => *own == ty,
    }
}

/// Whether arithmetic in the expression gives the same in this integer type: its numbers are of that type, or become `int` in
/// arithmetic, which is no wider. Unsigned numbers that are narrower wrap around where the wider do not.
pub(crate) fn fits_integer(program: &Program, e: &Expr, ty: ScalarType) -> bool {
    use ScalarType::{I8, I16, I32, I64, U8, U16, U32, U64};
    let fits = |own: ScalarType| own == ty || matches!(own, I8 | U8 | I16 | U16 | I32);
    matches!(ty, I32 | I64 | U32 | U64)
        && match e {
            Expr::Affine(a) => a.as_constant().is_some_and(|n| i32::try_from(n).is_ok()),
            Expr::Read(a) => fits(program.array(a.array).element),
            Expr::Cast(own, inner) => *own == ty && fits_integer(program, inner, ty),
            Expr::Unary(UnaryOp::Neg, a) => fits_integer(program, a, ty),
            // A negative number is a great one where the type has no sign.
            Expr::Binary(BinaryOp::Min | BinaryOp::Max, ..) if matches!(ty, U32 | U64) => false,
            Expr::Binary(
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max,
                a,
                b,
            ) => fits_integer(program, a, ty) && fits_integer(program, b, ty),
            _ => false,
        }
}

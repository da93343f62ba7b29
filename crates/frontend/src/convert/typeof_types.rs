//! `typeof (expression)`: types that are those of expressions, which are not evaluated.

use super::{Converter, Meaning};
use crate::arithmetic::{common, promoted};
use crate::ast::*;
use oxeye_ir::{BinaryOp, ScalarType, UnaryOp};
use tree_sitter::Node;

impl Converter<'_> {
    /// The type that a `typeof` names, from what stands in its parentheses.
    pub(super) fn type_of_operand(&mut self, operand: Node<'_>) -> Type {
        let text = self.node_text(operand);
        if operand.kind() == "identifier" {
            match self.lookup(text) {
                Some(Meaning::Type(ty)) => return ty.clone(),
                Some(_) => {}
                None => match self.named_type(text) {
                    Type::Other(_) => {}
                    ty => return ty,
                },
            }
        }
        let e = self.unsurely(|c| c.expr(operand));
        let found = match e.as_var().map(|v| self.file.var(v)) {
            // What is declared as an array there is a pointer.
            Some(Variable { kind: VarKind::Param(_), ty: Type::Array { of, .. }, .. }) => {
                Some(Type::Pointer { to: of.clone(), is_restrict: false })
            }
            _ => match self.file.type_of(&e) {
                Some(Type::Pointer { to, .. }) => Some(Type::Pointer { to, is_restrict: false }),
                Some(ty) if !matches!(ty, Type::Other(_)) => Some(ty),
                _ => self.arithmetic_type_of(&e).map(Type::scalar),
            },
        };
        found.unwrap_or_else(|| Type::Other("a `typeof` that could not be read".into()))
    }

    /// The type of a number that an expression computes, if it is known.
    pub(super) fn arithmetic_type_of(&self, e: &Expr) -> Option<ScalarType> {
        let of = |e: &Expr| self.arithmetic_type_of(e);
        match &e.kind {
            ExprKind::Int(_, ty) | ExprKind::Float(_, ty) => Some(*ty),
            ExprKind::Unary(UnaryOp::Not, _) => Some(ScalarType::I32),
            ExprKind::Unary(_, e) | ExprKind::Promote(e) => of(e).map(promoted),
            ExprKind::Binary(op, l, r) => match op {
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => {
                    Some(ScalarType::I32)
                }
                BinaryOp::And | BinaryOp::Or => Some(ScalarType::I32),
                BinaryOp::Shl | BinaryOp::Shr => of(l).map(promoted),
                _ => Some(common(of(l)?, of(r)?)),
            },
            ExprKind::Select(_, l, r) => Some(common(of(l)?, of(r)?)),
            ExprKind::Call(callee, _) => self.type_of_call(callee),
            _ => self.file.type_of(e)?.as_scalar().map(|s| s.ty),
        }
    }
}

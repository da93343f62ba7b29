//! Loops that only `break` ends: `for (;;) { if (i >= n) break; ... }` tests a condition before its body, and
//! `for (;;) { ...; if (i >= n) break; }` behind it.

use super::body_parts::{continues, statements};
use crate::ast::*;
use oxeye_ir::{BinaryOp, UnaryOp};

/// Gives such a loop the condition that its `break` has. Whether it was one.
pub(super) fn settle(file: &File, f: &mut For) -> bool {
    let is_endless = f.condition.as_ref().is_none_or(|c| constant(c).is_some_and(|n| n != 0));
    if !is_endless {
        return false;
    }
    let mut body = statements(&f.body);
    let going_on = |s: &Stmt| breaks_if(s).and_then(|condition| opposite(file, condition));
    if let Some(condition) = body.first().and_then(going_on) {
        body.remove(0);
        f.body.kind = StmtKind::Block(body);
        f.condition = Some(condition);
        f.runs_first = false;
        return true;
    }
    let Some((last, rest)) = body.split_last() else { return false };
    // A step in the header comes behind the test; `continue` leaves the test out.
    if f.step.is_some() || rest.iter().any(continues) {
        return false;
    }
    let Some(condition) = going_on(last) else { return false };
    body.pop();
    f.body.kind = StmtKind::Block(body);
    f.condition = Some(condition);
    f.runs_first = true;
    true
}

/// The condition of `if (condition) break;`.
fn breaks_if(s: &Stmt) -> Option<&Expr> {
    let StmtKind::If { condition, then, otherwise: None } = &s.kind else { return None };
    let only = match &then.kind {
        StmtKind::Block(body) => match body.as_slice() {
            [only] => only,
            _ => return None,
        },
        _ => then,
    };
    matches!(only.kind, StmtKind::Break).then_some(condition)
}

/// The condition that holds where this one does not. Of numbers that may be NaN, neither `<` nor `>=` holds.
fn opposite(file: &File, e: &Expr) -> Option<Expr> {
    let at = |kind| Some(Expr { kind, range: e.range });
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => Some((**inner).clone()),
        ExprKind::Binary(op, l, r) => {
            let op = match op {
                BinaryOp::Or | BinaryOp::And => {
                    let (l, r) = (opposite(file, l)?, opposite(file, r)?);
                    let op = if *op == BinaryOp::Or { BinaryOp::And } else { BinaryOp::Or };
                    return at(ExprKind::Binary(op, Box::new(l), Box::new(r)));
                }
                BinaryOp::Lt => BinaryOp::Ge,
                BinaryOp::Le => BinaryOp::Gt,
                BinaryOp::Gt => BinaryOp::Le,
                BinaryOp::Ge => BinaryOp::Lt,
                BinaryOp::Eq => BinaryOp::Ne,
                BinaryOp::Ne => BinaryOp::Eq,
                _ => return None,
            };
            let is_exact = is_exact(file, l) && is_exact(file, r);
            if is_exact { at(ExprKind::Binary(op, l.clone(), r.clone())) } else { None }
        }
        _ => None,
    }
}

/// Whether a value is an integer or a pointer.
fn is_exact(file: &File, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(..) | ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => true,
        ExprKind::Unary(UnaryOp::Not, _) => true,
        ExprKind::Unary(_, inner) | ExprKind::Promote(inner) => is_exact(file, inner),
        ExprKind::Step { target, .. } | ExprKind::Assign(_, target, _) => is_exact(file, target),
        ExprKind::Binary(_, l, r) => is_exact(file, l) && is_exact(file, r),
        _ => file.type_of(e).is_some_and(|ty| match &ty {
            Type::Scalar(s) => !s.ty.is_float(),
            ty => ty.is_pointer(),
        }),
    }
}

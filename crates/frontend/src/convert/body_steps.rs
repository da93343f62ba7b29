//! Loops that count in their bodies: `while (i < n) { ...; i++; }`, and `while (i < n) a[i++] = 0;`, in which what follows the
//! step sees the variable one further.

use super::body_parts::{breaks, continues, statements};
use super::headers::counts_with;
use crate::ast::*;
use crate::scan::assigned_var;
use oxeye_ir::{BinaryOp, ScalarType};

/// Takes the step of a variable that the condition tests out of a body that does it once in every iteration. Which variable
/// that is, and its step.
pub(super) fn take(file: &File, f: &mut For) -> Option<(VarId, Expr)> {
    let condition = f.condition.as_ref()?;
    let body = statements(&f.body);
    let found = body.iter().enumerate().rev().find_map(|(k, s)| {
        let StmtKind::Expr(step) = &s.kind else { return None };
        let is_tested = |v: &VarId| condition.mentions(*v) && counts_with(file, condition, *v);
        let var = assigned_var(step).filter(is_tested).filter(|v| is_relative(step, *v))?;
        Some((var, step.clone(), around(&body, k, var, step)?))
    });
    let (var, step, rest) = found?;
    f.body = Stmt { kind: StmtKind::Block(rest), range: f.body.range };
    Some((var, step))
}

/// The body without the step that is its statement `k`.
fn around(body: &[Stmt], k: usize, var: VarId, step: &Expr) -> Option<Vec<Stmt>> {
    let mut rest = without(&body[..k], step)?;
    let mut behind = body[k + 1..].to_vec();
    if rest.iter().chain(&behind).any(|s| changes(s, var)) {
        return None;
    }
    if !behind.is_empty() {
        let by = amount(step)?;
        // Loops there may be read by themselves, in which the variable has the value that it has; `break` leaves it so.
        if behind.iter().any(|s| has_loop(s) || breaks(s)) {
            return None;
        }
        behind.iter_mut().for_each(|s| shift(s, var, by));
        rest.append(&mut behind);
    }
    Some(rest)
}

/// The statements without the step that stands before every `continue`; `None` if one has none.
fn without(body: &[Stmt], step: &Expr) -> Option<Vec<Stmt>> {
    let mut rest: Vec<Stmt> = Vec::new();
    for s in body {
        let own = |s: &Stmt| match &s.kind {
            StmtKind::Block(body) => {
                Some(Stmt { kind: StmtKind::Block(without(body, step)?), range: s.range })
            }
            _ => without(std::slice::from_ref(s), step)?.pop(),
        };
        let kind = match &s.kind {
            StmtKind::Continue => {
                let before = rest.pop()?;
                let is_step = matches!(&before.kind, StmtKind::Expr(e) if is_same(e, step));
                if !is_step {
                    return None;
                }
                StmtKind::Continue
            }
            _ if !continues(s) => s.kind.clone(),
            StmtKind::Block(_) => own(s)?.kind,
            StmtKind::If { condition, then, otherwise } => {
                let then = Box::new(own(then)?);
                let otherwise = match otherwise {
                    Some(otherwise) => Some(Box::new(own(otherwise)?)),
                    None => None,
                };
                StmtKind::If { condition: condition.clone(), then, otherwise }
            }
            _ => return None,
        };
        rest.push(Stmt { kind, range: s.range });
    }
    Some(rest)
}

/// Whether an assignment says how much further a variable counts.
fn is_relative(step: &Expr, var: VarId) -> bool {
    match &step.kind {
        ExprKind::Step { .. } | ExprKind::Assign(Some(BinaryOp::Add | BinaryOp::Sub), ..) => true,
        ExprKind::Assign(None, _, value) => {
            matches!(value.kind, ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..)) && value.mentions(var)
        }
        _ => false,
    }
}

/// The constant that a variable steps by.
fn amount(step: &Expr) -> Option<i64> {
    let by = match &step.kind {
        ExprKind::Step { by, .. } => *by,
        ExprKind::Assign(Some(BinaryOp::Add), _, by) => constant(by)?,
        ExprKind::Assign(Some(BinaryOp::Sub), _, by) => constant(by)?.checked_neg()?,
        _ => return None,
    };
    i32::try_from(by).is_ok().then_some(by)
}

/// Whether two steps are the same, by a constant.
fn is_same(a: &Expr, b: &Expr) -> bool {
    let is_of_one = assigned_var(a).is_some() && assigned_var(a) == assigned_var(b);
    is_of_one && amount(a).is_some() && amount(a) == amount(b)
}

/// Whether a statement may change a variable.
pub(super) fn changes(s: &Stmt, var: VarId) -> bool {
    let mut found = false;
    let mut look = |e: &Expr| {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => {
                found |= target.as_var() == Some(var)
            }
            ExprKind::AddressOf(inner) => found |= inner.as_var() == Some(var),
            ExprKind::Unknown(_, inside) => found |= inside.iter().any(|e| e.as_var() == Some(var)),
            _ => {}
        });
    };
    s.walk(&mut |s| s.exprs().into_iter().for_each(&mut look));
    found
}

fn has_loop(s: &Stmt) -> bool {
    let mut found = false;
    s.walk(&mut |s| {
        found |= matches!(s.kind, StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. });
    });
    found
}

/// Puts `var + by` in the place of a variable.
fn shift(s: &mut Stmt, var: VarId, by: i64) {
    fn in_expr(e: &mut Expr, var: VarId, by: i64) {
        if e.as_var() != Some(var) {
            e.children_mut().into_iter().for_each(|e| in_expr(e, var, by));
            return;
        }
        let range = e.range;
        let op = if by < 0 { BinaryOp::Sub } else { BinaryOp::Add };
        let by = Box::new(Expr { kind: ExprKind::Int(by.abs(), ScalarType::I32), range });
        e.kind = ExprKind::Binary(op, Box::new(e.clone()), by);
    }
    s.exprs_mut().into_iter().for_each(|e| in_expr(e, var, by));
    s.children_mut().into_iter().for_each(|s| shift(s, var, by));
}

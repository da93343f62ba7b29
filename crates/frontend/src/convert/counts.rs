//! Loops that count in other ways than `for (i = first; i < n; i++)`, in that form: `while` and `do` loops, loops that only
//! `break` ends, and those that step in their bodies.

use super::body_parts::{continues, statements};
use super::endless;
use super::headers::{
    counts_with, first_value, is_signed, set, settle_header, step_behind, stepped, tests_inside,
};
use crate::ast::*;
use crate::scan::{assigned_var, counter, mentions};
use oxeye_ir::{BinaryOp, ScalarType};

/// `i = first; while (i < n) { ...; i++; }` as a `for` loop, which sets the variable again; with `before` before it. Without a
/// first value, it starts with what it is.
pub(super) fn counted(file: &File, before: Option<&Stmt>, s: &Stmt) -> Option<Stmt> {
    let mut f = s.as_for()?;
    let is_for = matches!(s.kind, StmtKind::For(_));
    let was_endless = endless::settle(file, &mut f);
    if is_for {
        if was_endless {
            settle_header(file, &mut f);
        }
        if f.step.is_some() && counter(&f).is_some() {
            return was_endless.then(|| Stmt { kind: StmtKind::For(Box::new(f)), range: s.range });
        }
    }
    let condition = f.condition.clone()?;
    let var = match stepped(&condition).and_then(|(target, ..)| target.as_var()) {
        Some(var) if f.runs_first && f.step.is_none() => {
            let (step, rest) = tested_behind(file, &condition)?;
            f.condition = Some(rest);
            add_step(&mut f, step);
            var
        }
        Some(var) => var,
        None => {
            let (var, step) = take(file, &mut f)?;
            add_step(&mut f, step);
            var
        }
    };
    let condition = f.condition.as_ref()?;
    if !condition.mentions(var) || changes(&f.body, var) || !counts_with(file, condition, var) {
        return None;
    }
    let itself = Expr { kind: ExprKind::Var(var), range: condition.range };
    match &f.init {
        Some(init) => _ = first_value(init, var)?,
        None => {
            let is_settled = is_for && !was_endless;
            let first = before.filter(|_| !is_settled).and_then(|before| first_value(before, var));
            let first = first.cloned().unwrap_or(itself.clone());
            f.init = Some(set(itself, first.clone()));
            f.enters_with = (!is_settled).then_some(first);
        }
    }
    if !f.runs_first {
        step_behind(file, &mut f);
        tests_inside(&mut f);
    }
    f.step.is_some().then(|| Stmt { kind: StmtKind::For(Box::new(f)), range: s.range })
}

/// Takes the step of a variable that the condition tests out of the end of a body that does it in every iteration. Which
/// variable that is, and its step.
fn take(file: &File, f: &mut For) -> Option<(VarId, Expr)> {
    let condition = f.condition.as_ref()?;
    let mut body = statements(&f.body);
    let found = body.iter().enumerate().rev().find_map(|(k, s)| {
        let StmtKind::Expr(step) = &s.kind else { return None };
        let is_tested = |v: &VarId| condition.mentions(*v) && counts_with(file, condition, *v);
        let var = assigned_var(step).filter(is_tested).filter(|v| is_relative(step, *v))?;
        Some((k, var, step.clone()))
    });
    let (k, var, step) = found?;
    body.remove(k);
    let is_last = body[k..].iter().all(|s| !mentions(s, var));
    if !is_last || body.iter().any(|s| continues(s) || changes(s, var)) {
        return None;
    }
    f.body = Stmt { kind: StmtKind::Block(body), range: f.body.range };
    Some((var, step))
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

/// Steps in the header before what else the header does.
fn add_step(f: &mut For, step: Expr) {
    let range = step.range;
    f.step = Some(match f.step.take() {
        Some(other) => Expr { kind: ExprKind::Comma(Box::new(step), Box::new(other)), range },
        None => step,
    });
}

/// The step in the condition of a `do` loop, and the condition on what the variable is then.
fn tested_behind(file: &File, condition: &Expr) -> Option<(Expr, Expr)> {
    let (target, by, test) = stepped(condition)?;
    let var = target.as_var()?;
    let range = condition.range;
    let zero = Expr { kind: ExprKind::Int(0, ScalarType::I32), range };
    let end = test.end.unwrap_or(&zero);
    let is_zero = constant(end) == Some(0);
    let op = match (test.is_behind, by, test.op) {
        // Counted down to zero, it is greater before.
        (false, -1, BinaryOp::Ne) if is_zero => BinaryOp::Gt,
        (false, _, op) => op,
        // `i++ < n` holds if `i <= n` does behind it.
        (true, 1, BinaryOp::Lt) => BinaryOp::Le,
        (true, -1, BinaryOp::Gt) => BinaryOp::Ge,
        (true, -1, BinaryOp::Ne) if is_zero => BinaryOp::Ge,
        _ => return None,
    };
    // An unsigned variable is never less than zero.
    if end.mentions(var) || test.is_behind && !is_signed(file, var) {
        return None;
    }
    let step = ExprKind::Step { target: Box::new(target.clone()), by, is_behind: true };
    let rest = ExprKind::Binary(op, Box::new(target.clone()), Box::new(end.clone()));
    Some((Expr { kind: step, range }, Expr { kind: rest, range }))
}

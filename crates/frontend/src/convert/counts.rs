//! Loops that count in other ways than `for (i = first; i < n; i++)`, in that form: `while` and `do` loops, loops that only
//! `break` ends, and those that step in their bodies.

use super::body_steps::{self, changes};
use super::endless;
use super::headers::{
    counts_with, first_value, is_signed, set, settle_header, step_behind, stepped, tests_inside,
};
use crate::ast::*;
use crate::scan::counter;
use oxeye_ir::{BinaryOp, ScalarType};

/// Reads the loops of all functions so.
pub(super) fn settle(file: &mut File) {
    let mut functions = std::mem::take(&mut file.functions);
    for function in &mut functions {
        inside(file, &mut function.body);
    }
    file.functions = functions;
}

fn inside(file: &File, s: &mut Stmt) {
    if let StmtKind::Block(body) | StmtKind::Unknown(_, body) = &mut s.kind {
        for k in 0..body.len() {
            inside(file, &mut body[k]);
            let before = k.checked_sub(1).map(|k| &body[k]);
            if let Some(counted) = counted(file, before, &body[k]) {
                body[k] = counted;
            }
        }
        return;
    }
    for s in s.children_mut() {
        inside(file, s);
        if let Some(counted) = counted(file, None, s) {
            *s = counted;
        }
    }
}

/// `i = first; while (i < n) { ...; i++; }` as a `for` loop, which sets the variable again; with `before` before it. Without a
/// first value, it starts with what it is.
fn counted(file: &File, before: Option<&Stmt>, s: &Stmt) -> Option<Stmt> {
    let mut f = as_for(s)?;
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
            let (var, step) = body_steps::take(file, &mut f)?;
            add_step(&mut f, step);
            // `while (n) { ...; n--; }`
            if condition.as_var() == Some(var) {
                let range = condition.range;
                let zero = Box::new(Expr { kind: ExprKind::Int(0, ScalarType::I32), range });
                let differs = ExprKind::Binary(BinaryOp::Ne, Box::new(condition.clone()), zero);
                f.condition = Some(Expr { kind: differs, range });
            }
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

/// A loop as it is, in the parts of a `for` loop; its body is a block.
pub(crate) fn as_for(s: &Stmt) -> Option<For> {
    let (condition, body, runs_first) = match &s.kind {
        StmtKind::While { condition, body } => (condition, body, false),
        StmtKind::DoWhile { body, condition } => (condition, body, true),
        StmtKind::For(f) => {
            let body = in_block(&f.body);
            return Some(For { body, ..(**f).clone() });
        }
        _ => return None,
    };
    Some(For {
        init: None,
        condition: Some(condition.clone()),
        step: None,
        body: in_block(body),
        is_behind: false,
        enters_with: None,
        runs_first,
    })
}

fn in_block(s: &Stmt) -> Stmt {
    match &s.kind {
        StmtKind::Block(_) => s.clone(),
        _ => Stmt { kind: StmtKind::Block(vec![s.clone()]), range: s.range },
    }
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

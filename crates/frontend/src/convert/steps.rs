//! Assignments inside expressions as statements of their own: `x = *p++;` is `p++; x = *(p - 1);`.
//!
//! What else the expression reads or writes is not the variable that steps, or C would not say what it means; so the step may
//! come first.

use crate::ast::*;
use oxeye_ir::{BinaryOp, ScalarType};

/// Gives the assignments inside the expressions of all functions statements of their own.
pub(super) fn settle(file: &mut File) {
    let mut functions = std::mem::take(&mut file.functions);
    for function in &mut functions {
        stmt(file, &mut function.body);
    }
    file.functions = functions;
}

fn stmt(file: &File, s: &mut Stmt) {
    let mut before = Vec::new();
    match &mut s.kind {
        StmtKind::Expr(e) => expr(file, e, &mut before),
        StmtKind::Return(Some(e)) => value(file, e, &mut before),
        StmtKind::If { condition, then, otherwise } => {
            value(file, condition, &mut before);
            stmt(file, then);
            otherwise.iter_mut().for_each(|s| stmt(file, s));
        }
        StmtKind::Declare(declared) => {
            let mut rest = std::mem::take(declared);
            let mut all = Vec::new();
            for d in &mut rest {
                let n = before.len();
                d.init.iter_mut().for_each(|e| value(file, e, &mut before));
                if before.len() > n {
                    all.extend(before.drain(n..));
                }
                all.push(Stmt { kind: StmtKind::Declare(vec![d.clone()]), range: s.range });
            }
            s.kind = match all.iter().all(|s| matches!(s.kind, StmtKind::Declare(_))) {
                true => StmtKind::Declare(rest),
                false => StmtKind::Block(all),
            };
            return;
        }
        StmtKind::Block(body) => body.iter_mut().for_each(|s| stmt(file, s)),
        StmtKind::For(f) => stmt(file, &mut f.body),
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::Label(_, body) => {
            stmt(file, body);
        }
        _ => {}
    }
    if !before.is_empty() {
        let own = std::mem::replace(&mut s.kind, StmtKind::Empty);
        before.push(Stmt { kind: own, range: s.range });
        s.kind = StmtKind::Block(before);
    }
}

/// An expression that is evaluated for what it does.
fn expr(file: &File, e: &mut Expr, before: &mut Vec<Stmt>) {
    let whole = e.clone();
    match &mut e.kind {
        // `a = b = c` is read as it is.
        ExprKind::Assign(_, target, inner) => {
            operands(file, &whole, target, before);
            match &mut inner.kind {
                ExprKind::Assign(_, target, value) => {
                    operands(file, &whole, target, before);
                    inside(file, &whole, value, before);
                }
                _ => inside(file, &whole, inner, before),
            }
        }
        ExprKind::Step { target, .. } => operands(file, &whole, target, before),
        ExprKind::Comma(..) => {}
        _ => operands(file, &whole, e, before),
    }
}

/// A condition without the assignments that it surely makes, and these as statements before it.
pub(crate) fn apart(file: &File, condition: &Expr) -> (Vec<Stmt>, Expr) {
    let (mut before, mut rest) = (Vec::new(), condition.clone());
    value(file, &mut rest, &mut before);
    (before, rest)
}

fn value(file: &File, e: &mut Expr, before: &mut Vec<Stmt>) {
    let whole = e.clone();
    inside(file, &whole, e, before);
}

/// What is surely evaluated inside of an expression, but not the expression itself.
fn operands(file: &File, whole: &Expr, e: &mut Expr, before: &mut Vec<Stmt>) {
    let mut go = |e: &mut Expr| inside(file, whole, e, before);
    match &mut e.kind {
        ExprKind::Unary(_, e)
        | ExprKind::Promote(e)
        | ExprKind::Deref(e)
        | ExprKind::AddressOf(e)
        | ExprKind::Member(e, _)
        | ExprKind::Cast(_, e) => go(e),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, first, _) | ExprKind::Select(first, ..) => go(first),
        ExprKind::Binary(_, l, r) | ExprKind::Index(l, r) => {
            go(l);
            go(r);
        }
        ExprKind::Step { target, .. } => go(target),
        ExprKind::Assign(_, target, value) => {
            go(target);
            go(value);
        }
        ExprKind::Call(_, args) => args.iter_mut().for_each(go),
        _ => {}
    }
}

/// An expression of which the value is used.
fn inside(file: &File, whole: &Expr, e: &mut Expr, before: &mut Vec<Stmt>) {
    operands(file, whole, e, before);
    let range = e.range;
    let after = match &e.kind {
        ExprKind::Step { target, by, is_behind } => {
            let is_integer = |s: &Scalar| {
                use ScalarType::{I32, I64, U32, U64};
                matches!(s.ty, I32 | I64 | U32 | U64) && !s.is_volatile
            };
            let ty = file.type_of(target);
            let is_read = ty.is_some_and(|ty| match &ty {
                Type::Scalar(s) => is_integer(s),
                ty => matches!(ty, Type::Pointer { .. }),
            });
            if !is_read || !is_alone(whole, e, target) {
                return;
            }
            match is_behind {
                false => (**target).clone(),
                true => {
                    let by = Expr { kind: ExprKind::Int(*by, ScalarType::I32), range };
                    Expr { kind: ExprKind::Binary(BinaryOp::Sub, target.clone(), Box::new(by)), range }
                }
            }
        }
        ExprKind::Assign(_, target, _) => {
            let ty = file.type_of(target);
            let is_read = ty.is_some_and(|ty| match &ty {
                Type::Scalar(s) => !s.is_volatile,
                ty => matches!(ty, Type::Pointer { .. }),
            });
            if !is_read || !is_alone(whole, e, target) {
                return;
            }
            (**target).clone()
        }
        _ => return,
    };
    let own = std::mem::replace(e, after);
    before.push(Stmt { kind: StmtKind::Expr(own), range });
}

/// Whether nothing else in the whole expression has to do with what a part of it assigns, and naming it twice does nothing
/// twice.
fn is_alone(whole: &Expr, part: &Expr, target: &Expr) -> bool {
    let (mut is_plain, mut is_sequenced) = (true, false);
    target.walk(&mut |e| {
        is_plain &= matches!(
            e.kind,
            ExprKind::Var(_)
                | ExprKind::Index(..)
                | ExprKind::Deref(_)
                | ExprKind::Int(..)
                | ExprKind::Binary(..)
                | ExprKind::Cast(Type::Scalar(_), _)
        );
    });
    whole.walk(&mut |e| is_sequenced |= matches!(e.kind, ExprKind::Comma(..) | ExprKind::Unknown(..)));
    let n_mentioned = |e: &Expr, v: VarId| {
        let mut n = 0;
        e.walk(&mut |e| n += usize::from(e.as_var() == Some(v)));
        n
    };
    let is_only = match target.as_var() {
        Some(v) => {
            let mut found = None;
            whole.walk(&mut |e| {
                if e.range == part.range && found.is_none() {
                    found = Some(n_mentioned(e, v));
                }
            });
            found == Some(n_mentioned(whole, v))
        }
        // Another step of something that says which element it is would have to come first, or later.
        None => {
            let mut n_changes = 0;
            whole.walk(&mut |e| n_changes += usize::from(matches!(e.kind, ExprKind::Step { .. })));
            n_changes <= 1
        }
    };
    is_plain && is_only && !is_sequenced
}

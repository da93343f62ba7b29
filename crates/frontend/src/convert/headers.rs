//! Loops that count in other ways than `for (i = first; i < n; i++)`, in that form: `while` loops, steps in conditions,
//! headers without a first value.

use super::Converter;
use super::statements::leaves_early;
use crate::ast::*;
use crate::scan::{commas, counter};
use oxeye_ir::{BinaryOp, MathFn, ScalarType, UnaryOp};

impl Converter<'_> {
    /// `i = first; while (i < n) { ...; i++; }` as a `for` loop, which sets the variable again; with `before` before it. Without a
    /// first value, it starts with what it is.
    pub(super) fn counting(&self, before: Option<&Stmt>, s: &Stmt) -> Option<Stmt> {
        let StmtKind::While { condition, body } = &s.kind else { return None };
        let statements = match &body.kind {
            StmtKind::Block(statements) => statements.as_slice(),
            _ => std::slice::from_ref(&**body),
        };
        let (var, step, rest) = match stepped(condition).and_then(|(target, ..)| target.as_var()) {
            Some(var) => (var, None, statements),
            None => {
                let (last, rest) = statements.split_last()?;
                let StmtKind::Expr(step) = &last.kind else { return None };
                let var = match &step.kind {
                    ExprKind::Step { target, .. } | ExprKind::Assign(_, target, _) => target.as_var()?,
                    _ => return None,
                };
                if rest.iter().any(leaves_early) {
                    return None;
                }
                (var, Some(step), rest)
            }
        };
        let changes = |s: &Stmt| {
            let mut found = false;
            s.walk_exprs(&mut |e| match &e.kind {
                ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => {
                    found |= target.as_var() == Some(var)
                }
                ExprKind::AddressOf(inner) => found |= inner.as_var() == Some(var),
                ExprKind::Unknown(_, inside) => found |= inside.iter().any(|e| e.as_var() == Some(var)),
                _ => {}
            });
            found
        };
        if !condition.mentions(var) || rest.iter().any(changes) || !self.is_plain_counter(var) {
            return None;
        }
        let range = condition.range;
        let itself = Expr { kind: ExprKind::Var(var), range };
        let first = before.and_then(|before| first_value(before, var)).cloned().unwrap_or(itself.clone());
        let mut parts = For {
            init: Some(set(itself, first.clone())),
            condition: Some(condition.clone()),
            step: step.cloned(),
            body: Stmt { kind: StmtKind::Block(rest.to_vec()), range: body.range },
            is_behind: false,
            enters_with: Some(first),
        };
        self.step_behind(&mut parts);
        tests_inside(&mut parts);
        parts.step.is_some().then(|| Stmt { kind: StmtKind::For(Box::new(parts)), range: s.range })
    }

    /// Gives a header a first value and a step of its own where it has none.
    pub(super) fn settle_header(&self, f: &mut For) {
        let by_condition = f.condition.as_ref().and_then(stepped).and_then(|(target, ..)| target.as_var());
        let var = by_condition.or_else(|| counter(f)).filter(|var| self.is_plain_counter(*var));
        if let (None, Some(var), Some(condition)) = (&f.init, var, &f.condition) {
            let itself = Expr { kind: ExprKind::Var(var), range: condition.range };
            f.init = Some(set(itself.clone(), itself));
        }
        self.step_behind(f);
        tests_inside(f);
    }

    /// Whether a variable is an integer that only its function changes.
    fn is_plain_counter(&self, var: VarId) -> bool {
        use ScalarType::{I32, I64, U32, U64};
        let variable = self.file.var(var);
        let is_own = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
        let is_integer = |s: &Scalar| matches!(s.ty, I32 | I64 | U32 | U64) && !s.is_volatile && !s.is_bool;
        is_own && variable.ty.as_scalar().is_some_and(is_integer)
    }

    /// `for (i = n; i-- > 0;)` as `for (i = n - 1; i >= 0; i--)`, and `for (i = n; ++i < m;)` as `for (i = n + 1; i < m; i++)`,
    /// which leave the same final value.
    fn step_behind(&self, f: &mut For) {
        let Some(condition) = &f.condition else { return };
        let Some((target, by, test)) = stepped(condition) else { return };
        let Some(var) = target.as_var().filter(|var| self.is_plain_counter(*var)) else { return };
        let is_signed = self
            .file
            .var(var)
            .ty
            .as_scalar()
            .is_some_and(|s| matches!(s.ty, ScalarType::I32 | ScalarType::I64));
        let is_of_other = |e: &Expr| !e.mentions(var);
        if f.step.as_ref().is_some_and(|e| !is_of_other(e)) {
            return;
        }
        // `i-- > 0` tests the variable before the step, `--i > 0` after it.
        let is_behind = test.is_behind;
        let range = condition.range;
        let at = |kind| Expr { kind, range };
        let int = |n| Box::new(at(ExprKind::Int(n, ScalarType::I32)));
        let counter = Box::new(target.clone());
        let compare = |op, end| at(ExprKind::Binary(op, counter.clone(), end));
        let settled = match (by, test.op, is_behind) {
            // A negative number would be counted down beyond the least one, which C forbids.
            (-1, BinaryOp::Gt | BinaryOp::Ne, _) if test.end.is_none_or(|e| constant(e) == Some(0)) => {
                if !is_signed && !is_behind {
                    return;
                }
                match (is_signed, is_behind) {
                    (true, true) => compare(BinaryOp::Ge, int(0)),
                    // `i - 1` of the first value might not exist: `for (i = n; i > 0; i--)` with `i - 1` inside.
                    _ => compare(BinaryOp::Gt, int(0)),
                }
            }
            (1, BinaryOp::Lt, _) if is_signed => match test.end.filter(|e| is_of_other(e)) {
                Some(end) => {
                    compare(if is_behind { BinaryOp::Le } else { BinaryOp::Lt }, Box::new(end.clone()))
                }
                None => return,
            },
            _ => return,
        };
        let step = at(ExprKind::Step { target: counter.clone(), by, is_behind: true });
        let Some(first) = f.init.as_mut().and_then(|init| first_value_mut(init, var)) else { return };
        let is_itself = first.as_var() == Some(var);
        if first.mentions(var) && !is_itself {
            return;
        }
        if is_signed {
            let before = first.clone();
            let sum = if by < 0 { BinaryOp::Sub } else { BinaryOp::Add };
            *first = Expr { range: before.range, kind: ExprKind::Binary(sum, Box::new(before), int(1)) };
        } else {
            f.is_behind = true;
        }
        f.condition = Some(settled);
        f.step = Some(match f.step.take() {
            Some(other) => at(ExprKind::Comma(Box::new(other), Box::new(step))),
            None => step,
        });
    }
}

/// `for (k = 0; k < most && x < 4; k++)`, where the body changes `x`, as a loop that counts and begins with
/// `if (!(x < 4)) break;`.
fn tests_inside(f: &mut For) {
    fn conjuncts<'e>(e: &'e Expr, found: &mut Vec<&'e Expr>) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::And, l, r) => {
                conjuncts(l, found);
                conjuncts(r, found);
            }
            _ => found.push(e),
        }
    }
    let (Some(var), Some(condition)) = (counter(f), &f.condition) else { return };
    let mut changed = std::collections::BTreeSet::new();
    f.body.walk_exprs(&mut |e| {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } = &e.kind {
            changed.extend(target.as_var());
        }
    });
    let is_test = |e: &Expr| {
        let (mut is_changed, mut is_pure) = (false, true);
        e.walk(&mut |e| {
            is_changed |= e.as_var().is_some_and(|var| changed.contains(&var));
            is_pure &= match &e.kind {
                ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Unknown(..) => false,
                ExprKind::Call(callee, _) => {
                    matches!(&callee.kind, ExprKind::Name(name) if MathFn::from_c_name(name).is_some())
                }
                _ => true,
            };
        });
        is_changed && is_pure && !e.mentions(var)
    };
    let mut all = Vec::new();
    conjuncts(condition, &mut all);
    // An end that stands behind a test is evaluated where the test fails, too.
    let is_harmless = |e: &&Expr| {
        let mut is_harmless = true;
        e.walk(&mut |e| {
            is_harmless &= !matches!(
                e.kind,
                ExprKind::Index(..)
                    | ExprKind::Deref(..)
                    | ExprKind::Member(..)
                    | ExprKind::Call(..)
                    | ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..)
            );
        });
        is_harmless
    };
    let first = all.iter().position(|e| is_test(e)).unwrap_or(all.len());
    if !all[first..].iter().all(|e| is_test(e) || is_harmless(e)) {
        return;
    }
    let (tests, ends): (Vec<&Expr>, Vec<&Expr>) = all.into_iter().partition(|e| is_test(e));
    let at = condition.range;
    let both = |all: Vec<&Expr>| {
        all.into_iter().cloned().reduce(|l, r| Expr {
            kind: ExprKind::Binary(BinaryOp::And, Box::new(l), Box::new(r)),
            range: at,
        })
    };
    let (Some(tests), Some(ends)) = (both(tests), both(ends)) else { return };
    let condition = Expr { range: tests.range, kind: ExprKind::Unary(UnaryOp::Not, Box::new(tests)) };
    let then = Box::new(Stmt { kind: StmtKind::Break, range: condition.range });
    let leave = Stmt { range: condition.range, kind: StmtKind::If { condition, then, otherwise: None } };
    let range = f.body.range;
    let body = std::mem::replace(&mut f.body, Stmt { kind: StmtKind::Empty, range });
    let rest = match body.kind {
        StmtKind::Block(rest) => rest,
        _ => vec![body],
    };
    f.body = Stmt { kind: StmtKind::Block(std::iter::once(leave).chain(rest).collect()), range };
    f.condition = Some(ends);
}

/// How a condition tests the variable that it steps.
struct Test<'e> {
    is_behind: bool,
    op: BinaryOp,
    /// What it is compared with; zero if there is nothing.
    end: Option<&'e Expr>,
}

/// The variable that a condition steps, what it steps by, and how it is tested: `i--`, `++i < n`.
fn stepped(condition: &Expr) -> Option<(&Expr, i64, Test<'_>)> {
    let (e, op, end) = match &condition.kind {
        ExprKind::Step { .. } => (condition, BinaryOp::Ne, None),
        ExprKind::Binary(op, l, r) => (&**l, *op, Some(&**r)),
        _ => return None,
    };
    match &e.kind {
        ExprKind::Step { target, by, is_behind } => {
            Some((target, *by, Test { is_behind: *is_behind, op, end }))
        }
        _ => None,
    }
}

/// The value that a statement gives a variable, if it may be evaluated again.
fn first_value(before: &Stmt, var: VarId) -> Option<&Expr> {
    let first = match &before.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, first), .. })
            if target.as_var() == Some(var) =>
        {
            &**first
        }
        StmtKind::Declare(declared) => match declared.as_slice() {
            [.., Declared { var: v, init: Some(first) }] if *v == var => first,
            _ => return None,
        },
        _ => return None,
    };
    let mut is_plain = !first.mentions(var);
    first.walk(&mut |e| {
        is_plain &= !matches!(
            e.kind,
            ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call(..) | ExprKind::Unknown(..)
        );
    });
    is_plain.then_some(first)
}

/// The first value of a variable in the first part of a header.
fn first_value_mut(init: &mut Stmt, var: VarId) -> Option<&mut Expr> {
    fn find(e: &mut Expr, var: VarId) -> Option<&mut Expr> {
        match &mut e.kind {
            ExprKind::Comma(l, r) => match commas(r).iter().any(|e| sets(e, var)) {
                true => find(r, var),
                false => find(l, var),
            },
            ExprKind::Assign(None, target, value) if target.as_var() == Some(var) => Some(value),
            _ => None,
        }
    }
    match &mut init.kind {
        StmtKind::Declare(declared) => declared.iter_mut().find(|d| d.var == var)?.init.as_mut(),
        StmtKind::Expr(e) => find(e, var),
        _ => None,
    }
}

fn sets(e: &Expr, var: VarId) -> bool {
    matches!(&e.kind, ExprKind::Assign(None, target, _) if target.as_var() == Some(var))
}

/// `target = value;`
fn set(target: Expr, value: Expr) -> Stmt {
    let range = target.range;
    let kind = ExprKind::Assign(None, Box::new(target), Box::new(value));
    Stmt { kind: StmtKind::Expr(Expr { kind, range }), range }
}

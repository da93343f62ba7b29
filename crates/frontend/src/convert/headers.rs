//! Headers of loops in the form `for (i = first; i < end; i++)`: steps in conditions, conditions on what the body changes,
//! headers without a first value.

use crate::ast::*;
use crate::scan::{commas, counter};
use oxeye_ir::{BinaryOp, MathFn, ScalarType, UnaryOp};

/// Gives a header a first value and a step of its own where it has none.
pub(super) fn settle_header(file: &File, f: &mut For) {
    if f.runs_first {
        return;
    }
    let by_condition = f.condition.as_ref().and_then(stepped).and_then(|(target, ..)| target.as_var());
    let var = by_condition.or_else(|| counter(f));
    if let (Some(var), Some(condition)) = (var, &f.condition)
        && counts_with(file, condition, var)
    {
        let itself = Expr { kind: ExprKind::Var(var), range: condition.range };
        let keeps = set(itself.clone(), itself);
        match &mut f.init {
            None => f.init = Some(keeps),
            // `for (q = b; p < end; p++, q++)`
            Some(init) => {
                if let (StmtKind::Expr(others), StmtKind::Expr(keeps)) = (&init.kind, keeps.kind)
                    && !commas(others).into_iter().any(|e| sets(e, var))
                {
                    let range = others.range;
                    let both = ExprKind::Comma(Box::new(others.clone()), Box::new(keeps));
                    init.kind = StmtKind::Expr(Expr { kind: both, range });
                }
            }
        }
    }
    step_behind(file, f);
    tests_inside(f);
}

/// Whether a variable is an integer that only its function changes.
pub(super) fn is_plain_counter(file: &File, var: VarId) -> bool {
    use ScalarType::{I32, I64, U32, U64};
    let variable = file.var(var);
    let is_own = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
    let is_integer = |s: &Scalar| matches!(s.ty, I32 | I64 | U32 | U64) && !s.is_volatile && !s.is_bool;
    is_own && variable.ty.as_scalar().is_some_and(is_integer)
}

/// Whether a loop with this condition may count with a variable: an integer, or a pointer that is compared with another one.
pub(super) fn counts_with(file: &File, condition: &Expr, var: VarId) -> bool {
    let variable = file.var(var);
    let is_own = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
    let is_compared = match &condition.kind {
        ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Ne, l, r) => {
            let is_it = |e: &Expr| e.uncast().as_var() == Some(var);
            let is_pointer = |e: &Expr| file.type_of(e.uncast()).is_some_and(|ty| ty.is_pointer());
            is_it(l) && is_pointer(r) || is_it(r) && is_pointer(l)
        }
        _ => false,
    };
    let is_pointer = matches!(variable.ty, Type::Pointer { .. });
    is_plain_counter(file, var) || is_own && is_pointer && is_compared
}

/// `for (i = n; i-- > 0;)` as `for (i = n - 1; i >= 0; i--)`, and `for (i = n; ++i < m;)` as `for (i = n + 1; i < m; i++)`,
/// which leave the same final value.
pub(super) fn step_behind(file: &File, f: &mut For) {
    let Some(condition) = &f.condition else { return };
    let Some((target, by, test)) = stepped(condition) else { return };
    let Some(var) = target.as_var().filter(|var| is_plain_counter(file, *var)) else { return };
    let is_signed = is_signed(file, var);
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
        (1, BinaryOp::Lt, true) if is_signed => match test.end.filter(|e| is_of_other(e)) {
            Some(end) => compare(BinaryOp::Le, Box::new(end.clone())),
            None => return,
        },
        // Already in the header, what is tested first is one step further.
        (_, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, false) if is_signed => {
            match test.end.filter(|e| is_of_other(e)) {
                Some(end) => compare(test.op, Box::new(end.clone())),
                None => return,
            }
        }
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
        *first = Expr { range: before.range, kind: ExprKind::Binary(sum, Box::new(before), int(by.abs())) };
    } else {
        f.is_behind = true;
    }
    f.condition = Some(settled);
    f.step = Some(match f.step.take() {
        Some(other) => at(ExprKind::Comma(Box::new(other), Box::new(step))),
        None => step,
    });
}

/// Whether a variable is a signed integer.
pub(super) fn is_signed(file: &File, var: VarId) -> bool {
    let ty = file.var(var).ty.as_scalar().map(|s| s.ty);
    matches!(ty, Some(ScalarType::I32 | ScalarType::I64))
}

/// `for (k = 0; k < most && x < 4; k++)`, where the body changes `x`, as a loop that counts and begins with
/// `if (!(x < 4)) break;`.
pub(super) fn tests_inside(f: &mut For) {
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
pub(super) struct Test<'e> {
    pub(super) is_behind: bool,
    pub(super) op: BinaryOp,
    /// What it is compared with; zero if there is nothing.
    pub(super) end: Option<&'e Expr>,
}

/// The variable that a condition steps, what it steps by, and how it is tested: `i--`, `++i < n`.
pub(super) fn stepped(condition: &Expr) -> Option<(&Expr, i64, Test<'_>)> {
    let (e, op, end) = match &condition.kind {
        ExprKind::Step { .. } | ExprKind::Assign(..) => (condition, BinaryOp::Ne, None),
        ExprKind::Binary(op, l, r) => (&**l, *op, Some(&**r)),
        _ => return None,
    };
    match &e.kind {
        ExprKind::Step { target, by, is_behind } => {
            Some((target, *by, Test { is_behind: *is_behind, op, end }))
        }
        ExprKind::Assign(Some(sum @ (BinaryOp::Add | BinaryOp::Sub)), target, by) => {
            let by = constant(by).filter(|by| i32::try_from(*by).is_ok() && *by != 0)?;
            let by = if *sum == BinaryOp::Add { by } else { -by };
            Some((target, by, Test { is_behind: false, op, end }))
        }
        _ => None,
    }
}

/// The value that a statement gives a variable, if it may be evaluated again.
pub(super) fn first_value(before: &Stmt, var: VarId) -> Option<&Expr> {
    let first = match &before.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, first), .. })
            if target.as_var() == Some(var) =>
        {
            &**first
        }
        StmtKind::Declare(declared) => match declared.as_slice() {
            [.., Declared { var: v, init: Some(first), .. }] if *v == var => first,
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
pub(super) fn set(target: Expr, value: Expr) -> Stmt {
    let range = target.range;
    let kind = ExprKind::Assign(None, Box::new(target), Box::new(value));
    Stmt { kind: StmtKind::Expr(Expr { kind, range }), range }
}

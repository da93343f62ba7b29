//! Pointers that lead to whole structures, whether or not a function follows them.

use crate::ast::*;
use crate::pointers::Pointers;
use oxeye_binding::Step;
use oxeye_ir::MathFn;

/// Most calls and assignments that a pointer is followed through.
const MOST_STEPS: usize = 6;

/// Whether a parameter leads to a whole structure wherever its function may follow it: all its calls pass such pointers, and the
/// function calls nothing that might free it.
pub(crate) fn is_surely_there(file: &File, pointers: &Pointers<'_>, var: VarId) -> bool {
    let variable = file.var(var);
    let Some(function) = variable.function.map(|f| &file.functions[f]) else { return false };
    let mut calls_others = false;
    function.body.walk_exprs(&mut |e| {
        calls_others |= match &e.kind {
            ExprKind::Call(callee, _) => {
                !matches!(&callee.kind, ExprKind::Name(name) if MathFn::from_c_name(name).is_some())
            }
            ExprKind::Unknown(..) => true,
            _ => false,
        };
    });
    matches!(variable.kind, VarKind::Param(_)) && !calls_others && leads_there(file, pointers, var, 0)
}

fn leads_there(file: &File, pointers: &Pointers<'_>, var: VarId, depth: usize) -> bool {
    let variable = file.var(var);
    let Type::Pointer { to, .. } = &variable.ty else { return false };
    let is_there = |e: &Expr| is_structure(file, pointers, e, to, depth + 1);
    let (true, Type::Struct(_)) = (depth < MOST_STEPS && variable.member.is_none(), &**to) else {
        return false;
    };
    match (variable.kind, pointers.values_of(var)) {
        (VarKind::Param(position), Some([])) => variable
            .function
            .is_some_and(|f| pointers.all_calls(f, |args| args.get(position).is_some_and(is_there))),
        // What is not set yet is not passed on.
        (VarKind::Local { is_static: false }, Some(values)) => values.iter().all(|value| is_there(value)),
        _ => false,
    }
}

/// Whether the value of an expression is the address of a structure of this type.
fn is_structure(file: &File, pointers: &Pointers<'_>, e: &Expr, ty: &Type, depth: usize) -> bool {
    match &e.kind {
        ExprKind::Var(v) => match &file.var(*v).ty {
            Type::Pointer { to, .. } => **to == *ty && leads_there(file, pointers, *v, depth),
            _ => false,
        },
        ExprKind::AddressOf(inner) => inner.as_var().is_some_and(|v| {
            let variable = file.var(v);
            variable.member.is_none() && variable.ty == *ty
        }),
        ExprKind::Select(_, yes, no) => [yes, no].iter().all(|e| is_structure(file, pointers, e, ty, depth)),
        ExprKind::Call(callee, _) => match &callee.kind {
            ExprKind::Name(name) => {
                file.function(name).is_some_and(|(_, f)| makes(file, pointers, f, ty).is_some())
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether all that a function returns is a new structure of this type, which it has followed.
fn makes(file: &File, pointers: &Pointers<'_>, function: &Function, ty: &Type) -> Option<()> {
    let StmtKind::Block(body) = &function.body.kind else { return None };
    let (last, before) = body.split_last()?;
    let StmtKind::Return(Some(value)) = &last.kind else { return None };
    let var = value.as_var().filter(|v| file.var(*v).kind == VarKind::Local { is_static: false })?;
    let [value] = pointers.values_of(var)? else { return None };
    let ExprKind::Call(callee, args) = &value.uncast().kind else { return None };
    let ExprKind::Name(name) = &callee.kind else { return None };
    let (Type::Pointer { to, .. }, "malloc" | "calloc") = (&file.var(var).ty, name.as_str()) else {
        return None;
    };
    let is_size = |e: &Expr| match &e.kind {
        ExprKind::SizeofType(of) => of == ty,
        ExprKind::SizeofExpr(inner) => file.type_of(inner).as_ref() == Some(ty),
        _ => false,
    };
    let is_followed = |s: &Stmt| match &s.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => {
            let member = target.as_var().and_then(|v| file.var(v).member.as_ref());
            member.is_some_and(|m| m.root == var && m.steps.first() == Some(&Step::Follow))
        }
        _ => false,
    };
    let mut n_returns = 0;
    function.body.walk(&mut |s| {
        n_returns += usize::from(matches!(s.kind, StmtKind::Return(_) | StmtKind::Unknown(..)))
    });
    let is_whole = **to == *ty && args.last().is_some_and(is_size) && file.function(name).is_none();
    (is_whole && n_returns == 1 && before.iter().any(is_followed)).then_some(())
}

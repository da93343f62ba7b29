//! Pointers to structures that stand for structures elsewhere: `cell *c = &grid[i]`, and parameters of functions.
//!
//! A member reached from such a pointer is a variable of its own, as all members are. This module records which members
//! of the structures themselves it may be, so that searches for writes find them, and that these exist where the
//! pointer is followed.

use crate::ast::*;
use crate::members::{member, member_of};
use oxeye_binding::Step;
use oxeye_ir::ScalarType;

/// Greatest depth of members made of members that were made here.
const MAX_ROUNDS: usize = 6;
/// Most members of one file.
const MOST_MEMBERS: usize = 20_000;

/// Determines which members a handle's members may be.
pub(crate) fn connect(file: &mut File) {
    let handles = handles(file);
    if handles.is_empty() {
        return;
    }
    let mut done = 0;
    for _ in 0..MAX_ROUNDS {
        let n = file.vars.len();
        if n == done || n > MOST_MEMBERS {
            return;
        }
        // Only members that were made in the last round.
        for id in (done..n).map(|k| VarId(k as u32)) {
            let Some(of) = file.var(id).member.clone() else { continue };
            for (_, value) in handles.iter().filter(|(root, value)| {
                *root == of.root && (!value.mentions(of.root) || *value == first_of(of.root, value.range))
            }) {
                if let Some(target) = through(file, value, &of.steps).filter(|target| *target != id) {
                    file.stands_for.entry(id).or_default().insert(target);
                }
            }
        }
        done = n;
    }
}

/// Variables that are, or point to, structures, with each of their values.
fn handles(file: &File) -> Vec<(VarId, Expr)> {
    let is_handle = |v: VarId| {
        let is_of_function =
            matches!(file.var(v).kind, VarKind::Param(_) | VarKind::Local { is_static: false });
        let ty = match &file.var(v).ty {
            Type::Pointer { to, .. } => to,
            Type::Array { of, .. } if matches!(file.var(v).kind, VarKind::Param(_)) => of.innermost(),
            ty => ty,
        };
        is_of_function && matches!(ty, Type::Struct(_))
    };
    let mut found: Vec<(VarId, Expr)> = Vec::new();
    let mut walking: Vec<(VarId, Range)> = Vec::new();
    for function in &file.functions {
        function.body.walk(&mut |s| {
            if let StmtKind::Declare(declared) = &s.kind {
                let values = declared.iter().filter_map(|d| Some((d.var, d.init.as_ref()?)));
                found.extend(values.filter(|(v, _)| is_handle(*v)).map(|(v, e)| (v, e.clone())));
            }
        });
        function.body.walk_exprs(&mut |e| match &e.kind {
            ExprKind::Step { target, .. } | ExprKind::Assign(Some(_), target, _) => {
                walking.extend(target.as_var().filter(|v| is_handle(*v)).map(|v| (v, e.range)));
            }
            ExprKind::Assign(None, target, value) => {
                let target = target.as_var().filter(|v| is_handle(*v));
                found.extend(target.map(|v| (v, (**value).clone())));
            }
            ExprKind::Call(callee, args) => {
                let ExprKind::Name(name) = &callee.kind else { return };
                let Some((_, called)) = file.function(name) else { return };
                let passed = called.params.iter().zip(args);
                found.extend(passed.filter(|(v, _)| is_handle(**v)).map(|(v, e)| (*v, e.clone())));
            }
            _ => {}
        });
    }
    // Where a pointer walks, it leads to other elements of what it was set to, or of what it is itself.
    walking.sort_unstable_by_key(|(v, range)| (*v, range.start));
    walking.dedup_by_key(|(v, _)| *v);
    for (var, range) in walking {
        let set = found.iter().filter(|(v, _)| *v == var).filter_map(|(_, value)| value.uncast().as_var());
        let walked: Vec<VarId> = set.filter(|v| file.var(*v).ty.is_pointer()).chain([var]).collect();
        found.extend(walked.into_iter().map(|v| (var, first_of(v, range))));
    }
    found
}

/// `&p[0]`
fn first_of(pointer: VarId, range: Range) -> Expr {
    let boxed = |kind| Box::new(Expr { kind, range });
    let index = ExprKind::Index(boxed(ExprKind::Var(pointer)), boxed(ExprKind::Int(0, ScalarType::I32)));
    Expr { kind: ExprKind::AddressOf(boxed(index)), range }
}

/// The pointer or array to one of whose elements a pointer is set.
fn pointer_of(file: &File, value: Expr) -> Option<Expr> {
    let is_pointer = |e: &Expr| file.type_of(e).is_some_and(|ty| ty.is_pointer());
    match value.kind {
        ExprKind::AddressOf(inner) => match inner.kind {
            ExprKind::Index(base, _) => pointer_of(file, *base),
            _ => None,
        },
        ExprKind::Binary(oxeye_ir::BinaryOp::Add, l, r) if !is_pointer(&l) => pointer_of(file, *r),
        ExprKind::Binary(oxeye_ir::BinaryOp::Add | oxeye_ir::BinaryOp::Sub, l, _) => pointer_of(file, *l),
        _ => Some(value),
    }
}

/// The member reached from `value` by these steps.
fn through(file: &mut File, value: &Expr, steps: &[Step]) -> Option<VarId> {
    let range = value.range;
    let mut at = value.uncast().clone();
    if steps.first() == Some(&Step::Subscript) {
        at = pointer_of(file, at)?;
    }
    let mut is_arrow = false;
    for step in steps {
        match step {
            Step::Follow => is_arrow = true,
            Step::Subscript => {
                let zero = Expr { kind: ExprKind::Int(0, ScalarType::I32), range };
                at = Expr { kind: ExprKind::Index(Box::new(at), Box::new(zero)), range };
            }
            _ => {
                let kind = member(file, at, member_of(step)?, std::mem::take(&mut is_arrow), range);
                if matches!(kind, ExprKind::Member(..)) {
                    return None;
                }
                at = Expr { kind, range };
            }
        }
    }
    let mut inner = &at;
    while let ExprKind::Index(base, _) = &inner.kind {
        inner = base;
    }
    inner.as_var()
}

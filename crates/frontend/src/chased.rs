//! Loops that go where memory leads them: along a linked list, or from index to index in an array that says what comes next.

use crate::ast::{Expr, ExprKind, File, Range, Stmt, StmtKind, VarId};
use crate::refusal::Refusal;

/// The refusal of a loop whose condition tests a variable that the loop sets to what it reads from memory with it; `None` of
/// others.
pub(crate) fn chase(file: &File, s: &Stmt) -> Option<Box<Refusal>> {
    let (condition, step, body) = match &s.kind {
        StmtKind::For(f) => (f.condition.as_ref()?, f.step.as_ref(), &f.body),
        StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
            (condition, None, &**body)
        }
        _ => return None,
    };
    let mut found: Option<(VarId, Range)> = None;
    let mut look = |e: &Expr| {
        if let ExprKind::Assign(None, target, value) = &e.kind
            && let Some(var) = target.as_var().filter(|var| condition.mentions(*var))
            && leads(file, value, var)
        {
            found.get_or_insert((var, e.range));
        }
    };
    step.into_iter().for_each(|step| step.walk(&mut look));
    body.walk_exprs(&mut look);
    let (var, range) = found?;
    let name = &file.var(var).name;
    let message =
        format!("memory says where `{name}` goes next, so how often the loop runs is not known beforehand");
    Some(Refusal::new(range, message).help("collect what it reaches in an array first, in a loop of its own"))
}

/// Whether a value is read from memory that a variable leads to.
fn leads(file: &File, value: &Expr, var: VarId) -> bool {
    let mut found = false;
    value.walk(&mut |e| {
        found |= match &e.kind {
            ExprKind::Var(member) => file.var(*member).member.as_ref().is_some_and(|m| m.root == var),
            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..) => e.mentions(var),
            _ => false,
        };
    });
    found
}

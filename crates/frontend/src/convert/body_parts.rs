//! The statements of a loop's body, and jumps among them.

use crate::ast::*;
use crate::scan::commas;

/// The statements of a body, with those among them into which one was split.
pub(super) fn statements(body: &Stmt) -> Vec<Stmt> {
    match &body.kind {
        StmtKind::Block(all) => all.iter().flat_map(parts).collect(),
        _ => parts(body),
    }
}

fn parts(s: &Stmt) -> Vec<Stmt> {
    match &s.kind {
        StmtKind::Block(all) if all.last().is_some_and(|last| last.range == s.range) => {
            all.iter().flat_map(parts).collect()
        }
        // `i++, j++;`
        StmtKind::Expr(e) => {
            let one = |e: &Expr| Stmt { kind: StmtKind::Expr(e.clone()), range: e.range };
            commas(e).into_iter().map(one).collect()
        }
        _ => vec![s.clone()],
    }
}

/// Whether a `continue` in a statement refers to an enclosing loop.
pub(super) fn continues(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Continue => true,
        StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => false,
        _ => s.children().into_iter().any(continues),
    }
}

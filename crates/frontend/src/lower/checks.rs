//! Checks that end the program: `if (i >= n) { fprintf(stderr, ...); exit(1); }` and `assert(i < n)`. A nest without them does the
//! same wherever a test before it shows that none of them ever fails.

use super::lowerer::Lowerer;
use crate::ast::{ExprKind, File, Range, Stmt, StmtKind};
use crate::refusal::Refusal;
use oxeye_ir::{Affine, BinaryOp, Expr, UnaryOp};

/// Functions that never return.
const ENDS: [&str; 7] = ["exit", "abort", "_Exit", "_exit", "quick_exit", "__assert_fail", "__assert_rtn"];
/// Most bounds of iterators that are tried in the place of one.
const MOST_BOUNDS: usize = 4;

/// Whether a statement ends the program.
pub(super) fn ends_program(file: &File, s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Block(body) => body.last().is_some_and(|last| ends_program(file, last)),
        StmtKind::Expr(e) => match &e.kind {
            ExprKind::Call(callee, _) => matches!(&callee.kind, ExprKind::Name(name)
                if ENDS.contains(&name.as_str()) && file.function(name).is_none()),
            _ => false,
        },
        _ => false,
    }
}

impl Lowerer<'_> {
    /// Whether a condition holds in no iteration (`false`), or in all of them, which is tested before the nest if need be.
    pub(super) fn is_always(&mut self, condition: &Expr, holds: bool) -> bool {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.is_always(inner, !holds),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), l, r) => {
                match (*op == BinaryOp::And) == holds {
                    true => self.is_always(l, holds) && self.is_always(r, holds),
                    false => self.is_always(l, holds) || self.is_always(r, holds),
                }
            }
            Expr::Binary(op, l, r) => {
                let affine = |s: &Self, e: &Expr| s.exact(e)?.as_affine().cloned();
                let (Some(l), Some(r)) = (affine(self, l), affine(self, r)) else { return false };
                let (up, down) = (r.clone() - l.clone(), l - r);
                match (op, holds) {
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => self.is_nowhere_negative(&up.offset(-1)),
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => self.is_nowhere_negative(&up),
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => {
                        self.is_nowhere_negative(&down.offset(-1))
                    }
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => self.is_nowhere_negative(&down),
                    (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => {
                        self.is_nowhere_negative(&up.offset(-1)) || self.is_nowhere_negative(&down.offset(-1))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether a number is negative in no iteration: at the bounds of the iterators, by tests before the nest.
    fn is_nowhere_negative(&mut self, a: &Affine) -> bool {
        if self.facts.prove_non_negative(a) {
            return true;
        }
        let least = self.least(a, self.loops.len());
        least.is_some_and(|least| self.is_not_negative(&least))
    }

    /// A number without iterators that is not greater than this one in any iteration of the first so many loops.
    fn least(&self, a: &Affine, n_loops: usize) -> Option<Affine> {
        let Some(innermost) = n_loops.checked_sub(1) else {
            return a.loops().next().is_none().then(|| a.clone());
        };
        let (_, id) = self.loops[innermost];
        let c = a.coefficient(id);
        if c == 0 {
            return self.least(a, innermost);
        }
        let rest = a.clone() - Affine::term(id, c);
        let bounds: Vec<Affine> = self.facts.bounds(id, c > 0).take(MOST_BOUNDS).collect();
        bounds.into_iter().find_map(|bound| self.least(&(rest.clone() + bound.scaled(c)), innermost))
    }

    /// The refusal of a loop that may end the program.
    pub(super) fn may_end_program(&self, at: Range) -> Box<Refusal> {
        Refusal::new(at, "a check in the loop may end the program").help(
            "check before the loop what can be known there, or compile with -DNDEBUG if it is an `assert`",
        )
    }
}

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
/// Most bounds of what is computed from several numbers, and most numbers of one of them.
const MOST_COMPUTED: usize = 8;

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

/// Lower bounds of `l - r`, each the least of some numbers. A number that is chosen is not below the least choice, the
/// greater of two is below neither, and the lesser of two is one of them.
fn lower_bounds(l: &Expr, r: &Expr) -> Vec<Vec<Affine>> {
    sums(&bounds_of(l, 1), &bounds_of(r, -1))
}

/// Lower bounds of a number times `sign`, which is 1 or -1.
fn bounds_of(e: &Expr, sign: i64) -> Vec<Vec<Affine>> {
    match e {
        Expr::Affine(a) => vec![vec![a.clone().scaled(sign)]],
        Expr::Unary(UnaryOp::Neg, inner) => bounds_of(inner, -sign),
        Expr::Binary(BinaryOp::Add, l, r) => sums(&bounds_of(l, sign), &bounds_of(r, sign)),
        Expr::Binary(BinaryOp::Sub, l, r) => sums(&bounds_of(l, sign), &bounds_of(r, -sign)),
        Expr::Binary(op @ (BinaryOp::Max | BinaryOp::Min), l, r) => {
            let (l, r) = (bounds_of(l, sign), bounds_of(r, sign));
            let is_greater = (*op == BinaryOp::Max) == (sign > 0);
            if is_greater { few([l, r].concat()) } else { both(&l, &r) }
        }
        Expr::Select { condition, then, otherwise } => {
            let chosen = |e: &Expr, holds: bool| {
                let bounds = bounds_of(e, sign);
                // What is subtracted is not negative where this is chosen.
                let nearer = excess(condition, holds).map(|by| sums(&bounds, &[vec![by.scaled(-1)]]));
                few([bounds, nearer.unwrap_or_default()].concat())
            };
            both(&chosen(then, true), &chosen(otherwise, false))
        }
        _ => Vec::new(),
    }
}

/// A number that is not negative where a comparison of whole numbers holds, or where it does not.
fn excess(condition: &Expr, holds: bool) -> Option<Affine> {
    let Expr::Binary(op, l, r) = condition else { return None };
    let (l, r) = (l.as_affine()?.clone(), r.as_affine()?.clone());
    match (op, holds) {
        (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => Some((r - l).offset(-1)),
        (BinaryOp::Le, true) | (BinaryOp::Gt, false) => Some(r - l),
        (BinaryOp::Gt, true) | (BinaryOp::Le, false) => Some((l - r).offset(-1)),
        (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => Some(l - r),
        _ => None,
    }
}

/// Bounds of two numbers as bounds of either.
fn both(l: &[Vec<Affine>], r: &[Vec<Affine>]) -> Vec<Vec<Affine>> {
    few(l.iter().flat_map(|l| r.iter().map(move |r| [l.as_slice(), r].concat())).collect())
}

/// Bounds of the sum of two numbers.
fn sums(l: &[Vec<Affine>], r: &[Vec<Affine>]) -> Vec<Vec<Affine>> {
    let sum = |l: &[Affine], r: &[Affine]| -> Vec<Affine> {
        l.iter().flat_map(|l| r.iter().map(move |r| l.clone() + r.clone())).collect()
    };
    few(l.iter().flat_map(|l| r.iter().map(move |r| sum(l, r))).collect())
}

/// Those of not too many numbers, and not too many of those.
fn few(mut bounds: Vec<Vec<Affine>>) -> Vec<Vec<Affine>> {
    bounds.retain(|bound| bound.len() <= MOST_COMPUTED);
    bounds.truncate(MOST_COMPUTED);
    bounds
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
                let (Some(l), Some(r)) = (self.exact(l), self.exact(r)) else { return false };
                let (up, down) = (lower_bounds(&r, &l), lower_bounds(&l, &r));
                match (op, holds) {
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => self.are_at_least(1, &up),
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => self.are_at_least(0, &up),
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => self.are_at_least(1, &down),
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => self.are_at_least(0, &down),
                    (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => {
                        self.are_at_least(1, &up) || self.are_at_least(1, &down)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether all numbers of one of these bounds are `least` or more in every iteration. What needs no test is asked first.
    fn are_at_least(&mut self, least: i64, bounds: &[Vec<Affine>]) -> bool {
        let proved = |a: &Affine| self.facts.prove_non_negative(&a.clone().offset(-least));
        bounds.iter().any(|bound| bound.iter().all(proved))
            || bounds
                .iter()
                .any(|bound| bound.iter().all(|a| self.is_nowhere_negative(&a.clone().offset(-least))))
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
        may_end_program(at)
    }
}

/// The same, wherever it is found out.
pub(crate) fn may_end_program(at: Range) -> Box<Refusal> {
    Refusal::new(at, "a check in the loop may end the program")
        .help("check before the loop what can be known there, or compile with -DNDEBUG if it is an `assert`")
}

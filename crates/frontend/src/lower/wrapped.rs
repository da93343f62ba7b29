//! Loops that bring a number back into a range, as at periodic borders: `while (j < 0) j += n;`. Where one step is always enough,
//! which is proved or tested before the nest, it is `j = j < 0 ? j + n : j`.

use super::lowerer::{Bound, Lowerer};
use crate::ast::{Expr, ExprKind, Range, Stmt, StmtKind, VarId};
use crate::scan::Scan;
use oxeye_ir::{BinaryOp, ScalarType};

/// `while (condition) var = next;`
struct Steps<'s> {
    condition: &'s Expr,
    var: VarId,
    /// The variable as it is written there.
    target: &'s Expr,
    next: Expr,
}

impl<'s> Steps<'s> {
    fn of(s: &'s Stmt) -> Option<Self> {
        let (condition, step) = match &s.kind {
            StmtKind::While { condition, body } => (condition, only_expression(body)?),
            // One that counts was made such a loop, which begins with what the variable is.
            StmtKind::For(f) if !f.runs_first && !f.is_behind && is_empty(&f.body) => {
                f.enters_with.as_ref()?;
                (f.condition.as_ref()?, f.step.as_ref()?)
            }
            _ => return None,
        };
        let (op, target, by) = match &step.kind {
            ExprKind::Assign(Some(op @ (BinaryOp::Add | BinaryOp::Sub)), target, by) => {
                (*op, target, (**by).clone())
            }
            ExprKind::Step { target, by, .. } => {
                (BinaryOp::Add, target, of_kind(ExprKind::Int(*by, ScalarType::I32), step.range))
            }
            _ => return None,
        };
        let var = target.as_var()?;
        let next = of_kind(ExprKind::Binary(op, target.clone(), Box::new(by)), step.range);
        Some(Self { condition, var, target, next })
    }
}

fn only_expression(s: &Stmt) -> Option<&Expr> {
    match &s.kind {
        StmtKind::Block(body) => body.first().filter(|_| body.len() == 1).and_then(only_expression),
        StmtKind::Expr(e) => Some(e),
        _ => None,
    }
}

fn is_empty(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Empty => true,
        StmtKind::Block(body) => body.iter().all(is_empty),
        _ => false,
    }
}

fn of_kind(kind: ExprKind, range: Range) -> Expr {
    Expr { kind, range }
}

impl Lowerer<'_> {
    /// A loop that takes one step or none, as an assignment.
    pub(super) fn as_wrapped(&mut self, s: &Stmt) -> Option<Expr> {
        let Steps { condition, var, target, next } = Steps::of(s).filter(|_| !self.loops.is_empty())?;
        let scan = Scan::of(self.cx.file, s);
        let is_plain = scan.written.iter().all(|written| *written == var) && self.is_tame(var);
        let scalar = self.cx.file.var(var).ty.as_scalar().filter(|scalar| is_plain && !scalar.is_volatile)?;
        let before = self.bound.get(&var).filter(|bound| matches!(bound, Bound::Value(_))).cloned()?;
        let stepped = self.value(&next).ok()?;
        let stepped = self.converted(stepped, scalar);
        self.bound.insert(var, Bound::Value(stepped));
        let again = self.value(condition);
        self.bound.insert(var, before);
        if !self.is_always(&again.ok()?.e, false) {
            return None;
        }
        let boxed = |e: &Expr| Box::new(e.clone());
        let chosen = ExprKind::Select(boxed(condition), Box::new(next), boxed(target));
        let value = Box::new(of_kind(chosen, s.range));
        Some(of_kind(ExprKind::Assign(None, boxed(target), value), s.range))
    }
}

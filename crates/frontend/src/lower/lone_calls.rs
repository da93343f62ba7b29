//! Calls within an expression that write to memory: `sum += step(&state) - a[i]`. Such a call may be made before the statement if
//! it is the only one and the rest of the statement reads nothing that it writes. (C leaves open when it is made.)

use super::lowerer::Lowerer;
use super::value::Value;
use crate::ast::{Expr, ExprKind, Stmt, StmtKind, Type, VarId, VarKind};
use crate::refusal::Lowered;
use crate::scan::Scan;
use oxeye_ir::Node;

impl Lowerer<'_> {
    /// The value of a condition, whose calls are made before.
    pub(super) fn condition(&mut self, e: &Expr, out: &mut Vec<Node>) -> Lowered<Value> {
        self.hoisting(self.lone_call(e), out, |l, _| l.value(e))
    }

    /// The only call in a statement, an assignment or an expression, that writes to memory, if that is seen by nothing else there.
    pub(super) fn lone_call<'e>(&self, statement: &'e Expr) -> Option<&'e Expr> {
        let mut calls = Vec::new();
        statement.walk(&mut |e| {
            if let ExprKind::Call(callee, _) = &e.kind
                && let Some((_, function)) =
                    self.cx.file.callee(callee).and_then(|name| self.cx.file.function(name))
                && !self.cx.file.only_computes(function)
            {
                calls.push(e);
            }
        });
        let [call] = calls[..] else { return None };
        let parts = match &statement.kind {
            ExprKind::Assign(_, target, value) => vec![&**target, &**value],
            _ => vec![statement],
        };
        self.rest_is_apart(parts, call).then_some(call)
    }

    /// Whether the expressions without the call write nothing, and read nothing that the call writes.
    fn rest_is_apart(&self, mut waiting: Vec<&Expr>, call: &Expr) -> bool {
        let writes = Scan::of(self.cx.file, &Stmt { kind: StmtKind::Expr(call.clone()), range: call.range });
        let mut is_apart = !writes.is_cut_short;
        while let Some(e) = waiting.pop() {
            if std::ptr::eq(e, call) {
                continue;
            }
            is_apart &= match &e.kind {
                ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Both(..) | ExprKind::Unknown(..) => {
                    false
                }
                // What other functions of the file read is not looked for.
                ExprKind::Call(callee, _) => {
                    self.cx.file.callee(callee).is_some_and(|name| self.cx.file.function(name).is_none())
                }
                ExprKind::Var(v) => !self.may_change(*v, &writes),
                _ => true,
            };
            waiting.extend(e.children());
        }
        is_apart
    }

    /// Whether such writes may change a variable, or what it leads to.
    fn may_change(&self, var: VarId, writes: &Scan) -> bool {
        let (file, pointers) = (self.cx.file, &self.cx.pointers);
        let is_known = |v: VarId| {
            let variable = file.var(v);
            let is_local = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
            matches!(variable.ty, Type::Scalar(_)) && is_local && !pointers.escapes(v)
        };
        let may_be = |written: VarId| {
            let (a, b) = (file.var(var).ty.innermost(), file.var(written).ty.innermost());
            self.cx.may_share(a, b) && !pointers.are_distinct(var, written)
        };
        writes.written.contains(&var)
            || writes.stored.contains(&var)
            || !is_known(var)
                && (writes.stored.iter().any(|w| may_be(*w))
                    || writes.written.iter().any(|w| !is_known(*w) && may_be(*w)))
    }
}

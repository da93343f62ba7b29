//! Assignments of complex numbers: two statements, whose values are those before either.

use super::lowerer::Lowerer;
use crate::ast::{self, ExprKind, Range, Scalar, VarId, VarKind};
use crate::members::member_of;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Expr, Node, Stmt, Update};

impl Lowerer<'_> {
    /// `one` and `other` set the parts of a number. If the value of `other` may depend on what `one` stores, it is kept in
    /// a variable of its own.
    pub(super) fn both(
        &mut self,
        one: &ast::Expr,
        other: &ast::Expr,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.effect(one, &mut first)?;
        self.effect(other, &mut second)?;
        let (Some(Node::Stmt(one)), Some(Node::Stmt(mut other))) = (first.pop(), second.pop()) else {
            return Err(Refusal::new(at, "a complex number is set in a way that cannot be analysed"));
        };
        let before = [first, second].concat();
        let sets = |nodes: &[Node]| super::sets(nodes, one.target.array);
        let is_read = |s: &Stmt| s.value.reads().iter().any(|a| a.array == one.target.array);
        if sets(&before) {
            return Err(Refusal::new(at, "a complex number is changed inside the expression that sets it")
                .help("give that change a statement of its own"));
        }
        out.extend(before);
        if is_read(&other) {
            let ty = self.natural(&other.value);
            let scalar = Scalar { ty, spelling: None, is_volatile: false, is_bool: false };
            let kept = self.own_scalar("imaginary", &scalar, self.storage_here());
            let value = std::mem::replace(&mut other.value, Expr::Read(kept.clone()));
            self.push(kept, Update::Assign, value, at, out);
        }
        out.extend([Node::Stmt(one), Node::Stmt(other)]);
        Ok(())
    }

    /// The same in a function that only computes a value: its variables stand for their values.
    pub(super) fn set_both(
        &mut self,
        one: &ast::Expr,
        other: &ast::Expr,
        refuse: &dyn Fn(&str) -> Box<Refusal>,
    ) -> Lowered<()> {
        let mut values = Vec::new();
        for e in [one, other] {
            let ExprKind::Assign(op, target, value) = &e.kind else { return Err(refuse("writes to memory")) };
            let Some(v) = target.as_var().filter(|v| self.is_own_part(*v)) else {
                return Err(refuse("writes to memory"));
            };
            let mut value = self.value(value)?;
            if let Some(op) = op {
                let old = self.value(target)?;
                value = self.binary(*op, old, value, e.range)?;
            }
            values.push((v, value));
        }
        values.into_iter().try_for_each(|(v, value)| self.set_value(v, value, refuse))
    }

    pub(super) fn lost_part(&self, at: Range) -> Box<Refusal> {
        Refusal::new(at, "this complex number cannot be followed to the array that it belongs to")
            .help("set a pointer to its row before the loop, and subscript that")
    }

    /// Whether a variable is part of a structure or a complex number that is a local variable.
    pub(super) fn is_own_part(&self, var: VarId) -> bool {
        let file = self.cx.file;
        let Some(member) = &file.var(var).member else { return false };
        matches!(file.var(member.root).kind, VarKind::Local { is_static: false } | VarKind::Param(_))
            && member.steps.iter().all(|s| member_of(s).is_some())
    }
}

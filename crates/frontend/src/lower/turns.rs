//! Loops in which pointers take turns: by the remainder of the loop's variable, or by changing places at the end.

use super::loops::changing_places;
use super::lowerer::{self, Lowerer};
use super::pointer::{Pointer, n_levels};
use super::value::{Value, is_unsigned};
use crate::ast::{self, ExprKind, Stmt, StmtKind, VarId};
use crate::flow::{is_address_taken, is_live_after};
use crate::refusal::Lowered;
use crate::swaps::Swap;
use oxeye_ir::{Affine, BinaryOp, Expr, Loop, Node, PointerSwap};
use std::collections::BTreeSet;

impl Lowerer<'_> {
    /// How many iterations it takes until everything is as before, if pointers in the body depend on the remainder of the
    /// loop's variable by a number.
    pub(super) fn turns(&self, body: &[Stmt], var: VarId, l: &Loop) -> Option<i64> {
        let mut found: Option<i64> = None;
        for s in body {
            s.walk_exprs(&mut |e| {
                if let ExprKind::Select(condition, one, _) = &e.kind
                    && self.type_of(one).is_some_and(|ty| ty.is_pointer())
                {
                    found = found.max(remainder_by(condition, var));
                }
            });
            s.walk(&mut |s| {
                if let StmtKind::If { condition, then, .. } = &s.kind
                    && sets_pointers(self.cx.file, then)
                {
                    found = found.max(remainder_by(condition, var));
                }
            });
        }
        let is_plain = l.step == 1
            && !is_unsigned(l.ty)
            && l.lower.as_affine().is_some()
            && l.upper.as_affine().is_some();
        found.filter(|n| is_plain && (2..=4).contains(n))
    }

    /// A loop as groups of so many iterations, each with its own copy of the body.
    pub(super) fn in_pieces(
        &mut self,
        body: &[Stmt],
        (var, turns): (VarId, i64),
        l: &mut Loop,
    ) -> Lowered<()> {
        let (Some(lower), Some(upper)) = (l.lower.as_affine().cloned(), l.upper.as_affine().cloned()) else {
            return self.loop_body(body, &mut l.body);
        };
        self.residues.insert(l.id, (lower, turns));
        let before = self.bound.clone();
        self.loop_body(body, &mut l.body)?;
        for k in 1..turns {
            self.bound = before.clone();
            let here = Affine::var(l.id).offset(k);
            self.bound.insert(var, lowerer::Bound::Value(Value { e: here.clone().into(), ty: l.ty }));
            let condition = Expr::binary(BinaryOp::Lt, here.into(), upper.clone().into());
            let mark = self.facts.len();
            self.facts.push_condition(&condition, true);
            let mut then = Vec::new();
            self.loop_body(body, &mut then)?;
            self.facts.truncate(mark);
            if !then.is_empty() {
                l.body.push(Node::If { condition, then, otherwise: Vec::new() });
            }
        }
        self.bound = before;
        l.step = turns;
        Ok(())
    }

    /// A time loop at whose end pointers change places, of which the body of the first iteration is lowered: the body of the
    /// second one, in which each pointer leads where the other did, and so on in turns.
    pub(super) fn other_way_round(
        &mut self,
        s: &Stmt,
        body: &[Stmt],
        (var, swaps): (VarId, &[Swap]),
        l: &mut Loop,
    ) -> Lowered<()> {
        let file = self.cx.file;
        let mut seen = BTreeSet::new();
        for swap in swaps {
            let refusal = || changing_places(file, swap);
            let is_outermost = self.loops.len() == 1 && self.depth() == 0;
            let is_plain = l.step == 1 && !is_unsigned(l.ty) && !body.iter().any(leaves_out);
            let is_free = |v: VarId| !is_address_taken(self.cx.function, v);
            let is_lost = |v: VarId| {
                is_live_after(file, self.cx.function, s.range, v) || !is_free(v) || self.is_global(v)
            };
            if !is_outermost
                || !is_plain
                || [swap.first, swap.second].into_iter().any(|v| !is_free(v) || !seen.insert(v))
                || swap.saved.is_some_and(is_lost)
            {
                return Err(refusal());
            }
        }
        let (Some(lower), Some(upper)) = (l.lower.as_affine().cloned(), l.upper.as_affine().cloned()) else {
            return Err(changing_places(file, &swaps[0]));
        };
        if swaps.iter().any(|s| [s.first, s.second].iter().any(|v| n_levels(file, *v).is_some())) {
            return Err(changing_places(file, &swaps[0]));
        }
        for swap in swaps {
            let [first, second] = [self.array(swap.first, swap.range)?, self.array(swap.second, swap.range)?];
            let times = upper.clone() - lower.clone();
            self.swaps.push(PointerSwap { first, second, times });
        }
        let next = Affine::var(l.id).offset(1);
        let before = self.bound.clone();
        self.bound.insert(var, lowerer::Bound::Value(Value { e: next.clone().into(), ty: l.ty }));
        for swap in swaps {
            for (one, other) in [(swap.first, swap.second), (swap.second, swap.first)] {
                let pointer = Pointer::of(file, other).ok_or_else(|| changing_places(file, swap))?;
                self.bound.insert(one, lowerer::Bound::Pointer(pointer));
            }
        }
        let condition = Expr::binary(BinaryOp::Lt, next.into(), upper.into());
        let mark = self.facts.len();
        self.facts.push_condition(&condition, true);
        let mut then = Vec::new();
        self.loop_body(body, &mut then)?;
        self.facts.truncate(mark);
        self.bound = before;
        l.step = 2;
        l.body.push(Node::If { condition, then, otherwise: Vec::new() });
        Ok(())
    }
}

/// The number in `t % number` or `t & (number - 1)` in a condition on `var`.
fn remainder_by(condition: &ast::Expr, var: VarId) -> Option<i64> {
    let mut found = None;
    condition.walk(&mut |e| {
        if let ExprKind::Binary(op, l, r) = &e.kind
            && l.mentions(var)
        {
            found = match (op, ast::constant(r)) {
                (BinaryOp::Rem, Some(number)) => Some(number),
                (BinaryOp::BitAnd, Some(mask)) => mask.checked_add(1),
                _ => found,
            };
        }
    });
    found
}

/// Whether a statement assigns pointers.
fn sets_pointers(file: &ast::File, s: &Stmt) -> bool {
    let mut found = false;
    s.walk_exprs(&mut |e| {
        if let ExprKind::Assign(None, target, _) = &e.kind {
            found |= target.as_var().is_some_and(|v| file.var(v).ty.is_pointer());
        }
    });
    found
}

/// Whether something in a statement leaves out the end of an iteration.
fn leaves_out(s: &Stmt) -> bool {
    let mut found = false;
    s.walk(&mut |s| found |= matches!(s.kind, StmtKind::Continue));
    found
}

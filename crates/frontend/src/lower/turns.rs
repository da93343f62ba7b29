//! Loops in which pointers take turns: by the remainder of the loop's variable, or by changing places at the end.

use super::evolving::{Carried, Here};
use super::header::changing_places;
use super::lowerer::{self, Lowerer};
use super::pointer::{Pointer, n_levels};
use super::value::{Value, is_unsigned};
use crate::ast::{self, ExprKind, Stmt, StmtKind, VarId};
use crate::flow::{is_address_taken, is_live_after};
use crate::refusal::Lowered;
use crate::rotations::Rotation;
use oxeye_ir::{Affine, BinaryOp, Expr, Loop, Node};
use std::collections::BTreeSet;

/// Most iterations that are lowered one by one.
const MOST_TURNS: i64 = 4;

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
        found.filter(|n| is_plain && (2..=MOST_TURNS).contains(n))
    }

    /// A loop as groups of so many iterations, each with its own copy of the body.
    pub(super) fn in_pieces(
        &mut self,
        body: &[Stmt],
        (var, turns): (VarId, i64),
        (carried, first): (&Carried, &Here),
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
            self.bind_carried(
                carried,
                &first.later(k),
                body.first().map_or_else(ast::Range::default, |s| s.range),
            )?;
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

    /// A time loop at whose end pointers change places, of which the body of the first iteration is lowered: the bodies of
    /// the next ones, in each of which a pointer leads where the next one did before, until all are in their places again.
    pub(super) fn in_rounds(
        &mut self,
        s: &Stmt,
        body: &[Stmt],
        (var, rotations): (VarId, &[Rotation]),
        (carried, first): (&Carried, &Here),
        l: &mut Loop,
    ) -> Lowered<()> {
        let file = self.cx.file;
        let mut seen = BTreeSet::new();
        let n_turns = rotations.iter().fold(1, |n, rotation| least_common(n, rotation.pointers.len() as i64));
        for rotation in rotations {
            let is_outermost = self.loops.len() == 1 && self.depth() == 0;
            let is_plain = l.step == 1 && !is_unsigned(l.ty) && !body.iter().any(leaves_out);
            let is_free = |v: VarId| !is_address_taken(self.cx.function, v);
            let is_lost = |v: VarId| {
                is_live_after(file, self.cx.function, s.range, v) || !is_free(v) || self.is_global(v)
            };
            if !is_outermost
                || !is_plain
                || n_turns > MOST_TURNS
                || rotation
                    .pointers
                    .iter()
                    .any(|v| !is_free(*v) || !seen.insert(*v) || n_levels(file, *v).is_some())
                || !rotation.is_own && is_lost(rotation.saved)
            {
                return Err(changing_places(file, rotation));
            }
        }
        let (Some(lower), Some(upper)) = (l.lower.as_affine().cloned(), l.upper.as_affine().cloned()) else {
            return Err(changing_places(file, &rotations[0]));
        };
        for rotation in rotations {
            let pointers: Lowered<Vec<_>> =
                rotation.pointers.iter().map(|v| self.array(*v, rotation.range)).collect();
            let times = upper.clone() - lower.clone();
            self.outcome.rotations.push(oxeye_ir::Rotation { pointers: pointers?, times });
        }
        let before = self.bound.clone();
        for k in 1..n_turns {
            self.bound = before.clone();
            let here = Affine::var(l.id).offset(k);
            self.bound.insert(var, lowerer::Bound::Value(Value { e: here.clone().into(), ty: l.ty }));
            self.bind_carried(
                carried,
                &first.later(k),
                body.first().map_or_else(ast::Range::default, |s| s.range),
            )?;
            for rotation in rotations {
                let places = rotation.pointers.iter().cycle().skip(k as usize);
                for (one, place) in rotation.pointers.iter().zip(places) {
                    let pointer = Pointer::of(file, *place).ok_or_else(|| changing_places(file, rotation))?;
                    self.bound.insert(*one, lowerer::Bound::Pointer(pointer));
                }
            }
            let condition = Expr::binary(BinaryOp::Lt, here.into(), upper.clone().into());
            let mark = self.facts.len();
            self.facts.push_condition(&condition, true);
            let mut then = Vec::new();
            self.loop_body(body, &mut then)?;
            self.facts.truncate(mark);
            l.body.push(Node::If { condition, then, otherwise: Vec::new() });
        }
        self.bound = before;
        l.step = n_turns;
        Ok(())
    }
}

/// The least number that both divide.
fn least_common(a: i64, b: i64) -> i64 {
    (1..=b).map(|k| a * k).find(|n| n % b == 0).unwrap_or(a)
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

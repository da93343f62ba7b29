//! Pointers that walk: `sum += *w++ * x[k];`. In every iteration of a loop such a pointer leads as much further as in all
//! others, so where it leads is a function of the iterators.

use super::lowerer::{Bound, Lowerer};
use super::pointer::Pointer;
use super::value::Value;
use crate::ast::{self, ExprKind, For, Range, Stmt, StmtKind, Type, VarId};
use crate::flow::is_live_after;
use crate::refusal::{Lowered, Refusal};
use crate::scan::{Scan, assigned_var, commas, counter};
use oxeye_binding::Advance;
use oxeye_ir::{Affine, BinaryOp, Expr, Loop, ScalarType};
use std::collections::BTreeSet;

/// A pointer that walks in a loop.
pub(super) struct Walk {
    var: VarId,
    /// Where it leads in the first iteration.
    start: Pointer,
    /// Elements from one iteration to the next.
    by: Expr,
}

impl Walk {
    /// Whether it leads to the same place in all iterations: what is written is elements, by several names.
    pub(super) fn is_still(&self) -> bool {
        self.by == Expr::from(0)
    }
}

/// How far a number of iterations leads, computed in 64 bits.
fn product(times: Affine, by: Expr) -> Expr {
    match (by.as_affine().and_then(Affine::as_constant), times.as_constant()) {
        (Some(by), _) => times.scaled(by).into(),
        (None, Some(times)) => Expr::binary(BinaryOp::Mul, Expr::from(times), by),
        _ => Expr::binary(BinaryOp::Mul, Expr::Cast(ScalarType::I64, Box::new(times.into())), by),
    }
}

impl Lowerer<'_> {
    /// The pointers that walk in a loop.
    pub(super) fn walks(&mut self, f: &For, step: i64) -> Vec<Walk> {
        let body = std::slice::from_ref(&f.body);
        if step.abs() != 1 || ends_early(body) {
            return Vec::new();
        }
        let mut inside = Scan::of(self.cx.file, &f.body);
        let is_skipping = leaves_out(body);
        let in_body = inside.written.clone();
        inside.written.extend(beside_counter(f).into_iter().filter_map(assigned_var));
        let pointers: BTreeSet<VarId> = inside
            .written
            .iter()
            .filter(|v| matches!(self.cx.file.var(**v).ty, Type::Pointer { .. }))
            .filter(|v| !inside.declared.contains(v) && !self.in_turns.contains(v) && self.is_tame(**v))
            // What the header does is done after `continue`, too.
            .filter(|v| !is_skipping || !in_body.contains(v))
            .copied()
            .collect();
        let mut found = Vec::new();
        for var in pointers {
            let start = match self.bound.get(&var) {
                Some(Bound::Pointer(pointer)) => pointer.clone(),
                // Where it leads before the nest.
                None if self.is_where_it_was(var) => match Pointer::of(self.cx.file, var) {
                    Some(pointer) => pointer,
                    None => continue,
                },
                _ => continue,
            };
            let is_plain = matches!(start.pointee, Type::Scalar(_) | Type::Struct(_)) && !start.is_object;
            let Some(by) = self.advance_once(f, var, &inside).filter(|_| is_plain) else { continue };
            found.push(Walk { var, start, by });
        }
        found
    }

    /// Whether a variable of the function, before this loop, is what it is before the nest.
    pub(super) fn is_where_it_was(&self, var: VarId) -> bool {
        self.loops.is_empty()
            && self.depth() == 0
            && self.is_of_function(var)
            && !self.moved_on.contains(&var)
    }

    fn is_of_function(&self, var: VarId) -> bool {
        self.cx.file.var(var).function == Some(self.cx.position)
    }

    /// How much further one iteration of a loop moves a pointer, if that is the same each time.
    fn advance_once(&mut self, f: &For, var: VarId, inside: &Scan) -> Option<Expr> {
        let mut total = self.advance(std::slice::from_ref(&f.body), var, inside)?;
        for e in beside_counter(f) {
            total = Expr::binary(BinaryOp::Add, total, self.advance_by(e, var, inside)?);
        }
        Some(total)
    }

    /// How much further an expression moves a pointer.
    fn advance_by(&mut self, e: &ast::Expr, var: VarId, inside: &Scan) -> Option<Expr> {
        match &e.kind {
            ExprKind::Step { target, by, .. } if target.as_var() == Some(var) => Some(Expr::from(*by)),
            ExprKind::Assign(Some(op @ (BinaryOp::Add | BinaryOp::Sub)), target, by)
                if target.as_var() == Some(var) =>
            {
                Some(Expr::binary(*op, Expr::from(0), Expr::from(self.fixed(by, inside)?)))
            }
            _ => (!changes(e, var)).then(|| Expr::from(0)),
        }
    }

    /// How much further these statements move a pointer, if that is the same each time.
    fn advance(&mut self, body: &[Stmt], var: VarId, inside: &Scan) -> Option<Expr> {
        let mut total = Expr::from(0);
        for s in body {
            let by = match &s.kind {
                StmtKind::Block(body) => self.advance(body, var, inside)?,
                StmtKind::Expr(e) => self.advance_by(e, var, inside)?,
                StmtKind::For(f) if sets(s, var) => {
                    if f.init.iter().any(|init| sets(init, var)) {
                        return None;
                    }
                    let once = self.advance_once(f, var, inside)?;
                    let times =
                        self.times(f, inside).filter(|_| !leaves_out(std::slice::from_ref(&f.body)))?;
                    product(times, once)
                }
                _ if sets(s, var) => return None,
                _ => continue,
            };
            total = Expr::binary(BinaryOp::Add, total, by);
        }
        Some(total)
    }

    /// An integer that is the same in all iterations, and wraps nowhere.
    fn fixed(&mut self, e: &ast::Expr, inside: &Scan) -> Option<Affine> {
        let mut is_fixed = true;
        e.walk(&mut |e| {
            is_fixed &= !matches!(e.kind, ExprKind::Call(..) | ExprKind::Assign(..) | ExprKind::Step { .. });
            if let Some(v) = e.as_var() {
                is_fixed &=
                    ![&inside.written, &inside.iterators, &inside.declared].iter().any(|s| s.contains(&v));
            }
        });
        if !is_fixed {
            return None;
        }
        let value = self.value(e).ok()?;
        let value = self.ahead(value, e.range).ok()?;
        let e = self.exact(&value.e).filter(|_| !value.ty.is_float())?;
        e.as_affine().cloned().or_else(|| self.computed_end(&e))
    }

    /// How often the body of a loop runs that counts by one; tested before the nest where that may be less than zero.
    fn times(&mut self, f: &For, inside: &Scan) -> Option<Affine> {
        let header = super::loops::header(f, f.body.range).ok()?;
        let ExprKind::Binary(op, l, r) = &f.condition.as_ref()?.kind else { return None };
        let ExprKind::Step { by, .. } = header.step.kind else { return None };
        if l.as_var() != Some(header.var) {
            return None;
        }
        let (first, end) = (self.fixed(header.init, inside)?, self.fixed(r, inside)?);
        let times = match (by, op) {
            (1, BinaryOp::Lt) => end - first,
            (1, BinaryOp::Le) => end.offset(1) - first,
            (-1, BinaryOp::Gt) => first - end,
            (-1, BinaryOp::Ge) => first.offset(1) - end,
            _ => return None,
        };
        self.is_never_less(&times).then_some(times)
    }

    /// Whether a number of iterations is never less than zero, or is tested before the nest.
    pub(super) fn is_never_less(&mut self, times: &Affine) -> bool {
        if self.facts.prove_non_negative(times) {
            return true;
        }
        let test = Expr::Binary(BinaryOp::Ge, Box::new(times.clone().into()), Box::new(Expr::from(0)));
        let is_known = self.tests.contains(&test);
        if times.loops().next().is_some() || (!is_known && self.tests.len() >= MOST_TESTS) {
            return false;
        }
        if !is_known {
            self.tests.push(test);
        }
        true
    }

    /// Pointers stand for where they lead in one iteration.
    pub(super) fn bind_walks(&mut self, walks: &[Walk], l: &Loop, at: Range) -> Lowered<()> {
        for walk in walks {
            if walk.is_still() {
                self.bound.insert(walk.var, Bound::Pointer(walk.start.clone()));
                if self.is_set_behind(walk) {
                    self.walking.insert(walk.var);
                }
                continue;
            }
            let times = match l.step {
                1 => l.lower.as_affine().map(|first| Affine::var(l.id) - first.clone()),
                _ => l.upper.as_affine().map(|end| end.clone().offset(-1) - Affine::var(l.id)),
            };
            let moved = self.walked(walk, times.ok_or_else(|| self.unclear(walk, at))?, at)?;
            self.bound.insert(walk.var, Bound::Pointer(moved));
            if self.is_set_behind(walk) {
                self.walking.insert(walk.var);
            }
        }
        Ok(())
    }

    fn walked(&mut self, walk: &Walk, times: Affine, at: Range) -> Lowered<Pointer> {
        let by = product(times, walk.by.clone());
        let ty = self.natural(&by);
        self.moved(walk.start.clone(), BinaryOp::Add, Value { e: by, ty }, at)
    }

    /// Whether the nest itself is what moves the pointer from where it led before.
    fn is_set_behind(&self, walk: &Walk) -> bool {
        self.is_of_function(walk.var) && walk.start.base == walk.var && walk.start.offset.is_none()
    }

    pub(super) fn unclear(&self, walk: &Walk, at: Range) -> Box<Refusal> {
        let name = self.name(walk.var);
        Refusal::new(at, format!("where the pointer `{name}` leads depends on what the loop did before"))
            .help(format!("leave `{name}` as it is and subscript it"))
    }

    /// Behind a loop, pointers stand for where they lead then; behind the nest, they are set to it.
    pub(super) fn leave_walks(&mut self, walks: Vec<Walk>, l: &Loop, at: Range) -> Lowered<()> {
        for walk in walks {
            if walk.is_still() {
                match self.loops.is_empty() && self.is_set_behind(&walk) {
                    true => {
                        self.bound.remove(&walk.var);
                        self.walking.remove(&walk.var);
                    }
                    false => _ = self.bound.insert(walk.var, Bound::Pointer(walk.start)),
                }
                continue;
            }
            let refusal = self.unclear(&walk, at);
            let times = match (l.lower.as_affine(), l.upper.as_affine()) {
                (Some(lower), Some(upper)) => Some(upper.clone() - lower.clone()),
                _ => None,
            };
            let is_set = self.loops.is_empty() && self.is_set_behind(&walk);
            let is_needed = !is_set || is_live_after(self.cx.file, self.cx.function, self.at, walk.var);
            if is_set {
                self.bound.remove(&walk.var);
                self.walking.remove(&walk.var);
                self.moved_on.insert(walk.var);
                if !is_needed {
                    continue;
                }
            }
            let Some(times) = times.filter(|times| self.is_never_less(times)) else { return Err(refusal) };
            if !is_set {
                let moved = self.walked(&walk, times, at)?;
                self.bound.insert(walk.var, Bound::Pointer(moved));
                continue;
            }
            if matches!(walk.start.pointee, Type::Struct(_)) {
                let name = &self.cx.file.var(walk.var).name;
                let message =
                    format!("the pointer `{name}` walks over structures, and is used after the loop");
                return Err(
                    Refusal::new(at, message).help(format!("leave `{name}` as it is and subscript it"))
                );
            }
            let array = self.array(walk.var, at)?;
            self.advances.push(Advance { array, by: product(times, walk.by) });
        }
        Ok(())
    }
}

/// Tests before a nest for how often loops run in which pointers walk.
const MOST_TESTS: usize = 6;

/// What a header does after each iteration besides counting.
fn beside_counter(f: &For) -> Vec<&ast::Expr> {
    let all = f.step.iter().flat_map(commas);
    all.filter(|e| assigned_var(e).is_none_or(|v| Some(v) != counter(f))).collect()
}

/// Whether an expression sets a variable.
fn changes(e: &ast::Expr, var: VarId) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } = &e.kind {
            found |= target.as_var() == Some(var);
        }
    });
    found
}

/// Whether a statement sets a variable.
fn sets(s: &Stmt, var: VarId) -> bool {
    let mut found = false;
    s.walk_exprs(&mut |e| found |= changes(e, var));
    s.walk(&mut |s| {
        if let StmtKind::For(f) = &s.kind {
            f.init.iter().flat_map(|s| s.exprs()).for_each(|e| found |= e.mentions(var));
        }
    });
    found
}

/// Whether part of an iteration may be left out.
fn leaves_out(body: &[Stmt]) -> bool {
    let mut found = ends_early(body);
    body.iter().for_each(|s| s.walk(&mut |s| found |= matches!(s.kind, StmtKind::Continue)));
    found
}

/// Whether the loop may be left before its end.
fn ends_early(body: &[Stmt]) -> bool {
    let mut found = false;
    for s in body {
        s.walk(&mut |s| {
            found |= matches!(
                s.kind,
                StmtKind::Break
                    | StmtKind::Return(_)
                    | StmtKind::Goto(_)
                    | StmtKind::Label(..)
                    | StmtKind::Unknown(..)
            );
        });
    }
    found
}

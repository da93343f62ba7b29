//! Loops that count with a pointer: `for (p = a; p < end; p++)`. The nest counts the iterations, and the pointer leads to
//! another element in each of them.

use super::evolving::Here;
use super::header::Header;
use super::iterations::Counted;
use super::lowerer::{Bound, Lowerer};
use super::pointer::Pointer;
use super::value::Value;
use crate::ast::{self, ExprKind, For, Range, Stmt, Type, VarId};
use crate::flow::{is_address_taken, is_live_after};
use crate::refusal::{Lowered, Refusal};
use crate::rotations::split_rotations;
use crate::scan::{Scan, assigned_var};
use oxeye_binding::Advance;
use oxeye_ir::{Affine, BinaryOp, Execution, Loop, Node, ScalarType};

/// How often a loop over elements runs: one after the other until a distance is covered.
struct Count {
    /// Elements from the first to where it ends, in its direction.
    distance: Affine,
    /// Elements from one iteration to the next, backwards if negative.
    by: i64,
}

impl Count {
    /// The number of iterations, if the distance is a whole number of steps, or constant.
    fn times(&self) -> Option<Affine> {
        let by = self.by.abs();
        let parts = self.distance.terms().map(|(_, c)| c).chain([self.distance.constant_part()]);
        match self.distance.as_constant() {
            Some(distance) => Some(Affine::constant((distance.max(0) + by - 1) / by)),
            None if parts.into_iter().all(|c| c % by == 0) => {
                let start = Affine::constant(self.distance.constant_part() / by);
                Some(self.distance.terms().fold(start, |sum, (v, c)| sum + Affine::term(v, c / by)))
            }
            None => None,
        }
    }

    /// The end of a loop from zero, its step, and the elements that one of its units leads further.
    fn extent(&self) -> (Affine, i64, i64) {
        match self.times() {
            Some(times) => (times, 1, self.by),
            None => (self.distance.clone(), self.by.abs(), self.by.signum()),
        }
    }
}

impl Lowerer<'_> {
    /// A loop that counts with a pointer.
    pub(super) fn pointer_loop(
        &mut self,
        s: &Stmt,
        f: &For,
        header: &Header<'_>,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let var = header.var;
        self.check_iterator(s, f, var)?;
        let start = self.first_pointer(f, header, s.range, out)?;
        let count = self.pointer_count(header, &start, &Scan::of(self.cx.file, &f.body))?;
        if f.runs_first && !self.is_not_negative(&count.distance.clone().offset(-1)) {
            return Err(self.runs_anyway(header.condition.range));
        }
        let inside = Scan::of(self.cx.file, s);
        let mut carried = self.carried(s, f, (var, None), out);
        self.forget(&inside);
        let (end, step, unit) = count.extent();

        let id = self.fresh_loop();
        self.loop_types.insert(id, ScalarType::I64);
        let mark = self.facts.len();
        let here = Here::of(id, Some(&Affine::constant(0)), step);
        self.settle_header(&mut carried, &here);
        self.set_before(f, header, &carried.in_header, s.range, out)?;
        self.bind_carried(&carried, &here, s.range)?;
        self.loops.push((var, id));
        let l = Loop {
            id,
            name: format!("{}_at", self.name(var).trim_end_matches(".at")),
            ty: ScalarType::I64,
            lower: Affine::constant(0).into(),
            upper: end.into(),
            step,
            execution: Execution::Sequential,
            body: Vec::new(),
        };
        self.facts.push_loop(&l);
        let place =
            self.moved(start.clone(), BinaryOp::Add, elements(Affine::var(id).scaled(unit)), s.range)?;
        self.bound.insert(var, Bound::Pointer(place));
        let counted = Counted {
            l,
            guards: Vec::new(),
            inside,
            carried,
            here,
            mark,
            is_kept: false,
            is_iterator: false,
        };
        let leaving = self.iterations((s, f, header), counted, out)?;
        let is_of_nest = self.loops.is_empty() && start.base == var && start.offset.is_none();
        self.leave_iterator(var, start, &count, (leaving.is_some(), is_of_nest), s.range)
    }

    fn check_iterator(&self, s: &Stmt, f: &For, var: VarId) -> Lowered<()> {
        let name = self.name(var);
        let refuse = |what: String| Err(Refusal::new(s.range, what));
        if !self.is_tame(var) || !self.is_pointer_var(var) {
            return refuse(format!("the loop's variable `{name}` is not an integer"));
        }
        if Scan::of(self.cx.file, &f.body).written.contains(&var) {
            return refuse(format!("the loop's variable `{name}` is also assigned inside the loop"));
        }
        if self.loops.iter().any(|(v, _)| *v == var) {
            return refuse(format!("`{name}` already counts the loop around this one"));
        }
        if is_address_taken(self.cx.function, var) {
            return refuse(format!("the address of the loop's variable `{name}` is taken"));
        }
        if !split_rotations(self.cx.file, &f.body).1.is_empty() {
            return refuse(format!("pointers change places in a loop that counts with `{name}`"));
        }
        Ok(())
    }

    pub(super) fn is_pointer_var(&self, var: VarId) -> bool {
        matches!(self.cx.file.var(var).ty, Type::Pointer { .. })
    }

    /// Whether an expression sets a pointer.
    pub(super) fn sets_pointer(&self, e: &ast::Expr) -> bool {
        assigned_var(e).is_some_and(|v| self.is_pointer_var(v))
    }

    /// Where the loop's variable leads first. The header sets other pointers in the order in which they are written.
    fn first_pointer(
        &mut self,
        f: &For,
        header: &Header<'_>,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<Pointer> {
        let (file, var) = (self.cx.file, header.var);
        self.set_pointers(header, true, at, out)?;
        let is_before_nest = self.is_where_it_was(var) && !self.bound.contains_key(&var);
        // A `while` loop leaves it to the text before it.
        let is_kept =
            is_before_nest && f.enters_with.is_some() && is_live_after(file, self.cx.function, self.at, var);
        // The nest moves it later.
        let is_at_first = |v: &VarId| self.scan.written.contains(v) && !self.bound.contains_key(v);
        let from_before = header.init.as_var().filter(is_at_first).filter(|v| self.is_where_it_was(*v));
        let start = match header.init.as_var() == Some(var) && !self.bound.contains_key(&var) || is_kept {
            false if from_before.is_some() => {
                from_before.and_then(|v| Pointer::of(file, v)).ok_or_else(|| self.lost(var, at))?
            }
            false => self.argument_pointer(header.init, &file.var(var).ty)?,
            true => Pointer::of(file, var).filter(|_| is_before_nest).ok_or_else(|| self.lost(var, at))?,
        };
        let is_plain = matches!(start.pointee, Type::Scalar(_) | Type::Struct(_)) && !start.is_object;
        if !is_plain {
            let message = format!("the loop's variable `{}` leads from one row to the next", self.name(var));
            return Err(Refusal::new(at, message).help("count rows with an integer"));
        }
        let start = self.settled(start, at, out)?;
        let before = self.bound.insert(var, Bound::Pointer(start.clone()));
        let done = self.set_pointers(header, false, at, out);
        match before {
            Some(before) => self.bound.insert(var, before),
            None => self.bound.remove(&var),
        };
        done?;
        Ok(start)
    }

    /// Sets the pointers that a header sets before its own variable, or behind it.
    pub(super) fn set_pointers(
        &mut self,
        header: &Header<'_>,
        is_before: bool,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let is_now = |range: Range| (range.start < header.init.range.start) == is_before;
        for d in &header.declared_before {
            if self.is_pointer_var(d.var) && is_now(self.cx.file.var(d.var).range) {
                self.declare(d, at, out)?;
            }
        }
        for e in &header.before {
            if self.sets_pointer(e) && is_now(e.range) {
                self.effect(e, out)?;
            }
        }
        Ok(())
    }

    fn lost(&self, var: VarId, at: Range) -> Box<Refusal> {
        let name = self.name(var);
        Refusal::new(at, format!("where the pointer `{name}` leads depends on what the loop did before"))
            .help(format!("set `{name}` in the header of the loop"))
    }

    /// How often the loop runs.
    fn pointer_count(&mut self, header: &Header<'_>, start: &Pointer, body: &Scan) -> Lowered<Count> {
        let at = header.condition.range;
        let name = self.name(header.var);
        let by = match &header.step.kind {
            ExprKind::Step { by, .. } => Some(*by),
            ExprKind::Assign(Some(BinaryOp::Add), _, by) => ast::constant(by),
            ExprKind::Assign(Some(BinaryOp::Sub), _, by) => ast::constant(by).and_then(i64::checked_neg),
            _ => None,
        };
        let Some(by) = by.filter(|by| *by != 0 && i32::try_from(*by).is_ok()) else {
            return Err(Refusal::new(header.step.range, format!("`{name}` does not step by a constant")));
        };
        let unclear =
            || Refusal::new(at, format!("the loop's condition does not compare `{name}` with where it ends"));
        let ExprKind::Binary(op, l, r) = &header.condition.kind else { return Err(unclear()) };
        let is_left = l.uncast().as_var() == Some(header.var);
        let end = if is_left { r } else { l };
        if !is_left && r.uncast().as_var() != Some(header.var) || end.mentions(header.var) {
            return Err(unclear());
        }
        // As if the variable stood on the left.
        let op = match (op, is_left) {
            (BinaryOp::Lt, false) => BinaryOp::Gt,
            (BinaryOp::Le, false) => BinaryOp::Ge,
            (BinaryOp::Gt, false) => BinaryOp::Lt,
            (BinaryOp::Ge, false) => BinaryOp::Le,
            (op, _) => *op,
        };
        let beyond = match (op, by > 0) {
            (BinaryOp::Lt, true) | (BinaryOp::Gt, false) => 0,
            (BinaryOp::Le, true) | (BinaryOp::Ge, false) => 1,
            (BinaryOp::Ne, _) if by.abs() == 1 => 0,
            _ => return Err(unclear()),
        };
        let refusal = self.unrelated(header.var, end);
        let ends = self.end_pointer(end)?;
        if header.changes(end, body) {
            return Err(refusal);
        }
        let distance = self.elements_between(start, &ends, end).ok_or(refusal)?;
        let distance = if by > 0 { distance } else { -distance }.offset(beyond);
        if op == BinaryOp::Ne && !self.is_not_negative(&distance) {
            return Err(Refusal::new(at, "`!=` may miss the end of the loop").help("use `<` or `>`"));
        }
        Ok(Count { distance, by })
    }

    fn unrelated(&self, var: VarId, end: &ast::Expr) -> Box<Refusal> {
        let name = self.name(var);
        let message = format!("how far `{name}` is from where the loop ends is not known");
        Refusal::new(end.range, message).help(format!(
            "set the end right before the loop, as in `end = {name} + n`, or count with an integer"
        ))
    }

    fn end_pointer(&mut self, end: &ast::Expr) -> Lowered<Pointer> {
        match end.as_var().filter(|v| !self.bound.contains_key(v) && !self.is_changed_here(*v)) {
            Some(v) => Pointer::of(self.cx.file, v)
                .ok_or_else(|| Refusal::new(end.range, "the loop ends at something other than a pointer")),
            None => self.pointer(end),
        }
    }

    /// Behind the loop, the pointer leads to where it ended; behind the nest, it is set to that.
    fn leave_iterator(
        &mut self,
        var: VarId,
        start: Pointer,
        count: &Count,
        (is_left, is_of_nest): (bool, bool),
        at: Range,
    ) -> Lowered<()> {
        self.bound.remove(&var);
        if self.loops.is_empty() {
            self.moving.moved_on.insert(var);
        }
        let file = self.cx.file;
        let is_own = file.var(var).function == Some(self.cx.position);
        let is_live = is_own && is_live_after(file, self.cx.function, self.at, var);
        let is_sure = |l: &mut Self, times: &Affine| match is_of_nest {
            true => is_live && l.is_never_less(times),
            false => l.facts.prove_non_negative(times),
        };
        let times = count.times().filter(|times| !is_left && is_sure(self, times));
        let moved = times.map(|times| times.scaled(count.by));
        let name = self.name(var);
        match moved {
            Some(by) if is_of_nest => {
                if matches!(start.pointee, Type::Struct(_)) {
                    let message =
                        format!("the pointer `{name}` walks over structures, and is used after the loop");
                    return Err(Refusal::new(at, message).help("count with an integer"));
                }
                let array = self.array(var, at)?;
                self.outcome.advances.push(Advance { array, by: by.into() });
            }
            _ if is_live => {
                let message = format!("the pointer `{name}`, which the loop changes, may be used later");
                return Err(Refusal::new(at, message).help("use another pointer inside the loop"));
            }
            Some(by) => {
                let pointer = self.moved(start, BinaryOp::Add, elements(by), at)?;
                self.bound.insert(var, Bound::Pointer(pointer));
            }
            None => {}
        }
        Ok(())
    }
}

fn elements(n: Affine) -> Value {
    Value { e: n.into(), ty: ScalarType::I64 }
}

//! How many elements lie between two pointers, by what they were set to before the nest.

use super::lowerer::Lowerer;
use super::pointer::Pointer;
use super::symbolic::text;
use super::value::{Value, is_comparison};
use crate::ast::{self, ExprKind, Range, Type, VarId};
use crate::definitions::value_before;
use crate::refusal::{Lowered, Refusal};
use oxeye_binding::{Distance, Source};
use oxeye_ir::{Affine, BinaryOp, Expr, ScalarType};

/// Most definitions that are followed to find what a pointer leads into.
const MOST_DEFINITIONS: usize = 4;

impl Lowerer<'_> {
    /// Whether the nest changes a variable.
    pub(super) fn is_changed_here(&self, var: VarId) -> bool {
        [&self.scan.written, &self.scan.declared, &self.scan.iterators].iter().any(|set| set.contains(&var))
    }

    /// The number of elements from one pointer to another.
    pub(super) fn elements_between(
        &mut self,
        start: &Pointer,
        end: &Pointer,
        at: &ast::Expr,
    ) -> Option<Affine> {
        if let Some(distance) = self.plain_distance(start, end) {
            return Some(distance);
        }
        let (from, to) = (self.anchored(start), self.anchored(end));
        let Some(distance) = self.plain_distance(&from, &to) else { return self.by_subtraction(start, end) };
        // Where variables that the text uses lead, which need not be followed: counted from the one that is.
        let base = Pointer::of(self.cx.file, start.base)?;
        let base = self.anchored(&base);
        let mut used: Vec<VarId> = Vec::new();
        at.walk(&mut |e| used.extend(e.as_var()));
        used.retain(|v| self.cx.file.var(*v).ty.is_pointer() && *v != start.base);
        for var in used {
            let to = Pointer::of(self.cx.file, var).filter(|_| !self.is_changed_here(var))?;
            let to = self.anchored(&to);
            let whole = Expr::Affine(self.plain_distance(&base, &to)?);
            let text = text(&self.state.program, &whole)?;
            self.relies_on(&whole);
            self.outcome.ends.insert(var, (start.base, text));
        }
        Some(distance)
    }

    /// The same for two pointers of which nothing is known but that a loop leads from one to the other: they are subtracted
    /// before the nest.
    fn by_subtraction(&mut self, start: &Pointer, end: &Pointer) -> Option<Affine> {
        let file = self.cx.file;
        let are_alike = match (&start.pointee, &end.pointee) {
            (Type::Scalar(one), Type::Scalar(other)) => one.ty == other.ty,
            _ => false,
        };
        let is_plain = |pointer: &Pointer| {
            let is_flat = pointer.indices.is_empty() && pointer.rows.is_empty() && !pointer.is_object;
            is_flat && self.is_pointer_var(pointer.base) && !file.is_member(pointer.base)
        };
        // Both are followed from where they are before the nest.
        let is_own = |var: VarId| file.var(var).function == Some(self.cx.position) && self.is_tame(var);
        let is_fixed = |var: VarId| {
            let is_kept = !self.is_changed_here(var) && self.cx.has_strict_aliasing;
            is_own(var) || self.is_global(var) && is_kept && !self.scan.is_cut_short
        };
        if !are_alike
            || !is_plain(start)
            || !is_plain(end)
            || !is_fixed(end.base)
            || !is_fixed(start.base)
            || start.base == end.base
        {
            return None;
        }
        let offset = |l: &Self, pointer: &Pointer| match &pointer.offset {
            None => Some(Affine::constant(0)),
            Some(value) if value.ty.is_float() => None,
            Some(value) => l.exact(&value.e)?.as_affine().cloned(),
        };
        let (before, behind) = (offset(self, start)?, offset(self, end)?);
        self.names(end.base, self.at).ok()?;
        self.check_visible(end.base, self.at).ok()?;
        let from = self.array(start.base, self.at).ok()?;
        let variable = file.var(end.base);
        let declaration = match self.is_global(end.base) {
            true => None,
            false => Some(file.declaration(variable)?),
        };
        let name = &variable.name;
        let id = self.computed_before(format!("({name} - {})", self.name(start.base)));
        let distance = Distance { from, end: name.clone(), declaration };
        self.state.binding.sources.insert(id, Source::Distance(distance));
        self.outcome.subtracted.insert(end.base, start.base);
        Some(behind - before + Affine::var(id))
    }

    /// The difference of two pointers into one array, or their comparison.
    pub(super) fn of_pointers(
        &mut self,
        op: BinaryOp,
        l: &ast::Expr,
        r: &ast::Expr,
        at: Range,
    ) -> Lowered<Value> {
        let value = || Refusal::new(at, "a pointer is used as a value");
        if op != BinaryOp::Sub && !is_comparison(op) {
            return Err(value());
        }
        let (end, start) = (self.pointer(l)?, self.pointer(r)?);
        let mut distance = self.plain_distance(&start, &end);
        if op == BinaryOp::Sub && distance.is_none() {
            distance = self.elements_between(&start, &end, l);
            distance = distance.or_else(|| Some(-self.elements_between(&end, &start, r)?));
        }
        if op != BinaryOp::Sub && distance.is_none() {
            return Err(value());
        }
        let Some(distance) = distance else {
            let name = self.name(start.base);
            let message = format!("how far `{name}` is from where it is compared is not known");
            return Err(Refusal::new(l.range, message).help(format!(
                "set the end right before the loop, as in `end = {name} + n`, or count with an integer"
            )));
        };
        let distance = self.typed(distance.into(), ScalarType::I64);
        if op == BinaryOp::Sub {
            return Ok(distance);
        }
        let zero = Value { e: Expr::from(0), ty: ScalarType::I32 };
        self.binary(op, distance, zero, at)
    }

    /// The number of elements from one pointer to another one into the same array.
    fn plain_distance(&mut self, start: &Pointer, end: &Pointer) -> Option<Affine> {
        let is_same = start.base == end.base && start.indices == end.indices;
        let are_alike = match (&start.pointee, &end.pointee) {
            (Type::Scalar(one), Type::Scalar(other)) => one.ty == other.ty,
            (one, other) => one == other,
        };
        if !is_same || !are_alike || end.is_object {
            return None;
        }
        let offset = |l: &Self, pointer: &Pointer| match &pointer.offset {
            None => Some((None, Affine::constant(0))),
            Some(value) if value.ty.is_float() => None,
            Some(value) => l.exact(&value.e).map(split),
        };
        let ((one, from), (other, to)) = (offset(self, start)?, offset(self, end)?);
        let rest = match (one, other) {
            (one, other) if one == other => Affine::constant(0),
            (None, Some(product)) => self.computed_end(&product)?,
            _ => return None,
        };
        Some(to - from + rest)
    }

    /// The same place as an element of what a pointer variable was set to before the nest.
    fn anchored(&mut self, pointer: &Pointer) -> Pointer {
        let mut known = pointer.clone();
        for _ in 0..MOST_DEFINITIONS {
            let var = known.base;
            // Before the first loop, everything is as it is before the nest.
            let is_first = self.loops.is_empty() && self.depth() == 0;
            let is_plain =
                known.indices.is_empty() && !known.is_object && !self.moving.in_turns.contains(&var);
            let definition = value_before(self.cx.file, self.cx.function, self.at, var);
            let Some(value) = definition.filter(|_| is_plain && self.is_pointer_var(var)) else { break };
            // At the nest, its variables have their values of then.
            let mut is_there = true;
            value.walk(&mut |e| {
                let Some(v) = e.as_var() else { return };
                // A pointer is followed from where it leads before the nest.
                is_there &= match self.is_pointer_var(v) {
                    true => !self.moving.in_turns.contains(&v),
                    false => !self.bound.contains_key(&v) && (is_first || !self.is_changed_here(v)),
                };
            });
            let at = value.range;
            let next = if is_there { self.entry_pointer(value) } else { None };
            let Some(next) = next else { break };
            let moved = match known.offset.clone() {
                Some(offset) => self.moved(next, BinaryOp::Add, offset, at),
                None => Ok(next),
            };
            let Ok(moved) = moved else { break };
            known = moved;
        }
        known
    }

    /// A pointer expression as it is before the nest: a variable, moved by numbers that the nest does not change.
    fn entry_pointer(&mut self, e: &ast::Expr) -> Option<Pointer> {
        match &e.kind {
            ExprKind::Var(v) => Pointer::of(self.cx.file, *v),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), l, r) => {
                let pointer = self.entry_pointer(l)?;
                let mut is_fixed = true;
                r.walk(&mut |e| is_fixed &= e.as_var().is_none_or(|v| !self.is_changed_here(v)));
                let by = if is_fixed { self.value(r).ok()? } else { return None };
                self.moved(pointer, *op, by, e.range).ok()
            }
            _ => None,
        }
    }
}

/// An offset as a product or the like, and what is added to it.
fn split(e: Expr) -> (Option<Expr>, Affine) {
    match e {
        Expr::Affine(a) => (None, a),
        Expr::Binary(BinaryOp::Add, l, r) => match (*l, *r) {
            (product, Expr::Affine(a)) | (Expr::Affine(a), product) => (Some(product), a),
            (l, r) => (Some(Expr::Binary(BinaryOp::Add, Box::new(l), Box::new(r))), Affine::constant(0)),
        },
        Expr::Binary(BinaryOp::Sub, l, r) => match (*l, *r) {
            (product, Expr::Affine(a)) => (Some(product), -a),
            (l, r) => (Some(Expr::Binary(BinaryOp::Sub, Box::new(l), Box::new(r))), Affine::constant(0)),
        },
        e => (Some(e), Affine::constant(0)),
    }
}

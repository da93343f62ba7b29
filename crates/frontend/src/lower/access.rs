//! Accesses to arrays and scalars, and the arrays themselves.

use super::contents::{no_member, no_number};
use super::lowerer::{Bound, Lowerer};
use super::pointer::{Pointer, n_levels};
use super::value::{Value, constant, wraps};
use crate::ast::{self, ExprKind, Range, Scalar, Type, VarId};
use crate::members::PARTS;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, BinaryOp, Expr, ScalarType};

/// An object: an element, or a row that is still an array.
struct Place {
    base: VarId,
    indices: Vec<Expr>,
    ty: Type,
}

/// `(double *)a[i]` of `double a[n][4][4]`: to the first of the elements, which follow each other.
fn flattened(pointer: &Pointer, to: &Type) -> Option<Pointer> {
    let mut flat = Pointer { in_row: true, ..pointer.clone() };
    while let Type::Array { of, .. } = flat.pointee {
        flat.indices.push(flat.offset.take().map_or(Expr::from(0), |offset| offset.e));
        flat.pointee = *of;
    }
    let is_array = matches!(pointer.pointee, Type::Array { .. });
    let is_same = without_qualifiers(&flat.pointee) == without_qualifiers(to);
    (is_array && is_same && !pointer.is_object).then_some(flat)
}

pub(super) fn without_qualifiers(ty: &Type) -> Type {
    match ty {
        Type::Scalar(s) => Type::scalar(s.ty),
        other => other.clone(),
    }
}

impl<'a> Lowerer<'a> {
    /// The type of an lvalue or pointer expression.
    pub(crate) fn type_of(&self, e: &ast::Expr) -> Option<Type> {
        match &e.kind {
            ExprKind::Var(v) => match self.bound.get(v) {
                Some(Bound::Pointer(p)) => {
                    Some(Type::Pointer { to: Box::new(p.pointee.clone()), is_restrict: false })
                }
                _ => Some(self.cx.file.var(*v).ty.clone()),
            },
            ExprKind::Index(base, index) => {
                let base = self.type_of(base).filter(Type::is_pointer).or_else(|| self.type_of(index))?;
                base.pointee().cloned()
            }
            ExprKind::Deref(base) => self.type_of(base)?.pointee().cloned(),
            ExprKind::Cast(ty, _) => Some(ty.clone()),
            ExprKind::AddressOf(inner) => {
                Some(Type::Pointer { to: Box::new(self.type_of(inner)?), is_restrict: false })
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), l, r) => {
                let pointer = |e: &ast::Expr| self.type_of(e).filter(Type::is_pointer);
                match (op, pointer(l), pointer(r)) {
                    (BinaryOp::Sub, Some(_), Some(_)) => Some(Type::scalar(ScalarType::I64)),
                    (_, l, r) => l.or(r),
                }
            }
            ExprKind::Select(_, l, r) => {
                let pointer = |e: &ast::Expr| self.type_of(e).filter(Type::is_pointer);
                pointer(l).or_else(|| pointer(r))
            }
            _ => None,
        }
    }

    fn is_pointer(&self, e: &ast::Expr) -> bool {
        self.type_of(e).is_some_and(|t| t.is_pointer())
    }

    /// The element that an lvalue denotes.
    pub(crate) fn access(&mut self, e: &ast::Expr) -> Lowered<(Access, Scalar)> {
        let at = e.range;
        if let ExprKind::Var(v) = e.kind
            && matches!(self.bound.get(&v), Some(Bound::Value(_)))
            && !self.outcome.substituted.contains(&v)
        {
            return Err(Refusal::new(at, format!("`{}` is changed here", self.name(v))));
        }
        let place = self.place(e)?;
        let name = self.name(place.base);
        let scalar = match place.ty {
            Type::Scalar(scalar) => scalar,
            Type::Array { .. } => {
                return Err(Refusal::new(at, format!("a whole row of `{name}` is used as a value")));
            }
            ty @ Type::Pointer { .. } => return Err(self.pointers_inside(name, &ty, at)),
            ty => return Err(no_number(self.cx.file, name, &ty, at)),
        };
        if scalar.is_volatile {
            return Err(Refusal::new(
                at,
                format!("`{name}` is volatile or atomic: every access must stay as it is"),
            ).help("copy it into a plain variable before the loop, if nobody else changes or looks at it meanwhile"));
        }
        let array = self.array(place.base, at)?;
        let n_dims = self.state.program.array(array).shape.len();
        if n_dims != place.indices.len() {
            return Err(Refusal::new(
                at,
                format!("`{name}` is used with {} of {n_dims} subscripts", place.indices.len()),
            ));
        }
        Ok((Access { array, indices: place.indices }, scalar))
    }

    /// The refusal of an array whose elements are pointers, of this type.
    pub(super) fn pointers_inside(&self, name: &str, element: &Type, at: Range) -> Box<Refusal> {
        let refusal = Refusal::new(
            at,
            format!("`{name}` is an array of pointers: its rows may be anywhere, or the same"),
        )
        .help("make it one block, `double (*name)[m]`, or compute the subscripts");
        if name.contains(['.', '>']) {
            return refusal.help("keep the elements in one block, and store where each part of it starts");
        }
        match matches!(element.innermost(), Type::Scalar(_)) {
            true => refusal.help(format!(
                "make `{name}` one block: `double (*{name})[m]`, or `double *{name}` with `{name}[i * m + j]`"
            )),
            // Structures, strings and what else is not in rows.
            false => refusal,
        }
    }

    fn place(&mut self, e: &ast::Expr) -> Lowered<Place> {
        match &e.kind {
            ExprKind::Var(v) => {
                let ty = self.cx.file.var(*v).ty.clone();
                match self.redirected(*v, e.range)? {
                    Some(member) => match member.offset {
                        None => Ok(Place { base: member.base, indices: member.indices, ty }),
                        Some(_) => Err(Refusal::new(e.range, "this is not an array element or variable")),
                    },
                    None => match self.bound.get(v).cloned() {
                        // A structure passed by value.
                        Some(Bound::Pointer(pointer)) if matches!(ty, Type::Struct(_)) => {
                            self.pointed_at(pointer, e.range)
                        }
                        _ => {
                            self.names(*v, e.range)?;
                            Ok(Place { base: *v, indices: Vec::new(), ty })
                        }
                    },
                }
            }
            ExprKind::Index(..) | ExprKind::Deref(_) => {
                if let Some(var) = self.of_element(e)? {
                    return self.place(&ast::Expr { kind: ExprKind::Var(var), range: e.range });
                }
                let pointer = self.followed(e)?;
                self.pointed_at(pointer, e.range)
            }
            ExprKind::Member(base, field) => {
                if let Some(place) = self.number_in_row(base, field)? {
                    return Ok(place);
                }
                let message = format!("the member `{field}` of a structure is used");
                let mut at = &**base;
                while let ExprKind::Index(inner, _) | ExprKind::Deref(inner) | ExprKind::Member(inner, _) =
                    &at.kind
                {
                    at = inner;
                }
                if PARTS.contains(&field.as_str()) {
                    return Err(self.lost_part(e.range));
                }
                if let Some(refusal) = no_member(self.cx.file, base, field, e.range) {
                    return Err(refusal);
                }
                let refusal = Refusal::new(e.range, message);
                Err(match &at.kind {
                    ExprKind::Call(callee, _) => {
                        let name = match &callee.kind {
                            ExprKind::Name(name) => format!("`{name}`"),
                            _ => "a function".to_owned(),
                        };
                        let message = format!("the address that {name} returns is followed");
                        Refusal::new(e.range, message)
                            .help("write the function's expression in place of the call")
                    }
                    ExprKind::Var(v) if self.is_pointer(at) => refusal
                        .help(format!("use one array of numbers for each member of `{}`", self.name(*v))),
                    _ => refusal.help("copy the member into a local variable before the loop"),
                })
            }
            ExprKind::Unknown(what, inside) => Err(Refusal::of_unknown(e.range, what, inside)),
            ExprKind::Name(name) => {
                Err(Refusal::new(e.range, format!("`{name}` is not known as a variable here")))
            }
            _ => Err(Refusal::new(e.range, "this is not an array element or variable")),
        }
    }

    /// Whether an lvalue is in a row of structures behind pointers.
    pub(super) fn is_in_row(&self, e: &ast::Expr) -> bool {
        let file = self.cx.file;
        let is_row =
            |v: VarId| n_levels(file, v).is_some() && matches!(file.var(v).ty.innermost(), Type::Struct(_));
        file.pointer_var(e).is_some_and(is_row)
    }

    /// The member of a structure in a row behind pointers: which of its numbers it is, or begins with, is one more index.
    fn number_in_row(&mut self, base: &ast::Expr, field: &str) -> Lowered<Option<Place>> {
        let file = self.cx.file;
        if !self.is_in_row(base) {
            return Ok(None);
        }
        let Place { base, mut indices, ty } = self.place(base)?;
        let (Some(n), Some((before, ty))) = (n_levels(file, base), file.numbers_before(&ty, field)) else {
            return Ok(None);
        };
        match indices.get_mut(n) {
            Some(number) => *number = Expr::binary(BinaryOp::Add, number.clone(), Expr::from(before)),
            None => indices.push(Expr::from(before)),
        }
        Ok((indices.len() == n + 1).then(|| Place { base, indices, ty: ty.clone() }))
    }

    /// The pointer whose object a subscript or `*` denotes.
    fn followed(&mut self, e: &ast::Expr) -> Lowered<Pointer> {
        match &e.kind {
            ExprKind::Index(base, index) => {
                let is_turned = !self.is_pointer(base) && self.is_pointer(index);
                let (base, index) = if is_turned { (index, base) } else { (base, index) };
                let pointer = self.pointer(base)?;
                let index = self.value(index)?;
                let index = self.ahead(index, e.range)?;
                self.moved(pointer, BinaryOp::Add, index, e.range)
            }
            ExprKind::Deref(base) => self.pointer(base),
            _ => Err(Refusal::new(e.range, "this is not an array element or variable")),
        }
    }

    /// The object that `*pointer` denotes.
    fn pointed_at(&mut self, pointer: Pointer, at: Range) -> Lowered<Place> {
        let Pointer { base, mut indices, offset, pointee, in_row, is_object, rows } = pointer;
        if !rows.is_empty() {
            return Err(Refusal::new(at, format!("a whole row of `{}` is used as a value", self.name(base))));
        }
        if is_object {
            return Ok(Place { base, indices, ty: pointee });
        }
        let index = match offset {
            Some(offset) => {
                let is_wide = has_wide_cast(&offset.e);
                let index = self.index(offset);
                if is_wide && index.as_affine().is_none() {
                    if let Some(array) = self.state.arrays.get(&base) {
                        self.state.wide.insert(*array);
                    } else if let Ok(array) = self.array(base, Range::default()) {
                        self.state.wide.insert(array);
                    }
                }
                index
            }
            None => Expr::from(0),
        };
        if in_row
            && n_levels(self.cx.file, base).is_none()
            && !self.is_in_range(base, indices.len(), &index, at)?
        {
            if self.is_across_rows(base, &mut indices, &index, at)? {
                return Ok(Place { base, indices, ty: pointee });
            }
            let name = self.name(base);
            let message = format!("a pointer leads into a row of `{name}`, and perhaps beyond its end");
            return Err(Refusal::new(at, message).help(format!("pass `{name}` itself, with its rows")));
        }
        indices.push(index);
        Ok(Place { base, indices, ty: pointee })
    }

    /// The row at a pointer to rows, as a pointer to its first element.
    pub(super) fn row(&mut self, pointer: Pointer, at: Range) -> Lowered<Pointer> {
        if let Some(row) = pointer.clone().into_row() {
            return Ok(row);
        }
        let Place { base, indices, ty } = self.pointed_at(pointer, at)?;
        match ty {
            Type::Array { of, .. } => Ok(Pointer::at(base, indices, *of)),
            _ => Err(Refusal::new(at, format!("`{}` is not used as rows of elements", self.name(base)))),
        }
    }

    /// The element at a pointer to numbers.
    pub(super) fn pointed_access(&mut self, pointer: Pointer, at: Range) -> Lowered<Access> {
        let place = self.pointed_at(pointer, at)?;
        let array = self.array(place.base, at)?;
        let n_dims = self.state.program.array(array).shape.len();
        if n_dims != place.indices.len() {
            return Err(Refusal::new(
                at,
                format!("`{}` is not used as rows of elements", self.name(place.base)),
            ));
        }
        Ok(Access { array, indices: place.indices })
    }

    /// Finishes subscripts with an index that counts through several rows from the first element on, as in `(&a[i][0][0])[k]`:
    /// its quotients and remainders by the extents. Whether that could be done.
    fn is_across_rows(
        &mut self,
        base: VarId,
        indices: &mut Vec<Expr>,
        index: &Expr,
        at: Range,
    ) -> Lowered<bool> {
        let array = self.array(base, at)?;
        let shape = self.state.program.array(array).shape.clone();
        let extent = |k: usize| shape.get(k)?.as_ref()?.as_affine()?.as_constant();
        let mut first = indices.len();
        let Some(mut total) = extent(first).filter(|_| shape.len() == first + 1) else { return Ok(false) };
        while first.checked_sub(1).is_some_and(|k| indices[k] == Expr::from(0)) {
            let Some(wider) = extent(first - 1).and_then(|e| total.checked_mul(e)) else { break };
            (first, total) = (first - 1, wider);
        }
        let Some(affine) = index.as_affine() else { return Ok(false) };
        let is_inside = self.facts.prove_non_negative(affine)
            && self.facts.prove_non_negative(&(-affine.clone()).offset(total - 1));
        if first == indices.len() || !is_inside {
            return Ok(false);
        }
        let last = indices.len();
        indices.truncate(first);
        for k in first..=last {
            let Some(n) = extent(k).filter(|n| *n > 0) else { return Ok(false) };
            total /= n;
            let divided = |e: Expr, op, by: i64| match by {
                1 if op == BinaryOp::Div => e,
                by => Expr::Binary(op, Box::new(e), Box::new(Expr::from(by))),
            };
            let quotient = divided(index.clone(), BinaryOp::Div, total);
            indices.push(if k == first { quotient } else { divided(quotient, BinaryOp::Rem, n) });
        }
        Ok(true)
    }

    /// Whether an index is within the array's extent in that dimension.
    fn is_in_range(&mut self, base: VarId, dimension: usize, index: &Expr, at: Range) -> Lowered<bool> {
        let array = self.array(base, at)?;
        let extent = self.state.program.array(array).shape.get(dimension).cloned().flatten();
        let (Some(index), Some(extent)) = (index.as_affine(), extent.as_ref().and_then(Expr::as_affine))
        else {
            return Ok(false);
        };
        let last = (extent.clone() - index.clone()).offset(-1);
        // Facts assumed inside an earlier loop no longer hold.
        let mark = self.facts.len();
        self.state.program.assumptions.iter().for_each(|assumption| self.facts.push(assumption.clone()));
        let is_inside = self.facts.prove_non_negative(index) && self.facts.prove_non_negative(&last);
        self.facts.truncate(mark);
        Ok(is_inside)
    }

    pub(super) fn moved(
        &mut self,
        mut pointer: Pointer,
        op: BinaryOp,
        by: Value,
        at: Range,
    ) -> Lowered<Pointer> {
        if by.ty.is_float() {
            return Err(
                Refusal::new(at, "a subscript that is not an integer").help("convert it to an integer first")
            );
        }
        if pointer.is_object && constant(&by) == Some(0) {
            return Ok(pointer);
        }
        if pointer.is_object {
            return Err(Refusal::new(at, format!("a pointer leads beyond `{}`", self.name(pointer.base))));
        }
        let by = self.stretched(by, &pointer, at)?;
        let zero = || Value { e: Expr::from(0), ty: ScalarType::I32 };
        pointer.offset = Some(match (pointer.offset, op) {
            (None, BinaryOp::Add) => by,
            (offset, op) => {
                // Pointer arithmetic is done in 64 bits, whatever the type of each step.
                let widened = |v: Value, l: &Self| {
                    if v.ty == ScalarType::U32 { l.typed(v.e, ScalarType::I64) } else { v }
                };
                let (left, right) = (widened(offset.unwrap_or_else(zero), self), widened(by, self));
                match beside(&left, op, &right) {
                    Some(e) => self.typed(e, left.ty),
                    None => self.binary(op, left, right, at)?,
                }
            }
        });
        Ok(pointer)
    }

    /// A row of an array, or a pointer in one, as a pointer.
    fn pointer_inside(&mut self, e: &ast::Expr) -> Lowered<Pointer> {
        if let Some(var) = self.of_element(e)? {
            return self.pointer(&ast::Expr { kind: ExprKind::Var(var), range: e.range });
        }
        let pointer = self.followed(e)?;
        if let Some(row) = pointer.clone().into_row() {
            return Ok(row);
        }
        let place = self.pointed_at(pointer, e.range)?;
        match place.ty {
            Type::Array { of, .. } => Ok(Pointer::at(place.base, place.indices, *of)),
            Type::Pointer { to, .. } if n_levels(self.cx.file, place.base).is_some() => {
                Ok(Pointer::at(place.base, place.indices, *to))
            }
            ty @ Type::Pointer { .. } => Err(self.pointers_inside(self.name(place.base), &ty, e.range)),
            _ => Err(Refusal::new(e.range, "this is not a pointer")),
        }
    }

    /// A pointer expression.
    pub(super) fn pointer(&mut self, e: &ast::Expr) -> Lowered<Pointer> {
        match &e.kind {
            ExprKind::Var(v) => {
                match self.bound.get(v) {
                    Some(Bound::Pointer(pointer)) => return Ok(pointer.clone()),
                    Some(Bound::Value(_)) => {
                        return Err(Refusal::new(e.range, format!("`{}` is not a pointer", self.name(*v))));
                    }
                    None => {}
                }
                if let Some(member) = self.redirected(*v, e.range)? {
                    return self.member_pointer(*v, member, e.range);
                }
                self.names(*v, e.range)?;
                let is_set = self.scan.written.contains(v) || self.scan.iterators.contains(v);
                if is_set && !self.moving.in_turns.contains(v) && !self.is_where_it_was(*v) {
                    let name = self.name(*v);
                    let message =
                        format!("where the pointer `{name}` leads depends on what the loop did before");
                    return Err(Refusal::new(e.range, message)
                        .help(format!("leave `{name}` as it is and subscript it")));
                }
                Pointer::of(self.cx.file, *v).ok_or_else(|| {
                    let name = self.name(*v);
                    Refusal::new(
                        e.range,
                        format!("`{name}` is subscripted, but its type is not known as a pointer"),
                    )
                })
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), l, r) => {
                let (l, r) = if self.is_pointer(l) || *op == BinaryOp::Sub { (l, r) } else { (r, l) };
                let pointer = self.pointer(l)?;
                let by = self.value(r)?;
                let by = self.ahead(by, e.range)?;
                self.moved(pointer, *op, by, e.range)
            }
            ExprKind::Index(..) | ExprKind::Deref(_) => self.pointer_inside(e),
            ExprKind::AddressOf(inner) => {
                let mut place = self.place(inner)?;
                let is_plain =
                    matches!(&place.ty, Type::Scalar(s) if !s.is_volatile) && !self.is_counter(place.base);
                if (matches!(place.ty, Type::Struct(_)) || is_plain) && place.indices.is_empty() {
                    let Place { base, indices, ty } = place;
                    return Ok(Pointer {
                        base,
                        indices,
                        offset: None,
                        pointee: ty,
                        in_row: false,
                        is_object: true,
                        rows: Vec::new(),
                    });
                }
                let Some(last) = place.indices.pop() else {
                    return Err(Refusal::new(e.range, "the address of a variable is used"));
                };
                let ty = self.natural(&last);
                let offset = Some(Value { e: last, ty });
                let Place { base, indices, ty } = place;
                let in_row = !indices.is_empty();
                Ok(Pointer { base, indices, offset, pointee: ty, in_row, is_object: false, rows: Vec::new() })
            }
            ExprKind::Select(condition, one, other) => {
                let condition = self.value(condition)?;
                if let Some(value) = constant(&condition) {
                    return self.pointer(if value != 0 { one } else { other });
                }
                let (one, other) = self.unsurely(|s| (s.pointer(one), s.pointer(other)));
                self.one_of(condition.e, one?, other?, e.range)
            }
            ExprKind::Cast(ty, inner) => {
                let pointer = self.pointer(inner)?;
                let is_untyped = matches!(ty.pointee(), Some(Type::Void));
                let is_same = is_untyped
                    || ty.pointee().map(without_qualifiers) == Some(without_qualifiers(&pointer.pointee));
                if is_same {
                    return Ok(pointer);
                }
                if let Some(to) = ty.pointee() {
                    if let Some(flat) = flattened(&pointer, to) {
                        return Ok(flat);
                    }
                    if let Some(rows) = self.as_rows(&pointer, to)? {
                        return Ok(rows);
                    }
                }
                let name = self.name(pointer.base);
                let message = format!("the elements of `{name}` are used as another type");
                Err(Refusal::new(e.range, message).help("declare a pointer of that type before the loop"))
            }
            ExprKind::Member(..) => self.numbers_in_row(e),
            ExprKind::Unknown(what, inside) => Err(Refusal::of_unknown(e.range, what, inside)),
            ExprKind::Name(name) => {
                Err(Refusal::new(e.range, format!("`{name}` is not known as a variable here")))
            }
            ExprKind::Step { target, .. } | ExprKind::Assign(_, target, _) => match target.as_var() {
                Some(v) => {
                    let name = self.name(v);
                    Err(Refusal::new(e.range, format!("the pointer `{name}` is changed inside the loop"))
                        .help(format!("leave `{name}` as it is and subscript it")))
                }
                None => Err(Refusal::new(e.range, "a pointer is changed inside the loop")
                    .help("leave the pointer as it is, and subscript it")),
            },
            ExprKind::Call(..) => Err(Refusal::new(e.range, "a pointer that a function returns is used")
                .help("call the function before the loop, if it always returns the same")),
            _ => Err(Refusal::new(e.range, "this pointer cannot be followed")),
        }
    }

    /// An array of numbers in a structure in a row behind pointers.
    fn numbers_in_row(&mut self, e: &ast::Expr) -> Lowered<Pointer> {
        let mut place = self.place(e)?;
        if let (Type::Array { of, .. }, Some(first)) = (&place.ty, place.indices.pop())
            && matches!(**of, Type::Scalar(_))
        {
            let ty = self.natural(&first);
            let offset = Some(Value { e: first, ty });
            return Ok(Pointer { offset, ..Pointer::at(place.base, place.indices, (**of).clone()) });
        }
        Err(Refusal::new(e.range, "a member of a structure is used as a pointer")
            .help("copy the pointer into a local variable before the loop"))
    }

    /// `condition ? one : other`, where both point into the same array.
    fn one_of(&mut self, condition: Expr, one: Pointer, other: Pointer, at: Range) -> Lowered<Pointer> {
        let is_same = one.base == other.base
            && one.indices == other.indices
            && one.pointee == other.pointee
            && one.rows == other.rows;
        if !is_same || one.is_object || other.is_object {
            let (a, b) = (self.name(one.base), self.name(other.base));
            return Err(Refusal::new(at, format!("a pointer leads to `{a}` or to `{b}`"))
                .help("write the loop once for each of the two"));
        }
        let zero = || Value { e: Expr::from(0), ty: ScalarType::I64 };
        let wide = |l: &Self, v: Option<Value>| {
            let v = v.unwrap_or_else(zero);
            if v.ty == ScalarType::U32 { l.typed(v.e, ScalarType::I64) } else { v }
        };
        let (then, otherwise) = (wide(self, one.offset.clone()), wide(self, other.offset));
        let offset = if then == otherwise { then } else { self.select(condition, then, otherwise) };
        Ok(Pointer { offset: Some(offset), in_row: one.in_row || other.in_row, ..one })
    }

    fn is_counter(&self, var: VarId) -> bool {
        self.scan.iterators.contains(&var)
    }

    /// A pointer parameter of an inlined function.
    pub(super) fn argument_pointer(&mut self, e: &ast::Expr, param: &Type) -> Lowered<Pointer> {
        let pointer = self.pointer(e)?;
        let expected = param.pointee().map(without_qualifiers);
        let is_same = match (&expected, without_qualifiers(&pointer.pointee)) {
            // Rows: the same number of subscripts follows; their lengths are those of the argument.
            (Some(Type::Array { .. }), Type::Array { .. }) => {
                rank(expected.as_ref()) == rank(Some(&pointer.pointee))
                    && self.same_rows(expected.as_ref(), &pointer.pointee)
            }
            (Some(expected), actual) => *expected == actual,
            (None, _) => false,
        };
        if is_same {
            return Ok(pointer);
        }
        Err(Refusal::new(e.range, "an array is passed to a function that declares it with another shape")
            .help("declare the parameter with the extents of the array"))
    }

    /// Whether rows have the same constant lengths.
    fn same_rows(&self, a: Option<&Type>, b: &Type) -> bool {
        let (Some(Type::Array { of: a, len: Some(n), .. }), Type::Array { of: b, len: Some(m), .. }) = (a, b)
        else {
            return a.map(without_qualifiers) == Some(without_qualifiers(b));
        };
        let lengths = (crate::ast::constant(n), crate::ast::constant(m));
        matches!(lengths, (Some(n), Some(m)) if n == m) && self.same_rows(Some(a), b)
    }
}

/// `(product + a) + b` as `product + (a + b)`, for pointers that move step by step.
fn beside(left: &Value, op: BinaryOp, right: &Value) -> Option<Expr> {
    let Expr::Binary(BinaryOp::Add, product, rest) = &left.e else { return None };
    let (rest, by) = (rest.as_affine()?, right.e.as_affine()?);
    let is_long = left.ty == ScalarType::I64 && matches!(right.ty, ScalarType::I32 | ScalarType::I64);
    let by = match op {
        BinaryOp::Add => by.clone(),
        BinaryOp::Sub => by.scaled(-1),
        _ => return None,
    };
    let rest = rest.clone() + by;
    is_long.then(|| match rest.as_constant() {
        Some(0) => (**product).clone(),
        _ => Expr::binary(BinaryOp::Add, (**product).clone(), rest.into()),
    })
}

fn rank(ty: Option<&Type>) -> usize {
    match ty {
        Some(Type::Array { of, .. }) => 1 + rank(Some(of)),
        _ => 0,
    }
}

/// Whether part of the expression was explicitly computed in 64 bits.
pub(super) fn has_wide_cast(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| {
        found |= matches!(e, Expr::Cast(ty, _) if *ty == ScalarType::I64 || (wraps(*ty) && ty.bytes() == 8))
    });
    found
}

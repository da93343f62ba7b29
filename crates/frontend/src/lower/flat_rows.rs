//! Flat memory that is used as rows: `(double (*)[m])a` of `double *a`, and what is passed as such to a function that declares
//! `double b[n][m]`. Subscripts become subscripts of the flat memory, `a[i * m + j]`.

use super::access::without_qualifiers;
use super::lowerer::{Bound, Lowerer};
use super::pointer::Pointer;
use super::value::Value;
use crate::ast::{self, Range, Type, VarId};
use crate::refusal::Lowered;
use oxeye_ir::{BinaryOp, ScalarType};
use std::collections::HashMap;

impl Lowerer<'_> {
    /// A pointer to numbers as one to rows of them; `None` if it is no such pointer, or the lengths of the rows may change.
    pub(super) fn as_rows(&mut self, pointer: &Pointer, to: &Type) -> Lowered<Option<Pointer>> {
        let is_flat = pointer.indices.is_empty() && pointer.rows.is_empty() && !pointer.is_object;
        let Type::Scalar(element) = to.innermost() else { return Ok(None) };
        let is_same = !element.is_volatile
            && matches!(&pointer.pointee, Type::Scalar(own) if !own.is_volatile)
            && without_qualifiers(&pointer.pointee) == without_qualifiers(to.innermost());
        if !is_flat || !is_same {
            return Ok(None);
        }
        let mut rows = Vec::new();
        let mut ty = to;
        while let Type::Array { of, len: Some(len), .. } = ty {
            let length = self.value(len)?;
            if length.ty.is_float() || !self.is_stable(&length.e) {
                return Ok(None);
            }
            rows.push(self.typed(length.e, ScalarType::I64));
            ty = of;
        }
        let is_whole = matches!(ty, Type::Scalar(_)) && !rows.is_empty();
        Ok(is_whole.then(|| Pointer { rows, pointee: to.clone(), ..pointer.clone() }))
    }

    /// A pointer expression as a value of a pointer type, in which names have the meanings of `frame`.
    pub(super) fn pointer_as(
        &mut self,
        e: &ast::Expr,
        ty: &Type,
        frame: &HashMap<VarId, Bound>,
    ) -> Lowered<Pointer> {
        let refusal = match self.argument_pointer(e, ty) {
            Ok(pointer) => return Ok(pointer),
            Err(refusal) => refusal,
        };
        let Some(seen) = ty.pointee() else { return Err(refusal) };
        let pointer = self.pointer(e)?;
        match self.as_rows_in(&pointer, seen, frame)? {
            Some(rows) => Ok(rows),
            None if self.rows_agree(seen, frame, &pointer.pointee) => Ok(pointer),
            None => Err(refusal),
        }
    }

    /// Whether rows as a function declares them, with its parameters as in `frame`, are as long as those passed.
    fn rows_agree(&mut self, seen: &Type, frame: &HashMap<VarId, Bound>, passed: &Type) -> bool {
        match (seen, passed) {
            (Type::Array { of: seen, len: Some(n), .. }, Type::Array { of: passed, len: Some(m), .. }) => {
                let outer = std::mem::replace(&mut self.bound, frame.clone());
                let n = self.value(n);
                self.bound = outer;
                let m = self.value(m);
                let is_same = matches!((&n, &m), (Ok(n), Ok(m)) if n.e == m.e && self.is_stable(&n.e));
                is_same && self.rows_agree(seen, frame, passed)
            }
            (Type::Scalar(seen), Type::Scalar(passed)) => seen.ty == passed.ty,
            _ => false,
        }
    }

    /// The same for the rows that a function declares, whose parameters are bound so.
    fn as_rows_in(
        &mut self,
        pointer: &Pointer,
        to: &Type,
        frame: &HashMap<VarId, Bound>,
    ) -> Lowered<Option<Pointer>> {
        let outer = std::mem::replace(&mut self.bound, frame.clone());
        let rows = self.as_rows(pointer, to);
        self.bound = outer;
        rows
    }

    /// So many numbers are between two objects that a pointer may lead to, if these are rows of flat memory.
    pub(super) fn stretched(&mut self, by: Value, pointer: &Pointer, at: Range) -> Lowered<Value> {
        let mut by = if pointer.rows.is_empty() { by } else { self.typed(by.e, ScalarType::I64) };
        for row in &pointer.rows {
            by = self.binary(BinaryOp::Mul, by, row.clone(), at)?;
        }
        Ok(by)
    }
}

impl Pointer {
    /// The first number or row in the row of flat memory that it leads to.
    pub(super) fn into_row(self) -> Option<Self> {
        match self.pointee {
            Type::Array { of, .. } if !self.rows.is_empty() => {
                Some(Pointer { rows: self.rows[1..].to_vec(), pointee: *of, ..self })
            }
            _ => None,
        }
    }
}

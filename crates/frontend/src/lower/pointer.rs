//! Pointers that are followed while a nest is lowered.

use super::value::Value;
use crate::ast::{self, File, Member, Type, VarId};
use oxeye_binding::Step;
use oxeye_ir::Expr;

/// A pointer into an array: the element (or row) at `indices`, plus `offset` elements.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) base: VarId,
    pub(super) indices: Vec<Expr>,
    pub(super) offset: Option<Value>,
    pub(super) pointee: Type,
    /// Whether it leads into a row of an array by other means than subscripts: then it may lead beyond the row's end,
    /// into the next one.
    pub(super) in_row: bool,
    /// Whether it is the address of the variable itself, a structure.
    pub(super) is_object: bool,
    /// Lengths of the rows that it leads to, if these are flat memory; the offset counts numbers then.
    pub(super) rows: Vec<Value>,
}

impl Pointer {
    /// To the first element, or row, behind these indices.
    pub(super) fn at(base: VarId, indices: Vec<Expr>, pointee: Type) -> Self {
        Pointer { base, indices, offset: None, pointee, in_row: false, is_object: false, rows: Vec::new() }
    }

    /// What a pointer variable points to.
    pub(super) fn of(file: &ast::File, var: VarId) -> Option<Self> {
        let pointee = file.var(var).ty.pointee()?.clone();
        Some(Self::at(var, Vec::new(), pointee))
    }

    /// The same pointer, passed to a function.
    pub(super) fn handed_over(self) -> Self {
        let in_row = self.in_row || !self.indices.is_empty();
        Pointer { in_row, ..self }
    }
}

/// The number of pointers to follow to the elements, if a variable is rows behind pointers: rows of numbers, or of structures of
/// numbers of one type.
pub(super) fn n_levels(file: &File, var: VarId) -> Option<usize> {
    let variable = file.var(var);
    // One of many structures has rows of its own.
    let is_single = |m: &Member| {
        m.steps.iter().all(|step| !matches!(step, Step::Subscript | Step::Real | Step::Imaginary))
    };
    if !variable.member.as_ref().is_none_or(is_single) {
        return None;
    }
    let mut n = 1;
    let mut ty = variable.ty.pointee()?;
    while let Type::Pointer { to, .. } = ty {
        n += 1;
        ty = to;
    }
    let holds_numbers = match ty {
        Type::Scalar(_) => true,
        Type::Struct(_) => file.numbers(ty).is_some(),
        _ => false,
    };
    (n > 1 && n <= 4 && holds_numbers).then_some(n)
}

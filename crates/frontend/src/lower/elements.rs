//! Elements of arrays of structures whose index the nest leaves as it is.

use super::lowerer::Lowerer;
use crate::ast::{self, ExprKind, Type, VarId};
use crate::refusal::Lowered;
use oxeye_binding::{Binding, Step, View};
use oxeye_ir::{Affine, Expr, Nest, Program};

impl Lowerer<'_> {
    /// The variable of a member of one structure in an array, if the nest does not change which one it is. Members that
    /// lead nowhere are elements of an array like any others, unless the nest needs single structures of it.
    pub(super) fn of_element(&mut self, e: &ast::Expr) -> Lowered<Option<VarId>> {
        let file = self.cx.file;
        let Some((of, index, (root, _))) = file.element_of(e) else { return Ok(None) };
        let Some(var) = file.element(of, index) else { return Ok(None) };
        let leads = matches!(file.var(var).ty, Type::Pointer { .. });
        if self.bound.contains_key(&root) || !leads && !self.reading.by_element.contains(&root) {
            return Ok(None);
        }
        let mut is_fixed = true;
        index.walk(&mut |e| {
            if let Some(v) = e.as_var() {
                let changes = [&self.scan.written, &self.scan.declared, &self.scan.iterators];
                is_fixed &= !changes.iter().any(|set| set.contains(&v)) && !self.bound.contains_key(&v);
            }
        });
        if !is_fixed {
            return Ok(None);
        }
        let value = self.value(index)?;
        let value = self.ahead(value, index.range)?;
        let is_one = |a: &&Affine| !value.ty.is_float() && a.loops().next().is_none();
        let Some(position) = value.e.as_affine().filter(is_one) else { return Ok(None) };
        self.relies_on(&Expr::from(position.clone()));
        Ok(Some(var))
    }

    /// Whether the nest stores to a member of structures in an array, whichever of them it is.
    pub(super) fn stores_to_elements(&self, e: &ast::Expr) -> bool {
        let ExprKind::Index(base, _) = &e.kind else { return true };
        base.as_var().is_none_or(|of| self.scan.stored.contains(&of) || self.scan.written.contains(&of))
    }
}

/// An array of structures that a nest uses both by an index that changes and by one that does not, of which it needs what
/// the structure leads to.
pub(crate) fn used_both_ways((program, binding): (&Program, &Binding), nest: &Nest) -> Option<String> {
    let symbols = binding.symbols_of(program, &[nest]);
    let arrays = binding.arrays_of(program, nest);
    let views: Vec<&View> = symbols
        .iter()
        .filter_map(|s| binding.symbol_view(*s))
        .chain(arrays.iter().filter_map(|a| binding.views.get(a)))
        .collect();
    let subscripted: Vec<(&String, &[Step])> = views
        .iter()
        .filter(|v| v.is_interleaved())
        .map(|v| (&v.root, &v.steps[..v.n_base_steps()]))
        .collect();
    let is_both = |view: &&&View| {
        let elements = (0..view.n_base_steps()).filter(|n| matches!(view.steps[*n], Step::Element(_)));
        elements.map(|n| &view.steps[..n]).any(|before| {
            let array = before.strip_suffix(&[Step::Follow]).unwrap_or(before);
            subscripted.contains(&(&view.root, array))
        })
    };
    views.iter().find(is_both).map(|view| view.base())
}

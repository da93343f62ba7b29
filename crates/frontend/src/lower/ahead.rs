//! Elements of arrays that a nest leaves as they are, read once before it: `grid_points[0]` as a bound is a symbol.

use super::assigned::sets;
use super::lowerer::{Lowerer, State};
use super::pointer::n_levels;
use super::value::{Value, promoted};
use crate::ast::{Range, VarId};
use crate::refusal::Lowered;
use oxeye_binding::Source;
use oxeye_ir::{Access, Affine, Array, Expr, Node, Program, ScalarType, Storage, SymId, Var};

impl Lowerer<'_> {
    /// The same value, in which integers that the nest finds in memory and never changes are symbols. Only values that
    /// shape the nest are worth it: bounds, subscripts and conditions.
    pub(super) fn ahead(&mut self, value: Value, at: Range) -> Lowered<Value> {
        if !self.reading.reads_ahead || value.ty.is_float() || !self.has_loads(&value.e) {
            return Ok(value);
        }
        self.with_loads(value.e, at)
    }

    /// The value that a variable of the function has before the nest, where `out` is the beginning of the nest.
    pub(super) fn value_at_entry(&mut self, var: VarId, out: &[Node], at: Range) -> Lowered<Option<Value>> {
        let is_own = self.cx.file.var(var).function == Some(self.cx.position);
        if !self.reading.reads_ahead || !self.loops.is_empty() || !is_own || !self.is_tame(var) {
            return Ok(None);
        }
        let array = self.array(var, at)?;
        if sets(out, array) {
            return Ok(None);
        }
        let ty = promoted(self.state.program.array(array).element);
        let id = self.load(Access::scalar(array));
        Ok(Some(self.typed(Expr::from(id), ty)))
    }

    fn has_loads(&self, e: &Expr) -> bool {
        e.reads().into_iter().any(|access| self.is_readable_ahead(access))
    }

    fn with_loads(&mut self, e: Expr, at: Range) -> Lowered<Value> {
        if !self.has_loads(&e) {
            let ty = self.natural(&e);
            return Ok(Value { e, ty });
        }
        Ok(match e {
            Expr::Read(access) => {
                let ty = promoted(self.state.program.array(access.array).element);
                let id = self.load(access);
                self.typed(Expr::from(id), ty)
            }
            Expr::Binary(op, l, r) => {
                let (l, r) = (self.with_loads(*l, at)?, self.with_loads(*r, at)?);
                self.binary(op, l, r, at)?
            }
            Expr::Unary(op, inner) => {
                let inner = self.with_loads(*inner, at)?;
                self.unary(op, inner)
            }
            Expr::Cast(ty, inner) => {
                let inner = self.with_loads(*inner, at)?;
                self.typed(inner.e, ty)
            }
            Expr::Select { condition, then, otherwise } => {
                let condition = self.with_loads(*condition, at)?;
                let (then, otherwise) = (self.with_loads(*then, at)?, self.with_loads(*otherwise, at)?);
                self.select(condition.e, then, otherwise)
            }
            e => {
                let ty = self.natural(&e);
                Value { e, ty }
            }
        })
    }

    /// Whether an element is an integer in an array that the nest does not write by any name that is known to lead there,
    /// and which one it is does not change.
    fn is_readable_ahead(&self, access: &Access) -> bool {
        let (program, file) = (&self.state.program, self.cx.file);
        let Some(array) = program.arrays.get(&access.array) else { return false };
        let Some(var) = self.state.vars.get(&access.array).copied() else { return false };
        let is_outer = matches!(array.storage, Storage::Param | Storage::Global | Storage::Local);
        let is_plain_symbol = |v: Var| match v {
            Var::Loop(_) => false,
            Var::Sym(id) => program.symbols.get(&id).is_some_and(|s| is_identifier(&s.name)),
        };
        let is_fixed = |e: &Expr| e.as_affine().is_some_and(|a| a.terms().all(|(v, _)| is_plain_symbol(v)));
        let is_interleaved = self.state.binding.is_interleaved(access.array);
        is_outer
            && !array.element.is_float()
            && !array.shape.is_empty()
            && access.indices.iter().all(is_fixed)
            && n_levels(file, var).is_none()
            && !is_interleaved
            && !self.moving.in_turns.contains(&var)
            && !self.scan.is_cut_short
            && !self.cx.directives.is_threadprivate(&file.var(var).name)
            && self.is_untouched(&Expr::Read(access.clone()), &self.scan).is_none()
    }

    /// The symbol for an element.
    fn load(&mut self, access: Access) -> SymId {
        self.reading.has_read_ahead = true;
        let State { program, binding, .. } = &mut self.state;
        if let Some((id, _)) = binding.loads().find(|(_, known)| **known == access) {
            return id;
        }
        let array = program.array(access.array);
        let base = match binding.views.get(&access.array) {
            Some(view) => view.base(),
            None => array.name.clone(),
        };
        let subscripts: String = access
            .indices
            .iter()
            .filter_map(Expr::as_affine)
            .map(|a| format!("[{}]", subscript(program, a)))
            .collect();
        let ty = array.element;
        // A name for an expression, other than that of the variable, which the nest may change.
        let name = if subscripts.is_empty() { format!("({base})") } else { format!("{base}{subscripts}") };
        let id = program.add_symbol(name, ty);
        binding.sources.insert(id, Source::Element(access));
        if matches!(ty, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64) {
            self.assume(oxeye_ir::Constraint::ge(Affine::var(id), 0.into()));
        }
        id
    }
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// An affine expression of symbols in C.
fn subscript(program: &Program, a: &Affine) -> String {
    let mut text = String::new();
    for (var, c) in a.terms() {
        let Var::Sym(id) = var else { continue };
        let name = program.symbols.get(&id).map_or("", |s| s.name.as_str());
        let factor = match c.unsigned_abs() {
            1 => String::new(),
            factor => format!("{factor} * "),
        };
        text += match (c < 0, text.is_empty()) {
            (true, _) => "-",
            (false, true) => "",
            (false, false) => "+",
        };
        text += &format!("{factor}{name}");
    }
    match (a.constant_part(), text.is_empty()) {
        (0, false) => text,
        (constant, true) => constant.to_string(),
        (constant, false) => format!("{text}{constant:+}"),
    }
}

/// Whether an element exists whatever happens: it lies in a declared array of known size.
pub(super) fn is_always_there(program: &Program, access: &Access) -> bool {
    let is_there = |array: &Array| {
        array.shape.len() == access.indices.len()
            && array.shape.iter().zip(&access.indices).all(|(extent, index)| {
                let constant = |e: &Expr| e.as_affine().and_then(Affine::as_constant);
                let extent = extent.as_ref().and_then(constant);
                matches!((constant(index), extent), (Some(k), Some(n)) if (0..n).contains(&k))
            })
    };
    program
        .arrays
        .get(&access.array)
        .is_some_and(|array| matches!(array.storage, Storage::Global | Storage::Local) && is_there(array))
}

//! Arrays that may share memory with others, or with what a nest assumes to be constant.

use super::Regions;
use crate::ast::{Type, VarId, VarKind};
use crate::lower::State;
use oxeye_binding::Constant;
use oxeye_ir::{ArrayId, Nest, Storage};
use std::collections::BTreeSet;

impl Regions<'_> {
    /// Things that writes to the nest's arrays may change although the nest assumes them to be constant.
    pub(super) fn may_change(&self, state: &State, nest: &Nest) -> Vec<(Constant, ArrayId)> {
        let mut found = Vec::new();
        if self.cx.no_alias {
            return found;
        }
        let used = state.vars_of(nest);
        let pointer = Type::Other("a pointer".into());
        let mut constants: Vec<(Constant, VarId, &Type)> = Vec::new();
        for (var, id) in &state.symbols {
            let v = (*id).into();
            if used.contains(&v) {
                constants.push((Constant::Symbol(*id), *var, &self.cx.file.var(*var).ty));
                if state.binding.symbol_view(*id).is_some_and(|v| !v.loads().is_empty()) {
                    constants.push((Constant::Symbol(*id), *var, &pointer));
                }
            }
        }
        for (id, load) in state.binding.loads() {
            let v = id.into();
            if used.contains(&v)
                && let Some(var) = state.vars.get(&load.array)
            {
                constants.push((Constant::Symbol(id), *var, self.cx.file.var(*var).ty.innermost()));
                if state.binding.views.get(&load.array).is_some_and(|v| !v.loads().is_empty()) {
                    constants.push((Constant::Symbol(id), *var, &pointer));
                }
            }
        }
        for id in nest.arrays() {
            if let (Some(view), Some(var)) = (state.binding.views.get(&id), state.vars.get(&id))
                && !view.loads().is_empty()
            {
                constants.push((Constant::Base(id), *var, &pointer));
            }
        }
        let written: BTreeSet<ArrayId> =
            nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
        for array in written {
            let Some(target) = state.vars.get(&array) else { continue };
            if matches!(state.program.array(array).storage, Storage::Body(_) | Storage::Temp(_)) {
                continue;
            }
            for (constant, var, ty) in &constants {
                let is_base = matches!(ty, Type::Other(_));
                let is_apart = |a: VarId, b: VarId| self.cx.pointers.are_distinct(a, b);
                let may_share = match is_base {
                    true => self.may_hold_pointers(*target),
                    false => {
                        self.cx.may_share(ty, self.cx.file.var(*target).ty.innermost())
                            && !is_apart(*var, *target)
                    }
                };
                // What a variable holds before the nest is known to be that, also where the nest sets it.
                let is_entry = matches!(constant, Constant::Symbol(id) if state.binding.load(*id).is_some_and(
                    |load| load.array == array && load.indices.is_empty()
                ));
                if may_share && !is_entry && (is_base || *constant != Constant::Base(array)) {
                    found.push((*constant, array));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether writing to an array of numbers may change a pointer inside a structure.
    pub(super) fn may_hold_pointers(&self, target: VarId) -> bool {
        let variable = self.cx.file.var(target);
        let is_own_variable = variable.member.is_none()
            && !matches!(variable.ty, Type::Pointer { .. })
            && !matches!((&variable.ty, variable.kind), (Type::Array { .. }, VarKind::Param(_)));
        let is_char = variable.ty.innermost().as_scalar().is_some_and(|s| s.ty.bytes() == 1 && !s.is_bool);
        !is_own_variable && (is_char || !self.cx.has_strict_aliasing)
    }

    /// Pairs of arrays that may share memory, where some nest uses both and writes one.
    pub(super) fn find_aliases(&mut self) {
        if self.cx.no_alias {
            return;
        }
        let mut pairs = BTreeSet::new();
        for nest in self.state.program.nests.values() {
            let accesses = nest.accesses();
            let written: BTreeSet<ArrayId> =
                accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
            let used = nest.arrays();
            for a in &written {
                for b in used.iter().filter(|b| *b != a) {
                    pairs.insert((*a.min(b), *a.max(b)));
                }
            }
        }
        let may_alias = |(a, b): &(ArrayId, ArrayId)| {
            let is_own = |id: &ArrayId| {
                matches!(self.state.program.array(*id).storage, Storage::Body(_) | Storage::Temp(_))
            };
            let (Some(x), Some(y)) = (self.state.vars.get(a), self.state.vars.get(b)) else { return false };
            if is_own(a) || is_own(b) {
                return false;
            }
            let (t, u) = (self.cx.file.var(*x).ty.innermost(), self.cx.file.var(*y).ty.innermost());
            self.cx.may_share(t, u) && !self.cx.pointers.are_distinct(*x, *y)
        };
        let found: Vec<_> = pairs.into_iter().filter(may_alias).collect();
        self.state.program.may_alias = found;
    }
}

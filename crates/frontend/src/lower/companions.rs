//! Variables that a loop's header updates along with its counter: `t++, t0 = t % 2` and `i++, k += 3`.

use super::lowerer::{Bound, Lowerer};
use super::value::{Value, constant, is_unsigned, reads_memory};
use crate::ast::{Expr, ExprKind, For, StmtKind, Type, VarId, VarKind};
use crate::flow::{is_address_taken, is_live_after};
use crate::refusal::Lowered;
use crate::scan::{Scan, assigned_var, commas};
use oxeye_ir::{Affine, BinaryOp, LoopId, ScalarType};

/// A variable that is a function of the counter in every iteration.
pub(super) struct Companion<'e> {
    pub(super) var: VarId,
    init: &'e Expr,
    step: &'e Expr,
    /// Its value in the first iteration.
    first: Option<Value>,
}

impl Lowerer<'_> {
    /// The variables of a header that are set only before the loop and after each iteration.
    pub(super) fn companions<'e>(
        &self,
        f: &'e For,
        counter: VarId,
        s: &crate::ast::Stmt,
    ) -> Vec<Companion<'e>> {
        let Some(init) = &f.init else { return Vec::new() };
        let sets: Vec<(VarId, &Expr)> = match &init.kind {
            StmtKind::Declare(declared) => {
                declared.iter().filter_map(|d| Some((d.var, d.init.as_ref()?))).collect()
            }
            StmtKind::Expr(e) => commas(e)
                .into_iter()
                .filter_map(|e| match &e.kind {
                    ExprKind::Assign(None, target, value) => Some((target.as_var()?, &**value)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let steps = f.step.as_ref().map(commas).unwrap_or_default();
        let Some(counted) = steps.iter().position(|e| assigned_var(e) == Some(counter)) else {
            return Vec::new();
        };
        let inside = Scan::of(self.cx.file, &f.body);
        let mut found = Vec::new();
        for (at, (var, init)) in sets.iter().enumerate() {
            let variable = self.cx.file.var(*var);
            let is_plain = matches!(&variable.ty, Type::Scalar(s) if !s.is_volatile && !s.is_bool
                && matches!(s.ty, ScalarType::I32 | ScalarType::I64));
            let own_steps: Vec<usize> =
                (0..steps.len()).filter(|k| assigned_var(steps[*k]) == Some(*var)).collect();
            let [own_step] = own_steps.as_slice() else { continue };
            let is_global =
                matches!(variable.kind, VarKind::Global { .. } | VarKind::Local { is_static: true });
            let function = variable.function.and_then(|k| self.cx.file.functions.get(k));
            let is_lost = function.is_none_or(|function| {
                is_address_taken(function, *var) || is_live_after(self.cx.file, function, s.range, *var)
            });
            let is_once = sets.iter().filter(|(v, _)| v == var).count() == 1;
            // The counter already has its new value when the companion is set.
            let is_after =
                *own_step > counted && sets.iter().position(|(v, _)| *v == counter).is_some_and(|k| k < at);
            let is_relative =
                matches!(steps[*own_step].kind, ExprKind::Step { .. } | ExprKind::Assign(Some(_), ..));
            let condition_uses = f.condition.as_ref().is_some_and(|c| c.mentions(*var));
            if *var != counter
                && is_plain
                && is_once
                && !is_global
                && !is_lost
                && !condition_uses
                && (is_after || is_relative)
                && !inside.written.contains(var)
                && !inside.iterators.contains(var)
            {
                found.push(Companion { var: *var, init, step: steps[*own_step], first: None });
            }
        }
        found
    }

    /// Records the values of companions in the first iteration, in which the counter is `first`.
    pub(super) fn first_of(
        &mut self,
        companions: &mut [Companion<'_>],
        counter: VarId,
        first: &Value,
    ) -> Lowered<()> {
        let before = self.bound.insert(counter, Bound::Value(first.clone()));
        for companion in companions {
            companion.first = self.value(companion.init).ok().filter(|v| !reads_memory(&v.e));
        }
        self.unbind(counter, before);
        Ok(())
    }

    /// Replaces each companion by its value in terms of the loop. Those whose value is not known stay variables and are
    /// returned.
    pub(super) fn bind_companions(
        &mut self,
        companions: Vec<Companion<'_>>,
        (counter, id): (VarId, LoopId),
        first: &Value,
        step: i64,
    ) -> Vec<VarId> {
        let mut bound = Vec::new();
        for companion in companions {
            let Some(value) = self.companion_value(&companion, (counter, id), first, step) else { continue };
            self.bound.insert(companion.var, Bound::Value(value));
            bound.push(companion.var);
        }
        bound
    }

    fn companion_value(
        &mut self,
        companion: &Companion<'_>,
        (counter, id): (VarId, LoopId),
        first: &Value,
        step: i64,
    ) -> Option<Value> {
        let start = companion.first.clone()?;
        let scalar = self.cx.file.var(companion.var).ty.as_scalar()?.clone();
        let by = match &companion.step.kind {
            ExprKind::Step { by, .. } => Some(*by),
            ExprKind::Assign(Some(op @ (BinaryOp::Add | BinaryOp::Sub)), _, by) => {
                let value = self.value(by).ok()?;
                let Some(by) = constant(&value) else {
                    return self.stepping(id, first, step, &start, (*op, value), scalar.ty);
                };
                Some(if *op == BinaryOp::Add { by } else { -by })
            }
            ExprKind::Assign(Some(_), ..) => return None,
            _ => None,
        };
        if let Some(by) = by {
            // As often as the counter has stepped.
            if by.checked_rem(step)? != 0 || is_unsigned(first.ty) || is_unsigned(start.ty) {
                return None;
            }
            let (first, start) = (first.e.as_affine()?, start.e.as_affine()?);
            let steps = (Affine::var(id) - first.clone()).scaled(by / step);
            let value = self.typed((start.clone() + steps).into(), scalar.ty);
            return Some(value);
        }
        let ExprKind::Assign(None, _, e) = &companion.step.kind else { return None };
        if e.mentions(companion.var) {
            return None;
        }
        let before = self.bound.insert(counter, Bound::Value(first.clone()));
        let at_first = self.value(e).ok();
        self.unbind(counter, before);
        let at_first = self.converted(at_first?, &scalar);
        if at_first != self.converted(start, &scalar) {
            return None;
        }
        let value = self.value(e).ok().filter(|v| !reads_memory(&v.e))?;
        Some(self.converted(value, &scalar))
    }

    /// The value of a companion that steps by a number which the loop leaves as it is.
    fn stepping(
        &self,
        id: LoopId,
        first: &Value,
        step: i64,
        start: &Value,
        (op, by): (BinaryOp, Value),
        ty: ScalarType,
    ) -> Option<Value> {
        let unsigned = [first.ty, start.ty, by.ty].into_iter().any(is_unsigned);
        let by = by.e.as_affine().filter(|by| !by.uses(id) && !unsigned)?;
        let (first, start) = (first.e.as_affine()?, start.e.as_affine()?);
        if step.abs() != 1 {
            return None;
        }
        let times = (Affine::var(id) - first.clone()).scaled(if op == BinaryOp::Add { step } else { -step });
        // From zero on, the product is what the variable is; else it might be beyond `int`.
        let is_from_zero = start.as_constant() == Some(0) && ty == ScalarType::I32;
        let times = match is_from_zero {
            true => oxeye_ir::Expr::from(times),
            false => oxeye_ir::Expr::Cast(ScalarType::I64, Box::new(times.into())),
        };
        let far = oxeye_ir::Expr::binary(BinaryOp::Mul, times, by.clone().into());
        let value = oxeye_ir::Expr::binary(BinaryOp::Add, far, start.clone().into());
        Some(self.typed(value, ty))
    }

    pub(super) fn unbind(&mut self, var: VarId, before: Option<Bound>) {
        match before {
            Some(before) => self.bound.insert(var, before),
            None => self.bound.remove(&var),
        };
    }
}

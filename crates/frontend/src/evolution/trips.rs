//! How often loops run, and what their variables hold behind them.

use super::follow::{Evaluator, Evolutions, State};
use super::form::{Evolution, Stop, Trips, minus, plus, times};
use super::sum::Level;
use crate::ast::{Expr, ExprKind, For, Range, VarId, constant};
use oxeye_ir::BinaryOp;

impl Evaluator<'_> {
    /// How often a loop runs whose heads are known, with the state before it.
    pub(super) fn trips(&mut self, f: &For, found: &Evolutions, before: &State) -> Trips {
        let at = f.body.range;
        let unknown = |why: &str, at: Range| Trips::Unknown(Stop { why: why.into(), at });
        let Some(condition) = &f.condition else { return unknown("nothing ends the loop", at) };
        let mut state = before.clone();
        state.values.extend(found.heads.clone());
        self.covered(&state, found.level, condition).unwrap_or_else(|stop| Trips::Unknown(*stop))
    }

    fn covered(&mut self, state: &State, level: Level, condition: &Expr) -> Result<Trips, Box<Stop>> {
        let at = condition.range;
        let stop = |why: &str| Box::new(Stop { why: why.into(), at });
        let zero = Expr { kind: ExprKind::Int(0, oxeye_ir::ScalarType::I32), range: at };
        let (op, l, r) = match &condition.kind {
            ExprKind::Binary(op, l, r) => (*op, &**l, &**r),
            ExprKind::Var(_) => (BinaryOp::Ne, condition, &zero),
            _ => return Err(stop("the condition is no comparison")),
        };
        let changing = [l, r].into_iter().filter_map(|e| e.uncast().as_var());
        let unsigned = changing.into_iter().any(|v| state.values.contains_key(&v) && self.is_unsigned(v));
        let (lv, rv) = (self.value(state, l), self.value(state, r));
        // A negative number is a great one beside an unsigned variable.
        let may_be_negative = |e: &Evolution| match e {
            Evolution::Add { base, step, .. } => {
                !(base.as_constant() >= Some(0) && step.as_constant() >= Some(0))
            }
            _ => false,
        };
        let are_mixed = self.is_unsigned_value(l) != self.is_unsigned_value(r);
        let signed = if self.is_unsigned_value(l) { &rv } else { &lv };
        if are_mixed && may_be_negative(signed) {
            return Err(stop("a negative number would be compared as an unsigned one"));
        }
        // How far the left side is from the right one.
        let ahead = match (op, minus(rv, lv, at)) {
            (_, Evolution::Unknown(stop)) => return Err(stop),
            (BinaryOp::Lt | BinaryOp::Ne, way) => way,
            (BinaryOp::Le, way) => plus(way, 1.into(), at),
            (BinaryOp::Gt, way) => times(way, (-1).into(), at),
            (BinaryOp::Ge, way) => plus(times(way, (-1).into(), at), 1.into(), at),
            _ => return Err(stop("the condition does not say where the loop ends")),
        };
        let Evolution::Add { base, step, of } = ahead else {
            return Err(stop("what the condition compares is no steady distance"));
        };
        let Some(step) = step.as_sum().filter(|_| of == level) else {
            return Err(stop("what the condition compares is no steady distance"));
        };
        let wraps = unsigned && (op == BinaryOp::Ge && constant(r).is_none_or(|c| c < 1));
        match (op, step.as_constant()) {
            // It might miss what it is compared with, or pass zero.
            (BinaryOp::Ne, Some(-1)) => Ok(Trips::Covers { distance: *base, by: 1 }),
            (BinaryOp::Ne, Some(1)) => Ok(Trips::Covers { distance: times(*base, (-1).into(), at), by: 1 }),
            (BinaryOp::Ne, _) => Err(stop("`!=` may miss the end of the loop")),
            _ if wraps => Err(stop("an unsigned variable is never less than zero")),
            (BinaryOp::Gt | BinaryOp::Ge, by) if unsigned && by.is_none_or(|by| by < -1) => {
                Err(stop("an unsigned variable may pass zero"))
            }
            (_, Some(by)) if by < 0 => Ok(Trips::Covers { distance: *base, by: -by }),
            (_, Some(_)) => Err(stop("the loop goes away from its end")),
            (_, None) => match step.scaled(-1) {
                Some(by) => Ok(Trips::By { distance: *base, by }),
                None => Err(stop("a number becomes too large")),
            },
        }
    }
}

impl Evolutions {
    /// What a variable holds behind a loop, and the distance that must not be negative for that.
    pub(super) fn at_exit(&self, var: VarId, at: Range) -> (Evolution, Option<Evolution>) {
        let Some(head) = self.heads.get(&var) else {
            return (Evolution::unknown("it is not followed", at), None);
        };
        let level = self.level;
        match head {
            Evolution::Unknown(_) => (head.clone(), None),
            _ if self.is_left => (Evolution::unknown("the loop is left early", at), None),
            head if !head.varies(level) => (head.clone(), None),
            Evolution::Add { base, step, of }
                if *of == level && !step.varies(level) && !base.varies(level) =>
            {
                match (self.trips.times(), &self.trips) {
                    (Some(n), _) => {
                        let far = times(n.clone(), (**step).clone(), at);
                        let need = minus(n, self.least.into(), at);
                        (
                            plus((**base).clone(), far, at),
                            need.as_constant().is_none_or(|n| n < 0).then_some(need),
                        )
                    }
                    (None, Trips::Unknown(stop)) => (Evolution::Unknown(Box::new(stop.clone())), None),
                    (None, _) => (Evolution::unknown("how often the loop runs is a quotient", at), None),
                }
            }
            _ => (Evolution::unknown("what it holds in the last iteration is not computed", at), None),
        }
    }
}

//! Statements in explicit vectors.

use crate::context::Context;
use crate::print::{Text, operator, prec};
use crate::stride::{Stride, is_invariant, stride};
use crate::types::{expr_type, vector_macro, vector_name, vector_type};
use oxeye_binding::Binding;
use oxeye_ir::{Access, ArrayId, BinaryOp, Expr, LoopId, MathFn, Program, ScalarType, Stmt, UnaryOp, Update};
use std::collections::BTreeSet;

struct NarrowIterators;

impl crate::types::IteratorTypes for NarrowIterators {
    fn type_of_loop(&self, _: LoopId) -> ScalarType {
        ScalarType::I32
    }
}

/// Whether a value can be computed in vectors of type `element` with its meaning in C.
pub(crate) fn value_fits(
    (program, binding): (&Program, &Binding),
    id: LoopId,
    varying: &BTreeSet<ArrayId>,
    e: &Expr,
    element: ScalarType,
) -> bool {
    let fits = |e: &Expr| value_fits((program, binding), id, varying, e, element);
    if is_invariant(e, id, varying) {
        let ty = expr_type(program, &NarrowIterators, e);
        return ty == element
            || (element.is_float() && !ty.is_float())
            || (element == ScalarType::F64 && ty == ScalarType::F32)
            || (element == ScalarType::I64 && ty == ScalarType::I32);
    }
    match e {
        Expr::Read(access) => {
            let typed = program.arrays.get(&access.array).is_some_and(|a| a.element == element)
                && !binding.is_interleaved(access.array);
            let own = varying.contains(&access.array);
            typed && (own || stride(access, id, varying) == Some(Stride::One))
        }
        Expr::Unary(UnaryOp::Neg, e) => fits(e),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max, l, r) => {
            fits(l) && fits(r)
        }
        Expr::Binary(BinaryOp::Div, l, r) => element.is_float() && fits(l) && fits(r),
        Expr::Call { function: MathFn::Fabs, single, args } => {
            element.is_float() && *single == (element == ScalarType::F32) && args.iter().all(fits)
        }
        Expr::Cast(ty, e) => *ty == element && fits(e),
        Expr::Select { condition, then, otherwise } => match &**condition {
            Expr::Binary(op, l, r) if is_comparison(*op) => {
                // Both sides are evaluated, so they may touch only what the comparison touches.
                let touched: Vec<&Access> = condition.reads();
                let safe = [then, otherwise].iter().all(|e| e.reads().iter().all(|a| touched.contains(a)));
                safe && [l, r, then, otherwise].into_iter().all(|e| fits(e))
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne)
}

/// A value in a vector statement.
enum Value {
    /// A scalar of exactly the element type.
    Same(Text),
    /// A vector.
    Lanes(Text),
}

impl Value {
    fn text(self) -> Text {
        match self {
            Value::Same(t) | Value::Lanes(t) => t,
        }
    }
}

impl Context<'_> {
    fn lanes(&self) -> u32 {
        self.lane_scope.as_ref().map_or(1, |s| s.lanes)
    }

    /// A value of either kind as a vector.
    fn splat(&self, value: Value, element: ScalarType) -> Text {
        match value {
            Value::Lanes(t) => t,
            Value::Same(t) => {
                let zero = format!("({}){{0}}", vector_type(element, self.lanes()));
                if matches!(t.text.as_str(), "0" | "0.0" | "0." | "0.0f" | "0.f") {
                    Text::new(zero, prec::UNARY)
                } else {
                    // Subtracting zero preserves the sign of zero.
                    Text::new(format!("{} - {zero}", t.at(prec::ADD)), prec::ADD)
                }
            }
        }
    }

    fn value(&self, e: &Expr, element: ScalarType) -> Value {
        if !self.is_varying(e) {
            let text = self.expr(e);
            return Value::Same(match e {
                Expr::Affine(a) if element.is_float() && a.as_constant().is_some() => {
                    let suffix = if element == ScalarType::F32 { "f" } else { "" };
                    Text::new(format!("{}.0{suffix}", text.text.trim_end_matches('L')), text.prec)
                }
                _ if self.type_of(e) == element => text,
                _ => Text::new(format!("({}){}", element.c_name(), text.at(prec::UNARY)), prec::UNARY),
            });
        }
        let splat = |e: &Expr| self.splat(self.value(e, element), element);
        let call = |name: &str, l: Text, r: Text| {
            let macro_name = vector_macro(element, self.lanes());
            let width = macro_name.trim_start_matches("OXEYE_").to_owned();
            Text::primary(format!("OXEYE_{name}_{width}({}, {})", l.text, r.text))
        };
        Value::Lanes(match e {
            Expr::Read(access) => Text::primary(self.vector_access(access)),
            Expr::Unary(_, inner) => {
                let inner = self.value(inner, element).text();
                let least = if inner.text.starts_with('-') { prec::PRIMARY } else { prec::UNARY };
                Text::new(format!("-{}", inner.at(least)), prec::UNARY)
            }
            Expr::Binary(BinaryOp::Min, l, r) => call("MIN", splat(l), splat(r)),
            Expr::Binary(BinaryOp::Max, l, r) => call("MAX", splat(l), splat(r)),
            Expr::Binary(op, l, r) => {
                self.binary(*op, self.value(l, element).text(), self.value(r, element).text(), (l, r))
            }
            Expr::Cast(_, inner) => return self.value(inner, element),
            Expr::Call { args, .. } => {
                let width = vector_name(element, self.lanes()).to_uppercase();
                let arg = args.first().map_or_else(|| Text::primary("0"), splat);
                Text::primary(format!("OXEYE_ABS_{width}({})", arg.text))
            }
            Expr::Select { condition, then, otherwise } => {
                let width = vector_name(element, self.lanes()).to_uppercase();
                let condition = match &**condition {
                    Expr::Binary(op, l, r) => {
                        let sign = operator(*op).map_or("<", |(s, _)| s);
                        format!("{} {sign} {}", splat(l).at(11), splat(r).at(11))
                    }
                    other => self.expr(other).text,
                };
                let (then, otherwise) = (splat(then).text, splat(otherwise).text);
                Text::primary(format!("OXEYE_BLEND_{width}({condition}, {then}, {otherwise})"))
            }
            _ => self.expr(e),
        })
    }

    /// The vector that starts at this access in lane 0.
    pub(crate) fn vector_access(&self, access: &Access) -> String {
        let Some(array) = self.program.arrays.get(&access.array) else { return access.array.to_string() };
        if self.lane_scope.as_ref().is_some_and(|s| s.varying.contains(&access.array)) {
            return self.name(access.array).to_owned();
        }
        if let Some(name) = self.register_vector(access) {
            return name;
        }
        format!("{}({})", vector_macro(array.element, self.lanes()), self.access_of(access, self.lanes()))
    }

    /// A statement for all lanes at once. `accumulators` are the vectors that replace reduction targets.
    pub(crate) fn vector_stmt(&self, s: &Stmt, accumulators: &[Accumulator]) -> String {
        let element = self.program.array(s.target.array).element;
        let accumulator = accumulators.iter().find(|a| a.stands_for(s));
        let target = match accumulator {
            Some(a) => a.name.clone(),
            None => self.vector_access(&s.target),
        };
        let value = self.value(&s.value, element);
        let update = s.update;
        let sign = match update {
            Update::Assign => {
                return format!("{target} = {};", self.splat(value, element).text);
            }
            Update::Min | Update::Max => {
                let name = if update == Update::Min { "MIN" } else { "MAX" };
                let width = vector_name(element, self.lanes()).to_uppercase();
                return format!(
                    "{target} = OXEYE_{name}_{width}({target}, {});",
                    self.splat(value, element).text
                );
            }
            Update::Add => "+=",
            Update::Sub => "-=",
            Update::Mul => "*=",
            Update::Div => "/=",
        };
        format!("{target} {sign} {};", value.text().text)
    }
}

/// A vector in which the lanes of a reduction accumulate.
#[derive(Clone, Debug)]
pub(crate) struct Accumulator {
    pub(crate) target: Access,
    pub(crate) update: Update,
    pub(crate) name: String,
    pub(crate) element: ScalarType,
}

impl Accumulator {
    /// Whether the statement accumulates here.
    pub(crate) fn stands_for(&self, s: &Stmt) -> bool {
        s.target == self.target && (s.update == self.update || is_sum(s.update) && is_sum(self.update))
    }

    /// The vector's declaration; `target` is the scalar as written.
    pub(crate) fn declaration(&self, lanes: u32, target: &str) -> String {
        let ty = vector_type(self.element, lanes);
        let name = &self.name;
        let zero = format!("({ty}){{0}}");
        match self.update {
            Update::Mul => format!("{ty} {name} = 1 - {zero};"),
            Update::Min | Update::Max => format!("{ty} {name} = {target} - {zero};"),
            _ => format!("{ty} {name} = {{0}};"),
        }
    }

    /// The statement that combines the lanes into the scalar.
    pub(crate) fn combination(&self, lanes: u32, target: &str) -> Vec<String> {
        let lane = |k: u32| format!("{}[{k}]", self.name);
        match self.update {
            Update::Min | Update::Max => {
                let sign = if self.update == Update::Min { "<" } else { ">" };
                (0..lanes)
                    .map(|k| format!("{target} = {target} {sign} {0} ? {target} : {0};", lane(k)))
                    .collect()
            }
            update => {
                let sign = if update == Update::Mul { "*" } else { "+" };
                let mut parts: Vec<String> = (0..lanes).map(lane).collect();
                while parts.len() > 1 {
                    let half = parts.len() == 2;
                    parts = parts
                        .chunks(2)
                        .map(|c| match c {
                            [a, b] if half => format!("{a} {sign} {b}"),
                            [a, b] => format!("({a} {sign} {b})"),
                            other => other.concat(),
                        })
                        .collect();
                }
                let assign = if update == Update::Mul { "*=" } else { "+=" };
                vec![format!("{target} {assign} {};", parts.concat())]
            }
        }
    }
}

fn is_sum(u: Update) -> bool {
    matches!(u, Update::Add | Update::Sub)
}

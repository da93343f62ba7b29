//! Subsets of containers.

use super::names::{Env, View, type_of};
use super::state::Lowering;
use crate::model::Range;
use crate::polynomial::{Polynomial, are_equal};
use crate::syntax::parse_expression;
use oxeye_ir::{BinaryOp, Expr};

/// Indices `start..=end` by `step`.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) start: Expr,
    pub(super) end: Expr,
    pub(super) step: Expr,
}

impl Span {
    /// Whether this is one index.
    pub(super) fn is_single(&self) -> bool {
        are_equal(&self.start, &self.end)
    }

    /// How many indices these are.
    pub(super) fn count(&self) -> Expr {
        let length = Expr::binary(BinaryOp::Sub, self.end.clone(), self.start.clone());
        let length = simplified(length);
        if self.step == Expr::from(1) {
            return Expr::binary(BinaryOp::Add, length, Expr::from(1));
        }
        let steps = Expr::binary(BinaryOp::Div, length, self.step.clone());
        Expr::binary(BinaryOp::Add, steps, Expr::from(1))
    }

    /// The index after so many steps.
    pub(super) fn at(&self, steps: Expr) -> Expr {
        let by = Expr::binary(BinaryOp::Mul, steps, self.step.clone());
        if self.start == Expr::from(0) { by } else { Expr::binary(BinaryOp::Add, self.start.clone(), by) }
    }
}

/// A difference that is a number, as that number.
fn simplified(expr: Expr) -> Expr {
    match Polynomial::of(&expr).as_constant().and_then(|value| i64::try_from(value).ok()) {
        Some(value) => Expr::from(value),
        None => expr,
    }
}

impl Lowering {
    /// A subset as expressions.
    pub(super) fn spans(&self, env: &Env, ranges: &[Range]) -> Result<Vec<Span>, String> {
        ranges.iter().map(|range| self.span(env, range)).collect()
    }

    pub(super) fn span(&self, env: &Env, range: &Range) -> Result<Span, String> {
        let of = |text: &str| -> Result<Expr, String> {
            let ex = parse_expression(text).map_err(|e| format!("`{text}`: {e}"))?;
            let expr = self.convert_with(&ex, env)?;
            if type_of(&self.program, &expr).is_float() {
                return Err(format!("the index `{text}` is no integer"));
            }
            Ok(expr)
        };
        if range.tile.trim() != "1" {
            return Err("ranges of tiles are not supported".into());
        }
        Ok(Span { start: of(&range.start)?, end: of(&range.end)?, step: of(&range.step)? })
    }

    /// All of a container.
    pub(super) fn all_of(view: &View) -> Vec<Span> {
        let last = |extent: &Expr| Expr::binary(BinaryOp::Sub, extent.clone(), Expr::from(1));
        let all = |extent: &Expr| Span { start: Expr::from(0), end: last(extent), step: Expr::from(1) };
        view.shape.iter().map(all).collect()
    }
}

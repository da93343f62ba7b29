//! How large a nest is, as C text.

use crate::CodegenError;
use crate::context::Context;
use crate::print::prec;
use crate::rows::row_extent;
use oxeye_ir::{Affine, Extents, Nest, Program, Var};
use std::collections::BTreeSet;

/// From which sizes on something is worth its overhead. Sizes are [`Nest::size`](oxeye_ir::Nest::size), as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeGuard {
    /// Below this, the original text runs.
    pub least: Option<f64>,
    /// Below this, one thread runs it.
    pub threads: Option<f64>,
}

impl Context<'_> {
    /// The condition that the nest is at least so large.
    pub(crate) fn is_large(&self, nest: &Nest, least: f64) -> Result<String, CodegenError> {
        let product = self.product(&nest.size()).ok_or(CodegenError::NoSize)?;
        Ok(format!("{product} >= {}", readable(least)))
    }

    /// The product of extents: an expression of an integer's type if it has one factor, else of type `double`. `None` if it
    /// is always the same, or not known before the nest.
    pub(crate) fn product(&self, extents: &Extents) -> Option<String> {
        let is_distance = |extent: &Affine| {
            extent.terms().any(|(v, _)| matches!(v, Var::Sym(s) if row_extent(self.program, s).is_some()))
        };
        if extents.is_constant() || extents.0.iter().any(is_distance) {
            return None;
        }
        let factors = extents.0.iter().enumerate().map(|(k, extent)| {
            // The difference of two sizes may not fit into their type.
            let text = self.affine_in(extent, extent.as_var().is_none());
            match (k, extents.0.len()) {
                (_, 1) => text.at(prec::ADD),
                (0, _) => format!("(double){}", text.at(prec::UNARY)),
                _ => text.at(prec::MUL + 1),
            }
        });
        Some(factors.collect::<Vec<_>>().join(" * "))
    }
}

/// How large a nest is in the user's variables, for people; `None` if it is always the same, or not known before it.
pub fn size_in_words(program: &Program, nest: &Nest) -> Option<String> {
    let product = Context::new(program, &BTreeSet::new(), &[]).product(&nest.size())?;
    Some(product.replace("(double)", "").replace("(long)", ""))
}

/// A positive number as a C constant: `200`, `3e7`.
pub fn readable(value: f64) -> String {
    let is_short = value.fract() == 0.0 && value.abs() < 1e5;
    if is_short { format!("{value}") } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn numbers_are_readable_constants() {
        let texts = [1.0, 250.0, 90_000.0, 3e7, 2.5e9, 0.5].map(readable);
        assert_eq!(texts, ["1", "250", "90000", "3e7", "2.5e9", "5e-1"]);
    }
}

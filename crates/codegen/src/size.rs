//! How large a nest is, as C text.

use crate::CodegenError;
use crate::context::Context;
use crate::print::prec;
use oxeye_binding::Binding;
use oxeye_ir::{Affine, Extents, Nest, Program, SymId, Var};
use std::collections::BTreeSet;

/// From which sizes on, and in which builds, something is worth its overhead. Sizes are [`Nest::size`](oxeye_ir::Nest::size),
/// as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeGuard {
    /// Below this, the original text runs.
    pub least: Option<f64>,
    /// Below this, one thread runs it.
    pub threads: Option<f64>,
    /// Where an extent of the nest is below this, the original text runs; 0 asks for nothing. In the order of the extents,
    /// of which only so many can be guarded.
    pub extents: [u32; SizeGuard::EXTENTS],
    /// In a build without OpenMP, the original text runs. Who puts the nest into a file sees to that.
    pub openmp: bool,
}

impl SizeGuard {
    /// How many extents of a nest a guard can ask for, beside their product.
    pub const EXTENTS: usize = 6;

    /// The extents that must have a length, by their positions.
    pub fn lengths(&self) -> impl Iterator<Item = (usize, u32)> {
        self.extents.into_iter().enumerate().filter(|(_, least)| *least > 0)
    }

    /// Whether the original text runs for some sizes.
    pub fn has_least(&self) -> bool {
        self.least.is_some() || self.lengths().next().is_some()
    }
}

impl Context<'_> {
    /// The condition that the nest is at least so large.
    pub(crate) fn is_large(&self, nest: &Nest, least: f64) -> Result<String, CodegenError> {
        let product = self.product(&nest.size()).ok_or(CodegenError::NoSize)?;
        Ok(format!("{product} >= {}", readable(least)))
    }

    /// The conditions that the extents of a nest are as long as the guard asks, each once.
    pub(crate) fn are_long(&self, nest: &Nest, guard: &SizeGuard) -> Result<Vec<String>, CodegenError> {
        let mut conditions = Vec::new();
        for (position, least) in guard.lengths() {
            let extent = nest.size().0.get(position).cloned().ok_or(CodegenError::NoSize)?;
            let length = self.product(&Extents(vec![extent])).ok_or(CodegenError::NoSize)?;
            let condition = format!("{length} >= {least}");
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        Ok(conditions)
    }

    /// The conditions that symbols have these values, and that those of 64 bits that tiles begin with are far from the ends of
    /// their type.
    pub(crate) fn value_conditions(&self, known: &[(SymId, i64)]) -> Vec<String> {
        let name = |symbol: &SymId| self.affine(&Affine::var(Var::Sym(*symbol))).at(prec::ADD);
        let is_far = |start: &SymId| format!("{0} >= -1e18 && {0} <= 1e18", name(start));
        let equal = known.iter().map(|(symbol, value)| format!("{} == {value}", name(symbol)));
        equal.chain(self.long.starts.iter().map(is_far)).collect()
    }

    /// The product of extents: an expression of an integer's type if it has one factor, else of type `double`. `None` if it
    /// is always the same, or not known before the nest.
    pub(crate) fn product(&self, extents: &Extents) -> Option<String> {
        let is_distance = |extent: &Affine| {
            extent
                .terms()
                .any(|(v, _)| matches!(v, Var::Sym(s) if self.binding.row_extent(self.program, s).is_some()))
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
pub fn size_in_words(program: &Program, binding: &Binding, nest: &Nest) -> Option<String> {
    in_words(program, binding, &nest.size())
}

/// The same for the extent at a position.
pub fn extent_in_words(program: &Program, binding: &Binding, nest: &Nest, position: usize) -> Option<String> {
    in_words(program, binding, &Extents(vec![nest.size().0.get(position)?.clone()]))
}

fn in_words(program: &Program, binding: &Binding, extents: &Extents) -> Option<String> {
    let product = Context::new(program, binding, &BTreeSet::new(), &[]).product(extents)?;
    let words = product.replace("(double)", "").replace("(long)", "");
    let inside = words.strip_prefix("((").and_then(|rest| rest.strip_suffix("))"));
    Some(match inside.filter(|inside| !inside.contains(['(', ')'])) {
        Some(inside) => format!("({inside})"),
        None => words,
    })
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

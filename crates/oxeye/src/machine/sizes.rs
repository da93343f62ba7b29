//! What the symbols of a nest are worth where it is replayed.

use crate::CapturedNest;
use crate::stages::synthetic_inputs;
use oxeye_codegen::ArgumentOf;
use oxeye_ir::SymId;
use oxeye_measure::Sample;
use std::collections::BTreeMap;

/// Values of symbols in one sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(BTreeMap<SymId, i64>);

impl Sizes {
    /// The integer scalars among the arguments of a nest, as the sample holds them. Symbols that are not among them, or
    /// whose bytes cannot be read, have no value.
    pub(crate) fn of(nest: &CapturedNest, sample: &Sample) -> Self {
        let known = nest.arguments.iter().enumerate().filter_map(|(position, argument)| {
            let ArgumentOf::Symbol(sym) = argument.what else { return None };
            let element = synthetic_inputs::element_type(argument.element);
            Some((sym, sample.read_integer(position, element).ok()?))
        });
        Self(known.collect())
    }

    /// Those of the sample that is timed; none without a sample.
    pub(crate) fn of_nest(nest: &CapturedNest) -> Self {
        nest.samples.first().map(|sample| Self::of(nest, sample)).unwrap_or_default()
    }

    /// The value of a symbol.
    pub fn get(&self, sym: SymId) -> Option<i64> {
        self.0.get(&sym).copied()
    }
}

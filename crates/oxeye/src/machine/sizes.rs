//! What the symbols of a nest are worth where it is replayed.

use oxeye_codegen::{Argument, ArgumentOf};
use oxeye_ir::{ScalarType, SymId};
use oxeye_measure::{ElementType, Sample};
use std::collections::BTreeMap;

/// Values of symbols in one sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(BTreeMap<SymId, i64>);

impl Sizes {
    /// The integer scalars among the arguments of a nest, as the sample holds them. Symbols that are not among them, or
    /// whose bytes cannot be read, have no value.
    pub(crate) fn of(arguments: &[Argument], sample: &Sample) -> Self {
        let known = arguments.iter().enumerate().filter_map(|(position, argument)| {
            let ArgumentOf::Symbol(sym) = argument.what else { return None };
            Some((sym, sample.read_integer(position, element_type(argument.element)).ok()?))
        });
        Self(known.collect())
    }

    /// The value of a symbol.
    pub fn get(&self, sym: SymId) -> Option<i64> {
        self.0.get(&sym).copied()
    }
}

/// The element type as `measure` names it.
pub(crate) fn element_type(ty: ScalarType) -> ElementType {
    match ty {
        ScalarType::F32 => ElementType::F32,
        ScalarType::F64 => ElementType::F64,
        ScalarType::I8 => ElementType::I8,
        ScalarType::U8 => ElementType::U8,
        ScalarType::I16 => ElementType::I16,
        ScalarType::U16 => ElementType::U16,
        ScalarType::I32 => ElementType::I32,
        ScalarType::U32 => ElementType::U32,
        ScalarType::I64 => ElementType::I64,
        ScalarType::U64 => ElementType::U64,
    }
}

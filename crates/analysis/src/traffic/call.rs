//! Function calls whose traffic is counted.

use std::collections::BTreeMap;

use oxeye_ir::{ArrayId, Program, SymId};

/// A call of a function: its program with argument values and memory.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The function.
    pub program: &'a Program,
    /// Values of its symbols.
    pub values: BTreeMap<SymId, i64>,
    /// Names of the memory behind its arrays: equal names mean the same memory, across calls too. Other arrays have
    /// memory of their own.
    pub memory: BTreeMap<ArrayId, String>,
}

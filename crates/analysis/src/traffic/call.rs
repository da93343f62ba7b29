//! What is run: calls of functions.

use std::collections::BTreeMap;

use oxeye_ir::{ArrayId, Program, SymId};

/// One call of a function: its program with the values and the memory it gets.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The function.
    pub program: &'a Program,
    /// Values of its symbols.
    pub values: BTreeMap<SymId, i64>,
    /// Names of the memory behind its arrays: the same name means the same memory, also in another call. Other arrays
    /// have memory of their own.
    pub memory: BTreeMap<ArrayId, String>,
}

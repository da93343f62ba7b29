//! Rows behind pointers, `double **u`, reached as they are written, `u[i][j]`: the test that rows which are written have
//! no memory in common with each other and with what else a nest uses.

use crate::CodegenError;
use crate::alias::{AliasTest, Asked};
use crate::context::Context;
use oxeye_binding::RowTest;
use oxeye_ir::{ArrayId, Nest};
use std::collections::{BTreeMap, BTreeSet};

/// Most arrays of one test.
const MOST: usize = 64;

/// An array, or an object that must not change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Array(ArrayId),
    /// A C expression.
    Object(String),
}

/// Who must be apart from whom: with itself, its rows from each other.
#[derive(Default)]
struct Members {
    positions: BTreeMap<Memory, usize>,
    others: Vec<u64>,
}

impl Members {
    fn position(&mut self, memory: Memory) -> Option<usize> {
        let n = self.others.len();
        let position = *self.positions.entry(memory).or_insert(n);
        if position == n {
            self.others.push(0);
        }
        (position < MOST).then_some(position)
    }

    fn separate(&mut self, a: Memory, b: Memory) -> Option<()> {
        let (a, b) = (self.position(a)?, self.position(b)?);
        self.others[a] |= 1 << b;
        self.others[b] |= 1 << a;
        Some(())
    }
}

impl Context<'_> {
    /// The indices of rows, and behind them those of the parts, as the initializer of an array of `long`.
    pub(crate) fn row_ranges(&mut self, test: &RowTest) -> String {
        let was_wide = std::mem::replace(&mut self.wide, true);
        let ends = test.ranges.iter().chain(test.parts.iter().flatten());
        let ends = ends.flat_map(|(low, high)| [low, high]).map(|e| self.expr(e).text);
        let text = ends.collect::<Vec<_>>().join(", ");
        self.wide = was_wide;
        format!("{{{text}}}")
    }

    /// The test that rows are apart: rows that are written from each other, and these pairs of arrays, or of an object and
    /// an array.
    pub(crate) fn apart_test(
        &mut self,
        original: &Nest,
        written: &BTreeSet<ArrayId>,
        pairs: &[(ArrayId, ArrayId)],
        kept: &[(String, ArrayId)],
    ) -> Result<Option<AliasTest>, CodegenError> {
        let mut members = Members::default();
        let own = self.apart.intersection(written).map(|id| (Memory::Array(*id), Memory::Array(*id)));
        let pairs = pairs.iter().map(|(a, b)| (Memory::Array(*a), Memory::Array(*b)));
        let kept = kept.iter().map(|(object, a)| (Memory::Object(object.clone()), Memory::Array(*a)));
        for (a, b) in own.chain(pairs).chain(kept) {
            let too_many = || CodegenError::TooManyRows { most: MOST };
            members.separate(a, b).ok_or_else(too_many)?;
        }
        if members.others.is_empty() {
            return Ok(None);
        }
        let mut ordered: Vec<(Memory, usize)> = members.positions.into_iter().collect();
        ordered.sort_by_key(|(_, position)| *position);
        let (mut declarations, mut elements) = (Vec::new(), Vec::new());
        for (memory, position) in ordered {
            let others = members.others[position];
            let (name, address, ranges, levels, parts, size) = match memory {
                Memory::Array(id) if self.apart.contains(&id) => {
                    let Some(test) = self.binding.row_test(original.id, id) else { continue };
                    let size = self.row_element_bytes(test);
                    let name = self.name(id).to_owned();
                    let ranges = self.row_ranges(test);
                    (name.clone(), name, ranges, test.ranges.len() - 1, test.parts.len(), size)
                }
                Memory::Array(id) => {
                    let array = self.program.array(id);
                    let begin = self.byte_offset(original, array, false, Asked::AtMost);
                    let end = self.byte_offset(original, array, true, Asked::AtMost);
                    let (Some(begin), Some(end)) = (begin, end) else {
                        let rows = self.apart.iter().next().map(|id| self.program.array(*id).name.clone());
                        return Err(CodegenError::UnknownExtent {
                            first: array.name.clone(),
                            second: rows.unwrap_or_default(),
                        });
                    };
                    let address = format!("(const void *){}", self.address(array));
                    (array.name.clone(), address, format!("{{{begin}, ({end}) - 1}}"), 0, 0, 1)
                }
                Memory::Object(object) => {
                    let address = format!("(const void *)&({object})");
                    ("object".to_owned(), address, format!("{{0, (long)sizeof({object}) - 1}}"), 0, 0, 1)
                }
            };
            let range = self.fresh(&format!("{name}_range"));
            declarations.push(format!("const long {range}[] = {ranges};"));
            elements.push(format!("{{{address}, {range}, {levels}, {parts}, {size}, {others}UL}}"));
        }
        let rows = self.fresh("rows");
        declarations.push(format!("const oxeye_rows {rows}[] = {{{}}};", elements.join(", ")));
        let condition = format!("oxeye_rows_apart({}, {rows})", elements.len());
        Ok(Some(AliasTest { declarations, condition }))
    }
}

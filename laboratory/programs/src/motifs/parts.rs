//! What motifs have in common: operands, reads of them, and loops in any order.

use crate::generate::{Element, Maker, Manner, Operand, Read, Wish};

/// It is only read.
pub(super) const READ: Wish = Wish { written: false, distinct: false, pointer: false };
/// It is written, in whatever order.
pub(super) const WRITTEN: Wish = Wish { written: true, distinct: false, pointer: false };
/// It is written by iterations that may run at once.
pub(super) const DISTINCT: Wish = Wish { written: true, distinct: true, pointer: false };

/// An element as something to read.
pub(super) fn read(of: &Operand, at: &[String]) -> Read {
    Read { text: of.at(at), element: of.element }
}

/// A variable as something to read.
pub(super) fn variable(name: &str, element: Element) -> Read {
    Read { text: name.to_owned(), element }
}

/// An index with something added.
pub(super) fn shifted(index: &str, by: i64) -> String {
    match by {
        0 => index.to_owned(),
        by if by > 0 => format!("{index} + {by}"),
        by => format!("{index} - {}", -by),
    }
}

impl Maker {
    /// Reads of operands at an index, each a little to the side where `reach` allows.
    pub(super) fn reads(&mut self, operands: &[Operand], at: &[String], reach: i64) -> Vec<Read> {
        let mut reads = Vec::new();
        for operand in operands {
            for _ in 0..self.between(1, if reach > 0 { 3 } else { 1 }) {
                let indices: Vec<String> = at
                    .iter()
                    .map(|index| {
                        let by = self.between(0, 2 * reach as usize) as i64 - reach;
                        shifted(index, if self.chance(50) { by } else { 0 })
                    })
                    .collect();
                reads.push(read(operand, &indices));
            }
        }
        reads
    }

    /// Loops over these sizes from the outermost inwards, in the order `order`; the body is made for the iterators in the
    /// order of the sizes.
    pub(super) fn nest(
        &mut self,
        dims: &[usize],
        order: &[usize],
        (low, more): (i64, i64),
        manner: Manner,
        body: &mut dyn FnMut(&mut Maker, &[String]) -> String,
    ) -> String {
        let mut at = vec![String::new(); dims.len()];
        self.nest_inside(dims, order, (low, more), manner, &mut at, body)
    }

    fn nest_inside(
        &mut self,
        dims: &[usize],
        order: &[usize],
        range: (i64, i64),
        manner: Manner,
        at: &mut Vec<String>,
        body: &mut dyn FnMut(&mut Maker, &[String]) -> String,
    ) -> String {
        let Some((first, rest)) = order.split_first() else { return body(self, at) };
        self.over(range.0, dims[*first], range.1, manner, |m, i| {
            at[*first] = i.to_owned();
            m.nest_inside(dims, rest, range, manner, at, body)
        })
    }

    /// The positions of so many loops in random order.
    pub(super) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        if self.chance(60) {
            self.rng.shuffle(&mut order);
        }
        order
    }
}

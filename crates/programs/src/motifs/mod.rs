//! What the pieces of a program are about: each motif writes one function (and helpers) with loops of a kind that real
//! programs have. Sizes, arrays, loops and values are spelt at random.

mod calls;
mod control;
mod dense;
mod hazards;
mod sparse;
mod sums;
mod sweeps;
mod text;
mod threads;
mod time;

use crate::generate::{Element, Maker, Operand, Piece, Read, Wish};
use oxeye_random::Rng;

/// Writes a piece; the body of its function.
type Motif = fn(&mut Maker) -> String;

const MOTIFS: &[Motif] = &[
    dense::pointwise,
    dense::pointwise,
    dense::stencil,
    dense::product,
    dense::several,
    dense::of_structures,
    dense::complex_numbers,
    time::by_modulus,
    time::by_header,
    time::by_condition,
    time::by_swap,
    time::by_three_swaps,
    sweeps::recurrence,
    sweeps::triangle,
    sweeps::factorisation,
    sums::scalar,
    sums::rows,
    sums::extrema,
    sparse::matrix,
    sparse::gather,
    sparse::histogram,
    control::search,
    control::early,
    control::cases,
    control::remainders,
    control::converging,
    control::selected,
    control::pointers,
    control::private_scratch,
    calls::small_function,
    calls::writes_twice,
    calls::file_scope,
    calls::outer_prints,
    calls::copies,
    text::macro_made,
    text::conditional,
    text::expressions,
    threads::independent,
    threads::independent,
    threads::region,
    threads::reduction,
    threads::last,
    threads::orphaned,
    threads::kept,
    hazards::overlap,
    hazards::overlap,
    hazards::bounds_change,
    hazards::wrapping,
    hazards::same_memory,
    hazards::rows_change,
    hazards::guarded_offsets,
];

/// The piece with this number of the program with this seed.
pub(crate) fn piece(seed: u64, number: usize) -> Piece {
    let mut rng = Rng::new(seed, number as u64);
    let motif = *rng.pick(MOTIFS);
    let mut maker = Maker::new(rng, number);
    let body = motif(&mut maker);
    maker.finish(&body)
}

/// It is only read.
const READ: Wish = Wish { written: false, distinct: false, pointer: false };
/// It is written, in whatever order.
const WRITTEN: Wish = Wish { written: true, distinct: false, pointer: false };
/// It is written by iterations that may run at once.
const DISTINCT: Wish = Wish { written: true, distinct: true, pointer: false };

/// An element as something to read.
fn read(of: &Operand, at: &[String]) -> Read {
    Read { text: of.at(at), element: of.element }
}

/// A variable as something to read.
fn variable(name: &str, element: Element) -> Read {
    Read { text: name.to_owned(), element }
}

/// An index with something added.
fn shifted(index: &str, by: i64) -> String {
    match by {
        0 => index.to_owned(),
        by if by > 0 => format!("{index} + {by}"),
        by => format!("{index} - {}", -by),
    }
}

impl Maker {
    /// Reads of operands at an index, each a little to the side where `reach` allows.
    fn reads(&mut self, operands: &[Operand], at: &[String], reach: i64) -> Vec<Read> {
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
    fn nest(
        &mut self,
        dims: &[usize],
        order: &[usize],
        (low, more): (i64, i64),
        manner: crate::generate::Manner,
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
        manner: crate::generate::Manner,
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
    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        if self.chance(60) {
            self.rng.shuffle(&mut order);
        }
        order
    }
}

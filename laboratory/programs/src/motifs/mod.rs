//! What the pieces of a program are about: each motif writes one function (and helpers) with loops of a kind that real
//! programs have. Sizes, arrays, loops and values are spelt at random.

mod aliases;
mod borders;
mod called;
mod calls;
mod complex;
mod control;
mod counters;
mod dense;
mod directives;
mod edges;
mod functions;
mod hazards;
mod iterators;
mod lanes;
mod parts;
mod rotation;
mod rows;
mod scratch;
mod sized;
mod sparse;
mod stages;
mod structures;
mod sums;
mod sweeps;
mod text;
mod threads;
mod time;

use crate::generate::{Maker, Piece};
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
    time::now_and_then,
    time::now_and_then,
    sweeps::recurrence,
    sweeps::triangle,
    sweeps::factorisation,
    stages::stages,
    stages::stages,
    stages::stages,
    sums::scalar,
    sums::rows,
    sums::extrema,
    sparse::matrix,
    sparse::gather,
    sparse::histogram,
    sparse::scattered_sums,
    control::search,
    control::early,
    control::cases,
    control::remainders,
    control::converging,
    control::until_done,
    control::selected,
    control::pointers,
    control::private_scratch,
    called::stages,
    called::stages,
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
    threads::together,
    threads::kept,
    hazards::overlap,
    hazards::overlap,
    hazards::bounds_change,
    hazards::wrapping,
    hazards::same_memory,
    hazards::rows_change,
    hazards::guarded_offsets,
    rows::local,
    rows::ragged,
    rows::swapped,
    rows::from_one,
    rows::chosen,
    rows::layers,
    rows::near,
    rows::spaced,
    rows::tight,
    rows::optional,
    rows::of_structures,
    rows::optional,
    rows::of_structures,
    counters::left,
    counters::unrolled,
    counters::geometric,
    counters::skipping,
    counters::sorting,
    counters::tested_inside,
    counters::collapsed,
    counters::collapsed,
    iterators::pointers,
    iterators::pointers,
    iterators::once,
    iterators::tables,
    functions::outputs,
    functions::changed_parameters,
    functions::by_value,
    functions::by_value,
    functions::by_value,
    functions::flat_rows,
    functions::unusual,
    functions::shadows,
    functions::in_expressions,
    structures::local_arrays,
    structures::local_arrays,
    structures::followed_late,
    scratch::carried,
    scratch::filled,
    scratch::scalars,
    complex::arithmetic,
    complex::arithmetic,
    complex::pairs,
    complex::parts,
    lanes::vectors,
    lanes::vectors,
    rotation::levels,
    rotation::branches,
    rotation::places,
    rotation::rotated,
    rotation::rotated,
    directives::simd,
    directives::clauses,
    directives::others,
    aliases::behind_pointers,
    aliases::counted,
    aliases::own_members,
    aliases::changed_places,
    edges::truncation,
    edges::unsigned_bounds,
    edges::near_limits,
    borders::places,
    borders::upwind,
    borders::upwind,
    edges::narrow,
    sized::derived,
    sized::changed,
    sized::regions,
    sized::written_oddly,
];

/// The piece with this number of the program with this seed.
pub(crate) fn piece(seed: u64, number: usize) -> Piece {
    let mut rng = Rng::new(seed, number as u64);
    let motif = *rng.pick(MOTIFS);
    let mut maker = Maker::new(rng, number);
    let body = motif(&mut maker);
    maker.finish(&body)
}

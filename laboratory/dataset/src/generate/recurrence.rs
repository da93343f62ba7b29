//! Loops in which every iteration depends on the one before: prefix sums, filters, tridiagonal systems.

use super::draft::{Dim, Draft, Spelling, Written, dim, range};
use oxeye_ir::builder::{Formula, NestBuilder, Tensor};
use oxeye_ir::{Execution, ScalarType};
use oxeye_random::Rng;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `x[i] += x[i - 1]`
    Prefix,
    /// `y[i] = a x[i] + b y[i - 1] + c y[i - 2]`
    Filter { orders: usize },
    /// The sum of a forward and a backward filter.
    Both,
    /// Elimination forwards, substitution backwards.
    Tridiagonal,
}

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    draft.cost_factor = 3.0;
    let n_dims = *rng.pick(&[1, 2, 2, 2, 3]);
    let extents: Vec<Formula> = (0..n_dims).map(|_| draft.size(rng.log_uniform(0.3, 3.0), 8)).collect();
    let axis = rng.within(0, n_dims - 1);
    let kind = match rng.unit() {
        x if x < 0.25 => Kind::Prefix,
        x if x < 0.55 => Kind::Filter { orders: rng.within(1, 2) },
        x if x < 0.7 => Kind::Both,
        _ => Kind::Tridiagonal,
    };
    let mut drawn: Vec<usize> = (0..n_dims).collect();
    if rng.chance(0.4) {
        rng.shuffle(&mut drawn);
    }
    let coefficients: Vec<f64> = (0..4).map(|_| (rng.log_uniform(0.1, 0.4) * 1e4).round() / 1e4).collect();
    let pen = draft.pen();
    let lag = if kind == (Kind::Filter { orders: 2 }) { 2 } else { 1 };
    let dims: Vec<Dim> = extents
        .iter()
        .enumerate()
        .map(|(d, e)| if d == axis { range(lag, e.clone()) } else { dim(e.clone()) })
        .collect();
    let order = pen.order(&dims, &drawn);
    let at = |t: Tensor, i: &[Formula], back: i64| {
        let mut list = i.to_vec();
        list[axis] = &list[axis] - back;
        t.at(list)
    };
    let read = |t: Tensor, i: &[Formula], back: i64| Formula::from(at(t, i, back));
    let lit = |k: usize| pen.lit(coefficients[k]);
    let grid = |draft: &mut Draft<'_>| draft.array(extents.clone());
    let x = grid(&mut draft);
    match kind {
        Kind::Prefix => draft.nest(|nest| {
            pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
                nest.add(at(x, i, 0), read(x, i, 1));
            });
        }),
        Kind::Filter { orders } => {
            let y = grid(&mut draft);
            draft.nest(|nest| {
                pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
                    let mut terms = vec![pen.product(vec![lit(0), read(x, i, 0)])];
                    terms.extend((1..=orders).map(|k| pen.product(vec![lit(k), read(y, i, k as i64)])));
                    nest.assign(at(y, i, 0), pen.sum(terms));
                });
            });
        }
        Kind::Both => {
            let (y, z, out) = (grid(&mut draft), grid(&mut draft), grid(&mut draft));
            let extent = &extents[axis];
            draft.nest(|nest| {
                pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
                    let terms = [lit(0) * read(x, i, 0), lit(1) * read(y, i, 1)];
                    nest.assign(at(y, i, 0), pen.sum(terms.to_vec()));
                });
                pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
                    // The same loop read backwards: position `extent - 1 - i`.
                    let mut list = i.to_vec();
                    list[axis] = extent - 1 - &i[axis];
                    let mut next = list.clone();
                    next[axis] = extent - &i[axis];
                    let terms = [lit(2) * x.at(next.clone()), lit(3) * z.at(next)];
                    nest.assign(z.at(list), pen.sum(terms.to_vec()));
                });
                pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
                    nest.assign(at(out, i, 0), pen.sum(vec![read(y, i, 0), read(z, i, 0)]));
                });
            });
        }
        Kind::Tridiagonal => {
            let (below, diagonal) = (grid(&mut draft), grid(&mut draft));
            let constant = rng.chance(0.4);
            let work = grid(&mut draft);
            let apart = rng.chance(0.5);
            let dims = &dims;
            draft.nest(|nest| {
                let forwards = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
                    let below = if constant { lit(0) } else { pen.product(vec![lit(1), read(below, i, 0)]) };
                    let pivot = pen.lit(2.0) + read(diagonal, i, 0) - below.clone() * read(work, i, 1);
                    nest.assign(at(work, i, 0), lit(2) / pivot.clone());
                    nest.assign(at(x, i, 0), (read(x, i, 0) + below * read(x, i, 1)) / pivot);
                };
                let substitute = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
                    nest.sub(at(x, i, 1), pen.product(vec![read(work, i, 1), read(x, i, 0)]));
                };
                let others: Vec<usize> = order.iter().copied().filter(|d| *d != axis).collect();
                // One system after the other, or all systems step by step, depending on the order.
                if pen.distributed(apart) || order.last() != Some(&axis) {
                    pen.loops(nest, dims, &order, 0, &mut |nest, i| forwards(nest, i));
                    let outside = order.iter().position(|d| *d == axis).unwrap_or(0);
                    return pen.loops(nest, dims, &order[..outside], 0, &mut |nest, i| {
                        backwards(nest, &pen, &extents, axis, i, &mut |nest, i| {
                            pen.continued(nest, dims, &order[outside + 1..], 0, i, &mut |nest, i| {
                                substitute(nest, i)
                            });
                        });
                    });
                }
                pen.loops(nest, dims, &others, 0, &mut |nest, i| {
                    pen.continued(nest, dims, &[axis], 0, i, &mut |nest, i| forwards(nest, i));
                    backwards(nest, &pen, &extents, axis, i, &mut |nest, i| substitute(nest, i));
                });
            });
        }
    }
    draft.finish()
}

/// A loop over positions 1.. of the axis, from the last to the first.
fn backwards(
    nest: &mut NestBuilder<'_>,
    pen: &super::draft::Pen,
    extents: &[Formula],
    axis: usize,
    i: &[Formula],
    body: &mut dyn FnMut(&mut NestBuilder<'_>, &[Formula]),
) {
    let shift = pen.spelling.shift;
    let (from, to) = (Formula::from(1 + shift), &extents[axis] + shift);
    nest.for_with(pen.iterator(axis), from, to, -1, Execution::Sequential, |nest, a| {
        let mut i = i.to_vec();
        i[axis] = a - shift;
        body(nest, &i);
    });
}

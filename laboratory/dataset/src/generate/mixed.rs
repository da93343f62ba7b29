//! Statements at several depths that use the loops around them in different ways.

use super::draft::{Dim, Draft, Spelling, Written, dim};
use oxeye_ir::builder::{Formula, NestBuilder};
use oxeye_ir::{MathFn, ScalarType, Update};
use oxeye_random::Rng;

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let draft = Draft::new(spelling, float);
    match rng.within(0, 7) {
        0 => two_vectors(rng, draft),
        1 => rank_updates(rng, draft),
        2 => normalised_rows(rng, draft),
        3 => centred_products(rng, draft),
        4 => chained_products(rng, draft),
        5 => accumulated_in_scalar(rng, draft),
        6 => convolution(rng, draft),
        _ => residual(rng, draft),
    }
}

/// `y = A x` and `z = Aᵀ w`, the matrix read once or twice.
fn two_vectors(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let (n, m) = (draft.size(rng.log_uniform(0.3, 3.0), 8), draft.size(1.0, 8));
    let a = draft.array(vec![n.clone(), m.clone()]);
    let (x, y) = (draft.array(vec![m.clone()]), draft.array(vec![n.clone()]));
    let (w, z) = (draft.array(vec![n.clone()]), draft.array(vec![m.clone()]));
    // The second product may use the result of the first.
    let chained = rng.chance(0.4);
    let apart = rng.chance(0.5);
    let starts = rng.chance(0.7);
    let pen = draft.pen();
    let dims = [dim(n), dim(m)];
    let turned = !pen.spelling.order.is_multiple_of(2);
    let separate = pen.distributed(apart) || turned;
    let first = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.add(
            y.at([i[0].clone()]),
            pen.product(vec![a.at(i.to_vec()).into(), x.at([i[1].clone()]).into()]),
        );
    };
    let second = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let vector = if chained { y } else { w };
        nest.add(
            z.at([i[1].clone()]),
            pen.product(vec![a.at(i.to_vec()).into(), vector.at([i[0].clone()]).into()]),
        );
    };
    draft.nest(|nest| {
        if starts {
            pen.loops(nest, &dims, &[1], 0, &mut |nest, i| {
                nest.assign(z.at([i[1].clone()]), pen.lit(0.0));
            });
        }
        if separate {
            let order = if turned { [1, 0] } else { [0, 1] };
            if starts {
                pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
                    nest.assign(y.at([i[0].clone()]), pen.lit(0.0));
                });
            }
            pen.loops(nest, &dims, &order, 0, &mut |nest, i| first(nest, i));
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| second(nest, i));
        }
        pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            if starts {
                nest.assign(y.at([i[0].clone()]), pen.lit(0.0));
            }
            if chained {
                pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| first(nest, i));
                return pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| second(nest, i));
            }
            pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| {
                first(nest, i);
                second(nest, i);
            });
        });
    });
    draft.finish()
}

/// `A += u vᵀ` once or twice, then a product with a vector.
fn rank_updates(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let (n, m) = (draft.size(rng.log_uniform(0.5, 2.0), 8), draft.size(1.0, 8));
    let a = draft.array(vec![n.clone(), m.clone()]);
    let n_updates = rng.within(1, 2);
    let pairs: Vec<_> =
        (0..n_updates).map(|_| (draft.array(vec![n.clone()]), draft.array(vec![m.clone()]))).collect();
    let along_rows = rng.chance(0.5);
    let (x, y) = match along_rows {
        true => (draft.array(vec![m.clone()]), draft.array(vec![n.clone()])),
        false => (draft.array(vec![n.clone()]), draft.array(vec![m.clone()])),
    };
    let apart = rng.chance(0.6);
    let pen = draft.pen();
    let dims = [dim(n), dim(m)];
    let order = pen.order(&dims, &[0, 1]);
    let (kept, summed) = if along_rows { (0, 1) } else { (1, 0) };
    let change = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let product = |(u, v): &(oxeye_ir::builder::Tensor, oxeye_ir::builder::Tensor)| {
            pen.product(vec![u.at([i[0].clone()]).into(), v.at([i[1].clone()]).into()])
        };
        nest.add(a.at(i.to_vec()), pen.sum(pairs.iter().map(product).collect()));
    };
    let multiply = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let factors = vec![pen.lit(0.25), a.at(i.to_vec()).into(), x.at([i[summed].clone()]).into()];
        nest.add(y.at([i[kept].clone()]), pen.product(factors));
    };
    let separate = pen.distributed(apart);
    draft.nest(|nest| {
        if separate {
            pen.loops(nest, &dims, &order, 0, &mut |nest, i| change(nest, i));
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| multiply(nest, i));
        }
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
            change(nest, i);
            multiply(nest, i);
        });
    });
    draft.finish()
}

/// Every row divided by its norm, or by the sum of its exponentials (softmax).
fn normalised_rows(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let (n, m) = (draft.size(rng.log_uniform(0.2, 5.0), 8), draft.size(1.0, 8));
    let exponential = rng.chance(0.5);
    let columns = rng.chance(0.35);
    let extent = if columns { m.clone() } else { n.clone() };
    let a = draft.array(vec![n.clone(), m.clone()]);
    let (sums, tops) = (draft.array(vec![extent.clone()]), draft.array(vec![extent]));
    let apart = rng.chance(0.4);
    let pen = draft.pen();
    let dims = [dim(n), dim(m)];
    let outer = usize::from(columns);
    let inner = 1 - outer;
    let order = pen.order(&dims, &[outer, inner]);
    let own = |i: &[Formula]| [i[outer].clone()];
    let start = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.assign(sums.at(own(i)), pen.lit(0.0));
        if exponential {
            nest.assign(tops.at(own(i)), pen.lit(-1e30));
        }
    };
    let top = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.update(tops.at(own(i)), Update::Max, a.at(i.to_vec()));
    };
    let add = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let x = || Formula::from(a.at(i.to_vec()));
        if exponential {
            nest.assign(a.at(i.to_vec()), pen.call(MathFn::Exp, x() - tops.at(own(i))));
            nest.add(sums.at(own(i)), x());
        } else {
            nest.add(sums.at(own(i)), x() * x());
        }
    };
    let divide = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let sum = Formula::from(sums.at(own(i)));
        let divisor = if exponential { sum } else { pen.call(MathFn::Sqrt, sum + pen.lit(1e-3)) };
        nest.assign(a.at(i.to_vec()), Formula::from(a.at(i.to_vec())) / divisor);
    };
    let separate = pen.distributed(apart) || order[0] != outer;
    draft.nest(|nest| {
        if separate {
            pen.loops(nest, &dims, &[outer], 0, &mut |nest, i| start(nest, i));
            if exponential {
                pen.loops(nest, &dims, &order, 0, &mut |nest, i| top(nest, i));
            }
            pen.loops(nest, &dims, &order, 0, &mut |nest, i| add(nest, i));
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| divide(nest, i));
        }
        pen.loops(nest, &dims, &[outer], 0, &mut |nest, i| {
            start(nest, i);
            if exponential {
                pen.continued(nest, &dims, &[inner], 0, i, &mut |nest, i| top(nest, i));
            }
            pen.continued(nest, &dims, &[inner], 0, i, &mut |nest, i| add(nest, i));
            pen.continued(nest, &dims, &[inner], 0, i, &mut |nest, i| divide(nest, i));
        });
    });
    draft.finish()
}

/// Column means subtracted, then products of all pairs of columns.
fn centred_products(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let (n, m) = (draft.size(rng.log_uniform(0.5, 4.0), 8), draft.size(1.0, 6));
    let x = draft.array(vec![n.clone(), m.clone()]);
    let mean = draft.array(vec![m.clone()]);
    let c = draft.array(vec![m.clone(), m.clone()]);
    let apart = rng.chance(0.5);
    let drawn = if rng.chance(0.5) { [0, 1, 2] } else { [2, 0, 1] };
    let pen = draft.pen();
    // Two columns and the rows they are summed over.
    let dims = [dim(m.clone()), dim(m), dim(n)];
    let order = pen.order(&dims, &drawn);
    let at = |i: &[Formula], column: usize| Formula::from(x.at([i[2].clone(), i[column].clone()]));
    draft.nest(|nest| {
        pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            nest.assign(mean.at([i[0].clone()]), pen.lit(0.0));
            if !pen.distributed(apart) {
                pen.continued(nest, &dims, &[2], 0, i, &mut |nest, i| {
                    nest.add(mean.at([i[0].clone()]), pen.lit(0.001) * at(i, 0));
                });
            }
        });
        if pen.distributed(apart) {
            pen.loops(nest, &dims, &[2, 0], 0, &mut |nest, i| {
                nest.add(mean.at([i[0].clone()]), pen.lit(0.001) * at(i, 0));
            });
        }
        pen.loops(nest, &dims, &[2, 0], 0, &mut |nest, i| {
            nest.sub(x.at([i[2].clone(), i[0].clone()]), mean.at([i[0].clone()]));
        });
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
            nest.add(c.at(i[..2].to_vec()), pen.product(vec![at(i, 0), at(i, 1)]));
        });
    });
    draft.finish()
}

/// `T = A B`, then `R = T C`.
fn chained_products(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let sizes: Vec<Formula> = (0..4).map(|_| draft.size(rng.log_uniform(0.5, 2.0), 4)).collect();
    let shape = |r: usize, c: usize| vec![sizes[r].clone(), sizes[c].clone()];
    let [a, b, c] = [(0, 2), (2, 1), (1, 3)].map(|(r, c)| draft.array(shape(r, c)));
    let (t, r) = (draft.array(shape(0, 1)), draft.array(shape(0, 3)));
    let apart = rng.chance(0.5);
    let mut drawn = vec![0, 1, 2];
    if rng.chance(0.5) {
        rng.shuffle(&mut drawn);
    }
    let pen = draft.pen();
    let dims: Vec<Dim> = sizes.iter().map(|s| dim(s.clone())).collect();
    let order = pen.order(&dims, &drawn);
    let second: Vec<usize> = order.iter().map(|d| [0, 3, 1][*d]).collect();
    let separate = pen.distributed(apart) || order[2] != 2;
    draft.nest(|nest| {
        for (target, x, y, loops) in [(t, a, b, &order), (r, t, c, &second)] {
            let (row, column, depth) = (0, if target == t { 1 } else { 3 }, if target == t { 2 } else { 1 });
            let start = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
                nest.assign(target.at([i[row].clone(), i[column].clone()]), pen.lit(0.0));
            };
            let add = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
                let product = vec![
                    x.at([i[row].clone(), i[depth].clone()]).into(),
                    y.at([i[depth].clone(), i[column].clone()]).into(),
                ];
                nest.add(target.at([i[row].clone(), i[column].clone()]), pen.product(product));
            };
            if separate {
                pen.loops(nest, &dims, &[row, column], 0, &mut |nest, i| start(nest, i));
                pen.loops(nest, &dims, loops, 0, &mut |nest, i| add(nest, i));
            } else {
                pen.loops(nest, &dims, &loops[..2], 0, &mut |nest, i| {
                    start(nest, i);
                    pen.continued(nest, &dims, &loops[2..], 0, i, &mut |nest, i| add(nest, i));
                });
            }
        }
    });
    draft.finish()
}

/// A product accumulated in a scalar of the loop body, then stored.
fn accumulated_in_scalar(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let sizes: Vec<Formula> = (0..3).map(|_| draft.size(rng.log_uniform(0.5, 2.0), 4)).collect();
    let turned = rng.chance(0.5);
    let (n, m, p) = (sizes[0].clone(), sizes[1].clone(), sizes[2].clone());
    let a = draft.array(vec![n.clone(), p.clone()]);
    let b = draft.array(if turned { vec![m.clone(), p.clone()] } else { vec![p.clone(), m.clone()] });
    let c = draft.array(vec![n.clone(), m.clone()]);
    let (alpha, beta) = (draft.scalar(), draft.scalar());
    let difference = rng.chance(0.3);
    let float = draft.float;
    let pen = draft.pen();
    let dims = [dim(n), dim(m), dim(p)];
    let order = pen.order(&dims[..2], &[0, 1]);
    draft.nest(|nest| {
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
            let s = nest.scalar(["s", "total", "sum"][pen.spelling.names % 3], float);
            nest.assign(s, pen.lit(0.0));
            pen.continued(nest, &dims, &[2], 0, i, &mut |nest, i| {
                let x = || Formula::from(a.at([i[0].clone(), i[2].clone()]));
                let place = if turned { [i[1].clone(), i[2].clone()] } else { [i[2].clone(), i[1].clone()] };
                let y = || Formula::from(b.at(place.clone()));
                let value = if difference { (x() - y()) * (x() - y()) } else { pen.product(vec![x(), y()]) };
                nest.add(s, value);
            });
            let old = Formula::from(c.at(i[..2].to_vec()));
            let terms = vec![Formula::from(alpha) * s, Formula::from(beta) * old];
            nest.assign(c.at(i[..2].to_vec()), pen.sum(terms));
        });
    });
    draft.finish()
}

/// Weighted windows of one or two dimensions, with or without channels.
fn convolution(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let n_dims = rng.within(1, 2);
    let channels = n_dims == 2 && rng.chance(0.4);
    let window = if n_dims == 1 { rng.within(5, 64) } else { rng.within(3, 7) } as i64;
    let extents: Vec<Formula> = (0..n_dims).map(|_| draft.size(rng.log_uniform(0.5, 2.0), 8)).collect();
    let width = draft.fixed(window);
    let depth = channels.then(|| draft.fixed(rng.log_uniform(3.0, 32.0) as i64));
    let mut input: Vec<Formula> = extents.iter().map(|e| e + &width).collect();
    let mut weights = vec![width.clone(); n_dims];
    if let Some(depth) = &depth {
        input.insert(0, depth.clone());
        weights.insert(0, depth.clone());
    }
    let (x, w, y) = (draft.array(input), draft.array(weights), draft.array(extents.clone()));
    let starts = rng.chance(0.6);
    let mut drawn: Vec<usize> = (0..2 * n_dims + usize::from(channels)).collect();
    if rng.chance(0.3) {
        rng.shuffle(&mut drawn);
    }
    let pen = draft.pen();
    let mut dims: Vec<Dim> = extents.iter().map(|e| dim(e.clone())).collect();
    dims.extend((0..n_dims).map(|_| dim(width.clone())));
    dims.extend(depth.map(dim));
    let order = pen.order(&dims, &drawn);
    draft.nest(|nest| {
        if starts {
            pen.loops(nest, &dims, &(0..n_dims).collect::<Vec<_>>(), 0, &mut |nest, i| {
                nest.assign(y.at(i[..n_dims].to_vec()), pen.lit(0.0));
            });
        }
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
            let mut near: Vec<Formula> = (0..n_dims).map(|d| &i[d] + &i[n_dims + d]).collect();
            let mut tap = i[n_dims..2 * n_dims].to_vec();
            if channels {
                near.insert(0, i[2 * n_dims].clone());
                tap.insert(0, i[2 * n_dims].clone());
            }
            nest.add(y.at(i[..n_dims].to_vec()), pen.product(vec![x.at(near).into(), w.at(tap).into()]));
        });
    });
    draft.finish()
}

/// `r = b - A x` on a grid, and the square of its norm.
fn residual(rng: &mut Rng, mut draft: Draft<'_>) -> Result<Written, String> {
    let n_dims = rng.within(1, 3);
    let extents: Vec<Formula> = (0..n_dims).map(|_| draft.size(rng.log_uniform(0.5, 2.0), 8)).collect();
    let (x, b, r) =
        (draft.array(extents.clone()), draft.array(extents.clone()), draft.array(extents.clone()));
    let norm = draft.array(vec![1.into()]);
    let apart = rng.chance(0.5);
    let pen = draft.pen();
    let dims: Vec<Dim> = extents.iter().map(|e| super::draft::range(1, e - 1)).collect();
    let order = pen.order(&dims, &(0..n_dims).collect::<Vec<_>>());
    let subtract = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let mut terms = vec![pen.lit(2.0 * n_dims as f64) * x.at(i.to_vec())];
        for d in 0..n_dims {
            for step in [-1, 1] {
                let mut near = i.to_vec();
                near[d] = &near[d] + step;
                terms.push(pen.lit(-1.0) * x.at(near));
            }
        }
        nest.assign(r.at(i.to_vec()), Formula::from(b.at(i.to_vec())) - pen.sum(terms));
    };
    let square = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.add(norm.at([0]), Formula::from(r.at(i.to_vec())) * r.at(i.to_vec()));
    };
    let separate = pen.distributed(apart);
    draft.nest(|nest| {
        if separate {
            pen.loops(nest, &dims, &order, 0, &mut |nest, i| subtract(nest, i));
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| square(nest, i));
        }
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
            subtract(nest, i);
            square(nest, i);
        });
    });
    draft.finish()
}

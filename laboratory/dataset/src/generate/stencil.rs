//! Neighbourhoods on grids of one to three dimensions.

use super::draft::{Dim, Draft, Pen, Spelling, Written, dim, range};
use oxeye_ir::ScalarType;
use oxeye_ir::builder::{Formula, NestBuilder, Tensor};
use oxeye_random::Rng;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// One sweep from one grid to another.
    Once,
    /// A sweep to another grid and a sweep (or copy) back, in a time loop.
    Jacobi { copy: bool },
    /// Sweeps over one grid in place, each value from new and old neighbours.
    InPlace,
    /// Two or three fields that update each other, in a time loop.
    Coupled { fields: usize },
}

/// A neighbour and its weight.
type Term = (Vec<i64>, f64);

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    let kind = match rng.unit() {
        x if x < 0.3 => Kind::Once,
        x if x < 0.6 => Kind::Jacobi { copy: rng.chance(0.3) },
        x if x < 0.78 => Kind::InPlace,
        _ => Kind::Coupled { fields: rng.within(2, 3) },
    };
    let n_dims = rng.within(if matches!(kind, Kind::Coupled { .. }) { 2 } else { 1 }, 3);
    let extents: Vec<Formula> = if rng.chance(0.4) {
        let n = draft.size(1.0, 8);
        vec![n; n_dims]
    } else {
        (0..n_dims).map(|_| draft.size(rng.log_uniform(0.4, 2.5), 8)).collect()
    };
    let times = match kind {
        Kind::Once => None,
        Kind::InPlace if rng.chance(0.3) => None,
        _ => Some(draft.fixed(rng.log_uniform(2.0, 120.0) as i64)),
    };
    let mut drawn: Vec<usize> = (0..n_dims).collect();
    if rng.chance(0.2) {
        rng.shuffle(&mut drawn);
    }
    let pen = draft.pen();
    let grid = |draft: &mut Draft<'_>| draft.array(extents.clone());
    if kind == Kind::InPlace {
        let radius = 1;
        let terms = terms(rng, n_dims, radius);
        let field = grid(&mut draft);
        draft.cost_factor = 4.0;
        let dims = inner(&extents, radius);
        draft.nest(|nest| {
            timed(&pen, nest, times, &mut |nest, _| {
                // The order of an in-place sweep is part of the computation.
                pen.loops(nest, &dims, &drawn, 1, &mut |nest, i| {
                    nest.assign(field.at(i.to_vec()), weighted(&pen, field, &terms, i));
                });
            });
        });
        return draft.finish();
    }
    if let Kind::Coupled { fields } = kind {
        return coupled(rng, draft, &extents, times, &drawn, fields);
    }
    let radius = rng.within(1, 2) as i64;
    let (there, back) = (terms(rng, n_dims, radius), terms(rng, n_dims, radius));
    let (from, to) = (grid(&mut draft), grid(&mut draft));
    let factor = rng.chance(0.25).then(|| grid(&mut draft));
    let dims = inner(&extents, radius);
    let order = pen.order(&dims, &drawn);
    let sweep = |nest: &mut NestBuilder<'_>, from: Tensor, to: Tensor, terms: &[Term]| {
        pen.loops(nest, &dims, &order, 1, &mut |nest, i| {
            let value = weighted(&pen, from, terms, i);
            let value = match factor {
                Some(factor) => pen.product(vec![value, factor.at(i.to_vec()).into()]),
                None => value,
            };
            nest.assign(to.at(i.to_vec()), value);
        });
    };
    draft.nest(|nest| {
        timed(&pen, nest, times, &mut |nest, _| {
            sweep(nest, from, to, &there);
            match kind {
                Kind::Jacobi { copy: true } => pen.loops(nest, &dims, &order, 1, &mut |nest, i| {
                    nest.assign(from.at(i.to_vec()), to.at(i.to_vec()));
                }),
                Kind::Jacobi { copy: false } => sweep(nest, to, from, &back),
                _ => {}
            }
        });
    });
    draft.finish()
}

/// Fields on staggered grids: each is changed by differences of the next one.
fn coupled(
    rng: &mut Rng,
    mut draft: Draft<'_>,
    extents: &[Formula],
    times: Option<Formula>,
    drawn: &[usize],
    n_fields: usize,
) -> Result<Written, String> {
    let pen = draft.pen();
    let fields: Vec<Tensor> = (0..n_fields).map(|_| draft.array(extents.to_vec())).collect();
    let source = rng.chance(0.4).then(|| times.clone().map(|t| draft.array(vec![t]))).flatten();
    let n_dims = extents.len();
    let plans: Vec<(usize, f64, bool)> = (0..n_fields)
        .map(|_| (rng.within(0, n_dims - 1), rng.within(100, 500) as f64 / 1e3, rng.chance(0.5)))
        .collect();
    let backwards_first = rng.chance(0.5);
    let dims: Vec<Dim> = extents.iter().map(|e| range(1, e - 1)).collect();
    let order = pen.order(&dims, drawn);
    draft.nest(|nest| {
        timed(&pen, nest, times, &mut |nest, t| {
            if let (Some(source), Some(t)) = (source, &t) {
                let mut edge: Vec<Dim> = extents.iter().map(|e| dim(e.clone())).collect();
                edge[0] = dim(1);
                pen.loops(nest, &edge[..], &(1..n_dims).collect::<Vec<_>>(), 1, &mut |nest, i| {
                    nest.assign(fields[0].at(i.to_vec()), source.at(vec![t.clone()]));
                });
            }
            for (k, field) in fields.iter().enumerate() {
                let other = fields[(k + 1) % fields.len()];
                let (axis, coefficient, both) = plans[k];
                let step = if (k % 2 == 0) == backwards_first { -1 } else { 1 };
                pen.loops(nest, &dims, &order, 1, &mut |nest, i| {
                    let mut near = i.to_vec();
                    near[axis] = &near[axis] + step;
                    let mut difference = Formula::from(other.at(i.to_vec())) - other.at(near);
                    if both && n_dims > 1 {
                        let axis = (axis + 1) % n_dims;
                        let mut near = i.to_vec();
                        near[axis] = &near[axis] + step;
                        difference = difference + (Formula::from(other.at(i.to_vec())) - other.at(near));
                    }
                    nest.sub(field.at(i.to_vec()), pen.product(vec![pen.lit(coefficient), difference]));
                });
            }
        });
    });
    draft.finish()
}

/// The body in a loop over time, if there is one; the loop's name is the first.
fn timed(
    pen: &Pen,
    nest: &mut NestBuilder<'_>,
    times: Option<Formula>,
    body: &mut dyn FnMut(&mut NestBuilder<'_>, Option<Formula>),
) {
    match times {
        None => body(nest, None),
        Some(times) => pen.loops(nest, &[dim(times)], &[0], 0, &mut |nest, t| body(nest, Some(t[0].clone()))),
    }
}

fn inner(extents: &[Formula], radius: i64) -> Vec<Dim> {
    extents.iter().map(|e| range(radius, e - radius)).collect()
}

fn weighted(pen: &Pen, field: Tensor, terms: &[Term], i: &[Formula]) -> Formula {
    let near = |offsets: &[i64]| {
        let at: Vec<Formula> = i.iter().zip(offsets).map(|(i, o)| i + *o).collect();
        Formula::from(field.at(at))
    };
    // Equal weights are factored out, as people write it.
    let equal = terms.windows(2).all(|w| w[0].1 == w[1].1);
    if equal {
        let sum = pen.sum(terms.iter().map(|(offsets, _)| near(offsets)).collect());
        return pen.product(vec![pen.lit(terms[0].1), sum]);
    }
    pen.sum(
        terms.iter().map(|(offsets, weight)| pen.product(vec![pen.lit(*weight), near(offsets)])).collect(),
    )
}

/// Neighbours within a radius, on the axes or in the whole box, whose weights add up to less than one.
fn terms(rng: &mut Rng, n_dims: usize, radius: i64) -> Vec<Term> {
    let whole = rng.chance(0.3) && (n_dims < 3 || radius == 1);
    let mut offsets = vec![vec![0; n_dims]];
    if whole {
        for d in 0..n_dims {
            offsets = offsets
                .into_iter()
                .flat_map(|o| (-radius..=radius).map(move |x| (o.clone(), x)))
                .map(|(mut o, x)| {
                    o[d] = x;
                    o
                })
                .collect();
        }
    } else {
        for d in 0..n_dims {
            for x in (-radius..=radius).filter(|x| *x != 0) {
                let mut o = vec![0; n_dims];
                o[d] = x;
                offsets.push(o);
            }
        }
    }
    // Some neighbours may be missing, as in one-sided differences.
    if rng.chance(0.2) && offsets.len() > 3 {
        let dropped = rng.within(0, offsets.len() - 1);
        offsets.remove(dropped);
    }
    let n = offsets.len() as f64;
    let equal = rng.chance(0.5);
    let weights = offsets.iter().map(|_| if equal { 0.95 / n } else { rng.log_uniform(0.5, 1.0) / n });
    let weights: Vec<f64> = weights.map(|w| (w * 1e4).round() / 1e4).collect();
    offsets.into_iter().zip(weights).collect()
}

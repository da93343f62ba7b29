//! Sums, norms, dot products, minima and maxima along some dimensions of an array.

use super::draft::{Dim, Draft, Pen, Spelling, Written, dim};
use oxeye_ir::builder::{Element, Formula, NestBuilder};
use oxeye_ir::{MathFn, ScalarType, Update};
use oxeye_random::Rng;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sum,
    Squares,
    Dot,
    Absolute,
    Least,
    Greatest,
    /// A sum of exponentials.
    Exponentials,
}

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    let n_dims = *rng.pick(&[1, 2, 2, 2, 3, 3, 4]);
    let extents: Vec<Formula> = (0..n_dims)
        .map(|_| {
            draft.size(if n_dims > 2 { rng.log_uniform(0.3, 3.0) } else { rng.log_uniform(0.1, 10.0) }, 4)
        })
        .collect();
    let n_kept = if n_dims == 1 { 0 } else { rng.within(usize::from(n_dims < 3), n_dims - 1) };
    let mut axes: Vec<usize> = (0..n_dims).collect();
    rng.shuffle(&mut axes);
    let mut kept = axes[..n_kept].to_vec();
    kept.sort_unstable();
    let kind = *rng.pick(&[
        Kind::Sum,
        Kind::Sum,
        Kind::Squares,
        Kind::Dot,
        Kind::Dot,
        Kind::Absolute,
        Kind::Least,
        Kind::Greatest,
        Kind::Exponentials,
    ]);
    let a = draft.array(extents.clone());
    let b = (kind == Kind::Dot).then(|| {
        // The other factor of a dot product may be a vector that is used for every row.
        let whole = rng.chance(0.4);
        let list: Vec<usize> =
            if whole { (0..n_dims).collect() } else { (0..n_dims).filter(|d| !kept.contains(d)).collect() };
        (draft.array(list.iter().map(|d| extents[*d].clone()).collect()), list)
    });
    let shape: Vec<Formula> =
        if n_kept == 0 { vec![1.into()] } else { kept.iter().map(|d| extents[*d].clone()).collect() };
    let result = draft.array(shape.clone());
    let several = rng.chance(0.3) && kind != Kind::Dot;
    let second = several.then(|| draft.array(shape));
    let starts = rng.chance(0.75);
    let ends = rng.chance(0.25);
    let apart = rng.chance(0.5);
    let mut drawn: Vec<usize> = (0..n_dims).collect();
    if rng.chance(0.5) {
        rng.shuffle(&mut drawn);
    }
    let pen = draft.pen();
    let dims: Vec<Dim> = extents.iter().map(|e| dim(e.clone())).collect();
    let order = pen.order(&dims, &drawn);
    let at = |i: &[Formula]| -> Vec<Formula> {
        if n_kept == 0 { vec![0.into()] } else { kept.iter().map(|d| i[*d].clone()).collect() }
    };
    let accumulate = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let x = || Formula::from(a.at(i.to_vec()));
        let target: Element = result.at(at(i));
        let value = match (kind, &b) {
            (Kind::Dot, Some((b, list))) => {
                let y = b.at(list.iter().map(|d| i[*d].clone()).collect::<Vec<_>>());
                pen.product(vec![x(), y.into()])
            }
            (Kind::Squares, _) => x() * x(),
            (Kind::Absolute, _) => pen.call(MathFn::Fabs, x() - pen.lit(0.5)),
            (Kind::Exponentials, _) => pen.call(MathFn::Exp, x()),
            _ => x(),
        };
        nest.update(target, update(kind), value);
        if let Some(second) = second {
            nest.add(second.at(at(i)), pen.product(vec![x(), x(), x()]));
        }
    };
    let start = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let first = match kind {
            Kind::Least => 1e30,
            Kind::Greatest => -1e30,
            _ => 0.0,
        };
        nest.assign(result.at(at(i)), pen.lit(first));
        if let Some(second) = second {
            nest.assign(second.at(at(i)), pen.lit(0.0));
        }
    };
    let end = |pen: &Pen, nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let value = Formula::from(result.at(at(i)));
        match kind {
            Kind::Squares => nest.assign(result.at(at(i)), pen.call(MathFn::Sqrt, value)),
            _ => nest.assign(result.at(at(i)), pen.product(vec![pen.lit(0.125), value])),
        };
    };
    let outer: Vec<usize> = order.iter().copied().filter(|d| kept.contains(d)).collect();
    let outer_first = order[..n_kept].iter().all(|d| kept.contains(d));
    let separate = pen.distributed(apart) || !outer_first;
    draft.nest(|nest| {
        if !separate {
            return pen.loops(nest, &dims, &outer, 0, &mut |nest, i| {
                if starts {
                    start(nest, i);
                }
                pen.continued(nest, &dims, &order[n_kept..], 0, i, &mut |nest, i| accumulate(nest, i));
                if ends {
                    end(&pen, nest, i);
                }
            });
        }
        if starts {
            pen.loops(nest, &dims, &outer, 0, &mut |nest, i| start(nest, i));
        }
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| accumulate(nest, i));
        if ends {
            pen.loops(nest, &dims, &outer, 0, &mut |nest, i| end(&pen, nest, i));
        }
    });
    draft.finish()
}

fn update(kind: Kind) -> Update {
    match kind {
        Kind::Least => Update::Min,
        Kind::Greatest => Update::Max,
        _ => Update::Add,
    }
}

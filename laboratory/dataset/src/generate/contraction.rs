//! Sums of products: two operands (or one twice) over free and contracted dimensions in any index pattern.

use super::draft::{Dim, Draft, Edge, Spelling, Written, dim};
use oxeye_ir::builder::{Formula, Tensor, max, min};
use oxeye_ir::{ScalarType, Update};
use oxeye_random::Rng;

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Two operands.
    General,
    /// One operand with itself, lower half of the result.
    Symmetric,
    /// The first operand is a lower triangle.
    Triangular,
}

#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// Whether the result is added to the previous contents.
    Nothing,
    Zero,
    Scaled,
}

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    let shape = match rng.unit() {
        x if x < 0.7 => Shape::General,
        x if x < 0.85 => Shape::Symmetric,
        _ => Shape::Triangular,
    };
    let n_out = if shape == Shape::General { *rng.pick(&[1, 2, 2, 2, 3, 3]) } else { 2 };
    let n_sum = match (shape, n_out) {
        (Shape::Triangular, _) => 1,
        (_, 1) => rng.within(1, 3),
        (_, 3) => rng.within(1, 2),
        _ => *rng.pick(&[1, 1, 1, 2, 3]),
    };
    let n_dims = n_out + n_sum;
    let square = rng.chance(0.4) || shape != Shape::General;
    let few = |rng: &mut Rng| rng.log_uniform(0.3, 3.0);
    let first = draft.size(1.0, 4);
    let extents: Vec<Formula> = (0..n_dims)
        .map(|d| {
            let is_out = d < n_out;
            if d == 0 || (square && is_out && d < 2) || (square && n_dims <= 3) {
                first.clone()
            } else {
                let aspect = if n_dims > 3 { few(rng) * 0.5 } else { few(rng) };
                draft.size(aspect, 3)
            }
        })
        .collect();
    let outs: Vec<usize> = (0..n_out).collect();
    let sums: Vec<usize> = (n_out..n_dims).collect();
    let batched = n_out == 3 && rng.chance(0.5);
    let (mut left, mut right): (Vec<usize>, Vec<usize>) = match (n_out, batched) {
        (1, _) => (vec![0], vec![]),
        (2, _) => (vec![0], vec![1]),
        (_, true) => (vec![0, 1], vec![0, 2]),
        _ => (vec![0, 1], vec![2]),
    };
    left.extend(&sums);
    right.extend(&sums);
    if shape == Shape::Symmetric {
        right = left.iter().map(|d| if *d == 0 { 1 } else { *d }).collect();
    }
    let mixed = rng.chance(0.5);
    if mixed {
        let mut order: Vec<usize> = (0..left.len()).collect();
        rng.shuffle(&mut order);
        left = order.iter().map(|p| left[*p]).collect();
        if shape == Shape::Symmetric {
            right = left.iter().map(|d| if *d == 0 { 1 } else { *d }).collect();
        } else {
            rng.shuffle(&mut right);
        }
    }
    let shape_of = |list: &[usize]| list.iter().map(|d| extents[*d].clone()).collect::<Vec<_>>();
    let target = draft.array(shape_of(&outs));
    let a = draft.array(shape_of(&left));
    let b = if shape == Shape::Symmetric { a } else { draft.array(shape_of(&right)) };
    let weight = rng.chance(0.12).then(|| draft.array(shape_of(&sums[..1])));
    let alpha = rng.chance(0.3).then(|| draft.scalar());
    let before = *rng.pick(&[Before::Nothing, Before::Zero, Before::Zero, Before::Scaled]);
    let beta = (before == Before::Scaled).then(|| draft.scalar());
    let tropical = weight.is_none() && alpha.is_none() && rng.chance(0.08);
    let least = rng.chance(0.5);
    let apart = rng.chance(0.5);

    let mut dims: Vec<Dim> = extents.iter().map(|e| dim(e.clone())).collect();
    if shape == Shape::Symmetric {
        dims[1].to = Edge::Of(0, 1);
    }
    if shape == Shape::Triangular {
        dims[2].to = Edge::Of(0, 1);
    }
    let mut drawn: Vec<usize> = (0..n_dims).collect();
    if rng.chance(0.6) {
        rng.shuffle(&mut drawn);
    }
    let pen = draft.pen();
    let order = pen.order(&dims, &drawn);
    let element = |t: Tensor, list: &[usize], i: &[Formula]| {
        Formula::from(t.at(list.iter().map(|d| i[*d].clone()).collect::<Vec<_>>()))
    };
    let accumulate = |nest: &mut oxeye_ir::builder::NestBuilder<'_>, i: &[Formula]| {
        let at = target.at(outs.iter().map(|d| i[*d].clone()).collect::<Vec<_>>());
        let (x, y) = (element(a, &left, i), element(b, &right, i));
        if tropical {
            let update = if least { Update::Min } else { Update::Max };
            let value = if least { max(x, y) } else { min(x, y) };
            nest.update(at, update, value);
            return;
        }
        let mut factors = vec![x, y];
        factors.extend(weight.map(|w| Formula::from(w.at(vec![i[sums[0]].clone()]))));
        if let Some(alpha) = alpha {
            factors.insert(0, alpha.into());
        }
        nest.add(at, pen.product(factors));
    };
    let start = |nest: &mut oxeye_ir::builder::NestBuilder<'_>, i: &[Formula]| {
        let at = target.at(outs.iter().map(|d| i[*d].clone()).collect::<Vec<_>>());
        match beta {
            Some(beta) => nest.update(at, Update::Mul, beta),
            None => nest.assign(at, pen.lit(0.0)),
        };
    };
    // The initialisation can share the loops over the result if those are outermost.
    let outer_first = order[..n_out].iter().all(|d| *d < n_out);
    let separate = pen.distributed(apart) || !outer_first || tropical;
    draft.nest(|nest| {
        if before == Before::Nothing {
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| accumulate(nest, i));
        }
        let outer: Vec<usize> = order.iter().copied().filter(|d| *d < n_out).collect();
        if separate {
            pen.loops(nest, &dims, &outer, 0, &mut |nest, i| start(nest, i));
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| accumulate(nest, i));
        }
        pen.loops(nest, &dims, &outer, 0, &mut |nest, i| {
            start(nest, i);
            pen.continued(nest, &dims, &order[n_out..], 0, i, &mut |nest, i| accumulate(nest, i));
        });
    });
    draft.finish()
}

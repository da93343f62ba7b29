//! Chains of element-wise statements over several arrays, with transposes, broadcasts and guards.

use super::draft::{Dim, Draft, Pen, Spelling, Written, dim};
use oxeye_ir::builder::{Formula, NestBuilder, Tensor, formula, max, min};
use oxeye_ir::{MathFn, ScalarType};
use oxeye_random::Rng;

/// An operand: an array with the loop of each of its dimensions.
#[derive(Clone)]
struct Operand {
    tensor: Tensor,
    axes: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Operation {
    Sum,
    Product,
    Quotient,
    Axpy(f64),
    Root,
    Exponential,
    Clamp,
    Copy,
}

struct Statement {
    target: Operand,
    operands: Vec<Operand>,
    operation: Operation,
    guarded: bool,
}

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    let n_dims = *rng.pick(&[1, 1, 2, 2, 2, 3]);
    let extents: Vec<Formula> = if rng.chance(0.4) {
        let n = draft.size(1.0, 8);
        vec![n; n_dims]
    } else {
        (0..n_dims).map(|_| draft.size(rng.log_uniform(0.2, 5.0), 8)).collect()
    };
    let n_statements = *rng.pick(&[1, 1, 2, 2, 3, 4]);
    let transposing = n_dims > 1 && rng.chance(0.4);
    let all: Vec<usize> = (0..n_dims).collect();
    let mut inputs = Vec::new();
    for _ in 0..rng.within(1, 3) {
        let mut axes = all.clone();
        if transposing && rng.chance(0.6) {
            rng.shuffle(&mut axes);
        } else if n_dims > 1 && rng.chance(0.25) {
            axes = vec![rng.within(0, n_dims - 1)];
        }
        let tensor = draft.array(axes.iter().map(|d| extents[*d].clone()).collect());
        inputs.push(Operand { tensor, axes });
    }
    let mut statements = Vec::new();
    let mut known = inputs;
    for _ in 0..n_statements {
        // Most statements make a new array, some change an old one.
        let target = if rng.chance(0.8) {
            Operand { tensor: draft.array(extents.clone()), axes: all.clone() }
        } else {
            let whole: Vec<&Operand> = known.iter().filter(|o| o.axes == all).collect();
            match whole.is_empty() {
                true => Operand { tensor: draft.array(extents.clone()), axes: all.clone() },
                false => (*rng.pick(&whole)).clone(),
            }
        };
        let operation = match rng.unit() {
            x if x < 0.25 => Operation::Sum,
            x if x < 0.45 => Operation::Product,
            x if x < 0.55 => Operation::Quotient,
            x if x < 0.72 => Operation::Axpy((rng.log_uniform(0.1, 0.9) * 1e3).round() / 1e3),
            x if x < 0.8 => Operation::Root,
            x if x < 0.86 => Operation::Exponential,
            x if x < 0.93 => Operation::Clamp,
            _ => Operation::Copy,
        };
        // The newest value is used more often, which makes chains.
        let mut operands = vec![known[known.len() - 1].clone()];
        operands.push(rng.pick(&known).clone());
        if rng.chance(0.3) {
            operands.push(rng.pick(&known).clone());
        }
        // In place, the element read must be the element written: then loops may be shared or not.
        if known.iter().any(|o| o.tensor == target.tensor) {
            operands.retain(|o| o.tensor != target.tensor || o.axes == all);
        }
        if operands.is_empty() {
            operands.push(target.clone());
        }
        let guarded = rng.chance(0.08);
        if !known.iter().any(|o| o.tensor == target.tensor) {
            known.push(target.clone());
        }
        statements.push(Statement { target, operands, operation, guarded });
    }
    let times = rng.chance(0.2).then(|| draft.fixed(rng.log_uniform(2.0, 30.0) as i64));
    let apart = rng.chance(0.5);
    let mut drawn = all.clone();
    if rng.chance(0.4) {
        rng.shuffle(&mut drawn);
    }
    let pen = draft.pen();
    let dims: Vec<Dim> = extents.iter().map(|e| dim(e.clone())).collect();
    let order = pen.order(&dims, &drawn);
    let separate = pen.distributed(apart);
    draft.nest(|nest| {
        let sweep = |nest: &mut NestBuilder<'_>| {
            if separate {
                for s in &statements {
                    pen.loops(nest, &dims, &order, 1, &mut |nest, i| statement(&pen, nest, s, i));
                }
            } else {
                pen.loops(nest, &dims, &order, 1, &mut |nest, i| {
                    statements.iter().for_each(|s| statement(&pen, nest, s, i));
                });
            }
        };
        match &times {
            None => sweep(nest),
            Some(times) => pen.loops(nest, &[dim(times.clone())], &[0], 0, &mut |nest, _| sweep(nest)),
        }
    });
    draft.finish()
}

fn statement(pen: &Pen, nest: &mut NestBuilder<'_>, s: &Statement, i: &[Formula]) {
    let read =
        |o: &Operand| Formula::from(o.tensor.at(o.axes.iter().map(|d| i[*d].clone()).collect::<Vec<_>>()));
    let values: Vec<Formula> = s.operands.iter().map(read).collect();
    let first = values[0].clone();
    let last = values[values.len() - 1].clone();
    let value = match s.operation {
        Operation::Sum => pen.product(vec![pen.lit(0.5), pen.sum(values)]),
        Operation::Product => pen.product(values),
        Operation::Quotient => first / (last + pen.lit(1.5)),
        Operation::Axpy(a) => pen.sum(vec![pen.product(vec![pen.lit(a), first]), pen.lit(0.1) * last]),
        Operation::Root => pen.call(MathFn::Sqrt, pen.call(MathFn::Fabs, first)) + last,
        Operation::Exponential => pen.call(MathFn::Exp, -first * pen.lit(0.5)) * last,
        Operation::Clamp => min(max(first - last, pen.lit(0.0)), pen.lit(0.75)),
        Operation::Copy => first,
    };
    let target = || s.target.tensor.at(i.to_vec());
    if !s.guarded {
        nest.assign(target(), value);
        return;
    }
    let condition = formula(read(&s.operands[0])).gt(pen.lit(0.4));
    nest.when(condition, |nest| {
        nest.assign(target(), value);
    });
}

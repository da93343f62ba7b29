//! Indices read from memory: gathers, scatters, sparse products with padded rows, table look-ups.

use super::draft::{Dim, Draft, Spelling, Written, dim};
use crate::nest::Fill;
use oxeye_ir::builder::Formula;
use oxeye_ir::{MathFn, ScalarType};
use oxeye_random::Rng;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Gather,
    Scatter,
    /// `y[i] += a[i][k] x[column[i][k]]`
    PaddedRows,
    /// Whole rows of a table.
    GatherRows,
    ScatterRows,
    /// Linear interpolation between neighbouring entries of a table.
    Interpolate,
}

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    draft.cost_factor = 1.5;
    let kind = *rng.pick(&[
        Kind::Gather,
        Kind::Gather,
        Kind::Scatter,
        Kind::PaddedRows,
        Kind::PaddedRows,
        Kind::GatherRows,
        Kind::ScatterRows,
        Kind::Interpolate,
    ]);
    let n = draft.size(1.0, 16);
    let m = draft.size(rng.log_uniform(0.01, 2.0), 16);
    let bound = Fill::Below(draft.size_name(1));
    let wide = matches!(kind, Kind::PaddedRows | Kind::GatherRows | Kind::ScatterRows);
    let width = wide.then(|| {
        let width = rng.log_uniform(4.0, 64.0) as i64;
        draft.fixed(width)
    });
    let index_type = if rng.chance(0.85) { ScalarType::I32 } else { ScalarType::I64 };
    let accumulates = rng.chance(0.5);
    let scaled = rng.chance(0.5);
    let column_major = rng.chance(0.4);
    let mut drawn = vec![0, 1];
    if rng.chance(0.3) {
        drawn.reverse();
    }
    let pen = draft.pen();
    let scale = scaled.then(|| draft.scalar());
    let scaled = |value: Formula| match scale {
        Some(s) => pen.product(vec![s.into(), value]),
        None => value,
    };
    let Some(width) = width else {
        let index = draft.typed_array(vec![n.clone()], index_type, bound);
        let (x, y) = match kind {
            Kind::Scatter => (draft.array(vec![n.clone()]), draft.array(vec![m.clone()])),
            _ => (draft.array(vec![&m + 1]), draft.array(vec![n.clone()])),
        };
        let dims = [dim(n)];
        draft.nest(|nest| {
            pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
                let at = || Formula::from(index.at(i.to_vec()));
                match kind {
                    Kind::Scatter => nest.add(y.at([at()]), scaled(x.at(i.to_vec()).into())),
                    Kind::Interpolate => {
                        let weight = || Formula::from(y.at(i.to_vec()));
                        let low = pen.product(vec![pen.lit(1.0) - weight(), x.at([at()]).into()]);
                        let high = pen.product(vec![weight(), x.at([at() + 1]).into()]);
                        nest.assign(y.at(i.to_vec()), scaled(pen.sum(vec![low, high])))
                    }
                    _ if accumulates => nest.add(y.at(i.to_vec()), scaled(x.at([at()]).into())),
                    _ => {
                        let value = scaled(x.at([at()]).into());
                        let value = if column_major { pen.call(MathFn::Sqrt, value) } else { value };
                        nest.assign(y.at(i.to_vec()), value)
                    }
                };
            });
        });
        return draft.finish();
    };
    let dims: Vec<Dim> = vec![dim(n.clone()), dim(width.clone())];
    let order = pen.order(&dims, &drawn);
    if kind == Kind::PaddedRows {
        let shape = if column_major { vec![width, n.clone()] } else { vec![n.clone(), width] };
        let columns = draft.typed_array(shape.clone(), index_type, bound);
        let values = draft.array(shape);
        let (x, y) = (draft.array(vec![m]), draft.array(vec![n]));
        draft.nest(|nest| {
            pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
                let mut at = i.to_vec();
                if column_major {
                    at.reverse();
                }
                let entry = Formula::from(x.at([Formula::from(columns.at(at.clone()))]));
                nest.add(y.at([i[0].clone()]), pen.product(vec![values.at(at).into(), entry]));
            });
        });
        return draft.finish();
    }
    let index = draft.typed_array(vec![n.clone()], index_type, bound);
    let table = draft.array(vec![m, width.clone()]);
    let rows = draft.array(vec![n, width]);
    draft.nest(|nest| {
        pen.loops(nest, &dims, &order, 0, &mut |nest, i| {
            let entry = table.at([Formula::from(index.at([i[0].clone()])), i[1].clone()]);
            let row = rows.at(i.to_vec());
            match kind {
                Kind::ScatterRows => nest.add(entry, scaled(row.into())),
                _ if accumulates => nest.add(row, scaled(entry.into())),
                _ => nest.assign(row, scaled(entry.into())),
            };
        });
    });
    draft.finish()
}

//! Triangular solves, products and eliminations: loops whose bounds are other iterators.

use super::draft::{Dim, Draft, Edge, Spelling, Written, dim};
use crate::nest::Fill;
use oxeye_ir::builder::{Formula, NestBuilder, Tensor};
use oxeye_ir::{MathFn, ScalarType};
use oxeye_random::Rng;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `L X = B` for several columns.
    Solve,
    /// Elimination without pivoting.
    Eliminate,
    /// Square-root factor, by columns.
    Root,
    /// Symmetric elimination with a copy of the pivot column.
    Symmetric,
    /// `B = U B` in place.
    Product,
    /// Squared distances between all pairs of rows.
    Distances,
}

pub(super) fn write(rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    let mut draft = Draft::new(spelling, float);
    let kind = *rng.pick(&[
        Kind::Solve,
        Kind::Solve,
        Kind::Eliminate,
        Kind::Root,
        Kind::Symmetric,
        Kind::Product,
        Kind::Distances,
    ]);
    let n = draft.size(1.0, 6);
    let wide = matches!(kind, Kind::Solve | Kind::Product | Kind::Distances);
    let m = wide.then(|| draft.size(rng.log_uniform(0.1, 2.0), 2));
    let plan = Plan { turned: rng.chance(0.4), apart: rng.chance(0.5), drawn: rng.within(0, 5), float };
    let matrix = draft.typed_array(vec![n.clone(), n.clone()], float, Fill::Dominant);
    match (kind, m) {
        (Kind::Solve, Some(m)) => solve(draft, &plan, matrix, n, m),
        (Kind::Product, Some(m)) => product(draft, &plan, matrix, n, m),
        (Kind::Distances, Some(m)) => distances(draft, &plan, n, m),
        (Kind::Root, _) => root(draft, &plan, matrix, n),
        (Kind::Symmetric, _) => symmetric(draft, &plan, matrix, n),
        _ => eliminate(draft, &plan, matrix, n),
    }
}

/// Choices common to all kinds.
struct Plan {
    /// Whether the other operand is stored transposed.
    turned: bool,
    apart: bool,
    drawn: usize,
    float: ScalarType,
}

impl Plan {
    fn at(&self, t: Tensor, row: &Formula, column: &Formula) -> Formula {
        t.at(self.place(row, column)).into()
    }

    fn place(&self, row: &Formula, column: &Formula) -> Vec<Formula> {
        if self.turned { vec![column.clone(), row.clone()] } else { vec![row.clone(), column.clone()] }
    }
}

fn pair(t: Tensor, row: &Formula, column: &Formula) -> Formula {
    t.at([row.clone(), column.clone()]).into()
}

/// From an iterator, exclusive, to `n`.
fn beyond(outer: usize, n: &Formula) -> Dim {
    Dim { from: Edge::Of(outer, 1), to: Edge::At(n.clone()) }
}

fn solve(mut draft: Draft<'_>, plan: &Plan, l: Tensor, n: Formula, m: Formula) -> Result<Written, String> {
    let x = draft.array(plan.place(&n, &m));
    let pen = draft.pen();
    // Rows, columns of the right-hand side, earlier rows; and the right-looking form.
    let dims = [dim(n.clone()), dim(m), Dim { from: Edge::At(0.into()), to: Edge::Of(0, 0) }, beyond(0, &n)];
    let subtract = |nest: &mut NestBuilder<'_>, row: &Formula, column: &Formula, k: &Formula| {
        nest.sub(x.at(plan.place(row, column)), pen.product(vec![pair(l, row, k), plan.at(x, k, column)]));
    };
    let divide = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.assign(x.at(plan.place(&i[0], &i[1])), plan.at(x, &i[0], &i[1]) / pair(l, &i[0], &i[0]));
    };
    let form = (plan.drawn + pen.spelling.order) % 4;
    draft.nest(|nest| match form {
        0 | 1 => {
            let outer = if form == 0 { [0, 1] } else { [1, 0] };
            pen.loops(nest, &dims, &outer, 0, &mut |nest, i| {
                pen.continued(nest, &dims, &[2], 0, i, &mut |nest, i| subtract(nest, &i[0], &i[1], &i[2]));
                divide(nest, i);
            });
        }
        2 => pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            pen.continued(nest, &dims, &[2, 1], 0, i, &mut |nest, i| subtract(nest, &i[0], &i[1], &i[2]));
            pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| divide(nest, i));
        }),
        _ => pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| divide(nest, i));
            pen.continued(nest, &dims, &[3, 1], 0, i, &mut |nest, i| subtract(nest, &i[3], &i[1], &i[0]));
        }),
    });
    draft.finish()
}

fn product(mut draft: Draft<'_>, plan: &Plan, u: Tensor, n: Formula, m: Formula) -> Result<Written, String> {
    let b = draft.array(plan.place(&n, &m));
    let pen = draft.pen();
    let dims = [dim(n.clone()), dim(m), beyond(0, &n)];
    let add = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.add(
            b.at(plan.place(&i[0], &i[1])),
            pen.product(vec![pair(u, &i[0], &i[2]), plan.at(b, &i[2], &i[1])]),
        );
    };
    let scale = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.assign(
            b.at(plan.place(&i[0], &i[1])),
            pen.product(vec![pair(u, &i[0], &i[0]), plan.at(b, &i[0], &i[1])]),
        );
    };
    let form = (plan.drawn + pen.spelling.order) % 3;
    draft.nest(|nest| {
        if form == 2 {
            return pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
                pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| scale(nest, i));
                pen.continued(nest, &dims, &[2, 1], 0, i, &mut |nest, i| add(nest, i));
            });
        }
        let outer = if form == 0 { [0, 1] } else { [1, 0] };
        pen.loops(nest, &dims, &outer, 0, &mut |nest, i| {
            scale(nest, i);
            pen.continued(nest, &dims, &[2], 0, i, &mut |nest, i| add(nest, i));
        });
    });
    draft.finish()
}

fn distances(mut draft: Draft<'_>, plan: &Plan, n: Formula, m: Formula) -> Result<Written, String> {
    let (x, d) = (draft.array(plan.place(&n, &m)), draft.array(vec![n.clone(), n.clone()]));
    let pen = draft.pen();
    let dims = [dim(n), Dim { from: Edge::At(0.into()), to: Edge::Of(0, 0) }, dim(m)];
    let orders = [[0, 1, 2], [0, 2, 1], [2, 0, 1]];
    let order = orders[(plan.drawn + pen.spelling.order) % orders.len()];
    let separate = pen.distributed(plan.apart) || order != [0, 1, 2];
    let start = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.assign(d.at(i[..2].to_vec()), pen.lit(0.0));
    };
    let add = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let difference = || plan.at(x, &i[0], &i[2]) - plan.at(x, &i[1], &i[2]);
        nest.add(d.at(i[..2].to_vec()), difference() * difference());
    };
    draft.nest(|nest| {
        if separate {
            pen.loops(nest, &dims, &[0, 1], 0, &mut |nest, i| start(nest, i));
            return pen.loops(nest, &dims, &order, 0, &mut |nest, i| add(nest, i));
        }
        pen.loops(nest, &dims, &[0, 1], 0, &mut |nest, i| {
            start(nest, i);
            pen.continued(nest, &dims, &[2], 0, i, &mut |nest, i| add(nest, i));
        });
    });
    draft.finish()
}

fn eliminate(mut draft: Draft<'_>, plan: &Plan, a: Tensor, n: Formula) -> Result<Written, String> {
    let pen = draft.pen();
    let dims = [dim(n.clone()), beyond(0, &n), beyond(0, &n)];
    let divide = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.assign(a.at(plan.place(&i[1], &i[0])), plan.at(a, &i[1], &i[0]) / plan.at(a, &i[0], &i[0]));
    };
    let update = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let (left, right) = (plan.at(a, &i[1], &i[0]), plan.at(a, &i[0], &i[2]));
        nest.sub(a.at(plan.place(&i[1], &i[2])), pen.product(vec![left, right]));
    };
    let swapped = (plan.drawn + pen.spelling.order) % 2 == 1;
    let separate = pen.distributed(plan.apart) || swapped;
    draft.nest(|nest| {
        pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            if separate {
                pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| divide(nest, i));
                let order = if swapped { [2, 1] } else { [1, 2] };
                return pen.continued(nest, &dims, &order, 0, i, &mut |nest, i| update(nest, i));
            }
            pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| {
                divide(nest, i);
                pen.continued(nest, &dims, &[2], 0, i, &mut |nest, i| update(nest, i));
            });
        });
    });
    draft.finish()
}

fn root(mut draft: Draft<'_>, plan: &Plan, a: Tensor, n: Formula) -> Result<Written, String> {
    let pen = draft.pen();
    // Columns, earlier columns, rows from the diagonal on, rows below it.
    let dims = [
        dim(n.clone()),
        Dim { from: Edge::At(0.into()), to: Edge::Of(0, 0) },
        Dim { from: Edge::Of(0, 0), to: Edge::At(n.clone()) },
        beyond(0, &n),
    ];
    let order = if (plan.drawn + pen.spelling.order) % 2 == 1 { [2, 1] } else { [1, 2] };
    draft.nest(|nest| {
        pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            pen.continued(nest, &dims, &order, 0, i, &mut |nest, i| {
                let product = vec![plan.at(a, &i[2], &i[1]), plan.at(a, &i[0], &i[1])];
                nest.sub(a.at(plan.place(&i[2], &i[0])), pen.product(product));
            });
            let pivot = plan.at(a, &i[0], &i[0]);
            nest.assign(a.at(plan.place(&i[0], &i[0])), pen.call(MathFn::Sqrt, pivot));
            pen.continued(nest, &dims, &[3], 0, i, &mut |nest, i| {
                let quotient = plan.at(a, &i[3], &i[0]) / plan.at(a, &i[0], &i[0]);
                nest.assign(a.at(plan.place(&i[3], &i[0])), quotient);
            });
        });
    });
    draft.finish()
}

fn symmetric(mut draft: Draft<'_>, plan: &Plan, a: Tensor, n: Formula) -> Result<Written, String> {
    let column = draft.typed_array(vec![n.clone()], plan.float, Fill::Uniform);
    let pen = draft.pen();
    let dims = [dim(n.clone()), beyond(0, &n), Dim { from: Edge::Of(0, 1), to: Edge::Of(1, 1) }];
    let separate = pen.distributed(plan.apart);
    let keep = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        nest.assign(column.at([i[1].clone()]), plan.at(a, &i[1], &i[0]));
    };
    let divide = |nest: &mut NestBuilder<'_>, i: &[Formula]| {
        let quotient = plan.at(a, &i[1], &i[0]) / plan.at(a, &i[0], &i[0]);
        nest.assign(a.at(plan.place(&i[1], &i[0])), quotient);
    };
    draft.nest(|nest| {
        pen.loops(nest, &dims, &[0], 0, &mut |nest, i| {
            if separate {
                pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| keep(nest, i));
                pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| divide(nest, i));
            } else {
                pen.continued(nest, &dims, &[1], 0, i, &mut |nest, i| {
                    keep(nest, i);
                    divide(nest, i);
                });
            }
            pen.continued(nest, &dims, &[1, 2], 0, i, &mut |nest, i| {
                let product = vec![plan.at(a, &i[1], &i[0]), column.at([i[2].clone()]).into()];
                nest.sub(a.at(plan.place(&i[1], &i[2])), pen.product(product));
            });
        });
    });
    draft.finish()
}

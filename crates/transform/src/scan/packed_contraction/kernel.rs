//! The register tile: accumulators loaded, updated over the depth of a block, and stored.

use super::layout::{Extent, Layout, assign, either, extreme, zero};
use crate::scan::{bounds_from, guarded};
use crate::schedule::packed_contraction::Part;
use oxeye_ir::{Access, Affine, ArrayId, Bound, BoundTerm, Constraint, Execution, Expr, Node, Update, Var};

impl Layout<'_> {
    /// The condition that some element of the register tile is in the domain.
    pub(super) fn live_tile(&self) -> Vec<Constraint> {
        let over = self.tile_extents();
        self.limits.row_column.iter().map(|r| extreme(r, &over, false)).collect()
    }

    /// The code for one register tile. Tiles that are entirely in the domain are loaded and stored in vectors, the
    /// others element by element through a copy.
    pub(super) fn register_tile(&self) -> Vec<Node> {
        let (acc, edge) = (self.in_tile(self.acc), self.in_tile(self.edge));
        let over = self.tile_extents();
        let edges = self.tile_edges();
        let full: Vec<Constraint> = edges.iter().map(|r| extreme(r, &over, true)).collect();
        let valid: Vec<Constraint> = edges.iter().map(|r| r.substitute(&|v| self.tile_point(v))).collect();
        let target = self.tile_target();
        // Elements of a tile that are in the domain, and the others.
        let partly = |kept: Node, others: Option<Node>| {
            let (rows, columns) = (self.side(Part::Rows), self.side(Part::Columns));
            match (rows.valid_lanes(), columns.valid_lanes(), &others) {
                (Some(n_rows), Some(n_columns), None) if self.limits.row_column.is_empty() => {
                    let vector = Execution::Vector { lanes: None, reductions: Vec::new() };
                    let inner = columns.lane.up_to(n_columns, vector, vec![kept]);
                    rows.lane.up_to(n_rows, Execution::Sequential, inner)
                }
                _ => self.plain(guarded(&valid, vec![kept], others.into_iter().collect())),
            }
        };
        // Stores the accumulators to the target, all or part of them.
        let store = |update: Update| {
            let whole = self.unrolled(assign(target.clone(), update, acc.clone().into()));
            let spill = self.unrolled(assign(edge.clone(), Update::Assign, acc.clone().into()));
            let kept = assign(target.clone(), update, edge.clone().into());
            either(&full, whole, [spill, partly(kept, None)].concat())
        };
        let mut nodes = Vec::new();
        if self.is_apart {
            nodes.extend(self.unrolled(assign(acc.clone(), Update::Assign, zero(self.ty))));
            nodes.extend(self.depth_sweep());
            nodes.extend(store(Update::Add));
        } else {
            let load = assign(edge.clone(), Update::Assign, target.clone().into());
            let blank = assign(edge.clone(), Update::Assign, zero(self.ty));
            let whole = self.unrolled(assign(acc.clone(), Update::Assign, target.clone().into()));
            let from_edge = self.unrolled(assign(acc.clone(), Update::Assign, edge.clone().into()));
            nodes.extend(either(&full, whole, [partly(load, Some(blank)), from_edge].concat()));
            nodes.extend(self.depth_sweep());
            nodes.extend(store(Update::Assign));
        }
        nodes
    }

    /// The loop over depth: an update of every accumulator.
    fn depth_sweep(&self) -> Vec<Node> {
        let update = assign(self.in_tile(self.acc), self.stmt.update, self.kernel_value());
        let body = self.unrolled(update);
        let Some(sweep) = &self.counters.sweep else {
            return self.over_depth(Execution::Sequential, body);
        };
        let over = self.tile_extents();
        let (mut lower, mut upper) = (vec![BoundTerm::from(Affine::constant(0))], self.depth_end().0);
        let joint = self.limits.row_depth.iter().chain(&self.limits.column_depth);
        for (limit, id) in joint.filter_map(|limit| Some((limit, sweep.id()?))) {
            let best = extreme(limit, &over, false);
            let local = best.substitute(&|v| self.depth_at(v));
            let (from, to) = bounds_from(&[local], id);
            lower.extend(from);
            upper.extend(to);
        }
        sweep.between(Bound(lower), Bound(upper), Execution::Sequential, body)
    }

    /// The statement's value, with its operands read from their packed blocks.
    fn kernel_value(&self) -> Expr {
        let mut value = self.stmt.value.clone();
        self.replace_operands(&mut value);
        let temporaries: Vec<ArrayId> = self.packed.iter().map(|k| k.array).collect();
        substitute_outside(&mut value, &temporaries, &|v| match v {
            Var::Loop(l) => self.statement.map.get(&l).cloned(),
            Var::Sym(_) => None,
        });
        value
    }

    /// The element of the target that corresponds to an element of the tile.
    fn tile_target(&self) -> Access {
        let mut target = self.stmt.target.clone();
        for index in &mut target.indices {
            *index = self.mapped(index);
            index.substitute(&|v| self.tile_point(v));
        }
        target
    }

    fn tile_point(&self, v: Var) -> Option<Affine> {
        self.side(Part::Rows).at(v).or_else(|| self.side(Part::Columns).at(v))
    }

    fn tile_extents(&self) -> [Extent; 2] {
        [self.side(Part::Rows), self.side(Part::Columns)].map(|side| Extent {
            var: side.point,
            first: side.first,
            size: side.width,
        })
    }

    /// The constraints that keep an element of the tile in the domain: ends of rows and columns, and joint ones.
    fn tile_edges(&self) -> Vec<Constraint> {
        let sides = [self.side(Part::Rows), self.side(Part::Columns)];
        let ends = sides.iter().flat_map(|s| s.ends.iter().copied());
        ends.chain(&self.limits.row_column).cloned().collect()
    }

    fn in_tile(&self, array: ArrayId) -> Access {
        let [rows, columns] = [Part::Rows, Part::Columns].map(|part| self.side(part).lane.value());
        Access::new(array, [rows, columns])
    }

    /// A loop over every element of the tile, in vector registers.
    fn unrolled(&self, body: Node) -> Vec<Node> {
        let vector = Execution::Vector { lanes: Some(self.c.blocks.lanes), reductions: Vec::new() };
        self.over_tile(Execution::Unrolled, vector, vec![body])
    }

    /// Plain loops over every element of the tile.
    fn plain(&self, body: Vec<Node>) -> Vec<Node> {
        self.over_tile(Execution::Sequential, Execution::Sequential, body)
    }

    fn over_tile(&self, rows: Execution, columns: Execution, body: Vec<Node>) -> Vec<Node> {
        let over = |part: Part, execution, body| {
            let side = self.side(part);
            side.lane.up_to(side.width, execution, body)
        };
        over(Part::Rows, rows, over(Part::Columns, columns, body))
    }
}

/// Substitutes variables except inside reads of the given arrays.
fn substitute_outside(e: &mut Expr, arrays: &[ArrayId], with: &dyn Fn(Var) -> Option<Affine>) {
    match e {
        Expr::Read(a) if arrays.contains(&a.array) => {}
        Expr::Affine(a) => *a = a.substitute(with),
        _ => e.children_mut().into_iter().for_each(|c| substitute_outside(c, arrays, with)),
    }
}

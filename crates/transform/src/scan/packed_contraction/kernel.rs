//! The register tile: accumulators loaded, updated over the depth of a block, and stored.

use super::layout::{Extent, Layout, assign, counted, extreme, zero};
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
        // Stores the accumulators to the target, all or part of them.
        let store = |update: Update| {
            let whole = vec![self.unrolled(assign(target.clone(), update, acc.clone().into()))];
            let spill = self.unrolled(assign(edge.clone(), Update::Assign, acc.clone().into()));
            let kept = assign(target.clone(), update, edge.clone().into());
            guarded(&full, whole, vec![spill, self.plain(guarded(&valid, vec![kept], Vec::new()))])
        };
        let mut nodes = Vec::new();
        if self.is_apart {
            nodes.push(self.unrolled(assign(acc.clone(), Update::Assign, zero(self.ty))));
            nodes.push(self.depth_sweep());
            nodes.extend(store(Update::Add));
        } else {
            let load = assign(edge.clone(), Update::Assign, target.clone().into());
            let blank = assign(edge.clone(), Update::Assign, zero(self.ty));
            let whole = vec![self.unrolled(assign(acc.clone(), Update::Assign, target.clone().into()))];
            let partial = vec![
                self.plain(guarded(&valid, vec![load], vec![blank])),
                self.unrolled(assign(acc.clone(), Update::Assign, edge.clone().into())),
            ];
            nodes.extend(guarded(&full, whole, partial));
            nodes.push(self.depth_sweep());
            nodes.extend(store(Update::Assign));
        }
        nodes
    }

    /// The loop over depth: an update of every accumulator.
    fn depth_sweep(&self) -> Node {
        let [kk, ..] = self.points;
        let over = self.tile_extents();
        let (mut lower, mut upper) = (vec![BoundTerm::from(Affine::constant(0))], self.depth_upper().0);
        for limit in self.limits.row_depth.iter().chain(&self.limits.column_depth) {
            let best = extreme(limit, &over, false);
            let local = best.substitute(&|v| (v == Var::Loop(self.c.depth)).then(|| self.depth_point()));
            let (from, to) = bounds_from(&[local], kk);
            lower.extend(from);
            upper.extend(to);
        }
        let update = assign(self.in_tile(self.acc), self.stmt.update, self.kernel_value());
        let body = vec![self.unrolled(update)];
        counted((kk, "kk"), Bound(lower), Bound(upper), 1, Execution::Sequential, body)
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
        let [_, ii, jj] = self.points;
        match v {
            Var::Loop(l) if l == self.c.row => Some(self.side(Part::Rows).first + Affine::var(ii)),
            Var::Loop(l) if l == self.c.column => Some(self.side(Part::Columns).first + Affine::var(jj)),
            Var::Loop(l) if l == self.c.depth => Some(self.depth_point()),
            _ => None,
        }
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
        let ends = sides.iter().flat_map(|s| s.single.iter().filter(|r| r.expr.coefficient(s.point) < 0));
        ends.chain(&self.limits.row_column).cloned().collect()
    }

    fn in_tile(&self, array: ArrayId) -> Access {
        let [_, ii, jj] = self.points;
        Access::new(array, [Affine::var(ii), Affine::var(jj)])
    }

    /// A loop over every element of the tile, in vector registers.
    fn unrolled(&self, body: Node) -> Node {
        let vector = Execution::Vector { lanes: Some(self.c.blocks.lanes), reductions: Vec::new() };
        self.over_tile(Execution::Unrolled, vector, vec![body])
    }

    /// Plain loops over every element of the tile.
    fn plain(&self, body: Vec<Node>) -> Node {
        self.over_tile(Execution::Sequential, Execution::Sequential, body)
    }

    fn over_tile(&self, rows: Execution, columns: Execution, body: Vec<Node>) -> Node {
        let [_, ii, jj] = self.points;
        let inner = counted((jj, "jj"), 0, self.c.blocks.nr, 1, columns, body);
        counted((ii, "ii"), 0, self.c.blocks.mr, 1, rows, vec![inner])
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

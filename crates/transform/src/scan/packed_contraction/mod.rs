//! The explicit loops of a packed contraction: block loops, packing, the register tile.

mod kernel;
mod layout;
mod packing;

use self::layout::{Counters, Extent, Layout, Limits, Packed, extreme, start};
use crate::refusal::Reason;
use crate::scan::{Generator, guarded};
use crate::schedule::packed_contraction::Shape;
use crate::schedule::packed_contraction::{Blocks, Contraction, Part};
use oxeye_ir::{ArrayId, Constraint, Execution, Expr, LoopId, Node, ScalarType, Storage, WorkSharing};

impl Generator<'_> {
    /// The explicit loops of a contraction.
    pub(crate) fn contraction(
        &mut self,
        c: &Contraction,
        outer: &[LoopId],
        context: &[Constraint],
    ) -> Result<Vec<Node>, Reason> {
        let statement = &self.schedule.statements[c.statements[0]];
        let Some(stmt) = statement.assignment() else { return Err(Reason::unsupported("not an assignment")) };
        let ty = self.program.array(stmt.target.array).element;
        let limits = Limits::of(c, context, self.schedule)?;
        let parallel_outer = outer.iter().rev().copied().find(|l| {
            self.schedule.loop_node(*l).is_some_and(|b| matches!(b.execution, Execution::Parallel { .. }))
        });
        let [rows, columns, depth] = [&c.rows, &c.columns, &c.depth]
            .map(|axes| axes.iter().map(|axis| axis.point).collect::<Vec<LoopId>>());
        let shape = Shape { statement, rows: &rows, columns: &columns, depth: &depth };
        let mut operands = Vec::new();
        shape
            .operands(&stmt.value, &mut operands)
            .ok_or_else(|| Reason::unsupported("the value is not a function of row and column operands"))?;
        let packed = self.packed_operands(c, ty, &operands, parallel_outer);
        let counters = Counters::of(c, self.schedule);
        let around = counters.around_tile().or_else(|| innermost_block(c)).or(parallel_outer);
        let mut tile =
            |name: &str| self.temporary(name, ty, &[c.blocks.mr, c.blocks.nr], Storage::Temp(around));
        let (acc, edge) = (tile("acc"), tile("edge"));
        let layout = Layout {
            c,
            statement,
            stmt,
            ty,
            limits,
            counters,
            packed,
            acc,
            edge,
            is_apart: c.accumulates_apart(&self.schedule.statements),
            is_parallel: c.parallel.is_some() && parallel_outer.is_none(),
        };
        Ok(layout.blocks())
    }

    /// Temporaries for the distinct operands of rows and of columns.
    fn packed_operands(
        &mut self,
        c: &Contraction,
        ty: ScalarType,
        operands: &[(Part, &Expr)],
        parallel_outer: Option<LoopId>,
    ) -> Vec<Packed> {
        let Blocks { mr, nr, rows_first, .. } = c.blocks;
        let depth: i64 = c.depth.iter().map(|axis| axis.size).product();
        let [_, inner] = c.outer_and_inner();
        // Each block inside has a part of its own, if there are several.
        let in_block = inner.iter().rev().find(|axis| !axis.is_whole()).map(|axis| axis.block);
        let mut packed: Vec<Packed> = Vec::new();
        for (side, e) in operands {
            if packed.iter().any(|k| k.value == **e) {
                continue;
            }
            let base_name =
                e.reads().first().map_or("operand".to_owned(), |a| self.program.array(a.array).name.clone());
            let (axes, width) = if *side == Part::Rows { (&c.rows, mr) } else { (&c.columns, nr) };
            let is_outer = (*side == Part::Rows) == rows_first;
            let storage = Storage::Temp(in_block.filter(|_| !is_outer).or(parallel_outer));
            let panels = axes.iter().map(|axis| axis.size).product::<i64>() / width;
            let array = self.temporary(&format!("{base_name}_packed"), ty, &[panels, depth, width], storage);
            packed.push(Packed { side: *side, value: (*e).clone(), array });
        }
        packed
    }

    fn temporary(&mut self, name: &str, ty: ScalarType, shape: &[i64], storage: Storage) -> ArrayId {
        crate::schedule::fresh_array(
            self.program,
            name,
            ty,
            shape.iter().map(|n| Expr::from(*n)).collect(),
            storage,
        )
    }
}

/// The innermost loop over blocks that is written.
fn innermost_block(c: &Contraction) -> Option<LoopId> {
    let [outer, inner] = c.outer_and_inner();
    let mut all = outer.iter().chain(&c.depth).chain(inner);
    all.rfind(|axis| !axis.is_whole()).map(|axis| axis.block)
}

impl Layout<'_> {
    /// Loops over blocks of columns, depth and rows, with loops over panels inside; or with rows and columns in turn.
    fn blocks(&self) -> Vec<Node> {
        let c = self.c;
        let (rows, columns) = (self.side(Part::Rows), self.side(Part::Columns));
        let tiles = guarded(&self.live_tile(), self.register_tile(), Vec::new());
        let tiles = rows.panels(Execution::Sequential, tiles);
        let tiles = columns.panels(Execution::Sequential, tiles);
        let over: Vec<Extent> =
            c.axes().map(|axis| Extent { var: axis.point, first: start(axis), size: axis.size }).collect();
        let (outer, inner) = if c.blocks.rows_first { (rows, columns) } else { (columns, rows) };
        let with_depth = if c.blocks.rows_first { &self.limits.column_depth } else { &self.limits.row_depth };
        let joint = self.limits.row_column.iter().chain(with_depth);
        let live: Vec<Constraint> = joint.map(|r| extreme(r, &over, false)).collect();
        let in_block = guarded(&live, [self.pack(&inner, Execution::Sequential), tiles].concat(), Vec::new());
        let inner_blocks = self.over_blocks(inner.part, self.team(c.parallel.unwrap_or_default()), in_block);
        let pack_outer = self.pack(&outer, self.team(WorkSharing::Static));
        let in_depth = [pack_outer, inner_blocks].concat();
        let depth_blocks = self.over_blocks(Part::Outer, Execution::Sequential, in_depth);
        self.over_blocks(outer.part, Execution::Sequential, depth_blocks)
    }
}

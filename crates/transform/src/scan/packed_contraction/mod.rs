//! The explicit loops of a packed contraction: block loops, packing, the register tile.

mod kernel;
mod layout;
mod packing;

use self::layout::{Extent, Layout, Limits, Packed, counted, extreme};
use crate::refusal::Reason;
use crate::scan::{Generator, guarded};
use crate::schedule::packed_contraction::Shape;
use crate::schedule::packed_contraction::{Blocks, Contraction, Part};
use oxeye_ir::{
    Affine, ArrayId, Bound, Constraint, Execution, Expr, LoopId, Node, ScalarType, Storage, WorkSharing,
};

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
        let shape = Shape { statement, row: c.row, column: c.column, depth: c.depth };
        let mut operands = Vec::new();
        shape
            .operands(&stmt.value, &mut operands)
            .ok_or_else(|| Reason::unsupported("the value is not a function of row and column operands"))?;
        let packed = self.packed_operands(c, ty, &operands, parallel_outer);
        let [.., p] = c.counters;
        let mut tile =
            |name: &str| self.temporary(name, ty, &[c.blocks.mr, c.blocks.nr], Storage::Temp(Some(p)));
        let (acc, edge) = (tile("acc"), tile("edge"));
        let fresh = |k: u32| LoopId(self.schedule.next_loop + k);
        let layout = Layout {
            c,
            statement,
            stmt,
            ty,
            limits,
            points: [fresh(0), fresh(1), fresh(2)],
            packed,
            acc,
            edge,
            is_apart: c.accumulates_apart(&self.schedule.statements),
            is_parallel: c.parallel.is_some() && parallel_outer.is_none(),
        };
        Ok(vec![layout.blocks()])
    }

    /// Temporaries for the distinct operands of rows and of columns.
    fn packed_operands(
        &mut self,
        c: &Contraction,
        ty: ScalarType,
        operands: &[(Part, &Expr)],
        parallel_outer: Option<LoopId>,
    ) -> Vec<Packed> {
        let Blocks { mr, nr, mc, nc, kc, .. } = c.blocks;
        let [_, _, ib, ..] = c.counters;
        let mut packed: Vec<Packed> = Vec::new();
        for (side, e) in operands {
            if packed.iter().any(|k| k.value == **e) {
                continue;
            }
            let base_name =
                e.reads().first().map_or("operand".to_owned(), |a| self.program.array(a.array).name.clone());
            let (panels, width, storage) = if *side == Part::Rows {
                (mc / mr, mr, Storage::Temp(Some(ib)))
            } else {
                (nc / nr, nr, Storage::Temp(parallel_outer))
            };
            let array = self.temporary(&format!("{base_name}_packed"), ty, &[panels, kc, width], storage);
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

impl Layout<'_> {
    /// Loops over blocks of columns, depth and rows, with loops over panels inside.
    fn blocks(&self) -> Node {
        let c = self.c;
        let [jb, kb, ib, ..] = c.counters;
        let Blocks { mc, nc, kc, .. } = c.blocks;
        let (rows, columns) = (self.side(Part::Rows), self.side(Part::Columns));
        let tiles = guarded(&self.live_tile(), self.register_tile(), Vec::new());
        let tiles = rows.panels(self, Execution::Sequential, tiles);
        let tiles = columns.panels(self, Execution::Sequential, vec![tiles]);
        let over = [
            Extent { var: c.row, first: Affine::var(ib), size: mc },
            Extent { var: c.column, first: Affine::var(jb), size: nc },
            Extent { var: c.depth, first: Affine::var(kb), size: kc },
        ];
        let joint = self.limits.row_column.iter().chain(&self.limits.row_depth);
        let live: Vec<Constraint> = joint.map(|r| extreme(r, &over, false)).collect();
        let row_blocks = counted(
            (ib, "ib"),
            c.base[2].clone(),
            Bound(rows.upper.to_vec()),
            mc,
            self.team(c.parallel.unwrap_or_default()),
            guarded(&live, vec![self.pack(&rows, Execution::Sequential), tiles], Vec::new()),
        );
        let depth_blocks = counted(
            (kb, "kb"),
            c.base[1].clone(),
            Bound(self.limits.upper_depth.clone()),
            kc,
            Execution::Sequential,
            vec![self.pack(&columns, self.team(WorkSharing::Static)), row_blocks],
        );
        counted(
            (jb, "jb"),
            c.base[0].clone(),
            Bound(columns.upper.to_vec()),
            nc,
            Execution::Sequential,
            vec![depth_blocks],
        )
    }
}

//! The ingredients of a contraction's loops: ranges of rows, columns and depth, packed operands, counters.

use crate::refusal::Reason;
use crate::scan::bounds_from;
use crate::schedule::packed_contraction::{Blocks, Contraction, Part};
use crate::schedule::space::{gist, project};
use crate::schedule::{Schedule, Statement};
use oxeye_ir::{
    Access, Affine, ArrayId, Bound, BoundTerm, Constraint, Execution, Expr, Loop, LoopId, Node, ScalarType,
    Stmt, StmtId, Update, Var, WorkSharing,
};

/// A contraction about to be generated.
pub(super) struct Layout<'a> {
    pub(super) c: &'a Contraction,
    pub(super) statement: &'a Statement,
    pub(super) stmt: &'a Stmt,
    /// The type of all elements.
    pub(super) ty: ScalarType,
    pub(super) limits: Limits,
    /// Counters inside a block or tile: depth, rows, columns.
    pub(super) points: [LoopId; 3],
    pub(super) packed: Vec<Packed>,
    /// The accumulators.
    pub(super) acc: ArrayId,
    /// A copy of the accumulators in memory, for tiles that are not full.
    pub(super) edge: ArrayId,
    /// Sums start from zero and are added to the target at the end.
    pub(super) is_apart: bool,
    /// Blocks are shared among threads here, not by an enclosing loop.
    pub(super) is_parallel: bool,
}

/// One packed operand.
pub(super) struct Packed {
    pub(super) side: Part,
    pub(super) value: Expr,
    pub(super) array: ArrayId,
}

/// The domain's constraints on each axis and each pair of axes, beyond what the enclosing loops guarantee.
pub(super) struct Limits {
    pub(super) row: Vec<Constraint>,
    pub(super) column: Vec<Constraint>,
    pub(super) row_column: Vec<Constraint>,
    pub(super) row_depth: Vec<Constraint>,
    pub(super) column_depth: Vec<Constraint>,
    /// Ends of the axes.
    pub(super) upper_row: Vec<BoundTerm>,
    pub(super) upper_column: Vec<BoundTerm>,
    pub(super) upper_depth: Vec<BoundTerm>,
}

impl Limits {
    pub(super) fn of(c: &Contraction, context: &[Constraint], schedule: &Schedule) -> Result<Self, Reason> {
        let (row, column, depth) = (c.row, c.column, c.depth);
        let axis = |id: LoopId| -> Vec<Constraint> {
            let away: Vec<LoopId> = [row, column, depth].into_iter().filter(|l| *l != id).collect();
            gist(&project(&c.core, &away), context).into_iter().filter(|r| r.expr.uses(id)).collect()
        };
        let (rows_i, rows_j, rows_k) = (axis(row), axis(column), axis(depth));
        let joint = |a: LoopId, b: LoopId, away: LoopId, known: [&[Constraint]; 2]| -> Vec<Constraint> {
            let known = [context, known[0], known[1]].concat();
            gist(&project(&c.core, &[away]), &known)
                .into_iter()
                .filter(|r| r.expr.uses(a) && r.expr.uses(b))
                .collect()
        };
        let upper = |rows: &[Constraint], id: LoopId| bounds_from(rows, id).1;
        let (upper_row, upper_column, upper_depth) =
            (upper(&rows_i, row), upper(&rows_j, column), upper(&rows_k, depth));
        if upper_row.is_empty() || upper_column.is_empty() || upper_depth.is_empty() {
            return Err(Reason::unsupported("a loop of the contraction has no upper bound"));
        }
        for (rows, id, base) in
            [(&rows_i, row, &c.base[2]), (&rows_j, column, &c.base[0]), (&rows_k, depth, &c.base[1])]
        {
            // The blocks start at the base, so it must be the only lower bound of the loop.
            if bounds_from(rows, id).0.iter().any(|t| *t != BoundTerm::from(base.clone())) {
                return Err(Reason::unsupported(format!(
                    "loop {} has several lower bounds",
                    schedule.loop_name(id)
                )));
            }
        }
        Ok(Self {
            row_column: joint(row, column, depth, [&rows_i, &rows_j]),
            row_depth: joint(row, depth, column, [&rows_i, &rows_k]),
            column_depth: joint(column, depth, row, [&rows_j, &rows_k]),
            row: rows_i,
            column: rows_j,
            upper_row,
            upper_column,
            upper_depth,
        })
    }
}

/// One of the two packed sides: rows or columns.
pub(super) struct Side<'a> {
    pub(super) part: Part,
    /// The axis.
    pub(super) point: LoopId,
    /// Counter of panels, and of the elements across a panel.
    pub(super) panel: (LoopId, &'static str),
    pub(super) lane: (LoopId, &'static str),
    /// Where the panel starts.
    pub(super) first: Affine,
    /// Elements across a panel.
    pub(super) width: i64,
    pub(super) single: &'a [Constraint],
    /// Limits that involve both the axis and depth.
    pub(super) with_depth: &'a [Constraint],
    pub(super) upper: &'a [BoundTerm],
    block: LoopId,
    n_panels: i64,
}

impl Side<'_> {
    /// The loop over the panels of a block.
    pub(super) fn panels(&self, layout: &Layout<'_>, execution: Execution, body: Vec<Node>) -> Node {
        let upper = layout.within_block(self.upper, self.block, self.width, self.n_panels);
        counted(self.panel, 0, upper, 1, execution, body)
    }
}

impl Layout<'_> {
    pub(super) fn side(&self, part: Part) -> Side<'_> {
        let [jb, _, ib, q, p] = self.c.counters;
        let [_, ii, jj] = self.points;
        let Blocks { mr, nr, mc, nc, .. } = self.c.blocks;
        let first =
            |block: LoopId, panel: LoopId, width| Affine::var(block).add_scaled(&Affine::var(panel), width);
        if part == Part::Rows {
            Side {
                part,
                point: self.c.row,
                panel: (p, "p"),
                lane: (ii, "ii"),
                first: first(ib, p, mr),
                width: mr,
                single: &self.limits.row,
                with_depth: &self.limits.row_depth,
                upper: &self.limits.upper_row,
                block: ib,
                n_panels: mc / mr,
            }
        } else {
            Side {
                part,
                point: self.c.column,
                panel: (q, "q"),
                lane: (jj, "jj"),
                first: first(jb, q, nr),
                width: nr,
                single: &self.limits.column,
                with_depth: &self.limits.column_depth,
                upper: &self.limits.upper_column,
                block: jb,
                n_panels: nc / nr,
            }
        }
    }

    /// The depth of an iteration inside a block.
    pub(super) fn depth_point(&self) -> Affine {
        Affine::var(self.c.counters[1]) + Affine::var(self.points[0])
    }

    /// The end of the loop over a block's depth.
    pub(super) fn depth_upper(&self) -> Bound {
        self.within_block(&self.limits.upper_depth, self.c.counters[1], 1, self.c.blocks.kc)
    }

    /// The end of a loop that counts pieces of `width` iterations inside a block, of which there are at most `most`.
    fn within_block(&self, upper: &[BoundTerm], block: LoopId, width: i64, most: i64) -> Bound {
        let mut terms = vec![BoundTerm::from(Affine::constant(most))];
        terms.extend(upper.iter().map(|t| match t {
            BoundTerm::Affine { expr, divisor } => BoundTerm::Affine {
                expr: expr.clone().add_scaled(&Affine::var(block), -divisor),
                divisor: divisor * width,
            },
            data => data.clone(),
        }));
        Bound(terms)
    }

    /// The execution of a loop over blocks or panels that threads may share.
    pub(super) fn team(&self, sharing: WorkSharing) -> Execution {
        if self.is_parallel {
            Execution::Parallel { reductions: Vec::new(), sharing }
        } else {
            Execution::Sequential
        }
    }

    /// The expression in terms of the schedule's loops.
    pub(super) fn mapped(&self, e: &Expr) -> Expr {
        let mut e = e.clone();
        e.substitute(&|v| match v {
            Var::Loop(l) => self.statement.map.get(&l).cloned(),
            Var::Sym(_) => None,
        });
        e
    }
}

/// A rectangle of points for which a condition is needed.
pub(super) struct Extent {
    pub(super) var: LoopId,
    pub(super) first: Affine,
    pub(super) size: i64,
}

/// The least (`full`) or greatest value of a row over a rectangle.
pub(super) fn extreme(row: &Constraint, extents: &[Extent], full: bool) -> Constraint {
    let mut expr = row.expr.clone();
    for e in extents {
        let c = row.expr.coefficient(e.var);
        let at = if (c > 0) == full { e.first.clone() } else { e.first.clone().offset(e.size - 1) };
        expr = expr.substitute(&|v| (v == Var::Loop(e.var)).then(|| at.clone()));
    }
    Constraint { expr, relation: row.relation }
}

pub(super) fn counted(
    (id, name): (LoopId, &str),
    lower: impl Into<Bound>,
    upper: impl Into<Bound>,
    step: i64,
    execution: Execution,
    body: Vec<Node>,
) -> Node {
    Node::Loop(Loop {
        id,
        name: name.to_owned(),
        ty: ScalarType::I32,
        lower: lower.into(),
        upper: upper.into(),
        step,
        execution,
        body,
    })
}

pub(super) fn assign(target: Access, update: Update, value: Expr) -> Node {
    Node::Stmt(Stmt { id: StmtId(0), target, update, value, line: None })
}

pub(super) fn zero(ty: ScalarType) -> Expr {
    let text = if ty == ScalarType::F32 { "0.0f" } else { "0.0" };
    Expr::Float { text: text.into(), ty }
}

//! The ingredients of a contraction's loops: ranges of rows, columns and depth, packed operands, counters.

use crate::refusal::Reason;
use crate::scan::{bounds_from, guarded};
use crate::schedule::packed_contraction::{Axis, Contraction, Part};
use crate::schedule::space::{gist, project};
use crate::schedule::{Schedule, Statement};
use oxeye_ir::{
    Access, Affine, ArrayId, Bound, BoundTerm, Constraint, Execution, Expr, Loop, LoopId, Node, Relation,
    ScalarType, Stmt, StmtId, Update, Var, WorkSharing,
};

/// A contraction about to be generated.
pub(super) struct Layout<'a> {
    pub(super) c: &'a Contraction,
    pub(super) statement: &'a Statement,
    pub(super) stmt: &'a Stmt,
    /// The type of all elements.
    pub(super) ty: ScalarType,
    pub(super) limits: Limits,
    pub(super) counters: Counters,
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

/// A loop's id and name; none for a loop of one iteration, which is not written.
#[derive(Clone)]
pub(super) struct Counter(Option<(LoopId, String)>);

impl Counter {
    pub(super) fn value(&self) -> Affine {
        self.0.as_ref().map_or_else(Affine::default, |(id, _)| Affine::var(*id))
    }

    pub(super) fn id(&self) -> Option<LoopId> {
        self.0.as_ref().map(|(id, _)| *id)
    }

    /// The loop that counts from zero.
    pub(super) fn up_to(&self, upper: impl Into<Bound>, execution: Execution, body: Vec<Node>) -> Vec<Node> {
        self.between(0, upper, execution, body)
    }

    pub(super) fn between(
        &self,
        lower: impl Into<Bound>,
        upper: impl Into<Bound>,
        execution: Execution,
        body: Vec<Node>,
    ) -> Vec<Node> {
        match self.0.clone() {
            Some(counter) => vec![counted(counter, lower, upper, 1, execution, body)],
            None => body,
        }
    }
}

/// Counters inside a block or tile.
pub(super) struct Counters {
    /// One for each loop over rows: of its iterations in a block, and for the last of those in a register tile.
    pub(super) rows: Vec<Counter>,
    /// Likewise for columns.
    pub(super) columns: Vec<Counter>,
    /// One for each loop over depth, of its iterations in a block.
    pub(super) depth: Vec<Counter>,
    /// Of panels of columns and of rows.
    pub(super) panels: [Counter; 2],
    /// Of all iterations over depth in a block, where blocks have all iterations of all loops but the first.
    pub(super) sweep: Option<Counter>,
}

impl Counters {
    pub(super) fn of(c: &Contraction, schedule: &Schedule) -> Self {
        let mut next = schedule.next_loop;
        let mut fresh = |name: String| {
            next += 1;
            Counter(Some((LoopId(next - 1), name)))
        };
        // Loops over which a block has more than one dimension keep their names, doubled.
        let mut of = |axes: &[Axis], last: Option<&str>| -> Vec<Counter> {
            let n = axes.len();
            let one = |(k, axis): (usize, &Axis)| match last {
                Some(last) if k + 1 == n => fresh(last.to_owned()),
                _ if axis.size == 1 => Counter(None),
                _ => fresh(axis.name.repeat(2)),
            };
            axes.iter().enumerate().map(one).collect()
        };
        let depth = of(&c.depth, (c.depth.len() == 1).then_some("kk"));
        let (rows, columns) = (of(&c.rows, Some("ii")), of(&c.columns, Some("jj")));
        let are_even = c.depth[1..].iter().all(Axis::is_even);
        let sweep = match &depth[..] {
            [only] => Some(only.clone()),
            _ => are_even.then(|| fresh("kk".into())),
        };
        let sides = [(&c.columns, c.blocks.nr, "q"), (&c.rows, c.blocks.mr, "p")];
        let mut ids = c.panels.into_iter();
        let panels = sides.map(|(axes, width, name)| {
            let is_one = axes.last().is_some_and(|axis| axis.is_whole() && axis.size == width);
            Counter(ids.next().filter(|_| !is_one).map(|id| (id, name.to_owned())))
        });
        Self { rows, columns, depth, panels, sweep }
    }

    /// The innermost loop around a register tile that is written.
    pub(super) fn around_tile(&self) -> Option<LoopId> {
        let [columns, rows] = &self.panels;
        let outer =
            |counters: &'_ [Counter]| counters[..counters.len() - 1].iter().rev().find_map(Counter::id);
        let in_rows = rows.id().or_else(|| outer(&self.rows));
        in_rows.or_else(|| columns.id()).or_else(|| outer(&self.columns))
    }
}

/// One packed operand.
pub(super) struct Packed {
    pub(super) side: Part,
    pub(super) value: Expr,
    pub(super) array: ArrayId,
}

/// What the domain says of one loop, beyond what the enclosing loops guarantee.
pub(super) struct Limit {
    pub(super) own: Vec<Constraint>,
    /// Its ends.
    pub(super) upper: Vec<BoundTerm>,
}

/// The domain's constraints on each loop, and on pairs of them if there are three, beyond what the enclosing loops
/// guarantee.
pub(super) struct Limits {
    pub(super) rows: Vec<Limit>,
    pub(super) columns: Vec<Limit>,
    pub(super) depth: Vec<Limit>,
    pub(super) row_column: Vec<Constraint>,
    pub(super) row_depth: Vec<Constraint>,
    pub(super) column_depth: Vec<Constraint>,
}

impl Limits {
    pub(super) fn of(c: &Contraction, context: &[Constraint], schedule: &Schedule) -> Result<Self, Reason> {
        let points: Vec<LoopId> = c.axes().map(|axis| axis.point).collect();
        let limit = |axis: &Axis| -> Result<Limit, Reason> {
            let id = axis.point;
            let away: Vec<LoopId> = points.iter().copied().filter(|l| *l != id).collect();
            let own: Vec<Constraint> =
                gist(&project(&c.core, &away), context).into_iter().filter(|r| r.expr.uses(id)).collect();
            let (lower, upper) = bounds_from(&own, id);
            if upper.is_empty() {
                return Err(Reason::unsupported("a loop of the contraction has no upper bound"));
            }
            // The blocks start at the first iteration, so it must be the only lower bound of the loop.
            if lower.iter().any(|t| *t != BoundTerm::from(axis.first.clone())) {
                return Err(Reason::unsupported(format!(
                    "loop {} has several lower bounds",
                    schedule.loop_name(id)
                )));
            }
            Ok(Limit { own, upper })
        };
        let all = |axes: &[Axis]| axes.iter().map(limit).collect::<Result<Vec<_>, _>>();
        let (rows, columns, depth) = (all(&c.rows)?, all(&c.columns)?, all(&c.depth)?);
        let joint = |[a, b]: [&[Axis]; 2], known: [&[Limit]; 2]| -> Vec<Constraint> {
            let ([a], [b]) = (a, b) else { return Vec::new() };
            let away: Vec<LoopId> =
                points.iter().copied().filter(|l| ![a.point, b.point].contains(l)).collect();
            let known = known.iter().flat_map(|limits| limits.iter().flat_map(|limit| limit.own.clone()));
            let known: Vec<Constraint> = context.iter().cloned().chain(known).collect();
            gist(&project(&c.core, &away), &known)
                .into_iter()
                .filter(|r| r.expr.uses(a.point) && r.expr.uses(b.point))
                .collect()
        };
        Ok(Self {
            row_column: joint([&c.rows, &c.columns], [&rows, &columns]),
            row_depth: joint([&c.rows, &c.depth], [&rows, &depth]),
            column_depth: joint([&c.columns, &c.depth], [&columns, &depth]),
            rows,
            columns,
            depth,
        })
    }
}

/// One of the two packed sides: rows or columns.
pub(super) struct Side<'a> {
    pub(super) part: Part,
    /// The loop that the register tile is cut from.
    pub(super) point: LoopId,
    /// Counter of panels, and of the elements across a panel.
    pub(super) panel: &'a Counter,
    pub(super) lane: &'a Counter,
    /// Where the panel starts.
    pub(super) first: Affine,
    /// Elements across a panel.
    pub(super) width: i64,
    /// What ends a panel that is not full.
    pub(super) ends: Vec<&'a Constraint>,
    /// Where it ends, if that is one place for all of its depth.
    pub(super) end: Option<Affine>,
    /// Limits that involve both the axis and depth.
    pub(super) with_depth: &'a [Constraint],
    axes: &'a [Axis],
    limits: &'a [Limit],
    counters: &'a [Counter],
    n_panels: i64,
}

impl Side<'_> {
    /// The loops over the panels of a block.
    pub(super) fn panels(&self, execution: Execution, body: Vec<Node>) -> Vec<Node> {
        let last = self.axes.len() - 1;
        let outermost = self.counters[..last].iter().position(|counter| counter.id().is_some());
        let own = |k: usize| match outermost.unwrap_or(last) == k {
            true => execution.clone(),
            false => Execution::Sequential,
        };
        let upper = within_block(&self.axes[last], &self.limits[last], self.width, self.n_panels);
        let mut nodes = self.panel.up_to(upper, own(last), body);
        for (k, axis) in self.axes[..last].iter().enumerate().rev() {
            let upper = within_block(axis, &self.limits[k], 1, axis.size);
            nodes = self.counters[k].up_to(upper, own(k), nodes);
        }
        nodes
    }

    /// The number of the panel in its block.
    pub(super) fn panel_number(&self) -> Affine {
        let before = self.axes.iter().zip(self.counters).take(self.axes.len() - 1);
        let outer =
            before.fold(Affine::default(), |n, (axis, counter)| n.scaled(axis.size) + counter.value());
        outer.scaled(self.n_panels) + self.panel.value()
    }

    /// What stands for an iteration of one of its loops.
    pub(super) fn at(&self, v: Var) -> Option<Affine> {
        let Var::Loop(id) = v else { return None };
        if id == self.point {
            return Some(self.first.clone() + self.lane.value());
        }
        let k = self.axes.iter().position(|axis| axis.point == id)?;
        Some(start(&self.axes[k]) + self.counters[k].value())
    }

    /// How many lanes of a panel are in the domain, if that is one number for all of its depth.
    pub(super) fn valid_lanes(&self) -> Option<Bound> {
        if self.ends.is_empty() {
            return Some(Bound::from(self.width));
        }
        let n = self.end.clone()? - self.first.clone();
        let is_less = n.as_constant().is_some_and(|n| n <= self.width);
        let width = Some(Affine::constant(self.width)).filter(|_| !is_less);
        Some(Bound(width.into_iter().chain([n]).map(BoundTerm::from).collect()))
    }
}

/// The first iteration of a block.
pub(super) fn start(axis: &Axis) -> Affine {
    if axis.is_whole() { axis.first.clone() } else { Affine::var(axis.block) }
}

/// The end of a loop that counts pieces of `width` iterations inside a block, of which there are at most `most`.
fn within_block(axis: &Axis, limit: &Limit, width: i64, most: i64) -> Bound {
    if axis.is_whole()
        && let Some(extent) = axis.extent
    {
        return Bound::from((extent + width - 1) / width);
    }
    if axis.is_even() {
        return Bound::from(most);
    }
    let mut terms = vec![BoundTerm::from(Affine::constant(most))];
    terms.extend(limit.upper.iter().map(|t| match t {
        BoundTerm::Affine { expr, divisor } => BoundTerm::Affine {
            expr: expr.clone().add_scaled(&start(axis), -divisor),
            divisor: divisor * width,
        },
        data => data.clone(),
    }));
    Bound(terms)
}

impl Layout<'_> {
    pub(super) fn side(&self, part: Part) -> Side<'_> {
        let (c, limits) = (self.c, &self.limits);
        let [columns, rows] = &self.counters.panels;
        let (axes, limits, counters, width, panel, with_depth) = match part {
            Part::Rows => (&c.rows, &limits.rows, &self.counters.rows, c.blocks.mr, rows, &limits.row_depth),
            _ => {
                let with_depth = &limits.column_depth;
                (&c.columns, &limits.columns, &self.counters.columns, c.blocks.nr, columns, with_depth)
            }
        };
        let last = axes.len() - 1;
        let axis = &axes[last];
        let are_full = axis.extent.is_some_and(|n| n % width == 0);
        let ends = limits[last].own.iter().filter(|r| r.expr.coefficient(axis.point) < 0 && !are_full);
        let end = match &limits[last].upper[..] {
            [BoundTerm::Affine { expr, divisor: 1 }] if with_depth.is_empty() => Some(expr.clone()),
            _ => None,
        };
        Side {
            part,
            point: axis.point,
            panel,
            lane: &counters[last],
            first: start(axis) + panel.value().scaled(width),
            width,
            ends: ends.collect(),
            end,
            with_depth,
            axes,
            limits,
            counters,
            n_panels: axis.size / width,
        }
    }

    /// What stands for an iteration of one of the loops over depth.
    pub(super) fn depth_at(&self, v: Var) -> Option<Affine> {
        let Var::Loop(id) = v else { return None };
        let k = self.c.depth.iter().position(|axis| axis.point == id)?;
        Some(start(&self.c.depth[k]) + self.counters.depth[k].value())
    }

    /// The number of an iteration over depth in its block.
    pub(super) fn depth_number(&self) -> Affine {
        let all = self.c.depth.iter().zip(&self.counters.depth);
        all.fold(Affine::default(), |n, (axis, counter)| n.scaled(axis.size) + counter.value())
    }

    /// Loops over a block's depth; the innermost has this execution.
    pub(super) fn over_depth(&self, inner: Execution, body: Vec<Node>) -> Vec<Node> {
        let mut nodes = body;
        let mut execution = inner;
        for (k, axis) in self.c.depth.iter().enumerate().rev() {
            let upper = within_block(axis, &self.limits.depth[k], 1, axis.size);
            let is_written = self.counters.depth[k].id().is_some();
            nodes = self.counters.depth[k].up_to(upper, execution.clone(), nodes);
            if is_written {
                execution = Execution::Sequential;
            }
        }
        nodes
    }

    /// How many iterations over depth a block has: those of the first loop, times all of the others.
    pub(super) fn depth_end(&self) -> Bound {
        let n_inner: i64 = self.c.depth[1..].iter().map(|axis| axis.size).product();
        let Bound(terms) = within_block(&self.c.depth[0], &self.limits.depth[0], 1, self.c.depth[0].size);
        Bound(terms.into_iter().map(|term| times(term, n_inner)).collect())
    }

    /// Loops over the blocks of these axes, the outermost with this execution.
    pub(super) fn over_blocks(&self, part: Part, execution: Execution, body: Vec<Node>) -> Vec<Node> {
        let (axes, limits, name) = match part {
            Part::Rows => (&self.c.rows, &self.limits.rows, "ib"),
            Part::Columns => (&self.c.columns, &self.limits.columns, "jb"),
            _ => (&self.c.depth, &self.limits.depth, "kb"),
        };
        let mut nodes = body;
        let outermost = axes.iter().position(|axis| !axis.is_whole());
        for (k, axis) in axes.iter().enumerate().rev().filter(|(_, axis)| !axis.is_whole()) {
            let own = if Some(k) == outermost { execution.clone() } else { Execution::Sequential };
            let upper = Bound(limits[k].upper.clone());
            let name = if axes.len() > 1 { format!("{}b", axis.name) } else { name.to_owned() };
            let counter = (axis.block, name);
            nodes = vec![counted(counter, axis.first.clone(), upper, axis.size, own, nodes)];
        }
        nodes
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

/// So many times a bound.
fn times(term: BoundTerm, n: i64) -> BoundTerm {
    match term {
        BoundTerm::Affine { expr, divisor: 1 } => BoundTerm::Affine { expr: expr.scaled(n), divisor: 1 },
        other => other,
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

/// One or the other, where it is not known which.
pub(super) fn either(constraints: &[Constraint], then: Vec<Node>, otherwise: Vec<Node>) -> Vec<Node> {
    let value = |c: &Constraint| c.expr.as_constant().filter(|_| c.relation == Relation::NonNegative);
    if constraints.iter().filter_map(value).any(|n| n < 0) {
        return otherwise;
    }
    let open: Vec<Constraint> = constraints.iter().filter(|c| value(c).is_none()).cloned().collect();
    guarded(&open, then, otherwise)
}

pub(super) fn counted(
    (id, name): (LoopId, impl Into<String>),
    lower: impl Into<Bound>,
    upper: impl Into<Bound>,
    step: i64,
    execution: Execution,
    body: Vec<Node>,
) -> Node {
    Node::Loop(Loop {
        id,
        name: name.into(),
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
    let text = match ty {
        ScalarType::F32 => "0.0f",
        ScalarType::F64 => "0.0",
        _ => return Expr::from(0),
    };
    Expr::Float { text: text.into(), ty }
}

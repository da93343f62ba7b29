//! A packed contraction as a node of the schedule tree: its loops, its blocks, and the time of each access.

mod operands;

pub(crate) use operands::{Shape, fits_integer, has_type};

use super::statement::Statement;
use super::time::TimeStep;
use crate::refusal::{Reason, RefusalKind};
use oxeye_ir::{Affine, Constraint, LoopId, Update, Var, WorkSharing};
use serde::{Deserialize, Serialize};

/// Sizes of the blocks, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blocks {
    /// Rows of the register tile.
    pub mr: i64,
    /// Columns of the register tile, a multiple of `lanes`.
    pub nr: i64,
    /// Elements per vector.
    pub lanes: u32,
    /// Rows per packed block, a multiple of `mr`.
    pub mc: i64,
    /// Columns per packed block, a multiple of `nr`.
    pub nc: i64,
    /// Depth of packed blocks.
    pub kc: i64,
    /// Rows are packed in the outer loop over blocks, columns in the inner one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rows_first: bool,
}

fn bad(text: String) -> Reason {
    Reason::new(RefusalKind::BadArgument { argument: "blocks".into() }, text)
}

impl Blocks {
    /// Most rows and columns of a register tile, which is unrolled completely.
    const MAX_TILE: i64 = 64;
    /// Most elements of a packed block.
    const MAX_BLOCK: i64 = 1 << 26;

    /// Whether blocks of these sizes can be packed and computed.
    pub(crate) fn check(&self) -> Result<(), Reason> {
        let Blocks { mr, nr, lanes, mc, nc, kc, .. } = *self;
        let width = i64::from(lanes);
        if !(lanes.is_power_of_two() && (2..=64).contains(&lanes)) {
            return Err(bad(format!(
                "{lanes} vector lanes are not possible: their number is a power of two from 2 to 64"
            )));
        }
        if !(1..=Self::MAX_TILE).contains(&mr) || !(1..=Self::MAX_TILE).contains(&nr) || nr % width != 0 {
            return Err(bad(format!(
                "a register tile of {mr}x{nr} is not possible: sides are at most {}, columns a multiple of {lanes}",
                Self::MAX_TILE
            )));
        }
        let fits = |n: i64| (1..=Self::MAX_BLOCK).contains(&n);
        if !fits(mc) || !fits(nc) || !fits(kc) || mc % mr != 0 || nc % nr != 0 {
            return Err(bad(format!(
                "blocks of {mc}x{nc}x{kc} are not possible: rows must be a multiple of {mr}, columns of {nr}"
            )));
        }
        if !fits(mc.saturating_mul(kc)) || !fits(nc.saturating_mul(kc)) {
            return Err(bad(format!("blocks of {mc}x{nc}x{kc} are too large to pack")));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Depends on neither row, column nor depth: evaluated in the kernel.
    Outer,
    /// Rows (and depth): packed with the rows.
    Rows,
    /// Columns (and depth): packed with the columns.
    Columns,
    /// Both.
    Mixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    TargetLoad,
    TargetStore,
    PackRows,
    PackColumns,
    Inline,
}

/// One loop of a contraction, in blocks.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The loop itself.
    pub(crate) point: LoopId,
    /// Its name.
    pub(crate) name: String,
    /// Counter of its blocks.
    pub(crate) block: LoopId,
    /// Iterations in a block.
    pub(crate) size: i64,
    /// The first iteration of the first block.
    pub(crate) first: Affine,
    /// How many iterations there are, if that is known.
    pub(crate) extent: Option<i64>,
}

impl Axis {
    /// Whether all iterations are known to be in one block.
    pub(crate) fn is_whole(&self) -> bool {
        self.extent.is_some_and(|n| n <= self.size)
    }

    /// Whether all blocks are known to be full.
    pub(crate) fn is_even(&self) -> bool {
        self.extent.is_some_and(|n| n % self.size == 0)
    }
}

/// A planned packed contraction.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    /// The statement, and others that compute the same on complementary parts of the iteration space.
    pub(crate) statements: Vec<usize>,
    /// Loops over rows, outermost first; the register tile is cut from the last one.
    pub(crate) rows: Vec<Axis>,
    /// Likewise for columns.
    pub(crate) columns: Vec<Axis>,
    /// Loops that are summed over.
    pub(crate) depth: Vec<Axis>,
    /// Counters of column panels and row panels.
    pub(crate) panels: [LoopId; 2],
    pub(crate) blocks: Blocks,
    pub(crate) parallel: Option<WorkSharing>,
    pub(crate) roles: Vec<Role>,
    /// The statement's domain before blocking.
    pub(crate) core: Vec<Constraint>,
    /// Whether sums may be taken in another order.
    pub(crate) may_reorder: bool,
}

impl Contraction {
    pub(crate) fn axes(&self) -> impl Iterator<Item = &Axis> + '_ {
        self.columns.iter().chain(&self.depth).chain(&self.rows)
    }

    /// The axes whose blocks are outside, and those whose blocks are inside the loops over blocks of depth.
    pub(crate) fn outer_and_inner(&self) -> [&[Axis]; 2] {
        if self.blocks.rows_first { [&self.rows, &self.columns] } else { [&self.columns, &self.rows] }
    }

    /// Block counters and point loops, outermost first.
    pub(crate) fn all_loops(&self) -> impl Iterator<Item = LoopId> + '_ {
        let blocks = self.axes().map(|axis| axis.block);
        blocks.chain(self.panels).chain(self.axes().map(|axis| axis.point))
    }

    /// Whether iterations of this loop run concurrently: the first of the inner loops over blocks that has several, when
    /// parallel, and the vector lanes of columns.
    pub(crate) fn is_concurrent(&self, id: LoopId) -> bool {
        let [_, inner] = self.outer_and_inner();
        let shared = inner.iter().find(|axis| !axis.is_whole()).filter(|_| self.parallel.is_some());
        shared.is_some_and(|axis| axis.block == id)
            || self.columns.last().is_some_and(|axis| axis.point == id)
    }

    /// Replaces a loop around the contraction.
    pub(crate) fn substitute_loop(&mut self, id: LoopId, with: &Affine) {
        let f = |v: Var| (v == Var::Loop(id)).then(|| with.clone());
        self.core.iter_mut().for_each(|c| *c = c.substitute(&f));
        let axes = self.rows.iter_mut().chain(&mut self.columns).chain(&mut self.depth);
        axes.for_each(|axis| axis.first = axis.first.substitute(&f));
    }

    /// Whether sums start from zero in the register tile and are added to the target at the end.
    pub(crate) fn accumulates_apart(&self, statements: &[Statement]) -> bool {
        let update = statements[self.statements[0]].assignment().map(|s| s.update);
        self.may_reorder && matches!(update, Some(Update::Add | Update::Sub))
    }

    /// The loops around a register tile, and how many steps of them are around the packing of the outer and the inner side.
    fn prefix(&self) -> (Vec<TimeStep>, [usize; 2]) {
        let [outer, inner] = self.outer_and_inner();
        let blocks = |axes: &[Axis]| axes.iter().map(|axis| axis.block).collect::<Vec<_>>();
        let points = |axes: &[Axis], panel: LoopId| {
            let before = axes[..axes.len() - 1].iter().map(|axis| axis.point);
            before.chain([panel]).collect::<Vec<_>>()
        };
        let [columns, rows] = self.panels;
        let mut time = in_turn(&[blocks(outer), blocks(&self.depth)].concat());
        let around_outer = time.len();
        time.push(TimeStep::Position(1));
        time.extend(in_turn(&blocks(inner)));
        let around_inner = time.len();
        time.push(TimeStep::Position(1));
        time.extend(in_turn(&[points(&self.columns, columns), points(&self.rows, rows)].concat()));
        (time, [around_outer, around_inner])
    }

    /// The time at which an instance is computed.
    pub(crate) fn compute_time(&self) -> Vec<TimeStep> {
        let mut time = self.prefix().0;
        time.push(TimeStep::Position(1));
        let last = |axes: &[Axis]| axes.last().map(|axis| axis.point);
        let depth = self.depth.iter().map(|axis| axis.point);
        let loops: Vec<LoopId> = depth.chain(last(&self.rows)).chain(last(&self.columns)).collect();
        time.extend(in_turn(&loops));
        time.push(TimeStep::Position(0));
        time
    }

    /// The time of an access; for an accumulation against itself, the time of the computation.
    pub(crate) fn access_time(&self, access: usize, accumulation: bool) -> Vec<TimeStep> {
        let (mut time, [around_outer, around_inner]) = self.prefix();
        match self.roles[access] {
            _ if accumulation => return self.compute_time(),
            Role::Inline => return self.compute_time(),
            Role::PackColumns if !self.blocks.rows_first => time.truncate(around_outer),
            Role::PackRows if self.blocks.rows_first => time.truncate(around_outer),
            Role::PackColumns | Role::PackRows => time.truncate(around_inner),
            Role::TargetLoad | Role::TargetStore => {}
        }
        time.push(TimeStep::Position(if self.roles[access] == Role::TargetStore { 2 } else { 0 }));
        time
    }
}

/// Loops inside each other, with nothing beside them.
fn in_turn(loops: &[LoopId]) -> Vec<TimeStep> {
    let mut time = Vec::new();
    for (k, id) in loops.iter().enumerate() {
        time.extend((k > 0).then_some(TimeStep::Position(0)));
        time.push(TimeStep::Loop(*id));
    }
    time
}

//! A packed contraction as a node of the schedule tree: its loops, its blocks, and the time of each access.

mod operands;

pub(crate) use operands::{Shape, has_type};

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
        let Blocks { mr, nr, lanes, mc, nc, kc } = *self;
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

/// A planned packed contraction.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    /// The statement, and others that compute the same on complementary parts of the iteration space.
    pub(crate) statements: Vec<usize>,
    pub(crate) row: LoopId,
    pub(crate) column: LoopId,
    pub(crate) depth: LoopId,
    /// Counters of column blocks, depth blocks, row blocks, column panels and row panels.
    pub(crate) counters: [LoopId; 5],
    pub(crate) blocks: Blocks,
    pub(crate) parallel: Option<WorkSharing>,
    pub(crate) roles: Vec<Role>,
    /// The statement's domain before blocking.
    pub(crate) core: Vec<Constraint>,
    /// First column, depth and row of the first block.
    pub(crate) base: [Affine; 3],
    pub(crate) reassociate: bool,
}

impl Contraction {
    /// Block counters and point loops, outermost first.
    pub(crate) fn all_loops(&self) -> impl Iterator<Item = LoopId> + '_ {
        self.counters.iter().copied().chain([self.depth, self.row, self.column])
    }

    /// Whether iterations of this loop run concurrently: row blocks, when parallel, and the vector lanes of columns.
    pub(crate) fn is_concurrent(&self, id: LoopId) -> bool {
        (self.parallel.is_some() && id == self.counters[2]) || id == self.column
    }

    /// Replaces a loop around the contraction.
    pub(crate) fn substitute_loop(&mut self, id: LoopId, with: &Affine) {
        let f = |v: Var| (v == Var::Loop(id)).then(|| with.clone());
        self.core.iter_mut().for_each(|c| *c = c.substitute(&f));
        self.base.iter_mut().for_each(|b| *b = b.substitute(&f));
    }

    /// Whether sums start from zero in the register tile and are added to the target at the end.
    pub(crate) fn accumulates_apart(&self, statements: &[Statement]) -> bool {
        let update = statements[self.statements[0]].assignment().map(|s| s.update);
        self.reassociate && matches!(update, Some(Update::Add | Update::Sub))
    }

    fn prefix(&self) -> Vec<TimeStep> {
        use TimeStep::{Loop, Position};
        let [jc, kc, ic, jr, ir] = self.counters;
        vec![
            Loop(jc),
            Position(0),
            Loop(kc),
            Position(1),
            Loop(ic),
            Position(1),
            Loop(jr),
            Position(0),
            Loop(ir),
        ]
    }

    /// The time at which an instance is computed.
    pub(crate) fn compute_time(&self) -> Vec<TimeStep> {
        use TimeStep::{Loop, Position};
        let mut time = self.prefix();
        time.extend([Position(1), Loop(self.depth), Position(0), Loop(self.row), Position(0)]);
        time.extend([Loop(self.column), Position(0)]);
        time
    }

    /// The time of an access; for an accumulation against itself, the time of the computation.
    pub(crate) fn access_time(&self, access: usize, accumulation: bool) -> Vec<TimeStep> {
        let mut time = self.prefix();
        match self.roles[access] {
            _ if accumulation => return self.compute_time(),
            Role::Inline => return self.compute_time(),
            Role::PackColumns => time.truncate(3),
            Role::PackRows => time.truncate(5),
            Role::TargetLoad | Role::TargetStore => {}
        }
        time.push(TimeStep::Position(if self.roles[access] == Role::TargetStore { 2 } else { 0 }));
        time
    }
}

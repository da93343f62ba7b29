//! Unroll: repeats the body of a loop.
//!
//! *Rewrite*: `for i S(i)` → `for it { S(4it); S(4it+1); S(4it+2); S(4it+3) }`, with a plain loop for the partial tile; a loop of as
//! many iterations is written out.
//!
//! *Legal when*: always, since the order does not change.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use super::tile;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::Schedule;
use oxeye_ir::{Execution, LoopId};

/// Most copies of a body.
pub(super) const MAX_FACTOR: i64 = 64;

step! {
    /// Repeats the body of a loop.
    Unroll: "unroll",
    "repeat the body of a loop",
    "{at} by {factor}",
    .varied("factor", (2, 16), "{at} unrolled {factor}x");
    /// The loop.
    at: LoopId = Kind::Loop,
    /// Copies of the body.
    factor: i64 = Kind::Count { least: 2, most: MAX_FACTOR },
}

impl Step for Unroll {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let is_whole = lookup::iterations(schedule, self.at) == Some(self.factor)
            && !lookup::loop_node(schedule, self.at)?.reverse;
        if !is_whole {
            tile::strip_mine(schedule, &[self.at], &[self.factor])?;
        }
        lookup::loop_node_mut(schedule, self.at)?.run_as(Execution::Unrolled);
        Ok(())
    }
}

//! Unroll: the body of a loop repeated.
//!
//! *Rewrite*: `for i S(i)` → `for it { S(4it); S(4it+1); S(4it+2); S(4it+3) }`, with a plain loop for the partial tile.
//!
//! *Legal when*: always, since order stays.

use super::tile;
use crate::refusal::Reason;
use crate::schedule::Schedule;
use oxeye_ir::{Execution, LoopId};

/// Copies of a body, at most.
pub(super) const MAX_FACTOR: i64 = 64;

pub(crate) fn edit(schedule: &mut Schedule, at: LoopId, factor: i64) -> Result<(), Reason> {
    if factor > MAX_FACTOR {
        return Err(Reason::unsupported(format!("a body is repeated at most {MAX_FACTOR} times")));
    }
    tile::edit(schedule, &[at], &[factor])?;
    let loop_node = schedule.loop_node_mut(at).ok_or_else(|| super::no_loop(at))?;
    loop_node.execution = Execution::Unrolled;
    Ok(())
}

//! Reverse: a loop runs from its last iteration to its first.
//!
//! *Rewrite*: `for i = 0 … n−1` → `for i = n−1 … 0`.
//!
//! *Legal when* the judge finds no dependence carried by the loop.

use crate::refusal::Reason;
use crate::schedule::Schedule;
use oxeye_ir::LoopId;

pub(crate) fn edit(schedule: &mut Schedule, at: LoopId) -> Result<(), Reason> {
    let loop_node = schedule.loop_node_mut(at).ok_or_else(|| super::no_loop(at))?;
    loop_node.reverse = !loop_node.reverse;
    Ok(())
}

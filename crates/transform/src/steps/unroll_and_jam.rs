//! Unroll and jam: a loop unrolled, the copies of its inner loops fused.
//!
//! *Rewrite*: `for i for k S(i, k)` → `for it for k { S(4it, k); … S(4it+3, k) }`, with plain loops for the partial
//! tile. Elements that the copies share stay in registers.
//!
//! *Legal when* the judge finds the loop interchangeable with those inside. *Refused when* the nest is not perfect.

use super::unroll::MAX_FACTOR;
use super::{interchange, tile};
use crate::refusal::Reason;
use crate::schedule::Schedule;
use oxeye_ir::{Execution, LoopId};

pub(crate) fn edit(schedule: &mut Schedule, at: LoopId, factor: i64) -> Result<(), Reason> {
    super::loop_node(schedule, at)?;
    let inner = super::perfect_chain(schedule, at)[1..].to_vec();
    let Some(first) = inner.first().copied() else {
        return Err(Reason::unsupported(format!("loop {} holds no loop to jam", schedule.loop_name(at))));
    };
    if factor > MAX_FACTOR {
        return Err(Reason::unsupported(format!("a body is repeated at most {MAX_FACTOR} times")));
    }
    tile::edit(schedule, &[at], &[factor])?;
    let mut order = inner;
    order.push(at);
    interchange::permute_chain(schedule, at, &order)?;
    let loop_node = schedule.loop_node_mut(at).ok_or_else(|| super::no_loop(at))?;
    loop_node.execution = Execution::Unrolled;
    loop_node.separate = Vec::new();
    let loop_node = schedule.loop_node_mut(first).ok_or_else(|| super::no_loop(first))?;
    loop_node.separate = vec![at];
    Ok(())
}

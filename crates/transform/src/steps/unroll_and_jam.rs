//! Unroll-and-jam: unrolls a loop and fuses the copies of its inner loops.
//!
//! *Rewrite*: `for i for k S(i, k)` → `for it for k { S(4it, k); … S(4it+3, k) }`, with plain loops for the partial
//! tile. Elements that the copies share stay in registers.
//!
//! *Legal when* the judge finds the loop interchangeable with those inside. *Refused when* the nest is not perfect.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use super::unroll::MAX_FACTOR;
use super::{interchange, tile};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::Schedule;
use oxeye_ir::{Execution, LoopId};

step! {
    /// Unrolls a loop and fuses the copies of its inner loops.
    UnrollAndJam: "unroll_and_jam",
    "unroll a loop and fuse the copies of its inner loops",
    "{at} by {factor}",
    .varied("factor", (2, 16), "{at} jammed {factor}x");
    /// The loop.
    at: LoopId = Kind::Loop,
    /// Copies of the body.
    factor: i64 = Kind::Count { least: 2, most: MAX_FACTOR },
}

impl Step for UnrollAndJam {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let Self { at, factor } = *self;
        let mut order = lookup::perfect_chain(schedule, at)[1..].to_vec();
        let Some(first) = order.first().copied() else {
            return Err(Reason::new(
                RefusalKind::NotPerfectlyNested,
                format!("loop {} holds no loop to jam", schedule.loop_name(at)),
            ));
        };
        tile::strip_mine(schedule, &[at], &[factor])?;
        order.push(at);
        interchange::permute_chain(schedule, at, &order)?;
        let loop_node = lookup::loop_node_mut(schedule, at)?;
        loop_node.run_as(Execution::Unrolled);
        loop_node.separate = Vec::new();
        lookup::loop_node_mut(schedule, first)?.separate = vec![at];
        Ok(())
    }
}

//! Vectorize: iterations in vector lanes.
//!
//! *Rewrite*: `for i S` → `#pragma omp simd` over `i`; accumulations into scalars, and into elements that the loop does
//! not move away from, become reductions.
//!
//! *Legal when* the judge finds no dependence between different iterations. *Refused when* the loop holds loops, or is
//! already concurrent.

use super::parallelize::needed_reductions;
use crate::Policy;
use crate::refusal::Reason;
use crate::schedule::{Schedule, Tree};
use oxeye_ir::{Execution, LoopId};

pub(crate) fn edit(schedule: &mut Schedule, at: LoopId, policy: Policy) -> Result<(), Reason> {
    let loop_node = super::loop_node(schedule, at)?;
    if loop_node.body.iter().any(|t| !matches!(t, Tree::Leaf(_))) {
        return Err(Reason::unsupported(format!("loop {} is not innermost", schedule.loop_name(at))));
    }
    if loop_node.execution != Execution::Sequential {
        return Err(Reason::unsupported(format!(
            "loop {} already runs concurrently",
            schedule.loop_name(at)
        )));
    }
    let reductions = needed_reductions(
        schedule,
        at,
        policy,
        |_| true,
        |reductions| Execution::Vector { lanes: None, reductions },
    )?;
    let loop_node = schedule.loop_node_mut(at).ok_or_else(|| super::no_loop(at))?;
    loop_node.execution = Execution::Vector { lanes: None, reductions };
    Ok(())
}

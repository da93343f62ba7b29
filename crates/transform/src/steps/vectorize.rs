//! Vectorize: runs iterations in vector lanes.
//!
//! *Rewrite*: `for i S` → `#pragma omp simd` over `i`; accumulations into scalars, and into elements that do not change
//! with the loop, become reductions.
//!
//! *Legal when* the judge finds no dependence between different iterations. *Refused when* the loop contains loops that are not
//! written out, or is already concurrent.

use super::argument::Kind;
use super::lookup;
use super::parallelize::needed_reductions;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::{Schedule, Tree};
use oxeye_ir::{Execution, LoopId};

step! {
    /// Runs the iterations of an innermost loop in vector lanes.
    Vectorize: "vectorize",
    "run the iterations of a loop in vector lanes",
    "{at}";
    /// The loop.
    at: LoopId = Kind::Loop,
}

impl Step for Vectorize {
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason> {
        let loop_node = lookup::loop_node(schedule, self.at)?;
        if !loop_node.body.iter().all(is_written_out) {
            return Err(Reason::unsupported(format!(
                "loop {} is not innermost",
                schedule.loop_name(self.at)
            )));
        }
        if loop_node.execution != Execution::Sequential {
            let name = schedule.loop_name(self.at);
            return Err(Reason::unsupported(format!("loop {name} already runs concurrently")));
        }
        let execution = |reductions| Execution::Vector { lanes: None, reductions };
        let reductions = needed_reductions(schedule, self.at, policy, |_, _, _, _| true, execution)?;
        lookup::loop_node_mut(schedule, self.at)?.run_as(execution(reductions));
        Ok(())
    }
}

/// Whether this is a statement, or a loop of a few iterations that are repeated in the text, so that nothing of it is left but
/// statements.
pub(crate) fn is_written_out(tree: &Tree) -> bool {
    match tree {
        Tree::Leaf(_) => true,
        Tree::Loop(l) => l.execution == Execution::Unrolled && l.body.iter().all(is_written_out),
        Tree::PackedContraction(_) => false,
    }
}

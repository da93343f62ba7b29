//! Reverse: runs a loop from its last iteration to its first.
//!
//! *Rewrite*: `for i = 0 … n−1` → `for i = n−1 … 0`.
//!
//! *Legal when* the judge finds no dependence carried by the loop.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::Schedule;
use oxeye_ir::LoopId;

step! {
    /// Runs a loop from its last iteration to its first.
    Reverse: "reverse",
    "run a loop backwards",
    "{at}";
    /// The loop.
    at: LoopId = Kind::Loop,
}

impl Step for Reverse {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let loop_node = lookup::loop_node_mut(schedule, self.at)?;
        loop_node.reverse = !loop_node.reverse;
        Ok(())
    }
}

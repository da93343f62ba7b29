//! Batch: gathers the iterations in which there is something to do, and computes these in vector lanes.
//!
//! *Rewrite*: `for i if (c(i)) x[i] = f(a[i])` → for every 64 iterations, three loops: what `f` reads is copied into lanes where `c`
//! holds; `f` is computed lane by lane, without a condition; what it gave is stored. What is stored stays in its order, and nothing
//! is read or computed that was not before. Compilers make no vectors of such a loop: they would have to compute, or store, where
//! the condition does not hold.
//!
//! *Legal when* the judge finds no dependence between different iterations but that of what one stores on what another stores, such
//! as terms of a sum. *Refused when* the loop contains loops, or other conditions than those around all of its work, or reads again
//! what it may have stored in the same iteration.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use super::vectorize::is_written_out;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::Schedule;
use oxeye_ir::{Execution, LoopId};

/// Iterations that are looked at for one batch: what they read and give stays in the first-level cache.
pub(crate) const USUAL_SIZE: i64 = 64;
const MOST: i64 = 1024;

step! {
    /// Gathers the iterations in which there is something to do, and computes these in vector lanes.
    Batch: "batch",
    "gather iterations whose condition holds, and compute these in vector lanes",
    "{at} of {size}",
    .varied("size", (16, 256), "batches of {size}");
    /// The loop.
    at: LoopId = Kind::Loop,
    /// Iterations that are looked at for one batch.
    size: i64 = Kind::Count { least: 2, most: MOST },
}

impl Step for Batch {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let Self { at, size } = *self;
        let loop_node = lookup::loop_node(schedule, at)?;
        let is_innermost = loop_node.body.iter().all(is_written_out);
        if !is_innermost || loop_node.reverse || loop_node.execution != Execution::Sequential {
            return Err(Reason::unsupported(format!(
                "loop {} is no innermost one that runs forwards and in order",
                schedule.loop_name(at)
            )));
        }
        let loop_node = lookup::loop_node_mut(schedule, at)?;
        loop_node.run_as(Execution::Vector { lanes: None, reductions: Vec::new() });
        loop_node.batch = Some(size);
        Ok(())
    }
}

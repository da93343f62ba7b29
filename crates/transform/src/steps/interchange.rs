//! Interchange: swaps two loops of a perfect nest.
//!
//! *Rewrite*: `for i for j S` → `for j for i S`; bounds are recomputed, so triangular loops work.
//!
//! *Legal when* the judge finds no dependence with direction (<, >). *Refused when* the nest between the two loops is not
//! perfect.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::{Schedule, Tree};
use oxeye_ir::LoopId;

step! {
    /// Swaps two loops of a perfect nest.
    Interchange: "interchange",
    "swap two perfectly nested loops",
    "{outer} {inner}";
    /// The outer loop.
    outer: LoopId = Kind::Loop,
    /// A loop perfectly nested in it.
    inner: LoopId = Kind::Inside { outer: "outer", perfectly: true },
}

impl Step for Interchange {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let chain = lookup::perfect_chain(schedule, self.outer);
        let distance = chain.iter().position(|l| *l == self.inner).unwrap_or(0);
        let mut order: Vec<LoopId> = chain[..=distance].to_vec();
        order.swap(0, distance);
        permute_chain(schedule, self.outer, &order)
    }
}

/// Rewrites the perfect chain that starts at `top` so that its loops come in `order`.
pub(crate) fn permute_chain(schedule: &mut Schedule, top: LoopId, order: &[LoopId]) -> Result<(), Reason> {
    let mut loop_nodes = Vec::new();
    for id in order {
        loop_nodes.push(lookup::loop_node(schedule, *id)?.clone());
    }
    let chain = lookup::perfect_chain(schedule, top);
    let last = chain[order.len() - 1];
    let mut body = lookup::loop_node(schedule, last)?.body.clone();
    for mut loop_node in loop_nodes.into_iter().rev() {
        loop_node.body = body;
        body = vec![Tree::Loop(loop_node)];
    }
    let (siblings, k) = lookup::siblings_mut(schedule, top)?;
    siblings.splice(k..=k, body);
    Ok(())
}

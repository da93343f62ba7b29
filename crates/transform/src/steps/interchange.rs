//! Interchange: two loops of a perfect nest change places.
//!
//! *Rewrite*: `for i for j S` → `for j for i S`; bounds are recomputed, so triangular loops work.
//!
//! *Legal when* the judge finds no dependence with direction (<, >). *Refused when* the nest between the two loops is not
//! perfect.

use crate::refusal::Reason;
use crate::schedule::{Schedule, Tree};
use oxeye_ir::LoopId;

pub(crate) fn edit(schedule: &mut Schedule, outer: LoopId, inner: LoopId) -> Result<(), Reason> {
    super::loop_node(schedule, outer)?;
    let chain = super::perfect_chain(schedule, outer);
    let Some(distance) = chain.iter().position(|l| *l == inner).filter(|d| *d > 0) else {
        return Err(Reason::unsupported(format!(
            "loop {} is not perfectly nested in loop {}",
            schedule.loop_name(inner),
            schedule.loop_name(outer)
        )));
    };
    let mut order: Vec<LoopId> = chain[..=distance].to_vec();
    order.swap(0, distance);
    permute_chain(schedule, outer, &order)
}

/// Rewrites the perfect chain that starts at `top` so that its loops come in `order`.
pub(crate) fn permute_chain(schedule: &mut Schedule, top: LoopId, order: &[LoopId]) -> Result<(), Reason> {
    let mut loop_nodes = Vec::new();
    for id in order {
        loop_nodes.push(super::loop_node(schedule, *id)?.clone());
    }
    let chain = super::perfect_chain(schedule, top);
    let last = chain[order.len() - 1];
    let mut body = super::loop_node(schedule, last)?.body.clone();
    for mut loop_node in loop_nodes.into_iter().rev() {
        loop_node.body = body;
        body = vec![Tree::Loop(loop_node)];
    }
    let (siblings, k) = schedule.siblings_mut(top).ok_or_else(|| super::no_loop(top))?;
    siblings.splice(k..=k, body);
    Ok(())
}

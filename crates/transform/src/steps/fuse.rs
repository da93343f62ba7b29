//! Fuse: two adjacent loops become one.
//!
//! *Rewrite*: `for i A(i) for j B(j)` → `for i { A(i); B(i - shift) }`; where the ranges differ, guards keep each
//! statement to its own.
//!
//! *Legal when* the judge finds that no `B(j)` needs an `A(i)` that now comes later. *Refused when* the loops are not
//! adjacent siblings that run the same way.

use crate::refusal::Reason;
use crate::schedule::{Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, LoopId};

pub(crate) fn edit(schedule: &mut Schedule, first: LoopId, second: LoopId, shift: i64) -> Result<(), Reason> {
    let (a, b) = (super::loop_node(schedule, first)?.clone(), super::loop_node(schedule, second)?.clone());
    if a.reverse != b.reverse {
        return Err(Reason::unsupported("the loops run in opposite directions"));
    }
    for s in all_leaves(&b.body) {
        schedule.substitute_loop(s, second, &Affine::var(first).offset(-shift));
    }
    let (siblings, k) = schedule.siblings_mut(first).ok_or_else(|| super::no_loop(first))?;
    if !matches!(siblings.get(k + 1), Some(Tree::Loop(next)) if next.id == second) {
        return Err(Reason::unsupported(format!(
            "loop {} does not directly follow loop {}",
            schedule.loop_name(second),
            schedule.loop_name(first)
        )));
    }
    siblings.remove(k + 1);
    if let Tree::Loop(loop_node) = &mut siblings[k] {
        loop_node.body.extend(b.body);
    }
    Ok(())
}

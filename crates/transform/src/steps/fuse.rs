//! Fuse: merges two adjacent loops into one.
//!
//! *Rewrite*: `for i A(i) for j B(j)` → `for i { A(i); B(i - shift) }`; where the ranges differ, guards keep each
//! statement to its own.
//!
//! *Legal when* the judge finds that no `B(j)` needs an `A(i)` that now comes later. *Refused when* the loops are not
//! adjacent siblings that run in the same direction.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::{Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, LoopId};

step! {
    /// Merges two adjacent loops into one.
    Fuse: "fuse",
    "merge two adjacent loops, the second shifted",
    "{first} {second} shift {shift}";
    /// The first loop.
    first: LoopId = Kind::Loop,
    /// Its next sibling.
    second: LoopId = Kind::Loop,
    /// Added to the second loop's iterator.
    shift: i64 = Kind::Integer,
}

impl Step for Fuse {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let Self { first, second, shift } = *self;
        let (a, b) =
            (lookup::loop_node(schedule, first)?.clone(), lookup::loop_node(schedule, second)?.clone());
        if a.reverse != b.reverse {
            return Err(Reason::unsupported("the loops run in opposite directions"));
        }
        let (siblings, k) = lookup::siblings_mut(schedule, first)?;
        if !matches!(siblings.get(k + 1), Some(Tree::Loop(next)) if next.id == second) {
            return Err(Reason::new(
                RefusalKind::NotAdjacent,
                format!(
                    "loop {} does not directly follow loop {}",
                    schedule.loop_name(second),
                    schedule.loop_name(first)
                ),
            ));
        }
        for s in all_leaves(&b.body) {
            schedule.substitute_loop(s, second, &Affine::var(first).offset(-shift));
        }
        let (siblings, k) = lookup::siblings_mut(schedule, first)?;
        siblings.remove(k + 1);
        if let Tree::Loop(loop_node) = &mut siblings[k] {
            loop_node.body.extend(b.body);
        }
        Ok(())
    }
}

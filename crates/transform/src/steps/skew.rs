//! Skew: an inner iterator runs ahead with an outer one.
//!
//! *Rewrite*: `for t for i S(t, i)` → `for t for i' = i + f·t: S(t, i' − f·t)`.
//!
//! *Legal when*: always by itself, since order within `t` stays; it makes interchange and tiling legal. *Refused when* the
//! loops are not nested.

use crate::refusal::Reason;
use crate::schedule::{Schedule, all_leaves};
use oxeye_ir::{Affine, LoopId};

pub(crate) fn edit(schedule: &mut Schedule, inner: LoopId, outer: LoopId, factor: i64) -> Result<(), Reason> {
    let stmts = all_leaves(&super::loop_node(schedule, inner)?.body);
    let paths = schedule.paths();
    let around = |path: &[LoopId]| path.iter().take_while(|l| **l != inner).any(|l| *l == outer);
    if stmts.iter().any(|s| !around(&paths[*s])) {
        return Err(Reason::unsupported(format!(
            "loop {} is not inside loop {}",
            schedule.loop_name(inner),
            schedule.loop_name(outer)
        )));
    }
    let with = Affine::var(inner).add_scaled(&Affine::var(outer), -factor);
    for s in stmts {
        schedule.substitute_loop(s, inner, &with);
    }
    Ok(())
}

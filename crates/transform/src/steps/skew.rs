//! Skew: adds a multiple of an outer iterator to an inner one.
//!
//! *Rewrite*: `for t for i S(t, i)` → `for t for i' = i + f·t: S(t, i' − f·t)`.
//!
//! *Legal when*: always by itself, since the order within `t` does not change; it makes interchange and tiling legal.
//! *Refused when* the loops are not nested.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::{Schedule, all_leaves};
use oxeye_ir::{Affine, LoopId};

step! {
    /// Adds a multiple of an outer iterator to an inner one.
    Skew: "skew",
    "add a multiple of an outer iterator to an inner one",
    "{inner} by {factor}*{outer}";
    /// The loop that is skewed.
    inner: LoopId = Kind::Inside { outer: "outer", perfectly: false },
    /// A loop around it.
    outer: LoopId = Kind::Loop,
    /// Iterations of the inner loop per iteration of the outer loop.
    factor: i64 = Kind::Integer,
}

impl Step for Skew {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let with = Affine::var(self.inner).add_scaled(&Affine::var(self.outer), -self.factor);
        for s in all_leaves(&lookup::loop_node(schedule, self.inner)?.body) {
            schedule.substitute_loop(s, self.inner, &with);
        }
        Ok(())
    }
}

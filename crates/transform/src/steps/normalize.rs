//! Normalize: the nest gives way to its normal form, so that two spellings of one computation go on from the same loops.
//!
//! *Rewrite*: `for i { s = 0; for k s += a[i][k]; y[i] = s; }` → `for i y[i] = 0; for i for k y[i] += a[i][k]`, and whatever
//! else [`crate::normalize_nest`] does under the policy. Loops and statements are numbered anew, in the order in which
//! they stand: the steps after this one speak of those.
//!
//! *Legal when* the judge finds that the normal form, as the steps behind this one leave it, keeps the dependences of the nest
//! that it was made from. *Refused when* it is not the first step: a schedule that other steps have edited is no nest yet.

use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::Schedule;

step! {
    /// The nest in its normal form.
    Normalize: "normalize",
    "replace the nest by its normal form, as the first step; the steps after it speak of that form",
    "",
    .renumbers();
}

impl Step for Normalize {
    /// A schedule that steps have edited cannot be normalized; [`crate::apply`] deals with the first step.
    fn edit(&self, _: &mut Schedule, _: Policy) -> Result<(), Reason> {
        Err(Reason::new(
            RefusalKind::Misplaced,
            "only the nest as it stands in the source has a normal form, so this can only be the first step",
        ))
    }
}

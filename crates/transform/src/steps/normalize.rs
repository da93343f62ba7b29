//! Normalize: replaces the nest by its normal form, so that the next steps see the same loops for every spelling of a
//! computation.
//!
//! *Rewrite*: `for i { s = 0; for k s += a[i][k]; y[i] = s; }` → `for i y[i] = 0; for i for k y[i] += a[i][k]`, and
//! whatever else [`crate::normalize_nest`] does under the policy. Loops and statements are renumbered in textual order;
//! later steps use the new numbers.
//!
//! *Legal when* the judge finds that the normal form, after the steps that follow, keeps the dependences of the source
//! nest. *Refused when* it is not the first step: a schedule that other steps have edited is not a nest yet.

use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::Schedule;

step! {
    /// Replaces the nest by its normal form.
    Normalize: "normalize",
    "replace the nest by its normal form, as the first step; the steps after it speak of that form",
    "",
    .renumbers();
}

impl Step for Normalize {
    /// A schedule that steps have edited cannot be normalized; [`crate::apply`] handles the first step.
    fn edit(&self, _: &mut Schedule, _: Policy) -> Result<(), Reason> {
        Err(Reason::new(
            RefusalKind::Misplaced,
            "only the nest as it stands in the source has a normal form, so this can only be the first step",
        ))
    }
}

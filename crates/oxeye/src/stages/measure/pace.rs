//! How much is asked of a nest before its candidates are tried, and of those.

use crate::nest::TunedNest;

/// Of nests that take longer, runs cost more than all else.
const HURRIED_SECONDS: f64 = 0.1;

/// How a nest is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Usual,
    /// Many others wait: what the original takes in its place is taken as known, the first candidate is timed in turns with it and
    /// in no other way, a few times if it is much faster, and sizes far below what was captured are left to the original.
    Hurried,
}

impl Pace {
    /// That of a nest where many others wait.
    pub(super) fn of(nest: &TunedNest) -> Self {
        let is_short = nest.seconds_in_place().is_some_and(|seconds| seconds < HURRIED_SECONDS);
        let is_alone = nest.place.inside.is_empty() && nest.calls.timed().count() <= 1;
        if is_short && is_alone { Self::Hurried } else { Self::Usual }
    }
}

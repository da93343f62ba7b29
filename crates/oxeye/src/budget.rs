//! How the time of a run is shared out: between nests and the runs of the whole program, and between the nests.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// From this time on one run of each tells enough if it tells a lot.
pub(crate) const LONG_SECONDS: f64 = 1.0;
/// Runs of a short program, before and after.
const MOST_RUNS: usize = 7;
/// Timing the fastest candidates of a nest in turns with the original takes no longer than this, all together.
const MOST_TIMING_SECONDS: f64 = 3.0;

/// When trying should end, after the start of the budget: early enough to build the tuned program, which takes so many
/// seconds as a rule. However long everything before took, some time is left for trying.
pub(crate) fn end_of_trials(budget: Duration, elapsed: Duration, build_seconds: f64) -> Duration {
    const TO_BUILD: Duration = Duration::from_secs(2);
    let to_build = TO_BUILD.max(Duration::try_from_secs_f64(build_seconds).unwrap_or(TO_BUILD));
    budget.saturating_sub(to_build.min(budget / 5)).max(elapsed + budget / 5)
}

/// The part of the time left that a nest of this weight has, where `rest` is the weight of all that wait, this one
/// included. What it leaves unused is there for the next ones.
pub(crate) fn share_of(left: Duration, weight: f64, rest: f64) -> Duration {
    left.mul_f64((1.25 * weight / rest).clamp(0.0, 1.0))
}

/// Time for trying what only the nest itself suggests, once nothing that was advised is faster: no more of the budget than
/// the nest has of the program's time.
pub(crate) fn for_suggestions(budget: Duration, share: Option<f64>) -> Duration {
    budget.mul_f64(share.unwrap_or(1.0).clamp(0.0, 1.0))
}

/// Seconds for runs of the original of one nest that show how ill-conditioned it is.
pub(crate) fn for_doubts(budget: Duration) -> f64 {
    budget.as_secs_f64() / 6.0
}

/// Seconds for timing the fastest candidates of a nest with this share of the program's time: precision is for nests
/// that matter.
pub(crate) fn timing_seconds(share: Option<f64>) -> f64 {
    MOST_TIMING_SECONDS * (2.0 * share.unwrap_or(1.0)).clamp(0.15, 1.0)
}

/// How often a program is run before and after: enough for the ratio to be known, in a few seconds. Three runs, which show
/// whether one was disturbed, may take longer.
pub(crate) fn n_runs(program_seconds: f64) -> usize {
    let within = |seconds: f64| (seconds / program_seconds.max(1e-3)) as usize;
    within(4.0).max(within(15.0).min(3)).clamp(1, MOST_RUNS)
}

/// How many candidates to compile together: long nests leave time for few of them, and then the rest need not be
/// compiled.
pub(crate) fn compiled_together(baseline_seconds: f64, cores: u32) -> usize {
    (if baseline_seconds > LONG_SECONDS { 1 } else { 4 }) * cores as usize
}

/// Tells the time. What a search decides is never a function of it, but for when it stops.
pub(crate) trait Clock {
    /// Time since the search began.
    fn elapsed(&self) -> Duration;
}

/// The system's clock.
pub(crate) struct SystemClock(pub(crate) Instant);

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The time of one search, over all the processes that take part in it: what an interrupted one has used is used up.
pub(crate) struct Budget<'c> {
    clock: &'c dyn Clock,
    used_before: Cell<Duration>,
}

/// The part of a budget that one nest may use.
#[derive(Clone, Copy)]
pub(crate) struct Allowance<'b> {
    budget: &'b Budget<'b>,
    begin: Duration,
    end: Duration,
}

impl<'c> Budget<'c> {
    pub(crate) fn new(clock: &'c dyn Clock) -> Self {
        Self { clock, used_before: Cell::default() }
    }

    /// Time used so far.
    pub(crate) fn used(&self) -> Duration {
        self.clock.elapsed() + self.used_before.get()
    }

    /// A part of the budget, of which an earlier process has used some.
    pub(crate) fn allow(&self, time: Duration, used_before: Duration) -> Allowance<'_> {
        let begin = self.used();
        self.used_before.set(self.used_before.get() + used_before);
        Allowance { budget: self, begin, end: begin + time }
    }
}

impl Allowance<'_> {
    /// Time used of it.
    pub(crate) fn used(&self) -> Duration {
        self.budget.used().saturating_sub(self.begin)
    }

    /// Time left of it.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_sub(self.budget.used())
    }

    /// The same but for some time at the end.
    pub(crate) fn but(self, reserve: Duration) -> Self {
        Self { end: self.end.saturating_sub(reserve).max(self.begin), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_program() {
        let runs = [0.0, 0.1, 1.0, 2.0, 5.0, 7.0, 20.0].map(n_runs);
        assert_eq!(runs, [MOST_RUNS, MOST_RUNS, 4, 3, 3, 2, 1]);
    }
}

//! How much time a search has left.

use std::cell::Cell;
use std::time::{Duration, Instant};

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

//! How the time of a run is shared out: between nests and the runs of the whole program, and between the nests.

use crate::request::Event;
use std::cell::Cell;
use std::time::{Duration, Instant};

pub(crate) use oxeye_measure::LONG_SECONDS;

/// Runs of a short program, before and after.
const MOST_RUNS: usize = 7;
/// Timing the fastest candidates of a nest in turns with the original takes no longer than this, all together.
const MOST_TIMING_SECONDS: f64 = 3.0;

/// The wall time of a run, from the end of the first run of its program on: captures, builds, trials and the verdict all
/// take of it. All times are since then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallTime {
    /// What the user gives.
    pub(crate) budget: Duration,
    /// Seconds that one run of the program takes; 0 as long as that is not known.
    pub(crate) run_seconds: f64,
    /// Seconds that building the program takes; 0 as long as that is not known.
    pub(crate) build_seconds: f64,
    /// Whether one verdict is for all of several files.
    pub(crate) is_judged_once: bool,
}

impl WallTime {
    /// Building takes at least this, seconds.
    const LEAST_BUILD: f64 = 1.0;
    /// The verdict has no more than this part of the budget for itself: that of a longer program comes on top.
    const VERDICT_PART: u32 = 4;
    /// Programs that are slower than they should be are looked at again, with other winners.
    const LOOKS: f64 = 2.0;
    /// A verdict may take so much longer than the budget.
    const OVERTIME_PART: u32 = 6;
    /// So many runs of each program are a verdict on a long one.
    const VERDICT_RUNS: usize = 2;

    /// When trying ends: early enough to build the tuned program, and to run both. However long everything before took, a
    /// little time is left for trying. Many files need all of it: the one verdict on a long program comes on top.
    pub(crate) fn end_of_trials(&self, elapsed: Duration) -> Duration {
        let build = self.build_seconds.max(Self::LEAST_BUILD);
        let runs = 2.0 * self.run_seconds * n_runs(self.run_seconds) as f64;
        let kept = if self.is_judged_once && self.is_long() {
            seconds(build)
        } else {
            seconds(Self::LOOKS * (build + runs)).min(self.budget / Self::VERDICT_PART)
        };
        self.budget.saturating_sub(kept).max(elapsed + self.budget / 10)
    }

    /// When trying ends where nothing has won so far: no more is kept than a verdict takes on what is found then.
    pub(crate) fn end_of_late_trials(&self) -> Duration {
        let build = self.build_seconds.max(Self::LEAST_BUILD);
        let runs = 2.0 * self.run_seconds * Self::VERDICT_RUNS as f64;
        self.budget.saturating_sub(seconds(build + runs))
    }

    /// What is left.
    pub(crate) fn left(&self, elapsed: Duration) -> Duration {
        self.budget.saturating_sub(elapsed)
    }

    /// How often both programs are run for a verdict: as often as it helps, as far as there is time, but never less often than
    /// it takes. What was found is worth a little more than the budget.
    pub(crate) fn verdict_runs(&self, elapsed: Duration) -> usize {
        let wanted = n_runs(self.run_seconds);
        let left = (self.budget + self.budget / Self::OVERTIME_PART).saturating_sub(elapsed);
        let fit = left.as_secs_f64() / (2.0 * self.run_seconds).max(1e-3);
        (fit as usize).clamp(Self::VERDICT_RUNS.min(wanted), wanted)
    }

    /// When all is done, as far as that is known by now: with the budget, unless the runs for the verdict come on top of it.
    pub(crate) fn end(&self, elapsed: Duration) -> Duration {
        let built = self.end_of_trials(elapsed) + seconds(self.build_seconds.max(Self::LEAST_BUILD));
        let runs = 2.0 * self.run_seconds * self.verdict_runs(built) as f64;
        (built + seconds(runs)).max(self.budget)
    }

    /// The budget for those who watch.
    pub(crate) fn event(&self, elapsed: Duration) -> Event<'static> {
        let (budget, run) = (self.budget, seconds(self.run_seconds));
        Event::Budget { used: elapsed, budget, end: self.end(elapsed), run }
    }

    /// Whether a program takes so long that its runs for the verdict come on top.
    pub(crate) fn is_short_for(&self, run_seconds: f64) -> bool {
        seconds(run_seconds) > self.budget / Self::VERDICT_PART
    }

    /// Whether a verdict takes more than its part of the budget.
    pub(crate) fn is_long(&self) -> bool {
        self.is_short_for(2.0 * Self::VERDICT_RUNS as f64 * self.run_seconds)
    }

    /// Whether there is time for something that takes so many seconds and need not be done: it is over before the budget, or next to
    /// nothing beside it.
    pub(crate) fn allows(&self, elapsed: Duration, run_seconds: f64) -> bool {
        seconds(run_seconds) <= self.left(elapsed).max(self.budget / 10)
    }
}

/// A duration; a number that is none is no time.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// So much of the time that is left to nests is kept for each that waits and takes a part of the program's time, so that it
/// has its turn.
pub(crate) const TURN: Duration = Duration::from_millis(1500);

/// Time for the first of some nests: its share of what is left by weight, `rest` being the weight of all that wait, this one
/// included, but for what is kept for `n_others` of them; and no less than it gets that has the least.
pub(crate) fn turn_of(left: Duration, weight: f64, rest: f64, n_others: usize) -> Duration {
    let n_others = u32::try_from(n_others).unwrap_or(u32::MAX);
    let turn = TURN.min(left / (n_others + 1));
    let free = left.saturating_sub(turn * n_others);
    share_of(free, weight, rest).max(turn)
}

/// Of the turn of a nest that has several loops side by side inside, which gain more by themselves where it gains little: what
/// is left is for them.
pub(crate) fn turn_before_opening(turn: Duration) -> Duration {
    turn * 3 / 5
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

/// Seconds for runs of the original of one nest that show how ill-conditioned it is, where so much of the budget is left.
pub(crate) fn for_doubts(budget: Duration, left: Duration) -> f64 {
    (budget / 6).min(left / 2).as_secs_f64()
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

/// So many candidates of a nest are tried first: those that cost least.
pub(crate) const TRIED_FIRST: usize = 2;

/// How many candidates to compile together, in no more than half of the time that is left, where building one takes so many
/// seconds: long nests leave time for few of them, and then the rest need not be compiled.
pub(crate) fn compiled_together(
    baseline_seconds: f64,
    cores: u32,
    left: Duration,
    build_seconds: f64,
) -> usize {
    const LEAST_BUILD: f64 = 0.1;
    let most = (if baseline_seconds > LONG_SECONDS { 1 } else { 4 }) * cores as usize;
    let fit = left.as_secs_f64() / 2.0 / build_seconds.max(LEAST_BUILD) * f64::from(cores);
    (fit as usize).clamp(1, most)
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

    fn wall_time(run_seconds: f64) -> WallTime {
        WallTime { budget: Duration::from_secs(60), run_seconds, build_seconds: 0.5, is_judged_once: false }
    }

    #[test]
    fn all_of_a_run_is_within_its_budget() {
        for run_seconds in [0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 6.0, 20.0, 200.0] {
            let time = wall_time(run_seconds);
            let begin = Duration::from_secs_f64(run_seconds);
            let trials = time.end_of_trials(begin);
            let built = trials + Duration::from_secs(1);
            let runs = 2.0 * run_seconds * time.verdict_runs(built) as f64;
            let over = built.as_secs_f64() + runs - 60.0;
            // What a verdict needs: two runs of each, or a little time for more.
            assert!(over <= (4.0 * run_seconds).max(10.0) + 1e-6, "{run_seconds}: {over}");
            assert!(trials > begin, "{run_seconds}");
        }
        // Short programs are compared within the budget.
        let time = wall_time(0.5);
        let end = time.end_of_trials(Duration::from_secs(5));
        let verdict = end + Duration::from_secs(1) + Duration::from_secs_f64(7.0);
        assert!(verdict <= Duration::from_secs(60), "{verdict:?}");
    }

    #[test]
    fn where_nothing_has_won_less_is_kept() {
        let late = |run_seconds: f64| wall_time(run_seconds).end_of_late_trials().as_secs_f64();
        assert_eq!((late(2.0), late(20.0)), (60.0 - 1.0 - 8.0, 0.0));
        let time = wall_time(2.0);
        assert!(time.end_of_late_trials() > time.end_of_trials(Duration::from_secs(5)));
    }

    #[test]
    fn the_end_is_that_of_the_budget_or_of_the_runs_on_top_of_it() {
        let end = |budget: u64, run_seconds: f64| {
            let time = WallTime { budget: Duration::from_secs(budget), ..wall_time(run_seconds) };
            time.end(Duration::ZERO).as_secs_f64()
        };
        assert_eq!((end(60, 0.0), end(60, 0.5)), (60.0, 60.0));
        assert_eq!((end(3, 4.5), end(60, 20.0)), (2.25 + 1.0 + 18.0, 45.0 + 1.0 + 40.0));
        // With several files, nothing is kept of it for the runs.
        let of_files = |run_seconds: f64| {
            WallTime { is_judged_once: true, ..wall_time(run_seconds) }.end(Duration::ZERO)
        };
        assert_eq!((of_files(20.0).as_secs_f64(), of_files(0.5).as_secs_f64()), (60.0 + 40.0, 60.0));
    }

    #[test]
    fn what_came_before_the_trials_is_not_given_back() {
        let time = wall_time(0.1);
        let early = time.end_of_trials(Duration::from_secs(2));
        assert_eq!(early, time.end_of_trials(Duration::from_secs(40)));
        // Little is left, however late it is.
        assert_eq!(time.end_of_trials(Duration::from_secs(90)), Duration::from_secs(96));
    }

    #[test]
    fn verdicts_take_the_time_that_there_is() {
        let runs = |run_seconds: f64, elapsed: u64| {
            wall_time(run_seconds).verdict_runs(Duration::from_secs(elapsed))
        };
        assert_eq!((runs(0.1, 50), runs(0.1, 70)), (MOST_RUNS, 2));
        assert_eq!((runs(1.0, 60), runs(1.0, 64), runs(1.0, 90)), (4, 3, 2));
        assert_eq!(runs(20.0, 0), 1);
        assert!(wall_time(0.0).is_short_for(16.0) && !wall_time(0.0).is_short_for(14.0));
        let late = Duration::from_secs(70);
        assert!(wall_time(0.0).allows(late, 5.0) && !wall_time(0.0).allows(late, 7.0));
        assert!(wall_time(0.0).allows(Duration::from_secs(50), 9.0));
    }

    #[test]
    fn little_time_is_for_few_candidates() {
        let together =
            |baseline: f64, left: u64| compiled_together(baseline, 4, Duration::from_millis(left), 0.5);
        assert_eq!((together(0.1, 60_000), together(0.1, 1500), together(0.1, 0)), (16, 6, 1));
        assert_eq!((together(2.0, 60_000), together(2.0, 0)), (4, 1));
        assert_eq!(compiled_together(2.0, 1, Duration::ZERO, 0.5), 1);
    }

    #[test]
    fn nests_that_wait_keep_their_turns() {
        let whole = Duration::from_secs(50);
        assert_eq!(turn_of(whole, 1.0, 1.0, 0), whole);
        // The first takes nearly everything, but for ten turns.
        assert_eq!(turn_of(whole, 0.9, 1.0, 10), whole - 10 * TURN);
        // Where there is next to no time, all have the same.
        let little = Duration::from_secs(3);
        assert_eq!(turn_of(little, 0.9, 1.0, 9), little / 10);
        // One with a small share has a turn of its own.
        assert_eq!(turn_of(whole, 0.001, 1.0, 3), TURN);
    }

    #[test]
    fn runs_of_a_program() {
        let runs = [0.0, 0.1, 1.0, 2.0, 5.0, 7.0, 20.0].map(n_runs);
        assert_eq!(runs, [MOST_RUNS, MOST_RUNS, 4, 3, 3, 2, 1]);
    }
}

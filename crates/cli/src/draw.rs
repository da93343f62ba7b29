//! Drawing the progress of a run on standard error.

use crate::columns::wrapped;
use crate::interrupt;
use crate::manner::Manner;
use crate::table::time;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use oxeye::{Event, Phase, Progress};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A run is said to be longer than its budget from so many percent on.
const LONGER_PERCENT: u32 = 120;

/// Bars and messages on standard error; bars only if it is a terminal.
pub(crate) struct Drawing {
    bar: ProgressBar,
    clock: Clock,
    manner: Manner,
    /// Whether messages of the reader are shown with the lines they are about; reports have them in short.
    verbose: bool,
    /// Whether a file of a project is tuned.
    has_file: AtomicBool,
}

impl Drawing {
    /// Starts drawing, with the messages of the reader if `verbose`.
    pub(crate) fn new(manner: &Manner, verbose: bool) -> Self {
        let verbose = verbose && !manner.quiet;
        let bar = ProgressBar::new_spinner();
        if !manner.shows_progress() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let clock = Clock { start: Instant::now(), limit: Arc::default() };
        Self { bar, clock, manner: *manner, verbose, has_file: AtomicBool::new(false) }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// A line of a template, at whose end the time is.
    fn set_template(&self, template: &str) {
        let clock = self.clock.clone();
        let time = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Where it cannot be written, nothing else can.
            let _ = out.write_str(&clock.words(Instant::now()));
        };
        if let Ok(style) = ProgressStyle::with_template(&format!("{template} {{time}}")) {
            self.bar.set_style(style.with_key("time", time));
        }
    }

    /// Says something beside the bar, on a terminal or not.
    fn say(&self, text: &str) {
        // Where standard error is closed, nobody wants to know.
        self.bar.suspend(|| drop(std::io::stderr().write_all(text.as_bytes())));
    }

    fn spinner(&self, phase: Phase) {
        self.set_template("{spinner} {msg}");
        self.bar.set_message(phase.label());
    }

    fn counter(&self, n_candidates: usize, message: String) {
        self.set_template("{spinner} {msg} {wide_bar} {pos}/{len}");
        self.bar.set_length(n_candidates as u64);
        self.bar.set_position(0);
        self.bar.set_message(message);
    }
}

impl Progress for Drawing {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Phase(phase) => {
                let has_tried = matches!(phase, Phase::Trying | Phase::Finishing);
                interrupt::may_end_early(has_tried || self.has_file.load(Ordering::Relaxed));
                self.spinner(phase);
            }
            Event::Compiled { n_done, n_units } => {
                if self.bar.length() != Some(n_units as u64) || n_done == 1 {
                    self.counter(n_units, "building".into());
                }
                self.bar.set_position(n_done as u64);
            }
            Event::File { path, share, n_done, n_files } => {
                self.has_file.store(n_done > 0, Ordering::Relaxed);
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let share = crate::table::percent(share);
                self.bar.println(format!("{} of {n_files}: {name}, {share} of the time", n_done + 1));
            }
            Event::Diagnostic(_) if !self.verbose => {}
            Event::Diagnostic(text) => self.say(&format!("{text}\n")),
            Event::Budget { used, budget, end, run } => {
                // Who is second, with what is left for one of several files, finds that it is set.
                let is_first =
                    self.clock.limit.set(Limit { begin: Instant::now().checked_sub(used), end }).is_ok();
                let note = longer(budget, end, run).filter(|_| is_first && !self.manner.quiet);
                let width = self.manner.view_of_stderr().width;
                note.iter().for_each(|note| self.say(&wrapped(note, width)));
            }
            Event::Nest { function, line, n_candidates } => {
                self.counter(n_candidates, format!("{function}, line {line}:"));
            }
            Event::Profiled { function, line, n_done, n_nests } => {
                self.counter(n_nests, format!("{function}, line {line}:"));
                self.bar.set_position(n_done as u64);
            }
            Event::Searched { n_measured, used, left, best_speedup } => {
                self.set_template("{spinner} {msg} {wide_bar}");
                self.bar.set_length((used + left).as_millis() as u64);
                self.bar.set_position(used.as_millis() as u64);
                let head = self.bar.message();
                let head = head.split(" tried").next().unwrap_or_default().to_owned();
                let best = best_speedup.map(|best| format!(", best {best:.2}x")).unwrap_or_default();
                self.bar.set_message(format!("{head} tried {n_measured}{best}"));
            }
            Event::Candidate { n_done, best_speedup, .. } => {
                self.bar.set_position(n_done as u64);
                if let Some(best) = best_speedup {
                    let head = self.bar.message();
                    let head = head.split(" best").next().unwrap_or_default().to_owned();
                    self.bar.set_message(format!("{head} best {best:.2}x"));
                }
            }
            _ => {}
        }
    }

    fn enough(&self) -> bool {
        interrupt::is_enough()
    }

    fn cancelled(&self) -> bool {
        interrupt::is_interrupted()
    }
}

/// The time of a run.
#[derive(Clone)]
struct Clock {
    start: Instant,
    limit: Arc<OnceLock<Limit>>,
}

/// What a run may take, from some time on.
struct Limit {
    begin: Option<Instant>,
    end: Duration,
}

impl Clock {
    /// `7 s`, and once it is known how long the run may take, `12 of 60 s`.
    fn words(&self, now: Instant) -> String {
        let since = |begin: Instant| now.saturating_duration_since(begin).as_secs();
        match self.limit.get() {
            Some(Limit { begin, end }) => {
                let used = since(begin.unwrap_or(self.start));
                format!("{used} of {:.0} s", end.as_secs_f64())
            }
            None => format!("{} s", since(self.start)),
        }
    }
}

/// What is to be said before a run that takes far longer than its budget, as its program does.
fn longer(budget: Duration, end: Duration, run: Duration) -> Option<String> {
    let seconds = |time: Duration| time.as_secs_f64().round();
    (end * 100 > budget * LONGER_PERCENT).then(|| {
        format!(
            "one run of the program takes {}, so this takes about {} s, not {} s; smaller input takes less",
            time(1e3 * run.as_secs_f64()),
            seconds(end),
            seconds(budget)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_budget_once_it_counts() {
        let start = Instant::now();
        let clock = Clock { start, limit: Arc::default() };
        let after = |seconds: u64| clock.words(start + Duration::from_secs(seconds));
        assert_eq!(after(7), "7 s");
        let begin = Some(start + Duration::from_secs(5));
        assert!(clock.limit.set(Limit { begin, end: Duration::from_secs(60) }).is_ok());
        assert_eq!((after(17), after(70)), ("12 of 60 s".into(), "65 of 60 s".into()));
    }

    #[test]
    fn a_program_longer_than_the_budget_is_told_of_before() {
        let told = |budget: u64, end: u64| {
            longer(Duration::from_secs(budget), Duration::from_secs(end), Duration::from_millis(4500))
        };
        assert_eq!((told(60, 60), told(60, 70)), (None, None));
        let text = told(3, 21).expect("seven times the budget");
        assert!(
            text.starts_with("one run of the program takes 4.50 s") && text.contains("about 21 s, not 3 s"),
            "{text}"
        );
    }
}

//! Drawing the progress of a run on standard error.

use crate::interrupt;
use crate::manner::Manner;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use oxeye::{Event, Phase, Progress};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bars and messages on standard error; bars only if it is a terminal.
pub(crate) struct Drawing {
    bar: ProgressBar,
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
        Self { bar, verbose, has_file: AtomicBool::new(false) }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn spinner(&self, phase: Phase) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            self.bar.set_style(style);
        }
        self.bar.set_message(phase.label());
    }

    fn counter(&self, n_candidates: usize, message: String) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len} {elapsed}") {
            self.bar.set_style(style);
        }
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
            Event::Diagnostic(text) => self.bar.suspend(|| {
                // Where standard error is closed, nobody wants to know.
                let _ = writeln!(std::io::stderr(), "{text}");
            }),
            Event::Nest { function, line, n_candidates } => {
                self.counter(n_candidates, format!("{function}, line {line}:"));
            }
            Event::Profiled { function, line, n_done, n_nests } => {
                self.counter(n_nests, format!("{function}, line {line}:"));
                self.bar.set_position(n_done as u64);
            }
            Event::Searched { n_measured, used, left, best_speedup } => {
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {elapsed}") {
                    self.bar.set_style(style);
                }
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

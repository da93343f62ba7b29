//! What happens in a run as JSON Lines, for dashboards.

use anyhow::Context;
use oxeye::{Event, Progress};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Version of the lines.
const EVENTS_SCHEMA: &str = "oxeye.events/1";

/// Writes events as they come, and passes them on.
pub(crate) struct Events<'p> {
    file: Mutex<File>,
    start: Instant,
    next: &'p dyn Progress,
}

impl<'p> Events<'p> {
    /// Starts a file, or goes on with what is no file, such as a pipe.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn open(path: &Path, next: &'p dyn Progress) -> anyhow::Result<Self> {
        let mut file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        writeln!(file, "{}", json!({"event": "start", "schema": EVENTS_SCHEMA}))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { file: Mutex::new(file), start: Instant::now(), next })
    }
}

impl Progress for Events<'_> {
    fn event(&self, event: Event<'_>) {
        if let Some(mut line) = value(event) {
            line["seconds"] = json!(self.start.elapsed().as_secs_f64());
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            // A run does not fail for want of somebody who watches it.
            let _ = writeln!(file, "{line}");
        }
        self.next.event(event);
    }

    fn enough(&self) -> bool {
        self.next.enough()
    }

    fn cancelled(&self) -> bool {
        self.next.cancelled()
    }
}

/// An event as a JSON object.
fn value(event: Event<'_>) -> Option<Value> {
    let seconds = |time: Duration| time.as_secs_f64();
    Some(match event {
        Event::Phase(phase) => json!({"event": "phase", "phase": phase.label()}),
        Event::Machine { label, fraction } => {
            json!({"event": "machine", "measured": label, "fraction": fraction})
        }
        Event::Budget { used, budget, end, run } => json!({
            "event": "budget", "used_seconds": seconds(used), "budget_seconds": seconds(budget),
            "end_seconds": seconds(end), "run_seconds": seconds(run),
        }),
        Event::Compiled { n_done, n_units } => json!({"event": "compiled", "done": n_done, "of": n_units}),
        Event::File { path, share, n_done, n_files } => {
            json!({"event": "file", "path": path, "share": share, "done": n_done, "of": n_files})
        }
        Event::Nest { function, line, n_candidates } => {
            json!({"event": "nest", "function": function, "line": line, "candidates": n_candidates})
        }
        Event::Candidate { n_done, n_candidates, best_speedup } => json!({
            "event": "candidate", "done": n_done, "of": n_candidates, "best_speedup": best_speedup,
        }),
        Event::Searched { n_measured, used, left, best_speedup } => json!({
            "event": "searched", "measured": n_measured, "used_seconds": seconds(used),
            "left_seconds": seconds(left), "best_speedup": best_speedup,
        }),
        Event::Nodes { n_nodes } => json!({"event": "nodes", "nodes": n_nodes}),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye::{Phase, Silent};

    #[test]
    fn each_event_is_a_line() {
        let folder = std::env::temp_dir().join(format!("oxeye-events-{}", std::process::id()));
        let events = Events::open(&folder, &Silent).expect("opened");
        events.event(Event::Phase(Phase::Reading));
        events.event(Event::Candidate { n_done: 1, n_candidates: 3, best_speedup: Some(1.5) });
        events.event(Event::Diagnostic("of the reader"));
        let text = std::fs::read_to_string(&folder).expect("read");
        std::fs::remove_file(&folder).expect("removed");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!((&lines[0]["schema"], &lines[1]["phase"]), (&json!(EVENTS_SCHEMA), &json!("reading")));
        assert_eq!(lines[2]["best_speedup"], json!(1.5));
        assert!(lines[2]["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0));
    }
}

//! Runs on threads of their own, while the calling thread lets Python live: it delivers what a run tells, and looks for
//! Ctrl-C.

use crate::errors::Raised;
use oxeye::{Event, Phase, Progress};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(50);
/// Time in which a run that was told to stop may end by itself; after that it ends in the background.
const GRACE: Duration = Duration::from_millis(1500);

/// Held by the run that is measuring: runs at the same time would disturb each other's times.
static TURN: Mutex<()> = Mutex::new(());
/// The run whose turn it is; 0 if it is nobody's.
static ACTIVE: Mutex<u64> = Mutex::new(0);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run sends to the thread that waits for it.
enum Message<T> {
    Heard(Heard),
    Done(Result<T, Raised>),
}

/// Something happened in a run.
#[derive(Default)]
struct Heard {
    phase: Option<&'static str>,
    message: String,
    n_done: Option<f64>,
    n_total: Option<f64>,
    best_speedup: Option<f64>,
}

/// The ear of a run.
pub(crate) struct Watch<T> {
    send: Mutex<Sender<Message<T>>>,
    cancelled: Arc<AtomicBool>,
}

impl<T: Send> Progress for Watch<T> {
    fn event(&self, event: Event<'_>) {
        if let Some(heard) = heard(event) {
            // Nobody listens any more if the run was left alone.
            let _ = locked(&self.send).send(Message::Heard(heard));
        }
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}

fn heard(event: Event<'_>) -> Option<Heard> {
    let nest = |function: &str, line: u32| format!("{function}, line {line}");
    let count = |n_done: usize, n_total: usize| (Some(n_done as f64), Some(n_total as f64));
    let quiet = Heard::default();
    Some(match event {
        Event::Phase(phase) => {
            Heard { phase: Some(Phase::label(phase)), message: phase.label().into(), ..quiet }
        }
        Event::Machine { label, fraction } => {
            Heard { message: label.into(), n_done: Some(fraction), n_total: Some(1.0), ..quiet }
        }
        Event::Compiled { n_done, n_units } => {
            let (n_done, n_total) = count(n_done, n_units);
            Heard { message: "building".into(), n_done, n_total, ..quiet }
        }
        Event::File { path, n_done, n_files, .. } => {
            let (n_done, n_total) = count(n_done, n_files);
            Heard { message: path.display().to_string(), n_done, n_total, ..quiet }
        }
        Event::Profiled { function, line, n_done, n_nests } => {
            let (n_done, n_total) = count(n_done, n_nests);
            Heard { message: nest(function, line), n_done, n_total, ..quiet }
        }
        Event::Nest { function, line, n_candidates } => {
            let (n_done, n_total) = count(0, n_candidates);
            Heard { message: nest(function, line), n_done, n_total, ..quiet }
        }
        Event::Candidate { n_done, n_candidates, best_speedup } => {
            let (n_done, n_total) = count(n_done, n_candidates);
            Heard { n_done, n_total, best_speedup, ..quiet }
        }
        Event::Searched { used, left, best_speedup, .. } => {
            let (n_done, n_total) = (Some(used.as_secs_f64()), Some((used + left).as_secs_f64()));
            Heard { n_done, n_total, best_speedup, ..quiet }
        }
        _ => return None,
    })
}

/// Does some work on a thread of its own, and waits for it without the GIL. `listener` is called with keyword arguments for
/// everything that happens.
///
/// # Errors
/// What the work or the listener raises, or a signal's handler: the work is told to stop then, and its children are killed.
pub(crate) fn attended<T: Send + 'static>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<T>) -> Result<T, Raised> + Send + 'static,
) -> PyResult<T> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    let cancelled = Arc::new(AtomicBool::new(false));
    let (send, receive) = mpsc::channel();
    let watch = Watch { send: Mutex::new(send.clone()), cancelled: cancelled.clone() };
    let run = move || {
        let _turn = locked(&TURN);
        if watch.cancelled() {
            return;
        }
        *locked(&ACTIVE) = id;
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&watch)));
        *locked(&ACTIVE) = 0;
        let outcome = outcome.unwrap_or_else(|panic| Err(Raised::internal(&*panic)));
        let _ = send.send(Message::Done(outcome));
    };
    let thread = std::thread::Builder::new().name("oxeye".into()).spawn(run);
    thread.map_err(|error| Raised::new("OxeyeError", format!("cannot start a thread: {error}")))?;
    // Only for `detach`, which wants what it touches to be shareable.
    let receive = Mutex::new(receive);
    loop {
        let message = py.detach(|| locked(&receive).recv_timeout(TICK));
        let interruption = match message {
            Ok(Message::Done(outcome)) => return Ok(outcome?),
            Ok(Message::Heard(heard)) => tell(py, listener, heard).err(),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Raised::new("InternalError", "a run ended without a result").into());
            }
        };
        if let Some(error) = interruption.or_else(|| py.check_signals().err()) {
            cancelled.store(true, Ordering::SeqCst);
            let receive = receive.into_inner().unwrap_or_else(PoisonError::into_inner);
            py.detach(|| stop(id, receive));
            return Err(as_cancelled(py, error));
        }
    }
}

fn tell(py: Python<'_>, listener: Option<&Bound<'_, PyAny>>, heard: Heard) -> PyResult<()> {
    let Some(listener) = listener else { return Ok(()) };
    let fields = PyDict::new(py);
    fields.set_item("phase", heard.phase)?;
    fields.set_item("message", heard.message)?;
    fields.set_item("n_done", heard.n_done)?;
    fields.set_item("n_total", heard.n_total)?;
    fields.set_item("best_speedup", heard.best_speedup)?;
    listener.call((), Some(&fields))?;
    Ok(())
}

/// Kills the children of a run until it has ended, or for so long as a person waits; after that in the background.
fn stop<T: Send + 'static>(id: u64, receive: Receiver<Message<T>>) {
    if !killed(id, &receive, Some(Instant::now() + GRACE)) {
        std::thread::spawn(move || killed(id, &receive, None));
    }
}

/// Kills the children of a run until it has ended, or until a time. Returns whether it has ended.
fn killed<T>(id: u64, receive: &Receiver<Message<T>>, until: Option<Instant>) -> bool {
    loop {
        let active = locked(&ACTIVE);
        if *active != id {
            return true;
        }
        // With the lock held, these are no other run's children.
        oxeye::interrupt();
        drop(active);
        match receive.recv_timeout(TICK) {
            Ok(Message::Done(_)) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(Message::Heard(_)) | Err(RecvTimeoutError::Timeout) => {}
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return false;
        }
    }
}

/// Ctrl-C with our words; any other exception as it is.
fn as_cancelled(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.get_type(py).is(py.get_type::<pyo3::exceptions::PyKeyboardInterrupt>()) {
        return error;
    }
    Raised::from(oxeye::Error::Cancelled).into()
}

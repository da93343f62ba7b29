//! Ctrl-C and termination signals.

use crate::exit::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit code of an interrupted run.
const EXIT_CODE: i32 = Exit::Interrupted as i32;

/// Time in which an interrupted run may end by itself.
const GRACE: Duration = Duration::from_secs(2);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether no more is to be tried.
static ENOUGH: AtomicBool = AtomicBool::new(false);
/// Whether the run has something to end with.
static CAN_END: AtomicBool = AtomicBool::new(false);

/// Whether the run has been interrupted. Runs ask between steps and while they wait.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Whether the run was asked to end with what it has.
pub(crate) fn is_enough() -> bool {
    ENOUGH.load(Ordering::SeqCst)
}

/// Says whether the run has tried something by now, so that it can end with the best of that.
pub(crate) fn may_end_early(can_end: bool) {
    CAN_END.store(can_end, Ordering::SeqCst);
}

/// Listens for signals. Ctrl-C, or SIGTERM, lets a run that has tried something end with the best so far. A second one, any
/// other signal, or one before that ends the run's child processes, and the run itself if it does not end soon.
pub(crate) fn handle() {
    // Without a handler the default action still ends the run, only less tidily.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let is_first = !is_enough() && !is_interrupted();
            if signal != SIGHUP && is_first && CAN_END.load(Ordering::SeqCst) {
                ENOUGH.store(true, Ordering::SeqCst);
                // Where standard error is closed, nobody wants to know.
                let words = "ending with the best so far; Ctrl-C once more stops at once";
                let _ = writeln!(std::io::stderr(), "\r{words}");
                continue;
            }
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                std::process::exit(EXIT_CODE);
            }
            oxeye::interrupt();
            std::thread::spawn(|| {
                // The run ends by itself as soon as it sees that its children are gone.
                std::thread::sleep(GRACE);
                oxeye::interrupt();
                std::process::exit(EXIT_CODE);
            });
        }
    });
}

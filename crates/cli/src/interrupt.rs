//! Ctrl-C and termination signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit code of an interrupted run.
pub(crate) const EXIT_CODE: u8 = 130;

/// Time in which an interrupted run may end by itself.
const GRACE: Duration = Duration::from_secs(2);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the run has been interrupted. Runs ask between steps and while they wait.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Ends the run's child processes on a signal, and the run itself if it does not end soon, or at a second signal.
pub(crate) fn handle() {
    // Without a handler the default action still ends the run, only less tidily.
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        oxeye::interrupt();
        if !again {
            // The run ends by itself as soon as it sees that its children are gone.
            std::thread::sleep(GRACE);
            oxeye::interrupt();
        }
        std::process::exit(EXIT_CODE.into());
    });
}

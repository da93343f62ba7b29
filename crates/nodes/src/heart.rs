//! Signs of life: a file that is touched as long as somebody works.

use crate::folder::Folder;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two signs.
const BEAT: Duration = Duration::from_secs(1);

/// Touches a file until it is dropped.
#[derive(Debug)]
pub(crate) struct Heart {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heart {
    pub(crate) fn start(folder: &Folder, kind: &'static str, name: &str) -> Heart {
        let (stop, stopped) = mpsc::channel();
        let (folder, name) = (folder.clone(), name.to_owned());
        // One that fails is as good as one that is late.
        let _ = folder.touch(kind, &name);
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let _ = folder.touch(kind, &name);
            }
        });
        Heart { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

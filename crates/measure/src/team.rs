//! Replay processes that run at once, as the processes of a parallel program do on one machine.

use crate::error::MeasureError;
use crate::runner::{CallTime, Runner};
use std::thread;

/// Processes with the same library and sample. What one of them alone is asked to do, all do at the same time, and what is told
/// is the slowest of them: they share caches and the bandwidth of the memory.
pub(crate) struct Team {
    members: Vec<Runner>,
    /// Whether they wait for each other's cores, which is then part of their time.
    is_crowded: bool,
}

impl Team {
    /// Starts so many processes.
    pub(crate) fn start(
        n_copies: usize,
        n_cores: usize,
        start: impl Fn(usize) -> Result<Runner, MeasureError>,
    ) -> Result<Team, MeasureError> {
        let members = (0..n_copies).map(start).collect::<Result<_, _>>()?;
        Ok(Team { members, is_crowded: n_copies > n_cores.max(1) })
    }

    /// Restores the inputs and calls, `n` times; the time of each call.
    pub(crate) fn call(&mut self, n: usize) -> Result<Vec<CallTime>, MeasureError> {
        self.together(|runner| runner.call(n))
    }

    /// As [`Runner::pause`].
    pub(crate) fn pause(&mut self) {
        self.members.iter_mut().for_each(Runner::pause);
    }

    /// As [`Runner::resume`].
    pub(crate) fn resume(&mut self) {
        self.members.iter_mut().for_each(Runner::resume);
    }

    /// What all do at the same time; the longest times.
    pub(crate) fn together(
        &mut self,
        work: impl Fn(&mut Runner) -> Result<Vec<CallTime>, MeasureError> + Sync,
    ) -> Result<Vec<CallTime>, MeasureError> {
        if let [alone] = self.members.as_mut_slice() {
            return work(alone);
        }
        let all: Vec<Result<Vec<CallTime>, MeasureError>> = thread::scope(|scope| {
            let work = &work;
            let started: Vec<_> =
                self.members.iter_mut().map(|runner| scope.spawn(move || work(runner))).collect();
            let ended = |thread: thread::ScopedJoinHandle<'_, _>| {
                let bug = || Err(MeasureError::Runner { text: "a thread that waited for it failed".into() });
                thread.join().unwrap_or_else(|_| bug())
            };
            started.into_iter().map(ended).collect()
        });
        let mut slowest: Vec<CallTime> = Vec::new();
        for times in all {
            let times = times?;
            slowest.resize(times.len(), CallTime::default());
            for (slowest, mut time) in slowest.iter_mut().zip(times) {
                if self.is_crowded {
                    time = CallTime { ns: time.ns + time.held_ns, held_ns: 0 };
                }
                if time.ns > slowest.ns {
                    *slowest = time;
                }
            }
        }
        Ok(slowest)
    }
}

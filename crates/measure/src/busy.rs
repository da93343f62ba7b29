//! Measuring beside other programs: how long a program could have run and did not, since they had the cores.
//!
//! Linux counts per thread how long it has run and how long it has been in the queue of a core (`schedstat`, see
//! Documentation/scheduler/sched-stats.rst). What is left without the waiting is what a program takes on a machine that it
//! has for itself. Threads that wait for each other sleep then: one that spins until another one comes to its turn looks as if
//! it worked.

use crate::cores::allowed_cores;
use libc::pid_t;
use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// A thread that has worked less than this part of what the busiest has is none of those that need a core.
const IDLE: f64 = 0.05;

/// What makes threads of OpenMP sleep while they wait.
const SLEEPING: (&str, &str) = ("OMP_WAIT_POLICY", "passive");
/// By these, users say how they wait.
const WAITING: [&str; 3] = [SLEEPING.0, "GOMP_SPINCOUNT", "KMP_BLOCKTIME"];

/// A variable of the environment for programs that are timed now: where others run, their threads sleep while they wait.
pub(crate) fn how_to_wait() -> Option<(&'static str, &'static str)> {
    let is_said = || WAITING.iter().any(|name| std::env::var_os(name).is_some());
    (others_run() && !is_said()).then_some(SLEEPING)
}

/// Whether another program runs at the moment, and still a little later.
fn others_run() -> bool {
    let is_one = || fs::read_to_string("/proc/loadavg").is_ok_and(|text| n_running(&text) > 1);
    is_one() && {
        sleep(Duration::from_millis(2));
        is_one()
    }
}

/// How many threads run or could run, this one among them, by `/proc/loadavg`.
fn n_running(text: &str) -> usize {
    let running = || text.split(' ').nth(3)?.split_once('/')?.0.parse().ok();
    running().unwrap_or(0)
}

/// The threads of a process and of all that it has started.
#[derive(Debug)]
pub(crate) struct Threads {
    leader: pid_t,
    /// What each had done when it was seen last.
    seen: BTreeMap<pid_t, Done>,
}

/// Nanoseconds of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    ran: u64,
    /// In the queue of a core.
    waited: u64,
}

impl Threads {
    pub(crate) fn of(leader: pid_t) -> Threads {
        Threads { leader, seen: BTreeMap::new() }
    }

    /// Notes what all have done so far. A process that has ended still tells as long as nobody has waited for it.
    pub(crate) fn look(&mut self) {
        let mut processes = vec![self.leader];
        while let Some(process) = processes.pop() {
            let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
            for task in tasks {
                let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
                let thread = task.file_name().to_str().and_then(|name| name.parse().ok());
                let times = read("schedstat");
                let mut times = times.split_whitespace().map_while(|number| number.parse().ok());
                if let (Some(thread), Some(ran), Some(waited)) = (thread, times.next(), times.next()) {
                    self.seen.insert(thread, Done { ran, waited });
                }
                processes
                    .extend(read("children").split_whitespace().filter_map(|pid| pid.parse::<pid_t>().ok()));
            }
        }
    }

    /// Nanoseconds of `elapsed` that the busiest thread has waited for a core, or slept while another one did; 0 where more of them
    /// work than there are cores, so that they wait for each other, and where the system does not tell.
    pub(crate) fn held_ns(&self, elapsed: Duration) -> u64 {
        let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        held_ns(self.seen.values().copied(), elapsed, allowed_cores().len())
    }
}

fn held_ns(threads: impl Iterator<Item = Done> + Clone, elapsed: u64, n_cores: usize) -> u64 {
    let Some(busiest) = threads.clone().max() else { return 0 };
    let working = threads.filter(|thread| thread.ran as f64 > IDLE * busiest.ran as f64);
    if working.clone().count() > n_cores {
        return 0;
    }
    let slept = elapsed.saturating_sub(busiest.ran + busiest.waited);
    let mut others: Vec<Done> = working.collect();
    others.sort_unstable();
    others.pop();
    let theirs = others.iter().map(|thread| thread.waited).max().unwrap_or(0);
    (busiest.waited + slept.min(theirs)).min(elapsed.saturating_sub(busiest.ran))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_others_hold_a_program_up() {
        let held = |threads: &[(u64, u64)], n_cores| {
            let threads = threads.iter().map(|&(ran, waited)| Done { ran, waited });
            held_ns(threads, 1500, n_cores)
        };
        assert_eq!(held(&[], 2), 0);
        assert_eq!(held(&[(1000, 300)], 1), 300);
        assert_eq!(held(&[(10, 50), (1000, 300)], 1), 300, "one that does next to nothing needs no core");
        assert_eq!(held(&[(900, 150), (1000, 300)], 2), 450);
        assert_eq!(held(&[(900, 500), (1000, 300)], 2), 500, "it slept for 200 only");
        assert_eq!(held(&[(900, 500), (1000, 300)], 1), 0, "they wait for each other");
    }

    #[test]
    fn the_system_tells_what_runs() {
        assert_eq!(n_running("1.84 2.21 1.87 3/180 4711\n"), 3);
        assert_eq!(n_running(""), 0);
    }
}

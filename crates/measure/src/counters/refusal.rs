//! Why a counter has no value, in words.

use std::io;

use super::counter::Counter;
use super::events::sources;
use super::machine::CountingMachine;

/// Why a counter has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("this processor or virtual machine has no such counter")]
    NoSuchCounter,
    #[error("no floating-point event is known for this processor")]
    UnknownFlops,
    #[error("this processor counts floating-point operations per type and width instead")]
    FlopsApart,
    #[error("this processor counts floating-point operations of all types and widths together instead")]
    FlopsTogether,
    #[error("this machine shows no memory-controller counters")]
    NoControllers,
    #[error("kernel.perf_event_paranoid is {level}; `{}` would grant it", sysctl(*needed))]
    Paranoid {
        level: i64,
        /// The highest level that grants the counter.
        needed: i64,
    },
    #[error(
        "perf_event_open is forbidden to this process, as in a container without `--cap-add PERFMON` or under a \
         security policy"
    )]
    Forbidden,
    #[error("this kernel or sandbox has no perf_event_open")]
    NoSystemCall,
    #[error("too many open files; a higher `ulimit -n` would grant it")]
    TooManyFiles,
    #[error("another process has it to itself")]
    Busy,
    #[error(
        "it never got a place on the processor, as others (the NMI watchdog, another profiler) hold the counters"
    )]
    NeverScheduled,
    #[error("it stays at zero: the processor or virtual machine lists it but does not count")]
    NothingCounted,
    #[error("perf_event_open: {0}")]
    Other(String),
}

impl Refusal {
    /// Interprets the error of the system call. `forbidden`: whether even the clock of a thread of our own is refused,
    /// though the paranoid level allows it.
    pub(super) fn of(
        error: &io::Error,
        counter: Counter,
        machine: &CountingMachine,
        forbidden: bool,
    ) -> Refusal {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => {
                let needed = needed_level(counter);
                match machine.paranoid {
                    Some(level) if level > needed && !forbidden => Refusal::Paranoid { level, needed },
                    _ => Refusal::Forbidden,
                }
            }
            Some(libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::EOPNOTSUPP | libc::EINVAL) => {
                Refusal::NoSuchCounter
            }
            Some(libc::ENOSYS) => Refusal::NoSystemCall,
            Some(libc::EMFILE | libc::ENFILE) => Refusal::TooManyFiles,
            Some(libc::EBUSY) => Refusal::Busy,
            _ if error.kind() == io::ErrorKind::Unsupported => Refusal::NoSystemCall,
            _ => Refusal::Other(error.to_string()),
        }
    }

    /// Why a counter without any event cannot be opened.
    pub(super) fn without_event(counter: Counter, machine: &CountingMachine) -> Refusal {
        let has = |other| !sources(other, machine).is_empty();
        match counter {
            Counter::DramReadBytes | Counter::DramWriteBytes => Refusal::NoControllers,
            Counter::AllFlops if has(Counter::F64ScalarFlops) => Refusal::FlopsApart,
            _ if has(Counter::AllFlops) => Refusal::FlopsTogether,
            _ => Refusal::UnknownFlops,
        }
    }
}

/// The highest `kernel.perf_event_paranoid` at which an ordinary user may open the counter. Distributions add levels
/// above 2, which forbid everything.
pub(super) fn needed_level(counter: Counter) -> i64 {
    match counter {
        Counter::DramReadBytes | Counter::DramWriteBytes => 0,
        Counter::ContextSwitches | Counter::CpuMigrations => 1,
        _ => 2,
    }
}

/// The one setting that grants the most: the paranoid level at which nothing is refused for it, else the permission,
/// else the number of files.
pub(super) fn remedy<'a>(refusals: impl Iterator<Item = &'a Refusal> + Clone) -> Option<String> {
    let level = refusals.clone().filter_map(|refusal| match refusal {
        Refusal::Paranoid { needed, .. } => Some(*needed),
        _ => None,
    });
    if let Some(needed) = level.min() {
        return Some(sysctl(needed));
    }
    let has = |wanted: &Refusal| refusals.clone().any(|refusal| refusal == wanted);
    if has(&Refusal::Forbidden) {
        let text = "allow perf_event_open: run outside the container, or with `--cap-add PERFMON`";
        return Some(text.to_owned());
    }
    has(&Refusal::TooManyFiles).then(|| "ulimit -n 4096".to_owned())
}

fn sysctl(level: i64) -> String {
    format!("sudo sysctl kernel.perf_event_paranoid={level}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: i32, counter: Counter, paranoid: Option<i64>, forbidden: bool) -> Refusal {
        let machine = CountingMachine { paranoid, ..CountingMachine::default() };
        Refusal::of(&io::Error::from_raw_os_error(errno), counter, &machine, forbidden)
    }

    #[test]
    fn reasons_are_told_apart() {
        for errno in [libc::ENOENT, libc::EOPNOTSUPP, libc::ENODEV] {
            assert_eq!(of(errno, Counter::Cycles, Some(2), false), Refusal::NoSuchCounter);
        }
        for errno in [libc::EACCES, libc::EPERM] {
            assert_eq!(of(errno, Counter::Cycles, Some(3), false), Refusal::Paranoid { level: 3, needed: 2 });
            assert_eq!(of(errno, Counter::Cycles, Some(2), false), Refusal::Forbidden);
            assert_eq!(
                of(errno, Counter::CpuMigrations, Some(2), false),
                Refusal::Paranoid { level: 2, needed: 1 }
            );
            assert_eq!(of(errno, Counter::CpuMigrations, Some(2), true), Refusal::Forbidden);
            assert_eq!(of(errno, Counter::Cycles, None, false), Refusal::Forbidden);
        }
        assert_eq!(of(libc::EMFILE, Counter::Cycles, None, false), Refusal::TooManyFiles);
        assert_eq!(of(libc::ENOSYS, Counter::Cycles, None, false), Refusal::NoSystemCall);
        assert!(matches!(of(libc::EIO, Counter::Cycles, None, false), Refusal::Other(_)));
    }

    #[test]
    fn the_remedy_is_the_setting_that_grants_the_most() {
        let paranoid = |needed| Refusal::Paranoid { level: 4, needed };
        assert_eq!(
            remedy([paranoid(2), Refusal::NoSuchCounter, paranoid(1)].iter()).as_deref(),
            Some("sudo sysctl kernel.perf_event_paranoid=1")
        );
        assert!(remedy([Refusal::Forbidden].iter()).is_some_and(|text| text.contains("PERFMON")));
        assert_eq!(remedy([Refusal::TooManyFiles].iter()).as_deref(), Some("ulimit -n 4096"));
        assert_eq!(remedy([Refusal::NoSuchCounter, Refusal::NeverScheduled].iter()), None);
        assert_eq!(
            Refusal::Paranoid { level: 3, needed: 1 }.to_string(),
            "kernel.perf_event_paranoid is 3; `sudo sysctl kernel.perf_event_paranoid=1` would grant it"
        );
    }
}

//! A kernel that answers from a script, to test on any machine what only some machines do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::os::fd::RawFd;

use super::kernel::{Count, Event, EventId, Kernel, Target};
use super::machine::CountingMachine;

/// What an event of a [`ScriptedKernel`] counts each time it is enabled and disabled again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScriptedCount {
    /// Occurrences seen.
    pub value: u64,
    /// The part of the time during which it counts: below 1 where others take turns with it, 0 where it never does.
    pub running: f64,
}

impl ScriptedCount {
    /// Always counting.
    pub fn of(value: u64) -> ScriptedCount {
        ScriptedCount { value, running: 1.0 }
    }
}

/// The script's answer to an attempt to open an event: what it will count, or an error number of the system.
pub type ScriptedAnswer = Result<ScriptedCount, i32>;

/// A kernel that answers from a script.
pub struct ScriptedKernel {
    machine: CountingMachine,
    script: Script,
    group_limit: usize,
    events: BTreeMap<EventId, Scripted>,
    opened: usize,
}

type Script = Box<dyn FnMut(&Event, Target) -> ScriptedAnswer>;

struct Scripted {
    leader: EventId,
    per_call: ScriptedCount,
    enabled: bool,
    count: Count,
}

impl ScriptedKernel {
    /// A kernel on a machine, which asks `script` at every attempt to open an event.
    pub fn new(
        machine: CountingMachine,
        script: impl FnMut(&Event, Target) -> ScriptedAnswer + 'static,
    ) -> ScriptedKernel {
        ScriptedKernel {
            machine,
            script: Box::new(script),
            group_limit: usize::MAX,
            events: BTreeMap::new(),
            opened: 0,
        }
    }

    /// The same, refusing groups of more than `limit` events with `EINVAL`, as processors do that cannot count as many
    /// at a time.
    pub fn with_group_limit(self, limit: usize) -> ScriptedKernel {
        ScriptedKernel { group_limit: limit, ..self }
    }

    /// The number of events open at the moment.
    pub fn n_open(&self) -> usize {
        self.events.len()
    }

    /// The number of groups they form.
    pub fn n_groups(&self) -> usize {
        self.events.values().map(|event| event.leader).collect::<BTreeSet<_>>().len()
    }

    fn set_enabled(&mut self, leader: EventId, enable: bool) -> io::Result<()> {
        /// Nanoseconds from an enabling to the disabling.
        const CALL_NS: u64 = 1_000_000;
        if !self.events.contains_key(&leader) {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        for event in self.events.values_mut().filter(|event| event.leader == leader) {
            if event.enabled && !enable {
                event.count.value += event.per_call.value;
                event.count.enabled_ns += CALL_NS;
                event.count.running_ns += (CALL_NS as f64 * event.per_call.running) as u64;
            }
            event.enabled = enable;
        }
        Ok(())
    }
}

impl Kernel for ScriptedKernel {
    fn machine(&self) -> CountingMachine {
        self.machine.clone()
    }

    fn open(&mut self, event: &Event, target: Target, leader: Option<EventId>) -> io::Result<EventId> {
        let per_call = (self.script)(event, target).map_err(io::Error::from_raw_os_error)?;
        let id = EventId(self.opened);
        let leader = leader.unwrap_or(id);
        let members = self.events.values().filter(|event| event.leader == leader).count();
        if members >= self.group_limit {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        self.opened += 1;
        self.events.insert(id, Scripted { leader, per_call, enabled: false, count: Count::default() });
        Ok(id)
    }

    fn close(&mut self, event: EventId) {
        self.events.remove(&event);
    }

    fn enable(&mut self, leader: EventId) -> io::Result<()> {
        self.set_enabled(leader, true)
    }

    fn disable(&mut self, leader: EventId) -> io::Result<()> {
        self.set_enabled(leader, false)
    }

    fn read(&mut self, event: EventId) -> io::Result<Count> {
        let event = self.events.get(&event).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
        Ok(event.count)
    }

    /// None: the events of a script are enabled and disabled here, not by another process.
    fn descriptor(&self, _: EventId) -> Option<RawFd> {
        None
    }
}

impl fmt::Debug for ScriptedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedKernel").field("machine", &self.machine).finish_non_exhaustive()
    }
}

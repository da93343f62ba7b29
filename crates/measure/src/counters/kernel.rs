//! The kernel's side of counting, as a trait, so that each of its answers can be tested on any machine.

use std::io;
use std::os::fd::RawFd;

use super::machine::CountingMachine;

/// What performs the system calls: [`RealKernel`](super::RealKernel), or
/// [`ScriptedKernel`](super::ScriptedKernel) in tests.
pub trait Kernel {
    /// What is known without opening any event.
    fn machine(&self) -> CountingMachine;

    /// Opens an event with a count of zero, which counts while its `leader` is enabled, or while it is enabled itself
    /// if it has none. Events of one leader count at the same time or not at all.
    ///
    /// # Errors
    /// The error of the system call.
    fn open(&mut self, event: &Event, target: Target, leader: Option<EventId>) -> io::Result<EventId>;

    /// Closes an event. Closing a leader before its members is harmless.
    fn close(&mut self, event: EventId);

    /// Lets a leader and its members count.
    ///
    /// # Errors
    /// The error of the system call.
    fn enable(&mut self, leader: EventId) -> io::Result<()>;

    /// Stops a leader and its members.
    ///
    /// # Errors
    /// What the system call says.
    fn disable(&mut self, leader: EventId) -> io::Result<()>;

    /// What was counted since the event was opened, threads started meanwhile included.
    ///
    /// # Errors
    /// What the system call says.
    fn read(&mut self, event: EventId) -> io::Result<Count>;

    /// The file descriptor with which another process can enable and disable the event.
    fn descriptor(&self, event: EventId) -> Option<RawFd>;
}

/// What to count, in the terms of `perf_event_open(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The kind of event: hardware, software, cache, raw, or that of a device.
    pub kind: u32,
    /// Which event of the kind.
    pub config: u64,
    /// Whether what the kernel does counts, too.
    pub include_kernel: bool,
}

/// Where to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A thread and the threads it will start. 0 is the calling one.
    Thread(i32),
    /// Everything that happens on one processor or its uncore.
    Processor(u32),
}

/// An open event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub usize);

/// What an event has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of occurrences seen.
    pub value: u64,
    /// Nanoseconds during which it was to count.
    pub enabled_ns: u64,
    /// Nanoseconds during which it did; less when events take turns on the hardware.
    pub running_ns: u64,
}

impl Count {
    /// The difference to an earlier reading.
    pub(crate) fn since(self, earlier: Count) -> Count {
        Count {
            value: self.value.saturating_sub(earlier.value),
            enabled_ns: self.enabled_ns.saturating_sub(earlier.enabled_ns),
            running_ns: self.running_ns.saturating_sub(earlier.running_ns),
        }
    }
}

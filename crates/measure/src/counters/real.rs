//! The kernel this process runs on.

use std::io;
use std::os::fd::RawFd;

use super::kernel::{Count, Event, EventId, Kernel, Target};
use super::machine::CountingMachine;
use open::OpenEvent;

/// Performs the system calls. Elsewhere than on Linux it refuses everything.
#[derive(Debug, Default)]
pub struct RealKernel {
    events: Vec<Option<OpenEvent>>,
}

impl RealKernel {
    /// With nothing open yet.
    pub fn new() -> RealKernel {
        RealKernel::default()
    }

    fn event(&mut self, id: EventId) -> io::Result<&mut OpenEvent> {
        let event = self.events.get_mut(id.0).and_then(Option::as_mut);
        event.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }
}

impl Kernel for RealKernel {
    fn machine(&self) -> CountingMachine {
        CountingMachine::this()
    }

    fn open(&mut self, event: &Event, target: Target, leader: Option<EventId>) -> io::Result<EventId> {
        let opened = match leader {
            None => OpenEvent::open(event, target, None)?,
            Some(leader) => OpenEvent::open(event, target, Some(self.event(leader)?))?,
        };
        self.events.push(Some(opened));
        Ok(EventId(self.events.len() - 1))
    }

    fn close(&mut self, event: EventId) {
        if let Some(slot) = self.events.get_mut(event.0) {
            *slot = None;
        }
    }

    fn enable(&mut self, leader: EventId) -> io::Result<()> {
        self.event(leader)?.enable()
    }

    fn disable(&mut self, leader: EventId) -> io::Result<()> {
        self.event(leader)?.disable()
    }

    fn read(&mut self, event: EventId) -> io::Result<Count> {
        self.event(event)?.read()
    }

    fn descriptor(&self, event: EventId) -> Option<RawFd> {
        self.events.get(event.0)?.as_ref().map(OpenEvent::descriptor)
    }
}

#[cfg(target_os = "linux")]
mod open {
    use std::fmt;
    use std::io;
    use std::os::fd::{AsRawFd, RawFd};

    use perf_event::events::Raw;
    use perf_event::{Builder, Counter};

    use super::{Count, Event, Target};

    pub(super) struct OpenEvent(Counter);

    impl fmt::Debug for OpenEvent {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "OpenEvent({})", self.0.as_raw_fd())
        }
    }

    impl OpenEvent {
        pub(super) fn open(
            event: &Event,
            target: Target,
            leader: Option<&mut OpenEvent>,
        ) -> io::Result<OpenEvent> {
            let mut builder = Builder::new(Raw::new(event.config));
            builder.attrs_mut().type_ = event.kind;
            // The memory controllers refuse to leave anything out.
            builder.exclude_kernel(!event.include_kernel).exclude_hv(!event.include_kernel);
            match target {
                Target::Thread(thread) => builder.observe_pid(thread).any_cpu().inherit(true),
                Target::Processor(processor) => builder.any_pid().one_cpu(processor as usize),
            };
            let counter = match leader {
                None => builder.build(),
                // Members wait for their leader. If they were enabled after it, one by one, they would begin only when
                // the thread is next scheduled.
                Some(leader) => builder.enabled(true).build_with_group(&mut leader.0),
            };
            counter.map(OpenEvent)
        }

        pub(super) fn enable(&mut self) -> io::Result<()> {
            self.0.enable()
        }

        pub(super) fn disable(&mut self) -> io::Result<()> {
            self.0.disable()
        }

        pub(super) fn read(&mut self) -> io::Result<Count> {
            let data = self.0.read_full()?;
            let ns = |time: Option<std::time::Duration>| {
                time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
            };
            Ok(Count {
                value: data.count(),
                enabled_ns: ns(data.time_enabled()),
                running_ns: ns(data.time_running()),
            })
        }

        pub(super) fn descriptor(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod open {
    use std::io;
    use std::os::fd::RawFd;

    use super::{Count, Event, Target};

    /// There is none.
    #[derive(Debug)]
    pub(super) enum OpenEvent {}

    impl OpenEvent {
        pub(super) fn open(_: &Event, _: Target, _: Option<&mut OpenEvent>) -> io::Result<OpenEvent> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn enable(&mut self) -> io::Result<()> {
            match *self {}
        }

        pub(super) fn disable(&mut self) -> io::Result<()> {
            match *self {}
        }

        pub(super) fn read(&mut self) -> io::Result<Count> {
            match *self {}
        }

        pub(super) fn descriptor(&self) -> RawFd {
            match *self {}
        }
    }
}

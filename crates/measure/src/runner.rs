//! One replay process, seen from the parent.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::busy::how_to_wait;
use crate::cores::pin;
use crate::descriptors::send_descriptors;
use crate::error::{MeasureError, Rejection};
use crate::process::{Drain, Exit, Group, Invocation, Limits};
use crate::sample::Sample;

pub(crate) const RUNNER_C: &str = include_str!("c/runner.c");

/// Where the arguments lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// As close to the guard page behind them as their alignment allows, to catch accesses out of bounds.
    Guard,
    /// At the same offset in a page as in the captured program, for timing.
    Natural,
}

/// What a replay process is started with.
pub(crate) struct RunnerSetup<'a> {
    pub(crate) runner: &'a Path,
    pub(crate) library: &'a Path,
    pub(crate) sample: &'a Sample,
    pub(crate) outputs: &'a Path,
    pub(crate) placement: Placement,
    /// Where it runs; anywhere if none are named.
    pub(crate) cores: &'a [usize],
    pub(crate) env: &'a [(String, OsString)],
    pub(crate) call_seconds: f64,
    pub(crate) memory_bytes: u64,
}

/// A replay process with its library loaded and its sample read.
pub(crate) struct Runner {
    group: Option<Group>,
    stream: UnixStream,
    pending: Vec<u8>,
    stderr: Option<Drain>,
    library: PathBuf,
    call_seconds: f64,
    /// Per piece of memory, the first argument in it.
    first_arg: Vec<usize>,
    fault: Option<Rejection>,
    paused: bool,
}

/// How long a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTime {
    /// Nanoseconds, as far as it could run.
    pub(crate) ns: u64,
    /// Nanoseconds on top of these in which it could not, as other programs had the cores.
    pub(crate) held_ns: u64,
}

/// How many events the replay process has room for.
pub(crate) const MAX_EVENTS: usize = 512;

/// Time to load a library and a sample. Loading runs the library's constructors, so it must be bounded too.
const LOAD_SECONDS: f64 = 60.0;

impl Runner {
    pub(crate) fn start(setup: &RunnerSetup<'_>) -> Result<Runner, MeasureError> {
        if let Some(position) = setup.sample.missing().first() {
            return Err(MeasureError::sample(
                &setup.sample.path,
                format!("argument {position} was not captured: the size of its memory is unknown"),
            ));
        }
        let placement = match setup.placement {
            Placement::Guard => "guard",
            Placement::Natural => "natural",
        };
        let (stream, theirs) =
            UnixStream::pair().map_err(MeasureError::io("make a socket for", setup.runner))?;
        let mut invocation = Invocation::new(setup.runner).args([
            setup.library.as_os_str(),
            setup.sample.path.as_os_str(),
            setup.outputs.as_os_str(),
            placement.as_ref(),
        ]);
        invocation.env = setup.env.to_vec();
        let invocation = invocation.waiting(how_to_wait());
        let mut command = invocation.command()?;
        pin(&mut command, setup.cores);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::piped());
        // A session makes many calls; the per-call limit is kept by this side.
        let limits = Limits {
            seconds: setup.call_seconds.max(LOAD_SECONDS) * 100.0,
            memory_bytes: Some(setup.memory_bytes),
            output_bytes: 64 << 10,
        };
        let mut group = Group::spawn(&mut command, &limits, false)?;
        // The command holds this process's copy of the child's end; the end of the child must be seen as end of file.
        drop(command);
        let stderr = Drain::start(group.stderr.take(), limits.output_bytes);
        let mut runner = Runner {
            group: Some(group),
            stream,
            pending: Vec::new(),
            stderr: Some(stderr),
            library: setup.library.to_path_buf(),
            call_seconds: setup.call_seconds,
            first_arg: Vec::new(),
            fault: None,
            paused: false,
        };
        runner.send_layout(setup.sample)?;
        match runner.answer(LOAD_SECONDS)?.as_str() {
            "ready" => Ok(runner),
            other => Err(runner.unexpected(other)),
        }
    }

    fn send_layout(&mut self, sample: &Sample) -> Result<(), MeasureError> {
        let mut text = String::new();
        let mut place = vec![(0, 0); sample.args.len()];
        for (group, members) in sample.groups().into_iter().enumerate() {
            let args = || members.iter().map(|&i| &sample.args[i]);
            let start = args().map(|arg| arg.address).min().unwrap_or(0);
            let end = args().map(|arg| arg.address + arg.bytes).max().unwrap_or(0);
            let (page_offset, alignment) = match start {
                // Staggered, so that synthetic arrays do not all compete for the same cache sets.
                0 => (group as u64 * 192 % 4096, 64),
                address => (address % 4096, 1 << address.trailing_zeros().min(6)),
            };
            text += &format!("g {} {page_offset} {alignment}\n", end - start);
            for &i in &members {
                place[i] = (group, sample.args[i].address - start);
            }
            self.first_arg.push(members[0]);
        }
        for (arg, (group, offset)) in sample.args.iter().zip(place) {
            if arg.address == 0 && arg.bytes == 0 {
                text += "a -1 0 0 0 0\n";
                continue;
            }
            text += &format!("a {group} {offset} {} {} {}\n", arg.offset, arg.bytes, arg.before);
        }
        self.send(&(text + "go\n"))
    }

    /// Restores the inputs and calls, `n` times; the time of each call.
    pub(crate) fn call(&mut self, n: usize) -> Result<Vec<CallTime>, MeasureError> {
        self.send(&format!("call {n}\n"))?;
        self.times(n, self.call_seconds)
    }

    /// Like [`Runner::call`] on `copies` copies of the inputs at a time; the time of each batch.
    pub(crate) fn batch(&mut self, copies: usize, n: usize) -> Result<Vec<CallTime>, MeasureError> {
        self.send(&format!("batch {copies} {n}\n"))?;
        self.times(n, self.call_seconds * copies as f64)
    }

    /// Like [`Runner::call`] with the inputs out of the caches: flushed where the processor can, and by a sweep over
    /// `bytes` of other memory.
    pub(crate) fn call_cold(&mut self, n: usize, bytes: u64) -> Result<Vec<CallTime>, MeasureError> {
        /// Time for a sweep, on top of the call's own.
        const SWEEP_SECONDS: f64 = 20.0;
        self.send(&format!("cold {n} {bytes}\n"))?;
        self.times(n, self.call_seconds + SWEEP_SECONDS)
    }

    /// Restores the inputs once and then calls repeatedly on what the calls before have left: `n` batches of
    /// `repetitions`; the time of each batch. A batch may take `seconds`.
    pub(crate) fn call_warm(
        &mut self,
        n: usize,
        repetitions: usize,
        seconds: f64,
    ) -> Result<Vec<CallTime>, MeasureError> {
        self.send(&format!("warm {n} {repetitions}\n"))?;
        self.times(n, seconds)
    }

    /// The process and the threads it has at the moment, itself first.
    pub(crate) fn threads(&self) -> Vec<i32> {
        let Some(pid) = self.group.as_ref().map(Group::pid) else { return Vec::new() };
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        let others = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let mut threads = vec![pid];
        threads.extend(others.filter(|thread| *thread != pid));
        threads
    }

    /// Hands over the descriptors of at most [`MAX_EVENTS`] perf events for [`Runner::call_counted`].
    pub(crate) fn give_events(&mut self, descriptors: &[RawFd]) -> Result<(), MeasureError> {
        self.send(&format!("events {}\n", descriptors.len()))?;
        let line = self.answer(LOAD_SECONDS)?;
        if line != "send" {
            return Err(self.unexpected(&line));
        }
        if send_descriptors(&self.stream, descriptors).is_err() {
            return Err(self.ended());
        }
        match self.answer(LOAD_SECONDS)?.as_str() {
            "received" => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Restores the inputs and calls once while some of the events handed over are enabled; nanoseconds of the call.
    pub(crate) fn call_counted(&mut self, events: Range<usize>) -> Result<u64, MeasureError> {
        self.send(&format!("counted {} {}\n", events.start, events.end))?;
        Ok(self.times(1, self.call_seconds)?.first().map_or(0, |time| time.ns))
    }

    fn times(&mut self, n: usize, seconds: f64) -> Result<Vec<CallTime>, MeasureError> {
        let mut times = Vec::with_capacity(n);
        for _ in 0..n {
            let line = self.answer(seconds)?;
            let numbers = line.strip_prefix("t ").and_then(|numbers| numbers.split_once(' '));
            let parsed = numbers.and_then(|(ns, held)| Some((ns.parse().ok()?, held.parse().ok()?)));
            match parsed {
                Some((ns, held_ns)) => times.push(CallTime { ns, held_ns }),
                None => return Err(self.unexpected(&line)),
            }
        }
        Ok(times)
    }

    /// Rejects the library if a call has written outside an argument.
    pub(crate) fn check_canaries(&mut self) -> Result<(), MeasureError> {
        self.send("check\n")?;
        let line = self.answer(LOAD_SECONDS)?;
        match line.strip_prefix("canary ") {
            Some("ok") => Ok(()),
            Some(group) => {
                let argument = self.argument_of(group);
                Err(MeasureError::rejected(
                    &self.library,
                    Rejection::OutOfBounds { argument: argument.unwrap_or(0) },
                ))
            }
            None => Err(self.unexpected(&line)),
        }
    }

    /// Writes the arguments that the last call has changed to the outputs file; returns which ones.
    pub(crate) fn dump(&mut self) -> Result<Vec<bool>, MeasureError> {
        self.send("dump\n")?;
        let line = self.answer(LOAD_SECONDS * 10.0)?;
        match line.strip_prefix("changed") {
            Some(flags) => Ok(flags.trim().bytes().map(|flag| flag == b'1').collect()),
            None => Err(self.unexpected(&line)),
        }
    }

    /// Stops the whole process, so that its idle threads do not spin while another one is timed.
    pub(crate) fn pause(&mut self) {
        if let Some(group) = &self.group {
            group.signal(libc::SIGSTOP);
            self.paused = true;
        }
    }

    /// Undoes [`Runner::pause`].
    pub(crate) fn resume(&mut self) {
        if let (Some(group), true) = (&self.group, self.paused) {
            group.signal(libc::SIGCONT);
            self.paused = false;
        }
    }

    fn argument_of(&self, group: &str) -> Option<usize> {
        group.parse::<usize>().ok().and_then(|group| self.first_arg.get(group).copied())
    }

    fn send(&mut self, text: &str) -> Result<(), MeasureError> {
        match self.stream.write_all(text.as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended()),
        }
    }

    /// The next line, or the reason why none came.
    fn answer(&mut self, seconds: f64) -> Result<String, MeasureError> {
        let deadline = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line[..end]).into_owned();
                match line.strip_prefix("fault ") {
                    Some(fault) => self.note_fault(fault),
                    None => return Ok(line),
                }
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.rejected(Rejection::TimedOut { seconds }));
            }
            let _ = self.stream.set_read_timeout(Some(left));
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(self.ended()),
                Ok(n) => self.pending.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::TimedOut => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.ended()),
            }
        }
    }

    fn note_fault(&mut self, fault: &str) {
        let words: Vec<&str> = fault.split(' ').collect();
        let [_signal, group, out_of_memory] = words[..] else { return };
        if let Some(argument) = self.argument_of(group) {
            self.fault = Some(Rejection::OutOfBounds { argument });
        } else if out_of_memory == "1" {
            self.fault = Some(Rejection::OutOfMemory);
        }
    }

    /// Why the process has closed its end of the socket.
    fn ended(&mut self) -> MeasureError {
        let Some(group) = self.group.take() else {
            return MeasureError::Runner { text: "has already ended".to_owned() };
        };
        // Its last messages, such as a fault.
        let _ = self.stream.set_read_timeout(Some(Duration::from_secs(1)));
        let _ = self.stream.read_to_end(&mut self.pending);
        let pending = String::from_utf8_lossy(&self.pending).into_owned();
        if let Some(fault) = pending.lines().find_map(|line| line.strip_prefix("fault ")) {
            self.note_fault(fault);
        }
        let (_, killed_by_us) = group.wait_until(Instant::now() + Duration::from_secs(5));
        let (exit, _) = group.finish();
        let rejection = match (self.fault.take(), exit) {
            (Some(fault), _) => fault,
            (None, _) if killed_by_us => Rejection::TimedOut { seconds: self.call_seconds },
            (None, Exit::Signal(libc::SIGXCPU)) => Rejection::TimedOut { seconds: self.call_seconds },
            (None, Exit::Signal(libc::SIGKILL)) => Rejection::OutOfMemory,
            (None, Exit::Signal(signal)) => Rejection::Crashed { signal },
            (None, Exit::Exited(_)) if says_out_of_memory(&self.take_stderr()) => Rejection::OutOfMemory,
            (None, Exit::Exited(code)) => Rejection::Exited { code },
            (None, Exit::TimedOut) => Rejection::TimedOut { seconds: self.call_seconds },
        };
        MeasureError::rejected(&self.library, rejection)
    }

    fn unexpected(&mut self, line: &str) -> MeasureError {
        if let Some(text) = line.strip_prefix("error load ") {
            return self.rejected(Rejection::LoadFailed { text: text.to_owned() });
        }
        if line == "error memory" {
            return self.rejected(Rejection::OutOfMemory);
        }
        self.group = None;
        MeasureError::Runner { text: line.strip_prefix("error io ").unwrap_or(line).to_owned() }
    }

    fn rejected(&mut self, rejection: Rejection) -> MeasureError {
        self.group = None;
        MeasureError::rejected(&self.library, rejection)
    }

    fn take_stderr(&mut self) -> String {
        self.stderr
            .take()
            .map(|drain| String::from_utf8_lossy(&drain.take().0).into_owned())
            .unwrap_or_default()
    }
}

/// What OpenMP run-time libraries print before they end a process for lack of memory or threads.
fn says_out_of_memory(stderr: &str) -> bool {
    let text = stderr.to_ascii_lowercase();
    text.contains("out of memory")
        || text.contains("cannot allocate")
        || text.contains("resource temporarily unavailable")
}

//! A set of counters, opened one by one, counting in rounds, read together.

use std::io;

use super::counter::Counter;
use super::events::{Source, sources};
use super::kernel::{Count, EventId, Kernel, Target};
use super::reading::{CounterReading, MissingCounter};
use super::refusal::Refusal;
use crate::statistics::Stat;

/// Counters open on some threads.
///
/// Counters that belong together form a group, which counts at the same time or not at all; the groups make **rounds**.
/// As a processor has few places for events, rounds that count in calls of their own need not take turns.
#[derive(Debug)]
pub(crate) struct Session {
    members: Vec<Member>,
    groups: Vec<Group>,
    refused: Vec<(Counter, Refusal)>,
}

#[derive(Debug)]
struct Member {
    counter: Counter,
    /// With what one count of the event is worth, in the counter's unit.
    events: Vec<(EventId, f64)>,
    round: usize,
    /// Per event, the count at the last reading.
    seen: Vec<Count>,
    /// Per call in which it counted.
    values: Vec<f64>,
    scaled: bool,
    /// What went wrong when it was last read.
    failure: Option<Refusal>,
}

#[derive(Debug)]
struct Group {
    family: Family,
    /// Per thread, the event that leads the others; all events of the memory controllers lead.
    leaders: Vec<EventId>,
}

/// Counters that are best counted at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Software,
    Core,
    L1d,
    LastLevel,
    Dtlb,
    F64,
    F32,
    AllFlops,
    Memory,
}

impl Session {
    /// Opens what is granted of `counters` on `threads` and on the threads which these will start. The first thread is
    /// the one that must be there.
    pub(crate) fn open(kernel: &mut dyn Kernel, counters: &[Counter], threads: &[i32]) -> Session {
        let machine = kernel.machine();
        let forbidden = is_forbidden(kernel, threads);
        let mut session = Session { members: Vec::new(), groups: Vec::new(), refused: Vec::new() };
        for &counter in counters {
            let events = sources(counter, &machine);
            if events.is_empty() {
                session.refused.push((counter, Refusal::without_event(counter, &machine)));
            } else if let Err(error) = session.add(kernel, counter, &events, threads) {
                session.refused.push((counter, Refusal::of(&error, counter, &machine, forbidden)));
            }
        }
        session
    }

    /// Adds a counter to the last group of its family, or where that is full, to a new one.
    fn add(
        &mut self,
        kernel: &mut dyn Kernel,
        counter: Counter,
        events: &[Source],
        threads: &[i32],
    ) -> io::Result<()> {
        let family = Family::of(counter);
        let last = self.groups.iter().rposition(|group| group.family == family);
        if let Some(round) = last {
            let leaders = self.groups[round].leaders.clone();
            if let Ok(opened) = open_all(kernel, events, threads, &leaders) {
                if family == Family::Memory {
                    self.groups[round].leaders.extend(opened.iter().map(|(id, _)| *id));
                }
                self.members.push(Member::new(counter, opened, round));
                return Ok(());
            }
        }
        let opened = open_all(kernel, events, threads, &[])?;
        let leaders = opened.iter().map(|(id, _)| *id).collect();
        self.members.push(Member::new(counter, opened, self.groups.len()));
        self.groups.push(Group { family, leaders });
        Ok(())
    }

    /// Per round, the events to enable and disable.
    pub(crate) fn rounds(&self) -> impl ExactSizeIterator<Item = &[EventId]> {
        self.groups.iter().map(|group| group.leaders.as_slice())
    }

    /// Records what the counters of a round, or all of them, counted in the call that has just ended.
    pub(crate) fn look(&mut self, kernel: &mut dyn Kernel, round: Option<usize>) {
        for member in self.members.iter_mut().filter(|m| round.is_none_or(|round| m.round == round)) {
            member.look(kernel);
        }
    }

    /// The median value per call of every counter that counted, and why the others did not.
    pub(crate) fn results(&self) -> (Vec<CounterReading>, Vec<(Counter, Refusal)>) {
        let mut readings = Vec::new();
        let mut missing = self.refused.clone();
        for member in &self.members {
            let counter = member.counter;
            let value = Stat::of(member.values.iter().copied()).median;
            if member.values.is_empty() {
                let why = member.failure.clone().unwrap_or(Refusal::NeverScheduled);
                missing.push((counter, why));
            } else if value == 0.0 && counter.is_never_zero() {
                missing.push((counter, Refusal::NothingCounted));
            } else {
                readings.push(CounterReading { counter, value, scaled: member.scaled });
            }
        }
        readings.sort_by_key(|reading| reading.counter);
        missing.sort_by_key(|(counter, _)| *counter);
        (readings, missing)
    }

    /// Closes all events.
    pub(crate) fn close(self, kernel: &mut dyn Kernel) {
        for (id, _) in self.members.iter().flat_map(|member| &member.events) {
            kernel.close(*id);
        }
    }
}

/// The list for users.
pub(crate) fn in_words(missing: &[(Counter, Refusal)]) -> Vec<MissingCounter> {
    missing.iter().map(|(counter, why)| MissingCounter { counter: *counter, why: why.to_string() }).collect()
}

impl Member {
    fn new(counter: Counter, events: Vec<(EventId, f64)>, round: usize) -> Member {
        let seen = vec![Count::default(); events.len()];
        Member { counter, events, round, seen, values: Vec::new(), scaled: false, failure: None }
    }

    fn look(&mut self, kernel: &mut dyn Kernel) {
        let (mut value, mut counted) = (0.0, false);
        for ((id, worth), seen) in self.events.iter().zip(&mut self.seen) {
            let count = match kernel.read(*id) {
                Ok(count) => count,
                Err(error) => {
                    self.failure = Some(Refusal::Other(format!("reading it failed: {error}")));
                    return;
                }
            };
            let new = count.since(*seen);
            *seen = count;
            if new.running_ns > 0 {
                let scale = new.enabled_ns as f64 / new.running_ns as f64;
                value += new.value as f64 * scale.max(1.0) * worth;
                self.scaled |= new.running_ns < new.enabled_ns;
                counted = true;
            } else if new.enabled_ns > 0 {
                self.failure = Some(Refusal::NeverScheduled);
                return;
            }
            // A thread that sleeps through the call is enabled for no time at all.
        }
        if counted {
            self.values.push(value);
        }
    }
}

impl Family {
    fn of(counter: Counter) -> Family {
        match counter {
            Counter::TaskClock | Counter::PageFaults | Counter::ContextSwitches | Counter::CpuMigrations => {
                Family::Software
            }
            Counter::Cycles | Counter::Instructions | Counter::Branches | Counter::BranchMisses => {
                Family::Core
            }
            Counter::L1dReads | Counter::L1dReadMisses | Counter::L1dWrites | Counter::L1dWriteMisses => {
                Family::L1d
            }
            Counter::LlReads | Counter::LlReadMisses | Counter::LlWrites | Counter::LlWriteMisses => {
                Family::LastLevel
            }
            Counter::DtlbReadMisses | Counter::DtlbWriteMisses => Family::Dtlb,
            Counter::F64ScalarFlops
            | Counter::F64Vector128Flops
            | Counter::F64Vector256Flops
            | Counter::F64Vector512Flops => Family::F64,
            Counter::F32ScalarFlops
            | Counter::F32Vector128Flops
            | Counter::F32Vector256Flops
            | Counter::F32Vector512Flops => Family::F32,
            Counter::AllFlops => Family::AllFlops,
            Counter::DramReadBytes | Counter::DramWriteBytes => Family::Memory,
        }
    }
}

/// Opens every event on every thread, or on its processor; on an error nothing stays open.
fn open_all(
    kernel: &mut dyn Kernel,
    events: &[Source],
    threads: &[i32],
    leaders: &[EventId],
) -> io::Result<Vec<(EventId, f64)>> {
    let mut opened = Vec::new();
    let mut failed = None;
    for source in events {
        let attempts: Vec<(Target, Option<EventId>)> = match source.processor {
            Some(processor) => vec![(Target::Processor(processor), None)],
            None => {
                let leader = |i: usize| leaders.get(i).copied();
                threads.iter().enumerate().map(|(i, &t)| (Target::Thread(t), leader(i))).collect()
            }
        };
        for (target, leader) in attempts {
            match kernel.open(&source.event, target, leader) {
                Ok(id) => opened.push((id, source.worth)),
                Err(error) => failed = Some(error),
            }
        }
    }
    match failed {
        None => Ok(opened),
        Some(error) => {
            opened.into_iter().for_each(|(id, _)| kernel.close(id));
            Err(error)
        }
    }
}

/// Whether even the clock of the first thread is refused for want of permission, which the paranoid level of most
/// systems allows everybody.
fn is_forbidden(kernel: &mut dyn Kernel, threads: &[i32]) -> bool {
    let machine = kernel.machine();
    if machine.paranoid.is_none_or(|level| level > super::refusal::needed_level(Counter::TaskClock)) {
        return false;
    }
    let clock = sources(Counter::TaskClock, &machine);
    match open_all(kernel, &clock, &threads[..threads.len().min(1)], &[]) {
        Ok(opened) => {
            opened.into_iter().for_each(|(id, _)| kernel.close(id));
            false
        }
        Err(error) => matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)),
    }
}

//! Running a nest under counters.

use std::ops::Range;
use std::os::fd::RawFd;
use std::path::Path;

use serde::Serialize;

use crate::counters::{
    Counter, CounterReading, EventId, Kernel, MissingCounter, RealKernel, Session, in_words,
};
use crate::error::MeasureError;
use crate::replay::Replay;
use crate::runner::{MAX_EVENTS, Runner};
use crate::sample::Sample;
use crate::statistics::Stat;

/// What to count, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct CountingOptions {
    /// The counters to ask for.
    pub counters: Vec<Counter>,
    /// Calls per counter; the median is reported.
    pub calls: usize,
    /// Seconds that the counted calls should take together. If there is enough time, every group of counters gets calls
    /// of its own; otherwise all count in the same calls, multiplexed where the processor has too few registers.
    pub max_seconds: f64,
}

impl Default for CountingOptions {
    fn default() -> CountingOptions {
        CountingOptions { counters: Counter::ALL.to_vec(), calls: 3, max_seconds: 2.0 }
    }
}

/// What was counted during the calls of a nest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountedCalls {
    /// Per call, in the order of [`Counter::ALL`].
    pub readings: Vec<CounterReading>,
    /// The counters that were asked for and have no value.
    pub missing: Vec<MissingCounter>,
    /// Nanoseconds of the counted calls.
    pub call_ns: Stat,
}

impl CountedCalls {
    /// The value of a counter, if it has one.
    pub fn value(&self, counter: Counter) -> Option<f64> {
        self.readings.iter().find(|reading| reading.counter == counter).map(|reading| reading.value)
    }

    /// Floating-point operations of a call, of all types and widths; `None` unless the processor counts them all.
    pub fn flops(&self) -> Option<f64> {
        let parts = Counter::ALL.into_iter().filter(|c| c.is_flops() && *c != Counter::AllFlops);
        self.value(Counter::AllFlops).or_else(|| parts.map(|part| self.value(part)).sum())
    }
}

impl Replay {
    /// Calls a library on a sample under the counters that this machine grants.
    ///
    /// Counters are enabled right before a call and disabled right after it, with the inputs restored before, on all
    /// threads of the library. The library has been called once already when counting begins: its threads run, its
    /// memory is mapped. Threads of the library that wait for work meanwhile are counted as well, and enabling the
    /// counters on several threads takes some microseconds, which matters in calls as short as that. Only
    /// [machine-wide](Counter::is_machine_wide) counters see other processes.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes or hangs. A refused counter is no error.
    pub fn counted(
        &self,
        library: &Path,
        sample: &Sample,
        options: &CountingOptions,
    ) -> Result<CountedCalls, MeasureError> {
        self.counted_by(&mut RealKernel::new(), library, sample, options)
    }

    /// [`Replay::counted`] with the answers of any kernel.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] when the library crashes or hangs.
    pub fn counted_by(
        &self,
        kernel: &mut dyn Kernel,
        library: &Path,
        sample: &Sample,
        options: &CountingOptions,
    ) -> Result<CountedCalls, MeasureError> {
        let mut runner = self.start_alone(library, sample, &[])?;
        // Before the first call, so that the threads which it starts are followed.
        let mut session = Session::open(kernel, &options.counters, &runner.threads());
        let counted = count(kernel, &mut runner, &mut session, options);
        let (readings, missing) = session.results();
        session.close(kernel);
        Ok(CountedCalls { readings, missing: in_words(&missing), call_ns: Stat::of(counted?) })
    }
}

/// Nanoseconds of each counted call.
fn count(
    kernel: &mut dyn Kernel,
    runner: &mut Runner,
    session: &mut Session,
    options: &CountingOptions,
) -> Result<Vec<f64>, MeasureError> {
    let mut descriptors = Vec::new();
    let rounds: Vec<Round> =
        session.rounds().map(|leaders| Round::new(kernel, leaders, &mut descriptors)).collect();
    if !descriptors.is_empty() {
        runner.give_events(&descriptors)?;
    }
    let first_ns = runner.call(1)?.first().map_or(1, |time| time.ns.max(1));
    let possible = options.max_seconds.max(0.0) / (first_ns as f64 / 1e9);
    let calls = |rounds: usize| ((possible / rounds as f64) as usize).clamp(1, options.calls.max(1));
    let mut times = Vec::new();
    if possible < rounds.len() as f64 || rounds.is_empty() {
        let all = Round::all(rounds, descriptors.len());
        for _ in 0..calls(1) {
            times.push(all.call(kernel, runner)?);
            session.look(kernel, None);
        }
    } else {
        for _ in 0..calls(rounds.len()) {
            for (number, round) in rounds.iter().enumerate() {
                times.push(round.call(kernel, runner)?);
                session.look(kernel, Some(number));
            }
        }
    }
    Ok(times)
}

/// Events that count in the same call.
#[derive(Default)]
struct Round {
    /// Those the replay process enables itself, as positions among the descriptors it was given.
    theirs: Range<usize>,
    /// Those without a descriptor.
    ours: Vec<EventId>,
}

impl Round {
    fn new(kernel: &dyn Kernel, leaders: &[EventId], descriptors: &mut Vec<RawFd>) -> Round {
        let start = descriptors.len();
        let mut ours = Vec::new();
        for leader in leaders {
            match kernel.descriptor(*leader) {
                Some(descriptor) if descriptors.len() < MAX_EVENTS => descriptors.push(descriptor),
                // Never enabled, so found missing.
                Some(_) => {}
                None => ours.push(*leader),
            }
        }
        Round { theirs: start..descriptors.len(), ours }
    }

    fn all(rounds: Vec<Round>, n_descriptors: usize) -> Round {
        Round { theirs: 0..n_descriptors, ours: rounds.into_iter().flat_map(|round| round.ours).collect() }
    }

    fn call(&self, kernel: &mut dyn Kernel, runner: &mut Runner) -> Result<f64, MeasureError> {
        // An event that cannot be enabled counts nothing, and is found missing for it.
        for event in &self.ours {
            let _ = kernel.enable(*event);
        }
        let ns = runner.call_counted(self.theirs.clone())?;
        for event in &self.ours {
            let _ = kernel.disable(*event);
        }
        Ok(ns as f64)
    }
}

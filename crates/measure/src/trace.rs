//! Running a program that notes when each of its threads is in which loop nest.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::counters::{Counter, thread_event};
use crate::error::MeasureError;
use crate::process::{Invocation, Limits, RunOutcome, run_program};

/// C text for the top of a program that calls, around each nest with its number as `site` (below 1024, or
/// `OXEYE_TRACE_SITES` if that is defined),
///
/// ```c
/// oxeye_trace_begin(site);
/// /* the nest */
/// oxeye_trace_end(site);
/// ```
///
/// It needs no headers, and every name in it begins with `oxeye_trace_`. The program is to be linked with
/// [`trace_link_args`].
pub const TRACE_RUNTIME_C: &str = include_str!("c/trace.c");

/// The functions that start the parallel regions of gcc's OpenMP.
const REGIONS: [&str; 11] = [
    "GOMP_parallel",
    "GOMP_parallel_reductions",
    "GOMP_parallel_sections",
    "GOMP_parallel_loop_static",
    "GOMP_parallel_loop_dynamic",
    "GOMP_parallel_loop_guided",
    "GOMP_parallel_loop_nonmonotonic_dynamic",
    "GOMP_parallel_loop_nonmonotonic_guided",
    "GOMP_parallel_loop_runtime",
    "GOMP_parallel_loop_nonmonotonic_runtime",
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
];

/// What a traced program is linked with, so that the parts which threads have in parallel regions are seen. Of programs whose
/// compiler has another OpenMP than gcc's, only the threads that enter a nest are.
pub fn trace_link_args() -> Vec<String> {
    REGIONS.iter().map(|name| format!("-Wl,--wrap={name}")).collect()
}

/// How a program is traced.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// Most intervals that are kept; times are summed up in any case.
    pub events: usize,
    /// Counters to read at both ends of each interval, at most 8; those that a thread cannot have are left out.
    pub counters: Vec<Counter>,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { events: 100_000, counters: Vec::new() }
    }
}

/// A traced run. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct TraceRun {
    /// How the program ended, and its output.
    pub outcome: RunOutcome,
    /// Whether it ended by itself, so that everything is complete.
    pub complete: bool,
    /// The nests that were run, by their numbers.
    pub sites: Vec<SiteTimes>,
    /// The intervals that were kept, by their begin.
    pub intervals: Vec<Interval>,
    /// Those that were not, for lack of room.
    pub dropped: u64,
    /// Nests that were left other than at their end; they are in none of the figures.
    pub abandoned: u64,
}

/// The times of all runs of a nest, in whichever thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteTimes {
    /// Which nest.
    pub site: u32,
    /// How often it was run.
    pub calls: u64,
    /// Time of all of them.
    pub sum_ns: u64,
    /// The shortest.
    pub least_ns: u64,
    /// The longest.
    pub most_ns: u64,
}

/// A thread in a nest.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Which thread, from 0 in the order in which they were first seen.
    pub thread: u32,
    /// Which nest; `None` for a parallel region outside of all.
    pub site: Option<u32>,
    /// Whether it is a thread's part of a parallel region, and not the nest as a whole.
    pub is_part: bool,
    /// When it began, from the start of the trace.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// What was counted meanwhile.
    pub counts: Vec<(Counter, u64)>,
}

/// Runs a program made with [`TRACE_RUNTIME_C`]; `file` is where it writes, which must not be there yet.
///
/// # Errors
/// When it cannot be started, or what it wrote makes no sense. A program that is stopped or crashes has no figures.
pub fn trace(
    invocation: &Invocation,
    limits: &Limits,
    file: &Path,
    options: &TraceOptions,
) -> Result<TraceRun, MeasureError> {
    let counted: Vec<(Counter, String)> = options
        .counters
        .iter()
        .filter_map(|counter| {
            let event = thread_event(*counter)?;
            Some((*counter, format!("{}:{}:{}", event.kind, event.config, u8::from(event.include_kernel))))
        })
        .take(8)
        .collect();
    let list: Vec<&str> = counted.iter().map(|(_, words)| words.as_str()).collect();
    let invocation = invocation
        .clone()
        .env("OXEYE_TRACE", OsString::from(std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())))
        .env("OXEYE_TRACE_EVENTS", options.events.to_string())
        .env("OXEYE_TRACE_COUNTERS", list.join(","));
    let outcome = run_program(&invocation, limits)?;
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(MeasureError::Io { action: "read", path: file.to_path_buf(), source }),
    };
    let counters: Vec<Counter> = counted.into_iter().map(|(counter, _)| counter).collect();
    parse(&text, &counters, outcome)
        .map_err(|line| MeasureError::sample(file, format!("damaged line `{line}`")))
}

/// Reads what a program wrote.
///
/// # Errors
/// The first line that makes no sense.
fn parse(text: &str, counters: &[Counter], outcome: RunOutcome) -> Result<TraceRun, String> {
    let mut run = TraceRun {
        outcome,
        complete: false,
        sites: Vec::new(),
        intervals: Vec::new(),
        dropped: 0,
        abandoned: 0,
    };
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).ok_or(line);
        match words.first().copied() {
            Some("thread") => run.abandoned += number(3)?,
            Some("site") => run.add(SiteTimes {
                site: number(1)? as u32,
                calls: number(3)?,
                sum_ns: number(5)?,
                least_ns: number(7)?,
                most_ns: number(9)?,
            }),
            Some("event") => {
                let site = words.get(3).and_then(|word| word.parse::<i64>().ok()).ok_or(line)?;
                let counts = counters.iter().zip(words.iter().skip(6));
                run.intervals.push(Interval {
                    thread: number(1)? as u32,
                    site: u32::try_from(site).ok(),
                    is_part: number(2)? == 1,
                    begin_ns: number(4)?,
                    end_ns: number(5)?,
                    counts: counts
                        .filter_map(|(counter, word)| Some((*counter, word.parse().ok()?)))
                        .collect(),
                });
            }
            Some("dropped") => run.dropped = number(1)?,
            Some("finished") => run.complete = true,
            _ => return Err(line.to_owned()),
        }
    }
    run.sites.sort_by_key(|site| site.site);
    run.intervals.sort_by_key(|interval| (interval.begin_ns, interval.thread, interval.is_part));
    Ok(run)
}

impl TraceRun {
    /// Adds the times of one thread.
    fn add(&mut self, times: SiteTimes) {
        match self.sites.iter_mut().find(|known| known.site == times.site) {
            Some(known) => {
                known.calls += times.calls;
                known.sum_ns += times.sum_ns;
                known.least_ns = known.least_ns.min(times.least_ns);
                known.most_ns = known.most_ns.max(times.most_ns);
            }
            None => self.sites.push(times),
        }
    }
}

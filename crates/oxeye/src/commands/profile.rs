//! The profile of every nest as the user's compiler builds it, against the roofline of the machine.

use crate::commands::profile_cache::{self, CacheKey};
use crate::machine::counts::count;
use crate::{Captured, Error, Event, Options, Phase, Progress, Sizes, Tuner};
use indexmap::IndexMap;
use oxeye_host::{HostKey, HostProfile, Provenance, Quantity};
use oxeye_measure::{Counter, CountingOptions, MissingCounter, ProfileTimingOptions, Sample, Stat};
use oxeye_profile::{CounterValue, NestInput, NestProfile, ThreadTime, profile_nest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name and version of the report's form.
pub const PROFILE_SCHEMA: &str = "oxeye.profile/1";

/// Nests that take longer are timed once, cold and warm each.
const LONG_NS: u64 = 1_500_000_000;

/// The profiles of the nests of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileReport {
    /// [`PROFILE_SCHEMA`].
    pub schema: String,
    /// The user's file.
    pub input: PathBuf,
    /// Which machine.
    pub host: HostKey,
    /// The compiler and its arguments.
    pub compiler: String,
    /// Threads that the user's own parallel loops were given.
    pub threads: u32,
    /// Seconds of the whole program, if there is one.
    pub program_seconds: Option<f64>,
    /// Whether all of it was kept from an earlier run on the same program, inputs, compiler, flags and machine.
    pub from_cache: bool,
    /// The nests that ran, in the order of the file.
    pub nests: Vec<NestProfile>,
    /// The nests without a profile, and why.
    pub skipped: Vec<SkippedNest>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// A nest without a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedNest {
    /// Position in the file, from 0.
    pub id: usize,
    /// `function:line`.
    pub name: String,
    /// Why.
    pub why: String,
}

/// What a profile is made of besides the options of tuning.
#[derive(Clone, Copy, Debug)]
pub struct ProfileOptions {
    /// Seconds for the timing of one nest, cold and warm each.
    pub seconds: f64,
    /// Whether results of an earlier run may be used.
    pub use_cache: bool,
    /// Ask for hardware counters.
    pub counters: bool,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self { seconds: 0.7, use_cache: true, counters: true }
    }
}

impl ProfileReport {
    /// The report as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of a report has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has a JSON form");
        text.push('\n');
        text
    }
}

/// Profiles the loop nests of `options.file`: runs the program once, then each nest by itself on what it was called with.
///
/// # Errors
/// If the program cannot be built or run, or the machine cannot be measured.
pub fn profile(
    options: &Options,
    profiling: &ProfileOptions,
    progress: &dyn Progress,
) -> Result<(ProfileReport, HostProfile), Error> {
    let tuner = Tuner::for_reading(options, progress)?;
    let outcome = tuner.profile_file(profiling);
    outcome.map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

impl Tuner<'_> {
    fn profile_file(&self, profiling: &ProfileOptions) -> Result<(ProfileReport, HostProfile), Error> {
        let host = self.host_profile.clone().ok_or_else(|| {
            let why = self.notes.first().cloned().unwrap_or_default();
            Error::Input(format!("there is no profile without a host profile; {why}"))
        })?;
        let unit = self.read()?;
        let key = CacheKey::of(self, &unit, &host, profiling);
        if profiling.use_cache
            && let Some(found) = profile_cache::load(&key)
        {
            return Ok((ProfileReport { input: self.options.file.clone(), from_cache: true, ..found }, host));
        }
        let captured = self.capture(unit)?;
        let report = self.profile(&captured, &host, profiling)?;
        let mut report = report;
        if let Err(why) = profile_cache::save(&key, &report) {
            report.notes.push(format!("the profile was not kept for the next run: {why}"));
        }
        Ok((report, host))
    }

    /// The profiles of all nests that ran.
    ///
    /// # Errors
    /// If the run is interrupted, or a process cannot be started.
    pub fn profile(
        &self,
        captured: &Captured,
        host: &HostProfile,
        profiling: &ProfileOptions,
    ) -> Result<ProfileReport, Error> {
        self.enter(Phase::Profiling)?;
        let mut report = ProfileReport {
            schema: PROFILE_SCHEMA.into(),
            input: self.options.file.clone(),
            host: host.key.clone(),
            compiler: self.options.compiler.line(),
            threads: self.threads,
            program_seconds: captured.program.as_ref().map(|p| p.seconds),
            from_cache: false,
            nests: Vec::new(),
            skipped: Vec::new(),
            notes: self.notes.clone(),
        };
        let n_nests = captured.nests.len();
        for idx in 0..n_nests {
            self.check_cancelled()?;
            let nest = &captured.nests[idx];
            let (function, _, _) = nest.of(&captured.unit);
            self.progress.event(Event::Profiled { function, line: nest.span.line, n_done: idx, n_nests });
            match self.profile_one(captured, idx, host, profiling)? {
                Ok(profile) => report.nests.push(profile),
                Err(why) => {
                    let name = format!("{function}:{}", nest.span.line);
                    report.skipped.push(SkippedNest { id: idx, name, why });
                }
            }
        }
        Ok(report)
    }

    fn profile_one(
        &self,
        captured: &Captured,
        idx: usize,
        host: &HostProfile,
        profiling: &ProfileOptions,
    ) -> Result<Result<NestProfile, String>, Error> {
        let nest = &captured.nests[idx];
        let Some(sample) = nest.samples.first() else {
            let why = nest.skip.clone().unwrap_or_else(|| "the program never ran it".into());
            return Ok(Err(why));
        };
        let library = match self.baseline(captured, idx)? {
            Ok(library) => library,
            Err(why) => return Ok(Err(format!("it cannot be taken out of its function: {why}"))),
        };
        let mut input = self.counted_input(captured, idx, host);
        input.threads = if self.is_parallel(captured, idx) { self.threads } else { 1 };
        if let Err(why) = self.time(&mut input, &library, sample, host, profiling)? {
            return Ok(Err(format!("it cannot be replayed: {why}")));
        }
        Ok(Ok(profile_nest(&input, host)))
    }

    /// What is counted and modelled of a nest as it stands in the file, with the captured sizes.
    pub(crate) fn counted_input(&self, captured: &Captured, idx: usize, host: &HostProfile) -> NestInput {
        let nest = &captured.nests[idx];
        let (function, program, ir) = nest.of(&captured.unit);
        let mut input = NestInput::new(idx, format!("{function}:{}", nest.span.line));
        input.max_vector_bits = 8 * self.host.vector_bytes;
        input.share = nest.share.map(|value| Quantity {
            value: value.clamp(0.0, 1.0),
            spread: 0.0,
            samples: 1,
            provenance: Provenance::Measured,
        });
        let sizes = Sizes::of_nest(nest);
        count(input, program, ir, &sizes, host)
    }

    /// Whether the user's own text shares the nest among threads.
    fn is_parallel(&self, captured: &Captured, idx: usize) -> bool {
        let span = captured.nests[idx].span;
        let text = captured.unit.source.get(span.start..span.end).unwrap_or_default();
        self.openmp_flag().is_none() && text.contains("#pragma omp")
    }

    fn time(
        &self,
        input: &mut NestInput,
        library: &Path,
        sample: &Sample,
        host: &HostProfile,
        profiling: &ProfileOptions,
    ) -> Result<Result<(), String>, Error> {
        let replay = self.replay()?;
        let last_cache = (1..=4).filter_map(|level| host.cache_bytes(level)).max().unwrap_or(32 << 20);
        // What takes long is told well enough by one sample, and long nests leave no time for more.
        let is_long = sample.nanoseconds.is_some_and(|ns| ns > LONG_NS);
        let timing = ProfileTimingOptions {
            flush_bytes: 2 * last_cache,
            max_seconds: profiling.seconds,
            min_samples: if is_long { 1 } else { ProfileTimingOptions::default().min_samples },
            ..ProfileTimingOptions::default()
        };
        let own = replay.with_threads(input.threads as usize);
        let times = match self.reject(own.profile_times(library, sample, &timing))? {
            Ok(times) => times,
            Err(why) => return Ok(Err(why.to_string())),
        };
        input.cold_ns = Some(measured(&times.cold));
        input.warm_ns = Some(measured(&times.warm));
        if input.threads > 1 {
            input.scaling.push(ThreadTime { threads: input.threads, runtime_ns: measured(&times.warm) });
            if let Ok(alone) = self.reject(replay.with_threads(1).profile_times(library, sample, &timing))? {
                input.scaling.push(ThreadTime { threads: 1, runtime_ns: measured(&alone.warm) });
            }
        } else {
            input.why_missing.push("thread scaling: the nest runs on one thread".into());
        }
        if profiling.counters {
            let counting =
                CountingOptions { counters: Counter::ALL.to_vec(), calls: 3, max_seconds: profiling.seconds };
            match self.reject(own.counted(library, sample, &counting))? {
                Ok(counted) => {
                    input.counters = counted
                        .readings
                        .iter()
                        .map(|r| CounterValue {
                            counter: r.counter.name().into(),
                            value: r.value,
                            scaled: r.scaled,
                        })
                        .collect();
                    input.why_missing.extend(missing_counters(&counted.missing));
                }
                Err(why) => input.why_missing.push(format!("counters: {why}")),
            }
        } else {
            input.why_missing.push("counters: not asked for".into());
        }
        Ok(Ok(()))
    }
}

/// One sentence for all counters that are missing for the same reason.
fn missing_counters(missing: &[MissingCounter]) -> Vec<String> {
    let mut by_reason: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for counter in missing {
        by_reason.entry(&counter.why).or_default().push(counter.counter.name());
    }
    by_reason.into_iter().map(|(why, names)| format!("counters {}: {why}", names.join(", "))).collect()
}

/// A time in nanoseconds.
pub(crate) fn measured(stat: &Stat) -> Quantity {
    Quantity {
        value: stat.median,
        spread: stat.spread,
        samples: stat.n as u32,
        provenance: Provenance::Measured,
    }
}

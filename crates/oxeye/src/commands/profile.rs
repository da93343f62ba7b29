//! The profile of every nest as the user's compiler builds it, against the roofline of the machine.

use super::profile_cache::{self, CacheKey};
use super::profile_report::{PROFILE_SCHEMA, ProfileOptions, ProfileReport, SkippedNest};
use super::profile_run::trace_nests;
use super::sdfg;
use crate::causes::LeftOut;
use crate::nest::Workpiece;
use crate::request::{Error, Event, Options, Phase, Progress, Setback, write_atomically};
use crate::session::Session;
use crate::stages::measure::ReplaySite;
use crate::stages::{Captured, NestReport, capture, expect_nests, names, placed, read, shared_time};
use indexmap::IndexMap;
use oxeye_host::{HostProfile, Provenance, Quantity};
use oxeye_measure::{Counter, CountingOptions, MissingCounter, ProfileTimingOptions, Rejection, Stat};
use oxeye_profile::{CounterValue, NestInput, NestProfile, ThreadTime, profile_nest, raise_ceilings};
use std::path::Path;

/// Nests that take longer are timed once, cold and warm each.
const LONG_NS: u64 = 1_500_000_000;

/// Most nests that are profiled: each is compiled and timed by itself, and a file may have thousands.
const MOST_NESTS: usize = 64;

/// Profiles the loop nests of `options.file`: runs the program once, then each nest by itself on what it was called with.
///
/// # Errors
/// If the program cannot be built or run, or the machine cannot be measured.
pub fn profile(
    options: &Options,
    profiling: &ProfileOptions,
    progress: &dyn Progress,
) -> Result<(ProfileReport, HostProfile), Error> {
    if sdfg::is_sdfg(&options.file) {
        let (mut found, host) = sdfg::as_c(options, |c| profile(c, profiling, progress))?;
        found.input = options.file.clone();
        return Ok((found, host));
    }
    let session = Session::for_reading(options, progress)?;
    session.outcome(profile_file(&session, profiling))
}

fn profile_file(
    session: &Session<'_>,
    profiling: &ProfileOptions,
) -> Result<(ProfileReport, HostProfile), Error> {
    let host = session.host_profile.clone().ok_or_else(|| {
        let why = session.notes.last().cloned().unwrap_or_default();
        Error::Input(format!("there is no profile without a host profile; {why}"))
    })?;
    let unit = read(session)?;
    expect_nests(session, &unit)?;
    let key = CacheKey::of(session, &unit, &host, profiling);
    if profiling.use_cache
        && profiling.trace.is_none()
        && let Some(found) = profile_cache::load(&key)
    {
        return Ok((ProfileReport { input: session.options.file.clone(), from_cache: true, ..found }, host));
    }
    let captured = capture(session, unit)?;
    let mut report = profile_nests(session, &captured, &host, profiling)?;
    let traced = trace_nests(session, &captured.workpiece, &host, profiling)?;
    report.sections = traced.sections;
    report.notes.extend(traced.notes);
    if let (Some(path), Some(text)) = (&profiling.trace, &traced.trace) {
        write_atomically(path, text.as_bytes())?;
    }
    if let Err(why) = profile_cache::save(&key, &report) {
        report.notes.push(format!("the profile was not kept for the next run: {why}"));
    }
    Ok((report, host))
}

/// The profiles of the nests that ran; where there are many, of those with most of the time.
fn profile_nests(
    session: &Session<'_>,
    captured: &Captured,
    host: &HostProfile,
    profiling: &ProfileOptions,
) -> Result<ProfileReport, Error> {
    session.enter(Phase::Profiling)?;
    let workpiece = &captured.workpiece;
    let mut report = ProfileReport {
        schema: PROFILE_SCHEMA.into(),
        input: session.options.file.clone(),
        host: host.key.clone(),
        compiler: session.options.compiler.line(),
        threads: session.threads,
        program_seconds: workpiece.program.as_ref().map(|p| p.seconds),
        from_cache: false,
        nests: Vec::new(),
        shared: Vec::new(),
        sections: Vec::new(),
        skipped: Vec::new(),
        notes: session.notes.clone(),
    };
    let (profiled, rest) = longest(workpiece);
    report.notes.extend(rest);
    let n_nests = profiled.len();
    for (n_done, idx) in profiled.into_iter().enumerate() {
        session.check_cancelled()?;
        let nest = &workpiece.nests[idx];
        let (function, _, _) = nest.place.of(&workpiece.unit);
        let line = workpiece.unit.included.line(nest.place.span.line).line;
        session.progress.event(Event::Profiled { function, line, n_done, n_nests });
        match profile_one(session, workpiece, idx, host, profiling) {
            Ok(profile) => report.nests.push(profile),
            Err(setback) => {
                let (name, why) = (nest.place.name(&workpiece.unit), setback.item()?.to_string());
                report.skipped.push(SkippedNest { id: idx, name, why });
            }
        }
    }
    let placed: Vec<NestReport> = report.nests.iter().map(|profile| placed(workpiece, profile.id)).collect();
    report.shared = shared_time(&placed.iter().collect::<Vec<_>>(), &names);
    Ok(report)
}

/// The nests with most of the time, in the order of the file, and what is said of the others.
fn longest(workpiece: &Workpiece) -> (Vec<usize>, Option<String>) {
    let share = |idx: &usize| workpiece.nests[*idx].calls.share.unwrap_or(0.0);
    let mut all: Vec<usize> = (0..workpiece.nests.len()).collect();
    all.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let rest = all.split_off(all.len().min(MOST_NESTS));
    all.sort_unstable();
    let note = (!rest.is_empty()).then(|| {
        let percent = 100.0 * rest.iter().map(share).sum::<f64>();
        format!(
            "{} nests with {percent:.1} % of the time together have no profile: the {MOST_NESTS} with most of it have \
             one; `--function NAME` profiles those of a function",
            rest.len()
        )
    });
    (all, note)
}

/// Why a nest has no profile.
#[derive(Debug, thiserror::Error)]
enum Unprofiled {
    #[error("{0}")]
    Skipped(LeftOut),
    #[error("it cannot be taken out of its function: {0}")]
    NotBuilt(String),
    #[error("it cannot be replayed: {0}")]
    NotReplayed(Rejection),
}

fn profile_one(
    session: &Session<'_>,
    workpiece: &Workpiece,
    idx: usize,
    host: &HostProfile,
    profiling: &ProfileOptions,
) -> Result<NestProfile, Setback<Unprofiled>> {
    let Workpiece { unit, nests, .. } = workpiece;
    let nest = &nests[idx];
    if nest.calls.samples.is_empty() {
        let why = nest.standing.reason().cloned().unwrap_or(LeftOut::NeverRun);
        return Err(Setback::Item(Unprofiled::Skipped(why)));
    }
    let (place, calls, known) = (&nest.place, &nest.calls, &nest.known);
    let site = ReplaySite { session, unit, idx, place, calls, known };
    let built = site.build_original();
    let library = built.map_err(|setback| setback.because(|why| Unprofiled::NotBuilt(why.to_string())))?;
    let mut input = nest.counted(session, unit, idx, host);
    // Whether the user's own text shares the nest among threads.
    let is_parallel = !nest.is_single()
        && session.workshop.openmp_flag().is_none()
        && (nest.place.own_text(unit).clauses.creates_team
            || nest.place.of(unit).1.has_team(nest.place.nest_id));
    input.threads = if is_parallel { session.threads } else { 1 };
    time(site, &mut input, &library, host, profiling)
        .map_err(|setback| setback.because(Unprofiled::NotReplayed))?;
    // What a nest exceeds is raised, in the kept profile too; a cache that cannot be written keeps what it has.
    let mut host = host.clone();
    if raise_ceilings(&input, &mut host) {
        let _ = oxeye_host::raise_kept(&host.key, &mut |kept| raise_ceilings(&input, kept));
    }
    Ok(profile_nest(&input, &host))
}

/// Times and counts the original.
fn time(
    site: ReplaySite<'_>,
    input: &mut NestInput,
    library: &Path,
    host: &HostProfile,
    profiling: &ProfileOptions,
) -> Result<(), Setback<Rejection>> {
    let (session, sample) = (site.session, &site.calls.samples[0]);
    let replay = session.workshop.replay(session.threads)?;
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
    let times = session.judge(own.profile_times(library, sample, &timing))?;
    input.cold_ns = Some(measured(&times.cold));
    input.warm_ns = Some(measured(&times.warm));
    if input.threads > 1 {
        input.scaling.push(ThreadTime { threads: input.threads, runtime_ns: measured(&times.warm) });
        match session.judge(replay.with_threads(1).profile_times(library, sample, &timing)) {
            Ok(alone) => input.scaling.push(ThreadTime { threads: 1, runtime_ns: measured(&alone.warm) }),
            Err(setback) => drop(setback.item()?),
        }
    } else {
        input.why_missing.push("thread scaling: the nest runs on one thread".into());
    }
    if profiling.counters {
        let counting =
            CountingOptions { counters: Counter::ALL.to_vec(), calls: 3, max_seconds: profiling.seconds };
        match session.judge(own.counted(library, sample, &counting)) {
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
            Err(setback) => input.why_missing.push(format!("counters: {}", setback.item()?)),
        }
    } else {
        input.why_missing.push("counters: not asked for".into());
    }
    Ok(())
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
fn measured(stat: &Stat) -> Quantity {
    Quantity {
        value: stat.median,
        spread: stat.spread,
        samples: stat.n as u32,
        provenance: Provenance::Measured,
    }
}

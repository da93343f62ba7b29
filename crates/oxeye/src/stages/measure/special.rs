//! Candidates for one value of a size: a filter of known radius, vectors of three components. Loops that are known to run a few
//! times need no counters, and compilers keep what they work on in registers.

use super::bench::{Bench, Screened, verdict_of};
use super::in_place::same_in_all;
use crate::request::Error;
use crate::schedule::{Rendering, Trial, Verdict};
use oxeye_codegen::ArgumentOf;
use oxeye_ir::{ScalarType, SymId};
use oxeye_measure::{Patience, compile_all};
use std::sync::Arc;
use std::time::Instant;

/// Values that are worth it: compilers unroll such loops.
const VALUES: std::ops::RangeInclusive<i64> = 1..=48;
/// So many schedules are tried so, those that were the fastest.
const MOST_SCHEDULES: usize = 4;
/// What is for one value only must be so much faster than what is for all.
pub(super) const LEAST_GAIN: f64 = 1.15;

/// Tries the fastest schedules with sizes as constants that are small, and the same in all calls that were seen. Gives the
/// positions of the new trials that are so much faster than all others that they are worth being for one value.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn specialise(
    bench: &Bench<'_>,
    how: Rendering<'_>,
    trials: &mut Vec<Trial>,
) -> Result<Vec<usize>, Error> {
    let (site, session) = (bench.site, bench.site.session);
    let known = few_iterations(bench);
    if known.is_empty() || session.is_over(bench.deadline) {
        return Ok(Vec::new());
    }
    let first = trials.len();
    let ranked = ranked(trials);
    let best = ranked.first().map_or(f64::INFINITY, |(_, seconds)| *seconds).min(bench.baseline_seconds);
    // With several threads, compilers know less of what stands around: those have a turn, too.
    let has_threads = |k: usize| trials[k].is_parallel();
    let (threaded, single): (Vec<usize>, Vec<usize>) =
        ranked.iter().map(|(k, _)| *k).partition(|k| has_threads(*k));
    let chosen =
        threaded.into_iter().take(MOST_SCHEDULES / 2).chain(single.into_iter().take(MOST_SCHEDULES / 2));
    let values: Vec<String> = known
        .iter()
        .map(|(symbol, value)| {
            let (_, program, _) = site.place.of(site.unit);
            format!("{} = {value}", program.symbols.get(symbol).map_or("?", |symbol| &symbol.name))
        })
        .collect();
    for k in chosen.collect::<Vec<_>>() {
        let Some(proved) = trials[k].proved.clone() else { continue };
        let Ok(proved) = proved.specialised(how, site.nest().span, &known) else { continue };
        let mut schedule = trials[k].schedule.clone();
        schedule.name = format!("{}, for {}", schedule.name, values.join(", "));
        trials.push(Trial::new(schedule, trials[k].choice.clone(), Ok(Arc::new(proved))));
    }
    run_new(bench, trials, first, best / LEAST_GAIN)
}

/// Builds and runs the trials from `first` on. Gives the positions of those that take less than `below` seconds.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn run_new(
    bench: &Bench<'_>,
    trials: &mut [Trial],
    first: usize,
    below: f64,
) -> Result<Vec<usize>, Error> {
    let (site, session) = (bench.site, bench.site.session);
    let mut jobs = Vec::new();
    let mut numbers = Vec::new();
    for (k, trial) in trials.iter().enumerate().skip(first) {
        if let Some(job) = site.candidate(k, trial, bench.deadline)? {
            numbers.push(k);
            jobs.push(job);
        }
    }
    let built = compile_all(&session.workshop.replay_compiler(), &jobs, session.host.cores as usize);
    let mut faster = Vec::new();
    for (k, library) in numbers.into_iter().zip(built) {
        session.check_cancelled()?;
        if Instant::now() > bench.deadline {
            break;
        }
        let trial = &mut trials[k];
        match bench.run_candidate(library, Patience::for_best(below)) {
            Ok(Screened { library, screening }) => {
                trial.verdict = Verdict::Slower;
                (trial.screened, trial.library) = (Some(screening), Some(library));
                if screening.score() < below {
                    faster.push(k);
                }
            }
            Err(setback) => {
                let why = setback.item()?;
                trial.reject(verdict_of(&why), site.words(&why));
            }
        }
    }
    Ok(faster)
}

/// The trials that ran, the fastest first, with their seconds.
pub(super) fn ranked(trials: &[Trial]) -> Vec<(usize, f64)> {
    let mut ranked: Vec<(usize, f64)> =
        trials.iter().enumerate().filter_map(|(k, trial)| Some((k, trial.screened?.score()))).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    ranked
}

/// Symbols of small and constant values that bound loops inside.
fn few_iterations(bench: &Bench<'_>) -> Vec<(SymId, i64)> {
    let site = bench.site;
    let (_, program, nest) = site.place.of(site.unit);
    let bounds = nest.symbols_of_inner_bounds();
    let symbol_of = |(position, value): (usize, i64)| match site.calls.arguments[position].what {
        ArgumentOf::Symbol(symbol) => Some((symbol, value)),
        ArgumentOf::Array(_) => None,
    };
    let is_int = |symbol: &SymId| program.symbols.get(symbol).is_some_and(|s| s.ty == ScalarType::I32);
    same_in_all(site.calls)
        .into_iter()
        .filter_map(symbol_of)
        .filter(|(symbol, value)| VALUES.contains(value) && bounds.contains(symbol) && is_int(symbol))
        .collect()
}

//! What is left of a budget: nests that matter and are far from their roofs are searched on from what was measured of them.

use super::explore::{Explorer, Known, Settled, Stop};
use super::kept::kept_log;
use super::log::{Log, NestName};
use super::nests::{NestSearch, SearchOptions, as_trial, header, timing_reserve};
use super::record::TrialRecord;
use super::workbench::{Remembering, Workbench};
use crate::budget::{Allowance, Budget, SystemClock, share_of};
use crate::nest::{Standing, TunedNest, Workpiece, remark};
use crate::request::{Error, Event};
use crate::schedule::{Trial, Verdict};
use crate::session::Session;
use crate::stages::Measured;
use crate::stages::measure::{Bench, Pace, ReplaySite, choose, conclude, is_worth_it, left_out, refine};
use oxeye_codegen::Isa;
use oxeye_measure::Patience;
use oxeye_profile::Bound;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Share of the program's time that must be there to be gained.
const LEAST_GAIN: f64 = 0.03;
/// Measurements of an earlier run count if the original took about as long then.
const ALIKE: f64 = 1.3;
/// With less time a search finds nothing.
const LEAST_SECONDS: f64 = 3.0;
/// For building again what was built before.
const LONGEST_BUILD: Duration = Duration::from_secs(60);
/// When a nest is left at what it has.
const SETTLED: Settled = Settled { generations: 8, least_gain: LEAST_GAIN };

/// Searches the nests of a file on, those first of which most is expected, until nothing is expected any more or the time
/// is up.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn search_further(session: &Session<'_>, measured: Measured) -> Result<Measured, Error> {
    let Measured { mut workpiece, end } = measured;
    if session.options.quick {
        return Ok(Measured { workpiece, end });
    }
    let clock = SystemClock(Instant::now());
    let budget = Budget::new(&clock);
    let hopes = hopes(&workpiece);
    let searching = SearchOptions { seed: session.options.seed, ..SearchOptions::default() };
    let mut log = match hopes.is_empty() {
        true => Log::default(),
        false => kept_log(session, header(session, &workpiece.unit, searching.seed)),
    };
    for (position, (idx, hope)) in hopes.iter().enumerate() {
        session.check_cancelled()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.as_secs_f64() < LEAST_SECONDS || session.progress.enough() {
            break;
        }
        let rest: f64 = hopes[position..].iter().map(|(_, hope)| hope).sum();
        let time = budget.allow(share_of(left, *hope, rest), Duration::ZERO);
        let Workpiece { unit, nests, .. } = &mut workpiece;
        let search =
            NestSearch { session, unit, idx: *idx, searching: &searching, isa: wider(&nests[*idx].trials) };
        let outcome = search.further(&mut nests[*idx], &mut log, time);
        nests[*idx].release_trials();
        left_out(outcome, &mut nests[*idx])?;
    }
    Ok(Measured { workpiece, end })
}

/// The nests of which something is to be expected, the most promising first, and the share of the program's time, as it is
/// now, that each is above its roof.
fn hopes(workpiece: &Workpiece) -> Vec<(usize, f64)> {
    let nests = &workpiece.nests;
    // Of nests that do the same work, those that won are gone on with.
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for (idx, nest) in nests.iter().enumerate() {
        if nest.winner.is_some() {
            taken.extend(&nest.place.inside);
        } else if nest.place.inside.iter().any(|inner| nests[*inner].winner.is_some()) {
            taken.insert(idx);
        }
    }
    let seconds_now = |nest: &TunedNest| {
        let speedup = nest.winner().map_or(1.0, |(_, timing)| timing.speedup);
        nest.calls.share.unwrap_or(1.0 / nests.len() as f64) / speedup
    };
    let counts = |idx: usize, nest: &TunedNest| {
        nest.standing == Standing::Tuned && nest.baseline_seconds.is_some() && !taken.contains(&idx)
    };
    let tuned = || nests.iter().enumerate().filter(|(idx, nest)| counts(*idx, nest));
    let gone: f64 = tuned().map(|(_, nest)| nest.calls.share.unwrap_or(0.0) - seconds_now(nest)).sum();
    let left = (1.0 - gone).clamp(0.01, 1.0);
    let hope = |(idx, nest): (usize, &TunedNest)| {
        let hope = seconds_now(nest) / left * (1.0 - reached(nest));
        (hope >= LEAST_GAIN).then_some((idx, hope))
    };
    let mut hopes: Vec<(usize, f64)> = tuned().filter_map(hope).collect();
    hopes.sort_by(|a, b| b.1.total_cmp(&a.1));
    hopes
}

/// How much of its roof a nest reaches.
fn reached(nest: &TunedNest) -> f64 {
    let profile = nest.after.as_ref().or(nest.before.as_ref());
    let known = profile.filter(|profile| !matches!(profile.bound, Bound::Overhead | Bound::Unknown));
    known.and_then(|profile| profile.roof_fraction.as_ref()).map_or(0.0, |f| f.value.clamp(0.0, 1.0))
}

impl NestSearch<'_> {
    /// Goes on from the trials of a nest; what is found and faster becomes its winner.
    fn further(&self, nest: &mut TunedNest, log: &mut Log, time: Allowance<'_>) -> Result<(), Error> {
        let (session, unit) = (self.session, self.unit);
        let (function, _, _) = nest.place.of(unit);
        session.progress.event(Event::Nest { function, line: nest.place.line(unit), n_candidates: 0 });
        let roofs = nest.roofs(session, unit, self.idx);
        let (place, calls) = (&nest.place, &nest.calls);
        let site = ReplaySite { session, unit, idx: self.idx, place, calls, known: &nest.known };
        let how = (Pace::Usual, Instant::now());
        let mut bench = match Bench::open(site, site.build_original(), roofs.as_ref(), how) {
            Ok(bench) => bench,
            // It was measured before, and what is known stays.
            Err(setback) => return setback.item().map(drop),
        };
        let baseline = bench.baseline_seconds;
        let known = known(&nest.trials, self.isa);
        let best_before = known.iter().filter_map(|known| known.seconds).fold(baseline, f64::min);
        let name = NestName { size: Some(bench.size as u64), ..self.name(nest) };
        let line = nest.place.span.line;
        let past = log.past(&name);
        let is_alike = |seconds: f64| (1.0 / ALIKE..ALIKE).contains(&(seconds / baseline));
        let earlier = match past.baseline {
            Some((seconds, _)) if is_alike(seconds) => past.measured,
            _ => Default::default(),
        };
        if past.baseline.is_none() {
            keep(log.nest(&name, line, (baseline, bench.baseline_samples)));
        }
        let n_earlier = earlier.len();
        let mut workbench = Workbench { bench: &bench, libraries: Default::default() };
        let mut measurements = Remembering { known: earlier, source: &mut workbench };
        let explorer = Explorer {
            space: self.space(nest),
            bounds: self.bounds(&bench, nest.threads(session)),
            baseline_seconds: baseline,
            seed: self.searching.seed,
            max_trials: usize::MAX,
            time: time.but(timing_reserve(nest.calls.share, time.left())),
            first: Vec::new(),
            known,
            settled_after: Some(SETTLED),
            enough: &|| session.progress.enough(),
            measurements: &mut measurements,
            record: &mut |tried, state| {
                session.check_cancelled()?;
                keep(log.trial(&name, line, Duration::ZERO, tried));
                let best = state.best_seconds;
                session.progress.event(Event::Searched {
                    n_measured: state.n_measured,
                    used: time.used(),
                    left: time.left(),
                    best_speedup: (best < baseline).then_some(baseline / best),
                });
                Ok(())
            },
        };
        let (state, stop) = explorer.explore()?;
        let shown: Vec<&TrialRecord> =
            state.tried.iter().filter(|t| t.found.outcome.was_measured() && t.recipe.is_some()).collect();
        let mut found: Vec<Trial> = shown.iter().map(|tried| as_trial(tried)).collect();
        if let Some(isa) = self.isa {
            for trial in &mut found {
                trial.schedule.name = format!("{}, {}", trial.schedule.name, isa.name());
                (trial.isa, trial.is_special) = (Some(isa), true);
            }
        }
        let n_found = found.len();
        let is_better = state.best_seconds < best_before * (1.0 - SETTLED.least_gain);
        let mut finalists = Vec::new();
        if is_better {
            finalists = self.finalists(nest, &mut workbench, &shown, &mut found)?;
            if let Some(idx) = nest.winner {
                nest.trials[idx].library = self.rebuilt(idx, &nest.trials[idx], &bench)?;
            }
        }
        finalists.iter_mut().for_each(|k| *k += nest.trials.len());
        finalists.extend(nest.winner.filter(|_| is_better));
        nest.trials.append(&mut found);
        if is_better {
            bench.deadline = Instant::now() + time.left();
            let mut in_place = nest.baseline_seconds.unwrap_or(baseline);
            let before_idx = nest.winner;
            let before = nest.winner.map(|idx| (idx, nest.trials[idx].clone()));
            if let Some((idx, _)) = before {
                nest.trials[idx].verdict = Verdict::Slower;
            }
            let how = session.rendering(nest.place.around(unit), nest.threads(session));
            nest.winner = choose(&bench, how, &mut finalists, &mut nest.trials, &mut in_place)?;
            if let (None, Some((idx, trial))) = (nest.winner, before) {
                nest.trials[idx] = trial;
                nest.winner = Some(idx);
            }
            nest.winner = refine(&bench, how, nest.winner, &mut nest.trials, &mut in_place)?;
            nest.keep_before(before_idx);
        }
        forget_untried(nest, n_found, &stop);
        if nest.winner.is_none() {
            // It is said anew what became of all candidates.
            nest.note = None;
        }
        if n_found > 0 {
            let s = if n_found == 1 { "" } else { "s" };
            let mut words = format!("{n_found} more candidate{s} searched, until {stop}");
            if n_earlier > 0 {
                let s = if n_earlier == 1 { "" } else { "s" };
                words += &format!("; {n_earlier} measurement{s} of an earlier run helped");
            }
            remark(&mut nest.note, &words);
        }
        conclude(session, roofs.as_ref(), nest);
        Ok(())
    }

    /// The library of a trial, built and run again.
    fn rebuilt(&self, trial_idx: usize, trial: &Trial, bench: &Bench<'_>) -> Result<Option<PathBuf>, Error> {
        let deadline = Instant::now() + LONGEST_BUILD;
        let Some(job) = bench.site.candidate(trial_idx, trial, deadline)? else { return Ok(None) };
        let built = self.session.workshop.replay_compiler().compile(&job);
        match bench.run_candidate(built, Patience::for_best(f64::INFINITY)) {
            Ok(screened) => Ok(Some(screened.library)),
            Err(setback) => setback.item().map(|_| None),
        }
    }
}

/// A log that cannot be written is no reason to stop.
fn keep(written: Result<(), Error>) {
    drop(written);
}

/// The instructions that candidates are to be for, if the fastest of those with more than the user's build uses are so much
/// faster than all others.
fn wider(trials: &[Trial]) -> Option<Isa> {
    let run = || trials.iter().filter_map(|trial| Some((trial, trial.screened?.score())));
    let others = run().filter(|(trial, _)| trial.isa.is_none()).map(|(_, seconds)| seconds);
    let others = others.fold(f64::INFINITY, f64::min);
    let wide = run().filter(|(trial, _)| trial.isa.is_some() && is_worth_it(trial, others));
    wide.min_by(|a, b| a.1.total_cmp(&b.1)).and_then(|(trial, _)| trial.isa)
}

/// What is known of the candidates that were run, of those for these instructions.
fn known(trials: &[Trial], isa: Option<Isa>) -> Vec<Known> {
    let is_alike = |trial: &&Trial| {
        trial.verdict.was_run() && !trial.is_for_sizes && !trial.is_alone && trial.isa == isa
    };
    let run = trials.iter().filter(is_alike);
    run.map(|trial| Known {
        schedule: trial.schedule.clone(),
        seconds: trial.screened.map(|screened| screened.score()),
    })
    .collect()
}

/// Of the trials before the last `n_found`, takes those away that waited and were searched since; says why the others still
/// wait.
fn forget_untried(nest: &mut TunedNest, n_found: usize, stop: &Stop) {
    let n_before = nest.trials.len() - n_found;
    let (before, found) = nest.trials.split_at_mut(n_before);
    let was_searched = |trial: &Trial| {
        let template = trial.schedule.template();
        template.is_some() && found.iter().any(|other| other.schedule.template() == template)
    };
    let mut keeps: Vec<bool> = Vec::new();
    for trial in before.iter_mut() {
        let waits = trial.verdict == Verdict::NotTried;
        keeps.push(!(waits && was_searched(trial)));
        if waits {
            trial.why = Some(stop.to_string());
        }
    }
    keeps.resize(nest.trials.len(), true);
    let position = |idx: usize| keeps[..idx].iter().filter(|keeps| **keeps).count();
    nest.winner = nest.winner.map(position);
    nest.others.iter_mut().for_each(|idx| *idx = position(*idx));
    let mut keeps = keeps.into_iter();
    nest.trials.retain(|_| keeps.next().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Choice, Schedule, Screening, Unproved};
    use oxeye_transform::Recipe;

    fn trial(seconds: f64, isa: Option<Isa>) -> Trial {
        let schedule = Schedule { name: String::new(), templates: Vec::new(), recipe: Recipe::default() };
        let screened = Screening { seconds, mixed: None, samples: 3, max_rel_error: Some(0.0) };
        let (screened, verdict) = (Some(screened), Verdict::Slower);
        Trial {
            screened,
            isa,
            verdict,
            ..Trial::new(schedule, Choice::default(), Err(Unproved::NoIsa(String::new())))
        }
    }

    #[test]
    fn wider_vectors_are_kept_to_where_they_clearly_won() {
        let isa = Some(Isa::Avx2);
        assert_eq!(wider(&[trial(1.0, None), trial(0.6, isa), trial(0.9, isa)]), isa);
        assert_eq!(wider(&[trial(1.0, None), trial(0.97, isa)]), None);
        assert_eq!(wider(&[trial(1.0, None), trial(0.5, None), trial(0.6, isa)]), None);
        assert_eq!(wider(&[trial(1.0, None)]), None);
    }

    #[test]
    fn only_candidates_for_the_same_instructions_are_known() {
        let isa = Some(Isa::Avx2);
        let mut trials = [trial(1.0, None), trial(0.6, isa), trial(0.5, isa)];
        trials[2].is_for_sizes = true;
        let seconds = |isa| known(&trials, isa).into_iter().filter_map(|k| k.seconds).collect::<Vec<_>>();
        assert_eq!(seconds(None), [1.0]);
        assert_eq!(seconds(isa), [0.6]);
    }
}

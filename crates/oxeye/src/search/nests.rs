//! The search of every nest of a file, and of one.

use super::compare::Picks;
use super::explore::{Bounds, Explorer, State, Stop};
use super::log::{Header, Log, NestName, SEARCH_SCHEMA};
use super::record::{Candidate, Outcome, TrialRecord};
use super::space::{Space, candidate};
use super::workbench::{Remembering, Workbench};
use crate::budget::{Allowance, Budget, SystemClock, share_of, timing_seconds};
use crate::causes::LeftOut;
use crate::nest::{Standing, TunedNest, Workpiece};
use crate::request::{Error, Event, Phase};
use crate::schedule::{Choice, Rendering, Schedule, Screening, Trial, digest};
use crate::session::Session;
use crate::stages::measure::{Bench, DISTURBED, Pace, ReplaySite, choose, conclude, cut_long, left_out};
use crate::stages::{Captured, Measured, NestSearchReport, SearchReport};
use oxeye_codegen::Isa;
use oxeye_frontend::Unit;
use oxeye_transform::{Machine, PreparedNest, RefusedSuggestion};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Refusals in a report; all of them are in the log.
const MOST_REASONS: usize = 20;

/// What a search is asked besides the [`Options`](crate::Options) of every run. Their budget is for the whole search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Seed of the random choices.
    pub seed: u64,
    /// The log to write, and to go on from if it is there.
    pub log: Option<PathBuf>,
    /// Measure at most so many candidates of a nest.
    pub max_trials: Option<usize>,
    /// Begin with what every way of finding donors would pick, and tell how that fared.
    pub compare: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { seed: 1, log: None, max_trials: None, compare: false }
    }
}

/// Instead of `propose` and `measure`: a search for every nest, and the best of each timed against the original.
///
/// # Errors
/// If the run is interrupted, the log cannot be used, or a process cannot be started.
pub(crate) fn search_nests(
    session: &Session<'_>,
    captured: Captured,
    searching: &SearchOptions,
) -> Result<(Measured, SearchReport), Error> {
    session.enter(Phase::Trying)?;
    let mut workpiece = captured.workpiece;
    let mut log = match &searching.log {
        Some(path) => Log::open(path, header(session, &workpiece.unit, searching.seed))?,
        None => Log::default(),
    };
    let (start, end) = (Instant::now(), session.end_of_trials());
    let clock = SystemClock(start);
    let budget = Budget::new(&clock);
    let end = end.saturating_duration_since(start);
    let mut report = SearchReport { seed: searching.seed, log: searching.log.clone(), nests: Vec::new() };
    leave_out_inside(&mut workpiece);
    let order = workpiece.by_weight();
    let Workpiece { unit, nests, .. } = &mut workpiece;
    for (position, (idx, weight)) in order.iter().enumerate() {
        session.check_cancelled()?;
        if session.progress.enough() {
            break;
        }
        let rest: f64 = order[position..].iter().map(|(_, weight)| weight).sum();
        let time = share_of(end.saturating_sub(budget.used()), *weight, rest);
        left_out(cut_long(session, unit, *idx, &mut nests[*idx]), &mut nests[*idx])?;
        let mut search = NestSearch { session, unit, idx: *idx, searching, isa: None };
        report.nests.extend(search.run(&mut nests[*idx], &mut log, &budget, time)?);
        nests[*idx].release_trials();
    }
    for (idx, _) in order {
        let nest = &mut nests[idx];
        nest.is_late = nest.trials.is_empty() && nest.refused.is_empty() && nest.note.is_none();
    }
    Ok((Measured { workpiece, end: start + end }, report))
}

/// What a nest does in place of a call is searched there.
fn leave_out_inside(workpiece: &mut Workpiece) {
    for (outer, _) in workpiece.by_weight() {
        let place = workpiece.nests[outer].place.clone();
        let line = workpiece.unit.included.line(place.span.line).to_string();
        for idx in place.inside {
            let standing = &mut workpiece.nests[idx].standing;
            if *standing == Standing::Tuned {
                *standing = Standing::Skipped(LeftOut::Inlined(line.clone()));
            }
        }
    }
}

pub(super) fn header(session: &Session<'_>, unit: &Unit, seed: u64) -> Header {
    let options = session.options;
    Header {
        schema: SEARCH_SCHEMA.into(),
        input: options.file.clone(),
        source: digest(&unit.source),
        compiler: options.compiler.clone(),
        compiler_version: session.workshop.compiler.version().ok(),
        threads: session.threads,
        reassociate: options.reassociate(),
        no_alias: options.no_alias,
        sizes: options.sizes.iter().map(|(name, value)| (name.clone(), *value)).collect(),
        inputs: options.inputs.iter().map(|(name, path)| (name.clone(), path.clone())).collect(),
        cpu: session.host.cpu.clone(),
        seed,
    }
}

/// The search for one nest.
pub(super) struct NestSearch<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) unit: &'a Unit,
    pub(super) idx: usize,
    pub(super) searching: &'a SearchOptions,
    /// Instructions that all candidates may use where the processor has them.
    pub(super) isa: Option<Isa>,
}

impl NestSearch<'_> {
    /// Searches, and selects the winner; no report where there is nothing to compare with.
    fn run(
        &mut self,
        nest: &mut TunedNest,
        log: &mut Log,
        budget: &Budget<'_>,
        time: Duration,
    ) -> Result<Option<NestSearchReport>, Error> {
        let (session, unit, line) = (self.session, self.unit, nest.place.span.line);
        let (function, _, _) = nest.place.of(unit);
        let name = self.name(nest);
        let past = log.past(&name);
        let time = budget.allow(time, past.used);
        let event = Event::Nest { function, line: unit.included.line(line).line, n_candidates: 0 };
        session.progress.event(event);
        let roofs = nest.roofs(session, unit, self.idx);
        let (place, calls, known) = (&nest.place, &nest.calls, &nest.known);
        let site = ReplaySite { session, unit, idx: self.idx, place, calls, known };
        let mut bench =
            match Bench::open(site, site.build_original(), roofs.as_ref(), (Pace::Usual, Instant::now())) {
                Ok(bench) => bench,
                Err(setback) => {
                    nest.note = Some(setback.item()?.to_string());
                    return Ok(None);
                }
            };
        let known = bench.known_in_place()?;
        if !known.is_nothing() {
            let site = ReplaySite { known: &known, ..site };
            if let Ok(knowing) =
                Bench::open(site, site.build_original(), roofs.as_ref(), (Pace::Usual, Instant::now()))
            {
                bench = knowing;
            }
        }
        match past.baseline {
            Some((seconds, samples)) => (bench.baseline_seconds, bench.baseline_samples) = (seconds, samples),
            None => log.nest(&name, line, (bench.baseline_seconds, bench.baseline_samples))?,
        }
        let baseline = bench.baseline_seconds;
        nest.baseline_seconds = Some(baseline);
        let picks = match self.searching.compare {
            true => Picks::of_all(session, unit, nest)?,
            false => Vec::new(),
        };
        let mut workbench = Workbench { bench: &bench, libraries: Default::default() };
        let mut measurements = Remembering { known: past.measured, source: &mut workbench };
        let explorer = Explorer {
            space: self.space(nest),
            bounds: self.bounds(&bench, nest.threads(session)),
            baseline_seconds: baseline,
            seed: self.searching.seed,
            max_trials: self.searching.max_trials.unwrap_or(usize::MAX),
            time: time.but(timing_reserve(nest.calls.share, time.left())),
            first: picks.iter().flat_map(Picks::plans).collect(),
            known: Vec::new(),
            settled_after: None,
            enough: &|| session.progress.enough(),
            measurements: &mut measurements,
            record: &mut |tried, state| {
                session.check_cancelled()?;
                log.trial(&name, line, time.used(), tried)?;
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
        let compared = picks.iter().map(|picks| picks.judged(&state, baseline)).collect();
        let shown: Vec<&TrialRecord> =
            state.tried.iter().filter(|t| t.found.outcome.was_measured() && t.recipe.is_some()).collect();
        let mut trials: Vec<Trial> = shown.iter().map(|tried| as_trial(tried)).collect();
        let mut finalists = self.finalists(nest, &mut workbench, &shown, &mut trials)?;
        (nest.trials, nest.refused) = (trials, reasons(&state));
        if nest.trials.is_empty() {
            let why = "no schedule other than its own was found to be legal and different";
            let note = if stop == Stop::Time { "the time was up before a candidate was run" } else { why };
            nest.note = Some(note.into());
        }
        bench.deadline = Instant::now() + time.left();
        let mut in_place = baseline;
        let how = session.rendering(nest.place.around(unit), nest.threads(session));
        nest.winner = choose(&bench, how, &mut finalists, &mut nest.trials, &mut in_place)?;
        nest.baseline_seconds = Some(in_place);
        nest.conditioning = bench.conditioning().or(nest.conditioning.take());
        nest.known = bench.site.known.clone();
        conclude(session, roofs.as_ref(), nest);
        Ok(Some(NestSearchReport { compared, ..self.report(&state, &stop, time, baseline) }))
    }

    /// What a nest is called in logs.
    pub(super) fn name(&self, nest: &TunedNest) -> NestName {
        NestName {
            function: nest.place.of(self.unit).0.to_owned(),
            ordinal: nest.place.ordinal,
            threads: nest.is_single().then_some(1),
            within: nest.place.within.iter().map(|nest| nest.ordinal).collect(),
            joined: Some(nest.place.joined).filter(|joined| *joined > 0),
            size: None,
            uneven: nest.place.uneven_rows(self.unit),
        }
    }

    pub(super) fn space<'n>(&'n self, nest: &TunedNest) -> Space<'n> {
        let (_, program, ir) = nest.place.of(self.unit);
        let threads = nest.threads(self.session);
        let machine = self.session.machine(threads);
        let vector_bytes = self.isa.map_or(machine.vector_bytes, Isa::vector_bytes);
        Space::new(program, ir, &Machine { vector_bytes, ..machine }, self.rendering(nest))
    }

    pub(super) fn bounds(&self, bench: &Bench<'_>, threads: u32) -> Bounds {
        let least = |threads| bench.roofs?.least_seconds(threads);
        Bounds { one_thread: least(1), all_threads: least(threads) }
    }

    /// Makes the fastest trials ready to be timed and emitted; the positions of those.
    pub(super) fn finalists(
        &self,
        nest: &TunedNest,
        workbench: &mut Workbench<'_>,
        shown: &[&TrialRecord],
        trials: &mut [Trial],
    ) -> Result<Vec<usize>, Error> {
        let mut ranked: Vec<(usize, f64)> =
            shown.iter().enumerate().filter_map(|(k, t)| Some((k, t.found.seconds?))).collect();
        ranked.retain(|(_, seconds)| *seconds < workbench.bench.baseline_seconds);
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (_, program, ir) = nest.place.of(self.unit);
        let prepared = PreparedNest::new(program, ir);
        let mut finalists = Vec::new();
        for (k, _) in ranked {
            if finalists.len() == self.session.options.top_k.max(1) {
                break;
            }
            // A search tries too many candidates to keep what each makes of the nest.
            let Some(candidate) = self.candidate(&prepared, nest, &trials[k].schedule) else {
                continue;
            };
            let kept = workbench.libraries.get(&candidate.digest).cloned();
            let library = match kept.filter(|_| shown[k].found.max_rel_error.is_some()) {
                Some(library) => library,
                None => {
                    let Some(mut screened) = workbench.again(&candidate)? else { continue };
                    let known = shown[k].found.seconds.unwrap_or(f64::INFINITY);
                    if screened.screening.score() > DISTURBED * known
                        && let Some(second) = workbench.again(&candidate)?
                        && second.screening.score() < screened.screening.score()
                    {
                        screened = second;
                    }
                    trials[k].screened = Some(screened.screening);
                    screened.library
                }
            };
            (trials[k].library, trials[k].proved) = (Some(library), Some(Arc::new(candidate.proved)));
            finalists.push(k);
        }
        Ok(finalists)
    }

    /// A trial proved again.
    pub(super) fn candidate(
        &self,
        prepared: &PreparedNest<'_>,
        nest: &TunedNest,
        schedule: &Schedule,
    ) -> Option<Candidate> {
        candidate(self.rendering(nest), prepared, schedule.clone()).ok()
    }

    fn rendering(&self, nest: &TunedNest) -> Rendering<'_> {
        let threads = nest.threads(self.session);
        Rendering { isa: self.isa, ..self.session.rendering(nest.place.around(self.unit), threads) }
    }

    fn report(
        &self,
        state: &State,
        stop: &Stop,
        time: Allowance<'_>,
        baseline_seconds: f64,
    ) -> NestSearchReport {
        NestSearchReport {
            id: self.idx,
            generations: state.n_generations(),
            measured: state.n_measured,
            refused: state.count(Outcome::Refused),
            duplicates: state.count(Outcome::Duplicate),
            hopeless: state.count(Outcome::Hopeless),
            seconds: time.used().as_secs_f64(),
            stopped: stop.to_string(),
            baseline_seconds,
            best_seconds: state.best_seconds,
            compared: Vec::new(),
        }
    }
}

/// Time to keep for timing the finalists.
pub(super) fn timing_reserve(share: Option<f64>, time: Duration) -> Duration {
    Duration::from_secs_f64(timing_seconds(share)).min(time / 5)
}

/// Why schedules were refused, each reason once.
fn reasons(state: &State) -> Vec<RefusedSuggestion> {
    let refused = state.tried.iter().filter(|t| t.found.outcome == Outcome::Refused);
    let mut reasons: Vec<RefusedSuggestion> = refused
        .map(|t| RefusedSuggestion::new(&t.name, t.found.why.as_deref().unwrap_or_default()))
        .collect();
    reasons.sort_by_key(ToString::to_string);
    reasons.dedup();
    reasons.truncate(MOST_REASONS);
    reasons
}

pub(super) fn as_trial(tried: &TrialRecord) -> Trial {
    let found = &tried.found;
    let (samples, max_rel_error) = (found.samples, found.max_rel_error);
    Trial {
        schedule: Schedule {
            name: tried.name.clone(),
            templates: tried.template.into_iter().collect(),
            recipe: tried.recipe.clone().unwrap_or_default(),
        },
        choice: Choice::default(),
        verdict: found.outcome.verdict(),
        why: found.why.clone(),
        proved: None,
        screened: found.seconds.map(|seconds| Screening { seconds, mixed: None, samples, max_rel_error }),
        timed: None,
        sizes: Vec::new(),
        guard: Default::default(),
        library: None,
        is_special: false,
        is_for_sizes: false,
        is_alone: false,
        isa: None,
    }
}

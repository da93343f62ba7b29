//! Search: schedules beyond the suggested ones, for as long as there is time.
//!
//! [`search`] goes the way of [`optimize`](crate::optimize()) but for one stage: instead of a fixed list of candidates, each
//! nest has a search of its own ([`explore`]) over templates and recipes ([`space`], [`breed`]). What wins goes through the
//! same verification, and through the same runs of the whole program.
//!
//! A search with a log ([`SearchOptions::log`]) can be interrupted and goes on where it was; its budget is that of all
//! processes together. Given the same measurements, the same seed gives the same search.

mod breed;
mod budget;
mod compare;
mod explore;
mod log;
mod rng;
mod space;
#[cfg(test)]
mod tests;
mod trial;
mod workbench;

pub use compare::ComparedMethod;
pub use log::{SEARCH_SCHEMA, trial_recipes};
pub(crate) use rng::Rng;

use crate::stages::measure::select::{Finalist, timing_seconds};
use crate::stages::measure::{Bench, Screened};
use crate::stages::propose::Rendering;
use crate::stages::{emit, record};
use crate::transfer::Choice;
use crate::{
    Captured, CapturedNest, Error, Event, Measured, MeasuredNest, Options, Phase, Progress, Report, Trial,
    Tuner,
};
use budget::{Allowance, Budget, SystemClock};
use compare::Picks;
use explore::{Bounds, Explorer, State, Stop};
use log::{Header, Log, NestName};
use oxeye_database::{NewEntry, Origin};
use serde::Serialize;
use space::{Draft, Space, digest};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use trial::{Outcome, Proposal, Tried};
use workbench::{Remembering, Workbench};

/// What a search is asked besides the [`Options`] of every run. Their budget is for the whole search.
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

/// How a search went.
#[derive(Clone, Debug, Serialize)]
pub struct SearchReport {
    /// Seed of the random choices.
    pub seed: u64,
    /// The log that was written.
    pub log: Option<PathBuf>,
    /// Every nest that was searched, in the order of the search.
    pub nests: Vec<NestSearchReport>,
}

/// How the search of one nest went.
#[derive(Clone, Debug, Serialize)]
pub struct NestSearchReport {
    /// Position in the file, as in [`NestReport::id`](crate::NestReport::id).
    pub id: usize,
    /// Generations that were begun; the suggested schedules are the first.
    pub generations: usize,
    /// Candidates that were compiled and run, now or by an interrupted search before.
    pub measured: usize,
    /// Candidates that could not be proved legal, or do not apply.
    pub refused: usize,
    /// Candidates with the C text of another.
    pub duplicates: usize,
    /// Candidates that cannot beat the best by the machine's roofs.
    pub hopeless: usize,
    /// Seconds of the budget that it took.
    pub seconds: f64,
    /// Why it ended.
    pub stopped: String,
    /// Seconds of the original, screened as candidates are.
    pub baseline_seconds: f64,
    /// Seconds of the fastest candidate, or of the original if none was faster.
    pub best_seconds: f64,
    /// What every way of finding donors picked, if that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<ComparedMethod>,
}

/// Searches schedules for the loop nests of `options.file` and writes the tuned file. Also returns every trial, for a
/// recipe database.
///
/// # Errors
/// If the run cannot be done, or the log is that of another search; no tuned file is written then.
pub fn search(
    options: &Options,
    searching: &SearchOptions,
    progress: &dyn Progress,
) -> Result<(Report, Vec<NewEntry>), Error> {
    let tuner = Tuner::new(options, progress)?;
    let run = || {
        let captured = tuner.capture(tuner.read()?)?;
        let (measured, search) = tuner.search(captured, searching)?;
        let emitted = tuner.emit(measured)?;
        emitted.write()?;
        let report = Report { search: Some(search), ..emitted.report() };
        Ok((report, record::entries(&emitted, Origin::Search)))
    };
    run().map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

impl Tuner<'_> {
    /// Instead of candidates and their measurement: a search for every nest, and the best of each timed against the
    /// original.
    ///
    /// # Errors
    /// If the run is interrupted, the log cannot be used, or a process cannot be started.
    pub fn search(
        &self,
        mut captured: Captured,
        searching: &SearchOptions,
    ) -> Result<(Measured, SearchReport), Error> {
        self.enter(Phase::Trying)?;
        let mut log = match &searching.log {
            Some(path) => Log::open(path, self.header(&captured, searching.seed))?,
            None => Log::default(),
        };
        let clock = SystemClock(self.start);
        let budget = Budget::new(&clock);
        let end = self.search_end(&captured);
        let mut measured = vec![MeasuredNest::default(); captured.nests.len()];
        let mut report = SearchReport { seed: searching.seed, log: searching.log.clone(), nests: Vec::new() };
        for (outer, _) in captured.by_weight() {
            let line = captured.nests[outer].span.line;
            for idx in captured.inside(outer) {
                let why = format!(
                    "the loop at line {line} is searched, which has its function in place of the call"
                );
                captured.nests[idx].skip.get_or_insert(why);
            }
        }
        let order = captured.by_weight();
        for (position, (idx, weight)) in order.iter().enumerate() {
            self.check_cancelled()?;
            // What a nest leaves unused is there for the next ones.
            let rest: f64 = order[position..].iter().map(|(_, weight)| weight).sum();
            let time = end.saturating_sub(budget.used()).mul_f64((1.25 * weight / rest).min(1.0));
            let mut of_nest = NestRun { tuner: self, captured: &captured, idx: *idx, searching };
            let (nest, search) = of_nest.run(&mut log, &budget, time)?;
            measured[*idx] = nest;
            report.nests.extend(search);
        }
        Ok((Measured { captured, nests: measured }, report))
    }

    /// When the last nest should be done, after the start of the run: early enough for the runs of the whole program.
    fn search_end(&self, captured: &Captured) -> Duration {
        let budget = self.options.budget;
        let final_runs = captured.program.as_ref().map_or(0.0, |p| emit::final_seconds(p.seconds));
        let end = budget.saturating_sub(Duration::from_secs_f64(final_runs).min(budget / 2));
        // However long capturing took, some time is left for trying.
        end.max(self.start.elapsed() + budget / 4)
    }

    fn header(&self, captured: &Captured, seed: u64) -> Header {
        Header {
            schema: SEARCH_SCHEMA.into(),
            input: self.options.file.clone(),
            source: digest(&captured.unit.source),
            compiler: self.options.compiler.clone(),
            compiler_version: self.compiler.version().ok(),
            threads: self.threads,
            reassociate: self.options.reassociate(),
            no_alias: self.options.no_alias,
            sizes: self.options.sizes.iter().map(|(name, value)| (name.clone(), *value)).collect(),
            inputs: self.options.inputs.iter().map(|(name, path)| (name.clone(), path.clone())).collect(),
            cpu: self.host.cpu.clone(),
            seed,
        }
    }
}

/// The search for one nest.
struct NestRun<'a> {
    tuner: &'a Tuner<'a>,
    captured: &'a Captured,
    idx: usize,
    searching: &'a SearchOptions,
}

impl NestRun<'_> {
    fn nest(&self) -> &CapturedNest {
        &self.captured.nests[self.idx]
    }

    fn run(
        &mut self,
        log: &mut Log,
        budget: &Budget<'_>,
        time: Duration,
    ) -> Result<(MeasuredNest, Option<NestSearchReport>), Error> {
        let (tuner, line) = (self.tuner, self.nest().span.line);
        let (function, _, _) = self.nest().of(&self.captured.unit);
        let name = NestName { function: function.to_owned(), ordinal: self.nest().ordinal };
        let past = log.past(&name);
        let time = budget.allow(time, past.used);
        let max_trials = self.searching.max_trials.unwrap_or(usize::MAX);
        tuner.progress.event(Event::Nest { function, line, n_candidates: 0 });
        let mut result = MeasuredNest::default();
        let original = tuner.baseline(self.captured, self.idx)?;
        let mut bench = match tuner.bench(self.captured, self.idx, Instant::now(), original)? {
            Ok(bench) => bench,
            Err(why) => {
                result.note = Some(why);
                return Ok((result, None));
            }
        };
        match past.baseline {
            Some((seconds, samples)) => (bench.baseline_seconds, bench.baseline_samples) = (seconds, samples),
            None => log.nest(&name, line, (bench.baseline_seconds, bench.baseline_samples))?,
        }
        let baseline = bench.baseline_seconds;
        result.baseline_seconds = Some(baseline);

        let picks = match self.searching.compare {
            true => Picks::of_all(tuner, self.captured, self.idx)?,
            false => Vec::new(),
        };
        let mut workbench = self.workbench(&bench);
        let mut measurements = Remembering { known: past.measured, source: &mut workbench };
        let explorer = Explorer {
            space: self.space(),
            bounds: self.bounds(&bench),
            baseline_seconds: baseline,
            seed: self.searching.seed,
            max_trials,
            time: time.but(self.timing_reserve(time.left())),
            first: picks.iter().flat_map(Picks::plans).collect(),
            measurements: &mut measurements,
            record: &mut |tried, state| {
                tuner.check_cancelled()?;
                log.trial(&name, line, time.used(), tried)?;
                let best = state.best_seconds;
                tuner.progress.event(Event::Searched {
                    n_measured: state.n_measured,
                    used: time.used(),
                    left: time.left(),
                    best_speedup: (best < baseline).then_some(baseline / best),
                });
                Ok(())
            },
        };
        let (state, stop) = explorer.explore()?;
        let mut finalists = self.finalists(&mut workbench, &state, &mut result)?;
        if result.trials.is_empty() {
            let why = "no schedule other than its own was found to be legal and different";
            let note = if stop == Stop::Time { "the time was up before a candidate was run" } else { why };
            result.note = Some(note.into());
        }
        bench.deadline = Instant::now() + time.left();
        tuner.choose(&bench, &mut finalists, &mut result)?;
        tuner.conclude(&bench, &mut result);
        let compared = picks.iter().map(|picks| picks.judged(&state, baseline)).collect();
        let search = NestSearchReport { compared, ..self.report(&state, &stop, time, baseline) };
        Ok((result, Some(search)))
    }

    fn rendering(&self) -> Rendering<'_> {
        self.tuner.rendering(&self.captured.unit.source)
    }

    fn space(&self) -> Space<'_> {
        let (_, program, nest) = self.nest().of(&self.captured.unit);
        let n_cores = self.tuner.host.cores as usize;
        Space::new(program, nest, &self.tuner.machine(), self.rendering(), n_cores)
    }

    fn workbench<'b>(&'b self, bench: &'b Bench<'b>) -> Workbench<'b> {
        Workbench {
            tuner: self.tuner,
            captured: self.captured,
            nest_idx: self.idx,
            bench,
            libraries: Default::default(),
        }
    }

    fn bounds(&self, bench: &Bench<'_>) -> Bounds {
        let least = |threads| bench.roofs.as_ref()?.least_seconds(threads);
        Bounds { one_thread: least(1), all_threads: least(self.tuner.threads) }
    }

    /// Time to keep for timing the finalists.
    fn timing_reserve(&self, time: Duration) -> Duration {
        Duration::from_secs_f64(timing_seconds(self.nest().share)).min(time / 5)
    }

    /// The fastest candidates as libraries, and all trials into the result.
    fn finalists(
        &self,
        workbench: &mut Workbench<'_>,
        state: &State,
        result: &mut MeasuredNest,
    ) -> Result<Vec<Finalist>, Error> {
        let refused = |t: &&Tried| t.found.outcome == Outcome::Refused;
        let reason = |t: &Tried| format!("{}: {}", t.name, t.found.why.as_deref().unwrap_or_default());
        result.refused = state.tried.iter().filter(refused).map(reason).collect();
        result.refused.sort();
        result.refused.dedup();
        result.refused.truncate(MOST_REASONS);
        let shown: Vec<&Tried> =
            state.tried.iter().filter(|t| t.found.outcome.was_measured() && t.recipe.is_some()).collect();
        result.trials = shown.iter().map(|tried| as_trial(tried)).collect();
        let mut ranked: Vec<(usize, f64)> =
            shown.iter().enumerate().filter_map(|(k, t)| Some((k, t.found.seconds?))).collect();
        ranked.retain(|(_, seconds)| *seconds < workbench.bench.baseline_seconds);
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut finalists = Vec::new();
        for (trial_idx, seconds) in ranked {
            if finalists.len() == self.tuner.options.top_k.max(1) {
                break;
            }
            let tried = shown[trial_idx];
            let kept = tried.code.as_ref().and_then(|code| workbench.libraries.get(code)).cloned();
            let screened = match (kept, tried.found.max_rel_error) {
                (Some(library), Some(max_rel_error)) => {
                    Some(Screened { library, seconds, samples: tried.found.samples, max_rel_error })
                }
                _ => match self.proposal(tried) {
                    Some(proposal) => workbench.again(&proposal)?,
                    None => None,
                },
            };
            let Some(Screened { library, seconds, max_rel_error, .. }) = screened else { continue };
            let (reassociated, openmp) = (tried.reassociated, tried.openmp);
            finalists.push(Finalist { trial_idx, library, seconds, max_rel_error, reassociated, openmp });
        }
        Ok(finalists)
    }

    /// A trial of an earlier process, proved again.
    fn proposal(&self, tried: &Tried) -> Option<Proposal> {
        let (_, program, nest) = self.nest().of(&self.captured.unit);
        let (name, template) = (tried.name.clone(), tried.template);
        let draft = Draft { name, template, recipe: tried.recipe.clone()? };
        space::proposal(self.rendering(), program, nest, &draft).ok()
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

/// Refusals in a report; all of them are in the log.
const MOST_REASONS: usize = 20;

fn as_trial(tried: &Tried) -> Trial {
    Trial {
        name: tried.name.clone(),
        template: tried.template,
        recipe: tried.recipe.clone().unwrap_or_default(),
        choice: Choice::default(),
        verdict: tried.found.outcome.verdict(),
        screened_seconds: tried.found.seconds,
        screened_samples: tried.found.samples,
        timed_seconds: None,
        timed: None,
        why: tried.found.why.clone(),
    }
}

//! The search itself: which candidates of a nest are tried, in which order, and when to stop.
//!
//! A beam over the neighbours of the best templates, and an evolution beside it ([`super::breed`]). What is proved
//! illegal costs no measurement; so does the same C text under another name, and what cannot beat the best by the
//! machine's roofs. Candidates are compiled in batches and run one by one, alone.
//!
//! Everything here is a function of the nest, the seed and the measurements, but for the moment when time is up.

use super::breed::{self, Member};
use super::record::{Candidate, Measurement, Outcome, Plan, TrialRecord};
use super::space::{NoCandidate, Space};
use crate::budget::{Allowance, LONG_SECONDS};
use crate::machine::ENOUGH_PERCENT;
use crate::random::Rng;
use crate::request::Error;
use crate::schedule::Schedule;
use oxeye_transform::Recipe;
use oxeye_transform::templates::{Template, Threads};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// Plans of one generation.
const GENERATION: usize = 16;
/// Candidates that are compiled together: of short nests, and of those that run longer than compiling takes.
const BATCH: usize = 8;
const LONG_BATCH: usize = 2;
/// Candidates for each of several that measure at once: those that are done first do not wait long for the others.
const AT_ONCE: usize = 4;
/// After so many generations without anything to measure a nest has no more to give.
const IDLE_GENERATIONS: usize = 8;
/// Ceilings are measured, so a bound must be above the best by this factor before it counts.
const BOUND_MARGIN: f64 = 1.25;
/// A nest that is faster than its bound by more than this has another bound than was thought.
const LEAST_SHARE_OF_BOUND: f64 = 0.97;

/// Where measurements come from.
pub(crate) trait Measurements {
    /// Compiles the candidates together and runs them one by one, telling each as soon as it is measured, until the time
    /// is up. Those that are not told were not measured.
    ///
    /// # Errors
    /// If the search is interrupted, `found` fails, or a process cannot be started.
    fn measure(
        &mut self,
        batch: &[Candidate],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// How many candidates it measures at a time.
    fn width(&self) -> usize {
        1
    }
}

/// How long measuring may take.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'l> {
    /// Seconds of the best so far, when the batch begins.
    pub(crate) best_seconds: f64,
    /// For everything.
    pub(crate) time: Allowance<'l>,
    /// Give every candidate the time that the first one has, so that they can be compared.
    pub(crate) alike: bool,
}

/// Times that no schedule of a nest can go below, with what they are the bounds of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// In one thread.
    pub(crate) one_thread: Option<(f64, String)>,
    /// In all of them.
    pub(crate) all_threads: Option<(f64, String)>,
}

/// A search for one nest.
pub(crate) struct Explorer<'a> {
    pub(crate) space: Space<'a>,
    pub(crate) bounds: Bounds,
    /// Seconds of the original.
    pub(crate) baseline_seconds: f64,
    pub(crate) seed: u64,
    /// At most so many candidates are measured.
    pub(crate) max_trials: usize,
    pub(crate) time: Allowance<'a>,
    /// Measured before everything else, however hopeless.
    pub(crate) first: Vec<Plan>,
    /// What was run before the search.
    pub(crate) known: Vec<Known>,
    /// When the search has found what there is; `None` goes on as long as there is time.
    pub(crate) settled_after: Option<Settled>,
    /// Whether to end although there is time.
    pub(crate) enough: &'a dyn Fn() -> bool,
    pub(crate) measurements: &'a mut dyn Measurements,
    /// Hears every trial, at once.
    pub(crate) record: &'a mut dyn FnMut(&TrialRecord, &State) -> Result<(), Error>,
}

/// A schedule that was run before a search, and the seconds of one invocation if its outputs were right.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) schedule: Schedule,
    pub(crate) seconds: Option<f64>,
}

/// So many generations in succession in which the best gains less than this share of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settled {
    pub(crate) generations: usize,
    pub(crate) least_gain: f64,
}

/// How far a search has come.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Every trial, in order.
    pub(crate) tried: Vec<TrialRecord>,
    /// What gave the right outputs, the original included.
    members: Vec<Member>,
    /// Plans that were made.
    seen: HashSet<Plan>,
    /// C texts by digest, with the names of their candidates.
    texts: BTreeMap<String, String>,
    generation: usize,
    /// Candidates that were measured.
    pub(crate) n_measured: usize,
    /// Seconds of the best, the original included.
    pub(crate) best_seconds: f64,
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The time is up.
    Time,
    /// It was asked to end.
    Asked,
    /// As many candidates were measured as may be.
    Trials,
    /// The best is near a roof of the machine: this one.
    Roof(String),
    /// So many generations brought less than this share.
    Settled(usize, u32),
    /// Nothing new was found for a while.
    Exhausted,
}

impl Explorer<'_> {
    /// Runs the search to its end.
    ///
    /// # Errors
    /// If it is interrupted, or a trial cannot be recorded.
    pub(crate) fn explore(mut self) -> Result<(State, Stop), Error> {
        let mut rng = Rng::new(self.seed);
        let mut state = State { best_seconds: self.baseline_seconds, ..State::default() };
        let original = Template::AS_IT_IS;
        state.seen.insert(Plan::Template(original));
        state.members.push(Member {
            schedule: Schedule::of_template(original, Recipe::default()),
            seconds: self.baseline_seconds,
        });
        for Known { schedule, seconds } in std::mem::take(&mut self.known) {
            state.seen.extend(schedule.template().map(Plan::Template));
            if let Some(seconds) = seconds {
                state.best_seconds = state.best_seconds.min(seconds);
                state.members.push(Member { schedule, seconds });
            }
        }
        let first = std::mem::take(&mut self.first);
        let first: Vec<Plan> = first.into_iter().filter(|plan| state.seen.insert(plan.clone())).collect();
        self.try_first(first, &mut state)?;
        let suggested = self.space.suggestions().into_iter().map(Plan::Template);
        let mut plans: Vec<Plan> = suggested.filter(|plan| state.seen.insert(plan.clone())).collect();
        let mut n_idle = 0;
        let (mut n_settled, mut settled_at) = (0, state.best_seconds);
        loop {
            let n_before = state.n_measured;
            if let Some(stop) = self.try_all(plans, &mut state)? {
                return Ok((state, stop));
            }
            if let Some(Settled { generations, least_gain }) = self.settled_after {
                let gains = state.best_seconds < settled_at * (1.0 - least_gain);
                (n_settled, settled_at) =
                    if gains { (0, state.best_seconds) } else { (n_settled + 1, settled_at) };
                if n_settled == generations {
                    return Ok((state, Stop::Settled(generations, (100.0 * least_gain) as u32)));
                }
            }
            n_idle = if state.n_measured > n_before { 0 } else { n_idle + 1 };
            if n_idle == IDLE_GENERATIONS {
                return Ok((state, Stop::Exhausted));
            }
            state.generation += 1;
            let mut ranked = state.members.clone();
            // Stable, so that of equally fast ones the earlier comes first.
            ranked.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let n_plans = GENERATION.max(AT_ONCE * self.measurements.width());
            plans = breed::generation(&ranked, n_plans, &mut state.seen, &mut rng);
        }
    }

    /// Tries plans in order, whatever is known by then, as long as there is time.
    fn try_first(&mut self, plans: Vec<Plan>, state: &mut State) -> Result<(), Error> {
        for some in plans.chunks(self.batch_size()) {
            if self.time.left() == Duration::ZERO || (self.enough)() {
                return Ok(());
            }
            let mut batch = Vec::new();
            for made in self.space.prove(some.to_vec()) {
                self.admit(made, &mut batch, state, true)?;
            }
            self.measure(batch, state, true)?;
        }
        Ok(())
    }

    /// Candidates that are compiled together.
    fn batch_size(&self) -> usize {
        let alone = if self.baseline_seconds > LONG_SECONDS { LONG_BATCH } else { BATCH };
        match self.measurements.width() {
            1 => alone,
            width => alone.max(AT_ONCE * width),
        }
    }

    /// Tries plans in order, in batches.
    fn try_all(&mut self, plans: Vec<Plan>, state: &mut State) -> Result<Option<Stop>, Error> {
        let batch_size = self.batch_size();
        let mut plans = plans.into_iter().peekable();
        while plans.peek().is_some() {
            let mut batch: Vec<Candidate> = Vec::new();
            while batch.len() < batch_size && plans.peek().is_some() {
                if let Some(stop) = self.stop(state) {
                    return Ok(Some(stop));
                }
                let room = batch_size.min(self.max_trials.saturating_sub(state.n_measured)) - batch.len();
                if room == 0 {
                    break;
                }
                let mut some = Vec::new();
                for plan in plans.by_ref().take(room) {
                    some.extend(self.unless_hopeless(plan, state)?);
                }
                for made in self.space.prove(some) {
                    self.admit(made, &mut batch, state, false)?;
                }
            }
            self.measure(batch, state, false)?;
        }
        Ok(self.stop(state))
    }

    fn stop(&self, state: &State) -> Option<Stop> {
        if (self.enough)() {
            return Some(Stop::Asked);
        }
        if let Some((least, bound)) = &self.bounds.all_threads
            && state.best_seconds < self.baseline_seconds
            && state.best_seconds * (1.0 - f64::from(ENOUGH_PERCENT) / 100.0) <= *least
            && state.best_seconds >= LEAST_SHARE_OF_BOUND * least
        {
            return Some(Stop::Roof(bound.clone()));
        }
        if state.n_measured >= self.max_trials {
            return Some(Stop::Trials);
        }
        (self.time.left() == Duration::ZERO).then_some(Stop::Time)
    }

    /// Puts a candidate into the batch, unless there is no need to measure it; `alike`: even if it is hopeless.
    fn admit(
        &mut self,
        made: Result<Candidate, NoCandidate>,
        batch: &mut Vec<Candidate>,
        state: &mut State,
        alike: bool,
    ) -> Result<(), Error> {
        let candidate = match made {
            Ok(candidate) => candidate,
            Err(NoCandidate { name, template, recipe, why }) => {
                let found = Measurement::without(Outcome::Refused, why);
                let tried = unproved(name, template, recipe, state.generation, found);
                return self.keep(tried, state);
            }
        };
        let skipped = if let Some(same) = state.texts.get(&candidate.digest) {
            Measurement::without(Outcome::Duplicate, format!("the same as `{same}`"))
        } else if !alike && let Some(why) = self.hopeless(!candidate.proved.is_parallel(), state.best_seconds)
        {
            Measurement::without(Outcome::Hopeless, why)
        } else {
            state.texts.insert(candidate.digest.clone(), candidate.schedule.name.clone());
            batch.push(candidate);
            return Ok(());
        };
        let tried = tried(&candidate, state.generation, skipped);
        self.keep(tried, state)
    }

    /// Passes a plan on, unless it needs no proof to see that it cannot beat the best.
    fn unless_hopeless(&mut self, plan: Plan, state: &mut State) -> Result<Option<Plan>, Error> {
        if let Plan::Template(template) = plan
            && template.threads == Threads::One
            && let Some(why) = self.hopeless(true, state.best_seconds)
        {
            let found = Measurement::without(Outcome::Hopeless, why);
            let tried = unproved(template.title(), Some(template), None, state.generation, found);
            self.keep(tried, state)?;
            return Ok(None);
        }
        Ok(Some(plan))
    }

    /// Why a candidate cannot beat the best.
    fn hopeless(&self, one_thread: bool, best_seconds: f64) -> Option<String> {
        let bounds = &self.bounds;
        let (least, bound) = if one_thread { &bounds.one_thread } else { &bounds.all_threads }.as_ref()?;
        // What was beaten bounds nothing; that of one thread is too high by as much.
        let exceeded = bounds.all_threads.as_ref().map_or(1.0, |(least, _)| best_seconds / least);
        let least = if exceeded < LEAST_SHARE_OF_BOUND { exceeded * least } else { *least };
        (least > BOUND_MARGIN * best_seconds).then(|| {
            let threads = if one_thread { "one thread" } else { "all threads" };
            format!("{threads} cannot take less than {:.3} ms ({bound})", 1e3 * least)
        })
    }

    fn measure(&mut self, batch: Vec<Candidate>, state: &mut State, alike: bool) -> Result<(), Error> {
        if batch.is_empty() {
            return Ok(());
        }
        let best_seconds = if alike { self.baseline_seconds } else { state.best_seconds };
        let limits = Limits { best_seconds, time: self.time, alike };
        let mut results: Vec<Option<Measurement>> = vec![None; batch.len()];
        let record = &mut *self.record;
        self.measurements.measure(&batch, limits, &mut |k, found| {
            results[k] = Some(found.clone());
            state.n_measured += 1;
            state.best_seconds = found.seconds.map_or(state.best_seconds, |s| state.best_seconds.min(s));
            record(&tried(&batch[k], state.generation, found), state)
        })?;
        // In the order of the plans, in whichever they were measured.
        for (candidate, found) in batch.iter().zip(results) {
            let Some(found) = found else { continue };
            if let Some(seconds) = found.seconds {
                state.members.push(Member { schedule: candidate.schedule.clone(), seconds });
            }
            state.tried.push(tried(candidate, state.generation, found));
        }
        Ok(())
    }

    fn keep(&mut self, tried: TrialRecord, state: &mut State) -> Result<(), Error> {
        (self.record)(&tried, state)?;
        state.tried.push(tried);
        Ok(())
    }
}

/// A trial that has no text.
fn unproved(
    name: String,
    template: Option<Template>,
    recipe: Option<Recipe>,
    generation: usize,
    found: Measurement,
) -> TrialRecord {
    TrialRecord { name, template, recipe, generation, code: None, openmp: false, reassociated: false, found }
}

fn tried(candidate: &Candidate, generation: usize, found: Measurement) -> TrialRecord {
    let Candidate { schedule, proved, digest } = candidate;
    TrialRecord {
        name: schedule.name.clone(),
        template: schedule.template(),
        recipe: Some(schedule.recipe.clone()),
        generation,
        code: Some(digest.clone()),
        openmp: proved.openmp,
        reassociated: proved.applied.reassociated,
        found,
    }
}

impl State {
    /// Generations that were begun.
    pub(crate) fn n_generations(&self) -> usize {
        self.generation + 1
    }

    /// Trials with this outcome.
    pub(crate) fn count(&self, outcome: Outcome) -> usize {
        self.tried.iter().filter(|t| t.found.outcome == outcome).count()
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Time => f.write_str("the time was up"),
            Stop::Asked => f.write_str("it was asked to end"),
            Stop::Trials => f.write_str("as many candidates were measured as were allowed"),
            Stop::Roof(bound) => {
                write!(f, "the best is within {ENOUGH_PERCENT} % of its roof ({bound})")
            }
            Stop::Settled(generations, percent) => {
                write!(f, "{generations} generations of candidates brought less than {percent} %")
            }
            Stop::Exhausted => f.write_str("no schedule was found that is legal and new"),
        }
    }
}

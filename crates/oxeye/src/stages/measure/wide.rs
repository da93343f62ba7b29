//! Candidates for instructions that the user's build does not use, since not every processor has them, and this one does.

use super::bench::Bench;
use super::special::{ranked, run_new};
use crate::nest::stands_apart;
use crate::request::Error;
use crate::schedule::{Choice, Rendering, Schedule, Trial, instantiate, prove};
use oxeye_codegen::Isa;
use oxeye_ir::SymId;
use oxeye_transform::templates::{Instantiator, Lanes};
use oxeye_transform::{Machine, PreparedNest, Recipe};
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many schedules are tried so, those that were the fastest.
const MOST_SCHEDULES: usize = 3;
/// And so many further ones with accesses that are not contiguous in lanes, which may pay with wider vectors only: those have
/// instructions for it.
const MOST_SCATTERED: usize = 2;
/// What is worth a function of its own is so much faster than what needs none.
const LEAST_GAIN: f64 = 1.1;

/// A schedule that is to be tried.
struct Plan {
    schedule: Schedule,
    choice: Choice,
    /// The sizes that it is for one value of.
    known: Vec<(SymId, i64)>,
}

/// Tries the nest's own text with wider vectors, before anything else: it needs no schedule that is legal, and keeps what its
/// author wrote into it. Gives the position of the new trial if it is right.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn widen_own_text(
    bench: &Bench<'_>,
    how: Rendering<'_>,
    trials: &mut Vec<Trial>,
) -> Result<Vec<usize>, Error> {
    let site = bench.site;
    let function = &site.unit.functions[site.place.function_idx];
    let (Some(isa), Some(own)) = (isa_for(bench, trials), function.own_texts.get(&site.place.nest_id)) else {
        return Ok(Vec::new());
    };
    let (_, program, nest) = site.place.of(site.unit);
    let how = Rendering { isa: Some(isa), own: Some(own), ..how };
    let schedule = as_it_is();
    if trials.iter().any(|trial| trial.isa == Some(isa) && trial.schedule.recipe == schedule.recipe) {
        return Ok(Vec::new());
    }
    let Ok(proved) = prove(how, &PreparedNest::new(program, nest), &schedule.recipe) else {
        return Ok(Vec::new());
    };
    let schedule = Schedule { name: format!("{}, {}", schedule.name, isa.name()), ..schedule };
    let first = trials.len();
    trials.push(Trial::new(schedule, Choice::default(), Ok(Arc::new(proved))));
    run_new(bench, trials, first, bench.baseline_seconds)
}

/// Whether a candidate that is for some processors only is worth that, beside so many seconds of others.
pub(crate) fn is_worth_it(trial: &Trial, others: f64) -> bool {
    trial.screened.is_some_and(|screened| screened.score() * LEAST_GAIN < others)
}

fn as_it_is() -> Schedule {
    Schedule { name: "as it is".into(), templates: Vec::new(), recipe: Recipe::default() }
}

/// The wider vectors that candidates of a nest may have, if any. Recipes that were given are measured as they are.
fn isa_for(bench: &Bench<'_>, trials: &[Trial]) -> Option<Isa> {
    let site = bench.site;
    let is_given = !trials.is_empty() && trials.iter().all(|trial| trial.schedule.templates.is_empty());
    let function = &site.unit.functions[site.place.function_idx];
    if is_given || stands_apart(site.unit, function).is_err() { None } else { site.session.isa() }
}

/// Tries the fastest schedules, those with scattered accesses in lanes, and the nest as it is, with wider vectors. Gives the
/// positions of the new trials that are so much faster than all others that they are worth it.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn widen(
    bench: &Bench<'_>,
    how: Rendering<'_>,
    trials: &mut Vec<Trial>,
) -> Result<Vec<usize>, Error> {
    let (site, session) = (bench.site, bench.site.session);
    if session.is_over(bench.deadline) {
        return Ok(Vec::new());
    }
    let Some(isa) = isa_for(bench, trials) else { return Ok(Vec::new()) };
    let first = trials.len();
    let ranked = ranked(trials);
    let best = ranked.first().map_or(f64::INFINITY, |(_, seconds)| *seconds).min(bench.baseline_seconds);
    let (_, program, nest) = site.place.of(site.unit);
    let prepared = PreparedNest::new(program, nest);
    let machine = Machine { vector_bytes: isa.vector_bytes(), ..session.machine(how.threads) };
    let mut instantiator = Instantiator::new(program, nest, &machine, how.policy);
    let tried: Vec<Recipe> = trials
        .iter()
        .filter(|trial| trial.isa.is_some())
        .map(|trial| trial.schedule.recipe.clone())
        .collect();
    let mut plans: Vec<Plan> = Vec::new();
    let narrow: Vec<usize> =
        ranked.into_iter().map(|(k, _)| k).filter(|k| trials[*k].isa.is_none()).collect();
    let (fastest, others) = narrow.split_at(narrow.len().min(MOST_SCHEDULES));
    let is_scattered = |k: &&usize| {
        trials[**k].schedule.template().is_some_and(|template| template.lanes == Lanes::Scattered)
    };
    for &k in fastest.iter().chain(others.iter().filter(is_scattered).take(MOST_SCATTERED)) {
        let Trial { schedule, choice, proved, is_special, .. } = &trials[k];
        let known = match (is_special, proved) {
            (true, Some(proved)) => proved.known.clone(),
            (true, None) => continue,
            (false, _) => Vec::new(),
        };
        if let Some(template) = schedule.template()
            && let Ok(recipe) = instantiate(&mut instantiator, &template)
            && recipe != schedule.recipe
        {
            let schedule = Schedule { recipe, ..schedule.clone() };
            plans.push(Plan { schedule, choice: choice.clone(), known: known.clone() });
        }
        plans.push(Plan { schedule: schedule.clone(), choice: choice.clone(), known });
    }
    plans.push(Plan { schedule: as_it_is(), choice: Choice::default(), known: Vec::new() });
    plans.retain(|plan| !tried.contains(&plan.schedule.recipe));
    let mut seen = BTreeSet::new();
    for Plan { mut schedule, choice, known } in plans {
        let how = Rendering { isa: Some(isa), known: &known, ..how };
        let Ok(proved) = prove(how, &prepared, &schedule.recipe) else { continue };
        if seen.insert(proved.before().to_owned()) {
            schedule.name = format!("{}, {}", schedule.name, isa.name());
            trials.push(Trial::new(schedule, choice, Ok(Arc::new(proved))));
        }
    }
    run_new(bench, trials, first, best / LEAST_GAIN)
}

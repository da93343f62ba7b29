//! Recipes of a file that are known already, measured again: the stages of a tuning run with these in place of proposals.

use crate::commands::replay::proved;
use crate::nest::{Standing, TunedNest, Workpiece, replacement};
use crate::request::{Error, Guard, NestRecipe, Phase, RecipeFile};
use crate::schedule::{Choice, Proved, Schedule, Trial, Unproved, Verdict};
use crate::session::Session;
use crate::stages::measure::{Pace, measure_nest};
use crate::stages::{InsideNest, capture, open_inside, read};
use oxeye_frontend::Unit;
use oxeye_profile::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A measurement that does not please is made again, since it may be noise.
const MOST_ATTEMPTS: usize = 3;

/// What a recipe comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    /// Median seconds of an invocation of the original.
    pub(super) baseline_seconds: f64,
    /// The same of the new code.
    pub(super) seconds: f64,
    /// Original by new code, over all sizes that are timed.
    pub(super) speedup: f64,
    /// What bounds the new code.
    pub(super) bound: Option<String>,
    /// Share of that roof reached.
    pub(super) roof_fraction: Option<f64>,
    /// What stands in the place of the nest.
    pub(super) text: String,
    /// Whether that is for several threads, which a build without OpenMP does not have.
    pub(super) is_threaded: bool,
}

/// A nest with its recipe applied.
struct Given {
    /// The nest among those of the workpiece.
    idx: usize,
    trial: Trial,
    proved: Arc<Proved>,
    text: String,
}

/// Measures recipes of the session's file, on what the program calls its nests with. What cannot be measured, or gives other
/// results, says why. `pleases` says of a recipe by its position whether figures need no second look.
///
/// # Errors
/// If the file cannot be read, or the program does not run.
pub(super) fn measure_given(
    session: &Session<'_>,
    recipes: &RecipeFile,
    pleases: &dyn Fn(usize, &Figures) -> bool,
) -> Result<Vec<Result<Figures, String>>, Error> {
    let unit = read(session)?;
    let mut captured = capture(session, unit)?;
    let inside: Vec<InsideNest<'_>> = recipes
        .nests
        .iter()
        .filter(|wanted| !wanted.within.is_empty() || wanted.joined > 0)
        .map(|wanted| InsideNest {
            function: &wanted.function,
            ordinals: wanted.within.iter().copied().chain([wanted.ordinal]).collect(),
            joined: wanted.joined,
        })
        .collect();
    let workpiece = &mut captured.workpiece;
    open_inside(session, workpiece, &inside)?;
    let given: Vec<Result<Given, String>> =
        recipes.nests.iter().map(|wanted| given(session, workpiece, recipes, wanted)).collect();
    session.enter(Phase::Trying)?;
    let n_left = given.iter().flatten().count().max(1) as u32;
    let each = session.options.budget / n_left;
    let mut found = Vec::new();
    for (position, given) in given.into_iter().enumerate() {
        session.check_cancelled()?;
        found.push(match given {
            Ok(given) => attempts(session, workpiece, &given, each, &|figures| pleases(position, figures))?,
            Err(why) => Err(why),
        });
    }
    Ok(found)
}

/// The nest that a recipe is for, and what the recipe makes of it.
fn given(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    recipes: &RecipeFile,
    wanted: &NestRecipe,
) -> Result<Given, String> {
    let Workpiece { unit, nests, .. } = workpiece;
    let is_it = |nest: &TunedNest| {
        let within = nest.place.within.iter().map(|outer| outer.ordinal);
        nest.place.of(unit).0 == wanted.function
            && nest.place.ordinal == wanted.ordinal
            && nest.place.joined == wanted.joined
            && within.eq(wanted.within.iter().copied())
    };
    let idx = nests.iter().position(is_it).ok_or("the loop is no longer there, or no longer read")?;
    let nest = &mut nests[idx];
    match &nest.standing {
        Standing::Skipped(why) => return Err(format!("it cannot be measured: {why}")),
        Standing::Tuned | Standing::Short(_) => nest.standing = Standing::Tuned,
    }
    let refused = |why: Unproved| format!("its recipe is no longer legal: {why}");
    let (_, _, ir) = nest.place.of(unit);
    let how = session.rendering(nest.place.around(unit), recipes.threads.min(session.threads));
    let function = &unit.functions[nest.place.function_idx];
    let (proved, recipe) = proved(how, (unit, function), ir, wanted).map_err(refused)?;
    let (proved, guard) = (Arc::new(proved), wanted.guard.as_ref().map(Guard::rendered).unwrap_or_default());
    let block = proved.emitted(&wanted.name, &recipe);
    let place = &nest.place;
    let text = replacement(
        unit,
        &unit.functions[place.function_idx],
        place.nest_id,
        place.span,
        block,
        (&proved, recipes.vector_bytes),
    );
    let schedule = Schedule { name: wanted.name.clone(), templates: Vec::new(), recipe };
    let trial = Trial { guard, ..Trial::new(schedule, Choice::default(), Ok(Arc::clone(&proved))) };
    Ok(Given { idx, trial, proved, text })
}

/// Measures until the figures please, and returns the best.
fn attempts(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    given: &Given,
    time: Duration,
    pleases: &dyn Fn(&Figures) -> bool,
) -> Result<Result<Figures, String>, Error> {
    let mut best: Option<Figures> = None;
    for _ in 0..MOST_ATTEMPTS {
        let Workpiece { unit, nests, .. } = &mut *workpiece;
        let nest = &mut nests[given.idx];
        (nest.trials, nest.n_first, nest.winner) = (vec![given.trial.clone()], 1, None);
        (nest.note, nest.baseline_seconds) = (None, None);
        measure_nest(session, unit, given.idx, nest, (Pace::Usual, Instant::now() + time))?;
        if session.progress.enough() {
            return Err(Error::Cancelled);
        }
        match figures(session, unit, nest, given) {
            Ok(figures) => {
                let is_done = pleases(&figures);
                if best.as_ref().is_none_or(|best| figures.seconds < best.seconds) {
                    best = Some(figures);
                }
                if is_done {
                    break;
                }
            }
            // What is wrong stays wrong.
            Err(why) => return Ok(best.ok_or(why)),
        }
    }
    Ok(best.ok_or_else(|| "it could not be timed".to_owned()))
}

/// What a measurement found.
fn figures(session: &Session<'_>, unit: &Unit, nest: &TunedNest, given: &Given) -> Result<Figures, String> {
    let Some(trial) = nest.trials.first() else { return Err("it was not tried".into()) };
    let why = || trial.why.clone().or_else(|| nest.note.clone()).unwrap_or_default();
    match trial.verdict {
        Verdict::Chosen | Verdict::Slower | Verdict::TooSlow => {}
        Verdict::WrongResult => return Err(format!("its results differ from the original's: {}", why())),
        _ => return Err(format!("it cannot be measured: {}", why())),
    }
    let timed = trial.timed.as_ref().map(|timing| (timing.baseline_seconds, timing.seconds, timing.speedup));
    let screened = trial.screened.zip(nest.baseline_seconds);
    let screened = screened.map(|(found, baseline)| (baseline, found.seconds, baseline / found.score()));
    let Some((baseline_seconds, seconds, speedup)) = timed.or(screened) else {
        return Err(format!("it is much slower than the original: {}", why()));
    };
    let roofs = nest.roofs(session, unit, given.idx).filter(|_| !trial.schedule.recipe.does_less());
    let threads = given.proved.threads(session.threads);
    let profile = roofs.map(|roofs| roofs.after(&given.proved.applied, seconds, threads));
    Ok(Figures {
        baseline_seconds,
        seconds,
        speedup,
        bound: profile.as_ref().filter(|p| p.bound != Bound::Unknown).map(|p| p.bound.to_string()),
        roof_fraction: profile.and_then(|profile| Some(profile.roof_fraction?.value)),
        text: given.text.clone(),
        is_threaded: given.proved.is_parallel(),
    })
}

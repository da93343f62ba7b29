//! Stage 3: for every nest worth tuning, schedules as C text: first the few that helped nests like it, then what its own
//! loops suggest.

use super::capture::Captured;
use super::kept::kept_recipes;
use super::rewrite_trials::rewrite_trials;
use crate::knowledge::NestDescription;
use crate::nest::{Place, Standing, TunedNest, Workpiece};
use crate::parallel::{self, Panicked, guarded};
use crate::request::files::read_text;
use crate::request::{DonorSearch, Error, NestRecipe, is_same_file};
use crate::schedule::{Choice, Schedule, Trial, Unproved, prove};
use crate::session::Session;
use crate::transfer::{Advice, AdvisedOption, Asked, advice};
use indexmap::IndexMap;
use oxeye_binding::Binding;
use oxeye_frontend::Unit;
use oxeye_transform::{PreparedNest, Recipe, RefusedSuggestion, Suggestion, Suggestions, suggest_for};
use rayon::prelude::*;
use std::sync::Arc;

/// A file whose nests have schedules to try.
pub struct Proposed {
    /// The file.
    pub workpiece: Workpiece,
}

/// The schedules to try on one nest.
#[derive(Default)]
pub(crate) struct Proposal {
    /// Best guess first.
    pub(crate) trials: Vec<Trial>,
    /// How many of them to try; the others are for when none of these is faster.
    pub(crate) n_first: usize,
    /// What was found impossible, in words.
    pub(crate) refused: Vec<RefusedSuggestion>,
    /// Where the schedules come from, if there is something to say.
    pub(crate) note: Option<String>,
    /// What the nest is known by, and what was advised.
    pub(crate) advice: Option<Box<(NestDescription, Advice)>>,
}

/// Schedules for every nest that is tuned, each applied and rendered if it is legal.
///
/// # Errors
/// If the run is interrupted, or the recipe database cannot be read.
pub fn propose(session: &Session<'_>, captured: Captured) -> Result<Proposed, Error> {
    let mut workpiece = captured.workpiece;
    let Workpiece { unit, nests, .. } = &mut workpiece;
    let tuned: Vec<&mut TunedNest> = nests.iter_mut().filter(|n| n.standing == Standing::Tuned).collect();
    tuned.into_par_iter().try_for_each(|nest| {
        session.check_cancelled()?;
        proposal(session, unit, nest, session.options.donors)?.put_into(nest);
        Ok::<(), Error>(())
    })?;
    Ok(Proposed { workpiece })
}

/// The schedules to try on one nest, donors found in one way or another.
///
/// # Errors
/// If the recipe database cannot be read.
pub(crate) fn proposal(
    session: &Session<'_>,
    unit: &Unit,
    nest: &TunedNest,
    how: DonorSearch,
) -> Result<Proposal, Error> {
    let mut proposal = as_written(session, unit, nest, how)?;
    let found = rewrite_trials(session, unit, nest);
    let n_more = found.plain.len() + found.scheduled.len();
    proposal.trials.splice(proposal.n_first..proposal.n_first, found.scheduled);
    proposal.trials.splice(0..0, found.plain);
    proposal.n_first += n_more;
    proposal.refused.extend(found.refused);
    if n_more > 0 {
        Trial::mark_duplicates(&mut proposal.trials);
    }
    Ok(proposal)
}

/// The schedules of a nest that is not rewritten first.
fn as_written(
    session: &Session<'_>,
    unit: &Unit,
    nest: &TunedNest,
    how: DonorSearch,
) -> Result<Proposal, Error> {
    let (_, program, ir) = nest.place.of(unit);
    let prepared = PreparedNest::new(program, ir);
    let threads = nest.threads(session);
    let suggested = match suggestions(session, &prepared, threads) {
        Ok(suggested) => suggested,
        Err(bug) => {
            let refused = vec![RefusedSuggestion::new("", bug)];
            return Ok(Proposal { refused, ..Proposal::default() });
        }
    };
    if session.known.recipes.is_none() || how == DonorSearch::None {
        return Ok(own_suggestions(session, nest.place.around(unit), &prepared, threads, suggested));
    }
    let asked = Asked {
        around: nest.place.around(unit),
        nest: &prepared,
        sizes: &nest.sizes(),
        seconds: nest.seconds_in_place(),
        threads,
        suggested: &suggested,
    };
    let (description, mut advice) = match advice(session, asked, how) {
        Ok(advised) => advised,
        Err(setback) => {
            let note = Some(format!("no donors: {}", setback.item()?));
            return Ok(Proposal {
                note,
                ..own_suggestions(session, nest.place.around(unit), &prepared, threads, suggested)
            });
        }
    };
    let trouble = session.known.trouble.take();
    let mut found = match advice.useless() {
        Some(why) => Proposal {
            note: Some(why),
            ..own_suggestions(session, nest.place.around(unit), &prepared, threads, suggested)
        },
        None => advised(&mut advice, suggested),
    };
    found.note = [trouble, found.note].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
    // What no trial has taken is not built.
    advice.options.iter_mut().for_each(|option| option.proved = None);
    Ok(Proposal { advice: Some(Box::new((description, advice))), ..found })
}

/// Whether a nest's own loops suggest anything that is legal and different.
pub(crate) fn has_schedules(session: &Session<'_>, unit: &Unit, place: &Place, threads: u32) -> bool {
    let (_, program, ir) = place.of(unit);
    let prepared = PreparedNest::new(program, ir);
    suggestions(session, &prepared, threads).is_ok_and(|suggested| {
        let proposal = own_suggestions(session, place.around(unit), &prepared, threads, suggested);
        proposal.trials.iter().any(Trial::is_ready)
    })
}

/// What the nest's own loops suggest; a bug there must cost no more than this nest.
fn suggestions(
    session: &Session<'_>,
    nest: &PreparedNest<'_>,
    threads: u32,
) -> Result<Suggestions, Panicked> {
    guarded(|| suggest_for(nest, &session.machine(threads), session.policy()))
}

/// The suggestions, all of them to be tried.
fn own_suggestions(
    session: &Session<'_>,
    around: (&str, &Binding),
    nest: &PreparedNest<'_>,
    threads: u32,
    suggestions: Suggestions,
) -> Proposal {
    let Suggestions { mut refused, recipes, .. } = suggestions;
    let proofs = parallel::map(&recipes, |suggestion| {
        prove(session.rendering(around, threads), nest, &suggestion.recipe)
    });
    let mut trials: Vec<Trial> = recipes
        .into_iter()
        .zip(proofs)
        .map(|(Suggestion { name, template, recipe }, proof)| {
            let schedule = Schedule { name, templates: vec![template], recipe };
            let proof = proof.map_err(Unproved::from).and_then(|proof| proof);
            Trial::new(schedule, Choice::default(), proof.map(Arc::new))
        })
        .collect();
    for trial in trials.iter().filter(|trial| trial.proved.is_none()) {
        let reason = trial.why.as_deref().unwrap_or_default();
        let told = RefusedSuggestion::new(&trial.schedule.name, reason);
        if !refused.contains(&told) {
            refused.push(told);
        }
    }
    Trial::mark_duplicates(&mut trials);
    let n_first = trials.len();
    Proposal { trials, n_first, refused, ..Proposal::default() }
}

/// The schedules that were chosen, and behind them those that the nest itself suggests.
fn advised(advice: &mut Advice, suggested: Suggestions) -> Proposal {
    let mut order = advice.chosen.clone();
    for suggestion in &suggested.recipes {
        let makes_it = |option: &AdvisedOption| option.schedule.templates.contains(&suggestion.template);
        let position = advice.options.iter().position(makes_it);
        order.extend(position.filter(|position| !order.contains(position)));
    }
    let mut trial = |position: usize| {
        let option = &mut advice.options[position];
        let proved = option.proved.take()?;
        Some(Trial::new(option.schedule.clone(), option.choice.clone(), Ok(proved)))
    };
    let trials: Vec<Trial> = order.into_iter().filter_map(&mut trial).collect();
    let mut refused = suggested.refused;
    // What only the panel proposed, and does not fit, nobody asked for.
    let told = advice.refused.iter().filter(|r| r.helped.is_some() || r.recipe.is_some());
    let mut by_reason: IndexMap<&str, Vec<String>> = IndexMap::new();
    for refusal in told {
        by_reason.entry(&refusal.reason).or_default().push(refusal.what());
    }
    let told = by_reason.into_iter().map(|(reason, what)| RefusedSuggestion::new(what.join(", "), reason));
    refused.extend(told);
    Proposal { trials, n_first: advice.chosen.len(), refused, ..Proposal::default() }
}

impl Proposed {
    /// Adds the candidates of the options to their nests. What cannot be done is told with the nest.
    ///
    /// # Errors
    /// If a candidate is for a nest that the file does not have.
    pub(crate) fn add_candidates(&mut self, session: &Session<'_>) -> Result<(), Error> {
        let earlier = earlier(session);
        let asked = session.options.candidates.iter().map(|own| (own, true));
        for (own, is_asked) in asked.chain(earlier.iter().map(|own| (own, false))) {
            let Workpiece { unit, nests, .. } = &mut self.workpiece;
            let is_meant = |nest: &TunedNest| {
                let (function, _, _) = nest.place.of(unit);
                let place = &nest.place;
                let is_plain = place.within.is_empty() && place.joined == 0;
                function == own.function && place.ordinal == own.ordinal && is_plain
            };
            let Some(nest_idx) = nests.iter().position(is_meant) else {
                if !is_asked {
                    continue;
                }
                return Err(Error::Input(format!(
                    "the candidate `{}` is for loop nest {} of `{}`, which is not there",
                    own.recipe,
                    own.ordinal.saturating_add(1),
                    own.function
                )));
            };
            let nest = &mut nests[nest_idx];
            let name = format!("{}: {}", own.name, own.recipe);
            if let Some(why) = nest.standing.reason() {
                nest.refused.push(RefusedSuggestion::new(name, why));
                continue;
            }
            let (_, program, ir) = nest.place.of(unit);
            match guarded(|| own.recipe.resolve(program, ir, session.policy())) {
                Ok(Ok(recipe)) => self.add(session, nest_idx, &own.name, recipe),
                Ok(Err(refusal)) => nest.refused.push(RefusedSuggestion::new(name, refusal)),
                Err(bug) => nest.refused.push(RefusedSuggestion::new(name, bug)),
            }
        }
        Ok(())
    }

    /// Adds a recipe to try for a nest, before the others.
    pub fn add(&mut self, session: &Session<'_>, nest_idx: usize, name: &str, recipe: Recipe) {
        let Workpiece { unit, nests, .. } = &mut self.workpiece;
        let nest = &mut nests[nest_idx];
        let (_, program, ir) = nest.place.of(unit);
        let how = session.rendering(nest.place.around(unit), nest.threads(session));
        let proof = prove(how, &PreparedNest::new(program, ir), &recipe);
        let schedule = Schedule { name: name.to_owned(), templates: Vec::new(), recipe };
        nest.trials.insert(0, Trial::new(schedule, Choice::default(), proof.map(Arc::new)));
        nest.n_first += 1;
        Trial::mark_duplicates(&mut nest.trials);
    }
}

impl Proposal {
    /// Makes it the schedules to try on a nest.
    pub(crate) fn put_into(self, nest: &mut TunedNest) {
        let Proposal { trials, n_first, refused, note, advice } = self;
        (nest.trials, nest.n_first, nest.refused) = (trials, n_first, refused);
        (nest.note, nest.advice) = (note, advice);
    }
}

/// The recipes of the tuned file that a short run would replace: what a longer one found is not lost unseen.
fn earlier(session: &Session<'_>) -> Vec<NestRecipe> {
    let options = session.options;
    let (output, is_alone) = (options.output_path(), options.project.is_none() && !options.is_stand_in);
    let is_wanted = is_alone && options.quick && !options.fresh && !is_same_file(&output, &options.file);
    let text = is_wanted.then(|| read_text(&output).ok()).flatten();
    text.and_then(|text| kept_recipes(&text)).map(|recipes| recipes.nests).unwrap_or_default()
}

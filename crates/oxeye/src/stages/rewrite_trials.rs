//! Schedules of nests that are rewritten first: to do less for the same results, or to use what `oxeye values` found in them.

use crate::nest::TunedNest;
use crate::parallel::{self, guarded};
use crate::schedule::{Choice, Schedule, Trial, Unproved, prove, steps_for, steps_for_zeros};
use crate::session::Session;
use oxeye_codegen::ArgumentOf;
use oxeye_frontend::Unit;
use oxeye_ir::ArrayId;
use oxeye_transform::templates::{
    shares_parts_of_tiles, suggest_overlaps, suggest_private_scratch, suggest_rewrites,
};
use oxeye_transform::{PreparedNest, Recipe, RefusedSuggestion, Transformation, suggest_few};
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many schedules are tried of a nest as a rewrite lets it be, beside the order that it has.
const MOST_SUGGESTIONS: usize = 4;

/// The name of nests whose outermost loop has scratch arrays of its own in each iteration.
const OWN_SCRATCH: &str = "scratch of its own";

/// Arrays with a larger share of zeros are taken for sparse: testing an element must cost less than what it saves.
const MOSTLY: f64 = 0.75;

/// The trials of a nest that is rewritten first.
#[derive(Default)]
pub(super) struct RewriteTrials {
    /// The nest as the rewrites let it be, in the order that it has; shared among threads where that is what they are for.
    pub(super) plain: Vec<Trial>,
    /// With what it then suggests.
    pub(super) scheduled: Vec<Trial>,
    /// What cannot be done.
    pub(super) refused: Vec<RefusedSuggestion>,
}

/// The trials for the rewrites that suit a nest and the findings of the options that are about it.
pub(super) fn rewrite_trials(session: &Session<'_>, unit: &Unit, nest: &TunedNest) -> RewriteTrials {
    let (_, program, ir) = nest.place.of(unit);
    let prepared = PreparedNest::new(program, ir);
    let (mut bases, mut refused) = for_values(session, unit, nest);
    let sparse = for_zeros(session, unit, nest).into_iter();
    bases.extend(
        sparse.filter(|(_, recipe)| bases.iter().all(|(_, known)| known != recipe)).collect::<Vec<_>>(),
    );
    match guarded(|| suggest_rewrites(&prepared, session.policy())) {
        Ok(recipes) => bases.extend(recipes),
        Err(bug) => refused.push(RefusedSuggestion::new("rewritten", bug)),
    }
    let (mut plain, mut scheduled) = (Vec::new(), Vec::new());
    let threads = nest.threads(session);
    match guarded(|| suggest_overlaps(&prepared, &session.machine(threads), session.policy())) {
        Ok(recipes) => bases.extend(recipes),
        Err(bug) => refused.push(RefusedSuggestion::new("overlapped tiles", bug)),
    }
    if threads > 1 {
        let own = guarded(|| suggest_private_scratch(&prepared, session.policy())).unwrap_or_default();
        bases.extend(own.map(|recipe| (OWN_SCRATCH.to_owned(), recipe)));
    }
    let how = session.rendering(nest.place.around(unit), threads);
    for (name, base) in bases {
        let rewritten = match guarded(|| prepared.rewritten(&base, session.policy())) {
            Ok(Ok(rewritten)) => rewritten,
            Ok(Err(refusal)) => {
                refused.push(RefusedSuggestion::new(name, refusal));
                continue;
            }
            Err(bug) => {
                refused.push(RefusedSuggestion::new(name, bug));
                continue;
            }
        };
        let machine = session.machine(threads);
        let suggested =
            guarded(|| suggest_few(&rewritten.prepared(), &machine, session.policy(), MOST_SUGGESTIONS));
        let further = suggested.map(|suggested| suggested.recipes).unwrap_or_default();
        let further = further.into_iter().map(|suggestion| {
            let steps = [base.steps.clone(), suggestion.recipe.steps].concat();
            (format!("{name}, {}", suggestion.name), Recipe { steps })
        });
        let all: Vec<(String, Recipe)> = [(name.clone(), base.clone())].into_iter().chain(further).collect();
        let proofs = parallel::map(&all, |(_, recipe)| prove(how, &prepared, recipe));
        let mut trials = Vec::new();
        let is_tiled = matches!(base.steps.first(), Some(Transformation::Overlap(_)));
        for ((name, recipe), proof) in all.into_iter().zip(proofs) {
            let proof = proof.map_err(Unproved::from).and_then(|proof| proof);
            if is_tiled && proof.as_ref().is_ok_and(|proved| shares_parts_of_tiles(&proved.applied)) {
                continue;
            }
            if let Err(why) = &proof {
                refused.push(RefusedSuggestion::new(&name, why));
            }
            let schedule = Schedule { name, templates: Vec::new(), recipe };
            trials.push(Trial::new(schedule, Choice::default(), proof.map(Arc::new)));
        }
        // Scratch of their own is for threads, and so are tiles.
        let is_for_threads = is_tiled || matches!(base.steps.first(), Some(Transformation::Privatize(_)));
        let shared = trials.iter().position(Trial::is_parallel).filter(|_| is_for_threads);
        plain.push(trials.remove(shared.unwrap_or(0)));
        scheduled.extend(trials);
    }
    RewriteTrials { plain, scheduled, refused }
}

/// First steps for the findings of the options that are about a nest, with titles, and why there are none for some.
fn for_values(
    session: &Session<'_>,
    unit: &Unit,
    nest: &TunedNest,
) -> (Vec<(String, Recipe)>, Vec<RefusedSuggestion>) {
    let (function, program, ir) = nest.place.of(unit);
    let span = nest.place.span;
    let n_lines = span.text(&unit.source).lines().count() as u32;
    let lines = span.line..span.line + n_lines.max(1);
    let found = session.options.values.iter().flat_map(|values| values.findings.iter().cloned());
    // They know the lines of the user's own file.
    let in_text = |line: u32| unit.included.line_of(0, line).unwrap_or(line);
    let found = found.map(|mut found| {
        found.line = in_text(found.line);
        found.lines.iter_mut().for_each(|line| *line = in_text(*line));
        found
    });
    let own = found.filter(|found| found.function == function && lines.contains(&found.line));
    let mut bases: Vec<(String, Recipe)> = Vec::new();
    let mut refused = Vec::new();
    let mut together = Recipe::default();
    for found in own.filter(|found| found.recipe.is_some()) {
        let of = |recipe: &Recipe| {
            let step = recipe.steps.first().map_or("", |step| step.name());
            format!("{step} of {}", found.array)
        };
        match guarded(|| steps_for(&found, program, ir, session.policy())) {
            Ok(Ok(recipes)) => {
                together.steps.extend(recipes.first().into_iter().flat_map(|recipe| recipe.steps.clone()));
                bases.extend(recipes.into_iter().map(|recipe| (of(&recipe), recipe)));
            }
            Ok(Err(why)) => refused.push(RefusedSuggestion::new(format!("values of {}", found.array), why)),
            Err(bug) => refused.push(RefusedSuggestion::new(format!("values of {}", found.array), bug)),
        }
    }
    bases.dedup_by(|a, b| a.1 == b.1);
    if bases.iter().all(|(_, recipe)| *recipe != together) && bases.len() > 1 {
        bases.insert(0, ("all of its values".to_owned(), together));
    }
    (bases, refused)
}

/// First steps for arrays that are mostly zero in the first sample, with titles.
fn for_zeros(session: &Session<'_>, unit: &Unit, nest: &TunedNest) -> Vec<(String, Recipe)> {
    let (_, program, ir) = nest.place.of(unit);
    let Some(sample) = nest.calls.samples.first() else { return Vec::new() };
    let written: BTreeSet<ArrayId> = ir
        .accesses()
        .into_iter()
        .filter(|(_, is_written)| *is_written)
        .map(|(access, _)| access.array)
        .collect();
    let mut bases = Vec::new();
    for (position, argument) in nest.calls.arguments.iter().enumerate() {
        let ArgumentOf::Array(array) = argument.what else { continue };
        let is_plain = argument.is_buffer && argument.fields.is_none() && !written.contains(&array);
        let is_sparse = || {
            let zeros = sample.share_of_zeros(position, argument.element.bytes() as usize);
            zeros.is_ok_and(|share| share >= MOSTLY)
        };
        if !is_plain || !is_sparse() {
            continue;
        }
        let made = guarded(|| steps_for_zeros(array, program, ir, session.policy())).unwrap_or_default();
        bases.extend(made.into_iter().map(|recipe| {
            let step = recipe.steps.first().map_or("", |step| step.name());
            (format!("{step} of {}", argument.name), recipe)
        }));
    }
    bases
}

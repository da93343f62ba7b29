//! The schedules of one nest: what may be tried, and its proof.

use super::record::{Candidate, Plan};
use crate::parallel::{self, guarded};
use crate::schedule::{Rendering, Schedule, instantiate, prove};
use oxeye_ir::{Nest, Program};
use oxeye_transform::steps::{Unroll, Vectorize};
use oxeye_transform::templates::{Instantiator, Template};
use oxeye_transform::{Machine, PreparedNest, Recipe, Transformation};

/// The schedules of one nest.
pub(crate) struct Space<'a> {
    how: Rendering<'a>,
    instantiator: Instantiator<'a>,
}

/// A plan that gives no candidate.
#[derive(Clone, Debug)]
pub(crate) struct NoCandidate {
    pub(crate) name: String,
    pub(crate) template: Option<Template>,
    /// `None` if the template gives none.
    pub(crate) recipe: Option<Recipe>,
    pub(crate) why: String,
}

impl<'a> Space<'a> {
    pub(crate) fn new(program: &'a Program, nest: &'a Nest, machine: &Machine, how: Rendering<'a>) -> Self {
        let instantiator = Instantiator::new(program, nest, machine, how.policy);
        Self { how, instantiator }
    }

    /// What is worth trying first, best guess first.
    pub(crate) fn suggestions(&mut self) -> Vec<Template> {
        guarded(|| self.instantiator.templates()).unwrap_or_default()
    }

    /// Makes plans into candidates, proving every step; the answers are in the order of the plans.
    pub(crate) fn prove(&mut self, plans: Vec<Plan>) -> Vec<Result<Candidate, NoCandidate>> {
        let schedules: Vec<Result<Schedule, NoCandidate>> =
            plans.into_iter().map(|plan| self.schedule(plan)).collect();
        let (how, prepared) = (self.how, self.instantiator.prepared());
        let proofs = parallel::map(&schedules, |made| {
            candidate(how, prepared, made.as_ref().map_err(NoCandidate::clone)?.clone())
        });
        let whole = |(made, proof): (Result<Schedule, NoCandidate>, Result<_, parallel::Panicked>)| {
            proof.unwrap_or_else(|bug| Err(NoCandidate::of(made?, bug.to_string())))
        };
        schedules.into_iter().zip(proofs).map(whole).collect()
    }

    fn schedule(&mut self, plan: Plan) -> Result<Schedule, NoCandidate> {
        let schedule = match plan {
            Plan::Recipe { name, recipe } => Schedule { name, templates: Vec::new(), recipe },
            Plan::Template(template) => match instantiate(&mut self.instantiator, &template) {
                Ok(recipe) => Schedule::of_template(template, recipe),
                Err(why) => {
                    let (name, template) = (template.title(), Some(template));
                    return Err(NoCandidate { name, template, recipe: None, why: why.to_string() });
                }
            },
        };
        if schedule.recipe.steps.is_empty() {
            return Err(NoCandidate::of(schedule, "it leaves the nest as it is".into()));
        }
        Ok(schedule)
    }
}

impl NoCandidate {
    fn of(schedule: Schedule, why: String) -> Self {
        let template = schedule.template();
        Self { name: schedule.name, template, recipe: Some(schedule.recipe), why }
    }
}

/// Proves a schedule and renders what it makes of the nest.
pub(crate) fn candidate(
    how: Rendering<'_>,
    prepared: &PreparedNest<'_>,
    schedule: Schedule,
) -> Result<Candidate, NoCandidate> {
    match prove(how, prepared, &schedule.recipe) {
        Ok(proved) => Ok(Candidate { digest: proved.digest(), schedule, proved }),
        Err(why) => Err(NoCandidate::of(schedule, why.to_string())),
    }
}

/// Recipes that differ from one in a single step, where no template has a word for it: sizes of tiles one by one, how
/// often a loop is unrolled, a step left out. In a fixed order; whether they are legal shows when they are proved.
pub(crate) fn edits(name: &str, recipe: &Recipe) -> Vec<Plan> {
    let mut found = Vec::new();
    let mut add = |what: String, steps: Vec<Transformation>| {
        found.push(Plan::Recipe { name: format!("{name}, {what}"), recipe: Recipe { steps } });
    };
    for (k, step) in recipe.steps.iter().enumerate() {
        for (what, changed) in step.variations() {
            let mut steps = recipe.steps.clone();
            steps[k] = changed;
            add(what, steps);
        }
    }
    for (k, step) in recipe.steps.iter().enumerate() {
        // The steps after one that renumbers speak of its ids.
        if recipe.steps.len() > 1 && !step.info().renumbers {
            let mut steps = recipe.steps.clone();
            steps.remove(k);
            add(format!("without {step}"), steps);
        }
        if let Transformation::Vectorize(Vectorize { at }) = step {
            for factor in [2, 4] {
                let mut steps = recipe.steps.clone();
                steps.insert(k, Unroll { at: *at, factor }.into());
                add(format!("{at} unrolled {factor}x"), steps);
            }
        }
    }
    found
}

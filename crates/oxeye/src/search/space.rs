//! The schedules of one nest: what may be tried, and its proof.

use super::trial::{Plan, Proposal};
use crate::stages::propose::{CandidateState, Rendering, guarded, in_parallel, prove};
use crate::{Recipe, Transformation};
use oxeye_ir::{Nest, Program};
use oxeye_transform::Machine;
use oxeye_transform::steps::{Unroll, Vectorize};
use oxeye_transform::templates::{Instantiator, Template};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The schedules of one nest.
pub(crate) struct Space<'a> {
    program: &'a Program,
    nest: &'a Nest,
    how: Rendering<'a>,
    instantiator: Instantiator<'a>,
    n_cores: usize,
}

/// A plan with its recipe, not proved yet.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) template: Option<Template>,
    pub(crate) recipe: Recipe,
}

/// A plan that gives no candidate.
#[derive(Clone, Debug)]
pub(crate) struct Unfit {
    pub(crate) name: String,
    pub(crate) template: Option<Template>,
    /// `None` if the template gives none.
    pub(crate) recipe: Option<Recipe>,
    pub(crate) why: String,
}

impl<'a> Space<'a> {
    pub(crate) fn new(
        program: &'a Program,
        nest: &'a Nest,
        machine: &Machine,
        how: Rendering<'a>,
        n_cores: usize,
    ) -> Self {
        let instantiator = Instantiator::new(program, nest, machine, how.policy);
        Self { program, nest, how, instantiator, n_cores }
    }

    /// What is worth trying first, best guess first.
    pub(crate) fn suggestions(&mut self) -> Vec<Template> {
        guarded(|| self.instantiator.templates()).unwrap_or_default()
    }

    /// Makes plans into candidates, proving every step; the answers are in the order of the plans.
    pub(crate) fn prove(&mut self, plans: Vec<Plan>) -> Vec<Result<Proposal, Unfit>> {
        let drafts: Vec<Result<Draft, Unfit>> = plans.into_iter().map(|plan| self.recipe(plan)).collect();
        let (how, program, nest) = (self.how, self.program, self.nest);
        in_parallel(&drafts, self.n_cores, |made| {
            proposal(how, program, nest, made.as_ref().map_err(Unfit::clone)?)
        })
    }

    fn recipe(&mut self, plan: Plan) -> Result<Draft, Unfit> {
        let (name, template, recipe) = match plan {
            Plan::Recipe { name, recipe } => (name, None, recipe),
            Plan::Template(template) => {
                let instantiator = &mut self.instantiator;
                match guarded(|| instantiator.instantiate(&template))
                    .and_then(|made| made.map_err(|unfit| unfit.to_string()))
                {
                    Ok(recipe) => (template.title(), Some(template), recipe),
                    Err(why) => {
                        let (name, template) = (template.title(), Some(template));
                        return Err(Unfit { name, template, recipe: None, why });
                    }
                }
            }
        };
        if recipe.steps.is_empty() {
            let why = "it leaves the nest as it is".into();
            return Err(Unfit { name, template, recipe: Some(recipe), why });
        }
        Ok(Draft { name, template, recipe })
    }
}

/// Proves a recipe and renders what it makes of the nest.
pub(crate) fn proposal(
    how: Rendering<'_>,
    program: &Program,
    nest: &Nest,
    draft: &Draft,
) -> Result<Proposal, Unfit> {
    let Draft { name, template, recipe } = draft.clone();
    match prove(how, program, nest, &recipe) {
        CandidateState::Ready { text, openmp, reassociated } => {
            let digest = digest(&text);
            Ok(Proposal { name, template, recipe, text, digest, openmp, reassociated })
        }
        CandidateState::Refused(why) | CandidateState::Duplicate(why) => {
            Err(Unfit { name, template, recipe: Some(recipe), why })
        }
    }
}

/// The first 16 hexadecimal digits of the SHA-256 hash of a text.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
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

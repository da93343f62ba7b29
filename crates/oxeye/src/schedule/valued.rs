//! Recipes from what `oxeye values` found in a nest.
//!
//! In: findings, and the nest. Out: the first steps of recipes, those that rewrite the nest, each of which is tested before the
//! nest or proved, or the reason why there are none.

use crate::request::{FoundValue, ValueRecipe};
use oxeye_ir::{ArrayId, Nest, Program, Stmt};
use oxeye_transform::{Literal, Policy, PreparedNest, Recipe, Transformation, steps};

/// The steps that use a finding in a nest, the most promising first; there is at least one.
///
/// # Errors
/// Why there are none.
pub(crate) fn steps_for(
    found: &FoundValue,
    program: &Program,
    nest: &Nest,
    policy: Policy,
) -> Result<Vec<Recipe>, String> {
    let used = nest.arrays();
    let is_meant = |id: &ArrayId| program.arrays.get(id).is_some_and(|array| array.name == found.array);
    let arrays: Vec<ArrayId> = used.into_iter().filter(is_meant).collect();
    if arrays.is_empty() {
        return Err(format!("the nest uses no array `{}`", found.array));
    }
    let prepared = PreparedNest::new(program, nest);
    let attempt = Attempt { prepared: &prepared, policy };
    let is_of_zeros = found.pattern == "zeros";
    let special = |value: Literal| {
        let step = |array: &ArrayId| steps::Specialise { array: *array, value: value.clone() }.into();
        attempt.all(arrays.iter().map(step))
    };
    let split = || {
        let at = |array: ArrayId| {
            nest.loops().into_iter().map(move |l| steps::SplitZeros { at: l.id, array }.into())
        };
        attempt.those_that_fit(arrays.iter().flat_map(|array| at(*array)))
    };
    let compact = || zero_recipe(&attempt, nest, &arrays, Zeros::Compacted);
    let guard = || zero_recipe(&attempt, nest, &arrays, Zeros::Guarded);
    let made: Vec<Result<Recipe, String>> = match found.recipe {
        Some(ValueRecipe::Specialisation) => {
            let Some(value) = found.value.as_ref().and_then(|text| text.parse::<Literal>().ok()) else {
                return Err("some of the values are others".into());
            };
            // Of zeros only a part may have been looked at, without the ends of a range.
            if is_of_zeros { vec![split(), special(value)] } else { vec![special(value)] }
        }
        Some(ValueRecipe::Splitting | ValueRecipe::ZeroGuard) if is_of_zeros => {
            vec![split(), compact(), guard()]
        }
        Some(ValueRecipe::DeadStore) => {
            let is_meant = |s: &&Stmt| {
                arrays.contains(&s.target.array) && s.line.is_some_and(|line| found.lines.contains(&line))
            };
            let stores: Vec<&Stmt> = nest.stmts().into_iter().filter(is_meant).collect();
            if stores.is_empty() {
                return Err("the nest has no such store".into());
            }
            vec![attempt.all(stores.into_iter().map(|s| steps::DropStore { stmt: s.id }.into()))]
        }
        Some(_) => return Err("Oxeye has no step for it".into()),
        None => return Err("no recipe would profit".into()),
    };
    let mut refused = Vec::new();
    let mut recipes = Vec::new();
    for result in made {
        match result {
            Ok(recipe) => recipes.push(recipe),
            Err(why) => refused.push(why),
        }
    }
    match recipes.is_empty() {
        true => Err(refused.join("; ")),
        false => Ok(recipes),
    }
}

/// The steps that leave out what is multiplied with elements of an array, most of which are zero.
pub(crate) fn steps_for_zeros(array: ArrayId, program: &Program, nest: &Nest, policy: Policy) -> Vec<Recipe> {
    let prepared = PreparedNest::new(program, nest);
    let attempt = Attempt { prepared: &prepared, policy };
    let ways = [Zeros::Compacted, Zeros::Guarded];
    ways.into_iter().filter_map(|way| zero_recipe(&attempt, nest, &[array], way).ok()).collect()
}

/// What is done about elements that are zero.
#[derive(Clone, Copy)]
enum Zeros {
    /// The others are listed.
    Compacted,
    /// Each is tested.
    Guarded,
}

fn zero_recipe(attempt: &Attempt<'_>, nest: &Nest, arrays: &[ArrayId], way: Zeros) -> Result<Recipe, String> {
    let loops = nest.loops();
    match way {
        Zeros::Guarded => {
            let step = |array: &ArrayId| steps::GuardZeros { array: *array }.into();
            attempt.all(arrays.iter().map(step))
        }
        Zeros::Compacted => {
            let at =
                |array: ArrayId| loops.iter().map(move |l| steps::CompactZeros { at: l.id, array }.into());
            attempt.those_that_fit(arrays.iter().flat_map(|array| at(*array)))
        }
    }
}

/// Steps tried on a nest.
struct Attempt<'a> {
    prepared: &'a PreparedNest<'a>,
    policy: Policy,
}

impl Attempt<'_> {
    fn fits(&self, recipe: &Recipe) -> Result<(), String> {
        self.prepared.rewritten(recipe, self.policy).map(|_| ()).map_err(|refusal| refusal.reason)
    }

    /// All of the steps.
    fn all(&self, steps: impl Iterator<Item = Transformation>) -> Result<Recipe, String> {
        let recipe = Recipe { steps: steps.collect() };
        self.fits(&recipe).map(|()| recipe)
    }

    /// Those of the steps that fit, if any does.
    fn those_that_fit(&self, steps: impl Iterator<Item = Transformation>) -> Result<Recipe, String> {
        let mut recipe = Recipe::default();
        let mut refused = None;
        for step in steps {
            recipe.steps.push(step);
            if let Err(why) = self.fits(&recipe) {
                recipe.steps.pop();
                // The innermost loops are those that elements depend on.
                refused = Some(why);
            }
        }
        match recipe.steps.is_empty() {
            true => Err(refused.unwrap_or_else(|| "the nest has no loop".into())),
            false => Ok(recipe),
        }
    }
}

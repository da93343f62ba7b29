//! Recipes applied: steps edit the schedule, the judge is asked, the result is written as loops.

use crate::legality;
use crate::normalize::normalize_nest;
use crate::policy::Policy;
use crate::recipe::Recipe;
use crate::refusal::{Reason, Refusal};
use crate::scan;
use crate::schedule::Schedule;
use crate::steps::{self, Transformation};
use oxeye_ir::{Nest, Program};

/// A nest after a recipe.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The program with the temporaries that the nest uses.
    pub program: Program,
    /// The new nest.
    pub nest: Nest,
    /// Whether floating-point sums are taken in another order than in the source.
    pub reassociated: bool,
}

/// Applies a recipe to a nest.
///
/// # Errors
/// If a step does not fit the nest, or the result cannot be proved to keep every dependence.
pub fn apply(program: &Program, nest: &Nest, recipe: &Recipe, policy: Policy) -> Result<Applied, Refusal> {
    if !matches!(recipe.steps.first(), Some(Transformation::Normalize(_))) {
        return apply_from(Schedule::import(program, nest), nest, recipe, 0, policy);
    }
    let normal = normalize_nest(program, nest, policy);
    let schedule = Schedule::import_normal(&normal.program, &normal.nest);
    let applied = apply_from(schedule, &normal.nest, recipe, 1, policy)?;
    Ok(Applied { reassociated: applied.reassociated || normal.reassociated, ..applied })
}

/// Applies the steps of a recipe from number `first` on to the schedule that `nest` was imported as.
fn apply_from(
    mut schedule: Schedule,
    nest: &Nest,
    recipe: &Recipe,
    first: usize,
    policy: Policy,
) -> Result<Applied, Refusal> {
    let rest = &recipe.steps[first..];
    let refusal = |k: usize, reason: Reason| {
        reason.at_step(first + k, rest.get(k).map_or("emit".into(), |s| s.to_string()))
    };
    let mut stages = vec![schedule.clone()];
    for (k, step) in rest.iter().enumerate() {
        steps::edit(&mut schedule, step, policy).map_err(|reason| refusal(k, reason))?;
        stages.push(schedule.clone());
    }
    let reassociated = legality::check(&schedule, policy).map_err(|last| {
        // Steps may be illegal by themselves and legal together: the one to name is that after the last legal stage.
        let mut reason = last;
        for k in (0..rest.len()).rev() {
            match legality::check(&stages[k], policy) {
                Ok(_) => return refusal(k, reason),
                Err(earlier) => reason = earlier,
            }
        }
        refusal(0, reason)
    })?;
    let (program, nest) =
        scan::generate(schedule, nest).map_err(|reason| refusal(rest.len().saturating_sub(1), reason))?;
    Ok(Applied { program, nest, reassociated })
}

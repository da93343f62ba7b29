//! A nest made ready for many recipes: its statements, dependences and normal forms are found once.

use crate::legality;
use crate::normalize::{NormalNest, normalize_nest};
use crate::policy::Policy;
use crate::recipe::Recipe;
use crate::refusal::{Reason, Refusal};
use crate::scan;
use crate::schedule::Schedule;
use crate::steps::{self, Transformation};
use oxeye_ir::{Nest, Program};
use std::sync::{Arc, OnceLock};

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

/// A nest of a program, with what every [`apply`](PreparedNest::apply) needs to know of it. Each is found when it is first
/// asked for; threads may share it, and copies share what was found.
#[derive(Clone, Debug)]
pub struct PreparedNest<'a> {
    program: &'a Program,
    nest: &'a Nest,
    found: Arc<Found>,
}

#[derive(Debug, Default)]
struct Found {
    source: OnceLock<Schedule>,
    /// Without and with sums taken in another order.
    normal: [OnceLock<(NormalNest, Schedule)>; 2],
}

impl<'a> PreparedNest<'a> {
    /// Nothing is computed yet.
    pub fn new(program: &'a Program, nest: &'a Nest) -> Self {
        Self { program, nest, found: Arc::default() }
    }

    /// The program the nest is of.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The nest.
    pub fn nest(&self) -> &'a Nest {
        self.nest
    }

    /// The normal form under the policy.
    pub fn normal_form(&self, policy: Policy) -> &NormalNest {
        &self.normalized(policy).0
    }

    /// The nest in its original order.
    pub(crate) fn schedule(&self) -> &Schedule {
        self.found.source.get_or_init(|| Schedule::import(self.program, self.nest))
    }

    /// The normal form under the policy, and its schedule.
    pub(crate) fn normalized(&self, policy: Policy) -> &(NormalNest, Schedule) {
        self.found.normal[usize::from(policy.reassociate)].get_or_init(|| {
            let normal = normalize_nest(self.program, self.nest, policy);
            let schedule = Schedule::import_normal(&normal.program, &normal.nest);
            (normal, schedule)
        })
    }

    /// Applies a recipe.
    ///
    /// # Errors
    /// If a step does not fit the nest, or the result cannot be proved to keep every dependence.
    pub fn apply(&self, recipe: &Recipe, policy: Policy) -> Result<Applied, Refusal> {
        if !matches!(recipe.steps.first(), Some(Transformation::Normalize(_))) {
            return apply_from(self.schedule().clone(), self.nest, recipe, 0, policy);
        }
        let (normal, schedule) = self.normalized(policy);
        let applied = apply_from(schedule.clone(), &normal.nest, recipe, 1, policy)?;
        Ok(Applied { reassociated: applied.reassociated || normal.reassociated, ..applied })
    }
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

//! A nest under every template of the panel, as loops and as C text.

use crate::record::{Response, Status};
use oxeye_ir::{Nest, Program};
use oxeye_transform::templates::{Instantiator, panel};
use oxeye_transform::{Machine, Policy, PreparedNest, Recipe};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A template's C block, or why it has none.
pub(super) struct Candidate {
    pub(super) response: Response,
    /// The C block, where there is one.
    pub(super) block: Option<String>,
}

/// Sums may be reordered, as the compiler's flags allow.
pub(crate) const POLICY: Policy = Policy { reassociate: true, finite: false };

/// A nest as one template schedules it.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The program with the additions of the schedule.
    pub program: Program,
    /// The nest as scheduled.
    pub nest: Nest,
    /// The steps that made it, every one judged.
    pub recipe: Recipe,
}

/// Why a template has no schedule, or its schedule no C text: [`Status::Inapplicable`] or [`Status::Unwritable`], and
/// the reason in words.
pub type Unmade = (Status, String);

/// The panel applied to a nest, every step judged: one entry per template, the first the original nest. Templates for
/// which `is_wanted` is false are left out.
pub fn schedules(
    program: &Program,
    nest: &Nest,
    machine: &Machine,
    jobs: usize,
    is_wanted: &(dyn Fn(usize) -> bool + Sync),
) -> Vec<Option<Result<Scheduled, Unmade>>> {
    let mut instantiator = Instantiator::new(program, nest, machine, POLICY);
    let recipes: Vec<Option<Result<Recipe, String>>> = panel()
        .iter()
        .enumerate()
        .map(|(t, template)| match t {
            _ if !is_wanted(t) => None,
            0 => Some(Ok(Recipe::default())),
            _ => Some(
                guarded(|| instantiator.instantiate(template).map_err(|unfit| unfit.to_string()))
                    .and_then(|r| r),
            ),
        })
        .collect();
    let prepared = instantiator.prepared();
    in_parallel(recipes.len(), jobs, &|t| recipes[t].as_ref().map(|recipe| scheduled(prepared, t, recipe)))
}

fn scheduled(
    nest: &PreparedNest<'_>,
    t: usize,
    recipe: &Result<Recipe, String>,
) -> Result<Scheduled, Unmade> {
    let recipe = recipe.clone().map_err(|why| (Status::Inapplicable, why))?;
    // Any other template's loops are rewritten, even if it has no steps.
    if t == 0 {
        return Ok(Scheduled { program: nest.program().clone(), nest: nest.nest().clone(), recipe });
    }
    let applied = guarded(|| nest.apply(&recipe, POLICY).map_err(|e| e.to_string()));
    let applied =
        applied.map_err(|why| (Status::Unwritable, why))?.map_err(|why| (Status::Inapplicable, why))?;
    Ok(Scheduled { program: applied.program, nest: applied.nest, recipe })
}

/// Results of `work` for each number below `n`, on this many threads.
pub fn in_parallel<T: Send>(n: usize, jobs: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    match rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build() {
        Ok(pool) => pool.install(|| (0..n).into_par_iter().map(work).collect()),
        Err(_) => (0..n).map(work).collect(),
    }
}

/// The panel applied to a nest, as C text; the first candidate is the original nest.
pub(super) fn candidates(program: &Program, nest: &Nest, machine: &Machine, jobs: usize) -> Vec<Candidate> {
    let scheduled = schedules(program, nest, machine, jobs, &|_| true);
    let scheduled: Vec<_> = scheduled.into_iter().flatten().collect();
    let mut found = in_parallel(scheduled.len(), jobs, &|t| candidate(machine, t, &scheduled[t]));
    for t in 1..found.len() {
        let (before, rest) = found.split_at_mut(t);
        let same = before.iter().position(|c| c.block.is_some() && c.block == rest[0].block);
        rest[0].response.same_as = same;
    }
    found
}

fn candidate(machine: &Machine, t: usize, scheduled: &Result<Scheduled, Unmade>) -> Candidate {
    let response = |status, detail: String| Response {
        template: panel()[t].to_string(),
        status,
        seconds: None,
        median_seconds: None,
        same_as: None,
        detail,
    };
    let refused = |status, why| Candidate { response: response(status, why), block: None };
    let scheduled = match scheduled {
        Ok(scheduled) => scheduled,
        Err((status, why)) => return refused(*status, why.clone()),
    };
    let threads = if t == 0 { 1 } else { machine.threads };
    match guarded(|| super::unit::block(&scheduled.program, &scheduled.nest, threads)) {
        Ok(Ok(block)) => Candidate {
            response: response(Status::Uncompiled, scheduled.recipe.to_string()),
            block: Some(block),
        },
        Ok(Err(why)) => refused(Status::Unwritable, why.to_string()),
        Err(why) => refused(Status::Unwritable, why),
    }
}

/// Catches panics: a bug in a transformation must cost no more than the template.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| {
        let cause =
            cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
        format!("internal error: {}", cause.unwrap_or("unknown"))
    })
}

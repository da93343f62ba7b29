//! A nest under every template of the panel, as C text.

use crate::record::{Response, Status};
use oxeye_ir::{Nest, Program};
use oxeye_transform::template::{Instantiator, panel};
use oxeye_transform::{Machine, Policy, Recipe, apply};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A template's C block, or what it failed at.
pub(super) struct Candidate {
    pub(super) response: Response,
    /// The C block, where there is one.
    pub(super) block: Option<String>,
}

/// Sums may be taken in another order, as the compiler's flags allow.
pub(crate) const POLICY: Policy = Policy { reassociate: true };

/// The panel applied to a nest, every step judged; the first candidate is the nest as it is.
pub(super) fn candidates(program: &Program, nest: &Nest, machine: &Machine, jobs: usize) -> Vec<Candidate> {
    let mut instantiator = Instantiator::new(program, nest, machine, POLICY);
    let recipes: Vec<Result<Recipe, String>> = panel()
        .iter()
        .enumerate()
        .map(|(t, template)| match t {
            0 => Ok(Recipe::default()),
            _ => guarded(|| instantiator.instantiate(template)).and_then(|r| r),
        })
        .collect();
    let slots: Vec<Mutex<Option<Candidate>>> = recipes.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let t = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(recipe), Some(slot)) = (recipes.get(t), slots.get(t)) else { return };
                    let made = candidate(program, nest, machine, t, recipe);
                    *slot.lock().unwrap_or_else(|e| e.into_inner()) = Some(made);
                }
            });
        }
    });
    let mut found: Vec<Candidate> =
        slots.into_iter().filter_map(|s| s.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
    for t in 1..found.len() {
        let (before, rest) = found.split_at_mut(t);
        let same = before.iter().position(|c| c.block.is_some() && c.block == rest[0].block);
        rest[0].response.same_as = same;
    }
    found
}

fn candidate(
    program: &Program,
    nest: &Nest,
    machine: &Machine,
    t: usize,
    recipe: &Result<Recipe, String>,
) -> Candidate {
    let response = |status, detail: String| Response {
        template: panel()[t].to_string(),
        status,
        seconds: None,
        median_seconds: None,
        same_as: None,
        detail,
    };
    let refused = |status, why| Candidate { response: response(status, why), block: None };
    let recipe = match recipe {
        Ok(recipe) => recipe,
        Err(why) => return refused(Status::Inapplicable, why.clone()),
    };
    let text = guarded(|| match t {
        0 => super::unit::block(program, nest, 1).map_err(|e| (Status::Unwritable, e.to_string())),
        _ => {
            let applied =
                apply(program, nest, recipe, POLICY).map_err(|e| (Status::Inapplicable, e.to_string()))?;
            super::unit::block(&applied.program, &applied.nest, machine.threads)
                .map_err(|e| (Status::Unwritable, e.to_string()))
        }
    });
    match text {
        Ok(Ok(block)) => {
            Candidate { response: response(Status::Uncompiled, recipe.to_string()), block: Some(block) }
        }
        Ok(Err((status, why))) => refused(status, why),
        Err(why) => refused(Status::Unwritable, why),
    }
}

/// A bug in a transformation must cost no more than the template.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| {
        let cause =
            cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
        format!("internal error: {}", cause.unwrap_or("unknown"))
    })
}

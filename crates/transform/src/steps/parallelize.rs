//! Parallelize: runs iterations on several threads (work sharing).
//!
//! *Rewrite*: `for i S` → `#pragma omp parallel for` over `i`. Accumulations that nothing else touches in the loop become
//! reductions: into scalars, and into arrays of which it is known before the nest how far it uses them, if they have one long
//! dimension or numbers from memory decide into which elements.
//!
//! *Legal when* the judge finds no dependence between different iterations, other than reductions, which in floating
//! point need a policy that allows reassociation.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::legality;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, ArrayId, Execution, Expr, LoopId, Nest, Reduction, Update, WorkSharing};
use std::collections::BTreeMap;

step! {
    /// Runs the iterations of a loop on several threads.
    Parallelize: "parallelize",
    "run the iterations of a loop on several threads",
    "{at} {distribution}";
    /// The loop.
    at: LoopId = Kind::Loop,
    /// How iterations are assigned to threads.
    sharing as "distribution": WorkSharing = Kind::WorkSharing,
}

impl Step for Parallelize {
    fn edit(&self, schedule: &mut Schedule, policy: Policy) -> Result<(), Reason> {
        let Self { at, sharing } = *self;
        let reductions = needed_reductions(schedule, at, policy, of_known_size, |reductions| {
            Execution::Parallel { reductions, sharing }
        })?;
        lookup::loop_node_mut(schedule, at)?.run_as(Execution::Parallel { reductions, sharing });
        Ok(())
    }
}

/// Scalars, and arrays of which every thread can have a copy: those into which sums are scattered, and those with one dimension
/// that may be long.
fn of_known_size(nest: &Nest, array: ArrayId, shape: &[Option<Expr>], is_scattered: bool) -> bool {
    const MOST_BESIDE: i64 = 16;
    let Some((first, rest)) = shape.split_first() else { return true };
    let beside =
        rest.iter().try_fold(1i64, |n, extent| n.checked_mul(extent.as_ref()?.as_affine()?.as_constant()?));
    let is_short = beside.is_some_and(|n| n <= MOST_BESIDE);
    (first.is_some() || nest.bounded.contains(&array))
        && (is_short || is_scattered && rest.iter().all(Option::is_some))
}

/// Whether the accumulations into an array of this shape can be listed, if numbers from memory decide into which elements they
/// go, or not.
type CanList = fn(&Nest, ArrayId, &[Option<Expr>], bool) -> bool;

/// The accumulations that must be listed for the loop to run concurrently; empty if none have to be, or if listing them
/// does not help.
pub(crate) fn needed_reductions(
    schedule: &Schedule,
    at: LoopId,
    policy: Policy,
    can_list: CanList,
    execution: impl Fn(Vec<Reduction>) -> Execution,
) -> Result<Vec<Reduction>, Reason> {
    lookup::loop_node(schedule, at)?;
    let legal = |reductions: Vec<Reduction>| {
        let mut trial = schedule.clone();
        if let Some(loop_node) = trial.loop_node_mut(at) {
            loop_node.run_as(execution(reductions));
        }
        legality::check(&trial, policy).is_ok()
    };
    if legal(Vec::new()) {
        return Ok(Vec::new());
    }
    let candidates = accumulators(schedule, at, can_list);
    if candidates.is_empty() || !legal(candidates.clone()) {
        return Ok(Vec::new());
    }
    let mut needed = candidates;
    for r in needed.clone() {
        let fewer: Vec<Reduction> = needed.iter().filter(|k| **k != r).cloned().collect();
        if legal(fewer.clone()) {
            needed = fewer;
        }
    }
    Ok(needed)
}

/// Whether the loop touches no more of an array than a few elements that are the same throughout, of which every thread can have
/// a copy.
fn has_fixed_elements(schedule: &Schedule, loop_node: &LoopNode, array: ArrayId) -> bool {
    const MOST: usize = 4;
    let mut elements: Vec<&[Option<Affine>]> = Vec::new();
    for s in all_leaves(&loop_node.body) {
        for access in schedule.statements[s].accesses.iter().filter(|a| a.array == array) {
            if !elements.contains(&access.indices.as_slice()) {
                elements.push(&access.indices);
            }
        }
    }
    let is_fixed = |index: &Option<Affine>| index.as_ref().is_some_and(|at| at.loops().next().is_none());
    let differ = |a: &Option<Affine>, b: &Option<Affine>| match (a, b) {
        (Some(a), Some(b)) => (a.clone() - b.clone()).as_constant().is_some_and(|distance| distance != 0),
        _ => false,
    };
    let are_apart = |(k, a): (usize, &&[Option<Affine>])| {
        elements[..k].iter().all(|b| a.iter().zip(*b).any(|(a, b)| differ(a, b)))
    };
    elements.len() <= MOST
        && elements.iter().all(|element| element.iter().all(is_fixed))
        && elements.iter().enumerate().all(are_apart)
}

/// Whether numbers from memory decide which elements of an array the loop touches.
fn is_scattered(schedule: &Schedule, loop_node: &LoopNode, array: ArrayId) -> bool {
    all_leaves(&loop_node.body).into_iter().any(|s| {
        let accesses = &schedule.statements[s].accesses;
        accesses.iter().any(|a| a.array == array && a.indices.iter().any(Option::is_none))
    })
}

/// Arrays of a shape that can be listed, or of which the loop touches a few elements, and that the loop only accumulates into, always with the same update.
fn accumulators(schedule: &Schedule, at: LoopId, can_list: CanList) -> Vec<Reduction> {
    let Some(loop_node) = schedule.loop_node(at) else { return Vec::new() };
    if loop_node.body.iter().any(|t| matches!(t, Tree::PackedContraction(_))) {
        return Vec::new();
    }
    let mut found: BTreeMap<ArrayId, Option<Update>> = BTreeMap::new();
    for s in all_leaves(&loop_node.body) {
        for access in schedule.statements[s].accesses.iter() {
            let op = access.update.map(|u| if u == Update::Sub { Update::Add } else { u });
            let entry = found.entry(access.array).or_insert(op);
            if *entry != op || op.is_some_and(|o| !o.is_reduction()) {
                *entry = None;
            }
        }
    }
    found
        .into_iter()
        .filter_map(|(array, op)| Some(Reduction { array, op: op? }))
        .filter(|r| {
            // Compilers would combine the threads' sums in that type.
            let is_narrow = schedule.program.array(r.array).element.is_narrow();
            let is_ordered = matches!(r.op, Update::Min | Update::Max);
            let private = schedule.privates.iter().find(|p| p.array == r.array);
            let shape = &schedule.program.array(r.array).shape[private.map_or(0, |p| p.n_loops)..];
            (is_ordered || !is_narrow)
                && (can_list(&schedule.nest, r.array, shape, is_scattered(schedule, loop_node, r.array))
                    || has_fixed_elements(schedule, loop_node, r.array))
        })
        .collect()
}

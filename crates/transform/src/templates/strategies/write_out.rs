//! Short loops of a few iterations, repeated in the text, so that the loop around them is for vector lanes.
//!
//! In `for i { s = 0; for (k = 0; k < 3; k++) s += w[k] * x[i + k]; y[i] = s; }` the sum over `k` keeps its order, and the iterations
//! of `i` are independent: a lane each (outer-loop vectorization, Nuzman and Zaks, 2008).

use super::builder::Builder;
use super::merge;
use super::tree::top_loops;
use crate::schedule::{Schedule, all_leaves};
use crate::steps::{Unroll, all_loops, iterations};
use crate::templates::unfit::Unfit;
use oxeye_ir::LoopId;
use std::collections::BTreeMap;

/// Most iterations of a loop over a window.
const LARGEST_WINDOW: i64 = 32;

/// Most statements of a loop in which windows are written out.
const MOST_WRITTEN: i64 = 64;

/// Writes out the windows in a loop, so that its iterations may be those of vector lanes, where that makes few statements.
pub(super) fn write_out(builder: &mut Builder, id: LoopId) {
    let Some(loop_node) = builder.schedule.loop_node(id) else { return };
    let paths = builder.schedule.paths();
    let inner = |s: &usize| paths[*s].iter().skip_while(|l| **l != id).skip(1).copied().collect::<Vec<_>>();
    let leaves = all_leaves(&loop_node.body);
    let length = |l: &LoopId| iterations(&builder.schedule, *l).unwrap_or(i64::MAX);
    let n_written = leaves
        .iter()
        .fold(0_i64, |n, s| n.saturating_add(inner(s).iter().map(length).fold(1, i64::saturating_mul)));
    if n_written > MOST_WRITTEN {
        return;
    }
    let windows: BTreeMap<LoopId, i64> = leaves.iter().flat_map(inner).map(|l| (l, length(&l))).collect();
    for (at, factor) in windows.into_iter().filter(|(_, factor)| *factor > 1) {
        // One that cannot be written out stays a loop.
        _ = builder.step(Unroll { at, factor });
    }
}

/// The recipe under construction with short loops written out, if there are any inside of longer ones, and neighbours merged that
/// then agree: what one hands to the next is in registers.
pub(crate) fn short_loops(mut builder: Builder) -> Result<Builder, Unfit> {
    let all = all_loops(&builder.schedule.roots);
    for id in all {
        if !is_window(&builder.schedule, id) && is_around_windows(&builder.schedule, id) {
            write_out(&mut builder, id);
        }
    }
    match builder.steps.is_empty() {
        true => Err(Unfit::Inapplicable("there are no short loops inside of longer ones".into())),
        false => {
            merge::that_agree(&mut builder);
            Ok(builder)
        }
    }
}

/// Whether all loops directly in a loop go over windows, and there are some.
pub(super) fn is_around_windows(schedule: &Schedule, id: LoopId) -> bool {
    let inner = schedule.loop_node(id).map_or(Vec::new(), |l| top_loops(&l.body));
    !inner.is_empty() && inner.iter().all(|l| is_window(schedule, *l))
}

/// Whether a loop is so short that it goes over a window.
pub(super) fn is_window(schedule: &Schedule, id: LoopId) -> bool {
    iterations(schedule, id).is_some_and(|n| n <= LARGEST_WINDOW)
}

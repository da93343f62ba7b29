//! Loops cut where an inner iterator meets an outer one.
//!
//! In `for k for i for j: d[i][j] = min(d[i][j], d[i][k] + d[k][j])` only the iterations `i = k` and `j = k` prevent
//! concurrency. Index-set splitting (Griebl, Feautrier and Lengauer, 2000) separates them.

use super::builder::Builder;
use super::tree::{next_sibling, top_loops};
use crate::schedule::{Schedule, all_leaves};
use crate::steps::IndexSetSplit;
use crate::templates::unfit::Unfit;
use oxeye_ir::{Affine, LoopId, Var};
use std::collections::BTreeSet;

/// Most pieces that are worth their code.
const MOST_PIECES: usize = 16;

/// The recipe under construction with every crossing cut out, if there are any.
pub(crate) fn at_crossings(mut builder: Builder) -> Result<Builder, Unfit> {
    for top in top_loops(&builder.schedule.roots) {
        cut(&mut builder, top, &mut Vec::new()).ok_or_else(|| {
            Unfit::Inapplicable("the loops cannot be cut where their iterators meet".into())
        })?;
    }
    if builder.steps.is_empty() {
        return Err(Unfit::Inapplicable("no inner iterator meets an outer one".into()));
    }
    Ok(builder)
}

fn cut(builder: &mut Builder, id: LoopId, outer: &mut Vec<LoopId>) -> Option<()> {
    let points = crossings(&builder.schedule, id, outer);
    let mut pieces = vec![id];
    for point in points {
        // The last piece is cut after the meeting point, then before it.
        let last = *pieces.last()?;
        builder.step(IndexSetSplit { at: last, point: Affine::var(point).offset(1) }).ok()?;
        let after = next_sibling(&builder.schedule.roots, last)?;
        builder.step(IndexSetSplit { at: last, point: Affine::var(point) }).ok()?;
        let at = next_sibling(&builder.schedule.roots, last)?;
        pieces.extend([at, after]);
    }
    if builder.schedule.statements.len() > MOST_PIECES {
        return None;
    }
    for piece in pieces {
        let inner = top_loops(&builder.schedule.loop_node(piece)?.body);
        outer.push(piece);
        for l in inner {
            cut(builder, l, outer)?;
        }
        outer.pop();
    }
    Some(())
}

/// Outer iterators that index an array in the dimension where `id` also indexes it in another access.
fn crossings(schedule: &Schedule, id: LoopId, outer: &[LoopId]) -> Vec<LoopId> {
    let Some(loop_node) = schedule.loop_node(id) else { return Vec::new() };
    let mut found = BTreeSet::new();
    for s in all_leaves(&loop_node.body) {
        let statement = &schedule.statements[s];
        for a in statement.accesses.iter() {
            for b in statement.accesses.iter().filter(|b| b.array == a.array && (a.write || b.write)) {
                for (x, y) in a.indices.iter().zip(&b.indices) {
                    let (Some(x), Some(y)) = (x, y) else { continue };
                    let difference = statement.mapped(x) - statement.mapped(y);
                    let others: Vec<Var> =
                        difference.terms().map(|(v, _)| v).filter(|v| *v != id.into()).collect();
                    if difference.coefficient(id).abs() == 1
                        && difference.constant_part() == 0
                        && let [Var::Loop(other)] = others.as_slice()
                        && difference.coefficient(*other) == -difference.coefficient(id)
                        && outer.contains(other)
                    {
                        found.insert(*other);
                    }
                }
            }
        }
    }
    found.into_iter().collect()
}

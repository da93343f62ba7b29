//! Blocked factorizations: nests such as LU and Cholesky whose updates run inside a loop over elimination steps.
//!
//! Right-looking blocks (Golub and Van Loan, "Matrix Computations", 3.2.11): elimination steps in blocks, first the
//! columns and rows of a block, then one contraction that updates everything after the block in both directions.

use super::builder::Builder;
use super::contraction::Product;
use super::tree::{next_sibling, parent_of, top_loops};
use crate::order::{self, Preference};
use crate::schedule::{Tree, all_leaves};
use crate::steps::{Fission, IndexSetSplit, Reorder, Tile};
use crate::templates::template::{BlockShape, Shares};
use crate::templates::unfit::Unfit;
use oxeye_ir::{Affine, LoopId};

/// Number of loop orders searched for one with the elimination loop outermost.
const ORDERS: usize = 8;

/// The recipe under construction, if the nest has updates under a common elimination loop.
pub(crate) fn blocked(
    start: &Builder,
    updates: &[Product],
    steps: u16,
    shape: &BlockShape,
    shares: Option<Shares>,
) -> Result<Builder, Unfit> {
    if updates.is_empty() || start.schedule.statements.len() < 2 {
        return Err(Unfit::Inapplicable("no sum of products is updated along with other statements".into()));
    }
    for nth in 0..ORDERS {
        let preference = Preference { nth, parallel_from: Some(1), fuse: true, ..Preference::default() };
        let Some(schedules) = order::order(&start.schedule, start.policy(), &preference) else { break };
        let mut builder = start.clone();
        if builder.step(Reorder { schedules }).is_err() {
            continue;
        }
        let roots = top_loops(&builder.schedule.roots);
        let [elimination] = roots.as_slice() else { continue };
        let depth_outermost =
            updates.iter().all(|u| builder.loop_of(u.stmt, u.three[2]) == Some(*elimination));
        if builder.schedule.roots.len() != 1 || !depth_outermost {
            continue;
        }
        if block(&mut builder, *elimination, updates, steps.into(), (shape, shares)).is_some() {
            return Ok(builder);
        }
    }
    Err(Unfit::Inapplicable("no loop order has all updates directly inside one elimination loop".into()))
}

fn block(
    builder: &mut Builder,
    elimination: LoopId,
    updates: &[Product],
    steps: i64,
    (shape, shares): (&BlockShape, Option<Shares>),
) -> Option<()> {
    builder.step(Tile { loops: vec![elimination], sizes: vec![steps] }).ok()?;
    let tile = parent_of(&builder.schedule.roots, elimination)?;
    let end = Affine::term(tile, steps).offset(steps);
    let mut done: Vec<LoopId> = Vec::new();
    for Product { stmt, three: [row, column, _], .. } in updates {
        let (row, column) = (builder.loop_of(*stmt, *row)?, builder.loop_of(*stmt, *column)?);
        let path = &builder.schedule.paths()[*stmt];
        let outer = *path.iter().find(|l| **l == row || **l == column)?;
        let inner = if outer == row { column } else { row };
        if done.contains(&outer) {
            continue;
        }
        done.push(outer);
        let only_child = |b: &Builder, l: LoopId| b.schedule.loop_node(l).is_some_and(|b| b.body.len() == 1);
        if !only_child(builder, outer) || parent_of(&builder.schedule.roots, inner) != Some(outer) {
            return None;
        }
        builder.step(IndexSetSplit { at: outer, point: end.clone() }).ok()?;
        let behind = next_sibling(&builder.schedule.roots, outer)?;
        let [inner] = top_loops(&builder.schedule.loop_node(behind)?.body).try_into().ok()?;
        builder.step(IndexSetSplit { at: inner, point: end.clone() }).ok()?;
        builder.step(Fission { at: behind, before: Some(1) }).ok()?;
        let trailing = next_sibling(&builder.schedule.roots, behind)?;
        let holder = parent_of(&builder.schedule.roots, trailing)?;
        let position = builder
            .schedule
            .loop_node(holder)?
            .body
            .iter()
            .position(|t| matches!(t, Tree::Loop(b) if b.id == trailing))?;
        builder.step(Fission { at: holder, before: Some(position) }).ok()?;
        let leaf = *all_leaves(&builder.schedule.loop_node(trailing)?.body).first()?;
        let update = updates.iter().find(|u| builder.schedule.statements[leaf].origin == u.stmt)?;
        builder.contract(leaf, &update.loops(false), shape, shares).ok()?;
    }
    Some(())
}

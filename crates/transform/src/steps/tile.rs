//! Tile: cuts loops into tiles.
//!
//! *Rewrite*: `for i for j S` → `for it for jt for i in tile it for j in tile jt S`. Tile counters start at zero, so
//! `i` lies between `T·it` and `T·it + T − 1`. Tiles entirely inside the iteration space get loops with constant trip
//! counts, separate from the partial ones (except when a single loop around others is tiled, which would gain nothing).
//!
//! *Legal when* the judge finds the loops permutable. *Refused when* they are not perfectly nested or run backwards.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, Constraint, Execution, LoopId};

/// Most iterations per tile: products of counters and sizes stay far from the limits of the integer types.
const MAX_SIZE: i64 = 1 << 24;

step! {
    /// Cuts loops into tiles (strip-mining, for a single loop).
    Tile: "tile",
    "cut perfectly nested loops into tiles, full tiles apart from partial ones",
    "{loops}:{sizes}",
    .varied("sizes", (4, 8192), "tiles of {sizes}");
    /// Perfectly nested loops, outermost first.
    loops: Vec<LoopId> = Kind::PerfectChain,
    /// Iterations per tile.
    sizes: Vec<i64> = Kind::Sizes { of: "loops", least: 2, most: MAX_SIZE },
}

impl Step for Tile {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        strip_mine(schedule, &self.loops, &self.sizes)
    }
}

/// Cuts the loops of a perfect nest, outermost first, into tiles.
pub(super) fn strip_mine(schedule: &mut Schedule, loops: &[LoopId], sizes: &[i64]) -> Result<(), Reason> {
    let Some(top) = loops.first().copied() else { return Ok(()) };
    let mut tiles = Vec::new();
    for (id, size) in loops.iter().zip(sizes) {
        let loop_node = lookup::loop_node(schedule, *id)?.clone();
        if loop_node.reverse {
            return Err(Reason::unsupported(format!("loop {} runs backwards", schedule.loop_name(*id))));
        }
        let info = schedule.iterators[id].clone();
        let tile = schedule.fresh_loop(format!("{}t", info.name), info.ty);
        for s in all_leaves(&loop_node.body) {
            let start = Affine::term(tile, *size);
            let domain = &mut schedule.statements[s].domain;
            domain.push(Constraint::ge(Affine::var(*id), start.clone()));
            domain.push(Constraint::lt(Affine::var(*id), start.offset(*size)));
        }
        tiles.push(tile);
    }
    let innermost = |b: &LoopNode| b.body.iter().all(|t| matches!(t, Tree::Leaf(_)));
    if loops.len() > 1 || schedule.loop_node(top).is_some_and(innermost) {
        let point = lookup::loop_node_mut(schedule, top)?;
        point.separate = loops.to_vec();
    }
    let (siblings, k) = lookup::siblings_mut(schedule, top)?;
    let mut tree = siblings[k].clone();
    for id in tiles.into_iter().rev() {
        tree = Tree::Loop(LoopNode {
            id,
            reverse: false,
            execution: Execution::Sequential,
            separate: Vec::new(),
            batch: None,
            body: vec![tree],
        });
    }
    siblings[k] = tree;
    Ok(())
}

//! Overlap: computes neighbouring loops that hand arrays to each other tile by tile, with what a tile needs beyond its own
//! iterations computed in each tile that needs it.
//!
//! *Rewrite*: `for i b[i] = f(a, i)  for i c[i] = b[i - 1] + b[i + 1]` in tiles of `B` iterations →
//! `for it { for i in max(…, B·it - 1) .. min(…, B·it + B + 1) t[i - B·it + 1] = f(a, i); for i in B·it .. min(…, B·it + B)
//! c[i] = t[i - B·it] + t[i - B·it + 2] }` with an array `t` that lives in a tile. With two sizes, tiles are cut from the loops
//! inside these too. An array that somebody may read behind the nest is stored by a loop of its own behind the one that
//! computes it, for the iterations of the tile alone. What stands between the loops and is none of them moves before or behind
//! all of them, and scratch of one iteration is declared in it. The loops may be outermost or stand in the body of another, whose
//! iterators are then like symbols. New loops get the next free ids: those over the tiles, outermost first, then those of stores. This is what is known as
//! overlapped tiling (Krishnamoorthy et al., "Effective automatic parallelization of stencil computations", 2007), and in
//! image processing as fusion with recomputation.
//!
//! *Legal when*, where an *instance* is one iteration of the tiled loops with everything inside, in each iteration of the loops
//! around:
//!
//! - A **handed** array is written by one loop only, each element by one instance, which is the only one of its loop that
//!   reads it; iterators of the tiled loops index it plus constants, where it is read also plus loops with constant ends inside
//!   an instance; no earlier loop touches it; and the exact test finds a
//!   write of the same element before every read (`is_covered`). So a read has the value that one instance leaves, whenever
//!   that runs. Elements beyond the box that the loop computes may be read as well, in every iteration of the loops that do: no
//!   loop changes them, and a tile copies those that it needs. The test is made again of the rewritten nest, for each tile.
//! - A loop of which instances run in several tiles writes handed arrays and its own scratch alone, and reads nothing else that
//!   the loops write. So each run of an instance has the same operands, and leaves the same.
//! - Every instance of any other loop runs in one tile, those of one loop in their old order or, with two sizes, in one that the
//!   exact test finds to keep dependences; and where two of these loops use an array that is not handed on, the exact test finds no
//!   pair of dependent instances the first of which is in a later iteration than the second.
//! - An array of which nothing is stored is touched by nothing else and not read behind the nest, and later iterations of the
//!   loops around set each element before they read it.
//!
//! *Refused when* one of this cannot be shown, or a loop has other bounds or steps than such tiles need.

mod around;
mod border;
mod chain;
mod handed;
mod tiles;

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::values::{NestRewrite, Valued};
use around::Around;
use chain::{Group, order_of};
use handed::Plan;
use oxeye_analysis::is_covered;
use oxeye_ir::{LoopId, Node};
use tiles::Tiles;

/// Most iterations per tile, as of the step `tile`.
const MAX_SIZE: i64 = 1 << 24;

step! {
    /// Computes loops that hand arrays to each other tile by tile.
    Overlap: "overlap",
    "compute loops that hand arrays to each other tile by tile, with what each tile needs of its neighbours",
    "until {last} tiles {loops}:{sizes}",
    .varied("sizes", (4, 4096), "tiles of {sizes}");
    /// The last of the loops that take part.
    last: LoopId = Kind::Loop,
    /// The first of them, and the loop inside it if tiles are cut from two.
    loops: Vec<LoopId> = Kind::PerfectChain,
    /// Iterations per tile.
    sizes: Vec<i64> = Kind::Sizes { of: "loops", least: 1, most: MAX_SIZE },
}

impl NestRewrite for Overlap {
    fn rewrite(&self, nest: &mut Valued, _: Policy) -> Result<(), Reason> {
        let n_tiled = self.sizes.len();
        let is_size = |n: &i64| (1..=MAX_SIZE).contains(n);
        if n_tiled == 0 || n_tiled != self.loops.len() || !self.sizes.iter().all(is_size) {
            let kind = RefusalKind::BadArgument { argument: "sizes".into() };
            return Err(Reason::new(kind, format!("one size from 1 to {MAX_SIZE} a loop is needed")));
        }
        let no_such =
            |id: LoopId| Reason::new(RefusalKind::NoSuchLoop, format!("there is no loop {id} among loops"));
        let (around, program, nodes) =
            Around::of(&nest.program, &nest.nest, self.loops[0]).ok_or_else(|| no_such(self.loops[0]))?;
        let position = |id: LoopId| {
            let found = nodes.iter().position(|node| matches!(node, Node::Loop(l) if l.id == id));
            found.ok_or_else(|| {
                let text = format!("{id} does not stand beside {}", self.loops[0]);
                Reason::new(RefusalKind::NoSuchLoop, text)
            })
        };
        let (first, last) = (position(self.loops[0])?, position(self.last)?);
        if first >= last {
            return Err(Reason::unsupported("at least two loops, one behind the other, have to take part"));
        }
        let order = order_of(&nodes[first..=last])?;
        let group = Group::of(&program, &nest.nest, &order, n_tiled)?;
        if !group.chains[0].loops.iter().map(|l| l.id).eq(self.loops.iter().copied()) {
            let text = "the loops are not perfectly nested in this order";
            return Err(Reason::new(RefusalKind::NotPerfectlyNested, text));
        }
        let plan = Plan::of(&group)?;
        let mut tiles = Tiles::new(nest, &group, &plan, &self.sizes)?;
        let tiled = tiles.nodes(&mut nest.program, &group, &plan)?;
        let mut between = [order.before, vec![tiled], order.behind].concat();
        around.leave(&mut between);
        let inside = around.inside(&mut nest.nest).ok_or_else(|| no_such(self.loops[0]))?;
        inside.splice(first..=last, between);
        let outer: Vec<LoopId> = around.loops().chain(tiles.loops()).collect();
        for (temporary, name) in tiles.temporaries() {
            if !is_covered(&nest.program, &nest.nest, temporary, &outer) {
                return Err(Reason::unsupported(format!(
                    "a tile may read elements of `{name}` that it does not compute"
                )));
            }
        }
        Ok(())
    }
}

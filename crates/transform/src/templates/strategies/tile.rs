//! Tiles that fit a cache, and loops unrolled around innermost ones.

use super::builder::Builder;
use super::tree::{innermost_loops, parent_of};
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::{Schedule, all_leaves};
use crate::steps::perfect_chain;
use crate::steps::{Tile, UnrollAndJam};
use oxeye_ir::{Execution, LoopId};
use std::collections::BTreeSet;

/// Bytes in a cache line.
const LINE: f64 = 64.0;

/// Sides of tiles.
const SIDES: [i64; 17] = [4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096];

/// Cuts innermost perfect nests of at least two loops into tiles of equal sides with a footprint of at most `bytes`. In
/// each nest, as many inner loops are tiled as the judge finds permutable.
pub(crate) fn tile(builder: &mut Builder, bytes: u64) -> Result<(), Reason> {
    let mut refused = None;
    let mut any = false;
    for innermost in innermost_loops(&builder.schedule.roots) {
        let chain = chain_to(&builder.schedule, innermost);
        for n in (2..=chain.len()).rev() {
            let loops = chain[chain.len() - n..].to_vec();
            let Some(side) = side(&builder.schedule, &loops, bytes) else {
                refused = Some(Reason::unsupported(format!(
                    "tiles of {} iterations a side take more than {bytes} bytes",
                    SIDES[0]
                )));
                continue;
            };
            let sizes = vec![side; n];
            match builder.step(Tile { loops, sizes }) {
                Ok(()) => {
                    any = true;
                    break;
                }
                Err(reason) => refused = Some(reason),
            }
        }
    }
    if any { Ok(()) } else { Err(refused.unwrap_or_else(not_perfect)) }
}

/// Unrolls the loops directly around innermost ones and fuses the copies.
pub(crate) fn jam(builder: &mut Builder, factor: u8) -> Result<(), Reason> {
    let mut refused = None;
    let mut any = false;
    for innermost in innermost_loops(&builder.schedule.roots) {
        let chain = chain_to(&builder.schedule, innermost);
        let [.., at, _] = chain.as_slice() else { continue };
        match builder.step(UnrollAndJam { at: *at, factor: factor.into() }) {
            Ok(()) => any = true,
            Err(reason) => refused = Some(reason),
        }
    }
    if any { Ok(()) } else { Err(refused.unwrap_or_else(not_perfect)) }
}

fn not_perfect() -> Reason {
    Reason::new(RefusalKind::NotPerfectlyNested, "no two loops are perfectly nested")
}

/// The sequential loops of the perfect nest that ends in an innermost loop, outermost first.
fn chain_to(schedule: &Schedule, innermost: LoopId) -> Vec<LoopId> {
    let mut chain = vec![innermost];
    let mut current = innermost;
    while let Some(parent) = parent_of(&schedule.roots, current)
        && perfect_chain(schedule, parent).len() == chain.len() + 1
        && schedule.loop_node(parent).is_some_and(|b| b.execution == Execution::Sequential)
    {
        chain.insert(0, parent);
        current = parent;
    }
    chain
}

/// The longest side of tiles whose footprint fits.
fn side(schedule: &Schedule, loops: &[LoopId], bytes: u64) -> Option<i64> {
    let fits = |side: &i64| footprint(schedule, loops, *side) <= bytes as f64;
    SIDES.into_iter().rev().find(fits)
}

/// Bytes of the cache lines that a tile touches. Accesses that differ by constants count once.
fn footprint(schedule: &Schedule, loops: &[LoopId], side: i64) -> f64 {
    let stmts =
        loops.first().and_then(|l| schedule.loop_node(*l)).map(|b| all_leaves(&b.body)).unwrap_or_default();
    let points = (side as f64).powi(loops.len() as i32);
    let mut seen = BTreeSet::new();
    let mut total = 0.0;
    for s in stmts {
        let statement = &schedule.statements[s];
        for access in statement.accesses.iter() {
            // Movement of each index per iteration of each loop; unlimited if it is not affine.
            let strides = access.indices.iter().map(|index| {
                let index = statement.mapped(index.as_ref()?);
                Some(loops.iter().map(|l| index.coefficient(*l)).collect::<Vec<i64>>())
            });
            let strides: Vec<Option<Vec<i64>>> = strides.collect();
            let Some((last, others)) = strides.split_last() else { continue };
            if !seen.insert((access.array, strides.clone())) {
                continue;
            }
            let reach = |strides: &Option<Vec<i64>>| match strides {
                Some(strides) => {
                    1.0 + strides.iter().map(|c| (*c as f64).abs()).sum::<f64>() * (side - 1) as f64
                }
                None => points,
            };
            let element = schedule.program.array(access.array).element.bytes() as f64;
            let row = (reach(last) * element / LINE).ceil() * LINE;
            total += others.iter().map(reach).product::<f64>().min(points) * row;
        }
    }
    total
}

//! Overlapped tiles that are worth trying for loops beside each other.

use super::machine::Machine;
use crate::Applied;
use crate::policy::Policy;
use crate::prepared::{PreparedNest, Rewritten};
use crate::recipe::Recipe;
use crate::steps::Overlap;
use oxeye_ir::{Execution, Loop, LoopId, Node, Program, Storage};

/// Nests with more outermost loops are looked at in parts of so many.
const MOST_LOOPS: usize = 12;

/// Columns of a tile, where tiles are cut from two loops.
const COLUMNS: [i64; 2] = [256, 128];

/// Least and greatest number of rows of a tile.
const ROWS: (i64, i64) = (8, 64);

/// Rows of a tile in half of L2, and in half of L1, if how long rows are is not known.
const UNKNOWN: [i64; 2] = [32, 8];

/// Recipes of overlapped tiles with names, the most promising first: whole rows and parts of rows, whose temporaries take half of
/// L2, or half of L1. Schedules are to be found for what they make of the nest.
pub fn suggest_overlaps(
    prepared: &PreparedNest<'_>,
    machine: &Machine,
    policy: Policy,
) -> Vec<(String, Recipe)> {
    let mut found: Vec<(String, Recipe)> = Vec::new();
    let groups: Vec<Vec<Candidate>> = (1..=2).map(|n_tiled| candidates(prepared, n_tiled, policy)).collect();
    for (k, budget) in [machine.l2 / 2, machine.l1 / 2].into_iter().enumerate() {
        for group in &groups {
            let steps: Vec<Overlap> = group.iter().filter_map(|loops| loops.tiles(k, budget)).collect();
            let Some(first) = steps.first() else { continue };
            let sizes: Vec<String> = first.sizes.iter().map(i64::to_string).collect();
            let recipe = Recipe { steps: steps.into_iter().map(Into::into).collect() };
            let is_new = found.iter().all(|(_, known)| *known != recipe);
            if is_new && prepared.rewritten(&recipe, policy).is_ok() {
                found.push((format!("overlapped tiles of {}", sizes.join(" x ")), recipe));
            }
        }
    }
    found
}

/// Whether threads share loops inside a loop that has temporaries of its own, such as a tile: a team would start in each of its
/// iterations, for little work.
pub fn shares_parts_of_tiles(applied: &Applied) -> bool {
    let arrays = applied.program.arrays.values();
    let owners: Vec<LoopId> = arrays
        .filter_map(|array| match array.storage {
            Storage::Temp(Some(owner)) if !array.shape.is_empty() => Some(owner),
            _ => None,
        })
        .collect();
    let mut found = false;
    applied.nest.visit(&mut |path, node| {
        let is_shared = matches!(node, Node::Loop(l) if matches!(l.execution, Execution::Parallel { .. }));
        found |= is_shared && path.iter().any(|l| owners.contains(&l.id));
    });
    found
}

/// Loops that tiles fit.
struct Candidate {
    last: LoopId,
    loops: Vec<LoopId>,
    /// Bytes of a tile's temporaries with no rows of its own, and of each further row, with the most columns; unknown where
    /// extents are.
    bytes: Option<(f64, f64)>,
}

impl Candidate {
    /// The loops from the first to the last, if tiles fit them.
    fn of(
        prepared: &PreparedNest<'_>,
        (first, last): (&Loop, &Loop),
        n_tiled: usize,
        policy: Policy,
    ) -> Option<Self> {
        let loops = tiled(first, n_tiled)?;
        let bytes = |rows: i64| {
            let sizes = [rows, COLUMNS[0]][..n_tiled].to_vec();
            let step = Overlap { last: last.id, loops: loops.clone(), sizes };
            let recipe = Recipe { steps: vec![step.into()] };
            let rewritten = prepared.rewritten(&recipe, policy).ok()?;
            Some(temporaries(prepared.program(), &rewritten))
        };
        let few = bytes(1)?;
        let bytes = few.zip(bytes(2)?).map(|(few, more)| (2.0 * few - more, more - few));
        Some(Self { last: last.id, loops, bytes })
    }

    /// Tiles whose temporaries take so many bytes; `None` if those are too few rows.
    fn tiles(&self, k: usize, budget: u64) -> Option<Overlap> {
        let columns = COLUMNS[k];
        let wide = if self.loops.len() > 1 { columns as f64 / COLUMNS[0] as f64 } else { 1.0 };
        let rows = match self.bytes {
            Some((fixed, row)) => ((budget as f64 / wide - fixed) / row.max(1.0)) as i64,
            None => UNKNOWN[k],
        };
        let rows = rows.min(ROWS.1) / 8 * 8;
        let sizes = [rows, columns][..self.loops.len()].to_vec();
        (rows >= ROWS.0).then(|| Overlap { last: self.last, loops: self.loops.clone(), sizes })
    }
}

/// Ranges of loops beside each other that tiles fit, each as long as it can be, one behind the other: outermost loops first, then
/// those inside others that are in no range.
fn candidates(prepared: &PreparedNest<'_>, n_tiled: usize, policy: Policy) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut bodies: Vec<&[Node]> = vec![&prepared.nest().roots];
    while let Some(nodes) = bodies.pop() {
        let is_outermost = std::ptr::eq(nodes, prepared.nest().roots.as_slice());
        let loops: Vec<&Loop> = loops_of(nodes).collect();
        // Iterations of inner loops that hold no others are too little for a tile.
        let is_large = |l: &Loop| is_outermost || l.body.iter().any(|node| matches!(node, Node::Loop(_)));
        let mut k = 0;
        while k < loops.len() {
            let end = loops.len().min(k + MOST_LOOPS);
            let fit = (k + 1..end).rev().filter(|last| loops[k..=*last].iter().all(|l| is_large(l)));
            let fit = fit.into_iter().find_map(|last| {
                Some((last, Candidate::of(prepared, (loops[k], loops[last]), n_tiled, policy)?))
            });
            match fit {
                Some((last, candidate)) => {
                    found.push(candidate);
                    k = last + 1;
                }
                None => {
                    bodies.push(&loops[k].body);
                    k += 1;
                }
            }
        }
    }
    found
}

fn loops_of(nodes: &[Node]) -> impl Iterator<Item = &Loop> {
    nodes.iter().filter_map(|node| match node {
        Node::Loop(l) => Some(l),
        _ => None,
    })
}

/// A loop and those perfectly nested in it, so many together.
fn tiled(root: &Loop, n_tiled: usize) -> Option<Vec<LoopId>> {
    let mut found = vec![root.id];
    let mut inner = root;
    while found.len() < n_tiled {
        let [Node::Loop(next)] = inner.body.as_slice() else { return None };
        found.push(next.id);
        inner = next;
    }
    Some(found)
}

/// Bytes of the arrays that a rewrite makes; `None` if an extent is not known.
fn temporaries(before: &Program, rewritten: &Rewritten) -> Option<f64> {
    let after = rewritten.prepared().program();
    let made = after.arrays.values().filter(|array| !before.arrays.contains_key(&array.id));
    made.map(|array| {
        let extents = array.shape.iter().map(|e| Some(e.as_ref()?.as_affine()?.as_constant()? as f64));
        Some(extents.product::<Option<f64>>()? * array.element.bytes() as f64)
    })
    .sum()
}

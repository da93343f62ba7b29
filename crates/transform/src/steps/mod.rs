//! The transformations, one file each. None decides legality: each only edits the schedule, or says why it cannot.

pub mod distribute;
pub mod fuse;
pub mod interchange;
pub mod normalize;
pub(crate) mod packed_contraction;
pub mod parallelize;
pub mod reorder;
pub mod reverse;
pub mod skew;
pub mod split;
pub mod tile;
pub mod unroll;
pub mod unroll_and_jam;
pub mod vectorize;

use crate::Policy;
use crate::recipe::{Dimension, Transformation};
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::{LoopNode, Schedule, Tree};
use oxeye_ir::{Affine, LoopId, StmtId, Var};

/// Edits the schedule as the step says.
pub(crate) fn edit(schedule: &mut Schedule, step: &Transformation, policy: Policy) -> Result<(), Reason> {
    known_symbols(schedule, step)?;
    match step {
        Transformation::Normalize => normalize::edit(),
        Transformation::Reorder { schedules } => reorder::edit(schedule, schedules),
        Transformation::Distribute { at, before } => distribute::edit(schedule, *at, *before),
        Transformation::Interchange { outer, inner } => interchange::edit(schedule, *outer, *inner),
        Transformation::Fuse { first, second, shift } => fuse::edit(schedule, *first, *second, *shift),
        Transformation::Skew { inner, outer, factor } => skew::edit(schedule, *inner, *outer, *factor),
        Transformation::Reverse { at } => reverse::edit(schedule, *at),
        Transformation::Tile { loops, sizes } => tile::edit(schedule, loops, sizes),
        Transformation::Split { at, point } => split::edit(schedule, *at, point),
        Transformation::Parallelize { at, omp_schedule } => {
            parallelize::edit(schedule, *at, *omp_schedule, policy)
        }
        Transformation::Vectorize { at } => vectorize::edit(schedule, *at, policy),
        Transformation::Unroll { at, factor } => unroll::edit(schedule, *at, *factor),
        Transformation::UnrollAndJam { at, factor } => unroll_and_jam::edit(schedule, *at, *factor),
        Transformation::Contract { stmt, row, column, depth, blocks, parallel } => {
            let s = statement(schedule, *stmt)?;
            let (place, stmts) = innermost_three(schedule, s, [*row, *column, *depth])?;
            let c = packed_contraction::plan(
                schedule,
                stmts,
                [*row, *column, *depth],
                *blocks,
                *parallel,
                policy,
            )?;
            let (siblings, k) = schedule.siblings_mut(place).ok_or_else(|| no_loop(place))?;
            siblings[k] = Tree::Contraction(Box::new(c));
            Ok(())
        }
    }
}

/// Recipes may come from a file: their expressions must speak of this program.
fn known_symbols(schedule: &Schedule, step: &Transformation) -> Result<(), Reason> {
    let expressions: Vec<&Affine> = match step {
        Transformation::Split { point, .. } => vec![point],
        Transformation::Reorder { schedules } => schedules
            .iter()
            .flat_map(|s| &s.dimensions)
            .filter_map(|d| match d {
                Dimension::By { expr, .. } => Some(expr),
                Dimension::At(_) => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut vars = expressions.into_iter().flat_map(Affine::terms).map(|(v, _)| v);
    match vars.find(|v| matches!(v, Var::Sym(s) if !schedule.program.symbols.contains_key(s))) {
        Some(Var::Sym(s)) => Err(Reason::unsupported(format!("there is no symbol {s}"))),
        _ => Ok(()),
    }
}

fn no_loop(id: LoopId) -> Reason {
    Reason::new(RefusalKind::NoSuchLoop, format!("there is no loop {id}"))
}

fn loop_node(schedule: &Schedule, id: LoopId) -> Result<&LoopNode, Reason> {
    schedule.loop_node(id).ok_or_else(|| no_loop(id))
}

fn statement(schedule: &Schedule, id: StmtId) -> Result<usize, Reason> {
    let mut found = schedule.statements.iter().enumerate().filter(|(_, s)| s.id == id).map(|(k, _)| k);
    let first = found.next().ok_or_else(|| Reason::unsupported(format!("there is no statement {id}")))?;
    if found.next().is_some() {
        return Err(Reason::unsupported(format!("statement {id} was split, so its name is not unique")));
    }
    Ok(first)
}

/// The outermost of three loops that hold nothing but each other and statements, `s` among them; and those.
fn innermost_three(
    schedule: &Schedule,
    s: usize,
    mut loops: [LoopId; 3],
) -> Result<(LoopId, Vec<usize>), Reason> {
    let path = &schedule.paths()[s];
    loops.sort_unstable();
    let mut inner: Vec<LoopId> = path.iter().rev().take(3).copied().collect();
    inner.sort_unstable();
    if inner != loops {
        return Err(Reason::unsupported(format!(
            "{} is not directly inside the three loops",
            schedule.statements[s].id
        )));
    }
    let top = path[path.len() - 3];
    let chain = perfect_chain(schedule, top);
    let body =
        chain.last().and_then(|l| schedule.loop_node(*l)).map(|b| b.body.as_slice()).unwrap_or_default();
    if chain.len() != 3 || body.iter().any(|t| !matches!(t, Tree::Leaf(_))) {
        return Err(Reason::unsupported(format!(
            "other loops share a loop with {}",
            schedule.statements[s].id
        )));
    }
    Ok((top, crate::schedule::all_leaves(body)))
}

/// The loops from `top` down that hold nothing but the next.
pub(crate) fn perfect_chain(schedule: &Schedule, top: LoopId) -> Vec<LoopId> {
    let mut chain = vec![top];
    let mut current = schedule.loop_node(top);
    while let Some(LoopNode { body, .. }) = current
        && let [Tree::Loop(next)] = body.as_slice()
    {
        chain.push(next.id);
        current = Some(next);
    }
    chain
}

//! Finds loops and statements of a schedule by their ids; refuses unknown ones.

use crate::refusal::{Reason, RefusalKind};
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, Constraint, LoopId, Relation, StmtId};

/// The loop with this id.
pub(super) fn loop_node(schedule: &Schedule, id: LoopId) -> Result<&LoopNode, Reason> {
    schedule.loop_node(id).ok_or_else(|| no_loop(schedule, id))
}

/// The loop with this id, mutable.
pub(super) fn loop_node_mut(schedule: &mut Schedule, id: LoopId) -> Result<&mut LoopNode, Reason> {
    if schedule.loop_node(id).is_none() {
        return Err(no_loop(schedule, id));
    }
    schedule.loop_node_mut(id).ok_or_else(|| Reason::unsupported(format!("loop {id} cannot be edited")))
}

/// The children of the loop around this one, and its position among them.
pub(super) fn siblings_mut(schedule: &mut Schedule, id: LoopId) -> Result<(&mut Vec<Tree>, usize), Reason> {
    if schedule.loop_node(id).is_none() {
        return Err(no_loop(schedule, id));
    }
    schedule.siblings_mut(id).ok_or_else(|| Reason::unsupported(format!("loop {id} cannot be edited")))
}

/// The loops from `top` down that contain only the next.
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

/// The first and the last iteration of a loop, as expressions of symbols and outer iterators, where the number between them is one.
pub(crate) fn window(schedule: &Schedule, id: LoopId) -> Option<(Affine, Affine)> {
    let first = schedule.loop_node(id).and_then(|l| all_leaves(&l.body).first().copied())?;
    let domain = &schedule.statements[first].domain;
    let limits = |sign: i64| {
        let limit = move |row: &Constraint| {
            let is_limit = row.expr.coefficient(id) == sign && row.relation == Relation::NonNegative;
            is_limit.then(|| row.expr.clone().add_scaled(&Affine::var(id), -sign).scaled(-sign))
        };
        domain.iter().filter_map(limit)
    };
    let windows = limits(1).flat_map(|low| limits(-1).map(move |high| (low.clone(), high)));
    let length = |(low, high): &(Affine, Affine)| (high.clone() - low.clone()).as_constant();
    let found =
        windows.filter_map(|window| Some((length(&window)?, window))).min_by_key(|(length, _)| *length);
    found.map(|(_, window)| window)
}

/// How many iterations a loop has, wherever it begins, if that is a number.
pub(crate) fn iterations(schedule: &Schedule, id: LoopId) -> Option<i64> {
    let (low, high) = window(schedule, id)?;
    Some((high - low).as_constant()? + 1)
}

/// The position of the only statement with this id.
pub(super) fn statement(schedule: &Schedule, id: StmtId) -> Result<usize, Reason> {
    let mut found = schedule.statements.iter().enumerate().filter(|(_, s)| s.id == id).map(|(k, _)| k);
    let first = found
        .next()
        .ok_or_else(|| Reason::new(RefusalKind::NoSuchStatement, format!("there is no statement {id}")))?;
    if found.next().is_some() {
        return Err(Reason::new(
            RefusalKind::AmbiguousName,
            format!("statement {id} was split, so its name is not unique"),
        ));
    }
    Ok(first)
}

/// Every loop of the trees, outermost first.
pub(crate) fn all_loops(trees: &[Tree]) -> Vec<LoopId> {
    trees
        .iter()
        .flat_map(|tree| match tree {
            Tree::Loop(node) => [vec![node.id], all_loops(&node.body)].concat(),
            _ => Vec::new(),
        })
        .collect()
}

fn no_loop(schedule: &Schedule, id: LoopId) -> Reason {
    let known: Vec<String> =
        all_loops(&schedule.roots).into_iter().map(|id| schedule.loop_name(id)).collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    Reason::new(RefusalKind::NoSuchLoop, format!("there is no loop {id}; loops here are {known}"))
}

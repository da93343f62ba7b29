//! Loops cut where an inner iterator meets an outer one, and where a condition inside them changes.
//!
//! In `for k for i for j: d[i][j] = min(d[i][j], d[i][k] + d[k][j])` only the iterations `i = k` and `j = k` prevent
//! concurrency. Index-set splitting (Griebl, Feautrier and Lengauer, 2000) separates them.
//! Boundaries and absorbing layers are conditions such as `y < w || y >= n - w`: cut at `w` and `n - w`, the loop over the
//! interior has none. Windows that reach beyond the border are conditions (`y + dy >= 0`), selections (`y + dy < 0 ? 0 : y + dy`)
//! and remainders (`(y + dy + n) % n`) of an iterator and a short loop inside.

use super::builder::Builder;
use super::tree::{innermost_loops, next_sibling, top_loops};
use super::write_out::{is_around_windows, is_window, write_out};
use crate::scan::{conditions_on, placed};
use crate::schedule::space::implies;
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use crate::steps::{IndexSetSplit, window};
use crate::templates::unfit::Unfit;
use oxeye_ir::{Affine, Constraint, LoopId, Relation, Var};
use std::collections::{BTreeMap, BTreeSet};

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

/// Most places where one loop is cut.
const MOST_CUTS: usize = 4;

/// Most statements after cutting at conditions.
const MOST_STATEMENTS: usize = 48;

/// The recipe under construction with loops cut where windows inside them begin to lie wholly inside, and innermost loops where
/// conditions inside them change, if there are any.
pub(crate) fn at_conditions(mut builder: Builder) -> Result<Builder, Unfit> {
    for top in top_loops(&builder.schedule.roots) {
        at_borders(&mut builder, top);
    }
    let has_borders = !builder.steps.is_empty();
    for id in innermost_loops(&builder.schedule.roots) {
        let has_windows = |l: &LoopNode| l.body.iter().any(|tree| matches!(tree, Tree::Loop(_)));
        let is_of_borders =
            is_window(&builder.schedule, id) || builder.schedule.loop_node(id).is_some_and(has_windows);
        if has_borders && is_of_borders {
            continue;
        }
        let points = changes(&builder.schedule, id);
        if points.len() > MOST_CUTS {
            continue;
        }
        let mut last = id;
        for point in points {
            // A cut that is not possible leaves the loop in one piece there.
            if builder.step(IndexSetSplit { at: last, point }).is_ok() {
                let Some(next) = next_sibling(&builder.schedule.roots, last) else { break };
                last = next;
            }
        }
        if builder.schedule.statements.len() > MOST_STATEMENTS {
            return Err(Unfit::Inapplicable("conditions would cut the loops into too many pieces".into()));
        }
    }
    if builder.steps.is_empty() {
        return Err(Unfit::Inapplicable(
            "no condition in an innermost loop changes at a known iteration".into(),
        ));
    }
    Ok(builder)
}

/// Cuts a loop where windows inside begin to lie wholly inside, and so those in the longest piece. A cut that is not possible leaves
/// the loop in one piece there.
fn at_borders(builder: &mut Builder, id: LoopId) {
    let mut pieces = vec![id];
    let (mut low, high) = range(&builder.schedule, id);
    let mut lengths = Vec::new();
    if !is_window(&builder.schedule, id) {
        let points = borders(&builder.schedule, id);
        for point in points.into_iter().take(MOST_CUTS) {
            let last = pieces[pieces.len() - 1];
            if builder.step(IndexSetSplit { at: last, point: point.clone() }).is_err() {
                continue;
            }
            let Some(next) = next_sibling(&builder.schedule.roots, last) else { break };
            pieces.push(next);
            lengths.push(between(low.as_ref(), Some(&point)));
            low = Some(point);
        }
    }
    lengths.push(between(low.as_ref(), high.as_ref()));
    let longest = (0..pieces.len()).rev().max_by_key(|k| lengths[*k]).unwrap_or(0);
    let longest = pieces[longest];
    let inner = builder.schedule.loop_node(longest).map_or(Vec::new(), |piece| top_loops(&piece.body));
    if pieces.len() > 1 && is_around_windows(&builder.schedule, longest) {
        write_out(builder, longest);
    }
    inner.into_iter().for_each(|inner| at_borders(builder, inner));
}

/// The first iteration of a loop and the one behind the last, where they are numbers.
fn range(schedule: &Schedule, id: LoopId) -> (Option<Affine>, Option<Affine>) {
    let first = schedule.loop_node(id).and_then(|l| all_leaves(&l.body).first().copied());
    let Some(s) = first else { return (None, None) };
    let [low, high] = constant_bounds(&schedule.statements[s].domain, id);
    (low.map(Affine::from), high.map(|high| Affine::from(high + 1)))
}

/// How many iterations there are, as far as numbers tell: many between a number and a symbol, few from a symbol to the end of a
/// loop.
fn between(low: Option<&Affine>, high: Option<&Affine>) -> i64 {
    match (low, high) {
        (Some(low), Some(high)) => (high.clone() - low.clone()).as_constant().unwrap_or(i64::MAX),
        (Some(low), None) if low.as_constant().is_none() => 0,
        _ => i64::MAX,
    }
}

/// The iterations of a loop from which on what windows inside it reach is decided for all of a window: all of it is inside of the
/// array, or all outside. As expressions of symbols and outer iterators; numbers first.
fn borders(schedule: &Schedule, id: LoopId) -> Vec<Affine> {
    let Some(loop_node) = schedule.loop_node(id) else { return Vec::new() };
    let paths = schedule.paths();
    let mut points = Vec::new();
    for s in all_leaves(&loop_node.body) {
        let statement = &schedule.statements[s];
        let known = &statement.domain;
        let inner = || paths[s].iter().skip_while(|l| **l != id).skip(1);
        let windows: BTreeMap<LoopId, (Affine, Affine)> =
            inner().filter_map(|l| Some((*l, window(schedule, *l)?))).collect();
        let node = placed(statement);
        let moving = windows.iter().filter(|(_, (low, _))| low.uses(id)).map(|(l, _)| *l);
        let rows =
            [id].into_iter().chain(moving).flat_map(|l| conditions_on(std::slice::from_ref(&node), l, known));
        for row in rows.chain(known.iter().cloned()).filter(|row| row.relation == Relation::NonNegative) {
            let reaches = |least: bool| {
                row.expr.substitute(&|v| match v {
                    Var::Loop(l) => windows.get(&l).map(|(low, high)| {
                        if (row.expr.coefficient(l) > 0) == least { low.clone() } else { high.clone() }
                    }),
                    Var::Sym(_) => None,
                })
            };
            let (least, most) = (reaches(true), reaches(false));
            let c = least.coefficient(id);
            if c.abs() != 1 || least == most || inner().any(|l| least.uses(*l)) {
                continue;
            }
            // It holds for the whole window where its least is not negative, for none of it where its greatest is.
            let first = |from: Affine| match from.add_scaled(&Affine::var(id), -c) {
                rest if c > 0 => -rest,
                rest => rest.offset(1),
            };
            for point in [first(least), first(most)] {
                let before = Constraint::lt(Affine::var(id), point.clone());
                let behind = Constraint::ge(Affine::var(id), point.clone());
                if !points.contains(&point) && !implies(known, &before) && !implies(known, &behind) {
                    points.push(point);
                }
            }
        }
    }
    points.sort_by_key(|point: &Affine| (point.terms().next().is_some(), point.constant_part()));
    points
}

/// The least and the greatest value of an iterator, each where it is a number.
fn constant_bounds(domain: &[Constraint], id: LoopId) -> [Option<i64>; 2] {
    let bounds = |sign: i64| {
        domain.iter().filter_map(move |row| {
            let rest = row.expr.clone().add_scaled(&Affine::var(id), -sign).as_constant()?;
            (row.relation == Relation::NonNegative).then_some(-sign * rest)
        })
    };
    [bounds(1).max(), bounds(-1).min()]
}

/// The iterations of an innermost loop from which on a condition in it has another outcome, as expressions of symbols and
/// outer iterators; numbers first.
fn changes(schedule: &Schedule, id: LoopId) -> Vec<Affine> {
    let Some(loop_node) = schedule.loop_node(id) else { return Vec::new() };
    let leaves = all_leaves(&loop_node.body);
    let mut rows = Vec::new();
    for s in &leaves {
        let statement = &schedule.statements[*s];
        let known = &statement.domain;
        rows.extend(
            conditions_on(&[placed(statement)], id, known).into_iter().filter(|row| !implies(known, row)),
        );
        // Constraints of some statements only are conditions, too.
        let others = || leaves.iter().map(|other| &schedule.statements[*other].domain);
        rows.extend(known.iter().filter(|row| !others().all(|other| implies(other, row))).cloned());
    }
    let outer = schedule.paths().into_iter().nth(*leaves.first().unwrap_or(&0)).unwrap_or_default();
    let mut points = Vec::new();
    for row in rows {
        let c = row.expr.coefficient(id);
        let rest = row.expr.clone().add_scaled(&Affine::var(id), -c);
        let is_outer = |l: LoopId| l != id && outer.contains(&l);
        if c.abs() != 1 || !rest.loops().all(is_outer) {
            continue;
        }
        // `i + rest ≥ 0` begins at −rest, `rest − i ≥ 0` ends after rest; equations do both.
        let first = if c > 0 { -rest } else { rest };
        let both = match row.relation {
            Relation::NonNegative if c > 0 => vec![first],
            Relation::NonNegative => vec![first.offset(1)],
            Relation::Zero => vec![first.clone(), first.offset(1)],
        };
        for point in both {
            if !points.contains(&point) {
                points.push(point);
            }
        }
    }
    points.sort_by_key(|point: &Affine| (point.terms().next().is_some(), point.constant_part()));
    points
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

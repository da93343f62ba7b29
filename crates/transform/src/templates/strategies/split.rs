//! Loops cut where an inner iterator meets an outer one, and where a condition inside them changes.
//!
//! In `for k for i for j: d[i][j] = min(d[i][j], d[i][k] + d[k][j])` only the iterations `i = k` and `j = k` prevent
//! concurrency. Index-set splitting (Griebl, Feautrier and Lengauer, 2000) separates them.
//! Boundaries and absorbing layers are conditions such as `y < w || y >= n - w`: cut at `w` and `n - w`, the loop over the
//! interior has none.

use super::builder::Builder;
use super::tree::{innermost_loops, next_sibling, top_loops};
use crate::scan::{conditions_on, substitute};
use crate::schedule::space::implies;
use crate::schedule::{Schedule, all_leaves};
use crate::steps::IndexSetSplit;
use crate::templates::unfit::Unfit;
use oxeye_ir::{Affine, LoopId, Relation, Var};
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

/// Most places where one loop is cut.
const MOST_CUTS: usize = 4;

/// Most statements after cutting at conditions.
const MOST_STATEMENTS: usize = 48;

/// The recipe under construction with innermost loops cut where conditions inside them change, if there are any.
pub(crate) fn at_conditions(mut builder: Builder) -> Result<Builder, Unfit> {
    for id in innermost_loops(&builder.schedule.roots) {
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

/// The iterations of an innermost loop from which on a condition in it has another outcome, as expressions of symbols and
/// outer iterators; numbers first.
fn changes(schedule: &Schedule, id: LoopId) -> Vec<Affine> {
    let Some(loop_node) = schedule.loop_node(id) else { return Vec::new() };
    let leaves = all_leaves(&loop_node.body);
    let mut rows = Vec::new();
    for s in &leaves {
        let statement = &schedule.statements[*s];
        let mut node = (*statement.node).clone();
        substitute(&mut node, &|v| match v {
            Var::Loop(l) => statement.map.get(&l).cloned(),
            Var::Sym(_) => None,
        });
        let known = &statement.domain;
        rows.extend(conditions_on(&[node], id).into_iter().filter(|row| !implies(known, row)));
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

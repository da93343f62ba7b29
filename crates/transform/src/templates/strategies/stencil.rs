//! Time tiles for stencils: `for t { sweeps }` as tiles of several time steps over a band of rows.
//!
//! Sweeps are shifted against each other and skewed by time until the loops over time and rows are permutable (Wonnacott,
//! "Using time skewing to eliminate idle time due to memory bandwidth and network limitations", 2000); tiles along a
//! wavefront run in parallel.

use super::builder::{Builder, uneven_schedule};
use super::tree::parent_of;
use crate::legality::pair_system;
use crate::schedule::Schedule;
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::steps::{Fission, Interchange, Parallelize, Reorder, Skew, Tile};
use crate::templates::template::Shares;
use crate::templates::unfit::Unfit;
use oxeye_analysis::omega::{Feasibility, Limit, feasible};
use oxeye_ir::{Affine, LoopId};

/// The greatest distance of a dependence, in rows.
const REACH: i64 = 8;

/// Most statements in a time step: more take too long to judge.
const MOST_SWEEPS: usize = 12;

/// The recipe under construction, if the nest is a time loop around sweeps. `shares`: tiles along a wavefront run on
/// several threads.
pub(crate) fn time_tiles(
    mut builder: Builder,
    sizes: (u16, u16),
    shares: Option<Shares>,
) -> Result<Builder, Unfit> {
    let unfit = |reason: &str| Unfit::Inapplicable(reason.to_owned());
    let schedule = builder.schedule.clone();
    let paths = schedule.paths();
    let Some(time) = paths.first().and_then(|p| p.first().copied()) else {
        return Err(unfit("there is no time loop"));
    };
    let nested = paths.iter().all(|p| p.len() >= 2 && p[0] == time);
    let carried = schedule.original.pairs.iter().any(|p| p.depth == Some(0));
    if !nested || !carried || schedule.loop_node(time).is_none_or(|b| b.reverse) {
        return Err(unfit("the nest is not a time loop around sweeps that depend on earlier ones"));
    }
    if schedule.statements.len() > MOST_SWEEPS {
        return Err(unfit("a time step has too many statements"));
    }
    let (row, (skew, shifts)) = [outermost(&paths), rows(&schedule, &paths)]
        .into_iter()
        .find_map(|row| skew_and_shifts(&schedule, time, &row).map(|found| (row, found)))
        .ok_or_else(|| unfit("a sweep depends on rows too far away to skew by"))?;
    tile(&mut builder, &schedule, time, &row, (skew, &shifts), (sizes, shares))
        .ok_or_else(|| unfit("the loops over time and rows cannot be made permutable by skewing"))?;
    Ok(builder)
}

fn depth(paths: &[Vec<LoopId>]) -> usize {
    paths.iter().map(Vec::len).max().unwrap_or(0)
}

/// The row of each statement: the iterator of its outermost loop within a time step, or row 0 if it has fewer loops
/// than the sweeps.
fn outermost(paths: &[Vec<LoopId>]) -> Vec<Affine> {
    let deepest = depth(paths);
    let row = |p: &Vec<LoopId>| if p.len() == deepest { Affine::var(p[1]) } else { Affine::default() };
    paths.iter().map(row).collect()
}

/// The row that each statement writes in, as an expression of its loops, where that is known; otherwise as in
/// [`outermost`]. Rows are counted by the outermost index that moves within a time step in the sweeps with most loops:
/// sweeps may run along columns, and statements for boundaries have fewer loops.
fn rows(schedule: &Schedule, paths: &[Vec<LoopId>]) -> Vec<Affine> {
    let deepest = depth(paths);
    let indices = |s: usize| -> Option<Vec<Affine>> {
        let statement = &schedule.statements[s];
        let target = statement.accesses.iter().find(|access| access.write)?;
        target.indices.iter().map(|index| Some(statement.mapped(index.as_ref()?))).collect()
    };
    let moves = |s: usize, index: &Affine| paths[s][1..].iter().any(|l| index.uses(*l));
    // Counted from the last, because arrays with time levels have more indices.
    let from_last = (0..paths.len()).filter(|s| paths[*s].len() == deepest).find_map(|s| {
        let indices = indices(s)?;
        Some(indices.len() - indices.iter().position(|index| moves(s, index))?)
    });
    let row_of = |s: usize| {
        let indices = indices(s)?;
        let index = indices.get(indices.len().checked_sub(from_last?)?)?;
        let own: Vec<LoopId> = index.loops().collect();
        match own[..] {
            [] => Some(index.clone()),
            [only] if only != paths[s][0] => Some(Affine::var(only)),
            _ => None,
        }
    };
    outermost(paths).into_iter().enumerate().map(|(s, row)| row_of(s).unwrap_or(row)).collect()
}

/// Rows per time step to skew by, and a shift for every statement, so that no dependence points to an earlier row.
fn skew_and_shifts(schedule: &Schedule, time: LoopId, row: &[Affine]) -> Option<(i64, Vec<i64>)> {
    let n = row.len();
    'skew: for skew in 0..=REACH / 2 {
        let value = |s: usize| row[s].clone().add_scaled(&Affine::var(time), skew);
        let mut shifts = vec![0i64; n];
        let mut edges = Vec::new();
        for pair in schedule.original.pairs.iter() {
            let (s, t) = (pair.source.0, pair.sink.0);
            let (mut space, mut system) = pair_system(schedule, pair);
            let (terms, _) = space.difference((0, &value(s)), (1, &value(t)));
            space.fit(&mut system);
            let negative: Vec<(usize, i64)> = terms.iter().map(|(k, c)| (*k, -c)).collect();
            // The least value of φ(sink) − φ(source), by probing.
            let least = (-REACH..=REACH).find(|bound| {
                let mark = system.mark();
                system.add_ge(&negative, *bound);
                let reached = feasible(&system, Limit::default()) != Feasibility::Infeasible;
                system.rollback(mark);
                reached
            });
            match least {
                Some(d) if d == -REACH => continue 'skew,
                Some(d) => edges.push((s, t, -d)),
                None => {}
            }
        }
        // shifts[t] ≥ shifts[s] + weight, by longest paths.
        for round in 0..=n {
            let mut changed = false;
            for (s, t, weight) in &edges {
                if shifts[*t] < shifts[*s] + weight {
                    shifts[*t] = shifts[*s] + weight;
                    changed = true;
                }
            }
            if !changed {
                return Some((skew, shifts));
            }
            if round == n {
                continue 'skew;
            }
        }
    }
    None
}

fn tile(
    builder: &mut Builder,
    schedule: &Schedule,
    time: LoopId,
    row: &[Affine],
    (skew, shifts): (i64, &[i64]),
    ((steps, rows), shares): ((u16, u16), Option<Shares>),
) -> Option<()> {
    let paths = schedule.paths();
    let flat = paths.iter().all(|p| p.len() == 2);
    let mut schedules = Vec::new();
    for (s, statement) in schedule.statements.iter().enumerate() {
        let by = |expr: Affine| Dimension::By { expr, reverse: false };
        let value = row[s].clone().add_scaled(&Affine::var(time), skew).offset(shifts[s]);
        let mut dimensions =
            vec![Dimension::At(0), by(Affine::var(time)), Dimension::At(0), by(value), Dimension::At(s)];
        for l in paths[s].iter().skip(1).filter(|l| !row[s].uses(**l)) {
            dimensions.push(Dimension::By {
                expr: Affine::var(*l),
                reverse: schedule.loop_node(*l).is_some_and(|b| b.reverse),
            });
            dimensions.push(Dimension::At(0));
        }
        schedules.push(StatementSchedule { stmt: statement.id, dimensions });
    }
    builder.step(Reorder { schedules }).ok()?;
    let path = builder.schedule.paths()[0].clone();
    let (t, r) = (path[0], path[1]);
    builder.step(Tile { loops: vec![t, r], sizes: vec![steps.into(), rows.into()] }).ok()?;
    let row_tile = parent_of(&builder.schedule.roots, t)?;
    let time_tile = parent_of(&builder.schedule.roots, row_tile)?;
    if flat && schedule.statements.len() > 1 {
        builder.step(Fission { at: r, before: None }).ok()?;
    }
    if let Some(shares) = shares {
        let sharing = uneven_schedule(shares);
        builder.step_unjudged(Skew { inner: row_tile, outer: time_tile, factor: 1 }).ok()?;
        builder.step_unjudged(Interchange { outer: time_tile, inner: row_tile }).ok()?;
        builder.step(Parallelize { at: time_tile, sharing }).ok()?;
    }
    Some(())
}

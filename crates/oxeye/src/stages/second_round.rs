//! Between stages 4 and 5: nests that were too short to matter beside slow ones may matter once those are fast, and of nests
//! that gain nothing, or little, the loops inside may.

use super::capture::LEAST_SHARE;
use super::group::group_nests;
use super::measure::{Measured, Pace, Round, measure_nest, take_turns};
use super::open::open_nests;
use super::propose::proposal;
use super::unchanged::Unchanged;
use crate::nest::{Standing, TunedNest, Workpiece};
use crate::request::Error;
use crate::schedule::Trial;
use crate::session::Session;
use std::collections::BTreeSet;
use std::time::Instant;

/// A nest whose winner gains less may hide loops that gain more by themselves. What gains more of both is kept.
const LITTLE_GAIN: f64 = 1.5;

/// Makes and measures schedules for the loops inside nests that gain nothing or little, and for the nests that were left out for being
/// short, those of the longest first, as far as they matter in what is left of the program's time. If nothing gains anything, what was
/// not tried has another turn.
///
/// # Errors
/// As [`propose`](super::propose()) and [`measure`](super::measure()).
pub fn second_round(session: &Session<'_>, measured: Measured) -> Result<Measured, Error> {
    let Measured { mut workpiece, end } = measured;
    let gains_little = |nest: &TunedNest| {
        let reasons = [Unchanged::NothingFaster, Unchanged::AllFailed, Unchanged::NotReplayable];
        Unchanged::of(nest).is_some_and(|why| reasons.contains(&why))
            || nest.winner().is_some_and(|(_, timing)| timing.speedup < LITTLE_GAIN)
    };
    let n_functions = workpiece.unit.functions.len();
    let mut opened = open_nests(session, &mut workpiece, gains_little, end)?;
    opened.extend(group_nests(session, &mut workpiece, n_functions, end)?);
    let weight = |nests: &[TunedNest], idx: usize| nests[idx].calls.share.unwrap_or(0.0);
    opened.sort_by(|a, b| weight(&workpiece.nests, *b).total_cmp(&weight(&workpiece.nests, *a)));
    let order: Vec<(usize, f64)> = opened.iter().map(|idx| (*idx, weight(&workpiece.nests, *idx))).collect();
    take_turns(session, &mut workpiece, (&order, Round::Second), end)?;
    let left = share_left(gains(&workpiece.nests));
    for (idx, share) in workpiece.short() {
        session.check_cancelled()?;
        if share < LEAST_SHARE * left || session.is_over(end) {
            break;
        }
        let Workpiece { unit, nests, .. } = &mut workpiece;
        let nest = &mut nests[idx];
        nest.standing = Standing::Tuned;
        proposal(session, unit, nest, session.options.donors)?.put_into(nest);
        measure_nest(session, unit, idx, nest, (Pace::Usual, end))?;
    }
    let has_won = gains(&workpiece.nests).next().is_some();
    let end = if has_won { end } else { third_round(session, &mut workpiece, end)? };
    Ok(Measured { workpiece, end })
}

/// Where nothing has won, less time is kept for the verdict, and nests have it for candidates that were not tried. Returns when trying
/// ends.
fn third_round(session: &Session<'_>, workpiece: &mut Workpiece, end: Instant) -> Result<Instant, Error> {
    let late = session.end_of_late_trials();
    if late <= end {
        return Ok(end);
    }
    let has_more = |(idx, _): &(usize, f64)| workpiece.nests[*idx].trials.iter().any(Trial::is_ready);
    let order: Vec<(usize, f64)> = workpiece.turns().into_iter().filter(has_more).collect();
    take_turns(session, workpiece, (&order, Round::Third), late)?;
    Ok(late)
}

/// Share of the time and speedup of the winners; of those that do the same work the outermost counts.
fn gains(nests: &[TunedNest]) -> impl Iterator<Item = (f64, f64)> {
    let speedup = |nest: &TunedNest| nest.winner().map(|(_, timing)| timing.speedup);
    let within: BTreeSet<usize> = nests
        .iter()
        .filter(|nest| nest.winner.is_some())
        .flat_map(|nest| nest.place.inside.clone())
        .collect();
    nests.iter().enumerate().filter_map(move |(idx, nest)| {
        if within.contains(&idx) { None } else { Some((nest.calls.share?, speedup(nest)?)) }
    })
}

/// The share of a program's time that is left when parts with a share of it become faster by a factor. Times are measured,
/// so that more than everything may seem to go; a hundredth stays.
fn share_left(faster: impl Iterator<Item = (f64, f64)>) -> f64 {
    let gone: f64 = faster.map(|(share, speedup)| share * (1.0 - 1.0 / speedup)).sum();
    (1.0 - gone).max(0.01)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_program() {
        let left = |faster: &[(f64, f64)]| share_left(faster.iter().copied());
        assert_eq!(left(&[]), 1.0);
        // 0.1 of the first, 0.25 of the second, and the rest.
        let both = left(&[(0.5, 5.0), (0.5, 2.0)]);
        assert!((both - 0.35).abs() < 1e-12, "{both}");
        assert_eq!(left(&[(0.9, 1000.0), (0.2, 1000.0)]), 0.01);
    }
}

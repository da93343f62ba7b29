//! Behind stages 3 and 4: a nest of which no other schedule is known, or none that gains much, hides the loops inside it. They
//! become nests of their own, and the program is run once more to see what they are called with.

use super::capture::{add_nests, capture_more, find_inside, nest_at, time_to_look};
use super::group::{Joined, group_nests, joined};
use super::propose::{Proposed, has_schedules, proposal};
use super::read::reading;
use crate::nest::{OpenedNest, Place, Standing, TunedNest, Workpiece, remark};
use crate::request::Error;
use crate::schedule::Trial;
use crate::session::Session;
use oxeye_frontend::{Function, Unit};
use oxeye_ir::NestId;
use std::time::Instant;

/// Nests with a lower share of the program's time are not opened.
const LEAST_SHARE_TO_OPEN: f64 = 0.03;

/// Nests are opened so deep.
const MOST_LEVELS: usize = 5;

/// Nests inside those of which no other schedule could be proved legal, with the schedules to try.
///
/// # Errors
/// If the run is interrupted, or the recipe database cannot be read.
pub fn open(session: &Session<'_>, proposed: Proposed) -> Result<Proposed, Error> {
    let mut workpiece = proposed.workpiece;
    let end = session.end_of_trials();
    open_nests(session, &mut workpiece, |nest| !nest.trials.iter().any(Trial::is_ready), end)?;
    if !session.options.focus.is_dry {
        group_nests(session, &mut workpiece, 0, end)?;
    }
    Ok(Proposed { workpiece })
}

/// Opens those nests that are `closed`, if there is time until `end`. Returns the numbers of the nests found inside that are
/// worth tuning; they have schedules to try.
///
/// # Errors
/// If the run is interrupted, or the recipe database cannot be read.
pub(super) fn open_nests(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    is_closed: impl Fn(&TunedNest) -> bool,
    end: Instant,
) -> Result<Vec<usize>, Error> {
    // What groups are made of are nests already.
    let is_wanted = |nest: &TunedNest| {
        nest.standing == Standing::Tuned
            && nest.place.joined == 0
            && nest.calls.share.is_some_and(|share| share >= LEAST_SHARE_TO_OPEN)
            && is_closed(nest)
    };
    let chosen: Vec<usize> =
        (0..workpiece.nests.len()).filter(|idx| is_wanted(&workpiece.nests[*idx])).collect();
    let until = time_to_look(session, workpiece, end);
    let Some(until) = until.filter(|_| !chosen.is_empty()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for idx in &chosen {
        session.check_cancelled()?;
        let nest = &workpiece.nests[*idx];
        Inside { session, unit: &workpiece.unit, threads: nest.threads(session), until }
            .find(&nest.place, &mut found);
    }
    let new = add_nests(session, workpiece, found)?;
    let Some(first) = new.first().copied() else { return Ok(new) };
    let Workpiece { unit, nests, .. } = workpiece;
    for idx in chosen {
        let is_won = nests[idx].winner.is_some();
        if !is_won
            && nests[idx].place.inside.iter().any(|k| *k >= first && nests[*k].standing == Standing::Tuned)
        {
            remark(&mut nests[idx].note, "the loops inside it are tuned by themselves");
        }
    }
    let mut tuned = Vec::new();
    for idx in new.into_iter().filter(|idx| nests[*idx].standing == Standing::Tuned).collect::<Vec<_>>() {
        session.check_cancelled()?;
        proposal(session, unit, &nests[idx], session.options.donors)?.put_into(&mut nests[idx]);
        tuned.push(idx);
    }
    Ok(tuned)
}

/// A nest inside others, by the function that has them and their ordinals, outermost first; the last is its own. With so many behind it
/// it is a group.
pub(crate) struct InsideNest<'a> {
    pub(crate) function: &'a str,
    pub(crate) ordinals: Vec<usize>,
    pub(crate) joined: usize,
}

/// Adds nests inside others to a file, as far as they are there, with what they are called with.
///
/// # Errors
/// If the run is interrupted, or the file cannot be read again.
pub(crate) fn open_inside(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    wanted: &[InsideNest<'_>],
) -> Result<(), Error> {
    let first = workpiece.nests.len();
    for inside in wanted {
        let Some((own, around)) = inside.ordinals.split_last() else { continue };
        let Some(opened) = opened_around(session, &workpiece.unit, inside.function, around)? else {
            continue;
        };
        let ReadAgain { function, nests, within } = opened;
        let found = match inside.joined {
            0 => nests.get(*own).and_then(|id| Some((*id, function.program.nests[id].span?))).map(
                |(nest_id, span)| {
                    let (ordinal, inside) = (*own, Vec::new());
                    (function, Place { function_idx: 0, nest_id, ordinal, span, inside, within, joined: 0 })
                },
            ),
            n => Joined::of(&function, &within, (*own, n))
                .and_then(|group| joined(session, (&workpiece.unit, &function.name), &group)),
        };
        let Some((function, place)) = found else { continue };
        let function_idx = workpiece.unit.functions.len();
        workpiece.unit.functions.push(function);
        let place = Place { function_idx, ..place };
        let nest = nest_at(&workpiece.unit, place, session.threads);
        workpiece.nests.push(nest);
    }
    if workpiece.nests.len() == first {
        return Ok(());
    }
    find_inside(&workpiece.unit, &mut workpiece.nests);
    let new: Vec<usize> = (first..workpiece.nests.len()).collect();
    capture_more(session, workpiece, &new)
}

/// A function that was read again with nests opened.
struct ReadAgain {
    function: Function,
    /// The nests inside the innermost of those that were opened.
    nests: Vec<NestId>,
    within: Vec<OpenedNest>,
}

/// A function with the nests of these ordinals opened, each inside the one before it, and the nests inside the last.
fn opened_around(
    session: &Session<'_>,
    unit: &Unit,
    name: &str,
    around: &[usize],
) -> Result<Option<ReadAgain>, Error> {
    let Some(function) = unit.functions.iter().find(|function| function.name == name) else {
        return Ok(None);
    };
    let mut function = function.clone();
    let mut nests: Vec<NestId> = function.program.nests.keys().copied().collect();
    let mut within: Vec<OpenedNest> = Vec::new();
    for ordinal in around {
        let found = nests.get(*ordinal).and_then(|id| function.program.nests[id].span);
        let Some(span) = found else { return Ok(None) };
        within.push(OpenedNest { ordinal: *ordinal, span });
        let loops: Vec<_> = within.iter().map(|nest| nest.span).collect();
        let Some(opened) = unit.open(&reading(session), name, &loops)? else { return Ok(None) };
        (function, nests) = (opened.function, opened.nests);
    }
    Ok(Some(ReadAgain { function, nests, within }))
}

/// Looks inside a nest.
struct Inside<'a> {
    session: &'a Session<'a>,
    unit: &'a Unit,
    threads: u32,
    until: Instant,
}

impl Inside<'_> {
    /// The largest nests inside that have another schedule, by the functions that were read to find them.
    fn find(&self, outer: &Place, found: &mut Vec<(Function, Vec<Place>)>) {
        let mut within = outer.within.clone();
        within.push(OpenedNest { ordinal: outer.ordinal, span: outer.span });
        let above = &outer.own_text(self.unit).clauses;
        if within.len() > MOST_LEVELS || Instant::now() >= self.until {
            return;
        }
        if above.reaches_inside {
            // The directive speaks of the loops inside, too.
            return;
        }
        let loops: Vec<_> = within.iter().map(|nest| nest.span).collect();
        let (name, _, _) = outer.of(self.unit);
        let Ok(Some(opened)) = self.unit.open(&reading(self.session), name, &loops) else {
            return;
        };
        // Read into a unit of its own, in which the function is the only one.
        let unit = Unit { functions: vec![opened.function], diagnostics: Vec::new(), ..self.unit.clone() };
        // Other threads run their own iterations of such a loop.
        let threads = if above.is_for_threads { 1 } else { self.threads };
        let (mut kept, mut closed) = (Vec::new(), Vec::new());
        for (ordinal, nest_id) in opened.nests.into_iter().enumerate() {
            let nest = &unit.functions[0].program.nests[&nest_id];
            let Some(span) = nest.span else { continue };
            let place = Place {
                function_idx: 0,
                nest_id,
                ordinal,
                span,
                inside: Vec::new(),
                within: within.clone(),
                joined: 0,
            };
            if has_schedules(self.session, &unit, &place, threads) {
                kept.push(place);
            } else if nest.loops().len() > 1 {
                closed.push(place);
            }
        }
        for place in closed {
            Inside { unit: &unit, threads, ..*self }.find(&place, found);
        }
        if !kept.is_empty() {
            found.extend(unit.functions.into_iter().next().map(|function| (function, kept)));
        }
    }
}

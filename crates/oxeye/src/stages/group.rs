//! Behind stages 3 and 4: neighbouring nests as one, where they use the same arrays. Each may be as fast as memory allows; what is
//! left to win lies between them.

use super::capture::{add_nests, time_to_look};
use super::propose::{has_schedules, proposal};
use super::read::reading;
use crate::nest::{Place, Standing, Workpiece};
use crate::request::Error;
use crate::session::Session;
use oxeye_frontend::{Function, Opened, Unit};
use oxeye_ir::{ArrayId, NestId, Program, Span};
use std::collections::BTreeSet;
use std::time::Instant;

/// Groups with a lower share of the program's time are not looked at.
const LEAST_SHARE_TO_GROUP: f64 = 0.03;

/// A nest and those behind it that are one with it.
pub(super) struct Joined<'p> {
    pub(super) first: &'p Place,
    /// The place of the last.
    pub(super) last: Span,
    /// How many there are behind the first.
    pub(super) n: usize,
}

/// Groups of the nests in the functions from this one on, if there is time until `end`. Returns the numbers of those that are worth
/// tuning; they have schedules to try.
///
/// # Errors
/// If the run is interrupted, or the recipe database cannot be read.
pub(super) fn group_nests(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    first_function: usize,
    end: Instant,
) -> Result<Vec<usize>, Error> {
    let until = time_to_look(session, workpiece, end).filter(|_| !session.options.is_stand_in);
    let Some(until) = until else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for idx in first_function..workpiece.unit.functions.len() {
        for group in workpiece.unit.functions[idx].groups.clone() {
            for part in in_touch(&workpiece.unit.functions[idx].program, &group) {
                session.check_cancelled()?;
                Groups { session, workpiece, function_idx: idx, until }.find(&part, &mut found);
            }
        }
    }
    let mut tuned = Vec::new();
    for idx in add_nests(session, workpiece, found)? {
        session.check_cancelled()?;
        let Workpiece { unit, nests, .. } = &mut *workpiece;
        if nests[idx].standing == Standing::Tuned {
            proposal(session, unit, &nests[idx], session.options.donors)?.put_into(&mut nests[idx]);
            tuned.push(idx);
        }
    }
    Ok(tuned)
}

/// Neighbours in the parts that use arrays of each other.
fn in_touch(program: &Program, group: &[NestId]) -> Vec<Vec<NestId>> {
    let arrays = |id: &NestId| -> BTreeSet<ArrayId> {
        let used = program.nests.get(id).map(|nest| nest.arrays()).unwrap_or_default();
        used.into_iter().filter(|id| !program.array(*id).shape.is_empty()).collect()
    };
    let used: Vec<BTreeSet<ArrayId>> = group.iter().map(arrays).collect();
    let is_cut = |k: &usize| {
        let before: BTreeSet<&ArrayId> = used[..*k].iter().flatten().collect();
        !used[*k..].iter().flatten().any(|id| before.contains(id))
    };
    let mut parts = Vec::new();
    let mut from = 0;
    for to in (1..group.len()).filter(is_cut).chain([group.len()]) {
        parts.push(group[from..to].to_vec());
        from = to;
    }
    parts.retain(|part| part.len() > 1);
    parts
}

/// Looks for groups in a function.
struct Groups<'a> {
    session: &'a Session<'a>,
    workpiece: &'a Workpiece,
    function_idx: usize,
    until: Instant,
}

impl Groups<'_> {
    /// The largest parts of these neighbours that can be read as one and have another schedule.
    fn find(&self, neighbours: &[NestId], found: &mut Vec<(Function, Vec<Place>)>) {
        let Workpiece { unit, nests, .. } = self.workpiece;
        let own = |id: &NestId| {
            let mut own = nests.iter().filter(|nest| nest.place.function_idx == self.function_idx);
            own.find(|nest| nest.place.nest_id == *id && nest.place.joined == 0)
        };
        let n_unknown = neighbours.iter().take_while(|id| own(id).is_none()).count();
        let neighbours = &neighbours[n_unknown..];
        let known: Vec<_> = neighbours.iter().filter_map(own).collect();
        let share: f64 = known.iter().filter_map(|nest| nest.calls.share).sum();
        let is_single = known.iter().any(|nest| nest.is_single());
        let is_worth_it = share >= LEAST_SHARE_TO_GROUP && neighbours.len() > 1 && !is_single;
        let (Some(first), Some(last)) = (known.first(), neighbours.last()) else { return };
        if !is_worth_it || Instant::now() >= self.until {
            return;
        }
        let function = &unit.functions[self.function_idx];
        let span = |id: &NestId| function.program.nests[id].span;
        let Some(last) = span(last) else { return };
        // Nests between them that conditions are around count as well.
        let is_one = |span: &Span| first.place.span.start < span.start && span.end <= last.end;
        let n = function.program.nests.keys().filter_map(span).filter(is_one).count();
        let group = Joined { first: &first.place, last, n };
        if let Some((function, place)) = joined(self.session, (unit, &function.name), &group) {
            let alone = Unit { functions: vec![function], diagnostics: Vec::new(), ..unit.clone() };
            if has_schedules(self.session, &alone, &place, self.session.threads) {
                found.extend(alone.functions.into_iter().next().map(|function| (function, vec![place])));
            }
            return;
        }
        let (front, back) = neighbours.split_at(neighbours.len() / 2);
        self.find(front, found);
        self.find(back, found);
    }
}

/// The function of a group, read again, and the place of the group in it; `None` if it cannot be read as one.
pub(super) fn joined(
    session: &Session<'_>,
    (unit, function): (&Unit, &str),
    group: &Joined<'_>,
) -> Option<(Function, Place)> {
    let Joined { first, last, n } = group;
    let within: Vec<Span> = first.within.iter().map(|nest| nest.span).collect();
    let span = Span { end: last.end, ..first.span };
    let Opened { function, nests } = unit.group(&reading(session), function, &within, span).ok().flatten()?;
    let nest_id = *nests.first()?;
    let span = function.program.nests[&nest_id].span?;
    let place = Place { function_idx: 0, nest_id, span, inside: Vec::new(), joined: *n, ..(*first).clone() };
    Some((function, place))
}

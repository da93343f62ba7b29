//! Behind stages 3 and 4: neighbouring nests, and calls of functions that are made of nests, as one, where they use the same arrays.
//! Each may be as fast as memory allows; what is left to win lies between them.

use super::capture::{add_nests, time_to_look};
use super::propose::{has_schedules, proposal};
use super::read::reading;
use crate::nest::{OpenedNest, Place, Standing, TunedNest, Workpiece};
use crate::request::Error;
use crate::session::Session;
use oxeye_frontend::{Function, Member, Opened, Unit};
use oxeye_ir::{ArrayId, Span};
use std::collections::BTreeSet;
use std::time::Instant;

/// Groups with a lower share of the program's time are not looked at.
const LEAST_SHARE_TO_GROUP: f64 = 0.03;
/// What passes between neighbours costs the smaller of them no more than all their time. If that is a lower share of the group's, a
/// group gains next to nothing, and trying it takes as long as trying the largest.
const LEAST_PART_BESIDE: f64 = 0.015;

/// Neighbours as one nest.
pub(super) struct Joined<'p> {
    /// The nests around them that were opened.
    pub(super) within: &'p [OpenedNest],
    /// Which of the function's members the first is, as [`Function::members`] lists them.
    pub(super) ordinal: usize,
    /// How many there are behind it.
    pub(super) n: usize,
    /// From the first byte of the first to the last of the last.
    pub(super) span: Span,
}

impl<'p> Joined<'p> {
    /// The members of these numbers; `None` if there are none.
    pub(super) fn of(
        function: &Function,
        within: &'p [OpenedNest],
        (ordinal, n): (usize, usize),
    ) -> Option<Self> {
        let span = function.group_of(within.last().map(|outer| outer.span), ordinal, n)?;
        Some(Self { within, ordinal, n, span })
    }
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
            for part in in_touch(&workpiece.unit, &workpiece.unit.functions[idx], &group) {
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

/// Neighbours in the parts that use arrays of each other. Calls of functions that are not read from end to end are in none.
fn in_touch(unit: &Unit, function: &Function, group: &[Member]) -> Vec<Vec<Member>> {
    // What a call uses is not known before it is read in its place.
    let arrays = |member: &Member| -> Option<BTreeSet<ArrayId>> {
        let Member::Nest(id) = member else { return None };
        let used = function.program.nests.get(id).map(|nest| nest.arrays()).unwrap_or_default();
        Some(used.into_iter().filter(|id| !function.program.array(*id).shape.is_empty()).collect())
    };
    let is_read = |member: &Member| match member {
        Member::Nest(_) => true,
        Member::Call { function, .. } => is_made_of_nests(unit, function),
    };
    let mut parts = Vec::new();
    for group in group.split(|member| !is_read(member)) {
        let used: Vec<Option<BTreeSet<ArrayId>>> = group.iter().map(arrays).collect();
        let is_cut = |k: &usize| {
            let (before, behind) = used.split_at(*k);
            let before: Option<Vec<_>> = before.iter().map(Option::as_ref).collect();
            let behind: Option<Vec<_>> = behind.iter().map(Option::as_ref).collect();
            before.zip(behind).is_some_and(|(before, behind)| {
                let before: BTreeSet<&ArrayId> = before.into_iter().flatten().collect();
                !behind.into_iter().flatten().any(|id| before.contains(id))
            })
        };
        let mut from = 0;
        for to in (1..group.len()).filter(is_cut).chain([group.len()]) {
            parts.push(group[from..to].to_vec());
            from = to;
        }
    }
    parts.retain(|part| part.len() > 1);
    parts
}

/// Whether the loops of a function are all nests.
fn is_made_of_nests(unit: &Unit, name: &str) -> bool {
    let is_of = |function: &Option<String>| function.as_deref() == Some(name);
    unit.functions.iter().any(|function| function.name == name && !function.program.nests.is_empty())
        && !unit.diagnostics.iter().any(|d| d.nest_line.is_some() && is_of(&d.function))
}

/// Looks for groups in a function.
struct Groups<'a> {
    session: &'a Session<'a>,
    workpiece: &'a Workpiece,
    function_idx: usize,
    until: Instant,
}

impl<'a> Groups<'a> {
    /// The largest parts of these neighbours that can be read as one and have another schedule.
    fn find(&self, neighbours: &[Member], found: &mut Vec<(Function, Vec<Place>)>) {
        let unit = &self.workpiece.unit;
        let function = &unit.functions[self.function_idx];
        let shares: Vec<Option<f64>> = neighbours.iter().map(|member| self.share(member)).collect();
        let n_unknown = shares.iter().take_while(|share| share.is_none()).count();
        let neighbours = &neighbours[n_unknown..];
        let share: f64 = shares.iter().flatten().sum();
        let largest = shares.iter().flatten().copied().fold(0.0, f64::max);
        let is_single = neighbours.iter().filter_map(|member| self.nest(member)).any(TunedNest::is_single);
        // What is called once is mostly the one thing to do, and what prepares it.
        let is_done_once = neighbours.iter().any(|member| self.is_called_once(member));
        let is_worth_it = share >= LEAST_SHARE_TO_GROUP
            && share - largest >= LEAST_PART_BESIDE * share
            && neighbours.len() > 1
            && !is_single
            && !is_done_once;
        let (Some(first), Some(last)) = (neighbours.first(), neighbours.last()) else { return };
        if !is_worth_it || Instant::now() >= self.until {
            return;
        }
        let (Some(first), Some(last)) = (function.place(first), function.place(last)) else { return };
        let Some(within) = self.within() else { return };
        let members = function.members(within.last().map(|outer| outer.span));
        let number = |of: Span| members.iter().position(|span| span.start == of.start);
        // Nests between them that conditions are around count as well.
        let (Some(ordinal), Some(end)) = (number(first), number(last)) else { return };
        let group = Joined { within, ordinal, n: end - ordinal, span: Span { end: last.end, ..first } };
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

    /// The nests around those of the function that were opened; `None` if that is not known.
    fn within(&self) -> Option<&'a [OpenedNest]> {
        let Workpiece { unit, nests, .. } = self.workpiece;
        let own = nests.iter().find(|nest| nest.place.function_idx == self.function_idx);
        let name = &unit.functions[self.function_idx].name;
        let is_as_read = || unit.functions.iter().position(|f| f.name == *name) == Some(self.function_idx);
        own.map(|nest| &nest.place.within[..]).or_else(|| is_as_read().then_some(&[]))
    }

    fn nest(&self, member: &Member) -> Option<&'a TunedNest> {
        let Member::Nest(id) = member else { return None };
        let is_it = |place: &Place| {
            place.function_idx == self.function_idx && place.nest_id == *id && place.joined == 0
        };
        self.workpiece.nests.iter().find(|nest| is_it(&nest.place))
    }

    /// The share of the program's time that a neighbour has: a call as much as all calls of its function. `None` if it is not to be
    /// tuned.
    fn share(&self, member: &Member) -> Option<f64> {
        match member {
            Member::Nest(_) => self.nest(member).map(|nest| nest.calls.share.unwrap_or(0.0)),
            Member::Call { function, .. } => {
                Some(self.nests_of(function).filter_map(|nest| nest.calls.share).sum())
            }
        }
    }

    /// Whether a neighbour is a call of a function whose nests the program runs once.
    fn is_called_once(&self, member: &Member) -> bool {
        let Member::Call { function, .. } = member else { return false };
        self.nests_of(function).filter_map(|nest| nest.calls.invocations).all(|n| n <= 1)
    }

    /// The outermost nests of a function.
    fn nests_of<'s>(&'s self, function: &'s str) -> impl Iterator<Item = &'s TunedNest> {
        let Workpiece { unit, nests, .. } = self.workpiece;
        nests.iter().filter(move |nest| {
            let place = &nest.place;
            place.joined == 0 && place.within.is_empty() && place.of(unit).0 == function
        })
    }
}

/// The function of a group, read again, and the place of the group in it; `None` if it cannot be read as one.
pub(super) fn joined(
    session: &Session<'_>,
    (unit, function): (&Unit, &str),
    group: &Joined<'_>,
) -> Option<(Function, Place)> {
    let Joined { within, ordinal, n, span } = *group;
    let loops: Vec<Span> = within.iter().map(|nest| nest.span).collect();
    let Opened { function, nests } = unit.group(&reading(session), function, &loops, span).ok().flatten()?;
    let nest_id = *nests.first()?;
    let span = function.program.nests[&nest_id].span?;
    let (inside, within) = (Vec::new(), within.to_vec());
    let place = Place { function_idx: 0, nest_id, ordinal, span, inside, within, joined: n };
    Some((function, place))
}

//! Loops that sweep over the same arrays again and again, such as those over time steps: what flows from one of their inner
//! loops to another is what is asked for, so they are taken as control around these.

use oxeye_frontend::{FrontendError, Function, ReadOptions, Unit, read_c};
use oxeye_ir::{Loop, LoopId, Nest, NestId, Node};
use std::collections::BTreeSet;

/// Loops over time inside of others are opened to this depth.
const MOST_ROUNDS: usize = 4;

/// The unit with such loops as control.
///
/// # Errors
/// If the file cannot be read any more.
pub(super) fn opened(unit: Unit, options: &ReadOptions) -> Result<Unit, FrontendError> {
    let mut unit = unit;
    let mut all: BTreeSet<usize> = BTreeSet::new();
    let mut closed: BTreeSet<usize> = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let new: Vec<(usize, usize)> = sweeps(&unit).filter(|(start, _)| !closed.contains(start)).collect();
        if new.is_empty() {
            break;
        }
        let with: Vec<usize> = all.iter().copied().chain(new.iter().map(|(start, _)| *start)).collect();
        let again = read_c(&unit.path, &ReadOptions { opened: with, ..options.clone() })?;
        if again.source != unit.source {
            break;
        }
        // Where nothing inside could be read by itself, the loop stays a nest.
        let (good, bad): (Vec<_>, Vec<_>) = new.into_iter().partition(|(start, end)| {
            calls(&unit, *start) || nests(&again).any(|(_, nest)| inside(nest, *start, *end))
        });
        all.extend(good.iter().map(|(start, _)| *start));
        closed.extend(bad.iter().map(|(start, _)| *start));
        let with = all.iter().copied().collect();
        unit = match bad.is_empty() {
            true => again,
            false => read_c(&unit.path, &ReadOptions { opened: with, ..options.clone() })?,
        };
    }
    Ok(unit)
}

fn nests(unit: &Unit) -> impl Iterator<Item = (&Function, &Nest)> {
    unit.functions
        .iter()
        .flat_map(|function| function.program.nests.values().map(move |nest| (function, nest)))
}

fn inside(nest: &Nest, start: usize, end: usize) -> bool {
    nest.span.is_some_and(|span| start < span.start && span.end <= end)
}

/// Whether the nest that begins there calls functions with loops of their own, which run as nests once it is opened.
fn calls(unit: &Unit, start: usize) -> bool {
    nests(unit).any(|(function, nest)| {
        let is_it = nest.span.is_some_and(|span| span.start == start);
        let called = function.inlined.get(&nest.id).map_or(&[][..], Vec::as_slice);
        is_it && called.iter().any(|name| unit.functions.iter().any(|other| other.name == *name))
    })
}

/// Where the nests begin and end that sweep over the same arrays.
fn sweeps(unit: &Unit) -> impl Iterator<Item = (usize, usize)> {
    let is_whole = |function: &Function, id: NestId| {
        // What stands in other files would be lost, and threads of a team stay together.
        !function.elsewhere.contains_key(&id) && !function.program.has_team(id)
    };
    nests(unit).filter_map(move |(function, nest)| {
        let [Node::Loop(outermost)] = nest.roots.as_slice() else { return None };
        let span = nest.span.filter(|_| is_whole(function, nest.id) && is_sweep(outermost))?;
        Some((span.start, span.end))
    })
}

/// Whether at least two loops directly inside a loop store to the same elements in all of its iterations.
fn is_sweep(outermost: &Loop) -> bool {
    let mut n_sweeps = 0;
    children(&outermost.body, &mut |child| n_sweeps += usize::from(stores_regardless(child, outermost.id)));
    n_sweeps >= 2
}

/// Calls `f` on the loops directly inside.
fn children<'a>(nodes: &'a [Node], f: &mut dyn FnMut(&'a Loop)) {
    for node in nodes {
        match node {
            Node::Loop(child) => f(child),
            Node::Stmt(_) => {}
            Node::If { then, otherwise, .. } => {
                children(then, f);
                children(otherwise, f);
            }
        }
    }
}

/// Whether a loop stores to arrays, and nowhere at positions that depend on an iterator around it.
fn stores_regardless(child: &Loop, around: LoopId) -> bool {
    let (mut n_stores, mut depends) = (0, false);
    fn go<'a>(nodes: &'a [Node], f: &mut dyn FnMut(&'a oxeye_ir::Stmt)) {
        for node in nodes {
            if let Node::Stmt(s) = node {
                f(s);
            }
            node.bodies().into_iter().for_each(|body| go(body, f));
        }
    }
    go(&child.body, &mut |s| {
        n_stores += usize::from(!s.target.indices.is_empty());
        depends |= s.target.indices.iter().any(|index| index.uses(around));
    });
    n_stores > 0 && !depends
}

//! Checks arguments against their parameters.

use super::argument::{Argument, Kind};
use super::lookup::{loop_node, perfect_chain, statement};
use super::registry::TransformationInfo;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::Schedule;
use oxeye_ir::{LoopId, SymId, Var};

/// Checks all arguments of a step against the schedule that it will edit.
pub(super) fn arguments(
    schedule: &Schedule,
    info: &TransformationInfo,
    arguments: &[Argument],
) -> Result<(), Reason> {
    let other = |name: &str| info.position(name).and_then(|k| arguments.get(k));
    for (k, (parameter, argument)) in info.parameters.iter().zip(arguments).enumerate() {
        check(schedule, parameter.kind, argument, &other).map_err(|reason| Reason {
            kind: match reason.kind {
                RefusalKind::BadArgument { .. } => {
                    RefusalKind::BadArgument { argument: parameter.name.into() }
                }
                kind => kind,
            },
            text: format!("argument {}, `{}`: {}", k + 1, parameter.name, reason.text),
        })?;
    }
    Ok(())
}

/// Whether the nest uses a symbol, itself or in the extents of its arrays.
fn is_used(schedule: &Schedule, id: SymId) -> bool {
    let nest = &schedule.nest;
    let arrays = nest.arrays().into_iter().filter_map(|array| schedule.program.arrays.get(&array));
    let mut extents = arrays.flat_map(|array| array.shape.iter().flatten());
    nest.mentions.contains(&id)
        || nest.vars().contains(&Var::Sym(id))
        || extents.any(|e| e.as_affine().is_some_and(|a| a.uses(id)))
}

fn check<'a>(
    schedule: &Schedule,
    kind: Kind,
    argument: &Argument,
    other: &dyn Fn(&str) -> Option<&'a Argument>,
) -> Result<(), Reason> {
    for e in argument.expressions() {
        for (variable, _) in e.terms() {
            if let Var::Sym(id) = variable {
                let Some(symbol) = schedule.program.symbols.get(&id) else {
                    return Err(Reason::new(RefusalKind::NoSuchSymbol, format!("there is no symbol {id}")));
                };
                // Elsewhere in the function the name may not be declared, or mean another variable.
                if !is_used(schedule, id) {
                    let text = format!("the nest does not use `{}`", symbol.name);
                    return Err(Reason::new(RefusalKind::NoSuchSymbol, text));
                }
            }
        }
    }
    match (kind, argument) {
        (Kind::Inside { outer, perfectly }, Argument::Loop(id)) => {
            loop_node(schedule, *id)?;
            let Some(Argument::Loop(outer)) = other(outer) else { return Ok(()) };
            loop_node(schedule, *outer)?;
            inside(schedule, *id, *outer, perfectly)
        }
        (_, Argument::Loop(id)) => loop_node(schedule, *id).map(|_| ()),
        (Kind::Loops, Argument::Loops(ids)) if ids.is_empty() => Err(bad("it has no loops".into())),
        (Kind::Loops, Argument::Loops(ids)) => {
            ids.iter().try_for_each(|id| loop_node(schedule, *id).map(|_| ()))
        }
        (_, Argument::Loops(ids)) => chain(schedule, ids),
        (_, Argument::Statement(id)) => statement(schedule, *id).map(|_| ()),
        (Kind::Count { least, most }, Argument::Number(n)) if !(least..=most).contains(n) => {
            Err(bad(format!("a number from {least} to {most}; got {n}")))
        }
        (Kind::Sizes { of, least, most }, Argument::Numbers(sizes)) => {
            if let Some(Argument::Loops(loops)) = other(of)
                && loops.len() != sizes.len()
            {
                let name = |id: &LoopId| {
                    schedule.iterators.get(id).map_or_else(|| id.to_string(), |i| i.name.clone())
                };
                let names: Vec<String> = loops.iter().map(name).collect();
                return Err(bad(format!("one size a loop; loops {}; got {}", names.join(", "), sizes.len())));
            }
            match sizes.iter().find(|n| !(least..=most).contains(n)) {
                Some(n) => Err(bad(format!("sizes from {least} to {most}; got {n}"))),
                None => Ok(()),
            }
        }
        (Kind::Position { of }, Argument::Position(Some(k))) => {
            let Some(Argument::Loop(id)) = other(of) else { return Ok(()) };
            let n_children = loop_node(schedule, *id)?.body.len();
            if (1..n_children).contains(k) {
                return Ok(());
            }
            let name = schedule.loop_name(*id);
            Err(bad(match n_children {
                0 | 1 => format!("loop {name} has one child and cannot be cut; got {k}"),
                n => format!("a position from 1 to {} among the children of loop {name}; got {k}", n - 1),
            }))
        }
        (_, Argument::Blocks(blocks)) => blocks.check(),
        _ => Ok(()),
    }
}

fn bad(text: String) -> Reason {
    Reason::new(RefusalKind::BadArgument { argument: String::new() }, text)
}

fn inside(schedule: &Schedule, inner: LoopId, outer: LoopId, perfectly: bool) -> Result<(), Reason> {
    let (holds, kind, how) = if perfectly {
        let chain = perfect_chain(schedule, outer);
        (chain[1..].contains(&inner), RefusalKind::NotPerfectlyNested, "perfectly nested in")
    } else {
        let around = |path: &Vec<LoopId>| {
            !path.contains(&inner) || path.iter().take_while(|l| **l != inner).any(|l| *l == outer)
        };
        (inner != outer && schedule.paths().iter().all(around), RefusalKind::NotNested, "inside")
    };
    if holds {
        return Ok(());
    }
    let (inner, outer) = (schedule.loop_name(inner), schedule.loop_name(outer));
    Err(Reason::new(kind, format!("loop {inner} is not {how} loop {outer}")))
}

fn chain(schedule: &Schedule, loops: &[LoopId]) -> Result<(), Reason> {
    let Some(top) = loops.first() else { return Err(bad("it has no loops".into())) };
    for id in loops {
        loop_node(schedule, *id)?;
    }
    if perfect_chain(schedule, *top).starts_with(loops) {
        return Ok(());
    }
    let names: Vec<String> = loops.iter().map(|id| schedule.loop_name(*id)).collect();
    Err(Reason::new(
        RefusalKind::NotPerfectlyNested,
        format!("the loops are not perfectly nested in this order: {}", names.join(", ")),
    ))
}

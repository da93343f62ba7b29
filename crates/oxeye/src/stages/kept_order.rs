//! Nests that could be made faster if their floating-point sums might be added up in another order.

use super::emit::Emitted;
use crate::nest::TunedNest;
use crate::parallel::guarded;
use crate::request::FpPolicy;
use crate::session::Session;
use oxeye_ir::{LoopId, Nest, Node, Program, Update};
use oxeye_transform::{Policy, PreparedNest, suggest_for};
use std::collections::BTreeSet;

/// Nests with less of the program's time are not worth a line.
const LEAST_SHARE: f64 = 0.1;
/// Those that gained more have had their turn.
const ENOUGH_GAIN: f64 = 1.5;

/// A note on nests for which other orders of their sums would be tried, if the flags let them.
pub(super) fn kept_in_order(session: &Session<'_>, emitted: &Emitted) -> Option<String> {
    // Who has asked for the order wants it.
    if session.options.fp != FpPolicy::FromFlags
        || session.options.reassociate()
        || session.options.focus.is_dry
    {
        return None;
    }
    let unit = &emitted.workpiece.unit;
    let nests = emitted.workpiece.nests.iter().enumerate();
    let slow = nests.filter(|(_, nest)| {
        // What is in a group is looked at by itself.
        let is_tried = nest.place.joined == 0 && nest.trials.iter().any(|trial| trial.verdict.was_run());
        let has_gained = nest.winner().is_some_and(|(_, timing)| timing.speedup >= ENOUGH_GAIN);
        is_tried && !has_gained && nest.calls.share.is_none_or(|share| share >= LEAST_SHARE)
    });
    let has_other_orders = |(_, nest): &(usize, &TunedNest)| {
        let (_, program, ir) = nest.place.of(unit);
        if !sums(program, ir) {
            return false;
        }
        let prepared = PreparedNest::new(program, ir);
        let templates = |reassociate: bool| -> BTreeSet<String> {
            let policy = Policy { reassociate, ..session.policy() };
            let found = guarded(|| suggest_for(&prepared, &session.machine(session.threads), policy));
            found
                .map(|found| found.recipes.iter().map(|s| s.template.to_string()).collect())
                .unwrap_or_default()
        };
        !templates(true).is_subset(&templates(false))
    };
    let found: Vec<(usize, &TunedNest)> = slow.filter(has_other_orders).collect();
    // Sums of loops that were opened are those of the loops around them.
    let is_inside = |idx: &usize| found.iter().any(|(_, outer)| outer.place.inside.contains(idx));
    let lines: BTreeSet<u32> =
        found.iter().filter(|(idx, _)| !is_inside(idx)).map(|(_, nest)| nest.place.span.line).collect();
    let file = session.options.file.file_name().unwrap_or_default().to_string_lossy();
    let places: Vec<String> = lines.into_iter().map(|line| format!("{file}:{line}")).collect();
    let (head, them) = match places.as_slice() {
        [] => return None,
        [place] => (format!("{place} adds"), "its"),
        [first @ .., last] => (format!("{} and {last} add", first.join(", ")), "their"),
    };
    Some(format!(
        "{head} up floating-point numbers in order, as the flags ask; where last digits may change, `--fp reassociate` tries other \
         orders of {them} sums"
    ))
}

/// Whether a nest accumulates floating-point numbers over a loop.
fn sums(program: &Program, nest: &Nest) -> bool {
    fn inside(program: &Program, nodes: &[Node], path: &mut Vec<LoopId>) -> bool {
        nodes.iter().any(|node| match node {
            Node::Stmt(s) => {
                let is_sum = matches!(s.update, Update::Add | Update::Sub | Update::Mul);
                let is_float = program.array(s.target.array).element.is_float();
                is_sum
                    && is_float
                    && path.iter().any(|id| !s.target.indices.iter().any(|index| index.uses(*id)))
            }
            Node::If { then, otherwise, .. } => {
                inside(program, then, path) || inside(program, otherwise, path)
            }
            Node::Loop(l) => {
                path.push(l.id);
                let found = inside(program, &l.body, path);
                path.pop();
                found
            }
        })
    }
    inside(program, &nest.roots, &mut Vec::new())
}

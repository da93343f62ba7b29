//! Private scalars in the pieces of loops that were cut.

use super::rewrite::rename_array;
use super::storage::{Use, difference, infeasible, pairs};
use crate::schedule::{Private, Schedule, Tree, packed_contraction_of};
use oxeye_ir::{ArrayId, Execution, LoopId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Gives a private scalar a name of its own in each of neighbouring loops that share none of its elements, such as the
/// pieces of a loop that was cut, and in the pieces of loops inside these: one name for all of them would need an element for every
/// iteration.
pub(super) fn separate(schedule: &mut Schedule) {
    let mut waiting: VecDeque<Private> = schedule.privates.iter().cloned().collect();
    while let Some(private) = waiting.pop_front() {
        let groups = groups(schedule, private.array);
        if groups.len() > 1 {
            waiting.push_back(private.clone());
        }
        for (first, group) in groups.into_iter().skip(1) {
            let array = schedule.program.array(private.array).clone();
            let own = Arc::make_mut(&mut schedule.program).add_array(array);
            schedule.privates.push(Private { array: own, ..private.clone() });
            waiting.push_back(Private { array: own, ..private.clone() });
            for s in group {
                let statement = &mut schedule.statements[s];
                rename_array(Arc::make_mut(&mut statement.node), private.array, own);
                let mut accesses = statement.accesses.to_vec();
                for access in accesses.iter_mut().filter(|access| access.array == private.array) {
                    access.array = own;
                    access.source.array = own;
                }
                statement.accesses = accesses.into();
            }
            rename_reductions(&mut schedule.roots, first, (private.array, own), false);
        }
    }
}

/// The statements that use an array, by the loops below those that all of them share; one group if any statement stands
/// directly in these, or two groups may use the same element.
fn groups(schedule: &Schedule, array: ArrayId) -> Vec<(LoopId, Vec<usize>)> {
    let paths = schedule.paths();
    let uses = |s: &usize| schedule.statements[*s].accesses.iter().any(|a| a.array == array);
    let users: Vec<usize> = (0..paths.len()).filter(uses).collect();
    let Some(first) = users.first() else { return Vec::new() };
    let n_common = users.iter().fold(paths[*first].len(), |n, s| {
        let shared = paths[*first].iter().zip(&paths[*s]).take_while(|(a, b)| a == b).count();
        n.min(shared)
    });
    let mut groups: Vec<(LoopId, Vec<usize>)> = Vec::new();
    for s in users {
        let in_contraction = packed_contraction_of(&schedule.roots, s).is_some();
        let Some(below) = paths[s].get(n_common).filter(|_| !in_contraction) else { return Vec::new() };
        match groups.iter_mut().find(|(l, _)| l == below) {
            Some((_, group)) => group.push(s),
            None => groups.push((*below, vec![s])),
        }
    }
    let of = |group: &[usize]| -> Vec<Use<'_>> {
        let uses = group.iter().map(|s| &schedule.statements[*s]);
        uses.flat_map(|s| s.accesses.iter().filter(|a| a.array == array).map(move |a| (s, a))).collect()
    };
    let apart = groups.iter().enumerate().all(|(k, (_, one))| {
        groups[k + 1..].iter().all(|(_, other)| share_nothing(schedule, &of(one), &of(other)))
    });
    if apart { groups } else { Vec::new() }
}

/// Whether no element is used by both.
fn share_nothing(schedule: &Schedule, one: &[Use<'_>], other: &[Use<'_>]) -> bool {
    one.iter().all(|s| {
        other.iter().all(|t| {
            let both = [*s, *t];
            pairs(schedule, &both, &[], 0).nth(1).is_none_or(|(mut space, mut system, s, t)| {
                for dim in 0..s.1.indices.len() {
                    if let Some((terms, constant)) = difference(&mut space, &mut system, s, t, dim) {
                        system.add_eq(&terms, constant);
                    }
                }
                infeasible(&system)
            })
        })
    })
}

/// Renames an accumulator in the lists of reductions of the loop `below` and those inside it.
fn rename_reductions(trees: &mut [Tree], below: LoopId, renamed: (ArrayId, ArrayId), inside: bool) {
    for tree in trees {
        let Tree::Loop(l) = tree else { continue };
        let inside = inside || l.id == below;
        if let Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } =
            &mut l.execution
            && inside
        {
            reductions.iter_mut().filter(|r| r.array == renamed.0).for_each(|r| r.array = renamed.1);
        }
        rename_reductions(&mut l.body, below, renamed, inside);
    }
}

//! How far nests reach in arrays where numbers from memory decide it, as in `for (k = start[i]; k < start[i + 1]; k++)
//! sum += a[k]`: loops before the nest find it out, so that a test whether pointers overlap is possible.

use super::row_scans::{chain, join, symbols, within};
use super::uses::{Holdings, Use, uses};
use oxeye_binding::{Binding, Reach, RowScan};
use oxeye_ir::{ArrayId, BoundTerm, Expr, Nest, NestId, Program, SymId, held_scalars};
use std::collections::BTreeSet;

/// Adds what finds out how far nests reach in arrays of unknown length that may overlap with others.
pub(crate) fn find_reaches(program: &mut Program, binding: &mut Binding) {
    for id in program.nests.keys().copied().collect::<Vec<NestId>>() {
        let nest = program.nests[&id].clone();
        for array in tested(program, binding, &nest) {
            let mut scans = binding.entry(id).map_or_else(Vec::new, |entry| entry.scans.clone());
            let uses = uses(program, &nest, array, 0);
            let Some((first, last)) = scanned(program, &nest, array, &uses, &mut scans) else { continue };
            let entry = binding.entries.entry(id).or_default();
            entry.scans = scans;
            entry.reaches.push(Reach { array, first, last });
        }
    }
}

/// The arrays of a nest whose ranges a test needs that nothing else tells.
fn tested(program: &Program, binding: &Binding, nest: &Nest) -> Vec<ArrayId> {
    let accesses = nest.accesses();
    let used: BTreeSet<ArrayId> = accesses.iter().map(|(a, _)| a.array).collect();
    let written: BTreeSet<ArrayId> = accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
    let pairs = || program.may_alias.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
    let is_tested = |id: ArrayId| {
        pairs().any(|(a, b)| a == id && used.contains(&b) && (written.contains(&a) || written.contains(&b)))
    };
    let is_open = |id: &ArrayId| {
        let ranges = nest.widest_ranges(&held_scalars(nest, program), &|other| other == *id);
        program.array(*id).shape.first() == Some(&None)
            && binding.row_test(nest.id, *id).is_none()
            && ranges.iter().any(|found| !matches!(found.indices.first(), Some(Some(_))))
    };
    used.iter().copied().filter(|id| is_tested(*id) && is_open(id)).collect()
}

/// Whether memory that the nest may write under another name decides what a use reads: that memory may not be set before.
fn leads_astray(holdings: &Holdings<'_>, u: &Use) -> bool {
    let in_bounds =
        u.loops.iter().flat_map(|l| l.lower.0.iter().chain(&l.upper.0)).filter_map(|term| match term {
            BoundTerm::Data(e) => Some(e),
            BoundTerm::Affine { .. } | BoundTerm::Open => None,
        });
    let in_guards = u.guards.iter().map(|(guard, _)| guard);
    let within_indices = u.indices.iter().flat_map(Expr::reads).flat_map(|access| &access.indices);
    in_bounds.chain(in_guards).chain(within_indices).any(|e| holdings.may_be_written(e))
}

/// Symbols for the first and the last index of an array's first dimension, if all uses of it can be found out beforehand.
fn scanned(
    program: &mut Program,
    nest: &Nest,
    array: ArrayId,
    uses: &[Use],
    scans: &mut Vec<RowScan>,
) -> Option<(SymId, SymId)> {
    let holdings = Holdings::of(program, nest);
    if uses.iter().any(|u| u.n_unknown > 0 || leads_astray(&holdings, u)) {
        return None;
    }
    let mut found = Vec::new();
    let ends = symbols(program, "element", array);
    for u in uses {
        let index = u.indices.first()?;
        let (u, low, high) = match index.as_affine() {
            Some(_) => within(u, index)?,
            None => (u.clone(), index.clone(), index.clone()),
        };
        join(chain(u, vec![(ends, low, high)])?, &mut found);
    }
    found.into_iter().for_each(|scan| join(scan, scans));
    Some(ends)
}

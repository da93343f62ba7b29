//! How far nests reach in arrays where numbers from memory decide it, as in `for (k = start[i]; k < start[i + 1]; k++)
//! sum += a[k]` and `force[list[k]] += f`: loops before the nest find it out, so that a test whether pointers overlap is
//! possible, and threads can have parts of their own of what they accumulate into.

use super::row_scans::{chain, join, symbols, within};
use super::uses::{Holdings, Use, uses};
use oxeye_binding::{Binding, Reach, RowScan};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, BoundTerm, Expr, Form, LoopId, Nest, NestId, Program, Stmt, SymId,
    Update, held_scalars,
};
use std::collections::BTreeSet;

/// Adds what finds out how far nests reach in arrays of unknown length that may overlap with others, or that they accumulate into.
pub(crate) fn find_reaches(program: &mut Program, binding: &mut Binding) {
    for id in program.nests.keys().copied().collect::<Vec<NestId>>() {
        let nest = program.nests[&id].clone();
        let accumulators = accumulators(program, &nest);
        let tested = tested(program, &nest);
        let is_open = |id: &ArrayId| is_open(program, binding, &nest, *id);
        let open: BTreeSet<ArrayId> = tested.union(&accumulators).copied().filter(is_open).collect();
        let summed: BTreeSet<ArrayId> =
            accumulators.iter().copied().filter(|id| open.contains(id) && only_sums(&nest, *id)).collect();
        let all = if summed.is_empty() { Vec::new() } else { nest.arrays() };
        let all: Vec<Use> = all.into_iter().flat_map(|id| uses(program, &nest, id, 0)).collect();
        for array in open {
            let mut scans = binding.entry(id).map_or_else(Vec::new, |entry| entry.scans.clone());
            let mut uses = uses(program, &nest, array, 0);
            if summed.contains(&array) {
                uses.iter_mut().for_each(|u| u.widen(&all));
            }
            let Some((first, last)) = scanned(program, &nest, array, &uses, &mut scans) else { continue };
            let entry = binding.entries.entry(id).or_default();
            entry.scans = scans;
            entry.reaches.push(Reach { array, first, last });
            if accumulators.contains(&array) {
                program.nests[&id].bounded.push(array);
            }
        }
    }
}

/// The arrays into which a nest accumulates elements that numbers from memory decide.
fn accumulators(program: &Program, nest: &Nest) -> BTreeSet<ArrayId> {
    let scattered = |s: &&Stmt| {
        let by_data = |index: &Expr| !index.reads().is_empty();
        s.update.is_reduction() && s.target.indices.first().is_some_and(by_data)
    };
    let arrays: BTreeSet<ArrayId> =
        nest.stmts().into_iter().filter(scattered).map(|s| s.target.array).collect();
    arrays.into_iter().filter(|id| !matches!(program.array(*id).form, Form::Leading(_))).collect()
}

/// Whether a nest does nothing with an array but add to it and take away: then it does not matter if more elements are taken to be
/// used than are.
fn only_sums(nest: &Nest, array: ArrayId) -> bool {
    let sums = |s: &&Stmt| s.target.array == array && matches!(s.update, Update::Add | Update::Sub);
    // Each loads and stores its target.
    let n_accesses = nest.accesses().into_iter().filter(|(access, _)| access.array == array).count();
    2 * nest.stmts().into_iter().filter(sums).count() == n_accesses
}

impl Use {
    /// Leaves out the conditions under which an element is used, where the same index, or the numbers from memory in it, lead to
    /// another array's elements without them: so they are read there, and mean something.
    fn widen(&mut self, others: &[Use]) {
        // A condition may be what keeps it from dividing by zero.
        if self.indices.iter().any(may_divide_by_zero) {
            return;
        }
        let reads = |e: &Expr| -> Vec<Access> { e.reads().into_iter().cloned().collect() };
        let own: Vec<Access> = self.indices.iter().flat_map(reads).collect();
        let first = self.indices.first().cloned();
        let loops = |u: &Use| -> Vec<LoopId> { u.loops.iter().map(|l| l.id).collect() };
        let leads_there = |other: &&Use| {
            let there: Vec<Access> = other.indices.iter().flat_map(reads).collect();
            let is_same = first.as_ref().is_some_and(|index| other.indices.contains(index));
            other.n_unknown == 0
                && (is_same || !own.is_empty())
                && loops(other) == loops(self)
                && self.guards.starts_with(&other.guards)
                && own.iter().all(|read| there.contains(read))
        };
        let Some(other) = others.iter().filter(leads_there).min_by_key(|other| other.guards.len()) else {
            return;
        };
        let there: Vec<Access> = other.indices.iter().flat_map(reads).collect();
        let is_cheap = |(guard, _): &(Expr, usize)| {
            reads(guard).iter().all(|read| there.contains(read)) && !may_divide_by_zero(guard)
        };
        let n_kept = other.guards.len();
        let kept: Vec<_> = self.guards.drain(n_kept..).filter(is_cheap).collect();
        self.guards.extend(kept);
        self.loops.clone_from(&other.loops);
        self.n_unknown = 0;
    }
}

/// Whether an expression divides by anything but a number.
fn may_divide_by_zero(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| {
        if let Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) = e {
            found |= by.as_affine().and_then(Affine::as_constant).is_none_or(|by| by == 0);
        }
    });
    found
}

/// Whether nothing tells how far a nest reaches in an array.
fn is_open(program: &Program, binding: &Binding, nest: &Nest, id: ArrayId) -> bool {
    let ranges = nest.widest_ranges(&held_scalars(nest, program), &|other| other == id);
    program.array(id).shape.first() == Some(&None)
        && binding.row_test(nest.id, id).is_none()
        && ranges.iter().any(|found| !matches!(found.indices.first(), Some(Some(_))))
}

/// The arrays of a nest whose ranges a test needs.
fn tested(program: &Program, nest: &Nest) -> BTreeSet<ArrayId> {
    let accesses = nest.accesses();
    let used: BTreeSet<ArrayId> = accesses.iter().map(|(a, _)| a.array).collect();
    let written: BTreeSet<ArrayId> = accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
    let pairs = || program.may_alias.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
    let is_tested = |id: ArrayId| {
        pairs().any(|(a, b)| a == id && used.contains(&b) && (written.contains(&a) || written.contains(&b)))
    };
    used.iter().copied().filter(|id| is_tested(*id)).collect()
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
            Some(_) => within(u, index).unwrap_or_else(|| (u.clone(), index.clone(), index.clone())),
            None => (u.clone(), index.clone(), index.clone()),
        };
        join(program, chain(u, vec![(ends, low, high)])?, &mut found);
    }
    found.into_iter().for_each(|scan| join(program, scan, scans));
    Some(ends)
}

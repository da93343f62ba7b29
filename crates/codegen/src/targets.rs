//! Targets of loops that accumulate concurrently.

use crate::context::{Context, is_identifier};
use crate::expand::{Item, all_accesses, collect_loops, constant_shape};
use oxeye_binding::{Binding, View};
use oxeye_ir::{Access, Array, ArrayId, Expr, Form, Loop, Reduction, Storage};
use std::collections::BTreeSet;

/// Size above which arrays are not copied to every thread's stack.
const MAX_STACK_BYTES: i64 = 64 * 1024;

/// The form of a reduction's target in the loop.
pub(crate) enum Target {
    /// A few elements throughout, apart from each other.
    Elements(Vec<Access>),
    /// A scalar.
    Scalar,
    /// A small array that does not stand in the file.
    Section,
    /// An array that may be large, or stands in the file, or of which only the run knows what the loop uses.
    Parts,
    /// Nothing that can be combined.
    Unknown,
}

/// Whether an access touches one element during the whole loop.
fn is_fixed(access: &Access, header: &Loop, body: &[Item]) -> bool {
    let mut loops = BTreeSet::from([header.id]);
    collect_loops(body, &mut loops);
    access.indices.iter().all(|e| e.reads().is_empty() && loops.iter().all(|l| !e.uses(*l)))
}

/// Whether no two of some accesses touch the same element.
fn are_apart(elements: &[Access]) -> bool {
    let differ = |(a, b): (&Expr, &Expr)| match (a.as_affine(), b.as_affine()) {
        (Some(a), Some(b)) => (a.clone() - b.clone()).as_constant().is_some_and(|distance| distance != 0),
        _ => false,
    };
    let is_apart =
        |(k, a): (usize, &Access)| elements[..k].iter().all(|b| a.indices.iter().zip(&b.indices).any(differ));
    elements.iter().enumerate().all(is_apart)
}

/// The form of the target `array` of a reduction in the loop.
pub(crate) fn target(binding: &Binding, array: &Array, header: &Loop, body: &[Item]) -> Target {
    if array.shape.is_empty() {
        return Target::Scalar;
    }
    let accesses: Vec<&Access> = all_accesses(body).into_iter().filter(|a| a.array == array.id).collect();
    let mut elements: Vec<Access> = Vec::new();
    for access in accesses {
        if !elements.contains(access) {
            elements.push(access.clone());
        }
    }
    let are_fixed = !elements.is_empty() && elements.iter().all(|a| is_fixed(a, header, body));
    if elements.len() == 1 && are_fixed {
        return Target::Elements(elements);
    }
    let bytes = constant_shape(array).and_then(|shape| {
        let size = i64::try_from(array.element.bytes()).ok()?;
        shape.iter().try_fold(size, |p, n| p.checked_mul(*n))
    });
    // Clang 19 loses sums into sections of arrays that stand in the file: one in some thousand runs is wrong.
    let is_of_file = array.storage == Storage::Global && is_identifier(&array.name);
    let is_member = binding.views.get(&array.id).is_some_and(View::is_interleaved);
    match (bytes, array.shape.as_slice()) {
        _ if matches!(array.form, Form::Leading(_)) => Target::Unknown,
        (Some(b), _) if b <= MAX_STACK_BYTES && !is_of_file && !is_member => Target::Section,
        _ if are_fixed && are_apart(&elements) => Target::Elements(elements),
        (_, [_, rest @ ..]) if rest.iter().all(Option::is_some) => Target::Parts,
        _ => Target::Unknown,
    }
}

/// The arrays for which a parallel loop needs heap memory in every thread.
pub(crate) fn arrays_with_parts(
    cx: &Context,
    header: &Loop,
    body: &[Item],
    reductions: &[Reduction],
) -> Vec<ArrayId> {
    let needs = |id: ArrayId| {
        let array = cx.program.arrays.get(&id)?;
        let touched = all_accesses(body).iter().any(|a| a.array == id);
        let in_registers = cx.registers.contains_key(&id);
        (touched && !in_registers && matches!(target(cx.binding, array, header, body), Target::Parts))
            .then_some(id)
    };
    reductions.iter().filter_map(|r| needs(r.array)).collect()
}

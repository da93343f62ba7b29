//! Targets of loops that accumulate concurrently.

use crate::context::Context;
use crate::expand::{Item, all_accesses, collect_loops, constant_shape};
use oxeye_ir::{Access, Array, ArrayId, Form, Loop, Reduction};
use std::collections::BTreeSet;

/// Size above which arrays are not copied to every thread's stack.
const MAX_STACK_BYTES: i64 = 64 * 1024;

/// The form of a reduction's target in the loop.
pub(crate) enum Target {
    /// One element throughout.
    Element(Access),
    /// A scalar.
    Scalar,
    /// A small array.
    Section,
    /// A one-dimensional array that may be large.
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

/// The form of the target `array` of a reduction in the loop.
pub(crate) fn target(array: &Array, header: &Loop, body: &[Item]) -> Target {
    if array.shape.is_empty() {
        return Target::Scalar;
    }
    let accesses: Vec<&Access> = all_accesses(body).into_iter().filter(|a| a.array == array.id).collect();
    if let Some(first) = accesses.first()
        && accesses.iter().all(|a| a == first)
        && is_fixed(first, header, body)
    {
        return Target::Element((*first).clone());
    }
    let bytes = constant_shape(array).and_then(|shape| {
        let size = i64::try_from(array.element.bytes()).ok()?;
        shape.iter().try_fold(size, |p, n| p.checked_mul(*n))
    });
    match (bytes, array.shape.as_slice()) {
        _ if matches!(array.form, Form::Leading(_)) => Target::Unknown,
        (Some(b), _) if b <= MAX_STACK_BYTES => Target::Section,
        (_, [Some(_)]) => Target::Parts,
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
        (touched && !in_registers && matches!(target(array, header, body), Target::Parts)).then_some(id)
    };
    reductions.iter().filter_map(|r| needs(r.array)).collect()
}

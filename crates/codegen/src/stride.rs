//! What is invariant between lanes of a vector loop, and how accesses move.

use oxeye_ir::{Access, ArrayId, Bound, BoundTerm, Expr, LoopId};
use std::collections::BTreeSet;

/// Whether a bound's value is the same for all values of a loop iterator and of the given scalars.
pub(crate) fn bound_is_invariant(bound: &Bound, id: LoopId, varying: &BTreeSet<ArrayId>) -> bool {
    bound.0.iter().all(|t| match t {
        BoundTerm::Affine { expr, .. } => !expr.uses(id),
        BoundTerm::Data(e) => is_invariant(e, id, varying),
        BoundTerm::Open => false,
    })
}

/// Whether an expression has the same value in all lanes.
pub(crate) fn is_invariant(e: &Expr, id: LoopId, varying: &BTreeSet<ArrayId>) -> bool {
    !e.uses(id) && e.reads().iter().all(|a| !varying.contains(&a.array))
}

/// The movement of an access between lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stride {
    /// All lanes touch the same element.
    Zero,
    /// Adjacent lanes touch adjacent elements.
    One,
}

/// The stride of an access in a vector loop, if it is 0 or 1.
pub(crate) fn stride(access: &Access, id: LoopId, varying: &BTreeSet<ArrayId>) -> Option<Stride> {
    if access.indices.iter().all(|e| is_invariant(e, id, varying)) {
        return Some(Stride::Zero);
    }
    let (last, others) = access.indices.split_last()?;
    let ok = others.iter().all(|e| is_invariant(e, id, varying)) && last.as_affine()?.coefficient(id) == 1;
    ok.then_some(Stride::One)
}

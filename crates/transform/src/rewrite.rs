//! The changes that normalization makes besides reordering statement instances, and why each keeps the values.
//!
//! Changes of order are checked by the judge. The rewrites listed here change values, memory or iteration spaces; each
//! entry says what its pass in [`crate::normalize`] establishes first, and why that is enough.

use serde::{Deserialize, Serialize};

/// A kind of rewrite that is not a change of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rewrite {
    /// `s = e; … use(s)` → `… use(e)` for a scalar with one definition and one use in the text.
    ///
    /// *Established*: both are in one list of nodes, which contains every use of `s`; after the definition nothing in
    /// the list writes an array that `e` reads, except one assignment of the list itself, which is the use and reads
    /// before it writes. *Proof*: between the definition and any evaluation of the use, only nodes of the list after
    /// the definition run, in the same iteration of the loops around it. So the operands of `e` still have their
    /// values, `e` has the same value, converted to the type of `s`, and nothing else reads `s`.
    ForwardSubstitution,
    /// `s = 0; for k: s += e; c[i] = s` → `c[i] = 0; for k: c[i] += e`.
    ///
    /// *Established*: the first and last use of `s` in the list of nodes that contains all of them are a plain
    /// assignment to `s` and an assignment of `s` to `c[i]`, both statements of the list; no iterator inside the list
    /// occurs in `i`, which is affine; `c` is not accessed otherwise in the list, except that the first may load that
    /// very element; both have one type. *Proof*: from the first to the last statement, `c[i]` is one element that
    /// nothing reads or writes, and it is overwritten at the end in any case. It can hold the value of `s` meanwhile;
    /// after the last statement `s` is dead.
    ///
    /// The same for a scratch array, `for j: c[i + j] = s[j]` at the end (`normalize::scratch`). *Established*: these loops go
    /// over the whole of `s`, in which no iteration of the loops around reads what another one left; different `j` are different
    /// elements of `c`, which is not accessed otherwise in the list; all indices of `s` are affine.
    AccumulationInPlace,
    /// `for j: s[j] = 0; for k: for j: s[j] += e; for j: c[i + j] += s[j]` → `for k: for j: c[i + j] += e`, where floating point may
    /// be reassociated.
    ///
    /// *Established*: as for an accumulation in place, and all that is done with `s` in between is to add to it. *Proof*: a sum
    /// has the same value in any order.
    SumInPlace,
    /// `x[…]` → `x[i, …]` for a scratch array and loops `i` around all its uses.
    ///
    /// *Established*: `x` is not read after the nest, and the exact test finds, for every read, a write of the same
    /// element that always runs before it in the same iteration of `i` (`normalize::expand`). *Proof*: a read never
    /// sees what another iteration of `i` wrote, so each may have its own copy.
    ArrayExpansion,
    /// `t = 0; t += a * e; … t …` → `t = 0; t += e; … a * t …`, where floating point may be reassociated.
    ///
    /// *Established*: `t` is scratch and starts from zero before every use; everything added to it has the factors `a`,
    /// which the nest does not write; and every use is an operand of a value. *Proof*: `Σ a·e = a·Σ e`.
    FactorsToUses,
    /// A store that is never read is removed.
    ///
    /// *Established*: the array is scratch, and only the statement itself reads it. *Proof*: nothing else depends on
    /// its elements, and they are not read after the nest.
    DeadStore,
    /// `x = e; x = f(x)` → `x = f(e)`, element by element.
    ///
    /// *Established*: the judge finds that the second statement may run directly after the first for the same element,
    /// both visit the same elements once each, and no other element of the array is read. *Proof*: side by side, the
    /// second reads what the first has just written, converted to the element's type.
    UpdatesMerged,
    /// An iteration on its own next to the loop over the others is put back into it.
    ///
    /// *Established*: it has the text of the loop's next (or previous) iteration, the judge finds that it may stand
    /// next to the loop, and the loop's range is never negative. *Proof*: the longer loop runs the same instances in
    /// the same order.
    PeeledIteration,
    /// A loop over buffers `(t + c) % k` is unrolled by `k`.
    ///
    /// *Established*: the number of iterations is a known multiple of `k`, the iterator occurs nowhere else, and `t +
    /// c` is never negative. *Proof*: iteration `k·q + r` accesses the buffer `(start + r + c) % k`, whatever `q`; the
    /// order is the same.
    BuffersNamed,
    /// Loops start at zero; those that run once are replaced by their body, those that never run are removed.
    ///
    /// *Established*: bounds are affine, and the number of iterations or the start is a known constant. *Proof*: the
    /// iterator is replaced by its old value everywhere inside.
    IterationSpace,
    /// A scalar that is private to several loops becomes a separate scalar in each.
    ///
    /// *Established*: in every iteration of that loop, the first access is an unconditional write (`import`). *Proof*:
    /// no iteration reads what another wrote.
    PrivateScalars,
    /// Constants take the type of their use, operands of `+` and `*` are put in order, `x = x + e` becomes `x += e`,
    /// and a guard on the very element it protects becomes a selection.
    ///
    /// *Proof*: IEEE 754 addition and multiplication commute bit for bit, constants are converted only where that is
    /// exact, and a selection writes back what it read.
    Spelling,
    /// Sums of products become polynomials, and values added to a sum are added term by term, where floating point may
    /// be reassociated.
    ///
    /// *Proof*: the laws of a commutative ring; divisors stay divisors.
    Polynomials,
}

impl Rewrite {
    /// Every kind.
    pub const ALL: [Rewrite; 13] = [
        Rewrite::ForwardSubstitution,
        Rewrite::AccumulationInPlace,
        Rewrite::SumInPlace,
        Rewrite::ArrayExpansion,
        Rewrite::FactorsToUses,
        Rewrite::DeadStore,
        Rewrite::UpdatesMerged,
        Rewrite::PeeledIteration,
        Rewrite::BuffersNamed,
        Rewrite::IterationSpace,
        Rewrite::PrivateScalars,
        Rewrite::Spelling,
        Rewrite::Polynomials,
    ];

    /// Whether results may differ in the last bits, so the policy must allow it.
    pub fn reassociates(self) -> bool {
        matches!(self, Rewrite::SumInPlace | Rewrite::FactorsToUses | Rewrite::Polynomials)
    }
}

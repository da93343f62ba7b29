//! The changes that normalization makes besides reordering statement instances, and why each keeps the values.
//!
//! Changes of order are checked by the judge ([`super::arrange`] and [`super::merge`] call it). The rewrites listed
//! here change values, memory or iteration spaces; each entry says what its pass establishes first, and why that is
//! enough. Passes that claim to keep the order are checked by [`runs_in_place`].

use oxeye_ir::{Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, StmtId};
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
    AccumulationInPlace,
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
    pub const ALL: [Rewrite; 12] = [
        Rewrite::ForwardSubstitution,
        Rewrite::AccumulationInPlace,
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
        matches!(self, Rewrite::FactorsToUses | Rewrite::Polynomials)
    }
}

/// What passes have done: the rewrite and a message.
pub(super) type Done = Vec<(Rewrite, String)>;

/// A loop or guard around a statement. All of them, outermost first, decide whether and when it runs.
#[derive(Clone, Debug, PartialEq)]
enum Around {
    Loop(LoopId, Bound, Bound, i64),
    Guard(Expr, bool),
}

/// Statements in textual order, each with what is around it.
fn places(nodes: &[Node], around: &mut Vec<Around>, found: &mut Vec<(StmtId, Vec<Around>)>) {
    for node in nodes {
        match node {
            Node::Stmt(s) => found.push((s.id, around.clone())),
            Node::Loop(l) => {
                let Loop { id, lower, upper, step, body, .. } = l;
                around.push(Around::Loop(*id, lower.clone(), upper.clone(), *step));
                places(body, around, found);
                around.pop();
            }
            Node::If { condition, then, otherwise } => {
                for (body, holds) in [(then, true), (otherwise, false)] {
                    around.push(Around::Guard(condition.clone(), holds));
                    places(body, around, found);
                    around.pop();
                }
            }
        }
    }
}

/// Checks a pass that claims to keep the order: the map from its instances to those before is the identity on the
/// iterators of every remaining statement, and no two statements change places.
///
/// # Errors
/// The statement that runs elsewhere.
pub(super) fn runs_in_place(before: &Nest, after: &Nest) -> Result<(), String> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    places(&before.roots, &mut Vec::new(), &mut old);
    places(&after.roots, &mut Vec::new(), &mut new);
    let mut rest = old.into_iter();
    for (id, around) in new {
        let Some((_, own)) = rest.find(|(o, _)| *o == id) else {
            return Err(format!("{id} would change its place"));
        };
        if own.len() != around.len() || !own.iter().zip(&around).all(|(old, new)| is_same(old, new)) {
            return Err(format!("{id} would run in other loops"));
        }
    }
    Ok(())
}

/// Whether a loop or guard is the same as before. Parts that read memory may be spelt differently, such as with the
/// value of a scalar.
fn is_same(old: &Around, new: &Around) -> bool {
    let has_data = |bound: &Bound| bound.0.iter().any(|t| matches!(t, BoundTerm::Data(_)));
    match (old, new) {
        (Around::Loop(l, from, to, step), Around::Loop(m, lower, upper, other)) => {
            l == m && step == other && [(from, lower), (to, upper)].iter().all(|(x, y)| x == y || has_data(x))
        }
        (Around::Guard(x, holds), Around::Guard(y, other)) => {
            holds == other && (x == y || !x.reads().is_empty())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::Program;

    fn nest(body: &str) -> Nest {
        let text = format!(
            "program f {{
               symbol P0 n: i32
               array A0 a: f64[n] param
               array A1 b: f64[n] param
               dataflow {{ N0 }}
               nest N0 in f {{ {body} }}
             }}"
        );
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        program.nests[0].clone()
    }

    #[test]
    fn statements_may_go_but_not_move() {
        let before = nest("for L0 i: i32 in 0 .. n { S0: a[i] = 1.0 S1: b[i] = a[i] S2: a[i] = 2.0 }");
        let without = nest("for L0 i: i32 in 0 .. n { S0: a[i] = 1.0 S2: a[i] = 2.0 }");
        assert_eq!(runs_in_place(&before, &before), Ok(()));
        assert_eq!(runs_in_place(&before, &without), Ok(()));
        let swapped = nest("for L0 i: i32 in 0 .. n { S1: b[i] = a[i] S0: a[i] = 1.0 }");
        assert!(runs_in_place(&before, &swapped).is_err_and(|e| e.contains("S0")));
        let shorter = nest("for L0 i: i32 in 1 .. n { S0: a[i] = 1.0 }");
        assert!(runs_in_place(&before, &shorter).is_err_and(|e| e.contains("other loops")));
        let guarded = nest("for L0 i: i32 in 0 .. n { if i < 3 { S0: a[i] = 1.0 } }");
        assert!(runs_in_place(&before, &guarded).is_err());
        let by_data = nest("for L0 i: i32 in 0 .. n { if b[i] < 3.0 { S0: a[i] = 1.0 } }");
        assert_eq!(runs_in_place(&by_data, &guarded), Ok(()));
        let unknown = nest("for L0 i: i32 in 0 .. n { S7: a[i] = 1.0 }");
        assert!(runs_in_place(&before, &unknown).is_err());
    }
}

//! The order in which the terms of an affine expression are added up.

use oxeye_ir::{Affine, Var};

/// A part of a sum: so many times a variable, or the difference of two.
pub(crate) struct Summand {
    pub(crate) by: i64,
    pub(crate) of: Var,
    /// What is subtracted from the variable before it is multiplied.
    pub(crate) less: Option<Var>,
}

/// The terms of an affine expression in the order in which they are added up. What is subtracted as often as something is added
/// stands beside it: counters that begin far from zero are used as differences, `7 * (i - first) + j`, and nothing that is larger
/// should be computed on the way.
pub(crate) fn summands(a: &Affine) -> Vec<Summand> {
    let mut less: Vec<(Var, i64)> = a.terms().filter(|(_, c)| *c < 0).collect();
    let mut found = Vec::new();
    for (of, by) in a.terms().filter(|(_, c)| *c > 0) {
        let same = less.iter().position(|(_, c)| *c == -by);
        found.push(Summand { by, of, less: same.map(|at| less.remove(at).0) });
    }
    found.extend(less.into_iter().map(|(of, by)| Summand { by, of, less: None }));
    found
}

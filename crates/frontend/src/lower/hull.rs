//! The least and the greatest index of rows behind pointers over all uses, as expressions of symbols.

use super::uses::Use;
use oxeye_ir::{Affine, BinaryOp, Expr, Loop, Var};

/// A value that is the greatest of these, where it is a least index, or the least of these, where it is a greatest one: a
/// loop may have several bounds.
pub(super) type End = Vec<Affine>;

/// The values among which the least and the greatest index of a dimension are, as expressions of symbols.
pub(super) struct Ends {
    pub(super) low: Vec<End>,
    pub(super) high: Vec<End>,
}

/// Values of which nobody knows beforehand which is the least.
const MOST_ENDS: usize = 4;

impl Ends {
    /// The two of them, if there is just one of each.
    pub(super) fn single(&self) -> Option<(&Affine, &Affine)> {
        match (self.low.as_slice(), self.high.as_slice()) {
            ([low], [high]) => Some((only(low)?, only(high)?)),
            _ => None,
        }
    }

    pub(super) fn ranges(self) -> Option<(Expr, Expr)> {
        let join = |values: Vec<Expr>, op| {
            values.into_iter().reduce(|a, b| Expr::Binary(op, Box::new(a), Box::new(b)))
        };
        let fold = |ends: Vec<End>, op, inner| {
            let ends = ends.into_iter().map(|end| join(end.into_iter().map(Expr::from).collect(), inner));
            join(ends.collect::<Option<Vec<_>>>()?, op)
        };
        Some((fold(self.low, BinaryOp::Min, BinaryOp::Max)?, fold(self.high, BinaryOp::Max, BinaryOp::Min)?))
    }
}

pub(super) fn only(end: &End) -> Option<&Affine> {
    match end.as_slice() {
        [a] => Some(a),
        _ => None,
    }
}

/// The least and greatest index of a dimension over all uses.
pub(super) fn hull(uses: &[&Use], d: usize) -> Option<Ends> {
    let n_dims = uses.first()?.indices.len();
    let end = |is_low: bool| {
        let mut found: Vec<End> = Vec::new();
        for u in uses.iter().filter(|u| !u.is_of_row || d + 1 < n_dims) {
            let value = extreme(u.indices.get(d)?.as_affine()?, &u.loops(), is_low)?;
            let beats = |a: &End, b: &End| match (only(a), only(b)) {
                (Some(a), Some(b)) => (a.clone() - b.clone())
                    .as_constant()
                    .is_some_and(|d| if is_low { d <= 0 } else { d >= 0 }),
                _ => a == b,
            };
            if !found.iter().any(|known| beats(known, &value)) {
                found.retain(|known| !beats(&value, known));
                found.push(value);
            }
        }
        (found.len() <= MOST_ENDS).then_some(found)
    };
    Some(Ends { low: end(true)?, high: end(false)? })
}

/// The least or greatest value over the loops.
fn extreme(a: &Affine, loops: &[&Loop], is_low: bool) -> Option<End> {
    let mut end = vec![a.clone()];
    for l in loops.iter().rev() {
        let put = |a: Affine| -> Option<Vec<Affine>> {
            let (bound, offset) = match a.coefficient(l.id) {
                0 => return Some(vec![a]),
                c if (c > 0) == is_low => (&l.lower, 0),
                _ => (&l.upper, -1),
            };
            let terms = bound.0.iter().map(|term| Some(term.as_affine()?.clone().offset(offset)));
            terms.map(|t| t.map(|t| a.substitute(&|v| (v == Var::Loop(l.id)).then(|| t.clone())))).collect()
        };
        end = end.into_iter().map(put).collect::<Option<Vec<_>>>()?.concat();
    }
    // The greatest, or least, is none of those that are surely beaten.
    let mut distinct: Vec<Affine> = Vec::new();
    for a in end {
        let beats = |a: &Affine, b: &Affine| {
            let distance = (a.clone() - b.clone()).as_constant();
            distance.is_some_and(|d| if is_low { d >= 0 } else { d <= 0 })
        };
        if !distinct.iter().any(|known| beats(known, &a)) {
            distinct.retain(|known| !beats(&a, known));
            distinct.push(a);
        }
    }
    let end = distinct;
    let is_known = end.len() <= MOST_ENDS && end.iter().all(|a| a.loops().next().is_none());
    is_known.then_some(end)
}

/// The same, if it is one value.
pub(super) fn sole_extreme(a: &Affine, loops: &[&Loop], is_low: bool) -> Option<Affine> {
    only(&extreme(a, loops, is_low)?).cloned()
}

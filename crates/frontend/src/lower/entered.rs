//! Conditions that hold if nested loops are entered.

use oxeye_ir::{Affine, BinaryOp, Expr, Loop, Var};

/// Iterators and their values.
pub(super) type Values = Vec<(Var, Affine)>;

/// Comparisons that hold only if each of these nested loops is entered where those around it have their least value
/// (`true`) or their greatest; and those values.
pub(super) fn entered(loops: &[&Loop], are_least: &[bool]) -> Option<(Vec<Expr>, Values)> {
    let mut values = Values::new();
    let mut conditions = Vec::new();
    for (l, is_least) in loops.iter().zip(are_least) {
        let put = |a: &Affine| {
            a.substitute(&|v| values.iter().find(|(w, _)| *w == v).map(|(_, value)| value.clone()))
        };
        let (lower, upper) = (put(l.lower.as_affine()?), put(l.upper.as_affine()?));
        match (upper.clone() - lower.clone()).as_constant() {
            Some(n) if n > 0 => {}
            Some(_) => return None,
            None => {
                let (l, r) = (Expr::Affine(lower.clone()), Expr::Affine(upper.clone()));
                conditions.push(Expr::Binary(BinaryOp::Lt, Box::new(l), Box::new(r)));
            }
        }
        let value = match (is_least, l.step) {
            (true, 1..) | (true, -1) => lower,
            (false, ..=-1) | (false, 1) => upper.offset(-1),
            _ => return None,
        };
        values.push((l.id.into(), value));
    }
    Some((conditions, values))
}

/// Comparisons that hold only if each of these loops is entered in the first iteration of those around it, or each in
/// the last.
pub(super) fn first_or_last(loops: &[&Loop]) -> Option<Vec<Expr>> {
    [true, false].into_iter().find_map(|is_first| {
        let are_least: Vec<bool> = loops.iter().map(|l| is_first == (l.step > 0)).collect();
        Some(entered(loops, &are_least)?.0)
    })
}

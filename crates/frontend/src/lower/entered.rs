//! Conditions that hold if nested loops are entered.

use oxeye_ir::{Affine, BinaryOp, Bound, Expr, Loop, Var};

/// Iterators and their values.
pub(super) type Values = Vec<(Var, Affine)>;

/// Comparisons that hold only if each of these nested loops is entered where those around it have their least value
/// (`true`) or their greatest; and those values, as far as they have a single bound.
pub(super) fn entered(loops: &[&Loop], are_least: &[bool]) -> Option<(Vec<Expr>, Values)> {
    let mut values = Values::new();
    let mut conditions = Vec::new();
    for (l, is_least) in loops.iter().zip(are_least) {
        let put = |a: &Affine| {
            a.substitute(&|v| values.iter().find(|(w, _)| *w == v).map(|(_, value)| value.clone()))
        };
        let ends = |bound: &Bound| -> Option<Vec<Affine>> {
            bound.0.iter().map(|term| Some(put(term.as_affine()?))).collect()
        };
        let (lowers, uppers) = (ends(&l.lower)?, ends(&l.upper)?);
        for (lower, upper) in lowers.iter().flat_map(|lower| uppers.iter().map(move |upper| (lower, upper))) {
            match (upper.clone() - lower.clone()).as_constant() {
                Some(n) if n > 0 => {}
                Some(_) => return None,
                None if [lower, upper].iter().any(|end| end.loops().next().is_some()) => return None,
                None => {
                    let (l, r) = (Expr::Affine(lower.clone()), Expr::Affine(upper.clone()));
                    conditions.push(Expr::Binary(BinaryOp::Lt, Box::new(l), Box::new(r)));
                }
            }
        }
        // Which of several bounds is the least is known to nobody.
        let value = match (is_least, l.step, lowers.as_slice(), uppers.as_slice()) {
            (true, 1.., [lower], _) | (true, -1, [lower], _) => lower.clone(),
            (false, ..=-1, _, [upper]) | (false, 1, _, [upper]) => upper.clone().offset(-1),
            (true, 1.. | -1, ..) | (false, ..=-1 | 1, ..) => continue,
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

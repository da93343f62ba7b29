//! Guards and loop bounds as affine constraints on iterators and symbols, where they have such a form.

use oxeye_ir::{Affine, BinaryOp, Bound, BoundTerm, Constraint, Expr, Relation, UnaryOp};

/// The constraints of a condition that is a conjunction of affine comparisons.
pub fn affine_condition(condition: &Expr) -> Option<Vec<Constraint>> {
    let Expr::Binary(op, l, r) = condition else { return None };
    if *op == BinaryOp::And {
        let mut all = affine_condition(l)?;
        all.extend(affine_condition(r)?);
        return Some(all);
    }
    let (l, r) = (l.as_affine()?.clone(), r.as_affine()?.clone());
    Some(vec![match op {
        BinaryOp::Lt => Constraint::lt(l, r),
        BinaryOp::Le => Constraint::ge(r, l),
        BinaryOp::Gt => Constraint::lt(r, l),
        BinaryOp::Ge => Constraint::ge(l, r),
        BinaryOp::Eq => Constraint::eq(l, r),
        _ => return None,
    }])
}

/// The constraints under which a condition with one inequality fails.
pub fn negated_condition(condition: &Expr) -> Option<Vec<Constraint>> {
    if let Expr::Unary(UnaryOp::Not, inner) = condition {
        return affine_condition(inner);
    }
    let [only] = affine_condition(condition)?.try_into().ok()?;
    let Constraint { expr, relation: Relation::NonNegative } = only else { return None };
    Some(vec![Constraint { expr: expr.scaled(-1).offset(-1), relation: Relation::NonNegative }])
}

/// `lower ≤ iterator < upper` of a loop with affine bounds.
pub fn bound_constraints(iterator: &Affine, lower: &Bound, upper: &Bound) -> Option<Vec<Constraint>> {
    let below = lower.0.iter().map(|term| bound_constraint(iterator, term, true));
    below.chain(upper.0.iter().map(|term| bound_constraint(iterator, term, false))).collect()
}

/// What at least holds for a loop iterator between bounds: the constraints of those terms that are affine.
pub fn known_bound_constraints(iterator: &Affine, lower: &Bound, upper: &Bound) -> Vec<Constraint> {
    let below = lower.0.iter().filter_map(|term| bound_constraint(iterator, term, true));
    below.chain(upper.0.iter().filter_map(|term| bound_constraint(iterator, term, false))).collect()
}

/// The constraint on the iterator that one affine term of a lower or upper bound imposes.
pub(crate) fn bound_constraint(iterator: &Affine, term: &BoundTerm, is_lower: bool) -> Option<Constraint> {
    let BoundTerm::Affine { expr, divisor } = term else { return None };
    // For the rounded-up quotient of integers, `i < ⌈e / d⌉` is `d·i < e`.
    let scaled = iterator.scaled(*divisor);
    Some(if is_lower { Constraint::ge(scaled, expr.clone()) } else { Constraint::lt(scaled, expr.clone()) })
}

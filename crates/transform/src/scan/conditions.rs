//! Constraints as conditions and bounds of the IR.

use oxeye_analysis::affine_condition;
use oxeye_ir::{Affine, BinaryOp, BoundTerm, Constraint, Expr, LoopId, Node, Relation};

/// `Σ … ≥ 0` (or `== 0`) as a condition as people write it: positive terms on the left, negative on the right.
fn comparison(c: &Constraint) -> Expr {
    let (mut left, mut right) = (Affine::default(), Affine::default());
    for (v, k) in c.expr.terms() {
        if k > 0 {
            left = left.add_scaled(&Affine::var(v), k);
        } else {
            right = right.add_scaled(&Affine::var(v), -k);
        }
    }
    let constant = c.expr.constant_part();
    let (op, constant) = match c.relation {
        Relation::Zero => (BinaryOp::Eq, constant),
        Relation::NonNegative if constant == -1 => (BinaryOp::Gt, 0),
        Relation::NonNegative => (BinaryOp::Ge, constant),
    };
    if constant > 0 {
        left = left.offset(constant);
    } else {
        right = right.offset(-constant);
    }
    Expr::Binary(op, Box::new(Expr::Affine(left)), Box::new(Expr::Affine(right)))
}

/// The conjunction of constraints; `None` if there are none.
pub(crate) fn condition(constraints: &[Constraint]) -> Option<Expr> {
    let mut parts = constraints.iter().map(comparison);
    let first = parts.next()?;
    Some(parts.fold(first, |all, c| Expr::Binary(BinaryOp::And, Box::new(all), Box::new(c))))
}

/// Whether two guards contain the same statement and exactly one of their conditions is true.
pub(super) fn complementary(a: &Node, b: &Node) -> bool {
    let (Node::If { condition: c, then: x, otherwise: p }, Node::If { condition: d, then: y, otherwise: q }) =
        (a, b)
    else {
        return false;
    };
    let ([Node::Stmt(x)], [Node::Stmt(y)]) = (x.as_slice(), y.as_slice()) else { return false };
    let same = x.target == y.target && x.update == y.update && x.value == y.value;
    let (Some(c), Some(d)) = (affine_condition(c), affine_condition(d)) else { return false };
    let ([c], [d]) = (c.as_slice(), d.as_slice()) else { return false };
    same && p.is_empty()
        && q.is_empty()
        && c.relation == Relation::NonNegative
        && d.relation == Relation::NonNegative
        && c.expr.scaled(-1).offset(-1) == d.expr
}

/// Wraps nodes in a guard if there is anything to check.
pub(crate) fn guarded(constraints: &[Constraint], then: Vec<Node>, otherwise: Vec<Node>) -> Vec<Node> {
    match condition(constraints) {
        Some(condition) => vec![Node::If { condition, then, otherwise }],
        None => then,
    }
}

/// Lower and upper bound terms for `id`, from the rows that use it.
pub(crate) fn bounds_from(rows: &[Constraint], id: LoopId) -> (Vec<BoundTerm>, Vec<BoundTerm>) {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for row in rows {
        let c = row.expr.coefficient(id);
        let rest = row.expr.clone().add_scaled(&Affine::var(id), -c);
        let equal = row.relation == Relation::Zero;
        let mut push = |c: i64, rest: Affine| {
            let list = if c > 0 { &mut lower } else { &mut upper };
            let expr = if c > 0 { -rest } else { rest.offset(1) };
            list.push(BoundTerm::Affine { expr, divisor: c.abs() });
        };
        if c != 0 {
            push(c, rest.clone());
            if equal {
                push(-c, -rest);
            }
        }
    }
    (lower, upper)
}

//! What is found before the nest, in place of the symbols that stood for it in the schedule.

use oxeye_ir::{Access, Affine, ArrayId, BinaryOp, BoundTerm, Expr, Node, SymId, Var};

/// Replaces symbols by reads of the scalars that have their values.
pub(crate) fn read_in(node: &mut Node, found: &[(SymId, ArrayId)]) {
    let in_expr = |e: &mut Expr| {
        e.rewrite(&mut |e| {
            if let Expr::Affine(a) = e
                && let Some(sum) = sum(a, found)
            {
                *e = sum;
            }
        });
    };
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(in_expr);
            in_expr(&mut s.value);
        }
        Node::If { condition, .. } => in_expr(condition),
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                match term {
                    BoundTerm::Data(e) => in_expr(e),
                    BoundTerm::Affine { expr, divisor } => {
                        if let Some(sum) = sum(expr, found) {
                            *term = BoundTerm::Data(quotient(sum, *divisor));
                        }
                    }
                    BoundTerm::Open => {}
                }
            }
        }
    }
    for body in node.bodies_mut() {
        body.iter_mut().for_each(|node| read_in(node, found));
    }
}

/// An affine expression with reads for symbols; `None` if it has none of them.
fn sum(a: &Affine, found: &[(SymId, ArrayId)]) -> Option<Expr> {
    let scalar = |v: Var| found.iter().find(|(symbol, _)| v == Var::Sym(*symbol)).map(|(_, scalar)| *scalar);
    let mut rest = a.clone();
    let mut reads: Vec<(Expr, i64)> = Vec::new();
    for (v, c) in a.terms() {
        if let Some(scalar) = scalar(v) {
            rest = rest.add_scaled(&Affine::var(v), -c);
            reads.push((Access::scalar(scalar).into(), c));
        }
    }
    if reads.is_empty() {
        return None;
    }
    let mut all = (rest.as_constant() != Some(0)).then_some(Expr::Affine(rest));
    for (read, c) in reads {
        let scaled = |c: i64| match c {
            1 => read.clone(),
            _ => Expr::binary(BinaryOp::Mul, Expr::from(c), read.clone()),
        };
        all = Some(match all {
            None => scaled(c),
            Some(all) if c < 0 => Expr::binary(BinaryOp::Sub, all, scaled(-c)),
            Some(all) => Expr::binary(BinaryOp::Add, all, scaled(c)),
        });
    }
    all
}

/// `⌈e / divisor⌉`, where division truncates.
fn quotient(e: Expr, divisor: i64) -> Expr {
    if divisor <= 1 {
        return e;
    }
    let by = |e: Expr| Expr::binary(BinaryOp::Div, e, Expr::from(divisor));
    let more = Expr::binary(BinaryOp::Add, e.clone(), Expr::from(divisor - 1));
    Expr::Select {
        condition: Box::new(Expr::binary(BinaryOp::Gt, e.clone(), Expr::from(0))),
        then: Box::new(by(more)),
        otherwise: Box::new(by(e)),
    }
}

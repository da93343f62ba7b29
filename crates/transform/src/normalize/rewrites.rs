//! What passes of the normalization did, and whether those that claim to keep the order keep it.

use crate::rewrite::Rewrite;
use oxeye_ir::{Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, StmtId};

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

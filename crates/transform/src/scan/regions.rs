//! Conditions inside statements that stay in one piece, where the loops around them decide them.
//!
//! After index-set splitting the bounds of a loop say whether `y < w || y >= n - w` holds, which value of a selection is meant,
//! and what a remainder is; conditions that an innermost loop does not change are tested before it (loop unswitching, Allen and
//! Cocke, 1971).

use super::rewrite::{for_each_access, placed};
use crate::schedule::Statement;
use crate::schedule::space::{implies, is_empty};
use oxeye_analysis::{affine_condition, negated_condition};
use oxeye_ir::{Affine, BinaryOp, Constraint, Expr, LoopId, Node, Stmt, UnaryOp, Var};

/// Most conditions that are tested before one loop: it is written once for each way they can turn out.
pub(super) const MOST_UNSWITCHED: usize = 3;

/// What is known at a place in the nest.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// Constraints that hold.
    pub(super) rows: &'a [Constraint],
    /// Conditions that hold.
    pub(super) conditions: &'a [Expr],
}

impl Known<'_> {
    /// Whether a condition holds; `None` if that is not known.
    fn truth(self, condition: &Expr) -> Option<bool> {
        if self.conditions.contains(condition) {
            return Some(true);
        }
        let fails = |known: &Expr| matches!(known, Expr::Unary(UnaryOp::Not, inner) if **inner == *condition);
        if self.conditions.iter().any(fails) {
            return Some(false);
        }
        match condition {
            Expr::Binary(BinaryOp::And, l, r) => match (self.truth(l), self.truth(r)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Expr::Binary(BinaryOp::Or, l, r) => match (self.truth(l), self.truth(r)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Expr::Unary(UnaryOp::Not, inner) => self.truth(inner).map(|holds| !holds),
            _ => {
                let rows = affine_condition(condition)?;
                if rows.iter().all(|row| implies(self.rows, row)) {
                    Some(true)
                } else if is_empty(&[self.rows, &rows].concat()) {
                    Some(false)
                } else {
                    None
                }
            }
        }
    }

    /// The nodes without the conditions whose outcome is known, and without what does not run.
    pub(super) fn decided(self, nodes: Vec<Node>) -> Vec<Node> {
        let mut found = Vec::new();
        for node in nodes {
            match node {
                Node::Stmt(s) => found.push(self.simplified(s)),
                Node::Loop(mut l) => {
                    let was_empty = l.body.is_empty();
                    l.body = self.decided(l.body);
                    if was_empty || !l.body.is_empty() {
                        found.push(Node::Loop(l));
                    }
                }
                Node::If { condition, then, otherwise } => match self.truth(&condition) {
                    Some(true) => found.extend(self.decided(then)),
                    Some(false) => found.extend(self.decided(otherwise)),
                    None => {
                        let (then, otherwise) = (self.decided(then), self.decided(otherwise));
                        if !then.is_empty() || !otherwise.is_empty() {
                            found.push(Node::If { condition, then, otherwise });
                        }
                    }
                },
            }
        }
        found
    }

    /// A statement with what selections, minima, maxima and remainders in its indices are known to be. Of values the type matters
    /// as well.
    fn simplified(self, s: Stmt) -> Node {
        let mut node = Node::Stmt(s);
        for_each_access(&mut node, &mut |access| {
            for index in &mut access.indices {
                index.rewrite(&mut |e| {
                    if let Some(value) = self.value(e) {
                        *e = value;
                    }
                });
            }
        });
        node
    }

    /// The integer expression that another is known to be, whose operands are as simple as they can be.
    fn value(self, e: &Expr) -> Option<Expr> {
        let holds =
            |left: &Affine, right: &Affine| implies(self.rows, &Constraint::ge(left.clone(), right.clone()));
        match e {
            Expr::Select { condition, then, otherwise } if is_integer(then) && is_integer(otherwise) => {
                self.truth(condition).map(|holds| Expr::clone(if holds { then } else { otherwise }))
            }
            Expr::Binary(op, l, r) => {
                let (left, right) = (l.as_affine()?, r.as_affine()?);
                match op {
                    BinaryOp::Min | BinaryOp::Max if holds(left, right) == holds(right, left) => None,
                    BinaryOp::Min => Some(if holds(left, right) { r } else { l }.as_ref().clone()),
                    BinaryOp::Max => Some(if holds(left, right) { l } else { r }.as_ref().clone()),
                    BinaryOp::Rem => {
                        let rests = (0..MOST_TURNS).map(|turns| left.clone().add_scaled(right, -turns));
                        let is_rest =
                            |rest: &Affine| holds(rest, &0.into()) && holds(&right.clone().offset(-1), rest);
                        rests.into_iter().find(is_rest).map(Expr::Affine)
                    }
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                        Some(Expr::binary(*op, l.as_ref().clone(), r.as_ref().clone()))
                            .filter(|made| made != e)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// A statement over the loops of the schedule, with what its domain decides.
pub(crate) fn as_known(statement: &Statement) -> Vec<Node> {
    Known { rows: &statement.domain, conditions: &[] }.decided(vec![placed(statement)])
}

/// How often a divisor is taken off to find a remainder: `(x - 1 + n) % n` is `x - 1`.
const MOST_TURNS: i64 = 3;

/// Whether an expression is made of integers that are known exactly, so that it can stand for a selection of which it is one value.
fn is_integer(e: &Expr) -> bool {
    match e {
        Expr::Affine(_) => true,
        Expr::Select { then, otherwise, .. } => is_integer(then) && is_integer(otherwise),
        Expr::Binary(BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem, l, r) => is_integer(l) && is_integer(r),
        _ => false,
    }
}

/// The first condition under `nodes` that only depends on symbols and the loops in `outer`, at least one of them.
pub(super) fn invariant_condition(nodes: &[Node], outer: &[LoopId]) -> Option<Expr> {
    nodes.iter().find_map(|node| match node {
        Node::If { condition, .. } if is_invariant(condition, outer) => Some(condition.clone()),
        _ => node.bodies().into_iter().find_map(|body| invariant_condition(body, outer)),
    })
}

fn is_invariant(condition: &Expr, outer: &[LoopId]) -> bool {
    comparisons(condition).is_some_and(|rows| {
        rows.iter().all(|row| row.expr.loops().all(|l| outer.contains(&l)))
            && rows.iter().any(|row| row.expr.loops().next().is_some())
    })
}

/// The constraints that a condition is made of, however they are combined; `None` if there is anything else in it.
pub(crate) fn comparisons(condition: &Expr) -> Option<Vec<Constraint>> {
    match condition {
        Expr::Binary(BinaryOp::And | BinaryOp::Or, l, r) => {
            let mut all = comparisons(l)?;
            all.extend(comparisons(r)?);
            Some(all)
        }
        Expr::Unary(UnaryOp::Not, inner) => comparisons(inner),
        _ => affine_condition(condition),
    }
}

/// Constraints that hold if the condition does.
pub(super) fn if_true(condition: &Expr) -> Vec<Constraint> {
    affine_condition(condition).unwrap_or_default()
}

/// Constraints that hold if the condition does not.
pub(super) fn if_false(condition: &Expr) -> Vec<Constraint> {
    match condition {
        Expr::Binary(BinaryOp::Or, l, r) => [if_false(l), if_false(r)].concat(),
        Expr::Unary(UnaryOp::Not, inner) => if_true(inner),
        _ => negated_condition(condition).unwrap_or_default(),
    }
}

/// The condition that holds where this one does not.
pub(super) fn negation(condition: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(condition))
}

/// The constraints on the iterator of a loop that decide conditions of these nodes, and selections, minima, maxima and remainders in
/// indices, wherever they stand, where others hold.
pub(crate) fn conditions_on(nodes: &[Node], id: LoopId, known: &[Constraint]) -> Vec<Constraint> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::If { condition, .. } => found.extend(comparisons(condition).unwrap_or_default()),
            Node::Stmt(s) => {
                let reads = s.value.reads().into_iter().flat_map(|read| &read.indices);
                let indices = s.target.indices.iter().chain(reads);
                indices.for_each(|index| found.extend(decided_by(index, known)));
            }
            Node::Loop(_) => {}
        }
        for body in node.bodies() {
            found.extend(conditions_on(body, id, known));
        }
    }
    found.retain(|row| row.expr.uses(Var::Loop(id)));
    found
}

/// The constraints that decide which of its values an expression has.
fn decided_by(e: &Expr, known: &[Constraint]) -> Vec<Constraint> {
    let mut found = Vec::new();
    let at_least = |left: &Affine, right: Affine| Constraint::ge(left.clone(), right);
    let turns_seldom = |left: &Affine, right: &Affine| {
        implies(known, &at_least(left, 0.into()))
            && implies(known, &Constraint::lt(left.clone(), right.scaled(MOST_TURNS)))
    };
    e.visit(&mut |e| match e {
        Expr::Select { condition, then, otherwise } if is_integer(then) && is_integer(otherwise) => {
            found.extend(comparisons(condition).unwrap_or_default());
        }
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, l, r) => {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            extremes(l, &mut left);
            extremes(r, &mut right);
            found.extend(left.iter().flat_map(|l| right.iter().map(|r| at_least(l, Affine::clone(r)))));
        }
        Expr::Binary(op, l, r) => {
            let (Some(left), Some(right)) = (l.as_affine(), r.as_affine()) else { return };
            match op {
                BinaryOp::Rem if turns_seldom(left, right) => {
                    found.extend((1..MOST_TURNS).map(|turns| at_least(left, right.scaled(turns))))
                }
                _ => {}
            }
        }
        _ => {}
    });
    found
}

/// The affine expressions of which minima and maxima choose one.
fn extremes<'e>(e: &'e Expr, found: &mut Vec<&'e Affine>) {
    match e {
        Expr::Affine(a) => found.push(a),
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, l, r) => {
            [l, r].into_iter().for_each(|e| extremes(e, found))
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::SymId;

    const I: LoopId = LoopId(0);
    const N: SymId = SymId(0);

    fn below(value: Affine) -> Expr {
        Expr::Binary(BinaryOp::Lt, Box::new(Expr::Affine(Affine::var(I))), Box::new(Expr::Affine(value)))
    }

    /// `i < 3 || !(i < n - 3)`.
    fn near_the_edge() -> Expr {
        let late = negation(below(Affine::var(N).offset(-3)));
        Expr::Binary(BinaryOp::Or, Box::new(below(3.into())), Box::new(late))
    }

    #[test]
    fn bounds_decide_conditions() {
        let truth = |rows: &[Constraint]| Known { rows, conditions: &[] }.truth(&near_the_edge());
        let i = Affine::var(I);
        assert_eq!(truth(&[Constraint::lt(i.clone(), 2.into())]), Some(true));
        assert_eq!(truth(&[Constraint::ge(i.clone(), Affine::var(N).offset(-1))]), Some(true));
        let inside =
            [Constraint::ge(i.clone(), 3.into()), Constraint::lt(i.clone(), Affine::var(N).offset(-3))];
        assert_eq!(truth(&inside), Some(false));
        assert_eq!(truth(&inside[..1]), None);
    }

    #[test]
    fn what_a_failed_condition_says_decides_it() {
        let rows = if_false(&near_the_edge());
        assert_eq!(rows.len(), 2);
        assert_eq!(Known { rows: &rows, conditions: &[] }.truth(&near_the_edge()), Some(false));
        let holds = [near_the_edge()];
        assert_eq!(Known { rows: &[], conditions: &holds }.truth(&negation(near_the_edge())), Some(false));
    }

    #[test]
    fn only_outer_loops_are_invariant() {
        let node = || Node::If { condition: near_the_edge(), then: Vec::new(), otherwise: Vec::new() };
        assert_eq!(invariant_condition(&[node()], &[I]), Some(near_the_edge()));
        assert_eq!(invariant_condition(&[node()], &[LoopId(1)]), None);
        assert_eq!(conditions_on(&[node()], I, &[]).len(), 2);
    }
}

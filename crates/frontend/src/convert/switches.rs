//! `switch` as a chain of `if`s.

use super::statements::leaves_early;
use super::{Converter, named_children, range};
use crate::ast::*;
use oxeye_ir::{BinaryOp, ScalarType};
use tree_sitter::Node;

/// Most cases of a `switch` that is read.
const MOST_CASES: usize = 64;

/// Cases that share their statements: the values, and whether `default` is one of them.
struct Group {
    values: Vec<Expr>,
    is_default: bool,
    body: Vec<Stmt>,
    range: Range,
}

impl Converter<'_> {
    /// A `switch` over a plain value in which no case falls through to another.
    pub(super) fn switch(&mut self, selector: &Expr, body: Node<'_>) -> Option<StmtKind> {
        let mut is_plain = true;
        selector.walk(&mut |e| {
            is_plain &= matches!(
                e.kind,
                ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Int(..) | ExprKind::Binary(..)
            );
        });
        let cases = named_children(body);
        if !is_plain || cases.len() > MOST_CASES || cases.iter().any(|c| c.kind() != "case_statement") {
            return None;
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut is_open = false;
        for case in cases {
            let value = case.child_by_field_name("value");
            if !is_open {
                groups.push(Group {
                    values: Vec::new(),
                    is_default: false,
                    body: Vec::new(),
                    range: range(case),
                });
            }
            let inner: Vec<Node<'_>> =
                named_children(case).into_iter().filter(|n| Some(*n) != value).collect();
            let value = value.map(|v| self.expr(v));
            let statements: Vec<Stmt> = inner.into_iter().filter_map(|n| self.stmt(n)).collect();
            let group = groups.last_mut()?;
            match value {
                Some(value) => {
                    constant(&value)?;
                    group.values.push(value);
                }
                None => group.is_default = true,
            }
            is_open = statements.is_empty();
            group.body = statements;
        }
        let n_groups = groups.len();
        for (k, group) in groups.iter_mut().enumerate() {
            // `case 1: { ...; break; }`
            if let [Stmt { kind: StmtKind::Block(inside), .. }] = group.body.as_mut_slice() {
                group.body = std::mem::take(inside);
            }
            let ends = match group.body.last().map(|s| &s.kind) {
                Some(StmtKind::Break) => {
                    group.body.pop();
                    true
                }
                Some(StmtKind::Return(_)) => true,
                _ => k + 1 == n_groups,
            };
            // A `break` elsewhere leaves the `switch`, and a `continue` refers to the loop around it.
            if !ends || group.body.iter().any(leaves_early) {
                return None;
            }
        }
        let (defaults, others): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|g| g.is_default);
        let mut chain: Option<Stmt> = match defaults.as_slice() {
            [] => None,
            [_] => {
                defaults.into_iter().next().map(|g| Stmt { kind: StmtKind::Block(g.body), range: g.range })
            }
            _ => return None,
        };
        for group in others.into_iter().rev() {
            let range = group.range;
            let at = |kind| Expr { kind, range };
            let conditions = group
                .values
                .into_iter()
                .map(|value| at(ExprKind::Binary(BinaryOp::Eq, Box::new(selector.clone()), Box::new(value))));
            let condition = conditions
                .reduce(|l, r| at(ExprKind::Binary(BinaryOp::Or, Box::new(l), Box::new(r))))
                .unwrap_or(at(ExprKind::Int(1, ScalarType::I32)));
            let then = Box::new(Stmt { kind: StmtKind::Block(group.body), range });
            let otherwise = chain.take().map(Box::new);
            chain = Some(Stmt { kind: StmtKind::If { condition, then, otherwise }, range });
        }
        Some(StmtKind::Block(chain.into_iter().collect()))
    }
}

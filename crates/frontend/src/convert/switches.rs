//! `switch` as a chain of `if`s.

use super::statements::leaves_early;
use super::{Converter, named_children, range};
use crate::arithmetic::promoted;
use crate::ast::*;
use crate::scan::mentions;
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
    /// A `switch` over an integer in which no case falls through to another; otherwise what it has.
    pub(super) fn switch(&mut self, selector: &Expr, body: Node<'_>) -> Result<StmtKind, &'static str> {
        let ty = self.arithmetic_type_of(selector).map(promoted).filter(|ty| !ty.is_float());
        let ty = ty.ok_or("something that is not known as an integer")?;
        let cases = named_children(body);
        if cases.len() > MOST_CASES {
            return Err("very many cases");
        }
        if cases.iter().any(|c| c.kind() != "case_statement") {
            return Err("statements before its cases");
        }
        let mut groups = self.groups(cases, ty)?;
        if declares_for_others(&groups) {
            return Err("a variable that several cases share");
        }
        let n_groups = groups.len();
        for (k, group) in groups.iter_mut().enumerate() {
            // `case 1: { ...; break; }`
            if let [Stmt { kind: StmtKind::Block(inside), .. }] = group.body.as_mut_slice() {
                group.body = std::mem::take(inside);
            }
            let (ends, before) = match group.body.split_last() {
                Some((Stmt { kind: StmtKind::Break, .. }, before)) => (true, before),
                Some((Stmt { kind: StmtKind::Return(_) | StmtKind::Continue, .. }, before)) => (true, before),
                _ => (k + 1 == n_groups, group.body.as_slice()),
            };
            if !ends {
                return Err("a case that goes on to the next one");
            }
            // A `break` elsewhere leaves the `switch`.
            if before.iter().any(leaves_early) {
                return Err("`break` or `continue` amid a case");
            }
            group.body.pop_if(|s| matches!(s.kind, StmtKind::Break));
        }
        let (selector, before) = self.selector(selector, ty);
        let chain = chain(groups, &selector);
        Ok(StmtKind::Block(before.into_iter().chain(chain).collect()))
    }

    /// The cases, those that share their statements together.
    fn groups(&mut self, cases: Vec<Node<'_>>, ty: ScalarType) -> Result<Vec<Group>, &'static str> {
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
            let Some(group) = groups.last_mut() else { continue };
            match value {
                Some(value) if constant(&value).is_some_and(|n| fits(n, ty)) => group.values.push(value),
                Some(_) => return Err("a case that is not a constant of its type"),
                None => group.is_default = true,
            }
            is_open = statements.is_empty();
            group.body = statements;
        }
        Ok(groups)
    }

    /// What is compared with the cases: a plain value itself, anything else a variable that holds it.
    fn selector(&mut self, selector: &Expr, ty: ScalarType) -> (Expr, Option<Stmt>) {
        let mut is_plain = true;
        selector.walk(&mut |e| {
            use ExprKind::{Binary, Index, Int, Var};
            is_plain &= matches!(e.kind, Var(_) | Index(..) | Int(..) | Binary(..));
        });
        if is_plain {
            return (selector.clone(), None);
        }
        let range = selector.range;
        let var = self.own_variable("switch.value", Type::scalar(ty), range);
        let declared = vec![Declared::plain(var, Some(selector.clone()))];
        let declared = Stmt { kind: StmtKind::Declare(declared), range };
        (Expr { kind: ExprKind::Var(var), range }, Some(declared))
    }
}

/// The cases as one `if` after another. Those that end in `continue` are the first, so that what the others go on to is one
/// place.
fn chain(groups: Vec<Group>, selector: &Expr) -> Option<Stmt> {
    let skips = |group: &Group| matches!(group.body.last(), Some(Stmt { kind: StmtKind::Continue, .. }));
    let (defaults, mut others): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|g| g.is_default);
    others.sort_by_key(|group| !skips(group));
    let block = |group: Group| Stmt { kind: StmtKind::Block(group.body), range: group.range };
    let either = |op, conditions: Vec<Expr>| {
        let range = conditions.first().map_or(selector.range, |c| c.range);
        let both = |l, r| Expr { kind: ExprKind::Binary(op, Box::new(l), Box::new(r)), range };
        conditions.into_iter().reduce(both)
    };
    let is_one_of = |group: &Group| {
        let range = group.range;
        let equal = |value: &Expr| {
            let (l, r) = (Box::new(selector.clone()), Box::new(value.clone()));
            Expr { kind: ExprKind::Binary(BinaryOp::Eq, l, r), range }
        };
        either(BinaryOp::Or, group.values.iter().map(equal).collect())
    };
    let goes_on = others.iter().filter(|group| !skips(group)).count() > 1;
    let any = either(BinaryOp::Or, others.iter().filter_map(is_one_of).collect());
    let skipping = defaults.first().is_some_and(|group| skips(group) && goes_on);
    let mut default = defaults.into_iter().next().map(block);
    let last = if skipping { None } else { default.take() };
    let chain = others.into_iter().rev().fold(last, |otherwise, group| {
        let (range, Some(condition)) = (group.range, is_one_of(&group)) else { return otherwise };
        let (then, otherwise) = (Box::new(block(group)), otherwise.map(Box::new));
        Some(Stmt { kind: StmtKind::If { condition, then, otherwise }, range })
    });
    match (chain, any, default) {
        (Some(chain), Some(condition), Some(default)) => {
            let range = chain.range;
            let (then, otherwise) = (Box::new(chain), Some(Box::new(default)));
            Some(Stmt { kind: StmtKind::If { condition, then, otherwise }, range })
        }
        (chain, ..) => chain,
    }
}

/// Whether a number is the same in this type of integers.
fn fits(n: i64, ty: ScalarType) -> bool {
    match ty {
        ScalarType::I32 => i32::try_from(n).is_ok(),
        ScalarType::U32 => u32::try_from(n).is_ok(),
        ScalarType::U64 => n >= 0,
        _ => true,
    }
}

/// Whether some cases use a variable that others declare.
fn declares_for_others(groups: &[Group]) -> bool {
    groups.iter().enumerate().any(|(k, group)| {
        let declared = group.body.iter().flat_map(|s| match &s.kind {
            StmtKind::Declare(declared) => declared.as_slice(),
            _ => &[],
        });
        let declared: Vec<VarId> = declared.map(|d| d.var).collect();
        let mut others = groups.iter().enumerate().filter(|(j, _)| *j != k).flat_map(|(_, g)| &g.body);
        !declared.is_empty() && others.any(|s| declared.iter().any(|v| mentions(s, *v)))
    })
}

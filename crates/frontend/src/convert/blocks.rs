//! GNU statement expressions such as `({ T a = x; T b = y; a < b ? a : b; })`, as macros make them: expressions in which the
//! names stand for their values.

use super::{Converter, named_children};
use crate::ast::*;
use oxeye_ir::MathFn;
use std::collections::HashMap;
use tree_sitter::Node;

/// Most nodes of the expression without names.
const MOST_NODES: usize = 256;

impl Converter<'_> {
    /// What a statement expression computes, if it declares numbers and then has a value, all without side effects.
    pub(super) fn statement_expression(&mut self, block: Node<'_>) -> Option<ExprKind> {
        let items = self.scoped(|c| c.block_items(block));
        let (last, declarations) = items.split_last()?;
        let StmtKind::Expr(value) = &last.kind else { return None };
        let mut values: HashMap<VarId, Expr> = HashMap::new();
        for item in declarations {
            let StmtKind::Declare(declared) = &item.kind else { return None };
            if declared.len() != self.n_declarators(block, item.range) {
                return None;
            }
            for d in declared {
                let init = d.init.as_ref().filter(|e| self.is_pure(e))?;
                let init = replaced(init, &values)?;
                let variable = self.file.var(d.var);
                let range = init.range;
                let value = match &variable.ty {
                    Type::Scalar(s) if !s.is_volatile && !s.is_bool => {
                        ExprKind::Cast(variable.ty.clone(), Box::new(init))
                    }
                    Type::Other(name) if is_own_type(name) => match self.file.type_of(&init) {
                        Some(Type::Scalar(s)) if s.is_volatile => return None,
                        _ => init.kind,
                    },
                    _ => return None,
                };
                if variable.kind != (VarKind::Local { is_static: false }) {
                    return None;
                }
                values.insert(d.var, Expr { kind: value, range });
            }
        }
        if !self.is_pure(value) {
            return None;
        }
        Some(replaced(value, &values)?.kind)
    }

    /// How many declarators the declaration at a place has.
    fn n_declarators(&self, block: Node<'_>, at: Range) -> usize {
        let declaration = named_children(block).into_iter().find(|n| super::range(*n) == at);
        declaration.map_or(0, |n| n.children_by_field_name("declarator", &mut n.walk()).count())
    }

    /// Whether an expression has no effects and may be evaluated any number of times.
    pub(super) fn is_pure(&self, e: &Expr) -> bool {
        let mut is_pure = true;
        e.walk(&mut |e| {
            is_pure &= match &e.kind {
                ExprKind::Assign(..)
                | ExprKind::Step { .. }
                | ExprKind::Unknown(..)
                | ExprKind::AddressOf(_)
                | ExprKind::Comma(..)
                | ExprKind::Both(..)
                | ExprKind::List(_) => false,
                ExprKind::Call(callee, _) => match &callee.kind {
                    ExprKind::Name(name) => {
                        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
                        MathFn::from_c_name(plain).is_some() && self.file.function(name).is_none()
                    }
                    _ => false,
                },
                _ => true,
            };
        });
        is_pure
    }
}

/// Whether a type means that of the initial value.
fn is_own_type(name: &str) -> bool {
    ["`__auto_type`", "`typeof`", "`__typeof`", "`__typeof__`"].contains(&name)
}

/// The expression with the values of variables in their places.
fn replaced(e: &Expr, values: &HashMap<VarId, Expr>) -> Option<Expr> {
    let mut result = e.clone();
    let mut is_sized = false;
    result.walk(&mut |e| is_sized |= matches!(&e.kind, ExprKind::SizeofExpr(_)));
    replace(&mut result, values);
    let mut n_nodes = 0;
    result.walk(&mut |_| n_nodes += 1);
    (n_nodes <= MOST_NODES && !is_sized).then_some(result)
}

fn replace(e: &mut Expr, values: &HashMap<VarId, Expr>) {
    if let Some(value) = e.as_var().and_then(|v| values.get(&v)) {
        *e = value.clone();
        return;
    }
    e.children_mut().into_iter().for_each(|e| replace(e, values));
}

//! Single expressions as C text.

use crate::context::Context;
use crate::text::prec;
use oxeye_binding::Binding;
use oxeye_ir::{Expr, Program};
use std::collections::BTreeSet;

/// An expression of symbols and elements of arrays as C text, in parentheses where it is more than an operand. Integers
/// have 64 bits.
pub fn expression(program: &Program, expr: &Expr) -> String {
    let mut cx = Context::new(program, Binding::none(), &BTreeSet::new(), &[]);
    cx.wide = true;
    cx.expr(expr).at(prec::UNARY)
}

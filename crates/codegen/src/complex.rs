//! Complex numbers as GNU C: made from their parts, and taken apart again.

use crate::context::Context;
use crate::text::{Text, prec};
use oxeye_ir::{ComplexOp, Expr, MathFn, Part, ScalarType, Stmt, Update};

/// A call of a function of complex numbers, whose arguments are their parts.
pub(crate) fn call(cx: &Context, function: MathFn, single: bool, args: &[Expr]) -> Text {
    match number(cx, function, single, args) {
        Some((number, Some(part))) => Text::new(format!("{part} {number}"), prec::UNARY),
        Some((number, None)) => Text::primary(number),
        None => Text::primary(function.name()),
    }
}

/// What a function computes, and the operator that takes its part of that; none if the result is real.
pub(crate) fn number(
    cx: &Context,
    function: MathFn,
    single: bool,
    args: &[Expr],
) -> Option<(String, Option<&'static str>)> {
    let ty = if single { ScalarType::F32 } else { ScalarType::F64 };
    // Both parts must have the same type.
    let part = |e: &Expr| match cx.type_of(e) == ty {
        true => cx.expr(e).text,
        false => format!("({}){}", ty.c_name(), cx.expr(e).at(prec::UNARY)),
    };
    let numbers: Vec<String> = args
        .chunks(2)
        .map(|parts| {
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("__builtin_complex({})", parts.join(", "))
        })
        .collect();
    let (op, result) = function.complex()?;
    let suffix = if single { "f" } else { "" };
    let number = match op {
        ComplexOp::Product => format!("({})", numbers.join(" * ")),
        ComplexOp::Quotient => format!("({})", numbers.join(" / ")),
        ComplexOp::Function(name) => format!("{name}{suffix}({})", numbers.join(", ")),
    };
    let part = result.map(|part| match part {
        Part::Real => "__real__",
        Part::Imaginary => "__imag__",
    });
    Some((number, part))
}

/// Two statements, one after the other, whose values are the two parts of the same number. What the first stores is not
/// used to compute it.
pub(crate) fn parts_of_one<'s>(one: &'s Stmt, other: &'s Stmt) -> Option<[&'s Stmt; 2]> {
    let (Expr::Call { function: f, single: a, args: x }, Expr::Call { function: g, single: b, args: y }) =
        (&one.value, &other.value)
    else {
        return None;
    };
    let ((op, Some(part)), (same, Some(rest))) = (f.complex()?, g.complex()?) else { return None };
    let is_simple = |s: &Stmt| matches!(s.update, Update::Assign | Update::Add | Update::Sub);
    let is_apart = |e: &Expr| e.reads().iter().all(|a| a.array != one.target.array);
    let is_pair = op == same && part != rest && a == b && x == y;
    let are_apart = y.iter().chain(&other.target.indices).all(is_apart);
    (is_pair && are_apart && is_simple(one) && is_simple(other)).then_some([one, other])
}

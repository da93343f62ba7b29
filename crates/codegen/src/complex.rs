//! Complex numbers as GNU C: made from their parts, and taken apart again.

use crate::context::Context;
use crate::print::{Text, prec};
use oxeye_ir::{ComplexOp, Expr, MathFn, Part, ScalarType};

/// A call of a function of complex numbers, whose arguments are their parts.
pub(crate) fn call(cx: &Context, function: MathFn, single: bool, args: &[Expr]) -> Text {
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
    let Some((op, result)) = function.complex() else { return Text::primary(function.name()) };
    let suffix = if single { "f" } else { "" };
    let number = match op {
        ComplexOp::Product => format!("({})", numbers.join(" * ")),
        ComplexOp::Quotient => format!("({})", numbers.join(" / ")),
        ComplexOp::Function(name) => format!("{name}{suffix}({})", numbers.join(", ")),
    };
    match result {
        Some(Part::Real) => Text::new(format!("__real__ {number}"), prec::UNARY),
        Some(Part::Imaginary) => Text::new(format!("__imag__ {number}"), prec::UNARY),
        None => Text::primary(number),
    }
}

//! Calls of functions of `<math.h>` and `<stdlib.h>`.

use super::lowerer::Lowerer;
use super::value::Value;
use crate::ast::{self, Scalar};
use crate::refusal::Lowered;
use oxeye_ir::{BinaryOp, Expr, MathFn, ScalarType, UnaryOp};

impl Lowerer<'_> {
    /// The value of a call of a function that C defines; none if it is not known.
    pub(super) fn library_call(&mut self, name: &str, args: &[ast::Expr]) -> Lowered<Option<Value>> {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        if let (Some((one, zero, ty)), true) = (infinity(plain), plain != name) {
            let [one, zero] = [one, zero].map(|text| Box::new(Expr::Float { text: text.to_owned(), ty }));
            return Ok(Some(Value { e: Expr::Binary(BinaryOp::Div, one, zero), ty }));
        }
        if let ([arg], Some(rounding)) = (args, rounded(plain))
            && self.cx.file.function(rounding).is_none()
            && let Some((function, single)) = MathFn::from_c_name(rounding)
        {
            let whole = self.math(function, single, std::slice::from_ref(arg))?;
            return Ok(Some(Value {
                e: Expr::Cast(ScalarType::I64, Box::new(whole.e)),
                ty: ScalarType::I64,
            }));
        }
        match (plain, args) {
            ("isnan", [arg]) => {
                let value = self.value(arg)?;
                if !value.ty.is_float() {
                    return Ok(None);
                }
                let e = Expr::Binary(BinaryOp::Ne, Box::new(value.e.clone()), Box::new(value.e));
                Ok(Some(Value { e, ty: ScalarType::I32 }))
            }
            ("labs" | "llabs", [arg]) => {
                let long = Scalar { ty: ScalarType::I64, spelling: None, is_volatile: false, is_bool: false };
                let value = self.value(arg)?;
                let value = self.converted(value, &long);
                let zero = Box::new(Expr::from(0));
                let is_negative = Expr::Binary(BinaryOp::Lt, Box::new(value.e.clone()), zero);
                let opposite = self.unary(UnaryOp::Neg, value.clone());
                Ok(Some(self.select(is_negative, opposite, value)))
            }
            _ => match MathFn::from_c_name(plain) {
                Some((function, single)) if function.n_args() == args.len() => {
                    self.math(function, single, args).map(Some)
                }
                _ => Ok(None),
            },
        }
    }

    fn math(&mut self, function: MathFn, single: bool, args: &[ast::Expr]) -> Lowered<Value> {
        let mut values = Vec::new();
        for arg in args {
            let value = self.value(arg)?;
            values.push(match function {
                MathFn::Abs => self.typed(value.e, ScalarType::I32),
                _ if value.ty.is_float() => value,
                _ => self.relaxed(value),
            });
        }
        let ty = match function {
            MathFn::Abs => ScalarType::I32,
            _ if single => ScalarType::F32,
            _ => ScalarType::F64,
        };
        Ok(Value { e: Expr::Call { function, single, args: values.into_iter().map(|v| v.e).collect() }, ty })
    }
}

/// A function that is infinite, as a quotient.
fn infinity(name: &str) -> Option<(&'static str, &'static str, ScalarType)> {
    match name {
        "inff" | "huge_valf" => Some(("1.0f", "0.0f", ScalarType::F32)),
        "inf" | "huge_val" => Some(("1.0", "0.0", ScalarType::F64)),
        _ => None,
    }
}

/// The function whose result `lrint` and its like convert to an integer.
fn rounded(name: &str) -> Option<&'static str> {
    Some(match name {
        "lrint" | "llrint" => "rint",
        "lrintf" | "llrintf" => "rintf",
        "lround" | "llround" => "round",
        "lroundf" | "llroundf" => "roundf",
        _ => return None,
    })
}

//! Calls of functions of `<math.h>` and `<stdlib.h>`.

use super::lowerer::Lowerer;
use super::structures::number;
use super::value::Value;
use crate::ast;
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
        if plain != name
            && let Some(value) = self.builtin(plain, args)?
        {
            return Ok(Some(value));
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
                let value = self.value(arg)?;
                let value = self.converted(value, &number(ScalarType::I64));
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

    /// The value of a call of what macros of the C library expand to, and of compilers' own functions, without their prefix.
    fn builtin(&mut self, name: &str, args: &[ast::Expr]) -> Lowered<Option<Value>> {
        let [arg] = args else { return Ok(None) };
        if let Some(function) = match name {
            "popcount" => Some(MathFn::Popcount),
            "popcountl" | "popcountll" => Some(MathFn::Popcountl),
            _ => None,
        } {
            return self.math(function, false, args).map(Some);
        }
        if let Some(n_bytes) = match name {
            "bswap16" => Some(2),
            "bswap32" => Some(4),
            "bswap64" => Some(8),
            _ => None,
        } {
            let value = self.value(arg)?;
            return Ok((!value.ty.is_float()).then(|| self.swapped(value, n_bytes)));
        }
        let value = self.value(arg)?;
        if !value.ty.is_float() {
            return Ok(None);
        }
        let is_single = value.ty == ScalarType::F32;
        let limit = |plain: &str, single: &str| {
            let (text, ty) = if is_single { (single, ScalarType::F32) } else { (plain, ScalarType::F64) };
            Box::new(Expr::Float { text: text.to_owned(), ty })
        };
        let greatest = || limit("1.7976931348623157e308", "3.4028234663852886e38f");
        let call = |function: MathFn, args: Vec<Expr>| Expr::Call { function, single: is_single, args };
        let size = || Box::new(call(MathFn::Fabs, vec![value.e.clone()]));
        let compared = |op: BinaryOp, l: Box<Expr>, r: Box<Expr>| Expr::Binary(op, l, r);
        let e = match name {
            "isfinite" => compared(BinaryOp::Le, size(), greatest()),
            "isinf" => compared(BinaryOp::Gt, size(), greatest()),
            "isnormal" => {
                let least = limit("2.2250738585072014e-308", "1.1754943508222875e-38f");
                let is_large = compared(BinaryOp::Ge, size(), least);
                let is_finite = compared(BinaryOp::Le, size(), greatest());
                compared(BinaryOp::And, Box::new(is_large), Box::new(is_finite))
            }
            "isinf_sign" => {
                let int = |value: i64| Value { e: Expr::from(value), ty: ScalarType::I32 };
                let most = compared(BinaryOp::Gt, Box::new(value.e.clone()), greatest());
                let negative = Box::new(Expr::Unary(UnaryOp::Neg, greatest()));
                let least = compared(BinaryOp::Lt, Box::new(value.e.clone()), negative);
                let otherwise = self.select(least, int(-1), int(0));
                return Ok(Some(self.select(most, int(1), otherwise)));
            }
            _ => return Ok(None),
        };
        Ok(Some(Value { e, ty: ScalarType::I32 }))
    }

    /// The bytes of an unsigned integer in the opposite order.
    fn swapped(&mut self, value: Value, n_bytes: i64) -> Value {
        let ty = if n_bytes == 8 { ScalarType::U64 } else { ScalarType::U32 };
        let value = self.converted(value, &number(ty)).e;
        let joined = |op: BinaryOp, l: Expr, r: Expr| Expr::Binary(op, Box::new(l), Box::new(r));
        let byte = |k: i64| {
            let low = match k {
                0 => value.clone(),
                k => joined(BinaryOp::Shr, value.clone(), Expr::from(8 * k)),
            };
            let byte = joined(BinaryOp::BitAnd, low, Expr::Cast(ty, Box::new(Expr::from(255))));
            match n_bytes - 1 - k {
                0 => byte,
                up => joined(BinaryOp::Shl, byte, Expr::from(8 * up)),
            }
        };
        let e = (1..n_bytes).fold(byte(0), |sum, k| joined(BinaryOp::BitOr, sum, byte(k)));
        match n_bytes {
            2 => Value { e: Expr::Cast(ScalarType::U16, Box::new(e)), ty: ScalarType::U16 },
            _ => Value { e, ty },
        }
    }

    fn math(&mut self, function: MathFn, single: bool, args: &[ast::Expr]) -> Lowered<Value> {
        let mut values = Vec::new();
        for arg in args {
            let value = self.value(arg)?;
            values.push(match function.integers() {
                Some((argument, _)) => self.converted(value, &number(argument)),
                None if value.ty.is_float() => value,
                None => self.relaxed(value),
            });
        }
        let ty = match function.integers() {
            Some((_, result)) => result,
            None if single => ScalarType::F32,
            None => ScalarType::F64,
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

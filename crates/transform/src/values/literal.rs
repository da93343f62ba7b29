//! Numbers in recipes.

use oxeye_ir::{Access, BinaryOp, Expr, MathFn, ScalarType, UnaryOp};
use std::fmt;
use std::str::FromStr;

/// A number as it is written: `0.31`, `-4`, `1e-7`. Of which type it is, its use says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal(String);

impl FromStr for Literal {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_number = text.parse::<i128>().is_ok() || text.parse::<f64>().is_ok_and(f64::is_finite);
        let is_plain = text.chars().all(|c| c.is_ascii_digit() || ".-+eE".contains(c));
        (is_number && is_plain).then(|| Self(text.to_owned())).ok_or(())
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Literal {
    /// The value of an element with these bits; `None` if it is not a finite number.
    pub fn of_bits(element: ScalarType, bits: u64) -> Option<Self> {
        let text = match element {
            ScalarType::F64 => format!("{:?}", f64::from_bits(bits)),
            ScalarType::F32 => format!("{:?}", f32::from_bits(u32::try_from(bits).ok()?)),
            ScalarType::U64 => bits.to_string(),
            _ => (bits as i64).to_string(),
        };
        text.parse().ok()
    }

    /// Zero.
    pub fn zero() -> Self {
        Self("0".into())
    }

    /// As a value of this type; `None` if the type has no such value.
    pub(crate) fn as_value(&self, element: ScalarType) -> Option<Expr> {
        match element {
            ScalarType::F32 => {
                let value = self.0.parse::<f32>().ok().filter(|value| value.is_finite())?;
                Some(signed(value.is_sign_negative(), format!("{:?}f", value.abs()), element))
            }
            ScalarType::F64 => {
                let value = self.0.parse::<f64>().ok().filter(|value| value.is_finite())?;
                Some(signed(value.is_sign_negative(), format!("{:?}", value.abs()), element))
            }
            _ => {
                let value = self.0.parse::<i64>().ok()?;
                let bits = 8 * element.bytes() as u32;
                let (least, most) = match element.is_unsigned() {
                    true => (0, i64::MAX >> (63u32.saturating_sub(bits))),
                    false => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
                };
                let literal = (least..=most).contains(&value).then(|| Expr::from(value))?;
                // The type in which its surroundings are computed must not change.
                let is_int = element.promoted() == ScalarType::I32 && i32::try_from(value).is_ok();
                Some(if is_int { literal } else { Expr::Cast(element, Box::new(literal)) })
            }
        }
    }
}

fn signed(is_negative: bool, text: String, ty: ScalarType) -> Expr {
    let value = Expr::Float { text, ty };
    if is_negative { Expr::unary(UnaryOp::Neg, value) } else { value }
}

/// The value of a floating-point literal.
pub(super) fn float(e: &Expr) -> Option<f64> {
    match e {
        Expr::Float { text, ty: ScalarType::F32 } => {
            text.trim_end_matches(['f', 'F']).parse::<f32>().ok().map(f64::from)
        }
        Expr::Float { text, .. } => text.parse().ok(),
        Expr::Unary(UnaryOp::Neg, inner) => float(inner).map(|value| -value),
        _ => None,
    }
}

/// The condition that an element of this type has a value, to the last bit unless zeros have no sign.
pub(crate) fn is_value(access: &Access, element: ScalarType, value: &Expr, signless: bool) -> Expr {
    let read = || Expr::Read(access.clone());
    let equal = Expr::binary(BinaryOp::Eq, read(), value.clone());
    match float(value).filter(|value| *value == 0.0 && element.is_float() && !signless) {
        None => equal,
        Some(zero) => {
            let (one, single) = (Literal("1".into()).as_value(element), element == ScalarType::F32);
            let args = vec![one.unwrap_or_else(|| Expr::from(1)), read()];
            let sign = Expr::Call { function: MathFn::Copysign, single, args };
            let op = if zero.is_sign_negative() { BinaryOp::Lt } else { BinaryOp::Gt };
            Expr::binary(BinaryOp::And, equal, Expr::binary(op, sign, Expr::from(0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_bit_by_bit() {
        for value in [0.31f64, -0.0, 1e-300, 5e-324, 123_456_789.0, 1.0 / 3.0] {
            let literal = Literal::of_bits(ScalarType::F64, value.to_bits()).expect("finite");
            let back = float(&literal.as_value(ScalarType::F64).expect("a value")).expect("a literal");
            assert_eq!(back.to_bits(), value.to_bits(), "{literal}");
        }
        for value in [0.1f32, -7.25, 1e-40] {
            let literal = Literal::of_bits(ScalarType::F32, u64::from(value.to_bits())).expect("finite");
            let back = float(&literal.as_value(ScalarType::F32).expect("a value")).expect("a literal");
            assert_eq!((back as f32).to_bits(), value.to_bits(), "{literal}");
        }
        assert_eq!(Literal::of_bits(ScalarType::F64, f64::NAN.to_bits()), None);
        assert_eq!(Literal::of_bits(ScalarType::F64, f64::INFINITY.to_bits()), None);
    }

    #[test]
    fn a_type_has_only_its_own_values() {
        let value = |text: &str, ty| text.parse::<Literal>().expect("a number").as_value(ty);
        assert_eq!(value("255", ScalarType::U8), Some(Expr::from(255)));
        assert_eq!(value("256", ScalarType::U8), None);
        assert_eq!(value("-129", ScalarType::I8), None);
        assert_eq!(value("-1", ScalarType::U64), None);
        assert!(matches!(value("9223372036854775807", ScalarType::U64), Some(Expr::Cast(..))));
        assert!(matches!(value("4294967295", ScalarType::U32), Some(Expr::Cast(..))));
        assert_eq!(value("4294967296", ScalarType::U32), None);
        assert_eq!(value("0.5", ScalarType::I32), None);
        assert!("x".parse::<Literal>().is_err() && "inf".parse::<Literal>().is_err());
    }
}

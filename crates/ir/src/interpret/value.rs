//! Values and C's arithmetic on them.

use super::error::InterpretError;
use crate::{BinaryOp, ComplexOp, MathFn, Part, ScalarType, UnaryOp, Update};

/// A value of some [`ScalarType`]. Integers are stored as 64 bits, so `unsigned long` may look negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Any integer type.
    Int(i64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
}

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Typed {
    pub(super) ty: ScalarType,
    pub(super) value: Value,
}

type Result<T> = std::result::Result<T, InterpretError>;

/// Keeps the low bits, as in a conversion to this integer type.
fn wrap(value: i128, ty: ScalarType) -> i64 {
    match ty {
        ScalarType::I8 => i64::from(value as i8),
        ScalarType::U8 => i64::from(value as u8),
        ScalarType::I16 => i64::from(value as i16),
        ScalarType::U16 => i64::from(value as u16),
        ScalarType::I32 => i64::from(value as i32),
        ScalarType::U32 => i64::from(value as u32),
        _ => value as i64,
    }
}

impl Value {
    /// The value as `double`, for comparisons and messages; exact for all types except 64-bit integers.
    pub fn to_f64(self) -> f64 {
        match self {
            Value::Int(i) => i as f64,
            Value::F32(f) => f64::from(f),
            Value::F64(f) => f,
        }
    }

    /// Whether both are the same bits, NaN included.
    pub fn is_identical(self, other: Value) -> bool {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }
}

impl Typed {
    pub(super) fn int(value: i128, ty: ScalarType) -> Self {
        Self { ty, value: Value::Int(wrap(value, ty)) }
    }

    pub(super) fn float(value: f64, ty: ScalarType) -> Self {
        let value = if ty == ScalarType::F32 { Value::F32(value as f32) } else { Value::F64(value) };
        Self { ty, value }
    }

    fn truth(value: bool) -> Self {
        Self::int(i128::from(value), ScalarType::I32)
    }

    pub(super) fn is_true(self) -> bool {
        match self.value {
            Value::Int(i) => i != 0,
            Value::F32(f) => f != 0.0,
            Value::F64(f) => f != 0.0,
        }
    }

    /// The integer, interpreted with the signedness of its type; `None` for floats.
    pub(super) fn to_int(self) -> Option<i128> {
        match self.value {
            Value::Int(i) if self.ty == ScalarType::U64 => Some(i128::from(i as u64)),
            Value::Int(i) => Some(i128::from(i)),
            _ => None,
        }
    }

    fn to_f64(self) -> f64 {
        self.to_int().map_or_else(|| self.value.to_f64(), |i| i as f64)
    }

    /// C's conversion to another type.
    pub(super) fn convert(self, ty: ScalarType) -> Result<Typed> {
        match (self.to_int(), ty.is_float()) {
            (Some(i), false) => Ok(Typed::int(i, ty)),
            (Some(i), true) if ty == ScalarType::F32 => Ok(Typed { ty, value: Value::F32(i as f32) }),
            (_, true) => Ok(Typed::float(self.to_f64(), ty)),
            (None, false) => {
                let truncated = self.to_f64().trunc();
                let converted = Typed::int(truncated as i128, ty);
                if converted.to_f64() == truncated {
                    Ok(converted)
                } else {
                    Err(InterpretError::Undefined(format!("{} does not fit {}", self.to_f64(), ty.c_name())))
                }
            }
        }
    }

    pub(super) fn unary(self, op: UnaryOp) -> Result<Typed> {
        match op {
            UnaryOp::Not => Ok(Typed::truth(!self.is_true())),
            UnaryOp::Neg => {
                let operand = self.convert(self.ty.promoted())?;
                Ok(match operand.value {
                    Value::Int(i) => Typed::int(-i128::from(i), operand.ty),
                    Value::F32(f) => Typed { ty: operand.ty, value: Value::F32(-f) },
                    Value::F64(f) => Typed { ty: operand.ty, value: Value::F64(-f) },
                })
            }
            UnaryOp::BitNot => {
                let operand = self.convert(self.ty.promoted())?;
                match operand.to_int() {
                    Some(i) => Ok(Typed::int(!i, operand.ty)),
                    None => Err(InterpretError::Undefined("`~` of a floating value".into())),
                }
            }
        }
    }

    /// All operators except `And` and `Or`, which do not always evaluate their right operand.
    pub(super) fn binary(op: BinaryOp, left: Typed, right: Typed) -> Result<Typed> {
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return shift(op, left, right);
        }
        let ty = left.ty.common(right.ty);
        let (l, r) = (left.convert(ty)?, right.convert(ty)?);
        match (l.to_int(), r.to_int(), l.value, r.value) {
            (Some(a), Some(b), ..) => integer(op, a, b, ty),
            (_, _, Value::F32(a), Value::F32(b)) => {
                let arithmetic = match op {
                    BinaryOp::Add => Some(a + b),
                    BinaryOp::Sub => Some(a - b),
                    BinaryOp::Mul => Some(a * b),
                    BinaryOp::Div => Some(a / b),
                    _ => None,
                };
                match arithmetic {
                    Some(value) => Ok(Typed { ty, value: Value::F32(value) }),
                    None => floating(op, f64::from(a), f64::from(b), ty),
                }
            }
            _ => floating(op, l.to_f64(), r.to_f64(), ty),
        }
    }

    /// `self op= value`, in their common type, before conversion to the target's.
    pub(super) fn update(self, update: Update, value: Typed) -> Result<Typed> {
        let op = match update {
            Update::Assign => return Ok(value),
            Update::Add => BinaryOp::Add,
            Update::Sub => BinaryOp::Sub,
            Update::Mul => BinaryOp::Mul,
            Update::Div => BinaryOp::Div,
            Update::Min => BinaryOp::Min,
            Update::Max => BinaryOp::Max,
        };
        Typed::binary(op, self, value)
    }
}

fn shift(op: BinaryOp, left: Typed, right: Typed) -> Result<Typed> {
    let ty = left.ty.promoted();
    let (Some(value), Some(count)) = (left.convert(ty)?.to_int(), right.to_int()) else {
        return Err(InterpretError::Undefined("a shift of or by a floating value".into()));
    };
    if !(0..i128::from(ty.bytes() * 8)).contains(&count) {
        return Err(InterpretError::Undefined(format!("a shift by {count} bits")));
    }
    Ok(Typed::int(if op == BinaryOp::Shl { value << count } else { value >> count }, ty))
}

fn integer(op: BinaryOp, a: i128, b: i128, ty: ScalarType) -> Result<Typed> {
    if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b == 0 {
        return Err(InterpretError::Undefined("an integer division by zero".into()));
    }
    Ok(match op {
        BinaryOp::Add => Typed::int(a + b, ty),
        BinaryOp::Sub => Typed::int(a - b, ty),
        BinaryOp::Mul => Typed::int(a.wrapping_mul(b), ty),
        BinaryOp::Div => Typed::int(a / b, ty),
        BinaryOp::Rem => Typed::int(a % b, ty),
        BinaryOp::Min => Typed::int(a.min(b), ty),
        BinaryOp::Max => Typed::int(a.max(b), ty),
        BinaryOp::BitAnd => Typed::int(a & b, ty),
        BinaryOp::BitOr => Typed::int(a | b, ty),
        BinaryOp::BitXor => Typed::int(a ^ b, ty),
        BinaryOp::Lt => Typed::truth(a < b),
        BinaryOp::Le => Typed::truth(a <= b),
        BinaryOp::Gt => Typed::truth(a > b),
        BinaryOp::Ge => Typed::truth(a >= b),
        BinaryOp::Eq => Typed::truth(a == b),
        BinaryOp::Ne => Typed::truth(a != b),
        BinaryOp::And => Typed::truth(a != 0 && b != 0),
        BinaryOp::Or => Typed::truth(a != 0 || b != 0),
        BinaryOp::Shl | BinaryOp::Shr => {
            return Err(InterpretError::Undefined("an unexpected shift".into()));
        }
    })
}

fn floating(op: BinaryOp, a: f64, b: f64, ty: ScalarType) -> Result<Typed> {
    let number = |value: f64| Ok(Typed::float(value, ty));
    match op {
        BinaryOp::Add => number(a + b),
        BinaryOp::Sub => number(a - b),
        BinaryOp::Mul => number(a * b),
        BinaryOp::Div => number(a / b),
        BinaryOp::Min => number(if a < b { a } else { b }),
        BinaryOp::Max => number(if a > b { a } else { b }),
        BinaryOp::Lt => Ok(Typed::truth(a < b)),
        BinaryOp::Le => Ok(Typed::truth(a <= b)),
        BinaryOp::Gt => Ok(Typed::truth(a > b)),
        BinaryOp::Ge => Ok(Typed::truth(a >= b)),
        BinaryOp::Eq => Ok(Typed::truth(a == b)),
        BinaryOp::Ne => Ok(Typed::truth(a != b)),
        BinaryOp::And => Ok(Typed::truth(a != 0.0 && b != 0.0)),
        BinaryOp::Or => Ok(Typed::truth(a != 0.0 || b != 0.0)),
        _ => Err(InterpretError::Undefined(format!("{op:?} of floating values"))),
    }
}

/// A call of a `<math.h>` function. Extra arguments are ignored, missing ones are zero.
pub(super) fn call(function: MathFn, single: bool, args: &[Typed]) -> Result<Typed> {
    let ty = if single { ScalarType::F32 } else { ScalarType::F64 };
    if let Some((argument, result)) = function.integers() {
        let operand = args.first().copied().unwrap_or(Typed::int(0, argument)).convert(argument)?;
        let value = operand.to_int().unwrap_or(0);
        let value = match function {
            MathFn::Abs => value.abs(),
            _ => value.count_ones().into(),
        };
        return Ok(Typed::int(value, result));
    }
    let argument = |i: usize| match args.get(i) {
        Some(a) => Ok(a.convert(ty)?.to_f64()),
        None => Ok(0.0),
    };
    let (x, y) = (argument(0)?, argument(1)?);
    if let Some((op, part)) = function.complex() {
        let (re, im) = complex(op, (x, y), (argument(2)?, argument(3)?))?;
        return Ok(Typed::float(if part == Some(Part::Imaginary) { im } else { re }, ty));
    }
    let result = match function {
        MathFn::Sqrt => x.sqrt(),
        MathFn::Cbrt => x.cbrt(),
        MathFn::Exp => x.exp(),
        MathFn::Exp2 => x.exp2(),
        MathFn::Expm1 => x.exp_m1(),
        MathFn::Log => x.ln(),
        MathFn::Log2 => x.log2(),
        MathFn::Log10 => x.log10(),
        MathFn::Log1p => x.ln_1p(),
        MathFn::Pow => x.powf(y),
        MathFn::Sin => x.sin(),
        MathFn::Cos => x.cos(),
        MathFn::Tan => x.tan(),
        MathFn::Asin => x.asin(),
        MathFn::Acos => x.acos(),
        MathFn::Atan => x.atan(),
        MathFn::Atan2 => x.atan2(y),
        MathFn::Sinh => x.sinh(),
        MathFn::Cosh => x.cosh(),
        MathFn::Tanh => x.tanh(),
        MathFn::Asinh => x.asinh(),
        MathFn::Acosh => x.acosh(),
        MathFn::Atanh => x.atanh(),
        MathFn::Erf => erf(x),
        MathFn::Erfc => erfc(x),
        MathFn::Fabs => x.abs(),
        MathFn::Floor => x.floor(),
        MathFn::Ceil => x.ceil(),
        MathFn::Round => x.round(),
        MathFn::Trunc => x.trunc(),
        // In the rounding mode that programs begin with.
        MathFn::Rint | MathFn::Nearbyint => x.round_ties_even(),
        MathFn::Fmod => x % y,
        MathFn::Fmin => x.min(y),
        MathFn::Fmax => x.max(y),
        MathFn::Fdim => fdim(x, y),
        MathFn::Fma => fma(x, y, argument(2)?, ty),
        MathFn::Hypot => x.hypot(y),
        MathFn::Copysign => x.copysign(y),
        _ => return Err(InterpretError::Undefined(format!("{function:?}"))),
    };
    Ok(Typed::float(result, ty))
}

/// `x - y`, but not less than zero.
fn fdim(x: f64, y: f64) -> f64 {
    if x <= y { 0.0 } else { x - y }
}

/// `x * y + z`, rounded once.
fn fma(x: f64, y: f64, z: f64, ty: ScalarType) -> f64 {
    match ty {
        ScalarType::F32 => f64::from((x as f32).mul_add(y as f32, z as f32)),
        _ => x.mul_add(y, z),
    }
}

/// A complex number by the formulas for finite ones; of a function with a real result, both parts are that.
fn complex(op: ComplexOp, x: (f64, f64), y: (f64, f64)) -> Result<(f64, f64)> {
    let product = |x: (f64, f64), y: (f64, f64)| (x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0);
    Ok(match op {
        ComplexOp::Product => product(x, y),
        ComplexOp::Quotient => {
            let (re, im) = product(x, (y.0, -y.1));
            let square = y.0 * y.0 + y.1 * y.1;
            (re / square, im / square)
        }
        ComplexOp::Function(name) => match name {
            "cabs" => (x.0.hypot(x.1), x.0.hypot(x.1)),
            "carg" => (x.1.atan2(x.0), x.1.atan2(x.0)),
            "cexp" => (x.0.exp() * x.1.cos(), x.0.exp() * x.1.sin()),
            "clog" => (x.0.hypot(x.1).ln(), x.1.atan2(x.0)),
            "csin" => (x.0.sin() * x.1.cosh(), x.0.cos() * x.1.sinh()),
            "ccos" => (x.0.cos() * x.1.cosh(), -(x.0.sin() * x.1.sinh())),
            "csinh" => (x.0.sinh() * x.1.cos(), x.0.cosh() * x.1.sin()),
            "ccosh" => (x.0.cosh() * x.1.cos(), x.0.sinh() * x.1.sin()),
            _ => return Err(InterpretError::Undefined(format!("`{name}`"))),
        },
    })
}

/// `2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))`, accurate near zero.
fn erf(x: f64) -> f64 {
    if x.is_nan() || x.abs() >= 2.5 {
        return if x.is_nan() { x } else { (1.0 - erfc(x.abs())).copysign(x) };
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
        if term.abs() < 1e-17 * sum.abs() {
            break;
        }
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// Laplace's continued fraction, accurate away from zero.
fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 2.5 {
        return if x < -2.5 { 2.0 - erfc(-x) } else { 1.0 - erf(x) };
    }
    let tail = (1..=120).rev().fold(0.0, |tail, n| f64::from(n) / 2.0 / (x + tail));
    std::f64::consts::FRAC_2_SQRT_PI / 2.0 * (-x * x).exp() / (x + tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_function_at_known_points() {
        for (x, expected) in
            [(0.5, 0.520_499_877_813_046_5), (1.0, 0.842_700_792_949_714_9), (3.0, 0.999_977_909_503_001_4)]
        {
            assert!((erf(x) - expected).abs() < 1e-14, "erf({x})");
            assert!((erf(-x) + expected).abs() < 1e-14, "erf(-{x})");
            assert!((erfc(x) - (1.0 - expected)).abs() < 1e-14, "erfc({x})");
        }
    }

    #[test]
    fn integer_conversions_follow_c() {
        let int = |v, ty| Typed::int(v, ty);
        use ScalarType::*;
        // -1 < 0u is false; -1 < 0L is true
        assert!(!Typed::binary(BinaryOp::Lt, int(-1, I32), int(0, U32)).unwrap().is_true());
        assert!(Typed::binary(BinaryOp::Lt, int(-1, I32), int(0, I64)).unwrap().is_true());
        // unsigned char is promoted to int
        let sum = Typed::binary(BinaryOp::Add, int(200, U8), int(100, U8)).unwrap();
        assert_eq!((sum.ty, sum.value), (I32, Value::Int(300)));
        assert_eq!(sum.convert(U8).unwrap().value, Value::Int(44));
        assert_eq!(Typed::binary(BinaryOp::Div, int(-7, I32), int(2, I32)).unwrap().value, Value::Int(-3));
        assert_eq!(Typed::float(-2.9, F64).convert(I32).unwrap().value, Value::Int(-2));
        assert!(Typed::float(3e9, F64).convert(I32).is_err());
        assert!(Typed::binary(BinaryOp::Rem, int(1, I32), int(0, I32)).is_err());
    }
}

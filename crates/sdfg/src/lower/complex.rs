//! Arithmetic of complex numbers, each of which is two expressions.

use crate::syntax::Operator;
use oxeye_ir::{Access, Affine, BinaryOp, Expr, MathFn, Program, ScalarType, SymId, Types, UnaryOp};

type Result<T> = std::result::Result<T, String>;

/// Stands, as the last index, for the part of a complex number: zero for the real one, one for the imaginary one.
pub(super) fn part() -> SymId {
    SymId(u32::MAX - 998)
}

/// A number of a program: real, or in two parts.
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// A real number.
    Real(Expr),
    /// Real and imaginary part.
    Complex(Expr, Expr),
}

impl Number {
    /// What stands at an element.
    pub(super) fn read(access: Access) -> Self {
        match parts(&access) {
            Some([re, im]) => Number::Complex(Expr::Read(re), Expr::Read(im)),
            None => Number::Real(Expr::Read(access)),
        }
    }

    /// The number, if it is real.
    pub(super) fn real(self) -> Result<Expr> {
        match self {
            Number::Real(value) => Ok(value),
            Number::Complex(..) => Err("a complex number stands where a real one is needed".into()),
        }
    }
}

/// The two parts of an element, if it is a complex number.
pub(super) fn parts(access: &Access) -> Option<[Access; 2]> {
    if access.indices.last() != Some(&Expr::from(part())) {
        return None;
    }
    Some([0, 1].map(|which| {
        let mut one = access.clone();
        if let Some(last) = one.indices.last_mut() {
            *last = Expr::from(which);
        }
        one
    }))
}

/// A floating literal.
pub(super) fn float(text: &str, ty: ScalarType) -> Result<Expr> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if !value.is_finite() {
        let zero = || float("0.0", ty);
        let one = if value.is_nan() { zero()? } else { float("1.0", ty)? };
        let infinite = Expr::binary(BinaryOp::Div, one, zero()?);
        return Ok(if value < 0.0 { Expr::unary(UnaryOp::Neg, infinite) } else { infinite });
    }
    let digits = text.trim_start_matches('-');
    let is_plain = digits.contains(['.', 'e', 'E']) && !digits.contains("e+") && !digits.starts_with('.');
    let mut text = if is_plain { digits.to_owned() } else { format!("{:?}", value.abs()) };
    if ty == ScalarType::F32 {
        text.push('f');
    }
    let literal = Expr::Float { text, ty };
    Ok(if value.is_sign_negative() { Expr::unary(UnaryOp::Neg, literal) } else { literal })
}

/// Real and imaginary part; a real number has the latter zero.
pub(super) fn both(number: Number) -> Result<(Expr, Expr)> {
    Ok(match number {
        Number::Real(value) => (value, float("0.0", ScalarType::F64)?),
        Number::Complex(re, im) => (re, im),
    })
}

fn is_zero(expr: &Expr) -> bool {
    match expr {
        Expr::Float { text, .. } => text.trim_end_matches('f').parse() == Ok(0.0),
        Expr::Affine(a) => a.as_constant() == Some(0),
        _ => false,
    }
}

fn combined(op: BinaryOp, l: &Expr, r: &Expr) -> Expr {
    match op {
        BinaryOp::Add if is_zero(l) => r.clone(),
        BinaryOp::Add | BinaryOp::Sub if is_zero(r) => l.clone(),
        BinaryOp::Sub if is_zero(l) => Expr::unary(UnaryOp::Neg, r.clone()),
        BinaryOp::Mul | BinaryOp::Div if is_zero(l) => l.clone(),
        BinaryOp::Mul if is_zero(r) => r.clone(),
        op => Expr::binary(op, l.clone(), r.clone()),
    }
}

/// The product of two numbers.
pub(super) fn product(l: Number, r: Number) -> Number {
    let times = |l: &Expr, r: &Expr| combined(BinaryOp::Mul, l, r);
    match (l, r) {
        (Number::Real(l), Number::Real(r)) => Number::Real(Expr::binary(BinaryOp::Mul, l, r)),
        (Number::Real(a), Number::Complex(c, d)) => Number::Complex(times(&a, &c), times(&a, &d)),
        (Number::Complex(a, b), Number::Real(c)) => Number::Complex(times(&a, &c), times(&b, &c)),
        (Number::Complex(a, b), Number::Complex(c, d)) => Number::Complex(
            combined(BinaryOp::Sub, &times(&a, &c), &times(&b, &d)),
            combined(BinaryOp::Add, &times(&a, &d), &times(&b, &c)),
        ),
    }
}

/// The sum of two numbers.
pub(super) fn sum(l: Number, r: Number) -> Result<Number> {
    match (l, r) {
        (Number::Real(l), Number::Real(r)) => Ok(Number::Real(Expr::binary(BinaryOp::Add, l, r))),
        (l, r) => {
            let ((a, b), (c, d)) = (both(l)?, both(r)?);
            Ok(Number::Complex(combined(BinaryOp::Add, &a, &c), combined(BinaryOp::Add, &b, &d)))
        }
    }
}

fn function_of(program: &Program, function: MathFn, args: Vec<Expr>) -> Expr {
    let single = args.iter().all(|e| Types::inside(program, &[]).expr(e) == ScalarType::F32);
    Expr::Call { function, single, args }
}

/// An operator with at least one complex operand.
pub(super) fn binary(program: &Program, operator: Operator, l: Number, r: Number) -> Result<Number> {
    let each = |op: BinaryOp, l: Number, r: Number| -> Result<(Expr, Expr)> {
        let ((a, b), (c, d)) = (both(l)?, both(r)?);
        Ok((combined(op, &a, &c), combined(op, &b, &d)))
    };
    let compared = |op: BinaryOp, l: Number, r: Number| -> Result<(Expr, Expr)> {
        let ((a, b), (c, d)) = (both(l)?, both(r)?);
        Ok((Expr::binary(op, a, c), Expr::binary(op, b, d)))
    };
    Ok(match operator {
        Operator::Add | Operator::Sub => {
            let op = if operator == Operator::Add { BinaryOp::Add } else { BinaryOp::Sub };
            let (re, im) = each(op, l, r)?;
            Number::Complex(re, im)
        }
        Operator::Mul => product(l, r),
        Operator::Div => {
            let (a, b) = both(l)?;
            let (c, d) = both(r)?;
            let over = |l: &Expr, r: &Expr| combined(BinaryOp::Div, l, r);
            if is_zero(&d) {
                return Ok(Number::Complex(over(&a, &c), over(&b, &c)));
            }
            let conjugate = Number::Complex(c.clone(), Expr::unary(UnaryOp::Neg, d.clone()));
            let (re, im) = both(product(Number::Complex(a, b), conjugate))?;
            let length = square_sum(&c, &d);
            Number::Complex(over(&re, &length), over(&im, &length))
        }
        Operator::Eq => {
            let (re, im) = compared(BinaryOp::Eq, l, r)?;
            Number::Real(Expr::binary(BinaryOp::And, re, im))
        }
        Operator::Ne => {
            let (re, im) = compared(BinaryOp::Ne, l, r)?;
            Number::Real(Expr::binary(BinaryOp::Or, re, im))
        }
        Operator::Pow => power(program, l, r)?,
        _ => return Err("an operator has complex operands".into()),
    })
}

/// Powers with real exponents.
fn power(program: &Program, base: Number, exponent: Number) -> Result<Number> {
    let (exponent, rest) = both(exponent)?;
    if !is_zero(&rest) {
        return Err("a power with a complex exponent".into());
    }
    let whole = match &exponent {
        Expr::Affine(a) => a.as_constant(),
        Expr::Float { text, .. } => {
            text.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && x.abs() < 64.0).map(|x| x as i64)
        }
        Expr::Cast(_, inner) => inner.as_affine().and_then(Affine::as_constant),
        _ => None,
    };
    if let Some(n @ 1..=4) = whole {
        let mut power = base.clone();
        for _ in 1..n {
            power = product(power, base.clone());
        }
        return Ok(power);
    }
    let (re, im) = both(base)?;
    let half = Expr::binary(BinaryOp::Mul, exponent.clone(), float("0.5", ScalarType::F64)?);
    let length = function_of(program, MathFn::Pow, vec![square_sum(&re, &im), half]);
    let angle = function_of(program, MathFn::Atan2, vec![im, re]);
    let angle = Expr::binary(BinaryOp::Mul, exponent, angle);
    Ok(polar(program, length, angle))
}

fn polar(program: &Program, length: Expr, angle: Expr) -> Number {
    let along = |function| {
        Expr::binary(BinaryOp::Mul, length.clone(), function_of(program, function, vec![angle.clone()]))
    };
    Number::Complex(along(MathFn::Cos), along(MathFn::Sin))
}

/// A function of complex numbers, or one that makes them.
pub(super) fn call(program: &Program, name: &str, args: Vec<Number>) -> Result<Number> {
    let n_args = args.len();
    let mut rest = args.into_iter();
    let Some(first) = rest.next() else { return Err(format!("the function `{name}` without arguments")) };
    let second = rest.next();
    match (name, second) {
        ("complex128" | "complex64", None) => {
            let (re, im) = both(first)?;
            Ok(Number::Complex(re, im))
        }
        ("complex128" | "complex64", Some(Number::Real(im))) => Ok(Number::Complex(first.real()?, im)),
        ("conj" | "conjugate", None) => match first {
            Number::Real(value) => Ok(Number::Real(value)),
            Number::Complex(re, im) => Ok(Number::Complex(re, Expr::unary(UnaryOp::Neg, im))),
        },
        ("real", None) => Ok(Number::Real(both(first)?.0)),
        ("imag", None) => Ok(Number::Real(both(first)?.1)),
        ("abs" | "Abs" | "fabs" | "absolute", None) => {
            let (re, im) = both(first)?;
            Ok(Number::Real(function_of(program, MathFn::Sqrt, vec![square_sum(&re, &im)])))
        }
        ("exp", None) => {
            let (re, im) = both(first)?;
            let length = function_of(program, MathFn::Exp, vec![re]);
            Ok(polar(program, length, im))
        }
        ("pow" | "power" | "ipow", Some(exponent)) => power(program, first, exponent),
        _ => Err(format!("the function `{name}` of {n_args} complex numbers is not known")),
    }
}

/// `a² + b²`
fn square_sum(a: &Expr, b: &Expr) -> Expr {
    let square = |e: &Expr| combined(BinaryOp::Mul, e, e);
    combined(BinaryOp::Add, &square(a), &square(b))
}

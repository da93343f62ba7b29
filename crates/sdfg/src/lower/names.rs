//! What names mean at one place of the program, and expressions of them.

use super::complex::{self, Number, both, float};
use crate::syntax::{Ex, Operator};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Expr, MathFn, Program, ScalarType, SymId, Types, UnaryOp, Var,
};
use std::collections::BTreeMap;

/// A container as it is seen at one place: which element of an array each of its elements is.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The array.
    pub(super) array: ArrayId,
    /// Indices into the array, over [`hole`]s that stand for the indices into the container.
    pub(super) index: Vec<Expr>,
    /// Extents of the container.
    pub(super) shape: Vec<Expr>,
    /// Elements of memory from one index to the next.
    pub(super) strides: Vec<Expr>,
    /// Whether its elements are truth values.
    pub(super) is_bool: bool,
}

/// What names mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Env {
    /// Symbols.
    pub(super) symbols: BTreeMap<String, Expr>,
    /// Containers.
    pub(super) data: BTreeMap<String, View>,
    /// Why other names mean nothing.
    pub(super) missing: BTreeMap<String, String>,
    /// Symbols that are variables here: they may change while the graph runs.
    pub(super) variables: BTreeMap<String, ArrayId>,
    /// Values that go from tasklet to tasklet: of which node and connector. Two scalars are the parts of a complex number.
    pub(super) links: BTreeMap<(usize, String), Vec<ArrayId>>,
}

/// Stands for an index that is not known yet.
pub(super) fn hole(dim: usize) -> SymId {
    SymId(u32::MAX - u32::try_from(dim).unwrap_or(0))
}

const MAX_HOLES: u32 = 1000;

fn is_hole(var: Var) -> Option<usize> {
    match var {
        Var::Sym(SymId(id)) if id > u32::MAX - MAX_HOLES => usize::try_from(u32::MAX - id).ok(),
        _ => None,
    }
}

/// The expression with its holes filled.
pub(super) fn filled(expr: &Expr, indices: &[Expr]) -> Expr {
    match expr {
        Expr::Affine(a) => {
            let mut rest = Affine::constant(a.constant_part());
            let mut others = Vec::new();
            for (var, coefficient) in a.terms() {
                match is_hole(var).and_then(|dim| indices.get(dim)) {
                    None => rest = rest.add_scaled(&Affine::var(var), coefficient),
                    Some(Expr::Affine(index)) => rest = rest.add_scaled(index, coefficient),
                    Some(index) => {
                        others.push(Expr::binary(BinaryOp::Mul, index.clone(), Expr::from(coefficient)));
                    }
                }
            }
            let is_zero = rest.as_constant() == Some(0);
            let start = if is_zero && !others.is_empty() { None } else { Some(Expr::Affine(rest)) };
            let others = others.into_iter().map(|e| match e {
                Expr::Binary(BinaryOp::Mul, inner, one) if *one == Expr::from(1) => *inner,
                other => other,
            });
            let sum = start.into_iter().chain(others);
            sum.reduce(|l, r| Expr::binary(BinaryOp::Add, l, r)).unwrap_or_else(|| Expr::from(0))
        }
        Expr::Read(access) => {
            let indices = access.indices.iter().map(|e| filled(e, indices)).collect();
            Expr::Read(Access { array: access.array, indices })
        }
        Expr::Binary(op, l, r) => Expr::binary(*op, filled(l, indices), filled(r, indices)),
        Expr::Unary(op, e) => Expr::unary(*op, filled(e, indices)),
        Expr::Cast(ty, e) => Expr::Cast(*ty, Box::new(filled(e, indices))),
        Expr::Call { function, single, args } => {
            let args = args.iter().map(|e| filled(e, indices)).collect();
            Expr::Call { function: *function, single: *single, args }
        }
        Expr::Select { condition, then, otherwise } => Expr::Select {
            condition: Box::new(filled(condition, indices)),
            then: Box::new(filled(then, indices)),
            otherwise: Box::new(filled(otherwise, indices)),
        },
        Expr::Float { .. } => expr.clone(),
    }
}

impl View {
    /// A whole array with row-major indices.
    pub(super) fn whole(array: ArrayId, shape: Vec<Expr>, strides: Vec<Expr>, is_bool: bool) -> Self {
        let index = (0..shape.len()).map(|dim| Expr::from(hole(dim))).collect();
        Self { array, index, shape, strides, is_bool }
    }

    /// One element.
    pub(super) fn at(&self, indices: &[Expr]) -> Result<Access, String> {
        if indices.len() != self.shape.len() {
            return Err(format!("{} indices into {} dimensions", indices.len(), self.shape.len()));
        }
        Ok(Access { array: self.array, indices: self.index.iter().map(|e| filled(e, indices)).collect() })
    }

    /// The only element of a container with one.
    pub(super) fn only(&self) -> Result<Access, String> {
        let is_one = |e: &Expr| *e == Expr::from(1);
        if !self.shape.iter().all(is_one) {
            return Err("an array is used as a number".into());
        }
        self.at(&vec![Expr::from(0); self.shape.len()])
    }
}

/// What a name means in an expression.
pub(super) trait Names {
    /// The value of a name.
    fn value(&self, name: &str) -> Result<Number, String>;
    /// An element of an array.
    fn element(&self, name: &str, indices: Vec<Expr>) -> Result<Number, String>;
}

impl Names for Env {
    fn value(&self, name: &str) -> Result<Number, String> {
        if let Some(value) = self.symbols.get(name) {
            return Ok(Number::Real(value.clone()));
        }
        match self.data.get(name) {
            Some(view) => Ok(Number::read(view.only()?)),
            None => Err(match self.missing.get(name) {
                Some(reason) => format!("`{name}`: {reason}"),
                None => format!("`{name}` has no known value here"),
            }),
        }
    }

    fn element(&self, name: &str, indices: Vec<Expr>) -> Result<Number, String> {
        let view = self.view(name)?;
        Ok(Number::read(view.at(&indices)?))
    }
}

impl Env {
    /// A container.
    pub(super) fn view(&self, name: &str) -> Result<&View, String> {
        self.data.get(name).ok_or_else(|| match self.missing.get(name) {
            Some(reason) => format!("`{name}`: {reason}"),
            None => format!("there is no container `{name}`"),
        })
    }

    /// Forgets the values of symbols that are no variables.
    pub(super) fn forget<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        for name in names.into_iter().filter(|name| !self.variables.contains_key(*name)) {
            self.symbols.remove(name);
            self.missing.remove(name);
        }
    }
}

/// The element type of a container, and whether it is that of truth values.
pub(super) fn scalar_type(dtype: &str) -> Option<(ScalarType, bool)> {
    use ScalarType::*;
    Some(match dtype {
        "float64" => (F64, false),
        "float32" => (F32, false),
        "int64" => (I64, false),
        "int32" => (I32, false),
        "int16" => (I16, false),
        "int8" => (I8, false),
        "uint64" => (U64, false),
        "uint32" => (U32, false),
        "uint16" => (U16, false),
        "uint8" => (U8, false),
        "bool" | "bool_" => (U8, true),
        _ => return None,
    })
}

/// The type of both parts of a complex number.
pub(super) fn complex_type(dtype: &str) -> Option<ScalarType> {
    match dtype {
        "complex128" => Some(ScalarType::F64),
        "complex64" => Some(ScalarType::F32),
        _ => None,
    }
}

/// The type of an expression.
pub(super) fn type_of(program: &Program, expr: &Expr) -> ScalarType {
    Types::inside(program, &[]).expr(expr)
}

/// A number of some type, from its spelling.
pub(super) fn number(text: &str, ty: ScalarType) -> Result<Expr, String> {
    if ty.is_float() {
        return float(text, ty);
    }
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    match text.parse::<i64>() {
        Ok(value) => integer(value),
        Err(_) if value.fract() == 0.0 && value.abs() < 1e15 => integer(value as i64),
        Err(_) => Err(format!("`{text}` is no integer")),
    }
}

fn integer(value: i64) -> Result<Expr, String> {
    if value == i64::MAX || value == i64::MIN {
        Err("a number is too large".into())
    } else {
        Ok(Expr::from(value))
    }
}

/// The most parts that an expression may have.
const MAX_SIZE: usize = 2000;

fn size(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(size).sum::<usize>()
}

/// Turns expressions of the SDFG into those of a program.
pub(super) struct Converter<'a> {
    pub(super) program: &'a Program,
    pub(super) names: &'a dyn Names,
}

impl Converter<'_> {
    /// The expression.
    ///
    /// # Errors
    /// If it uses names or functions that are not known.
    pub(super) fn convert(&self, ex: &Ex) -> Result<Expr, String> {
        self.convert_number(ex)?.real()
    }

    /// The expression, which may be a complex number.
    ///
    /// # Errors
    /// If it uses names or functions that are not known.
    pub(super) fn convert_number(&self, ex: &Ex) -> Result<Number, String> {
        let number = self.number(ex)?;
        let length = match &number {
            Number::Real(e) => size(e),
            Number::Complex(re, im) => size(re) + size(im),
        };
        if length > MAX_SIZE { Err("an expression is too long".into()) } else { Ok(number) }
    }

    fn is_float(&self, expr: &Expr) -> bool {
        type_of(self.program, expr).is_float()
    }

    fn expr(&self, ex: &Ex) -> Result<Expr, String> {
        self.number(ex)?.real()
    }

    fn number(&self, ex: &Ex) -> Result<Number, String> {
        Ok(Number::Real(match ex {
            Ex::Int(value) => integer(*value)?,
            Ex::Float(text) => float(text, ScalarType::F64)?,
            Ex::Imaginary(text) => {
                let zero = float("0.0", ScalarType::F64)?;
                return Ok(Number::Complex(zero, float(text, ScalarType::F64)?));
            }
            Ex::Bool(value) => Expr::from(i64::from(*value)),
            Ex::Name(name) => match name.as_str() {
                "math.pi" | "numpy.pi" | "np.pi" | "pi" => float("3.141592653589793", ScalarType::F64)?,
                "math.e" | "numpy.e" | "np.e" => float("2.718281828459045", ScalarType::F64)?,
                "math.inf" | "numpy.inf" | "np.inf" | "inf" | "INFINITY" | "oo" => {
                    float("inf", ScalarType::F64)?
                }
                _ => return self.names.value(name),
            },
            Ex::Neg(e) => match self.number(e)? {
                Number::Real(e) => Expr::unary(UnaryOp::Neg, e),
                Number::Complex(re, im) => {
                    let minus = |e| Expr::unary(UnaryOp::Neg, e);
                    return Ok(Number::Complex(minus(re), minus(im)));
                }
            },
            Ex::Not(e) => Expr::unary(UnaryOp::Not, self.expr(e)?),
            Ex::Invert(e) => {
                let e = self.expr(e)?;
                if self.is_float(&e) {
                    return Err("`~` of a floating number".into());
                }
                Expr::unary(UnaryOp::BitNot, e)
            }
            Ex::Binary(operator, l, r) => match (self.number(l)?, self.number(r)?) {
                (Number::Real(l), Number::Real(r)) => self.binary(*operator, l, r)?,
                (l, r) => return complex::binary(self.program, *operator, l, r),
            },
            Ex::Call(name, args) => return self.call(name, args),
            Ex::Index(name, indices) => {
                let indices: Vec<Expr> = indices.iter().map(|e| self.expr(e)).collect::<Result<_, _>>()?;
                if indices.iter().any(|e| self.is_float(e)) {
                    return Err(format!("an index of `{name}` is no integer"));
                }
                return self.names.element(name, indices);
            }
            Ex::IfElse(condition, then, otherwise) => {
                let condition = self.expr(condition)?;
                let select = |then, otherwise| Expr::Select {
                    condition: Box::new(condition.clone()),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                match (self.number(then)?, self.number(otherwise)?) {
                    (Number::Real(then), Number::Real(otherwise)) => select(then, otherwise),
                    (then, otherwise) => {
                        let ((a, b), (c, d)) = (both(then)?, both(otherwise)?);
                        return Ok(Number::Complex(select(a, c), select(b, d)));
                    }
                }
            }
        }))
    }

    fn binary(&self, operator: Operator, left: Expr, right: Expr) -> Result<Expr, String> {
        let plain = match operator {
            Operator::Add => BinaryOp::Add,
            Operator::Sub => BinaryOp::Sub,
            Operator::Mul => BinaryOp::Mul,
            Operator::Lt => BinaryOp::Lt,
            Operator::Le => BinaryOp::Le,
            Operator::Gt => BinaryOp::Gt,
            Operator::Ge => BinaryOp::Ge,
            Operator::Eq => BinaryOp::Eq,
            Operator::Ne => BinaryOp::Ne,
            Operator::And => BinaryOp::And,
            Operator::Or => BinaryOp::Or,
            Operator::Div => return Ok(quotient(left, right)),
            Operator::FloorDiv if self.is_float(&left) || self.is_float(&right) => {
                return Err("`//` of floating numbers".into());
            }
            Operator::FloorDiv => return Ok(quotient(left, right)),
            Operator::Pow => return self.power(left, right),
            Operator::Mod => BinaryOp::Rem,
            Operator::Shl => BinaryOp::Shl,
            Operator::Shr => BinaryOp::Shr,
            Operator::BitAnd => BinaryOp::BitAnd,
            Operator::BitOr => BinaryOp::BitOr,
            Operator::BitXor => BinaryOp::BitXor,
        };
        if plain.is_integer_only() && (self.is_float(&left) || self.is_float(&right)) {
            return Err("an operator of integers has floating operands".into());
        }
        Ok(Expr::binary(plain, left, right))
    }

    fn power(&self, base: Expr, exponent: Expr) -> Result<Expr, String> {
        if let Some(n) = exponent.as_affine().and_then(Affine::as_constant) {
            let n_factors = n.unsigned_abs();
            if n_factors > 16 || size(&base) > 200 {
                return Err("a power is too large".into());
            }
            let factors = std::iter::repeat_n(base, usize::try_from(n_factors).unwrap_or(0));
            let product = factors.reduce(|l, r| Expr::binary(BinaryOp::Mul, l, r));
            let product = product.unwrap_or_else(|| Expr::from(1));
            return Ok(if n < 0 { Expr::binary(BinaryOp::Div, Expr::from(1), product) } else { product });
        }
        let is_half = matches!(&exponent, Expr::Float { text, .. } if text.parse() == Ok(0.5));
        if is_half {
            return Ok(self.function(MathFn::Sqrt, vec![base]));
        }
        if !self.is_float(&base) && !self.is_float(&exponent) {
            return Err("a power of integers".into());
        }
        Ok(self.function(MathFn::Pow, vec![base, exponent]))
    }

    /// What is left of a division that is rounded down, as Python has it.
    fn remainder(&self, l: Expr, r: Expr) -> Expr {
        if self.is_float(&l) || self.is_float(&r) {
            let quotient = Expr::binary(BinaryOp::Div, l.clone(), r.clone());
            let whole = self.function(MathFn::Floor, vec![quotient]);
            return Expr::binary(BinaryOp::Sub, l, Expr::binary(BinaryOp::Mul, whole, r));
        }
        let rest = Expr::binary(BinaryOp::Rem, l, r.clone());
        Expr::binary(BinaryOp::Rem, Expr::binary(BinaryOp::Add, rest, r.clone()), r)
    }

    fn function(&self, function: MathFn, args: Vec<Expr>) -> Expr {
        let single = args.iter().all(|e| type_of(self.program, e) == ScalarType::F32);
        Expr::Call { function, single, args }
    }

    fn call(&self, name: &str, args: &[Ex]) -> Result<Number, String> {
        let short = name.rsplit('.').next().unwrap_or(name);
        // Quotients inside are rounded by the function.
        if let ("ceiling" | "floor", [Ex::Binary(Operator::Div, l, r)]) = (short, args) {
            let (l, r) = (self.expr(l)?, self.expr(r)?);
            if !self.is_float(&l) && !self.is_float(&r) {
                let rounded = if short == "floor" { quotient(l, r) } else { ceiling(l, r) };
                return Ok(Number::Real(rounded));
            }
        }
        let numbers: Vec<Number> = args.iter().map(|e| self.number(e)).collect::<Result<_, _>>()?;
        let is_complex = numbers.iter().any(|n| matches!(n, Number::Complex(..)));
        if is_complex
            || complex_type(short).is_some()
            || matches!(short, "conj" | "conjugate" | "real" | "imag")
        {
            return complex::call(self.program, short, numbers);
        }
        let values = numbers.into_iter().map(Number::real).collect::<Result<Vec<_>, _>>()?;
        self.real_call(name, short, values).map(Number::Real)
    }

    fn real_call(&self, name: &str, short: &str, values: Vec<Expr>) -> Result<Expr, String> {
        let n_args = values.len();
        let unknown = || Err(format!("the function `{name}` with {n_args} arguments is not known"));
        let relation = match short {
            "Eq" => Some(BinaryOp::Eq),
            "Ne" => Some(BinaryOp::Ne),
            "Lt" => Some(BinaryOp::Lt),
            "Le" => Some(BinaryOp::Le),
            "Gt" => Some(BinaryOp::Gt),
            "Ge" => Some(BinaryOp::Ge),
            "And" | "logical_and" => Some(BinaryOp::And),
            "Or" | "logical_or" => Some(BinaryOp::Or),
            "min" | "Min" | "minimum" => Some(BinaryOp::Min),
            "max" | "Max" | "maximum" => Some(BinaryOp::Max),
            _ => None,
        };
        if let Some(op) = relation {
            let many = values.len() > 1 && (values.len() == 2 || !matches!(op, BinaryOp::Lt | BinaryOp::Eq));
            let folded = values.into_iter().reduce(|l, r| Expr::binary(op, l, r));
            return folded.filter(|_| many).map_or_else(unknown, Ok);
        }
        if let Some((ty, is_bool)) = scalar_type(short)
            && let [value] = values.as_slice()
        {
            let value = value.clone();
            return Ok(match (is_bool, value) {
                (true, value) => truth(value),
                (false, Expr::Float { text, .. }) if ty.is_float() => float(text.trim_end_matches('f'), ty)?,
                (false, value) if type_of(self.program, &value) == ty => value,
                (false, value) => Expr::Cast(ty, Box::new(value)),
            });
        }
        let mut rest = values.into_iter();
        let (first, second, third) = (rest.next(), rest.next(), rest.next());
        match (short, first, second, third) {
            ("float", Some(e), None, None) => Ok(Expr::Cast(ScalarType::F64, Box::new(e))),
            ("int", Some(e), None, None) => Ok(Expr::Cast(ScalarType::I32, Box::new(e))),
            ("Not" | "logical_not", Some(e), None, None) => Ok(Expr::unary(UnaryOp::Not, e)),
            ("int_floor", Some(l), Some(r), None) => Ok(quotient(l, r)),
            ("int_ceil", Some(l), Some(r), None) => Ok(ceiling(l, r)),
            ("ceiling" | "floor", Some(e), None, None) if !self.is_float(&e) => Ok(e),
            ("Mod", Some(l), Some(r), None) if !self.is_float(&l) && !self.is_float(&r) => {
                Ok(Expr::binary(BinaryOp::Rem, l, r))
            }
            ("abs" | "Abs" | "fabs" | "absolute", Some(e), None, None) => {
                if self.is_float(&e) {
                    return Ok(self.function(MathFn::Fabs, vec![e]));
                }
                let condition = Box::new(Expr::binary(BinaryOp::Lt, e.clone(), Expr::from(0)));
                let then = Box::new(Expr::unary(UnaryOp::Neg, e.clone()));
                Ok(Expr::Select { condition, then, otherwise: Box::new(e) })
            }
            ("sign" | "sgn", Some(e), None, None) => {
                let of =
                    |text| number(text, if self.is_float(&e) { ScalarType::F64 } else { ScalarType::I64 });
                let (zero, one) = (of("0")?, of("1")?);
                let chosen = |op, then: Expr, otherwise: Expr| Expr::Select {
                    condition: Box::new(Expr::binary(op, e.clone(), zero.clone())),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                let minus = chosen(BinaryOp::Lt, Expr::unary(UnaryOp::Neg, one.clone()), zero.clone());
                Ok(chosen(BinaryOp::Gt, one, minus))
            }
            ("heaviside", Some(e), at_zero, None) => {
                let of = |text| float(text, ScalarType::F64);
                let (zero, one) = (of("0.0")?, of("1.0")?);
                let chosen = |op, then: Expr, otherwise: Expr| Expr::Select {
                    condition: Box::new(Expr::binary(op, e.clone(), zero.clone())),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                let rest = match at_zero {
                    Some(value) => chosen(BinaryOp::Lt, zero.clone(), value),
                    None => zero.clone(),
                };
                Ok(chosen(BinaryOp::Gt, one, rest))
            }
            ("py_mod", Some(l), Some(r), None) => Ok(self.remainder(l, r)),
            ("py_floor", Some(l), Some(r), None) => {
                if self.is_float(&l) || self.is_float(&r) {
                    let quotient = Expr::binary(BinaryOp::Div, l, r);
                    return Ok(self.function(MathFn::Floor, vec![quotient]));
                }
                let rest = self.remainder(l.clone(), r.clone());
                Ok(quotient(Expr::binary(BinaryOp::Sub, l, rest), r))
            }
            ("cpp_mod" | "fmod", Some(l), Some(r), None) => {
                if self.is_float(&l) || self.is_float(&r) {
                    return Ok(self.function(MathFn::Fmod, vec![l, r]));
                }
                Ok(Expr::binary(BinaryOp::Rem, l, r))
            }
            ("fmin" | "fmax", Some(l), Some(r), None) if !self.is_float(&l) && !self.is_float(&r) => {
                Ok(Expr::binary(if short == "fmin" { BinaryOp::Min } else { BinaryOp::Max }, l, r))
            }
            ("rad2deg" | "deg2rad", Some(e), None, None) => {
                let factor = if short == "rad2deg" { "57.29577951308232" } else { "0.017453292519943295" };
                Ok(Expr::binary(BinaryOp::Mul, e, float(factor, ScalarType::F64)?))
            }
            ("isnan", Some(e), None, None) => Ok(Expr::binary(BinaryOp::Ne, e.clone(), e)),
            ("signbit", Some(e), None, None) => Ok(Expr::binary(BinaryOp::Lt, e, Expr::from(0))),
            ("reciprocal", Some(e), None, None) => Ok(Expr::binary(BinaryOp::Div, Expr::from(1), e)),
            ("pow" | "power" | "ipow" | "np_float_pow" | "float_power", Some(l), Some(r), None) => {
                self.power(l, r)
            }
            (_, first, second, None) => {
                let alias = match short {
                    "arcsin" => "asin",
                    "arccos" => "acos",
                    "arctan" => "atan",
                    "arctan2" => "atan2",
                    "ceiling" => "ceil",
                    other => other,
                };
                let args: Vec<Expr> = first.into_iter().chain(second).collect();
                match MathFn::from_c_name(alias) {
                    Some((f, false)) if f.integers().is_none() && f.n_args() == args.len() => {
                        Ok(self.function(f, args))
                    }
                    _ => unknown(),
                }
            }
            _ => unknown(),
        }
    }
}

/// `l / r`; of numbers that is their quotient.
fn quotient(l: Expr, r: Expr) -> Expr {
    let constant = |e: &Expr| e.as_affine().and_then(Affine::as_constant);
    match (constant(&l), constant(&r)) {
        (_, Some(1)) => l,
        (Some(a), Some(b)) if b != 0 && a.checked_rem(b) == Some(0) => Expr::from(a / b),
        _ => Expr::binary(BinaryOp::Div, l, r),
    }
}

/// `l / r` rounded up.
fn ceiling(l: Expr, r: Expr) -> Expr {
    let more = Expr::binary(BinaryOp::Sub, Expr::binary(BinaryOp::Add, l, r.clone()), Expr::from(1));
    quotient(more, r)
}

/// One for what is not zero.
pub(super) fn truth(value: Expr) -> Expr {
    let is_truth = match &value {
        Expr::Binary(op, ..) => op.is_logical(),
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Affine(a) => matches!(a.as_constant(), Some(0 | 1)),
        _ => false,
    };
    if is_truth { value } else { Expr::binary(BinaryOp::Ne, value, Expr::from(0)) }
}

/// A name that C allows.
pub(super) fn identifier(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let text: String = name.chars().map(fit).collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() { format!("_{text}") } else { text }
}

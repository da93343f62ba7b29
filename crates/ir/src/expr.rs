//! Values: scalar types, operators, accesses and expressions.

use crate::{Affine, ArrayId, Var};
use serde::{Deserialize, Serialize};

/// The type of an array element or of a value, with C's meaning on an LP64 machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ScalarType {
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl ScalarType {
    /// All types, for tables and parsers.
    pub const ALL: [ScalarType; 10] = {
        use ScalarType::*;
        [F32, F64, I8, U8, I16, U16, I32, U32, I64, U64]
    };

    /// Size in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16 | ScalarType::U16 => 2,
            ScalarType::F32 | ScalarType::I32 | ScalarType::U32 => 4,
            ScalarType::F64 | ScalarType::I64 | ScalarType::U64 => 8,
        }
    }

    /// Whether values are floating point.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64)
    }

    /// The C type.
    pub fn c_name(self) -> &'static str {
        match self {
            ScalarType::F32 => "float",
            ScalarType::F64 => "double",
            ScalarType::I8 => "signed char",
            ScalarType::U8 => "unsigned char",
            ScalarType::I16 => "short",
            ScalarType::U16 => "unsigned short",
            ScalarType::I32 => "int",
            ScalarType::U32 => "unsigned int",
            ScalarType::I64 => "long",
            ScalarType::U64 => "unsigned long",
        }
    }

    /// The name in the textual form.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::F32 => "f32",
            ScalarType::F64 => "f64",
            ScalarType::I8 => "i8",
            ScalarType::U8 => "u8",
            ScalarType::I16 => "i16",
            ScalarType::U16 => "u16",
            ScalarType::I32 => "i32",
            ScalarType::U32 => "u32",
            ScalarType::I64 => "i64",
            ScalarType::U64 => "u64",
        }
    }
}

/// Operators with one operand, as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Neg,
    Not,
    BitNot,
}

/// Operators with two operands, as in C. `Min(a, b)` is `a < b ? a : b` and `Max(a, b)` is `a > b ? a : b`, exactly and
/// also for NaN. Integer division truncates towards zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// Functions of `<math.h>` and `<complex.h>` without side effects. `single` in [`Expr::Call`] picks the `float` variant
/// (`sqrtf`).
///
/// Those of complex numbers, and the product and quotient of two, take the real and the imaginary part of each number
/// as arguments of their own. A complex result is two calls: `Re…` and `Im…` are its parts. Products and quotients are
/// C's, with whatever the compiler does about infinities and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum MathFn {
    Sqrt,
    Cbrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Pow,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    Fabs,
    Floor,
    Ceil,
    Round,
    Trunc,
    Rint,
    Nearbyint,
    Fmod,
    Fmin,
    Fmax,
    Fdim,
    Fma,
    Hypot,
    Copysign,
    Abs,
    Popcount,
    Popcountl,
    Cabs,
    Carg,
    ReProduct,
    ImProduct,
    ReQuotient,
    ImQuotient,
    ReCpow,
    ImCpow,
    ReCexp,
    ImCexp,
    ReClog,
    ImClog,
    ReCsqrt,
    ImCsqrt,
    ReCsin,
    ImCsin,
    ReCcos,
    ImCcos,
    ReCsinh,
    ImCsinh,
    ReCcosh,
    ImCcosh,
}

/// A part of a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Part {
    Real,
    Imaginary,
}

/// How C computes a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexOp {
    /// `a * b`
    Product,
    /// `a / b`
    Quotient,
    /// A function, by its name for `double complex`.
    Function(&'static str),
}

impl MathFn {
    /// Every function with its name in the textual form, which is that of C for `double` (`abs` for `int`) where there is
    /// one, and its number of arguments.
    pub const TABLE: &'static [(MathFn, &'static str, usize)] = &[
        (MathFn::Sqrt, "sqrt", 1),
        (MathFn::Cbrt, "cbrt", 1),
        (MathFn::Exp, "exp", 1),
        (MathFn::Exp2, "exp2", 1),
        (MathFn::Expm1, "expm1", 1),
        (MathFn::Log, "log", 1),
        (MathFn::Log2, "log2", 1),
        (MathFn::Log10, "log10", 1),
        (MathFn::Log1p, "log1p", 1),
        (MathFn::Pow, "pow", 2),
        (MathFn::Sin, "sin", 1),
        (MathFn::Cos, "cos", 1),
        (MathFn::Tan, "tan", 1),
        (MathFn::Asin, "asin", 1),
        (MathFn::Acos, "acos", 1),
        (MathFn::Atan, "atan", 1),
        (MathFn::Atan2, "atan2", 2),
        (MathFn::Sinh, "sinh", 1),
        (MathFn::Cosh, "cosh", 1),
        (MathFn::Tanh, "tanh", 1),
        (MathFn::Asinh, "asinh", 1),
        (MathFn::Acosh, "acosh", 1),
        (MathFn::Atanh, "atanh", 1),
        (MathFn::Erf, "erf", 1),
        (MathFn::Erfc, "erfc", 1),
        (MathFn::Fabs, "fabs", 1),
        (MathFn::Floor, "floor", 1),
        (MathFn::Ceil, "ceil", 1),
        (MathFn::Round, "round", 1),
        (MathFn::Trunc, "trunc", 1),
        (MathFn::Rint, "rint", 1),
        (MathFn::Nearbyint, "nearbyint", 1),
        (MathFn::Fmod, "fmod", 2),
        (MathFn::Fmin, "fmin", 2),
        (MathFn::Fmax, "fmax", 2),
        (MathFn::Fdim, "fdim", 2),
        (MathFn::Fma, "fma", 3),
        (MathFn::Hypot, "hypot", 2),
        (MathFn::Copysign, "copysign", 2),
        (MathFn::Abs, "abs", 1),
        (MathFn::Popcount, "popcount", 1),
        (MathFn::Popcountl, "popcountl", 1),
        (MathFn::Cabs, "abs_c", 2),
        (MathFn::Carg, "arg_c", 2),
        (MathFn::ReProduct, "re_product", 4),
        (MathFn::ImProduct, "im_product", 4),
        (MathFn::ReQuotient, "re_quotient", 4),
        (MathFn::ImQuotient, "im_quotient", 4),
        (MathFn::ReCpow, "re_cpow", 4),
        (MathFn::ImCpow, "im_cpow", 4),
        (MathFn::ReCexp, "re_cexp", 2),
        (MathFn::ImCexp, "im_cexp", 2),
        (MathFn::ReClog, "re_clog", 2),
        (MathFn::ImClog, "im_clog", 2),
        (MathFn::ReCsqrt, "re_csqrt", 2),
        (MathFn::ImCsqrt, "im_csqrt", 2),
        (MathFn::ReCsin, "re_csin", 2),
        (MathFn::ImCsin, "im_csin", 2),
        (MathFn::ReCcos, "re_ccos", 2),
        (MathFn::ImCcos, "im_ccos", 2),
        (MathFn::ReCsinh, "re_csinh", 2),
        (MathFn::ImCsinh, "im_csinh", 2),
        (MathFn::ReCcosh, "re_ccosh", 2),
        (MathFn::ImCcosh, "im_ccosh", 2),
    ];

    /// The name of the `double` variant in the textual form.
    pub fn name(self) -> &'static str {
        Self::TABLE.iter().find(|(f, ..)| *f == self).map_or("", |(_, name, _)| name)
    }

    /// Looks up the C name of a function of real numbers; the flag is true for the `float` variant (`sqrtf`).
    pub fn from_c_name(name: &str) -> Option<(MathFn, bool)> {
        Self::from_name(name).filter(|(f, _)| f.complex().is_none() && f.c_name() == f.name())
    }

    /// The types of the argument and of the result, if these are integers.
    pub fn integers(self) -> Option<(ScalarType, ScalarType)> {
        match self {
            MathFn::Abs => Some((ScalarType::I32, ScalarType::I32)),
            MathFn::Popcount => Some((ScalarType::U32, ScalarType::I32)),
            MathFn::Popcountl => Some((ScalarType::U64, ScalarType::I32)),
            _ => None,
        }
    }

    /// The name in C, without the `f` of the `float` variant.
    pub fn c_name(self) -> &'static str {
        match self {
            MathFn::Popcount => "__builtin_popcount",
            MathFn::Popcountl => "__builtin_popcountl",
            _ => self.name(),
        }
    }

    /// What the function computes if it is one of complex numbers, and which part of the result it is; none if that is a
    /// real number.
    pub fn complex(self) -> Option<(ComplexOp, Option<Part>)> {
        use ComplexOp::{Function, Product, Quotient};
        use Part::{Imaginary, Real};
        Some(match self {
            MathFn::Cabs => (Function("cabs"), None),
            MathFn::Carg => (Function("carg"), None),
            MathFn::ReProduct => (Product, Some(Real)),
            MathFn::ImProduct => (Product, Some(Imaginary)),
            MathFn::ReQuotient => (Quotient, Some(Real)),
            MathFn::ImQuotient => (Quotient, Some(Imaginary)),
            _ => {
                let (part, function) = match self.name().split_once('_')? {
                    ("re", function) => (Real, function),
                    ("im", function) => (Imaginary, function),
                    _ => return None,
                };
                (Function(function), Some(part))
            }
        })
    }

    /// The functions that are the parts of a function of `<complex.h>`, by its C name for `double complex`: one if the
    /// result is a real number.
    pub fn from_complex_name(name: &str) -> Vec<MathFn> {
        let is_it = |f: &MathFn| matches!(f.complex(), Some((ComplexOp::Function(n), _)) if n == name);
        Self::TABLE.iter().map(|(f, ..)| *f).filter(is_it).collect()
    }

    /// Looks up a name of the textual form; the flag is true for the `float` variant (`sqrtf`).
    pub(crate) fn from_name(name: &str) -> Option<(MathFn, bool)> {
        let find = |n: &str| Self::TABLE.iter().find(|(_, c, _)| *c == n).map(|(f, ..)| *f);
        find(name).map(|f| (f, false)).or_else(|| {
            let f = find(name.strip_suffix('f')?)?;
            f.integers().is_none().then_some((f, true))
        })
    }

    /// The number of arguments.
    pub fn n_args(self) -> usize {
        Self::TABLE.iter().find(|(f, ..)| *f == self).map_or(0, |(_, _, n)| *n)
    }
}

/// One element of an array: one index per dimension, row-major, zero-based. Scalars have no indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// The array.
    pub array: ArrayId,
    /// One integer expression per dimension; affine ones are [`Expr::Affine`].
    pub indices: Vec<Expr>,
}

impl Access {
    /// An access with affine indices.
    pub fn new(array: ArrayId, indices: impl IntoIterator<Item = impl Into<Expr>>) -> Self {
        Self { array, indices: indices.into_iter().map(Into::into).collect() }
    }

    /// An access to a scalar.
    pub fn scalar(array: ArrayId) -> Self {
        Self { array, indices: Vec::new() }
    }

    /// All indices, if all are affine.
    pub fn affine_indices(&self) -> Option<Vec<&Affine>> {
        self.indices.iter().map(Expr::as_affine).collect()
    }
}

/// A side-effect-free expression with C's meaning, including the types of evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// An integer affine expression of iterators and symbols, also every integer literal of type `int`.
    Affine(Affine),
    /// A floating literal, with its spelling in the source (`0.33f`), so that it is printed unchanged.
    Float {
        /// Spelling, a valid C literal.
        text: String,
        /// `F32` or `F64`.
        ty: ScalarType,
    },
    /// The value of an array element or scalar.
    Read(Access),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A call of a function without side effects.
    Call {
        /// The function.
        function: MathFn,
        /// The `float` variant.
        single: bool,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `condition ? then : otherwise`; only the chosen side is evaluated.
    Select {
        /// Condition.
        condition: Box<Expr>,
        /// Value if non-zero.
        then: Box<Expr>,
        /// Value if zero.
        otherwise: Box<Expr>,
    },
    /// A conversion written in the source.
    Cast(ScalarType, Box<Expr>),
}

impl From<Affine> for Expr {
    fn from(a: Affine) -> Self {
        Expr::Affine(a)
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Expr::Affine(value.into())
    }
}

impl From<Access> for Expr {
    fn from(access: Access) -> Self {
        Expr::Read(access)
    }
}

impl From<crate::LoopId> for Expr {
    fn from(id: crate::LoopId) -> Self {
        Expr::Affine(id.into())
    }
}

impl From<crate::SymId> for Expr {
    fn from(id: crate::SymId) -> Self {
        Expr::Affine(id.into())
    }
}

impl Expr {
    /// `left op right`. Sums, differences and constant multiples of affine operands stay affine.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        if let (Expr::Affine(l), Expr::Affine(r)) = (&left, &right) {
            match op {
                BinaryOp::Add => return Expr::Affine(l.clone() + r.clone()),
                BinaryOp::Sub => return Expr::Affine(l.clone() - r.clone()),
                BinaryOp::Mul => {
                    if let Some(factor) = r.as_constant() {
                        return Expr::Affine(l.scaled(factor));
                    }
                    if let Some(factor) = l.as_constant() {
                        return Expr::Affine(r.scaled(factor));
                    }
                }
                _ => {}
            }
        }
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// `op operand`. The negative of an affine operand stays affine.
    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        match (op, operand) {
            (UnaryOp::Neg, Expr::Affine(a)) => Expr::Affine(-a),
            (op, operand) => Expr::Unary(op, Box::new(operand)),
        }
    }

    /// The affine expression, if it is one.
    pub fn as_affine(&self) -> Option<&Affine> {
        match self {
            Expr::Affine(a) => Some(a),
            _ => None,
        }
    }

    /// Direct subexpressions, including indices of a read.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Affine(_) | Expr::Float { .. } => Vec::new(),
            Expr::Read(access) => access.indices.iter().collect(),
            Expr::Unary(_, e) | Expr::Cast(_, e) => vec![e],
            Expr::Binary(_, l, r) => vec![l, r],
            Expr::Call { args, .. } => args.iter().collect(),
            Expr::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }

    /// What is multiplied with each other, from left to right; of anything but a product, the expression itself.
    pub fn factors(&self) -> Vec<&Expr> {
        match self {
            Expr::Binary(BinaryOp::Mul, l, r) => [l.factors(), r.factors()].concat(),
            _ => vec![self],
        }
    }

    /// Direct subexpressions, mutable.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Affine(_) | Expr::Float { .. } => Vec::new(),
            Expr::Read(access) => access.indices.iter_mut().collect(),
            Expr::Unary(_, e) | Expr::Cast(_, e) => vec![e],
            Expr::Binary(_, l, r) => vec![l, r],
            Expr::Call { args, .. } => args.iter_mut().collect(),
            Expr::Select { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }

    /// Every access read when this is evaluated, outermost first, including those inside indices.
    pub fn reads(&self) -> Vec<&Access> {
        let mut found = Vec::new();
        self.visit(&mut |e| {
            if let Expr::Read(access) = e {
                found.push(access);
            }
        });
        found
    }

    /// Calls `f` on this and every subexpression, parents first.
    pub fn visit<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        for child in self.children() {
            child.visit(f);
        }
    }

    /// Rewrites bottom-up: `f` sees each expression after its children.
    pub fn rewrite(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        for child in self.children_mut() {
            child.rewrite(f);
        }
        f(self);
    }

    /// Replaces variables in every affine part.
    pub fn substitute(&mut self, with: &dyn Fn(Var) -> Option<Affine>) {
        self.rewrite(&mut |e| match e {
            Expr::Affine(a) => *a = a.substitute(with),
            Expr::Binary(op, l, r) => {
                let (l, r) =
                    (std::mem::replace(&mut **l, Expr::from(0)), std::mem::replace(&mut **r, Expr::from(0)));
                *e = Expr::binary(*op, l, r);
            }
            _ => {}
        });
    }

    /// Whether a variable occurs anywhere.
    pub fn uses(&self, var: impl Into<Var>) -> bool {
        let var = var.into();
        let mut found = false;
        self.visit(&mut |e| found |= matches!(e, Expr::Affine(a) if a.uses(var)));
        found
    }
}

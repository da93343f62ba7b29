//! Complex numbers: two real ones each. In memory they are structures of two members; values that are computed are pairs
//! of real expressions.

use super::{Converter, Meaning};
use crate::ast::*;
use crate::literal::{self, Literal};
use crate::members::{PARTS, member};
use oxeye_ir::{BinaryOp, MathFn, ScalarType, UnaryOp};

/// Most nodes of an expression that is written more than once.
const MOST_NODES: usize = 8;

/// A complex number: its parts, and their type.
type Pair = (Expr, Expr, ScalarType);

pub(super) fn unknown(what: &str) -> ExprKind {
    ExprKind::Unknown(what.to_owned(), Vec::new())
}

fn zero(ty: ScalarType, range: Range) -> Expr {
    let text = if ty == ScalarType::F32 { "0.0f" } else { "0.0" };
    Expr { kind: ExprKind::Float(text.to_owned(), ty), range }
}

fn binary(op: BinaryOp, l: Expr, r: Expr) -> Expr {
    let range = l.range;
    Expr { kind: ExprKind::Binary(op, Box::new(l), Box::new(r)), range }
}

fn negative(e: Expr) -> Expr {
    let range = e.range;
    Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(e)), range }
}

fn complex((re, im, ty): Pair) -> ExprKind {
    ExprKind::Complex(Box::new(re), Box::new(im), ty)
}

fn both(l: ExprKind, r: ExprKind, range: Range) -> ExprKind {
    let boxed = |kind| Box::new(Expr { kind, range });
    ExprKind::Both(boxed(l), boxed(r))
}

/// The common type of parts and of a real number.
fn wider(a: ScalarType, b: ScalarType) -> ScalarType {
    if a == ScalarType::F64 || b == ScalarType::F64 { ScalarType::F64 } else { ScalarType::F32 }
}

impl Converter<'_> {
    /// The complex type with parts of this type.
    pub(super) fn complex_type(&mut self, ty: ScalarType) -> Type {
        if let Some(id) = self.file.structures.iter().position(|s| s.complex == Some(ty)) {
            return Type::Struct(id);
        }
        let fields = PARTS.map(|name| Field { name: name.to_owned(), ty: Type::scalar(ty) });
        self.file.structures.push(Structure {
            spelling: Some(format!("{} _Complex", ty.c_name())),
            is_visible: true,
            fields: Some(fields.into()),
            complex: Some(ty),
            ..Structure::default()
        });
        Type::Struct(self.file.structures.len() - 1)
    }

    /// The type of the parts of a complex type.
    pub(super) fn parts_of_type(&self, ty: &Type) -> Option<ScalarType> {
        match ty {
            Type::Struct(id) => self.file.structures.get(*id)?.complex,
            _ => None,
        }
    }

    /// The type of the parts of a complex expression.
    pub(super) fn parts_type(&self, e: &Expr) -> Option<ScalarType> {
        match &e.kind {
            ExprKind::Complex(_, _, ty) => Some(*ty),
            _ => self.parts_of_type(&self.file.type_of(e)?),
        }
    }

    /// The type of a real number, as far as it is known.
    fn real_type(&self, e: &Expr) -> Option<ScalarType> {
        let is_float = |ty: ScalarType| matches!(ty, ScalarType::F32 | ScalarType::F64);
        match &e.kind {
            ExprKind::Int(_, ty) | ExprKind::Float(_, ty) => Some(*ty),
            ExprKind::Unary(UnaryOp::Not, _) => Some(ScalarType::I32),
            ExprKind::Unary(_, e) | ExprKind::Promote(e) => self.real_type(e),
            ExprKind::Binary(op, l, r) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                    let (l, r) = (self.real_type(l)?, self.real_type(r)?);
                    Some(if is_float(l) || is_float(r) { wider(l, r) } else { l })
                }
                _ => Some(ScalarType::I32),
            },
            ExprKind::Select(_, l, r) => {
                let (l, r) = (self.real_type(l)?, self.real_type(r)?);
                Some(if is_float(l) || is_float(r) { wider(l, r) } else { l })
            }
            ExprKind::Part(_, single, _) => Some(if *single { ScalarType::F32 } else { ScalarType::F64 }),
            ExprKind::Call(callee, _) => self.type_of_call(callee),
            _ => self.file.type_of(e)?.as_scalar().map(|s| s.ty),
        }
    }

    /// What a function of the file, or of the mathematical library, returns.
    pub(super) fn type_of_call(&self, callee: &Expr) -> Option<ScalarType> {
        let ExprKind::Name(name) = &callee.kind else { return None };
        match (self.file.function(name), MathFn::from_c_name(name)) {
            (Some((_, f)), _) => f.returns.as_scalar().map(|s| s.ty),
            (None, Some((MathFn::Abs, _))) => Some(ScalarType::I32),
            (None, Some((_, true))) => Some(ScalarType::F32),
            (None, Some((_, false))) => Some(ScalarType::F64),
            (None, None) => None,
        }
    }

    /// Whether something complex takes part.
    pub(super) fn is_complex(&self, e: &Expr) -> bool {
        self.parts_type(e).is_some()
    }

    /// `double` unless the real number is known to be narrower; then as wide as these parts.
    fn type_with(&self, parts: ScalarType, real: &Expr) -> Option<ScalarType> {
        match parts {
            ScalarType::F64 => Some(ScalarType::F64),
            _ => Some(wider(parts, self.real_type(real)?)),
        }
    }

    /// The parts of a complex number; `None` if its place has effects.
    fn pair(&mut self, e: &Expr) -> Option<Pair> {
        if let ExprKind::Complex(re, im, ty) = &e.kind {
            return Some(((**re).clone(), (**im).clone(), *ty));
        }
        let ty = self.parts_type(e)?;
        if has_effects(e) {
            return None;
        }
        let [re, im] = PARTS.map(|part| Expr {
            kind: member(&mut self.file, e.clone(), part, false, e.range),
            range: e.range,
        });
        Some((re, im, ty))
    }

    /// A number of any kind as a complex one with parts of this type.
    fn pair_as(&mut self, e: &Expr, ty: ScalarType) -> Option<Pair> {
        let cast = |part: Expr| {
            let range = part.range;
            if let ExprKind::Float(text, ScalarType::F32) = &part.kind
                && let Some(text) = literal::exact_single(text).filter(|_| ty == ScalarType::F64)
            {
                return Expr { kind: ExprKind::Float(text, ty), range };
            }
            Expr { kind: ExprKind::Cast(Type::scalar(ty), Box::new(part)), range }
        };
        if self.is_complex(e) {
            let (re, im, own) = self.pair(e)?;
            return Some(if own == ty { (re, im, ty) } else { (cast(re), cast(im), ty) });
        }
        let re = if self.real_type(e) == Some(ty) { e.clone() } else { cast(e.clone()) };
        Some((re, zero(ty, e.range), ty))
    }

    /// A number that may be written several times: itself, or a variable that is set before the statement. `None` if
    /// neither is possible.
    fn settled(&mut self, e: Expr, ty: ScalarType, name: &str) -> Option<Expr> {
        let (mut n_nodes, mut has_calls) = (0, false);
        e.walk(&mut |e| {
            n_nodes += 1;
            has_calls |= matches!(e.kind, ExprKind::Call(..) | ExprKind::Part(..));
        });
        let is_pure = self.is_pure(&e);
        if n_nodes <= MOST_NODES && !has_calls && is_pure {
            return Some(e);
        }
        if has_effects(&e) {
            return None;
        }
        if self.before.is_none() {
            return is_pure.then_some(e);
        }
        let range = e.range;
        let var = self.own_variable(name, Type::scalar(ty), range);
        let declared = vec![Declared::plain(var, Some(e))];
        self.before.get_or_insert_default().push(Stmt { kind: StmtKind::Declare(declared), range });
        Some(Expr { kind: ExprKind::Var(var), range })
    }

    /// A variable that the source does not have; its name is none of C's.
    pub(super) fn own_variable(&mut self, name: &str, ty: Type, range: Range) -> VarId {
        self.scopes.push(std::collections::HashMap::new());
        let var = self.add_var(name, ty, VarKind::Local { is_static: false }, range);
        self.scopes.pop();
        var
    }

    fn settled_pair(&mut self, (re, im, ty): Pair) -> Option<Pair> {
        Some((self.settled(re, ty, "part.re")?, self.settled(im, ty, "part.im")?, ty))
    }

    /// `l op r`, if one of them is complex.
    pub(super) fn complex_binary(
        &mut self,
        op: BinaryOp,
        l: &Expr,
        r: &Expr,
        range: Range,
    ) -> Option<ExprKind> {
        if !self.is_complex(l) && !self.is_complex(r) {
            return None;
        }
        let result = self.joined(op, l, r);
        let mut kind = result.unwrap_or_else(|| unknown("this operation on complex numbers"));
        if let ExprKind::Complex(re, im, _) = &mut kind {
            (re.range, im.range) = (range, range);
        }
        Some(kind)
    }

    fn joined(&mut self, op: BinaryOp, l: &Expr, r: &Expr) -> Option<ExprKind> {
        use BinaryOp::{Add, And, Div, Eq, Mul, Ne, Or, Sub};
        if has_effects(l) || has_effects(r) {
            return None;
        }
        if matches!(op, And | Or) {
            let truth = |c: &mut Self, e: &Expr| if c.is_complex(e) { c.truth(e) } else { Some(e.clone()) };
            let (l, r) = (truth(self, l)?, truth(self, r)?);
            return Some(binary(op, l, r).kind);
        }
        let ty = match (self.parts_type(l), self.parts_type(r)) {
            (Some(a), Some(b)) => wider(a, b),
            (Some(a), None) => self.type_with(a, r)?,
            (None, Some(b)) => self.type_with(b, l)?,
            (None, None) => return None,
        };
        let (is_left, is_right) = (self.is_complex(l), self.is_complex(r));
        if matches!(op, Eq | Ne) {
            let ((a, b, _), (c, d, _)) = (self.pair_as(l, ty)?, self.pair_as(r, ty)?);
            let joint = if op == Eq { And } else { Or };
            return Some(binary(joint, binary(op, a, c), binary(op, b, d)).kind);
        }
        let pair = match (op, is_left, is_right) {
            (Add | Sub, true, true) => {
                let ((a, b, _), (c, d, _)) = (self.pair_as(l, ty)?, self.pair_as(r, ty)?);
                (binary(op, a, c), binary(op, b, d), ty)
            }
            (Add | Sub, true, false) => {
                let (a, b, _) = self.pair_as(l, ty)?;
                (binary(op, a, r.clone()), b, ty)
            }
            (Add | Sub, false, _) => {
                let (c, d, _) = self.pair_as(r, ty)?;
                (binary(op, l.clone(), c), if op == Sub { negative(d) } else { d }, ty)
            }
            // Part by part, whatever the numbers are (C11 G.5.1).
            (Mul | Div, true, false) => {
                let (a, b, _) = self.pair_as(l, ty)?;
                let r = self.settled(r.clone(), ty, "factor.re")?;
                match op {
                    Mul => (self.times(a, r.clone(), ty), self.times(b, r, ty), ty),
                    _ => (binary(op, a, r.clone()), binary(op, b, r), ty),
                }
            }
            (Mul, false, _) => {
                let (c, d, _) = self.pair_as(r, ty)?;
                let l = self.settled(l.clone(), ty, "factor.re")?;
                (self.times(l.clone(), c, ty), self.times(l, d, ty), ty)
            }
            (Mul | Div, _, true) => {
                let (l, r) = (self.pair_as(l, ty)?, self.pair_as(r, ty)?);
                let ((a, b, _), (c, d, _)) = (self.settled_pair(l)?, self.settled_pair(r)?);
                if op == Mul && self.has_plain_products {
                    let product = |l: &Expr, r: &Expr| binary(Mul, l.clone(), r.clone());
                    let re = binary(Sub, product(&a, &c), product(&b, &d));
                    (re, binary(Add, product(&a, &d), product(&b, &c)), ty)
                } else {
                    let functions = match op {
                        Mul => [MathFn::ReProduct, MathFn::ImProduct],
                        _ => [MathFn::ReQuotient, MathFn::ImQuotient],
                    };
                    self.computed(&functions, vec![a, b, c, d], ty)?
                }
            }
            _ => return None,
        };
        Some(complex(pair))
    }

    /// `l * r`; a factor 1 changes nothing but the type.
    fn times(&self, l: Expr, r: Expr, ty: ScalarType) -> Expr {
        let is_one = |e: &Expr| matches!(&e.kind, ExprKind::Float(text, _) if text.trim_end_matches(['f', 'F']).parse() == Ok(1.0));
        if is_one(&l) && self.real_type(&r) == Some(ty) {
            return r;
        }
        if is_one(&r) && self.real_type(&l) == Some(ty) {
            return l;
        }
        binary(BinaryOp::Mul, l, r)
    }

    /// The parts of a complex number as functions of those of others.
    fn computed(&mut self, functions: &[MathFn], args: Vec<Expr>, ty: ScalarType) -> Option<Pair> {
        let [re, im] = functions else { return None };
        let range = args.first()?.range;
        let of = |f: &MathFn, args| Expr { kind: ExprKind::Part(*f, ty == ScalarType::F32, args), range };
        Some((of(re, args.clone()), of(im, args), ty))
    }

    /// Whether a complex number is not zero.
    fn truth(&mut self, e: &Expr) -> Option<Expr> {
        let (re, im, ty) = self.pair(e)?;
        let test = |part: Expr| binary(BinaryOp::Ne, part, zero(ty, e.range));
        Some(binary(BinaryOp::Or, test(re), test(im)))
    }

    /// The condition of a statement or of `?:`.
    pub(super) fn as_condition(&mut self, e: Expr) -> Expr {
        if !self.is_complex(&e) {
            return e;
        }
        let range = e.range;
        self.truth(&e).unwrap_or_else(|| {
            let mut inside = Vec::new();
            e.walk(&mut |e| inside.extend(e.as_var().map(|_| e.clone())));
            Expr { kind: ExprKind::Unknown("this complex number as a condition".into(), inside), range }
        })
    }

    /// `op e` of a complex number.
    pub(super) fn complex_unary(&mut self, op: &str, e: &Expr) -> Option<ExprKind> {
        if !self.is_complex(e) {
            return None;
        }
        let Some((re, im, ty)) = self.pair(e) else {
            return Some(unknown("this operation on a complex number"));
        };
        Some(match op {
            "+" => complex((re, im, ty)),
            "-" => complex((negative(re), negative(im), ty)),
            "~" => complex((re, negative(im), ty)),
            "!" => match self.truth(e) {
                Some(truth) => ExprKind::Unary(UnaryOp::Not, Box::new(truth)),
                None => unknown("this complex number as a condition"),
            },
            _ => unknown("this operation on a complex number"),
        })
    }

    /// A number times `I`.
    pub(super) fn imaginary(&self, node: tree_sitter::Node<'_>) -> ExprKind {
        let text = self.words.imaginary_at(node.start_byte()).unwrap_or_default();
        let (text, ty) = match literal::number(text) {
            Some(Literal::Float(text, ty)) => (text, ty),
            _ => return unknown("this imaginary number"),
        };
        let at = super::range(node);
        let im = Expr { kind: ExprKind::Float(text, ty), range: at };
        complex((zero(ty, at), im, ty))
    }

    /// `__real__ e` (false) or `__imag__ e` (true).
    pub(super) fn part(&mut self, e: &Expr, is_imaginary: bool) -> ExprKind {
        match self.pair(e) {
            Some((_, im, _)) if is_imaginary => im.kind,
            Some((re, ..)) => re.kind,
            None if !self.is_complex(e) && !is_imaginary && !has_effects(e) => e.kind.clone(),
            None => unknown("the part of this number"),
        }
    }

    /// A call of a function of `<complex.h>`.
    pub(super) fn complex_call(&mut self, name: &str, args: &[Expr]) -> Option<ExprKind> {
        // Functions of the file.
        if matches!(self.lookup(name), Some(Meaning::Other | Meaning::Var(_))) {
            return None;
        }
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        if let ("complex", true, [re, im]) = (plain, plain != name, args) {
            if has_effects(re) || has_effects(im) {
                return Some(unknown("a complex number with side effects"));
            }
            let ty = self.real_type(re).or_else(|| self.real_type(im));
            let Some(ty) = ty else { return Some(unknown("a complex number of unknown type")) };
            let (re, _, _) = self.pair_as(re, ty)?;
            let (im, _, _) = self.pair_as(im, ty)?;
            return Some(complex((re, im, ty)));
        }
        const OWN: [&str; 3] = ["creal", "cimag", "conj"];
        let is_known = |n: &str| OWN.contains(&n) || !MathFn::from_complex_name(n).is_empty();
        let (base, ty) = match plain.strip_suffix('f').filter(|base| is_known(base)) {
            Some(base) => (base, ScalarType::F32),
            None if is_known(plain) => (plain, ScalarType::F64),
            None => return None,
        };
        let kind = self.call_of(base, args, ty);
        Some(kind.unwrap_or_else(|| unknown(&format!("this call of `{name}`"))))
    }

    fn call_of(&mut self, name: &str, args: &[Expr], ty: ScalarType) -> Option<ExprKind> {
        if args.iter().any(has_effects) {
            return None;
        }
        let mut pairs = Vec::new();
        for arg in args {
            pairs.push(self.pair_as(arg, ty)?);
        }
        let functions = MathFn::from_complex_name(name);
        match (name, functions.as_slice()) {
            ("creal", _) => Some(pairs.pop()?.0.kind),
            ("cimag", _) => Some(pairs.pop()?.1.kind),
            ("conj", _) => {
                let (re, im, ty) = pairs.pop()?;
                Some(complex((re, negative(im), ty)))
            }
            (_, [one, ..]) if one.n_args() == 2 * pairs.len() => {
                let mut parts = Vec::new();
                for pair in pairs {
                    let (re, im, _) = if functions.len() == 1 { pair } else { self.settled_pair(pair)? };
                    parts.extend([re, im]);
                }
                match functions.as_slice() {
                    [only] => Some(ExprKind::Part(*only, ty == ScalarType::F32, parts)),
                    both => Some(complex(self.computed(both, parts, ty)?)),
                }
            }
            _ => None,
        }
    }

    /// Complex arguments of a function of the file: computed ones become variables.
    pub(super) fn complex_argument(&mut self, e: Expr) -> Expr {
        if self.before.is_none() {
            return e;
        }
        let Some((re, im, ty)) = self.pair(&e) else { return e };
        let range = e.range;
        let ty = self.complex_type(ty);
        let var = self.own_variable("complex.argument", ty, range);
        let target = Expr { kind: ExprKind::Var(var), range };
        let Some(set) = self.set_parts(None, &target, (re, im), range) else { return e };
        let declared = Stmt { kind: StmtKind::Declare(vec![Declared::plain(var, None)]), range };
        let set = Stmt { kind: StmtKind::Expr(Expr { kind: set, range }), range };
        self.before.get_or_insert_default().extend([declared, set]);
        target
    }

    /// A conversion, if either side is complex.
    pub(super) fn complex_cast(&mut self, ty: &Type, e: &Expr) -> Option<ExprKind> {
        let target = self.parts_of_type(ty);
        if target.is_none() && !self.is_complex(e) {
            return None;
        }
        let done = match (target, ty) {
            (Some(parts), _) if !has_effects(e) => self.pair_as(e, parts).map(complex),
            (None, Type::Scalar(s)) if !s.is_bool => {
                self.pair(e).map(|(re, ..)| ExprKind::Cast(ty.clone(), Box::new(re)))
            }
            (None, Type::Void) => Some(ExprKind::Cast(Type::Void, Box::new(e.clone()))),
            _ => None,
        };
        Some(done.unwrap_or_else(|| unknown("this conversion of a complex number")))
    }

    /// `condition ? then : otherwise`, if one of them is complex.
    pub(super) fn complex_select(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
    ) -> Option<ExprKind> {
        let ty = match (self.parts_type(then), self.parts_type(otherwise)) {
            (Some(a), Some(b)) => Some(wider(a, b)),
            (Some(a), None) => self.type_with(a, otherwise),
            (None, Some(b)) => self.type_with(b, then),
            (None, None) => return None,
        };
        let done = ty.filter(|_| ![condition, then, otherwise].into_iter().any(has_effects)).and_then(|ty| {
            let condition = Some(condition.clone()).filter(|e| self.is_pure(e))?;
            let ((a, b, _), (c, d, _)) = (self.pair_as(then, ty)?, self.pair_as(otherwise, ty)?);
            let range = condition.range;
            let select = |l, r| Expr {
                kind: ExprKind::Select(Box::new(condition.clone()), Box::new(l), Box::new(r)),
                range,
            };
            Some(complex((select(a, c), select(b, d), ty)))
        });
        Some(done.unwrap_or_else(|| unknown("this choice of complex numbers")))
    }

    /// Assignments to both parts.
    fn set_parts(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        (re, im): (Expr, Expr),
        range: Range,
    ) -> Option<ExprKind> {
        let (to_re, to_im, _) = self.pair(target)?;
        let set = |to, value| ExprKind::Assign(op, Box::new(to), Box::new(value));
        Some(both(set(to_re, re), set(to_im, im), range))
    }

    /// `target op= value`, if either is complex.
    pub(super) fn complex_assignment(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        value: &Expr,
        range: Range,
    ) -> Option<ExprKind> {
        if !self.is_complex(target) && !self.is_complex(value) {
            return None;
        }
        let done = self.assigned(op, target, value, range);
        Some(done.unwrap_or_else(|| {
            ExprKind::Unknown(
                "this assignment of a complex number".to_owned(),
                vec![target.clone(), value.clone()],
            )
        }))
    }

    fn assigned(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        value: &Expr,
        range: Range,
    ) -> Option<ExprKind> {
        use BinaryOp::{Add, Div, Mul, Sub};
        if has_effects(target) || has_effects(value) {
            return None;
        }
        let Some(ty) = self.parts_type(target) else {
            // The imaginary part is dropped.
            self.file.type_of(target)?.as_scalar().filter(|s| !s.is_bool)?;
            let value = match op {
                None => value.clone(),
                Some(op) => Expr { kind: self.joined(op, target, value)?, range },
            };
            let (re, ..) = self.pair(&value)?;
            return Some(ExprKind::Assign(None, Box::new(target.clone()), Box::new(re)));
        };
        let is_real = !self.is_complex(value);
        match op {
            None if is_real => {
                let value = (value.clone(), zero(ty, range));
                self.set_parts(None, target, value, range)
            }
            None | Some(Add | Sub) if !is_real => {
                let (re, im, _) = self.pair(value)?;
                self.set_parts(op, target, (re, im), range)
            }
            Some(Add | Sub) => {
                let (re, ..) = self.pair(target)?;
                Some(ExprKind::Assign(op, Box::new(re), Box::new(value.clone())))
            }
            Some(Mul | Div) if is_real => {
                let common = self.type_with(ty, value)?;
                let value = self.settled(value.clone(), common, "factor.re")?;
                self.set_parts(op, target, (value.clone(), value), range)
            }
            Some(op) => {
                let value = Expr { kind: self.joined(op, target, value)?, range };
                let (re, im, _) = self.pair(&value)?;
                self.set_parts(None, target, (re, im), range)
            }
            None => None,
        }
    }
}

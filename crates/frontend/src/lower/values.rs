//! C expressions as values.

use super::contents::no_member;
use super::lowerer::{Bound, Lowerer};
use super::value::{Value, common, constant, divided, fold, is_comparison, is_unsigned, promoted, wraps};
use crate::ast::{self, ExprKind, Range, Type, VarId};
use crate::members::PARTS;
use crate::refusal::{Lowered, Refusal};
use oxeye_ir::{Access, Affine, BinaryOp, Expr, ScalarType, UnaryOp, Var};

const MAX_NODES: usize = 2000;

impl Lowerer<'_> {
    /// The C type of an IR expression.
    pub(crate) fn natural(&self, e: &Expr) -> ScalarType {
        match e {
            Expr::Affine(a) => {
                let is_wide = |var: Var| {
                    let ty = match var {
                        Var::Loop(l) => self.loop_types.get(&l).copied(),
                        Var::Sym(s) => self.state.program.symbols.get(&s).map(|s| s.ty),
                    };
                    matches!(ty, Some(ScalarType::I64 | ScalarType::U32 | ScalarType::U64))
                };
                let fits = |c: i64| i32::try_from(c).is_ok();
                let is_long = a.terms().any(|(v, c)| is_wide(v) || !fits(c)) || !fits(a.constant_part());
                if is_long { ScalarType::I64 } else { ScalarType::I32 }
            }
            Expr::Float { ty, .. } | Expr::Cast(ty, _) => *ty,
            Expr::Read(access) => {
                self.state.program.arrays.get(&access.array).map_or(ScalarType::F64, |a| a.element)
            }
            Expr::Unary(UnaryOp::Not, _) => ScalarType::I32,
            Expr::Unary(_, e) => promoted(self.natural(e)),
            Expr::Binary(BinaryOp::Shl | BinaryOp::Shr, l, _) => promoted(self.natural(l)),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => ScalarType::I32,
            Expr::Binary(op, ..) if is_comparison(*op) => ScalarType::I32,
            Expr::Binary(_, l, r) => common(self.natural(l), self.natural(r)),
            Expr::Call { function, .. } if let Some((_, result)) = function.integers() => result,
            Expr::Call { single, .. } => {
                if *single {
                    ScalarType::F32
                } else {
                    ScalarType::F64
                }
            }
            Expr::Select { then, otherwise, .. } => common(self.natural(then), self.natural(otherwise)),
        }
    }

    /// The value, with its type made explicit if the expression alone would have another one.
    pub(crate) fn typed(&self, e: Expr, ty: ScalarType) -> Value {
        let e = if self.natural(&e) == ty { e } else { Expr::Cast(ty, Box::new(e)) };
        Value { e, ty }
    }

    /// Converted as in an assignment.
    pub(crate) fn converted(&self, value: Value, to: &ast::Scalar) -> Value {
        if to.is_bool {
            return Value {
                e: Expr::Binary(BinaryOp::Ne, Box::new(value.e), Box::new(Expr::from(0))),
                ty: ScalarType::I32,
            };
        }
        if value.ty == to.ty {
            return value;
        }
        let value = if to.ty.is_float() { self.relaxed(value) } else { value };
        self.typed(value.e, to.ty)
    }

    /// What is stored of a value in an array of this type: of a `_Bool` whether it is not zero.
    pub(crate) fn as_flag(&self, value: Value, of: &ast::Type) -> Value {
        match of.innermost() {
            ast::Type::Scalar(scalar) if scalar.is_bool => self.converted(value, scalar),
            _ => value,
        }
    }

    /// Without a conversion to unsigned that changes nothing, where the value is converted anyway.
    pub(crate) fn relaxed(&self, value: Value) -> Value {
        match &value.e {
            Expr::Cast(ty, inner) if wraps(*ty) => match &**inner {
                Expr::Affine(a) if self.facts.prove_non_negative(a) => {
                    let e = Expr::Affine(a.clone());
                    Value { ty: self.natural(&e), e }
                }
                _ => value,
            },
            _ => value,
        }
    }

    fn check_size(&self, value: Value, at: Range) -> Lowered<Value> {
        let mut n_nodes = 0;
        value.e.visit(&mut |_| n_nodes += 1);
        if n_nodes > MAX_NODES {
            return Err(Refusal::new(at, "the expression becomes too large with its functions inlined")
                .help("keep parts of it in variables"));
        }
        Ok(value)
    }

    /// The refusal of a member that is not read.
    fn unread_member(&self, base: &ast::Expr, field: &str, at: Range) -> Box<Refusal> {
        if let Some(refusal) = no_member(self.cx.file, base, field, at) {
            return refusal;
        }
        let message = match base.kind {
            ExprKind::Var(v) => format!("`{}` is a structure; its member `{field}` is used", self.name(v)),
            _ => format!("the member `{field}` of a structure is used"),
        };
        Refusal::new(at, message).help("copy the member into a local variable before the loop")
    }

    /// The value of an expression without side effects.
    pub(crate) fn value(&mut self, e: &ast::Expr) -> Lowered<Value> {
        let at = e.range;
        Ok(match &e.kind {
            ExprKind::Int(value, ty) => self.typed(Expr::from(*value), *ty),
            ExprKind::Float(text, ty) => Value { e: Expr::Float { text: text.clone(), ty: *ty }, ty: *ty },
            ExprKind::Var(v) => self.var_value(*v, at)?,
            ExprKind::Name(name) => {
                return Err(Refusal::new(at, format!("`{name}` is not known as a variable here")));
            }
            ExprKind::Promote(inner) => {
                let inner = self.value(inner)?;
                let ty = promoted(inner.ty);
                self.typed(inner.e, ty)
            }
            ExprKind::Unary(op, inner) => {
                let inner = self.value(inner)?;
                self.unary(*op, inner)
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), l, r)
                if (is_null(l) || is_null(r)) && self.are_pointers(l, r) =>
            {
                let value = self.value(if is_null(l) { r } else { l })?;
                match op {
                    BinaryOp::Ne => value,
                    _ => self.unary(UnaryOp::Not, value),
                }
            }
            ExprKind::Binary(op, l, r)
                if !matches!(op, BinaryOp::And | BinaryOp::Or) && self.are_pointers(l, r) =>
            {
                return self.of_pointers(*op, l, r, at);
            }
            ExprKind::Binary(op, l, r) => {
                let l = self.value(l)?;
                let r = match op {
                    BinaryOp::And | BinaryOp::Or => self.unsurely(|s| s.value(r))?,
                    _ => self.value(r)?,
                };
                let value = self.binary(*op, l, r, at)?;
                self.check_size(value, at)?
            }
            ExprKind::Index(..) | ExprKind::Deref(_) => {
                if !self.stores_to_elements(e)
                    && let Some(var) = self.of_element(e)?
                {
                    return self.var_value(var, at);
                }
                let (access, scalar) = self.access(e)?;
                match self.symbol_behind(&access) {
                    // `*n` of a parameter `n` for which `&m` is passed is what `m` is by its name.
                    Some(var) => return self.var_value(var, at),
                    None => Value { e: Expr::Read(access), ty: scalar.ty },
                }
            }
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                let (then, otherwise) = self.unsurely(|s| (s.value(then), s.value(otherwise)));
                let (then, otherwise) = (then?, otherwise?);
                let value = self.select(condition.e, then, otherwise);
                self.check_size(value, at)?
            }
            ExprKind::Cast(Type::Scalar(_), inner) if self.are_pointers(inner, inner) => {
                return Err(Refusal::new(at, "a pointer is used as a value"));
            }
            ExprKind::Cast(Type::Scalar(scalar), inner) => {
                let inner = self.value(inner)?;
                self.converted(inner, scalar)
            }
            ExprKind::Cast(..) => {
                return Err(Refusal::new(at, "a value is converted to a type that is not a number"));
            }
            ExprKind::SizeofType(ty) => self.size_of(ty, at)?,
            ExprKind::SizeofExpr(inner) => match self.type_of(inner) {
                Some(ty) => self.size_of(&ty, at)?,
                None => return Err(Refusal::new(at, "`sizeof` of something of unknown size")),
            },
            ExprKind::Call(callee, args) => {
                let value = match (self.call(callee, args, at), &callee.kind) {
                    (Err(why_not), ExprKind::Name(name)) => self.hoisted_call(name, args, at, why_not)?,
                    (value, _) => value?,
                };
                self.check_size(value, at)?
            }
            ExprKind::Member(_, field) if PARTS.contains(&field.as_str()) => return Err(self.lost_part(at)),
            ExprKind::Member(base, _) if self.is_in_row(base) => {
                let (access, scalar) = self.access(e)?;
                Value { e: Expr::Read(access), ty: scalar.ty }
            }
            ExprKind::Member(base, field) => return Err(self.unread_member(base, field, at)),
            ExprKind::Assign(..) | ExprKind::Step { .. } => {
                return Err(Refusal::new(at, "an assignment inside an expression")
                    .help("give the assignment a statement of its own"));
            }
            ExprKind::Part(function, single, args) => {
                let ty = if *single { ScalarType::F32 } else { ScalarType::F64 };
                let mut values = Vec::new();
                for arg in args {
                    let value = self.value(arg)?;
                    values.push(self.relaxed(value).e);
                }
                let call = Expr::Call { function: *function, single: *single, args: values };
                self.check_size(Value { e: call, ty }, at)?
            }
            ExprKind::Complex(..) => {
                return Err(Refusal::new(at, "a complex number is used where a real one is expected")
                    .help("take its real part by `creal`, if that is meant"));
            }
            ExprKind::Both(..) => {
                return Err(Refusal::new(at, "an assignment inside an expression")
                    .help("give the assignment a statement of its own"));
            }
            ExprKind::List(_) => return Err(Refusal::new(at, "a list of initial values as a value")),
            ExprKind::Comma(..) => {
                return Err(Refusal::new(at, "a comma expression as a value")
                    .help("write its parts as statements of their own"));
            }
            ExprKind::AddressOf(_) => return Err(Refusal::new(at, "an address is used as a value")),
            ExprKind::Unknown(what, inside) => return Err(Refusal::of_unknown(at, what, inside)),
        })
    }

    fn are_pointers(&self, l: &ast::Expr, r: &ast::Expr) -> bool {
        [l, r].into_iter().any(|e| self.type_of(e).is_some_and(|ty| ty.is_pointer()))
    }

    /// Whether a pointer that does not change is not null, as a number.
    fn is_not_null(&mut self, var: VarId, at: Range) -> Lowered<Value> {
        let name = self.name(var);
        let file = self.cx.file;
        let is_set = [&self.scan.written, &self.scan.declared, &self.scan.iterators];
        let is_set = is_set.iter().any(|set| set.contains(&var));
        if !matches!(file.var(var).ty, Type::Pointer { .. })
            || file.is_member(var)
            || is_set
            || self.is_global(var)
        {
            return Err(Refusal::new(at, format!("the pointer `{name}` is used as a value")));
        }
        self.check_visible(var, at)?;
        let id = match self.state.null_tests.get(&var) {
            Some(id) => *id,
            None => {
                let id = self.state.program.add_symbol(format!("({name} != 0)"), ScalarType::I32);
                self.state.null_tests.insert(var, id);
                id
            }
        };
        Ok(Value { e: Expr::from(id), ty: ScalarType::I32 })
    }

    /// The variable that an access reads, if it is a number that its name would be a symbol for.
    fn symbol_behind(&self, access: &Access) -> Option<VarId> {
        let var = *self.state.vars.get(&access.array).filter(|_| access.indices.is_empty())?;
        let variable = self.cx.file.var(var);
        let is_integer = matches!(&variable.ty, Type::Scalar(s) if !s.ty.is_float() && !s.is_volatile);
        let is_set = [&self.scan.written, &self.scan.declared, &self.scan.iterators];
        let is_fixed = is_set.iter().all(|set| !set.contains(&var)) && !self.scan.is_cut_short;
        (is_integer && is_fixed && !self.cx.file.is_member(var)).then_some(var)
    }

    fn var_value(&mut self, var: VarId, at: Range) -> Lowered<Value> {
        let name = self.name(var);
        match self.bound.get(&var) {
            Some(Bound::Value(value)) => return Ok(value.clone()),
            Some(Bound::Pointer(pointer)) => {
                let is_whole = pointer.indices.is_empty() && pointer.offset.is_none() && !pointer.is_object;
                let base = pointer.base;
                if is_whole && base != var {
                    return self.is_not_null(base, at);
                }
                return Err(Refusal::new(at, format!("the pointer `{name}` is used as a value")));
            }
            None => {}
        }
        if let Some(value) = self.cx.file.values.get(&var) {
            return self.value(value);
        }
        if matches!(self.cx.file.var(var).ty, Type::Pointer { .. }) {
            return self.is_not_null(var, at);
        }
        if let Some(member) = self.redirected(var, at)? {
            if member.indices.is_empty() && member.offset.is_none() {
                return self.var_value(member.base, at);
            }
            let (access, scalar) = self.access(&ast::Expr { kind: ExprKind::Var(var), range: at })?;
            return Ok(Value { e: Expr::Read(access), ty: scalar.ty });
        }
        self.names(var, at)?;
        let scalar = match &self.cx.file.var(var).ty {
            Type::Scalar(scalar) => scalar,
            Type::Pointer { .. } | Type::Array { .. } => {
                return Err(Refusal::new(at, format!("the pointer `{name}` is used as a value")));
            }
            Type::Struct(_) => {
                return Err(Refusal::new(at, format!("`{name}` is a structure and used as a whole"))
                    .help("use its members one by one"));
            }
            Type::Other(what) => {
                return Err(Refusal::new(at, format!("`{name}` is {what}, which cannot be analysed"))
                    .help("copy the value you need from it into a local variable before the loop"));
            }
            Type::Void | Type::Function => return Err(Refusal::new(at, format!("`{name}` has no value"))),
        };
        if scalar.is_volatile {
            return Err(Refusal::new(
                at,
                format!("`{name}` is volatile or atomic: every access must stay as it is"),
            ).help("copy it into a plain variable before the loop, if nobody else changes or looks at it meanwhile"));
        }
        if let Some((_, id)) = self.loops.iter().rev().find(|(v, _)| *v == Some(var)) {
            return Ok(self.typed(Expr::from(*id), promoted(scalar.ty)));
        }
        if let (Some(value), false) = (self.cx.file.constants.get(&var), scalar.ty.is_float()) {
            return Ok(self.typed(Expr::from(*value), scalar.ty));
        }
        let is_set = [&self.scan.written, &self.scan.declared, &self.scan.iterators];
        let is_constant = is_set.iter().all(|set| !set.contains(&var));
        if is_constant && !scalar.ty.is_float() {
            let id = self.symbol(var, scalar.ty, at)?;
            let ty = promoted(scalar.ty);
            return Ok(self.typed(Expr::from(id), ty));
        }
        let array = self.array(var, at)?;
        Ok(Value { e: Expr::Read(Access::scalar(array)), ty: scalar.ty })
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, inner: Value) -> Value {
        match op {
            UnaryOp::Not => {
                if let Some(value) = constant(&inner) {
                    return Value { e: Expr::from(i64::from(value == 0)), ty: ScalarType::I32 };
                }
                Value { e: Expr::Unary(op, Box::new(inner.e)), ty: ScalarType::I32 }
            }
            UnaryOp::Neg | UnaryOp::BitNot => {
                let ty = promoted(inner.ty);
                match constant(&inner) {
                    Some(value) if op == UnaryOp::BitNot && !is_unsigned(ty) => {
                        self.typed(Expr::from(!value), ty)
                    }
                    _ => self.typed(Expr::unary(op, inner.e), ty),
                }
            }
        }
    }

    /// `l op r` by C's rules, kept affine where that is exact.
    pub(crate) fn binary(&mut self, op: BinaryOp, l: Value, r: Value, at: Range) -> Lowered<Value> {
        let ty = common(l.ty, r.ty);
        let boxed = |op, l: Expr, r: Expr| Expr::Binary(op, Box::new(l), Box::new(r));
        if ty.is_float() {
            if matches!(
                op,
                BinaryOp::Rem
                    | BinaryOp::BitAnd
                    | BinaryOp::BitOr
                    | BinaryOp::BitXor
                    | BinaryOp::Shl
                    | BinaryOp::Shr
            ) {
                return Err(Refusal::new(at, "an integer operator on floating-point values")
                    .help("convert them to integers first"));
            }
            let (l, r) = (self.relaxed(l), self.relaxed(r));
            let is_truth = is_comparison(op) || matches!(op, BinaryOp::And | BinaryOp::Or);
            return Ok(Value { e: boxed(op, l.e, r.e), ty: if is_truth { ScalarType::I32 } else { ty } });
        }
        if let (Some(a), Some(b)) = (constant(&l), constant(&r)) {
            let result = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { promoted(l.ty) } else { ty };
            if let Some((value, is_truth)) = fold(op, a, b, result) {
                return Ok(self.typed(Expr::from(value), if is_truth { ScalarType::I32 } else { result }));
            }
        }
        match op {
            BinaryOp::And | BinaryOp::Or => Ok(Value { e: boxed(op, l.e, r.e), ty: ScalarType::I32 }),
            _ if is_comparison(op) => {
                let (le, re) = match (self.exact(&self.compared(&l, ty)), self.exact(&self.compared(&r, ty)))
                {
                    (Some(Expr::Affine(a)), Some(Expr::Affine(b))) => (Expr::Affine(a), Expr::Affine(b)),
                    _ => (l.e, r.e),
                };
                Ok(Value { e: boxed(op, le, re), ty: ScalarType::I32 })
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let ty = promoted(l.ty);
                let factor =
                    constant(&r).filter(|_| op == BinaryOp::Shl && !wraps(ty)).and_then(|s| match s {
                        0..=30 => Some(1i64 << s),
                        _ => None,
                    });
                Ok(match (factor, l.e.as_affine()) {
                    (Some(factor), Some(a)) => self.typed(Expr::Affine(a.scaled(factor)), ty),
                    _ => self.typed(boxed(op, l.e, r.e), ty),
                })
            }
            BinaryOp::Div | BinaryOp::Rem if self.digit(op, &l, &r).is_some() => {
                let digit = self.digit(op, &l, &r).unwrap_or_else(|| Expr::from(0));
                Ok(self.typed(digit, ty))
            }
            BinaryOp::Rem | BinaryOp::BitAnd if self.residue(op, &l, &r).is_some() => {
                let residue = self.residue(op, &l, &r).unwrap_or_default();
                Ok(self.typed(Expr::from(residue), ty))
            }
            BinaryOp::Div | BinaryOp::Rem => {
                let exact = match (l.e.as_affine(), constant(&r)) {
                    (Some(a), Some(divisor)) if divisor != 0 && !wraps(ty) => divided(a, divisor),
                    _ => None,
                };
                Ok(match exact {
                    Some(quotient) if op == BinaryOp::Div => self.typed(Expr::Affine(quotient), ty),
                    Some(_) => self.typed(Expr::from(0), ty),
                    None => self.typed(boxed(op, l.e, r.e), ty),
                })
            }
            _ => Ok(self.typed(Expr::binary(op, l.e, r.e), ty)),
        }
    }

    /// `l % r` or `l & r`, if the facts about iterators determine it.
    fn residue(&self, op: BinaryOp, l: &Value, r: &Value) -> Option<i64> {
        let number = match (op, constant(r)?) {
            (BinaryOp::Rem, number) if number > 1 => number,
            (BinaryOp::BitAnd, mask) if mask > 0 && mask & (mask + 1) == 0 => mask + 1,
            _ => return None,
        };
        let a = match &l.e {
            Expr::Cast(ty, inner) if !ty.is_float() => inner.as_affine()?,
            e => e.as_affine()?,
        };
        let mut like = Affine::constant(a.constant_part());
        for (var, c) in a.terms() {
            let known = match var {
                Var::Loop(id) => self.residues.get(&id),
                Var::Sym(_) => None,
            };
            like = like
                + match known {
                    Some((first, modulus)) if c.checked_mul(*modulus)?.checked_rem(number)? == 0 => {
                        first.scaled(c)
                    }
                    _ => Affine::term(var, c),
                };
        }
        let residue = like.constant_part();
        for (_, c) in like.terms() {
            if c.checked_rem(number)? != 0 {
                return None;
            }
        }
        let residue = residue.rem_euclid(number);
        // The remainder has the sign of the number, which must not wrap in its type either.
        self.facts.prove_non_negative(a).then_some(residue)
    }

    /// `condition ? then : otherwise`.
    pub(crate) fn select(&mut self, condition: Expr, then: Value, otherwise: Value) -> Value {
        let ty = common(then.ty, otherwise.ty);
        if let Some(value) = condition.as_affine().and_then(Affine::as_constant) {
            let chosen = if value != 0 { then } else { otherwise };
            return self.typed(chosen.e, ty);
        }
        if let Expr::Binary(op, x, y) = &condition {
            // With equal operands both sides are the same integer, but may be different zeros.
            let is_less = match op {
                BinaryOp::Lt => Some(true),
                BinaryOp::Gt => Some(false),
                BinaryOp::Le if !ty.is_float() => Some(true),
                BinaryOp::Ge if !ty.is_float() => Some(false),
                _ => None,
            };
            if let Some(is_less) = is_less {
                let (first, second) = (Box::new(then.e.clone()), Box::new(otherwise.e.clone()));
                if **x == then.e && **y == otherwise.e {
                    let op = if is_less { BinaryOp::Min } else { BinaryOp::Max };
                    return self.typed(Expr::Binary(op, first, second), ty);
                }
                if **x == otherwise.e && **y == then.e {
                    let op = if is_less { BinaryOp::Max } else { BinaryOp::Min };
                    return self.typed(Expr::Binary(op, first, second), ty);
                }
            }
        }
        let e = Expr::Select {
            condition: Box::new(condition),
            then: Box::new(then.e),
            otherwise: Box::new(otherwise.e),
        };
        self.typed(e, ty)
    }

    fn size_of(&mut self, ty: &Type, at: Range) -> Lowered<Value> {
        fn bytes(ty: &Type) -> Option<i64> {
            match ty {
                Type::Scalar(s) => Some(s.ty.bytes() as i64),
                Type::Pointer { .. } => Some(8),
                Type::Array { of, len: Some(len), .. } => bytes(of)?.checked_mul(crate::ast::constant(len)?),
                _ => None,
            }
        }
        let structure = || self.cx.file.layout(ty).and_then(|(bytes, _)| i64::try_from(bytes).ok());
        match bytes(ty).or_else(structure) {
            Some(n) => Ok(self.typed(Expr::from(n), ScalarType::U64)),
            None => Err(Refusal::new(at, "`sizeof` of something of unknown size")),
        }
    }
}

/// `0`, `NULL`.
fn is_null(e: &ast::Expr) -> bool {
    matches!(e.uncast().kind, ExprKind::Int(0, _))
}

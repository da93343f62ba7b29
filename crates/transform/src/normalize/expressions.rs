//! Canonical expressions.
//!
//! Under the strict policy, constants of integer type become literals of the type they are used in, and operands of `+`
//! and `*` are put in structural order; both keep every value bit for bit. When floating point may be reassociated,
//! sums of products become polynomials: literal factors are multiplied out and collected, like terms are added, and
//! terms with the same coefficient share it: `0.5*(a − 2.0*b + c) + b` becomes `0.5*(a + c)`.

use super::shapes::{Hash, Roles, Shapes};
use crate::policy::Policy;
use oxeye_ir::{BinaryOp, Expr, Loop, Program, ScalarType, Stmt, Types, UnaryOp, Update};

/// What is needed to put the expressions of one statement into canonical form.
pub(super) struct Canonical<'a> {
    pub(super) shapes: &'a Shapes,
    pub(super) roles: Roles,
    types: Types<'a>,
    element: ScalarType,
    reassociate: bool,
}

/// `coefficient · Π factors / Π divisors`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    coefficient: f64,
    factors: Vec<Expr>,
    divisors: Vec<Expr>,
}

impl<'a> Canonical<'a> {
    /// The context of `stmt` inside the loops in `path`.
    pub(super) fn new(
        program: &'a Program,
        shapes: &'a Shapes,
        path: &'a [&'a Loop],
        stmt: &Stmt,
        policy: Policy,
    ) -> Self {
        Self {
            shapes,
            roles: shapes.roles(stmt, path),
            types: Types::inside(program, path),
            element: program.array(stmt.target.array).element,
            reassociate: policy.reassociate,
        }
    }

    /// The statement with canonical value and update.
    pub(super) fn stmt(&self, stmt: &Stmt) -> Stmt {
        let mut stmt = stmt.clone();
        stmt.value = self.coerced(self.expr(&stmt.value), self.element);
        let (update, value) = self.update(&stmt);
        stmt.update = update;
        stmt.value = value;
        stmt
    }

    /// Whether the value is a polynomial in the element's own floating-point type.
    fn is_polynomial(&self, value: &Expr) -> bool {
        self.reassociate && self.element.is_float() && self.types.expr(value) == self.element
    }

    /// The terms that an accumulation adds, if there are several and they may be added separately.
    pub(super) fn summands(&self, stmt: &Stmt) -> Option<Vec<Expr>> {
        // A term that reads the sum must see its old value.
        let reads_own = stmt.value.reads().iter().any(|a| a.array == stmt.target.array);
        if stmt.update != Update::Add || reads_own || !self.is_polynomial(&stmt.value) {
            return None;
        }
        let terms = self.gathered(self.terms(&stmt.value, self.element));
        (terms.len() > 1).then(|| terms.into_iter().map(|t| self.sum(vec![t], self.element)).collect())
    }

    /// `x = x + e` as `x += e`, with signs moved into the update.
    fn update(&self, stmt: &Stmt) -> (Update, Expr) {
        let own = Expr::Read(stmt.target.clone());
        let same_type = self.types.expr(&stmt.value) == self.element;
        if self.is_polynomial(&stmt.value)
            && let Some(found) = self.polynomial_update(stmt, &own)
        {
            return found;
        }
        let mentions = |e: &Expr| e.reads().iter().any(|a| a.array == stmt.target.array);
        let found = match (stmt.update, &stmt.value) {
            (Update::Assign, Expr::Binary(op, l, r)) if same_type => match op {
                BinaryOp::Add if **l == own => Some((Update::Add, r)),
                BinaryOp::Add if **r == own => Some((Update::Add, l)),
                BinaryOp::Mul if **l == own => Some((Update::Mul, r)),
                BinaryOp::Mul if **r == own => Some((Update::Mul, l)),
                BinaryOp::Sub if **l == own => Some((Update::Sub, r)),
                BinaryOp::Div if **l == own => Some((Update::Div, r)),
                _ => None,
            },
            (Update::Add, Expr::Unary(UnaryOp::Neg, e)) if self.element.is_float() => Some((Update::Sub, e)),
            (Update::Sub, Expr::Unary(UnaryOp::Neg, e)) if self.element.is_float() => Some((Update::Add, e)),
            _ => None,
        };
        match found {
            // The type in which the value is computed must not change.
            Some((update, e)) if !mentions(e) && self.types.expr(e).common(self.element) == self.element => {
                (update, (**e).clone())
            }
            _ => (stmt.update, stmt.value.clone()),
        }
    }

    fn polynomial_update(&self, stmt: &Stmt, own: &Expr) -> Option<(Update, Expr)> {
        let mut terms = self.gathered(self.terms(&stmt.value, self.element));
        let mentions = |t: &Term| {
            t.factors
                .iter()
                .chain(&t.divisors)
                .any(|e| e.reads().iter().any(|a| a.array == stmt.target.array))
        };
        match stmt.update {
            Update::Assign => {
                let k = terms.iter().position(|t| {
                    t.factors.contains(own)
                        && (terms.len() == 1 || (t.factors.len() == 1 && t.coefficient == 1.0))
                })?;
                let mut rest = terms.clone();
                let mut term = rest.remove(k);
                term.factors.remove(term.factors.iter().position(|f| f == own)?);
                if terms.len() == 1 {
                    if mentions(&term) || !term.divisors.is_empty() {
                        return None;
                    }
                    return Some((Update::Mul, self.sum(vec![term], self.element)));
                }
                if !term.divisors.is_empty() || rest.iter().any(mentions) {
                    return None;
                }
                terms = rest;
            }
            Update::Sub => terms.iter_mut().for_each(|t| t.coefficient = -t.coefficient),
            Update::Add => {}
            _ => return None,
        }
        if terms.iter().all(|t| t.coefficient < 0.0) {
            terms.iter_mut().for_each(|t| t.coefficient = -t.coefficient);
            return Some((Update::Sub, self.sum(terms, self.element)));
        }
        Some((Update::Add, self.sum(terms, self.element)))
    }

    /// The canonical form of an expression.
    pub(super) fn expr(&self, expr: &Expr) -> Expr {
        let ty = self.types.expr(expr);
        let arithmetic = matches!(
            expr,
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, ..)
                | Expr::Unary(UnaryOp::Neg, _)
        );
        if self.reassociate && ty.is_float() && arithmetic {
            return self.sum(self.gathered(self.terms(expr, ty)), ty);
        }
        let mut expr = expr.clone();
        for child in expr.children_mut() {
            *child = self.expr(child);
        }
        match expr {
            Expr::Binary(op, l, r) => {
                let (mut l, mut r) = (*l, *r);
                let common = self.types.expr(&l).common(self.types.expr(&r));
                if common.is_float() && !op.is_integer_only() && !matches!(op, BinaryOp::And | BinaryOp::Or) {
                    (l, r) = (self.coerced(l, common), self.coerced(r, common));
                }
                if matches!(op, BinaryOp::Add | BinaryOp::Mul) && self.key(&r) < self.key(&l) {
                    std::mem::swap(&mut l, &mut r);
                }
                Expr::binary(op, l, r)
            }
            Expr::Cast(ty, e) => match self.coerced(*e, ty) {
                literal @ Expr::Float { .. } if self.types.expr(&literal) == ty => literal,
                other => Expr::Cast(ty, Box::new(other)),
            },
            Expr::Call { function, single, mut args } => {
                let ty = if single { ScalarType::F32 } else { ScalarType::F64 };
                if function.integers().is_none() {
                    args = args.into_iter().map(|a| self.coerced(a, ty)).collect();
                }
                Expr::Call { function, single, args }
            }
            Expr::Float { text, ty } => spelled(&text, ty).unwrap_or(Expr::Float { text, ty }),
            other => other,
        }
    }

    fn key(&self, expr: &Expr) -> u64 {
        self.shapes.expr(expr, &self.roles)
    }

    /// An integer constant as a literal of a floating-point type, where that is exact.
    fn coerced(&self, expr: Expr, ty: ScalarType) -> Expr {
        let Some(value) = expr.as_affine().and_then(|a| a.as_constant()) else { return expr };
        let exact = match ty {
            ScalarType::F64 => value.unsigned_abs() < 1 << 53,
            ScalarType::F32 => value.unsigned_abs() < 1 << 24,
            _ => false,
        };
        if exact { literal(value as f64, ty) } else { expr }
    }

    /// An expression of type `ty` as a sum of terms.
    fn terms(&self, expr: &Expr, ty: ScalarType) -> Vec<Term> {
        let one = |factor: Expr| vec![Term { coefficient: 1.0, factors: vec![factor], divisors: Vec::new() }];
        let constant = |c: f64| vec![Term { coefficient: c, factors: Vec::new(), divisors: Vec::new() }];
        // Operands of another type are converted as a whole.
        let side = |e: &Expr| match value_of(&self.coerced(self.expr_if_constant(e), ty)) {
            Some(value) if self.types.expr(e) == ty || e.as_affine().is_some() => constant(value),
            _ if self.types.expr(e) == ty => self.terms(e, ty),
            _ => one(Expr::Cast(ty, Box::new(self.expr(e)))),
        };
        match expr {
            Expr::Float { .. } => value_of(expr).map_or_else(|| one(expr.clone()), constant),
            Expr::Unary(UnaryOp::Neg, e) => scaled(side(e), -1.0),
            Expr::Binary(BinaryOp::Add, l, r) => [side(l), side(r)].concat(),
            Expr::Binary(BinaryOp::Sub, l, r) => [side(l), scaled(side(r), -1.0)].concat(),
            Expr::Binary(BinaryOp::Mul, l, r) => {
                let (l, r) = (self.gathered(side(l)), self.gathered(side(r)));
                match (literal_of(&l), literal_of(&r)) {
                    (Some(c), _) => scaled(r, c),
                    (_, Some(c)) => scaled(l, c),
                    _ => {
                        let (mut l, r) = (self.single(l, ty), self.single(r, ty));
                        l.coefficient *= r.coefficient;
                        l.factors.extend(r.factors);
                        l.divisors.extend(r.divisors);
                        vec![l]
                    }
                }
            }
            Expr::Binary(BinaryOp::Div, l, r) => {
                let mut term = self.single(self.gathered(side(l)), ty);
                let divisor = self.coerced(self.expr(r), ty);
                let same = self.types.expr(&divisor) == ty;
                term.divisors.push(if same { divisor } else { Expr::Cast(ty, Box::new(divisor)) });
                vec![term]
            }
            _ => match self.expr(expr) {
                e @ Expr::Float { .. } => value_of(&e).map_or_else(|| one(e), constant),
                e => one(e),
            },
        }
    }

    fn expr_if_constant(&self, e: &Expr) -> Expr {
        match e {
            Expr::Affine(_) | Expr::Float { .. } | Expr::Cast(..) => self.expr(e),
            _ => e.clone(),
        }
    }

    /// A sum as one term: a sum of several terms becomes a factor, without their common coefficient.
    fn single(&self, mut terms: Vec<Term>, ty: ScalarType) -> Term {
        if terms.len() == 1
            && let Some(only) = terms.pop()
        {
            return only;
        }
        let shared = terms.first().map_or(1.0, |t| t.coefficient.abs());
        let coefficient = if terms.iter().all(|t| t.coefficient.abs() == shared) { shared } else { 1.0 };
        if coefficient != 1.0 {
            terms.iter_mut().for_each(|t| t.coefficient = t.coefficient.signum());
        }
        Term { coefficient, factors: vec![self.sum(terms, ty)], divisors: Vec::new() }
    }

    /// Adds like terms; puts factors and terms in order.
    fn gathered(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut found: Vec<(u64, Term)> = Vec::new();
        for mut term in terms {
            term.factors.sort_by_key(|f| self.key(f));
            term.divisors.sort_by_key(|f| self.key(f));
            match found.iter_mut().find(|(_, t)| t.factors == term.factors && t.divisors == term.divisors) {
                Some((_, t)) if t.coefficient + term.coefficient != 0.0 => t.coefficient += term.coefficient,
                _ => {
                    let key = term.factors.iter().fold(Hash::new("product"), |h, f| h.number(self.key(f)));
                    let key = term.divisors.iter().fold(key.text("over"), |h, f| h.number(self.key(f)));
                    found.push((key.0, term));
                }
            }
        }
        found.sort_by_key(|(key, t)| (t.coefficient.abs().to_bits(), t.coefficient < 0.0, *key));
        found.into_iter().map(|(_, t)| t).collect()
    }

    /// The expression for a sum of gathered terms.
    fn sum(&self, terms: Vec<Term>, ty: ScalarType) -> Expr {
        let mut groups: Vec<Vec<Term>> = Vec::new();
        for term in terms {
            match groups.last_mut() {
                Some(g) if g[0].coefficient.abs() == term.coefficient.abs() => g.push(term),
                _ => groups.push(vec![term]),
            }
        }
        // Groups whose terms are all negative are subtracted, last.
        let (positive, negative): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|g| g.iter().any(|t| t.coefficient >= 0.0));
        let mut total: Option<Expr> = None;
        for (group, is_negative) in
            positive.into_iter().map(|g| (g, false)).chain(negative.into_iter().map(|g| (g, true)))
        {
            let e = group_expr(group, is_negative, ty);
            total = Some(match (total, is_negative) {
                (None, false) => e,
                (None, true) => Expr::unary(UnaryOp::Neg, e),
                (Some(sum), false) => Expr::binary(BinaryOp::Add, sum, e),
                (Some(sum), true) => Expr::binary(BinaryOp::Sub, sum, e),
            });
        }
        total.unwrap_or_else(|| literal(0.0, ty))
    }
}

/// The sum of terms with the same absolute coefficient; with all signs inverted if `is_negative`.
fn group_expr(group: Vec<Term>, is_negative: bool, ty: ScalarType) -> Expr {
    let coefficient = group[0].coefficient.abs();
    if let [only] = group.as_slice() {
        return product(only, coefficient, ty);
    }
    let mut sum: Option<Expr> = None;
    for term in &group {
        let minus = (term.coefficient < 0.0) != is_negative;
        let e = product(term, 1.0, ty);
        sum = Some(match (sum, minus) {
            (None, false) => e,
            (None, true) => Expr::unary(UnaryOp::Neg, e),
            (Some(sum), false) => Expr::binary(BinaryOp::Add, sum, e),
            (Some(sum), true) => Expr::binary(BinaryOp::Sub, sum, e),
        });
    }
    let sum = sum.unwrap_or_else(|| literal(0.0, ty));
    if coefficient == 1.0 { sum } else { Expr::binary(BinaryOp::Mul, literal(coefficient, ty), sum) }
}

fn product(term: &Term, coefficient: f64, ty: ScalarType) -> Expr {
    let own = (coefficient != 1.0 || term.factors.is_empty()).then(|| literal(coefficient, ty));
    let factors = own.into_iter().chain(term.factors.iter().cloned());
    let product = factors.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
    let product = product.unwrap_or_else(|| literal(coefficient, ty));
    term.divisors.iter().fold(product, |a, d| Expr::binary(BinaryOp::Div, a, d.clone()))
}

fn scaled(mut terms: Vec<Term>, by: f64) -> Vec<Term> {
    terms.iter_mut().for_each(|t| t.coefficient *= by);
    terms
}

/// The value of a sum that is a single literal.
fn literal_of(terms: &[Term]) -> Option<f64> {
    match terms {
        [Term { coefficient, factors, divisors }] if factors.is_empty() && divisors.is_empty() => {
            Some(*coefficient)
        }
        _ => None,
    }
}

/// The value of a floating literal.
fn value_of(expr: &Expr) -> Option<f64> {
    let Expr::Float { text, ty } = expr else { return None };
    let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
    match ty {
        ScalarType::F32 => digits.parse::<f32>().ok().map(f64::from),
        _ => digits.parse().ok(),
    }
}

/// A literal in its shortest spelling; hexadecimal ones stay as they are.
fn spelled(text: &str, ty: ScalarType) -> Option<Expr> {
    if text.starts_with("0x") || text.starts_with("0X") {
        return None;
    }
    Some(literal(value_of(&Expr::Float { text: text.to_owned(), ty })?, ty))
}

fn literal(value: f64, ty: ScalarType) -> Expr {
    let text = match ty {
        ScalarType::F32 => format!("{:?}f", value as f32),
        _ => format!("{value:?}"),
    };
    if value < 0.0 || value.is_sign_negative() {
        let positive = literal(-value, ty);
        return Expr::unary(UnaryOp::Neg, positive);
    }
    Expr::Float { text, ty }
}

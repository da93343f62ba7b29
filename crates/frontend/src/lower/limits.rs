//! Where loops end: what their conditions say of the iterator.

use super::index::Mode;
use super::lowerer::Lowerer;
use super::value::{Value, common, constant, divided, is_unsigned};
use crate::ast::{self, ExprKind, Range};
use crate::refusal::{Lowered, Refusal};
use crate::scan::Scan;
use oxeye_ir::{Affine, BinaryOp, BoundTerm, Expr, LoopId, ScalarType, Var};

/// Bounds found so far.
pub(super) struct Limits {
    pub(super) id: LoopId,
    pub(super) is_increasing: bool,
    pub(super) is_unit: bool,
    /// The first value and the step, if both are constants.
    pub(super) steps: Option<(i64, i64)>,
    pub(super) ty: ScalarType,
    /// The value in the first iteration, if there is one such expression.
    pub(super) first: Option<Affine>,
    pub(super) terms: Vec<BoundTerm>,
    pub(super) guards: Vec<Expr>,
    /// The variables that the loop itself writes.
    pub(super) inside: Scan,
}

impl Limits {
    /// None yet, of a loop that counts upwards.
    pub(super) fn new(id: LoopId, ty: ScalarType, inside: Scan) -> Self {
        Limits {
            id,
            is_increasing: true,
            is_unit: false,
            steps: None,
            ty,
            first: None,
            terms: Vec::new(),
            guards: Vec::new(),
            inside,
        }
    }
}

impl Lowerer<'_> {
    /// Collects the limits that the condition sets.
    pub(super) fn limits(&mut self, condition: &ast::Expr, limits: &mut Limits) -> Lowered<()> {
        let at = condition.range;
        let zero = ast::Expr { kind: ExprKind::Int(0, ScalarType::I32), range: at };
        let own = self.loops.last().and_then(|(var, _)| *var);
        let (op, l, r) = match &condition.kind {
            ExprKind::Binary(op, l, r) => (op, &**l, &**r),
            // `for (i = n; i; i--)`.
            ExprKind::Var(v) if Some(*v) == own => (&BinaryOp::Ne, condition, &zero),
            _ => {
                return Err(Refusal::new(at, "the loop's condition is not a comparison of its variable")
                    .help("write it as `i < end`, with an end that is set before the loop"));
            }
        };
        if *op == BinaryOp::And {
            self.limits(l, limits)?;
            let n_sure = limits.terms.len();
            self.limits(r, limits)?;
            for term in &limits.terms[n_sure..] {
                let BoundTerm::Affine { expr, .. } = term else { continue };
                self.outcome.conditional.extend(expr.terms().filter_map(|(v, _)| match v {
                    Var::Sym(id) => Some(id),
                    Var::Loop(_) => None,
                }));
            }
            return Ok(());
        }
        let (l, r) = (self.value(l)?, self.value(r)?);
        let (l, r) = (self.ahead(l, at)?, self.ahead(r, at)?);
        let unsigned = [l.ty, r.ty, limits.ty].into_iter().any(is_unsigned);
        let op = match op {
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => *op,
            // If it were already past the end, it would overflow, which is undefined in C.
            BinaryOp::Ne if limits.is_unit && (!unsigned || self.is_before_end(&l, &r, limits)) => {
                let is_var_left = l.e.uses(limits.id);
                if is_var_left == limits.is_increasing { BinaryOp::Lt } else { BinaryOp::Gt }
            }
            BinaryOp::Ne if self.meets(limits, &l, &r) => {
                let is_var_left = l.e.uses(limits.id);
                if is_var_left == limits.is_increasing { BinaryOp::Lt } else { BinaryOp::Gt }
            }
            BinaryOp::Ne => {
                return Err(Refusal::new(at, "`!=` may miss the end of the loop").help("use `<` or `>`"));
            }
            _ => {
                return Err(Refusal::new(
                    at,
                    "the loop's condition does not compare its variable with an end",
                )
                .help("write it as `i < end`, with an end that is set before the loop"));
            }
        };
        let uses = |v: &Value| v.e.uses(limits.id);
        if !uses(&l) && !uses(&r) {
            let guard = self.binary(op, l, r, at)?;
            if let Some(name) = self.is_untouched(&guard.e, &limits.inside) {
                return Err(changing_end(at, &name));
            }
            if constant(&guard).is_none_or(|c| c == 0) {
                limits.guards.push(guard.e);
            }
            return Ok(());
        }
        // As `small (+ 1) <= great`.
        let (small, great, gap) = match op {
            BinaryOp::Lt => (l, r, 1),
            BinaryOp::Le => (l, r, 0),
            BinaryOp::Gt => (r, l, 1),
            _ => (r, l, 0),
        };
        if [&small, &great].iter().any(|v| v.ty.is_float()) {
            return Err(
                Refusal::new(at, "the loop's end is not an integer").help("convert it to an integer first")
            );
        }
        let is_upper = uses(&small);
        let mode = if is_upper { Mode::Limit } else { Mode::Exact };
        let ty = common(small.ty, great.ty);
        let strip = |l: &Self, v: &Value| {
            let e = l.compared(v, ty);
            if !uses(v) {
                return Ok(l.in_its_width(l.stripped(&e, mode).unwrap_or_else(|| e.clone()), &e));
            }
            l.stripped(&e, Mode::Exact).ok_or_else(|| {
                Refusal::new(at, "the comparison that ends the loop may wrap around")
                    .help("count with a signed type")
            })
        };
        if let Some(end) = [&small, &great].into_iter().find(|v| !uses(v)) {
            self.does_not_pass_zero(&self.compared(end, ty));
            self.keeps_within_unsigned(&end.e);
        }
        let (small, great) = (strip(self, &small)?, strip(self, &great)?);
        self.limit(small, great, gap, limits, at)
    }

    /// Whether the loop's variable, which steps by one, is not past the end at first that the condition says it is not equal to.
    fn is_before_end(&mut self, l: &Value, r: &Value, limits: &Limits) -> bool {
        let id = limits.id;
        let (own, end) = if l.e.uses(id) { (l, r) } else { (r, l) };
        let affine = |s: &Self, v: &Value| s.exact(&v.e)?.as_affine().cloned();
        let (Some(own), Some(end)) = (affine(self, own), affine(self, end)) else { return false };
        let (Some(first), true) = (&limits.first, own == Affine::var(id) && !end.uses(id)) else {
            return false;
        };
        let distance = end - first.clone();
        self.is_at_least(&if limits.is_increasing { distance } else { -distance }, 0)
    }

    /// Whether the loop's variable, which is on one side of a comparison, has the value of the other side at some time.
    fn meets(&self, limits: &Limits, l: &Value, r: &Value) -> bool {
        let Some((first, step)) = limits.steps else { return false };
        let var = Expr::from(Affine::var(limits.id));
        let is_var = |v: &Value| v.e == var || self.stripped(&v.e, Mode::Exact).is_some_and(|e| e == var);
        let end = if is_var(l) { constant(r) } else { constant(l).filter(|_| is_var(r)) };
        let way = end.and_then(|end| end.checked_sub(first));
        way.is_some_and(|way| way % step == 0 && way / step >= 0)
    }

    /// Whether `small + gap` is always greater than `end`.
    fn is_beyond(&self, small: &Expr, end: &Expr, gap: i64) -> bool {
        let (Some(small), Some(end)) = (small.as_affine(), end.as_affine()) else { return false };
        self.facts.prove_non_negative(&(small.clone() - end.clone()).offset(gap - 1))
    }

    /// `small + gap <= great`, one of which contains the loop's variable.
    fn limit(&mut self, small: Expr, great: Expr, gap: i64, limits: &mut Limits, at: Range) -> Lowered<()> {
        let unusual = || {
            Refusal::new(at, "the loop's condition is not linear in its variable")
                .help("compute the end before the loop, and write the condition as `i < end`")
        };
        let wrong_way = || {
            Refusal::new(at, "the loop's condition does not say where the loop ends in its direction")
                .help("use `<` in a loop that counts up, and `>` in one that counts down")
        };
        let id = limits.id;
        if let (Expr::Affine(a), Expr::Affine(b)) = (&small, &great) {
            // slack >= 0, in which the variable has the coefficient c.
            let slack = (b.clone() - a.clone()).offset(-gap);
            let c = slack.coefficient(id);
            let rest = slack - Affine::term(id, c);
            let is_upper = c < 0;
            if c == 0 {
                return Err(unusual());
            }
            if is_upper != limits.is_increasing {
                return Err(wrong_way());
            }
            let divisor = c.abs();
            // Upper: i <= rest / d, so i < ⌈(rest + 1) / d⌉. Lower: i >= -rest / d.
            let expr = if is_upper { rest.offset(1) } else { -rest };
            // `d·i < d·n` ends at `n`.
            let whole =
                expr.constant_part().div_euclid(divisor) + i64::from(expr.constant_part() % divisor != 0);
            let whole =
                divided(&expr.clone().offset(-expr.constant_part()), divisor).map(|a| a.offset(whole));
            limits.terms.push(match whole {
                Some(expr) => expr.into(),
                None => BoundTerm::Affine { expr, divisor },
            });
            return Ok(());
        }
        let is_upper = small.uses(id);
        if is_upper != limits.is_increasing {
            return Err(wrong_way());
        }
        let (own, other) = if is_upper { (&small, &great) } else { (&great, &small) };
        if other.uses(id) {
            return Err(unusual());
        }
        match other {
            // `i < max(0, n)` where `i` is never less than zero.
            Expr::Binary(BinaryOp::Max, l, r) if is_upper && self.is_beyond(&small, l, gap) => {
                return self.limit(small.clone(), (**r).clone(), gap, limits, at);
            }
            Expr::Binary(BinaryOp::Max, l, r) if is_upper && self.is_beyond(&small, r, gap) => {
                return self.limit(small.clone(), (**l).clone(), gap, limits, at);
            }
            Expr::Binary(BinaryOp::Min, l, r) if is_upper => {
                self.limit(small.clone(), (**l).clone(), gap, limits, at)?;
                return self.limit(small.clone(), (**r).clone(), gap, limits, at);
            }
            Expr::Binary(BinaryOp::Max, l, r) if !is_upper => {
                self.limit((**l).clone(), great.clone(), gap, limits, at)?;
                return self.limit((**r).clone(), great.clone(), gap, limits, at);
            }
            _ => {}
        }
        let Some(rest) = own.as_affine().filter(|a| a.coefficient(id) == 1).map(|a| a.clone() - id.into())
        else {
            return Err(unusual());
        };
        if let Some(name) = self.is_untouched(other, &limits.inside) {
            return Err(changing_end(at, &name));
        }
        // Upper: i < other - rest + (1 - gap). Lower: i >= other + gap - rest.
        let shift = -rest + Affine::constant(if is_upper { 1 - gap } else { gap });
        if let Some(offset) = shift.as_constant() {
            // A negative numerator is rounded the other way, but to a value not above zero in both cases.
            let is_harmless = is_upper && offset <= 0 && self.facts.prove_non_negative(&Affine::var(id));
            // With what is computed before the nest, it is compared in the same terms.
            let is_before = self.is_computed_before(other);
            if let Some(term) = self.quotient(other, offset, is_harmless).filter(|_| !is_before) {
                limits.terms.push(term);
                return Ok(());
            }
        }
        let data = Expr::binary(BinaryOp::Add, other.clone(), Expr::Affine(shift)).without_zero();
        let end = self.end_before(data);
        limits.terms.push(end);
        Ok(())
    }

    /// A first or last value of a loop's variable, linear where it can be computed before the nest.
    pub(super) fn end_before(&mut self, data: Expr) -> BoundTerm {
        match self.with_quotients_before(data, true) {
            Expr::Affine(a) => a.into(),
            data => match self.computed_end(&data) {
                Some(end) => end.into(),
                None => BoundTerm::Data(data),
            },
        }
    }
}

fn changing_end(at: Range, name: &str) -> Box<Refusal> {
    Refusal::new(at, format!("the loop's end depends on `{name}`, which the loop changes"))
        .help("copy the end into a variable before the loop, if it is meant to stay as it is there")
}

pub(super) trait WithoutZero {
    fn without_zero(self) -> Self;
}

impl WithoutZero for Expr {
    /// `e + 0` as `e`.
    fn without_zero(self) -> Expr {
        match self {
            Expr::Binary(BinaryOp::Add, e, zero) if *zero == Expr::from(0) => *e,
            e => e,
        }
    }
}

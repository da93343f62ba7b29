//! Loops that count through several at once and take their variable apart (`i = c / n, j = c % n`): as those loops.

use super::digits::{Digits, Product};
use super::header::Header;
use super::lowerer::{Bound, Lowerer};
use super::symbolic::{MOST_TESTS, text};
use super::value::Value;
use crate::ast::{self, ExprKind, For, Stmt, StmtKind, VarId};
use crate::refusal::Lowered;
use crate::rotations::split_rotations;
use crate::scan::{Scan, assigned_var};
use oxeye_ir::{Affine, BinaryOp, BoundTerm, Execution, Expr, Loop, Node, ScalarType};
use std::collections::BTreeSet;

/// Which digits an expression in the loop is made of: the variable itself, or its quotients and remainders.
struct Divisors<'e> {
    of_variable: Vec<&'e ast::Expr>,
    of_parts: Vec<&'e ast::Expr>,
    /// Whether there are both quotients and remainders.
    has_both: bool,
}

/// The variable of a loop that is taken apart, and its type.
pub(super) type Split = (VarId, ScalarType);

impl Lowerer<'_> {
    /// The quotient or remainder of what the variables of taken-apart loops stand for.
    pub(super) fn digit(&self, op: BinaryOp, l: &Value, r: &Value) -> Option<Expr> {
        if self.digits.is_empty() {
            return None;
        }
        let (whole, by) = (self.exact(&l.e)?, Product::of(&self.exact(&r.e)?));
        let (quotient, remainder) = self.digits.iter().rev().find_map(|d| d.divided(&whole, &by))?;
        Some(if op == BinaryOp::Div { quotient } else { remainder })
    }

    /// A loop `for (c = 0; c < n * m; c++)` in which `c / m` and `c % m` are used: a loop for each digit. Whether it is one.
    pub(super) fn in_digits(
        &mut self,
        s: &Stmt,
        f: &For,
        header: &Header<'_>,
        out: &mut Vec<Node>,
    ) -> Lowered<bool> {
        let var = header.var;
        let Some(scalar) = self.cx.file.var(var).ty.as_scalar() else { return Ok(false) };
        let ty = scalar.ty;
        if f.runs_first || f.is_behind || !header.is_alone() || self.is_wanted_after(s, f, var) {
            return Ok(false);
        }
        let (body, rotations) = split_rotations(self.cx.file, &f.body);
        if self.is_left(body) || !rotations.is_empty() {
            return Ok(false);
        }
        let is_zero = ast::constant(header.init) == Some(0);
        let is_by_one = matches!(&header.step.kind, ExprKind::Step { by: 1, .. });
        let end = match &header.condition.kind {
            ExprKind::Binary(BinaryOp::Lt, l, r) if l.as_var() == Some(var) => r,
            ExprKind::Binary(BinaryOp::Gt, l, r) if r.as_var() == Some(var) => l,
            _ => return Ok(false),
        };
        let divisors = Divisors::of(body, var);
        if !is_zero || !is_by_one {
            return Ok(false);
        }
        if divisors.of_variable.is_empty() {
            return self.in_rows((s, body), (var, ty), end, out);
        }
        let inside = Scan::of(self.cx.file, s);
        let mut products = |among: &[&ast::Expr]| -> Lowered<Option<Vec<Product>>> {
            let products = among.iter().map(|e| self.fixed_product(e, &inside));
            products.collect::<Lowered<Option<Vec<_>>>>()
        };
        let (Some(of_variable), Some(of_parts), Some(whole)) =
            (products(&divisors.of_variable)?, products(&divisors.of_parts)?, products(&[end])?)
        else {
            return Ok(false);
        };
        let Some(sizes) = sizes(of_variable, &of_parts) else { return Ok(false) };
        // A remainder alone may be a pattern within a plain loop.
        let is_clear = divisors.has_both || sizes.iter().all(|size| !size.factors.is_empty());
        let Some(extents) = self.extents(&whole[0], &sizes, divisors.has_both).filter(|_| is_clear) else {
            return Ok(false);
        };
        self.apart(s, body, (var, ty), (sizes, extents), out)?;
        Ok(true)
    }

    /// Factors that are the same in all of the loop.
    pub(super) fn fixed_product(&mut self, e: &ast::Expr, inside: &Scan) -> Lowered<Option<Product>> {
        let mut is_fixed = true;
        e.walk(&mut |e| {
            is_fixed &= match &e.kind {
                ExprKind::Var(v) => {
                    ![&inside.written, &inside.declared, &inside.iterators].iter().any(|set| set.contains(v))
                }
                ExprKind::Int(..) | ExprKind::Binary(..) | ExprKind::Cast(..) => true,
                _ => false,
            }
        });
        if !is_fixed {
            return Ok(None);
        }
        let value = self.value(e)?;
        let value = self.exact(&value.e).filter(|e| e.reads().is_empty());
        Ok(value.map(|e| Product::of(&e)).filter(|product| product.number > 0))
    }

    /// How many values each digit has, from the last one on. Sizes are not negative then.
    pub(super) fn extents(
        &mut self,
        whole: &Product,
        sizes: &[Product],
        has_both: bool,
    ) -> Option<Vec<Vec<BoundTerm>>> {
        let inner = sizes.iter().fold(Product { number: 1, factors: Vec::new() }, |a, b| a.times(b.clone()));
        let first = match whole.without(&inner) {
            Some(first) => first,
            None if !has_both || inner.factors.is_empty() => return None,
            None => Product::of(&self.quotient_before(&whole.value(), &inner.value())?),
        };
        if !sizes.iter().all(|size| self.is_never_negative(&size.value())) {
            return None;
        }
        let extents = sizes.iter().chain([&first]).map(|size| {
            let e = size.value();
            match &e {
                Expr::Affine(a) => a.clone().into(),
                e => match self.quotient(e, 0, false) {
                    Some(term) => term,
                    None => match self.computed_end(e) {
                        Some(a) => a.into(),
                        None => BoundTerm::Data(e.clone()),
                    },
                },
            }
        });
        Some(extents.map(|term| vec![term]).collect())
    }

    /// The quotient of two numbers that the nest does not change, computed before it; what divides must be above zero and
    /// leave nothing.
    fn quotient_before(&mut self, whole: &Expr, by: &Expr) -> Option<Expr> {
        let program = &self.state.program;
        let (whole_text, by_text) = (text(program, whole)?, text(program, by)?);
        let rest = Expr::Binary(BinaryOp::Rem, Box::new(whole.clone()), Box::new(by.clone()));
        // That it is above zero may be known where the loop stands only, and this is tested before the nest.
        let rest = Expr::Select {
            condition: Box::new(Expr::Binary(BinaryOp::Gt, Box::new(by.clone()), Box::new(Expr::from(0)))),
            then: Box::new(rest),
            otherwise: Box::new(Expr::from(1)),
        };
        let test = Expr::Binary(BinaryOp::Eq, Box::new(rest), Box::new(Expr::from(0)));
        if !self.is_at_least(by.as_affine()?, 1) || self.outcome.tests.len() >= MOST_TESTS {
            return None;
        }
        if !self.outcome.tests.contains(&test) {
            self.relies_on(&test);
            self.outcome.tests.push(test);
        }
        let id = self.computed_before(format!("({by_text} > 0 ? {whole_text} / {by_text} : 0)"));
        Some(Affine::var(id).into())
    }

    /// A loop for each digit.
    pub(super) fn apart(
        &mut self,
        s: &Stmt,
        body: &[Stmt],
        (var, ty): Split,
        (sizes, extents): (Vec<Product>, Vec<Vec<BoundTerm>>),
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let name = self.name(var).to_owned();
        let inside = Scan::of(self.cx.file, s);
        self.forget(&inside);
        let mark = self.facts.len();
        let counted = if ty == ScalarType::I32 { ScalarType::I32 } else { ScalarType::I64 };
        let mut loops: Vec<Loop> = Vec::new();
        for (k, upper) in extents.into_iter().enumerate().rev() {
            let id = self.fresh_loop();
            self.loop_types.insert(id, counted);
            let l = Loop {
                id,
                name: format!("{name}_{k}"),
                ty: counted,
                lower: Affine::constant(0).into(),
                upper: oxeye_ir::Bound(upper),
                step: 1,
                execution: Execution::Sequential,
                body: Vec::new(),
            };
            self.facts.push_loop(&l);
            self.loops.push((Some(var), id));
            loops.push(l);
        }
        let ids = loops.iter().rev().map(|l| l.id).collect();
        let digits = Digits { loops: ids, sizes };
        let value = self.typed(digits.value(0, loops.len() - 1), ty);
        self.bound.insert(var, Bound::Value(value));
        self.digits.push(digits);
        self.exits.leaving.push(None);
        let mut nodes = Vec::new();
        let lowered = self.loop_body(body, &mut nodes);
        self.exits.leaving.pop();
        self.digits.pop();
        self.bound.remove(&var);
        self.facts.truncate(mark);
        lowered?;
        self.forget(&inside);
        for mut l in loops.into_iter().rev() {
            self.loops.pop();
            l.body = nodes;
            nodes = vec![Node::Loop(l)];
        }
        out.append(&mut nodes);
        Ok(())
    }
}

/// The sizes of digits that the divisors ask for, from the last one on: of `c / m` and `c % m` it is `m`; of `c / (n * m)`,
/// `c / m % n` and `c % m` they are `m` and `n`.
fn sizes(mut of_variable: Vec<Product>, of_parts: &[Product]) -> Option<Vec<Product>> {
    of_variable.sort_by_key(|product| (product.factors.len(), product.number));
    let first = of_variable.first()?.clone();
    let smaller = of_parts.iter().find_map(|part| {
        let rest = first.without(part)?;
        (!first.is_same(part) && !rest.is_same(&first)).then(|| vec![part.clone(), rest])
    });
    let greater = || of_variable.iter().find_map(|by| by.without(&first).filter(|_| !by.is_same(&first)));
    Some(match (smaller, greater()) {
        (Some(sizes), _) => sizes,
        (None, Some(second)) => vec![first, second],
        (None, None) => {
            let second = of_parts.iter().find(|part| first.without(part).is_none()).cloned();
            std::iter::once(first).chain(second).collect()
        }
    })
}

impl<'e> Divisors<'e> {
    fn of(body: &'e [Stmt], var: VarId) -> Self {
        let divided = |e: &'e ast::Expr| match &e.kind {
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, l, r) => Some((l.uncast(), &**r)),
            _ => None,
        };
        let is_part = |e: &'e ast::Expr| divided(e).is_some_and(|(l, _)| l.as_var() == Some(var));
        let mut parts = BTreeSet::new();
        for s in body {
            s.walk(&mut |s| {
                if let StmtKind::Declare(declared) = &s.kind {
                    parts.extend(
                        declared.iter().filter(|d| d.init.as_ref().is_some_and(is_part)).map(|d| d.var),
                    );
                }
            });
            s.walk_exprs(&mut |e| {
                if let ExprKind::Assign(None, _, value) = &e.kind
                    && is_part(value)
                {
                    parts.extend(assigned_var(e));
                }
            });
        }
        let mut found = Divisors { of_variable: Vec::new(), of_parts: Vec::new(), has_both: false };
        let mut has = [false; 2];
        for s in body {
            s.walk_exprs(&mut |e| match divided(e) {
                Some((l, r)) if l.as_var() == Some(var) => {
                    has[usize::from(matches!(e.kind, ExprKind::Binary(BinaryOp::Div, ..)))] = true;
                    found.of_variable.push(r);
                }
                Some((l, r)) if is_part(l) || l.as_var().is_some_and(|v| parts.contains(&v)) => {
                    found.of_parts.push(r);
                }
                _ => {}
            });
        }
        found.has_both = has == [true, true];
        found
    }
}

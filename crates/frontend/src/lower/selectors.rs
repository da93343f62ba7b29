//! Loops over the regions of a domain, `for (m = 0; m < 3; m++) { int first = m == 0 ? 1 : m == 1 ? a : b; ... }`, of which each
//! iteration is lowered by itself; and loops whose ends depend on a condition, which are lowered once for each case.

use super::header::Header;
use super::lowerer::{Bound, Lowerer};
use super::searches::leave_loop;
use super::value::{Value, reads_memory};
use crate::ast::{self, ExprKind, File, For, Range, Stmt, StmtKind, VarId};
use crate::flow::is_live_after;
use crate::refusal::Lowered;
use crate::rotations::split_rotations;
use crate::scan::Scan;
use oxeye_ir::{BinaryOp, Expr, Node};

/// Most iterations that are lowered one by one.
const MOST_REGIONS: i64 = 4;
/// Most loops of a nest that are lowered twice.
const MOST_CASES: u32 = 4;

/// A loop's end or beginning that is one of two.
enum Either {
    /// The variable that holds it, and both values.
    Variable(VarId, Value, Value),
    /// The loop with the one and with the other.
    Loops(Box<For>, Box<For>),
}

impl Lowerer<'_> {
    /// The values of a loop's variable, if they are few and the ends of loops inside depend on which it is.
    pub(super) fn regions(&self, s: &Stmt, f: &For, header: &Header<'_>) -> Option<std::ops::Range<i64>> {
        let file = self.cx.file;
        let var = header.var;
        let function = file.var(var).function.and_then(|k| file.functions.get(k))?;
        let is_own = matches!(f.init.as_ref().map(|s| &s.kind), Some(StmtKind::Declare(_)));
        let is_plain = !f.is_behind && header.is_alone() && split_rotations(file, &f.body).1.is_empty();
        if !self.reading.splits
            || !is_plain
            || !f.body.contains_for()
            || self.cx.constructs(s).next().is_some()
        {
            return None;
        }
        let first = ast::constant(header.init)?;
        let ExprKind::Binary(op, l, r) = &header.condition.kind else { return None };
        let end = ast::constant(r).filter(|_| l.as_var() == Some(var))?;
        let end = match op {
            BinaryOp::Lt => end,
            BinaryOp::Le => end.checked_add(1)?,
            _ => return None,
        };
        let is_by_one = match &header.step.kind {
            ExprKind::Step { by, .. } => *by == 1,
            ExprKind::Assign(Some(BinaryOp::Add), _, by) => ast::constant(by) == Some(1),
            _ => false,
        };
        let is_small = |n: i64| i32::try_from(n).is_ok();
        let is_short = is_small(first) && is_small(end) && (2..=MOST_REGIONS).contains(&(end - first));
        let is_left = leave_loop(std::slice::from_ref(&f.body), true);
        (is_by_one
            && is_short
            && !is_left
            && (is_own || !is_live_after(file, function, s.range, var))
            && decides_bounds(file, &f.body, var))
        .then_some(first..end)
    }

    /// The iterations of a loop one after the other.
    pub(super) fn in_regions(
        &mut self,
        f: &For,
        var: VarId,
        values: std::ops::Range<i64>,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        self.reading.has_split = true;
        let Some(scalar) = self.cx.file.var(var).ty.as_scalar() else { return Ok(()) };
        let body = match &f.body.kind {
            StmtKind::Block(body) => body.as_slice(),
            _ => std::slice::from_ref(&f.body),
        };
        for value in values {
            let value = self.typed(Expr::from(value), scalar.ty);
            self.bound.insert(var, Bound::Value(value));
            self.loop_body(body, out)?;
        }
        self.bound.remove(&var);
        Ok(())
    }

    /// A loop of which an end is one of two, by a comparison whose outcome is known before it: one loop for each case.
    pub(super) fn in_cases(
        &mut self,
        s: &Stmt,
        f: &For,
        header: &Header<'_>,
        out: &mut Vec<Node>,
    ) -> Lowered<bool> {
        if !self.reading.splits
            || self.reading.n_cases >= MOST_CASES
            || self.cx.constructs(s).next().is_some()
        {
            return Ok(false);
        }
        let Some((condition, either)) = self.either(s, f, header) else { return Ok(false) };
        self.reading.has_split = true;
        self.reading.n_cases += 1;
        let mark = self.facts.len();
        let before = self.bound.clone();
        let mut bodies = [Vec::new(), Vec::new()];
        for (body, holds) in bodies.iter_mut().zip([true, false]) {
            self.bound = before.clone();
            self.facts.push_condition(&condition, holds);
            match &either {
                Either::Variable(var, one, other) => {
                    let value = if holds { one } else { other };
                    self.bound.insert(*var, Bound::Value(value.clone()));
                    self.for_loop(s, f, body)?;
                }
                Either::Loops(one, other) => self.for_loop(s, if holds { one } else { other }, body)?,
            }
            self.facts.truncate(mark);
        }
        self.bound = before;
        self.forget(&Scan::of(self.cx.file, s));
        let [then, otherwise] = bodies;
        out.push(Node::If { condition, then, otherwise });
        Ok(true)
    }

    /// The comparison on which an end of a loop depends, and both cases.
    fn either(&mut self, s: &Stmt, f: &For, header: &Header<'_>) -> Option<(Expr, Either)> {
        let inside = Scan::of(self.cx.file, s);
        let is_kept = |v: VarId| {
            ![&inside.written, &inside.declared, &inside.iterators].iter().any(|set| set.contains(&v))
        };
        let mut ends = vec![header.init];
        if let ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, l, r) =
            &header.condition.kind
        {
            ends.extend([&**l, &**r]);
        }
        for end in ends {
            if let Some(var) = end.as_var().filter(|v| is_kept(*v))
                && let Some(Bound::Value(Value { e: Expr::Select { condition, then, otherwise }, ty })) =
                    self.bound.get(&var).cloned()
                && is_known_before(&condition)
                && !reads_memory(&then)
                && !reads_memory(&otherwise)
            {
                let (one, other) = (self.typed(*then, ty), self.typed(*otherwise, ty));
                return Some((*condition, Either::Variable(var, one, other)));
            }
            let ExprKind::Select(test, one, other) = &end.kind else { continue };
            let mut is_simple = true;
            test.walk(&mut |e| {
                is_simple &= match &e.kind {
                    ExprKind::Var(v) => is_kept(*v),
                    ExprKind::Int(..) | ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Cast(..) => {
                        true
                    }
                    _ => false,
                }
            });
            if !is_simple {
                continue;
            }
            // Not the lesser or greater of two.
            let Some(Value { e: Expr::Select { condition, .. }, .. }) = self.unsurely(|l| l.value(end)).ok()
            else {
                continue;
            };
            let condition = *condition;
            // Both have the type of the whole.
            let ty = |l: &mut Self, e: &ast::Expr| l.unsurely(|l| l.value(e)).ok().map(|v| v.ty);
            if !is_known_before(&condition) || ty(self, one)? != ty(self, other)? {
                continue;
            }
            let with = |value: &ast::Expr| Box::new(with_end(f, end.range, value));
            return Some((condition, Either::Loops(with(one), with(other))));
        }
        None
    }
}

/// Whether a condition is an exact comparison of which both outcomes are one.
fn is_known_before(condition: &Expr) -> bool {
    let Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, l, r) = condition else {
        return false;
    };
    l.as_affine().is_some() && r.as_affine().is_some()
}

/// The loop with another expression at a place in its head.
fn with_end(f: &For, at: Range, value: &ast::Expr) -> For {
    fn put(e: &mut ast::Expr, at: Range, value: &ast::Expr) {
        if e.range == at && matches!(e.kind, ExprKind::Select(..)) {
            *e = value.clone();
            return;
        }
        e.children_mut().into_iter().for_each(|e| put(e, at, value));
    }
    let mut result = f.clone();
    match result.init.as_mut().map(|s| &mut s.kind) {
        Some(StmtKind::Declare(declared)) => {
            declared.iter_mut().filter_map(|d| d.init.as_mut()).for_each(|e| put(e, at, value));
        }
        Some(StmtKind::Expr(e)) => put(e, at, value),
        _ => {}
    }
    result.condition.iter_mut().for_each(|e| put(e, at, value));
    result
}

/// Whether integers that loops may begin or end with are chosen by comparing a variable with numbers.
fn decides_bounds(file: &File, body: &Stmt, var: VarId) -> bool {
    let is_test = |e: &ast::Expr| {
        let mut found = false;
        e.walk(&mut |e| {
            if let ExprKind::Binary(op, l, r) = &e.kind {
                use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
                let with_number =
                    |l: &ast::Expr, r: &ast::Expr| l.mentions(var) && ast::constant(r).is_some();
                found |=
                    matches!(op, Eq | Ne | Lt | Le | Gt | Ge) && (with_number(l, r) || with_number(r, l));
            }
        });
        found
    };
    let selects = |e: &ast::Expr| {
        let mut found = false;
        e.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Select(condition, ..) if is_test(condition)));
        found
    };
    let is_integer = |v: VarId| file.var(v).ty.as_scalar().is_some_and(|s| !s.ty.is_float());
    let sets = |s: &Stmt, is_chosen: &dyn Fn(&ast::Expr) -> bool| {
        let mut found = false;
        s.walk_exprs(&mut |e| {
            if let ExprKind::Assign(None, target, value) = &e.kind {
                found |= target.as_var().is_some_and(is_integer) && is_chosen(value);
            }
        });
        found
    };
    let mut found = sets(body, &selects);
    body.walk(&mut |s| match &s.kind {
        StmtKind::Declare(declared) => {
            found |= declared.iter().any(|d| is_integer(d.var) && d.init.as_ref().is_some_and(selects));
        }
        StmtKind::For(f) => {
            found |= f.condition.as_ref().is_some_and(selects);
            if let Some(Stmt { kind: StmtKind::Expr(e), .. }) = &f.init {
                found |= selects(e);
            }
        }
        StmtKind::If { condition, then, otherwise } if is_test(condition) => {
            found |= std::iter::once(then).chain(otherwise).any(|s| sets(s, &|_| true));
        }
        _ => {}
    });
    found
}

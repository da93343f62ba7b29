//! How far into memory a nest reaches, as expressions of symbols.

use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, Program, UnaryOp,
    Var,
};
use std::collections::BTreeMap;

/// Affine terms a loop iterator is at least / at most (inclusive); several: all hold.
#[derive(Clone, Default)]
struct Limits {
    least: Vec<Affine>,
    most: Vec<Affine>,
    /// Further ones, that are not affine: expressions of symbols.
    least_products: Vec<Expr>,
    most_products: Vec<Expr>,
}

/// The least and greatest index of an array's first dimension.
pub(crate) struct Reach {
    pub(crate) least: Expr,
    pub(crate) most: Expr,
}

/// What is asked of a reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// How far the nest reaches, as surely as its loops run.
    Exactly,
    /// How far it reaches at most.
    AtMost,
}

/// Finds the reach of the first dimension over every access of the nest; `None` where it cannot be bounded.
pub(crate) fn reach(program: &Program, nest: &Nest, array: ArrayId, asked: Asked) -> Option<Reach> {
    let mut search =
        Search { program, array, asked, order: Vec::new(), limits: BTreeMap::new(), found: Vec::new() };
    search.nodes(&nest.roots)?;
    let mut least: Vec<Expr> = Vec::new();
    let mut most: Vec<Expr> = Vec::new();
    for (low, high) in search.found {
        join(&mut least, low, true);
        join(&mut most, high, false);
    }
    Some(Reach { least: fold(least, BinaryOp::Min)?, most: fold(most, BinaryOp::Max)? })
}

/// Adds an expression to a set whose minimum or maximum is wanted, dropping what is known to be dominated.
fn join(set: &mut Vec<Expr>, e: Expr, want_min: bool) {
    let dominates = |a: &Expr, b: &Expr| match (a.as_affine(), b.as_affine()) {
        (Some(x), Some(y)) => {
            (x.clone() - y.clone()).as_constant().is_some_and(|d| if want_min { d <= 0 } else { d >= 0 })
        }
        _ => a == b,
    };
    if set.iter().any(|s| dominates(s, &e)) {
        return;
    }
    set.retain(|s| !dominates(&e, s));
    set.push(e);
}

fn fold(set: Vec<Expr>, op: BinaryOp) -> Option<Expr> {
    set.into_iter().reduce(|a, b| Expr::Binary(op, Box::new(a), Box::new(b)))
}

#[derive(Clone)]
struct Search<'a> {
    program: &'a Program,
    array: ArrayId,
    asked: Asked,
    /// Loops in scope, outermost first.
    order: Vec<LoopId>,
    limits: BTreeMap<LoopId, Limits>,
    found: Vec<(Expr, Expr)>,
}

impl Search<'_> {
    fn nodes(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            match node {
                Node::Stmt(s) => {
                    self.access(&s.target)?;
                    s.target.indices.iter().try_for_each(|e| self.expr(e, false))?;
                    self.expr(&s.value, false)?;
                }
                Node::Loop(l) => {
                    for term in l.lower.0.iter().chain(&l.upper.0) {
                        if let BoundTerm::Data(e) = term {
                            self.expr(e, false)?;
                        }
                    }
                    self.order.push(l.id);
                    self.limits.insert(l.id, limits(l));
                    self.nodes(&l.body)?;
                    self.order.pop();
                    self.limits.remove(&l.id);
                }
                Node::If { condition, then, otherwise } => {
                    self.expr(condition, false)?;
                    let saved = self.limits.clone();
                    self.assume(condition, true);
                    self.nodes(then)?;
                    self.limits = saved.clone();
                    self.assume(condition, false);
                    self.nodes(otherwise)?;
                    self.limits = saved;
                }
            }
        }
        Some(())
    }

    /// Collects accesses; under a selection the array may be reached less far than its indices say.
    fn expr(&mut self, e: &Expr, selected: bool) -> Option<()> {
        match e {
            Expr::Read(access) => {
                if access.array == self.array {
                    if selected && self.asked == Asked::Exactly {
                        return None;
                    }
                    self.access(access)?;
                }
                access.indices.iter().try_for_each(|i| self.expr(i, selected))
            }
            Expr::Select { condition, then, otherwise } => {
                self.expr(condition, selected)?;
                self.expr(then, true)?;
                self.expr(otherwise, true)
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, l, r) => {
                self.expr(l, selected)?;
                self.expr(r, true)
            }
            _ => e.children().into_iter().try_for_each(|c| self.expr(c, selected)),
        }
    }

    fn access(&mut self, access: &Access) -> Option<()> {
        if access.array == self.array && self.program.arrays.contains_key(&access.array) {
            let first = access.indices.first()?;
            let low = self.end(first, true)?;
            let high = self.end(first, false)?;
            self.found.push((low, high));
        }
        Some(())
    }

    /// Tightens the limits of iterators by an affine comparison.
    fn assume(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, e) => self.assume(e, !holds),
            Expr::Binary(BinaryOp::And, l, r) if holds => {
                self.assume(l, true);
                self.assume(r, true);
            }
            Expr::Binary(BinaryOp::Or, l, r) if !holds => {
                self.assume(l, false);
                self.assume(r, false);
            }
            Expr::Binary(op, l, r) => {
                let (Some(l), Some(r)) = (l.as_affine(), r.as_affine()) else { return };
                let difference = l.clone() - r.clone();
                // Each as `expr ≥ 0`.
                let (positive, negative) = (difference.clone(), difference.scaled(-1));
                let facts: Vec<Affine> = match (op, holds) {
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => vec![negative.offset(-1)],
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => vec![negative],
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => vec![positive.offset(-1)],
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => vec![positive],
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => vec![positive, negative],
                    (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => {
                        self.without(&difference);
                        return;
                    }
                    _ => return,
                };
                facts.iter().for_each(|f| self.fact(f));
            }
            _ => {}
        }
    }

    /// Uses `fact ≠ 0` where that takes away the first or the last value of the innermost iterator in it.
    fn without(&mut self, fact: &Affine) {
        let Some(id) = self.order.iter().rev().copied().find(|l| fact.uses(*l)) else { return };
        let value = match fact.coefficient(id) {
            1 => (fact.clone() - Affine::var(id)).scaled(-1),
            -1 => fact.clone() + Affine::var(id),
            _ => return,
        };
        let Some(limits) = self.limits.get_mut(&id) else { return };
        if limits.least.contains(&value) {
            limits.least.push(value.clone().offset(1));
        }
        if limits.most.contains(&value) {
            limits.most.push(value.offset(-1));
        }
    }

    /// Uses `fact ≥ 0` as a limit of the innermost iterator in it.
    fn fact(&mut self, fact: &Affine) {
        let Some(id) = self.order.iter().rev().copied().find(|l| fact.uses(*l)) else { return };
        let Some(limits) = self.limits.get_mut(&id) else { return };
        match fact.coefficient(id) {
            1 => limits.least.push((fact.clone() - Affine::var(id)).scaled(-1)),
            -1 => limits.most.push(fact.clone() + Affine::var(id)),
            _ => {}
        }
    }

    /// The least (`low`) or greatest value of an index.
    fn end(&self, e: &Expr, low: bool) -> Option<Expr> {
        match e {
            Expr::Affine(a) => self.affine_end(a, low),
            Expr::Cast(_, e) => self.end(e, low),
            Expr::Binary(BinaryOp::Add, l, r) => {
                Some(Expr::binary(BinaryOp::Add, self.end(l, low)?, self.end(r, low)?))
            }
            Expr::Binary(BinaryOp::Sub, l, r) => {
                Some(Expr::binary(BinaryOp::Sub, self.end(l, low)?, self.end(r, !low)?))
            }
            Expr::Binary(BinaryOp::Mul, l, r) => {
                let ends = |e: &Expr| Some((self.end(e, true)?, self.end(e, false)?));
                let ((a, b), (c, d)) = (ends(l)?, ends(r)?);
                let mut products = Vec::new();
                for x in [&a, &b] {
                    for y in [&c, &d] {
                        join(&mut products, Expr::binary(BinaryOp::Mul, x.clone(), y.clone()), low);
                    }
                }
                fold(products, if low { BinaryOp::Min } else { BinaryOp::Max })
            }
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), l, r) => {
                let (l, r) = (self.end(l, low)?, self.end(r, low)?);
                let mut both = Vec::new();
                let is_wanted = (*op == BinaryOp::Min) == low;
                if is_wanted {
                    join(&mut both, l, low);
                    join(&mut both, r, low);
                } else {
                    both = vec![l, r];
                }
                fold(both, *op)
            }
            Expr::Select { condition, then, otherwise } if self.asked == Asked::AtMost => {
                let mut ends = Vec::new();
                for (value, holds) in [(then, true), (otherwise, false)] {
                    let mut here = self.clone();
                    here.assume(condition, holds);
                    join(&mut ends, here.end(value, low)?, low);
                }
                fold(ends, if low { BinaryOp::Min } else { BinaryOp::Max })
            }
            // Of the sign of what is divided, and nearer to zero than the divisor.
            Expr::Binary(BinaryOp::Rem, l, r) if self.asked == Asked::AtMost => {
                if low {
                    let least = self.end(l, true)?.as_affine()?.as_constant()?;
                    return (least >= 0).then(|| Expr::from(0));
                }
                let (least, most) = (self.end(r, true)?, self.end(r, false)?);
                let mut sizes = Vec::new();
                join(&mut sizes, most, false);
                join(&mut sizes, Expr::binary(BinaryOp::Sub, Expr::from(0), least), false);
                let size = fold(sizes, BinaryOp::Max)?;
                Some(Expr::binary(BinaryOp::Add, size, Expr::from(-1)))
            }
            _ => None,
        }
    }

    /// Eliminates iterators, innermost first, keeping what their bounds have in common with the rest.
    fn affine_end(&self, a: &Affine, low: bool) -> Option<Expr> {
        let Some(id) = self.order.iter().rev().copied().find(|l| a.uses(*l)) else {
            return a.loops().next().is_none().then(|| Expr::Affine(a.clone()));
        };
        let limits = self.limits.get(&id)?;
        let wants_least = (a.coefficient(id) > 0) == low;
        let terms = if wants_least { &limits.least } else { &limits.most };
        // Every term holds, so the tightest counts: the greatest low end, the least high end.
        let mut ends = Vec::new();
        for term in terms {
            let value = a.substitute(&|v| (v == Var::Loop(id)).then(|| term.clone()));
            join(&mut ends, self.affine_end(&value, low)?, !low);
        }
        let products = if wants_least { &limits.least_products } else { &limits.most_products };
        for product in products {
            let c = a.coefficient(id);
            let rest = self.affine_end(&(a.clone() - Affine::term(id, c)), low)?;
            let value = Expr::binary(BinaryOp::Mul, Expr::from(c), product.clone());
            join(&mut ends, Expr::binary(BinaryOp::Add, value, rest), !low);
        }
        fold(ends, if low { BinaryOp::Max } else { BinaryOp::Min })
    }
}

/// The limits its own bounds give an iterator.
fn limits(l: &Loop) -> Limits {
    let plain = |bound: &Bound, offset: i64| -> Vec<Affine> {
        bound
            .0
            .iter()
            .filter_map(|t| match t {
                BoundTerm::Affine { expr, divisor: 1 } => Some(expr.clone().offset(offset)),
                _ => None,
            })
            .collect()
    };
    let products = |bound: &Bound, offset: i64| -> Vec<Expr> {
        let of_symbols = bound.0.iter().filter_map(|t| match t {
            BoundTerm::Data(e) if e.reads().is_empty() && !uses_loops(e) => {
                Some(Expr::binary(BinaryOp::Add, e.clone(), Expr::from(offset)))
            }
            _ => None,
        });
        of_symbols.collect()
    };
    let mut limits = Limits {
        least: plain(&l.lower, 0),
        most: plain(&l.upper, -1),
        least_products: products(&l.lower, 0),
        most_products: products(&l.upper, -1),
    };
    // The last iterator of a strided loop is known where both ends are constant.
    if let (Some(low), Some(high)) = (l.lower.as_affine(), l.upper.as_affine())
        && let Some(extent) = (high.clone() - low.clone()).as_constant()
        && extent > 0
        && l.step != 0
    {
        let over = (extent - 1).rem_euclid(l.step.saturating_abs());
        if l.step > 0 {
            limits.most = vec![high.clone().offset(-1 - over)];
        } else {
            limits.least = vec![low.clone().offset(over)];
        }
    }
    limits
}

fn uses_loops(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= matches!(e, Expr::Affine(a) if a.loops().next().is_some()));
    found
}

//! The ranges of indices that the accesses of a nest touch, as expressions of symbols: boxes, found by replacing iterators
//! by their bounds, innermost first. `oxeye-analysis` counts elements exactly, for known values of the symbols.

use crate::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, ScalarType, UnaryOp,
    Var,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// First and last value, as expressions of symbols.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRange {
    /// The least value.
    pub first: Expr,
    /// The greatest value.
    pub last: Expr,
}

impl IndexRange {
    /// The least range that holds all of `ranges`; `None` if there are none.
    pub fn hull(ranges: impl IntoIterator<Item = IndexRange>) -> Option<IndexRange> {
        let mut firsts = Vec::new();
        let mut lasts = Vec::new();
        for range in ranges {
            join(&mut firsts, range.first, true);
            join(&mut lasts, range.last, false);
        }
        Some(IndexRange { first: fold(firsts, BinaryOp::Min)?, last: fold(lasts, BinaryOp::Max)? })
    }
}

/// One access of a nest, and where it goes.
#[derive(Clone, Debug)]
pub struct AccessRanges<'a> {
    /// The access.
    pub access: &'a Access,
    /// Whether the element is read; the target of `+=` is.
    pub is_read: bool,
    /// Whether the element is written.
    pub is_written: bool,
    /// Whether a `?:`, `&&` or `||` decides if the access happens.
    pub is_selected: bool,
    /// Per dimension the values of the index, provided that no loop around is empty; `None` where there is no bound.
    pub indices: Vec<Option<IndexRange>>,
}

impl Nest {
    /// The accesses to the arrays for which `is_wanted`, with the ranges of their indices, in textual order.
    pub fn access_ranges(&self, is_wanted: &dyn Fn(ArrayId) -> bool) -> Vec<AccessRanges<'_>> {
        let mut search = Search::new(is_wanted, false);
        search.nodes(&self.roots);
        search.found
    }

    /// The same with ranges that may be wider than what is used, where selections and remainders are among the indices, or scalars
    /// that hold nothing but what the nest sets them to ([`held_scalars`](crate::held_scalars)).
    pub fn widest_ranges(
        &self,
        held: &BTreeSet<ArrayId>,
        is_wanted: &dyn Fn(ArrayId) -> bool,
    ) -> Vec<AccessRanges<'_>> {
        // All that a scalar may hold is known before it is asked for.
        let settings = held.iter().map(|scalar| (*scalar, Vec::new())).collect();
        let mut before = Search { settings, ..Search::new(&|_| false, true) };
        before.nodes(&self.roots);
        let mut search = Search { held: Rc::new(before.settings), ..Search::new(is_wanted, true) };
        search.nodes(&self.roots);
        search.found
    }
}

/// Affine lower and upper limits of a loop iterator (inclusive); all of them hold.
#[derive(Clone, Default)]
struct Limits {
    least: Vec<Affine>,
    most: Vec<Affine>,
    /// Further, non-affine ones: expressions of symbols.
    least_others: Vec<Expr>,
    most_others: Vec<Expr>,
}

/// Adds an expression to a set whose minimum or maximum is needed, dropping dominated ones.
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

/// Values beyond this number are joined in pairs of pairs.
const MAX_CHAIN: usize = 8;

/// The minimum or maximum of the values. In C it is a macro that mentions its arguments twice, so that a chain of many would
/// be too much for compilers.
fn fold(set: Vec<Expr>, op: BinaryOp) -> Option<Expr> {
    let mut set = with_common_parts_once(set, op);
    let join = |a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    if set.len() > MAX_CHAIN {
        while set.len() > 1 {
            set = in_pairs(set, join);
        }
    }
    set.into_iter().reduce(join)
}

/// Sums that differ in an affine part only become one of these: `x * y - 1`, `x * y` and `x * y + n` are `x * y` and the least or
/// greatest of -1, 0 and `n`.
fn with_common_parts_once(set: Vec<Expr>, op: BinaryOp) -> Vec<Expr> {
    let mut groups: Vec<(Vec<Expr>, Vec<Expr>)> = Vec::new();
    for e in set {
        let mut parts = Vec::new();
        let affine = Expr::Affine(parted(e, &mut parts));
        match groups.iter_mut().find(|(known, _)| !parts.is_empty() && *known == parts) {
            Some((_, others)) => join(others, affine, op == BinaryOp::Min),
            None => groups.push((parts, vec![affine])),
        }
    }
    let sum = |a: Expr, b: Expr| Expr::binary(BinaryOp::Add, a, b);
    let whole = |(parts, affine): (Vec<Expr>, Vec<Expr>)| {
        let ends = affine.into_iter().reduce(|a, b| Expr::Binary(op, Box::new(a), Box::new(b)));
        parts.into_iter().chain(ends.filter(|ends| *ends != Expr::from(0))).reduce(sum)
    };
    groups.into_iter().map(|group| whole(group).unwrap_or(Expr::from(0))).collect()
}

/// The affine part of a sum; its other parts are added to those given.
fn parted(e: Expr, parts: &mut Vec<Expr>) -> Affine {
    match e {
        Expr::Affine(a) => a,
        Expr::Binary(BinaryOp::Add, l, r) => {
            let left = parted(*l, parts);
            left + parted(*r, parts)
        }
        Expr::Binary(BinaryOp::Sub, l, r) if r.as_affine().is_some() => {
            let left = parted(*l, parts);
            left - parted(*r, parts)
        }
        e => {
            parts.push(e);
            Affine::default()
        }
    }
}

/// One value of each two neighbours.
fn in_pairs(set: Vec<Expr>, join: impl Fn(Expr, Expr) -> Expr) -> Vec<Expr> {
    let mut rest = set.into_iter();
    let mut joined = Vec::new();
    while let Some(a) = rest.next() {
        joined.push(match rest.next() {
            Some(b) => join(a, b),
            None => a,
        });
    }
    joined
}

/// Limits of one iterator beyond this number are not looked at; each alone is valid.
const MAX_TERMS: usize = 8;

struct Search<'a, 'f> {
    is_wanted: &'f dyn Fn(ArrayId) -> bool,
    /// Whether ranges may be wider than what is used.
    is_wide: bool,
    /// Loops in scope, outermost first.
    order: Vec<LoopId>,
    limits: BTreeMap<LoopId, Limits>,
    /// What scalars are set to that hold nothing else, as far as it was met.
    settings: Settings<'a>,
    /// The same where all of it is known.
    held: Rc<Settings<'a>>,
    /// How many of these were followed to get here.
    n_followed: usize,
    found: Vec<AccessRanges<'a>>,
}

type Settings<'a> = BTreeMap<ArrayId, Vec<Setting<'a>>>;

/// A value that is assigned to a scalar, and the loops around.
struct Setting<'a> {
    value: &'a Expr,
    order: Vec<LoopId>,
    limits: BTreeMap<LoopId, Limits>,
}

/// Scalars that are set by means of others are followed so far.
const MAX_FOLLOWED: usize = 4;

impl<'a, 'f> Search<'a, 'f> {
    fn new(is_wanted: &'f dyn Fn(ArrayId) -> bool, is_wide: bool) -> Self {
        Search {
            is_wanted,
            is_wide,
            order: Vec::new(),
            limits: BTreeMap::new(),
            settings: BTreeMap::new(),
            held: Rc::default(),
            n_followed: 0,
            found: Vec::new(),
        }
    }

    fn nodes(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            match node {
                Node::Stmt(s) => {
                    if let Some(settings) = self.settings.get_mut(&s.target.array) {
                        let (order, limits) = (self.order.clone(), self.limits.clone());
                        settings.push(Setting { value: &s.value, order, limits });
                    }
                    self.access(&s.target, s.update.reads_target(), true, false);
                    s.target.indices.iter().for_each(|e| self.expr(e, false));
                    self.expr(&s.value, false);
                }
                Node::Loop(l) => {
                    for term in l.lower.0.iter().chain(&l.upper.0) {
                        if let BoundTerm::Data(e) = term {
                            self.expr(e, false);
                        }
                    }
                    let limits = self.limits_of(l);
                    self.order.push(l.id);
                    self.limits.insert(l.id, limits);
                    self.nodes(&l.body);
                    self.order.pop();
                    self.limits.remove(&l.id);
                }
                Node::If { condition, then, otherwise } => {
                    self.expr(condition, false);
                    let saved = self.limits.clone();
                    self.assume(condition, true);
                    self.nodes(then);
                    self.limits = saved.clone();
                    self.assume(condition, false);
                    self.nodes(otherwise);
                    self.limits = saved;
                }
            }
        }
    }

    /// Collects accesses; under a selection, the range of an array may be smaller than its indices say.
    fn expr(&mut self, e: &'a Expr, is_selected: bool) {
        match e {
            Expr::Read(access) => {
                self.access(access, true, false, is_selected);
                access.indices.iter().for_each(|i| self.expr(i, is_selected));
            }
            Expr::Select { condition, then, otherwise } => {
                self.expr(condition, is_selected);
                self.expr(then, true);
                self.expr(otherwise, true);
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, l, r) => {
                self.expr(l, is_selected);
                self.expr(r, true);
            }
            _ => e.children().into_iter().for_each(|c| self.expr(c, is_selected)),
        }
    }

    fn access(&mut self, access: &'a Access, is_read: bool, is_written: bool, is_selected: bool) {
        if (self.is_wanted)(access.array) {
            let range = |index: &Expr| {
                Some(IndexRange { first: self.end(index, true)?, last: self.end(index, false)? })
            };
            let indices = access.indices.iter().map(range).collect();
            self.found.push(AccessRanges { access, is_read, is_written, is_selected, indices });
        }
    }

    /// Tightens the limits of iterators with an affine comparison.
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

    /// The same at another place.
    fn at(&self, order: Vec<LoopId>, limits: BTreeMap<LoopId, Limits>) -> Self {
        let (held, n_followed) = (Rc::clone(&self.held), self.n_followed);
        Search { order, limits, held, n_followed, ..Search::new(self.is_wanted, self.is_wide) }
    }

    /// The least (`low`) or greatest value of an index.
    fn end(&self, e: &Expr, low: bool) -> Option<Expr> {
        match e {
            Expr::Affine(a) => self.affine_end(a, self.order.len(), low),
            // Narrower types wrap around.
            Expr::Cast(ty, e) if !ty.is_float() && ty.bytes() >= 4 => self.end(e, low),
            // May wrap around.
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, l, r)
                if [l, r].into_iter().any(|e| is_wide_unsigned(e)) =>
            {
                None
            }
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
            Expr::Select { condition, then, otherwise } if self.is_wide => {
                let mut ends = Vec::new();
                for (value, holds) in [(then, true), (otherwise, false)] {
                    let mut here = self.at(self.order.clone(), self.limits.clone());
                    here.assume(condition, holds);
                    join(&mut ends, here.end(value, low)?, low);
                }
                fold(ends, if low { BinaryOp::Min } else { BinaryOp::Max })
            }
            Expr::Read(access) if access.indices.is_empty() && self.n_followed < MAX_FOLLOWED => {
                let mut ends = Vec::new();
                for Setting { value, order, limits } in self.held.get(&access.array)? {
                    let there = self.at(order.clone(), limits.clone());
                    let there = Search { n_followed: self.n_followed + 1, ..there };
                    join(&mut ends, there.end(value, low)?, low);
                }
                fold(ends, if low { BinaryOp::Min } else { BinaryOp::Max })
            }
            // Of the sign of what is divided, and nearer to zero than the divisor.
            Expr::Binary(BinaryOp::Rem, l, r) if self.is_wide => {
                if low && self.is_never_negative(l) {
                    return Some(Expr::from(0));
                }
                if becomes_unsigned(r) {
                    return None;
                }
                let (least, most) = (self.end(r, true)?, self.end(r, false)?);
                let mut sizes = Vec::new();
                join(&mut sizes, most, false);
                join(&mut sizes, Expr::binary(BinaryOp::Sub, Expr::from(0), least), false);
                let size = fold(sizes, BinaryOp::Max)?;
                Some(match low {
                    true => Expr::binary(BinaryOp::Sub, Expr::from(1), size),
                    false => Expr::binary(BinaryOp::Add, size, Expr::from(-1)),
                })
            }
            // At most the bits of the constant.
            Expr::Binary(BinaryOp::BitAnd, l, r) if self.is_wide => {
                let mask =
                    [l, r].into_iter().filter_map(|e| e.as_affine()?.as_constant()).find(|c| *c >= 0)?;
                Some(Expr::from(if low { 0 } else { mask }))
            }
            Expr::Binary(BinaryOp::Div, l, r) if self.is_wide && !becomes_unsigned(l) => {
                let by = r.as_affine()?.as_constant().filter(|c| *c > 0)?;
                Some(Expr::Binary(BinaryOp::Div, Box::new(self.end(l, low)?), Box::new(Expr::from(by))))
            }
            Expr::Cast(ty, _) if self.is_wide && !ty.is_float() => {
                let bits = 8 * ty.bytes() as u32;
                let (least, most) = match ty {
                    ScalarType::U8 | ScalarType::U16 => (0, (1i64 << bits) - 1),
                    _ => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
                };
                Some(Expr::from(if low { least } else { most }))
            }
            _ => None,
        }
    }

    /// Whether a value that is divided is not below zero.
    fn is_never_negative(&self, e: &Expr) -> bool {
        match e {
            Expr::Cast(ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64, _) => true,
            // Of two unsigned ones, or of one that is unsigned and wide.
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, l, r) if is_wide_unsigned(l) => {
                is_wide_unsigned(r)
            }
            _ => {
                let least = self.end(e, true).and_then(|e| e.as_affine().cloned());
                !becomes_unsigned(e) && least.is_some_and(|least| self.follows_from_loops(&least))
            }
        }
    }

    /// Whether a value is not below zero, provided that no loop around is empty: a constant, or one and how far a loop goes.
    fn follows_from_loops(&self, value: &Affine) -> bool {
        let is_more_than = |distance: &Affine| {
            (value.clone() - distance.clone()).as_constant().is_some_and(|more| more >= 0)
        };
        is_more_than(&Affine::default())
            || self.order.iter().filter_map(|id| self.limits.get(id)).any(|limits| {
                let pairs = limits.least.iter().flat_map(|l| limits.most.iter().map(move |m| (l, m)));
                pairs.take(MAX_TERMS).any(|(least, most)| is_more_than(&(most.clone() - least.clone())))
            })
    }

    /// Eliminates the iterators of the outermost `n_loops` loops, innermost first, keeping terms common to their bounds and
    /// the rest.
    fn affine_end(&self, a: &Affine, n_loops: usize, low: bool) -> Option<Expr> {
        let Some(depth) = self.order[..n_loops].iter().rposition(|l| a.uses(*l)) else {
            return a.loops().next().is_none().then(|| Expr::Affine(a.clone()));
        };
        let id = self.order[depth];
        let limits = self.limits.get(&id)?;
        let wants_least = (a.coefficient(id) > 0) == low;
        let terms = if wants_least { &limits.least } else { &limits.most };
        // Every term holds, so the tightest counts: the greatest low end, the least high end.
        let mut ends = Vec::new();
        for term in terms.iter().take(MAX_TERMS) {
            let value = a.substitute(&|v| (v == Var::Loop(id)).then(|| term.clone()));
            if let Some(end) = self.affine_end(&value, depth, low) {
                join(&mut ends, end, !low);
            }
        }
        let others = if wants_least { &limits.least_others } else { &limits.most_others };
        let c = a.coefficient(id);
        if !others.is_empty()
            && let Some(rest) = self.affine_end(&(a.clone() - Affine::term(id, c)), depth, low)
        {
            for other in others.iter().take(MAX_TERMS) {
                let value = Expr::binary(BinaryOp::Mul, Expr::from(c), other.clone());
                join(&mut ends, Expr::binary(BinaryOp::Add, value, rest.clone()), !low);
            }
        }
        fold(ends, if low { BinaryOp::Max } else { BinaryOp::Min })
    }

    /// The limits that an iterator gets from its own bounds, in the scope around its loop.
    fn limits_of(&self, l: &Loop) -> Limits {
        let affine = |bound: &Bound, offset: i64| -> Vec<Affine> {
            let plain = bound.0.iter().filter_map(|t| match t {
                BoundTerm::Affine { expr, divisor: 1 } => Some(expr.clone().offset(offset)),
                _ => None,
            });
            plain.collect()
        };
        let is_from_zero = l.lower.as_affine().and_then(Affine::as_constant) >= Some(0);
        let others = |bound: &Bound, low: bool| -> Vec<Expr> {
            let offset = if low { 0 } else { -1 };
            let of_symbols = bound.0.iter().filter_map(|t| match t {
                BoundTerm::Data(e) if e.reads().is_empty() && !uses_loops(e) => {
                    Some(Expr::binary(BinaryOp::Add, e.clone(), Expr::from(offset)))
                }
                // Rounded up, which keeps the order of the ends.
                BoundTerm::Affine { expr, divisor } if *divisor > 1 => {
                    let end = self.affine_end(expr, self.order.len(), low)?;
                    if let Some(end) = end.as_affine().and_then(Affine::as_constant) {
                        return Some(Expr::from(-(-end).div_euclid(*divisor) + offset));
                    }
                    // Exact for an end above zero, and otherwise at most one too far outside.
                    let is_exact = !low && is_from_zero;
                    let rounded =
                        Expr::binary(BinaryOp::Add, end, Expr::from(if low { 0 } else { divisor - 1 }));
                    let quotient = Expr::Binary(BinaryOp::Div, rounded.into(), Expr::from(*divisor).into());
                    let range = Expr::binary(BinaryOp::Add, quotient, Expr::from(offset));
                    (is_exact || self.is_wide).then_some(range)
                }
                _ => None,
            });
            of_symbols.collect()
        };
        let mut limits = Limits {
            least: affine(&l.lower, 0),
            most: affine(&l.upper, -1),
            least_others: others(&l.lower, true),
            most_others: others(&l.upper, false),
        };
        // The last iterator of a strided loop is known if both ends are constant.
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
}

/// Whether a value is of type `unsigned` or wider by its form.
fn is_wide_unsigned(e: &Expr) -> bool {
    match e {
        Expr::Cast(ScalarType::U32 | ScalarType::U64, _) => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, l, r) => {
            is_wide_unsigned(l) && is_wide_unsigned(r)
        }
        _ => false,
    }
}

/// Whether something in an expression is converted to an unsigned type, which may turn it into a great number.
fn becomes_unsigned(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| {
        if let Expr::Cast(ty, inner) = e {
            let is_unsigned =
                matches!(ty, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64);
            let is_kept =
                inner.as_affine().and_then(Affine::as_constant).is_some_and(|c| (0..=255).contains(&c));
            found |= is_unsigned && !is_kept;
        }
    });
    found
}

fn uses_loops(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= matches!(e, Expr::Affine(a) if a.loops().next().is_some()));
    found
}

#[cfg(test)]
mod tests {
    use super::{IndexRange, fold};
    use crate::{BinaryOp, Expr, Names, Program, held_scalars};

    /// The ranges of the accesses to `x`, in textual order, as text.
    fn ranges_of_x(nest: &str) -> Vec<String> {
        found_in_x(nest, false)
    }

    fn found_in_x(nest: &str, is_wide: bool) -> Vec<String> {
        let program = Program::parse(&format!(
            "program p {{
               symbol P0 n: i32
               symbol P1 m: i32
               array A0 x: f64[?][m] param
               array A1 y: f64[n] param
               dataflow {{ N0 }}
               nest N0 in p {{ {nest} }}
             }}"
        ))
        .unwrap();
        let x = program.arrays.values().find(|array| array.name == "x").unwrap().id;
        let nest = program.nests.values().next().unwrap();
        let names = Names::new(&program);
        let found = match is_wide {
            true => nest.widest_ranges(&held_scalars(nest, &program), &|array| array == x),
            false => nest.access_ranges(&|array| array == x),
        };
        let text = found.into_iter().map(|found| {
            let mut text = String::new();
            for (is, letter) in [(found.is_read, 'r'), (found.is_written, 'w'), (found.is_selected, '?')] {
                text.extend(is.then_some(letter));
            }
            for range in &found.indices {
                text += &match range {
                    Some(r) => format!(" {} .. {}", names.expr(&r.first), names.expr(&r.last)),
                    None => " unknown".to_owned(),
                };
            }
            text
        });
        text.collect()
    }

    #[test]
    fn conditions_tighten_and_selections_are_told() {
        let found = ranges_of_x(
            "for L0 i: i32 in 0 .. n {
               for L1 j: i32 in 0 .. i + 1 {
                 if j >= 2 && i < m { S0: x[i][j] += y[j] > 0.0 ? x[i + 1][j - 1] : 0.0 }
               }
             }",
        );
        assert_eq!(
            found,
            ["rw 0 .. min(n - 1, m - 1) 2 .. min(n - 1, m - 1)", "r? 1 .. min(n, m) 1 .. min(n - 2, m - 2)"]
        );
    }

    #[test]
    fn selections_and_remainders_have_widest_ranges() {
        let nest = "for L0 i: i32 in 0 .. n { S0: x[i == 0 ? i + n - 1 : i - 1][(i + 1) % m] = x[(i - 1) % 5][i % -3] }";
        assert_eq!(ranges_of_x(nest), ["w unknown unknown", "r unknown unknown"]);
        assert_eq!(
            found_in_x(nest, true),
            ["w min(n - 1, 0) .. max(min(2*n - 2, n - 1), n - 2) 0 .. max(m, -m) + -1", "r -4 .. 4 0 .. 2"]
        );
    }

    #[test]
    fn what_many_values_have_in_common_is_there_once() {
        let text = "program p {
            symbol P0 n: i32
            symbol P1 m: i32
            array A0 x: f64[?] param
            dataflow { N0 }
            nest N0 in p {
              for L0 i: i32 in 0 .. n { S0: x[i * m] = x[i * m - 1] + x[i * m + n] + x[i * m - 3] + x[i] }
            }
          }";
        let program = Program::parse(text).unwrap();
        let found = program.nests.values().next().unwrap().access_ranges(&|_| true);
        let range = IndexRange::hull(found.iter().map(|found| found.indices[0].clone().unwrap())).unwrap();
        let names = Names::new(&program);
        assert_eq!(names.expr(&range.first), "min(min(0, (n - 1) * m) + min(n, -3), 0)");
        assert_eq!(names.expr(&range.last), "max(max(0, (n - 1) * m) + max(0, n), n - 1)");
    }

    #[test]
    fn integers_that_a_nest_sets_itself_have_ranges() {
        let found = |before: &str, storage: &str, ty: &str| {
            let text = format!(
                "program p {{
                   symbol P0 n: i32
                   array A0 x: f64[?] param
                   array A1 y: f64[n] param
                   array A2 up: {ty} {storage}
                   array A3 far: {ty} {storage}
                   dataflow {{ N0 }}
                   nest N0 in p {{
                     {before}
                     for L0 i: i32 in 1 .. n - 2 {{
                       if y[i] < 0.0 {{ S1: up = i + 2 }} else {{ S2: up = i - 1 }}
                       S3: far = up + 1
                       S4: x[far] = 0.0
                     }}
                   }}
                 }}"
            );
            let program = Program::parse(&text).unwrap();
            let x = program.arrays.values().find(|array| array.name == "x").unwrap().id;
            let held = held_scalars(&program.nests[0], &program);
            let found = program.nests[0].widest_ranges(&held, &|array| array == x);
            let names = Names::new(&program);
            let range = found[0].indices[0].clone();
            range.map(|r| format!("{} .. {}", names.expr(&r.first), names.expr(&r.last)))
        };
        let known = Some("1 .. n".to_owned());
        assert_eq!(found("", "local", "i32"), known);
        assert_eq!(found("", "body(L0)", "i32"), known);
        assert_eq!(found("", "local", "i64"), known);
        // May be cut off, or set by others.
        assert_eq!(found("", "local", "i16"), None);
        assert_eq!(found("", "global", "i32"), None);
        // Values from before.
        assert_eq!(found("S0: far = up", "local", "i32"), None);
        assert_eq!(found("S0: up = far", "local", "i32"), None);
        assert_eq!(found("S0: up = 100", "local", "i32"), Some("1 .. max(100, n - 1) + 1".to_owned()));
        // Not an end, but a step.
        assert_eq!(found("S0: up = 0\nS5: up += n", "local", "i32"), None);
    }

    #[test]
    fn operators_bound_values_of_which_nothing_is_known() {
        let index = |index: &str| {
            let nest = format!("for L0 i: i32 in 0 .. n {{ S0: x[{index}][0] = 0.0 }}");
            found_in_x(&nest, true)[0].strip_suffix(" 0 .. 0").unwrap().to_owned()
        };
        assert_eq!(index("(i32)y[i] % 7"), "w -6 .. 6");
        assert_eq!(index("(u32)y[i] % 7"), "w 0 .. 6");
        assert_eq!(index("(u32)i * (u32)2654435761 % (u32)7"), "w 0 .. 6");
        assert_eq!(index("(i32)y[i] % m"), "w 1 - max(m, -m) .. max(m, -m) + -1");
        // A negative number of type `int` is a great one of type `unsigned`.
        assert_eq!(index("(u32)y[i] % (u32)m"), "w unknown");
        assert_eq!(index("(i - 3) % 7"), "w -6 .. 6");
        assert_eq!(index("(i + n - 1) % m"), "w 0 .. max(m, -m) + -1");
        assert_eq!(index("(i + n - 2) % m"), "w 1 - max(m, -m) .. max(m, -m) + -1");
        assert_eq!(index("(i32)y[i] & 15"), "w 0 .. 15");
        assert_eq!(index("(i32)y[i] & -2"), "w unknown");
        assert_eq!(index("(i - 3) / 4"), "w -3 / 4 .. (n - 4) / 4");
        assert_eq!(index("(u32)(i - 3) / 4"), "w unknown");
        assert_eq!(index("(u8)y[i]"), "w 0 .. 255");
        assert_eq!(index("(i16)y[i] + 1"), "w -32767 .. 32768");
        assert_eq!(index("(i32)y[i]"), "w unknown");
        assert_eq!(index("i + (u32)4294967295"), "w unknown");
    }

    #[test]
    fn strides_divisors_and_data() {
        let found = ranges_of_x(
            "for L0 i: i32 in 0 .. 10 step 4 {
               for L1 j: i32 in ceil(i / 3) .. data(n * m) {
                 S0: x[i][3 - j] = x[(i32)y[i]][j % 2]
               }
             }",
        );
        assert_eq!(found, ["w 0 .. 8 -1 * (n * m + -1) + 3 .. 3", "r unknown unknown"]);
        let halves =
            "for L0 i: i32 in 0 .. ceil(n / 2) { for L1 j: i32 in ceil(m / 2) .. 9 { S0: x[2*i][j] = 0.0 } }";
        assert_eq!(ranges_of_x(halves), ["w 0 .. 2 * ((n + 1) / 2 + -1) unknown"]);
        assert_eq!(found_in_x(halves, true), ["w 0 .. 2 * ((n + 1) / 2 + -1) 1 * (m / 2 + 0) .. 8"]);
    }

    #[test]
    fn narrow_types_wrap_around() {
        let found = ranges_of_x("for L0 i: i32 in 250 .. 260 { S0: x[(u8)i][(i64)i] = 0.0 }");
        assert_eq!(found, ["w unknown 250 .. 259"]);
    }

    #[test]
    fn of_many_values_the_greatest_is_no_deep_chain() {
        fn depth(e: &Expr) -> usize {
            match e {
                Expr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
                _ => 0,
            }
        }
        for (n, most) in [(1, 0), (2, 1), (8, 7), (9, 4), (18, 5), (64, 6)] {
            let values: Vec<Expr> = (0..n).map(|k| Expr::from(crate::SymId(k))).collect();
            let found = fold(values.clone(), BinaryOp::Max).expect("a value");
            assert_eq!(depth(&found), most);
            let mut leaves = Vec::new();
            found.visit(&mut |e| leaves.extend(matches!(e, Expr::Affine(_)).then(|| e.clone())));
            assert_eq!(leaves, values);
        }
    }
}

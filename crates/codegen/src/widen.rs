//! Iterators and bounds that would leave the range of `int`.
//!
//! A tile's iterator steps beyond the last tile, a skewed one has the sum of two, and `4 * it + 4` is more than `it` ever was in
//! the source. Such iterators are `long`, and such bounds are computed in `long`; so are indices, guards and values in which
//! something large is subtracted again, as in `j - 2 * i`. The ranges are those that the types of the symbols allow; sizes are
//! taken not to be negative, since loops with such bounds do not run, but in bounds those that loops begin with. Nothing is wider
//! than `long`: where loops begin with a `long` and others are made of them, that is to be far from the ends of its type.

use crate::summands::summands;
use crate::types::{iterator_type, loop_type};
use oxeye_ir::{
    Affine, Bound, BoundTerm, Execution, Loop, LoopId, Nest, Node, Program, ScalarType, SymId, Var,
};
use std::collections::{BTreeMap, BTreeSet};

const LEAST: i128 = i32::MIN as i128;
const MOST: i128 = i32::MAX as i128;

/// Smaller constants hardly matter to what a sum is on the way.
const FAR: u64 = 1 << 24;

/// What is computed in `long`.
#[derive(Debug, Default)]
pub(crate) struct Long {
    /// Bounds.
    pub(crate) bounds: BTreeSet<Affine>,
    /// Indices, guards and values.
    pub(crate) others: BTreeSet<Affine>,
    /// Symbols of 64 bits that are multiplied, or added to, where the source has only their values.
    pub(crate) starts: BTreeSet<SymId>,
}

/// Makes iterators of a nest `long` that need it. Returns the expressions that are computed in `long`.
pub(crate) fn widen(program: &Program, original: &Nest, nest: &mut Nest) -> Long {
    let mut widening = Widening {
        program,
        starts: starts(original),
        original: original.loops(),
        ranges: BTreeMap::new(),
        source: BTreeMap::new(),
        bounds: BTreeSet::new(),
        made: BTreeSet::new(),
    };
    widening.nodes(&mut nest.roots);
    let mut others: BTreeSet<Affine> = BTreeSet::new();
    nest.visit_affine(&mut |a| {
        if widening.overflows_on_the_way(a) {
            others.insert(a.clone());
        }
    });
    Long { bounds: widening.bounds, others, starts: widening.made }
}

/// The symbols that loops begin with.
fn starts(nest: &Nest) -> BTreeSet<SymId> {
    nest.loops().into_iter().flat_map(|l| symbols(&l.lower)).collect()
}

/// The symbols in the affine terms of a bound.
fn symbols(bound: &Bound) -> impl Iterator<Item = SymId> {
    let affine = bound.0.iter().filter_map(|term| match term {
        BoundTerm::Affine { expr, .. } => Some(expr),
        BoundTerm::Data(_) | BoundTerm::Open => None,
    });
    affine.flat_map(Affine::terms).filter_map(|(v, _)| match v {
        Var::Sym(id) => Some(id),
        Var::Loop(_) => None,
    })
}

struct Widening<'a> {
    program: &'a Program,
    /// Symbols that may be far below zero in bounds.
    starts: BTreeSet<SymId>,
    original: Vec<&'a Loop>,
    /// Least and greatest values of the iterators in scope, and whether they are `long`.
    ranges: BTreeMap<LoopId, Range>,
    /// Loops of the source that loops are copies of: they have their names, and their iterations.
    source: BTreeMap<LoopId, LoopId>,
    /// Bounds that are computed in `long`.
    bounds: BTreeSet<Affine>,
    /// Symbols of 64 bits that loops of the source begin with, and tiles as well.
    made: BTreeSet<SymId>,
}

#[derive(Clone, Copy)]
struct Range {
    least: i128,
    most: i128,
    is_long: bool,
}

impl Widening<'_> {
    fn nodes(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            if let Node::Loop(l) = node {
                let range = self.a_loop(l);
                self.ranges.insert(l.id, range);
            }
            node.bodies_mut().into_iter().for_each(|body| self.nodes(body));
        }
    }

    /// The values of a loop's iterator.
    fn a_loop(&mut self, l: &mut Loop) -> Range {
        let (lower, upper) = (self.bound_in_source(&l.lower), self.bound_in_source(&l.upper));
        let same = |o: &&&Loop| o.lower == lower && o.upper == upper && o.step == l.step;
        let is_in_lanes = matches!(l.execution, Execution::Vector { lanes: Some(_), .. });
        let is_as_written = !is_in_lanes && self.original.iter().any(|o| same(&o));
        // Loops that no step has made anew are their own sources.
        let own = self.original.iter().filter(same).find(|o| o.id == l.id);
        let copied = || self.original.iter().filter(same).find(|o| o.name == l.name);
        if let Some(o) = own.or_else(copied) {
            self.source.insert(l.id, o.id);
        }
        let is_long = loop_type(l) == ScalarType::I64;
        if is_long && !is_as_written && !is_in_lanes {
            let begins =
                symbols(&l.lower).filter(|id| self.starts.contains(id) && self.of(Var::Sym(*id)).is_long);
            let begins: Vec<SymId> = begins.collect();
            self.made.extend(begins);
        }
        let of = |v: Var| if is_as_written { self.of(v) } else { self.of_bound(v) };
        let lower: Vec<Range> = l.lower.0.iter().map(|term| Self::term(term, of)).collect();
        let upper: Vec<Range> = l.upper.0.iter().map(|term| Self::term(term, of)).collect();
        let least = lower.iter().map(|r| r.least).max().unwrap_or(0);
        let most = upper.iter().map(|r| r.most).min().unwrap_or(MOST) - 1;
        if is_as_written || is_long {
            let (low, high) = if is_long { (i64::MIN.into(), i64::MAX.into()) } else { (LEAST, MOST) };
            return Range { least: least.max(low), most: most.min(high), is_long };
        }
        let lanes = match l.execution {
            Execution::Vector { lanes: Some(lanes), .. } => i128::from(lanes),
            _ => 1,
        };
        let step = i128::from(l.step);
        // Where it begins, even if there is no iteration, and what is behind the last one.
        let ends = match step > 0 {
            true => [lower.iter().map(|r| r.most).max().unwrap_or(0), most + step.max(lanes)],
            false => [upper.iter().map(|r| r.least).min().unwrap_or(0) - 1, least + step],
        };
        let fits = |value: &i128| (LEAST..=MOST).contains(value);
        // What a tile begins with may be less than any `int` where the first of its elements is not.
        let multiple = least.saturating_mul(largest_divisor(&l.lower));
        let is_wide = !ends.iter().chain([&least, &most, &multiple]).all(fits) || self.follows_wide(&l.lower);
        for bound in [&l.lower, &l.upper] {
            self.note_long(bound);
        }
        if is_wide {
            l.ty = ScalarType::I64;
        }
        Range { least, most, is_long: is_wide }
    }

    /// Whether a loop begins at an iterator below zero that is `long`, and that the source does not have.
    fn follows_wide(&self, lower: &Bound) -> bool {
        lower.0.iter().filter_map(BoundTerm::as_affine).flat_map(Affine::terms).any(|(v, c)| {
            let is_made = matches!(v, Var::Loop(id) if !self.source.contains_key(&id));
            let Range { least, is_long, .. } = self.of(v);
            c == 1 && is_made && is_long && least < 0
        })
    }

    /// An expression as the source has it, where its loops are copies of loops of the source.
    fn in_source(&self, a: &Affine) -> Affine {
        a.substitute(&|v| match v {
            Var::Loop(id) => self.source.get(&id).map(|source| Affine::var(Var::Loop(*source))),
            Var::Sym(_) => None,
        })
    }

    fn bound_in_source(&self, bound: &Bound) -> Bound {
        let of = |term: &BoundTerm| match term {
            BoundTerm::Affine { expr, divisor } => {
                BoundTerm::Affine { expr: self.in_source(expr), divisor: *divisor }
            }
            BoundTerm::Data(_) | BoundTerm::Open => term.clone(),
        };
        Bound(bound.0.iter().map(of).collect())
    }

    fn note_long(&mut self, bound: &Bound) {
        for term in &bound.0 {
            if let BoundTerm::Affine { expr, .. } = term
                && leaves_int(Self::sum(expr, |v| self.of_bound(v), |range| !range.is_long))
            {
                self.bounds.insert(expr.clone());
            }
        }
    }

    fn of(&self, v: Var) -> Range {
        match v {
            Var::Loop(id) => {
                self.ranges.get(&id).copied().unwrap_or(Range { least: LEAST, most: MOST, is_long: false })
            }
            Var::Sym(id) => {
                let ty = self.program.symbols.get(&id).map_or(ScalarType::I32, |s| s.ty);
                match iterator_type(ty) {
                    ScalarType::I64 => Range { least: 0, most: i64::MAX.into(), is_long: true },
                    _ => Range { least: 0, most: MOST, is_long: false },
                }
            }
        }
    }

    /// The same in a bound that the source does not have.
    fn of_bound(&self, v: Var) -> Range {
        let range = self.of(v);
        match v {
            Var::Sym(id) if self.starts.contains(&id) && !range.is_long => Range { least: LEAST, ..range },
            _ => range,
        }
    }

    fn sum(a: &Affine, of: impl Fn(Var) -> Range, counts: impl Fn(&Range) -> bool) -> Range {
        let constant = i128::from(a.constant_part());
        let mut sum = Range { least: constant, most: constant, is_long: false };
        for (v, c) in a.terms() {
            let (range, c) = (of(v), i128::from(c));
            if counts(&range) {
                let ends = [range.least.saturating_mul(c), range.most.saturating_mul(c)];
                sum.least = sum.least.saturating_add(ends[0].min(ends[1]));
                sum.most = sum.most.saturating_add(ends[0].max(ends[1]));
            }
        }
        sum
    }

    /// Whether the part of an expression that is computed in `int` may leave its range.
    fn overflows(&self, a: &Affine) -> bool {
        leaves_int(Self::sum(a, |v| self.of(v), |range| !range.is_long))
    }

    /// Whether something may leave the range of `int` that is computed there on the way to a value, which is one that the source
    /// has: how the source comes by it is not known. Constants that are too large are `long` themselves.
    fn overflows_on_the_way(&self, a: &Affine) -> bool {
        let summands = summands(a);
        let is_long = a.terms().any(|(v, _)| self.of(v).is_long);
        if !is_long && !self.may_cancel(a) {
            return false;
        }
        let mut sum = Affine::constant(0);
        let n = summands.len();
        summands.into_iter().enumerate().any(|(at, summand)| {
            let one = Affine::constant(0).add_scaled(&Affine::var(summand.of), summand.by);
            let less = summand.less.map(Affine::var);
            let part = less.map_or(one.clone(), |less| one.add_scaled(&less, -summand.by));
            sum = sum.clone() + part.clone();
            let is_value = |parts: usize| parts == n && !is_long && !has_far_constant(a);
            let in_int = |a: &Affine| a.terms().all(|(v, _)| !self.of(v).is_long);
            let leaves = |a: &Affine| in_int(a) && self.overflows(a);
            (n > 1 && leaves(&part)) || (!is_value(at + 1) && leaves(&sum))
        })
    }

    /// Whether variables are added and others subtracted, or a large constant is: where all parts have one sign, nothing on the way is
    /// further from zero than the value.
    fn may_cancel(&self, a: &Affine) -> bool {
        let ends: Vec<(bool, bool)> = a
            .terms()
            .map(|(v, c)| {
                let (range, c) = (self.of(v), i128::from(c));
                let ends = [range.least.saturating_mul(c), range.most.saturating_mul(c)];
                (ends.iter().any(|e| *e < 0), ends.iter().any(|e| *e > 0))
            })
            .collect();
        let constant = has_far_constant(a).then_some((a.constant_part() < 0, a.constant_part() > 0));
        let parts = || ends.iter().chain(&constant);
        parts().any(|(falls, _)| *falls) && parts().any(|(_, rises)| *rises)
    }

    fn term(term: &BoundTerm, of: impl Fn(Var) -> Range) -> Range {
        match term {
            BoundTerm::Affine { expr, divisor } => {
                let sum = Self::sum(expr, of, |_| true);
                let divisor = i128::from(*divisor).max(1);
                let up = |value: i128| value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0);
                Range { least: up(sum.least), most: up(sum.most), is_long: false }
            }
            BoundTerm::Data(_) => Range { least: 0, most: MOST, is_long: false },
            BoundTerm::Open => Range { least: 0, most: i64::MAX.into(), is_long: true },
        }
    }
}

/// The greatest number that a term of a bound is divided by.
fn largest_divisor(bound: &Bound) -> i128 {
    let divisors = bound.0.iter().map(|term| match term {
        BoundTerm::Affine { divisor, .. } => i128::from(*divisor),
        BoundTerm::Data(_) | BoundTerm::Open => 1,
    });
    divisors.max().unwrap_or(1)
}

/// Whether a sum has a constant that may bring it back from beyond `int`: iterators that begin at the end of their range.
fn has_far_constant(a: &Affine) -> bool {
    a.constant_part().unsigned_abs() >= FAR
}

fn leaves_int(range: Range) -> bool {
    range.least < LEAST || range.most > MOST
}

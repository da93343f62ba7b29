//! Memory-based dependences between the statements of a nest.

use std::collections::HashMap;
use std::fmt;

use crate::access::StmtAccess;
use crate::domain::{NestModel, StmtModel};
use crate::linear::Ring;
use crate::omega::{Feasibility, Limit, Row, System, feasible, implies_eq, implies_ge, sample, sample_var};
use oxeye_ir::{ArrayId, LoopId, Nest, Program, StmtId};

/// What the two accesses of a dependence do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependenceKind {
    /// Write, then read.
    Flow,
    /// Read, then write.
    Anti,
    /// Write, then write.
    Output,
}

/// What orders the source before the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The common loop at this depth (0 is the outermost), with equal iterators in all loops around it.
    Carried(usize),
    /// Textual order, with equal iterators in all common loops.
    Independent,
}

/// An access of a statement: an index into [`StmtModel::accesses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The statement.
    pub stmt: StmtId,
    /// The position among its accesses.
    pub access: usize,
}

/// One component of a direction vector: how the iterators of a common loop may differ, in execution order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Direction {
    /// By how much the destination's iterator is later (in the order of the loop), if that is constant.
    pub distance: Option<i64>,
    /// The destination may be in a later iteration.
    pub later: bool,
    /// Both may be in the same iteration.
    pub same: bool,
    /// The destination may be in an earlier iteration.
    pub earlier: bool,
}

/// Pairs of statement instances, the first of which runs before the second, that touch the same element, with at least
/// one write.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The earlier access.
    pub src: Endpoint,
    /// The later access.
    pub dst: Endpoint,
    /// Which of them write.
    pub kind: DependenceKind,
    /// The array.
    pub array: ArrayId,
    /// What orders them.
    pub level: Level,
    /// The common loops that order the two accesses, outermost first.
    pub common: Vec<LoopId>,
    /// One component for each of `common`.
    pub directions: Vec<Direction>,
    /// The pairs.
    pub pairs: Pairs,
    /// Whether every pair of `pairs` is a dependence of the program as run. Otherwise some pairs may not be.
    pub exact: bool,
}

/// Pairs of instances of two statements as integer points: iterators of the source's loops, iterators of the
/// destination's loops, symbols, existential variables.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Number of loops around the source; their iterators are variables `0 ..`.
    pub n_src: usize,
    /// Number of loops around the destination; their iterators are variables `n_src ..`.
    pub n_dst: usize,
    /// Number of symbols; they are variables `n_src + n_dst ..`.
    pub n_symbols: usize,
    /// The constraints.
    pub system: System,
}

impl Pairs {
    /// The variable of the source's loop at this depth.
    pub fn src(&self, depth: usize) -> usize {
        depth
    }

    /// The variable of the destination's loop at this depth.
    pub fn dst(&self, depth: usize) -> usize {
        self.n_src + depth
    }

    /// The variable of the symbol at this position.
    pub fn symbol(&self, idx: usize) -> usize {
        self.n_src + self.n_dst + idx
    }

    /// All pairs of points at which `a` of `src` and `b` of `dst` happen, in any order.
    fn of_accesses((src, a): (&StmtModel, &StmtAccess), (dst, b): (&StmtModel, &StmtAccess)) -> Self {
        let (n_src, n_dst) = (src.loops.len(), dst.loops.len());
        let n_symbols = src.domain.space.symbols.len();
        let mut pairs = Self { n_src, n_dst, n_symbols, system: System::new(n_src + n_dst + n_symbols) };
        for (domain, is_dst) in [(src.points_of(a), false), (dst.points_of(b), true)] {
            let map = pairs.map(domain, is_dst);
            pairs.system.extend_mapped(domain, &map);
        }
        pairs
    }

    /// Keeps the pairs that touch the same element.
    fn same_element(&mut self, src: &StmtAccess, dst: &StmtAccess) {
        let rings = (&src.rings, &dst.rings);
        let rows = [(src, false), (dst, true)].map(|(access, is_dst)| {
            let map = self.map(&access.system, is_dst);
            self.system.extend_mapped(&access.system, &map);
            let mapped = |row: &Row| {
                let terms: Vec<_> = row.terms().map(|(var, coeff)| (map[var], coeff)).collect();
                (terms, row.constant)
            };
            access.indices.iter().map(|row| row.as_ref().map(mapped)).collect::<Vec<_>>()
        });
        let [src, dst] = rows;
        for (src, dst) in src.into_iter().zip(dst) {
            if let (Some((mut terms, constant)), Some((other, other_constant))) = (src, dst) {
                let (Some(constant), true) =
                    (constant.checked_sub(other_constant), other.iter().all(|(_, c)| *c != i64::MIN))
                else {
                    continue;
                };
                terms.extend(other.into_iter().map(|(var, coeff)| (var, -coeff)));
                self.system.add_eq(&terms, constant);
            }
        }
        for (a, b) in rings.0.iter().zip(rings.1) {
            if let (Some(a), Some(b)) = (a, b) {
                self.same_place(a, b);
            }
        }
    }

    /// Keeps the pairs that are at the same place of a ring, where less than once around it lies between them.
    fn same_place(&mut self, src: &Ring, dst: &Ring) {
        let terms = |row: &Row, is_dst: bool, sign: i64| -> Option<Vec<(usize, i64)>> {
            let (first, n_loops) = if is_dst { (self.n_src, self.n_dst) } else { (0, self.n_src) };
            let place = |var: usize| if var < n_loops { first + var } else { self.symbol(var - n_loops) };
            row.terms().map(|(var, c)| Some((place(var), c.checked_mul(sign)?))).collect()
        };
        let apart = |sign: i64| -> Option<(Vec<(usize, i64)>, i64)> {
            let mut all = terms(&src.value, false, sign)?;
            all.extend(terms(&dst.value, true, -sign)?);
            Some((all, src.value.constant.checked_sub(dst.value.constant)?.checked_mul(sign)?))
        };
        let is_one_length = terms(&src.length, false, 1) == terms(&dst.length, true, 1)
            && src.length.constant == dst.length.constant;
        let is_less_than_once_around = |sign: i64| {
            let (Some((mut all, constant)), Some(length)) = (apart(sign), terms(&src.length, false, 1))
            else {
                return false;
            };
            all.extend(length);
            let constant = constant.checked_add(src.length.constant).and_then(|c| c.checked_sub(1));
            constant.is_some_and(|constant| implies_ge(&self.system, &all, constant))
        };
        if is_one_length
            && [1, -1].into_iter().all(is_less_than_once_around)
            && let Some((all, constant)) = apart(1)
        {
            self.system.add_eq(&all, constant);
        }
    }

    /// Keeps the pairs that agree in the common loop at `depth`.
    fn same_iteration(&mut self, depth: usize) {
        let (src, dst) = (self.src(depth), self.dst(depth));
        self.system.add_eq(&[(src, 1), (dst, -1)], 0);
    }

    /// Keeps the pairs whose destination is in a later iteration of the common loop at `depth`, whose order of
    /// iterators is `sign`.
    fn later_iteration(&mut self, depth: usize, sign: i64) {
        let (src, dst) = (self.src(depth), self.dst(depth));
        self.system.add_ge(&[(dst, sign), (src, -sign)], -1);
    }

    /// Keeps the pairs whose destination is in a later tile: what it touches there comes after all of an earlier one.
    fn later_tiles(
        &mut self,
        (src, a): (&StmtModel, &StmtAccess),
        (dst, b): (&StmtModel, &StmtAccess),
        depth: usize,
    ) {
        let strips = |stmt: &StmtModel, access: &StmtAccess| {
            let n_loops = access.anchor.n_loops;
            let own = stmt.strips.iter().filter(|strip| strip.tiles == depth && strip.elements < n_loops);
            own.cloned().collect::<Vec<_>>()
        };
        for earlier in strips(src, a) {
            for later in strips(dst, b).iter().filter(|later| later.size == earlier.size) {
                let (src, dst) = (self.src(earlier.elements), self.dst(later.elements));
                self.system.add_ge(&[(dst, 1), (src, -1)], -1);
            }
        }
    }

    /// Where the variables of a statement's system are in this one; adds its existential ones.
    fn map(&mut self, system: &System, is_dst: bool) -> Vec<usize> {
        let (first, n_loops) = if is_dst { (self.n_src, self.n_dst) } else { (0, self.n_src) };
        let n_shared = n_loops + self.n_symbols;
        let mut map: Vec<usize> = (first..first + n_loops).collect();
        map.extend((0..self.n_symbols).map(|idx| self.symbol(idx)));
        let n_existential = system.n_vars().saturating_sub(n_shared);
        let start = self.system.add_vars(n_existential);
        map.extend(start..start + n_existential);
        map
    }
}

/// All memory-based dependences of `nest` in its original order; `None` if it has more than [`MOST_DEPENDENCES`] or is
/// otherwise [too large](NestModel::relations).
pub fn dependences(program: &Program, nest: &Nest) -> Option<Vec<Dependence>> {
    NestModel::new(program, nest).dependences(MOST_DEPENDENCES)
}

/// A nest with more dependences is too large to be analysed: together they take some hundred megabytes.
pub const MOST_DEPENDENCES: usize = 20_000;

/// So many pairs of accesses are examined at most, which takes some seconds.
pub const MOST_CONFLICTS: usize = 400_000;

/// A dependence as the set of instance pairs it joins, which is what legality tests need of it.
#[derive(Clone, Debug)]
pub struct DependenceRelation {
    /// The earlier access: indices into [`NestModel::stmts`] and [`StmtModel::accesses`].
    pub src: (usize, usize),
    /// The later access.
    pub dst: (usize, usize),
    /// What orders them.
    pub level: Level,
    /// The pairs; a superset where they are not known exactly.
    pub pairs: Pairs,
    /// Whether `pairs` is known to be non-empty.
    pub has_member: bool,
}

impl DependenceRelation {
    /// Whether both accesses are those of the element that their statements write.
    pub fn are_targets(&self, model: &NestModel) -> bool {
        let role = |(stmt, access): (usize, usize)| model.stmts[stmt].accesses[access].role;
        role(self.src).is_target() && role(self.dst).is_target()
    }
}

/// A test of a set of instance pairs: the accesses by statement and position, the level, the set.
type CandidateTest<'a> = dyn FnMut((usize, usize), (usize, usize), Option<Level>, &Pairs) -> bool + 'a;

impl NestModel {
    /// All memory-based dependences, by source, destination, and level, with their distances where known; `None` if the nest
    /// is [too large](NestModel::relations).
    pub fn dependences(&self, most: usize) -> Option<Vec<Dependence>> {
        Some(self.relations(most)?.into_iter().map(|relation| self.dependence(relation)).collect())
    }

    /// All memory-based dependences, by source, destination, and level; `None` if the nest is too large: if there are more
    /// than `most`, or more than [`MOST_CONFLICTS`] pairs of accesses that could be dependent.
    pub fn relations(&self, most: usize) -> Option<Vec<DependenceRelation>> {
        if self.n_conflicts() > MOST_CONFLICTS {
            return None;
        }
        let mut found = Vec::new();
        let mut keep = |src, dst, level, pairs: &Pairs| {
            if found.len() > most {
                return false;
            }
            let answer = feasible(&pairs.system, Limit::default());
            let is_kept = answer != Feasibility::Infeasible;
            if let (true, Some(level)) = (is_kept, level) {
                let has_member = answer == Feasibility::Feasible;
                found.push(DependenceRelation { src, dst, level, pairs: pairs.clone(), has_member });
            }
            is_kept
        };
        self.candidates(&mut keep);
        (found.len() <= most).then_some(found)
    }

    /// Pairs of accesses to one array, at least one of which writes.
    fn n_conflicts(&self) -> usize {
        let mut counts: HashMap<ArrayId, [usize; 2]> = HashMap::new();
        for access in self.stmts.iter().flat_map(|stmt| &stmt.accesses) {
            counts.entry(access.array).or_default()[usize::from(access.role.is_write())] += 1;
        }
        counts.values().map(|[reads, writes]| writes * (writes + 2 * reads)).sum()
    }

    /// Calls `test` on every set of instance pairs whose members would be dependences, with its level. Before the
    /// levels of a pair of accesses, it is called without a level on all pairs that touch the same element; if that
    /// returns false, the levels are skipped.
    pub(crate) fn candidates(&self, test: &mut CandidateTest<'_>) {
        for (s, src) in self.stmts.iter().enumerate() {
            for (t, dst) in self.stmts.iter().enumerate() {
                // Most accesses happen wherever their statement runs.
                let mut everywhere = None;
                for (x, a) in src.accesses.iter().enumerate() {
                    for (y, b) in dst.accesses.iter().enumerate() {
                        if a.array != b.array || !(a.role.is_write() || b.role.is_write()) {
                            continue;
                        }
                        let all = || Pairs::of_accesses((src, a), (dst, b));
                        let all = match (&a.evaluated, &b.evaluated) {
                            (None, None) => everywhere.get_or_insert_with(all).clone(),
                            _ => all(),
                        };
                        self.levels((src, a), (dst, b), all, &mut |level, pairs| {
                            test((s, x), (t, y), level, pairs)
                        });
                    }
                }
            }
        }
    }

    /// The candidates between two accesses, among these pairs of points.
    fn levels(
        &self,
        (src, a): (&StmtModel, &StmtAccess),
        (dst, b): (&StmtModel, &StmtAccess),
        mut pairs: Pairs,
        test: &mut dyn FnMut(Option<Level>, &Pairs) -> bool,
    ) {
        pairs.same_element(a, b);
        let n_private = self.n_private_loops(src, dst, a.array);
        (0..n_private).for_each(|depth| pairs.same_iteration(depth));
        if !test(None, &pairs) {
            return;
        }
        for (depth, step) in src.loops[..n_common(src, a, dst, b)].iter().enumerate() {
            let mark = pairs.system.mark();
            pairs.later_iteration(depth, step.sign());
            pairs.later_tiles((src, a), (dst, b), depth);
            test(Some(Level::Carried(depth)), &pairs);
            pairs.system.rollback(mark);
            pairs.same_iteration(depth);
        }
        if a.anchor.position < b.anchor.position {
            test(Some(Level::Independent), &pairs);
        }
    }

    fn dependence(&self, relation: DependenceRelation) -> Dependence {
        let DependenceRelation { src: (s, x), dst: (t, y), level, pairs, has_member } = relation;
        let (src, dst) = (&self.stmts[s], &self.stmts[t]);
        let (a, b) = (&src.accesses[x], &dst.accesses[y]);
        let common = &src.loops[..n_common(src, a, dst, b)];
        let signs: Vec<i64> = common.iter().map(|l| l.sign()).collect();
        Dependence {
            src: Endpoint { stmt: src.id, access: x },
            dst: Endpoint { stmt: dst.id, access: y },
            kind: match (a.role.is_write(), b.role.is_write()) {
                (true, false) => DependenceKind::Flow,
                (false, true) => DependenceKind::Anti,
                _ => DependenceKind::Output,
            },
            array: a.array,
            level,
            common: common.iter().map(|l| l.id).collect(),
            directions: directions(&pairs, &signs),
            pairs,
            exact: has_member && src.domain.exact && dst.domain.exact && a.exact && b.exact,
        }
    }

    /// The number of outer loops in each iteration of which `array` has its own copy.
    fn n_private_loops(&self, src: &StmtModel, dst: &StmtModel, array: ArrayId) -> usize {
        let Some(&owner) = self.private.get(&array) else { return 0 };
        let n_common = src.n_common_loops(dst);
        src.loops[..n_common].iter().position(|l| l.id == owner).map_or(0, |depth| depth + 1)
    }
}

/// The number of common loops that order two accesses.
fn n_common(src: &StmtModel, a: &StmtAccess, dst: &StmtModel, b: &StmtAccess) -> usize {
    src.n_common_loops(dst).min(a.anchor.n_loops).min(b.anchor.n_loops)
}

/// The direction vector over the first common loops, whose orders are `signs`.
fn directions(pairs: &Pairs, signs: &[i64]) -> Vec<Direction> {
    let mut system = pairs.system.clone();
    signs
        .iter()
        .enumerate()
        .map(|(depth, &sign)| {
            let (src, dst) = (pairs.src(depth), pairs.dst(depth));
            let mut may = |terms: &[(usize, i64)], constant: i64, is_eq: bool| {
                let mark = system.mark();
                if is_eq {
                    system.add_eq(terms, constant);
                } else {
                    system.add_ge(terms, constant);
                }
                let answer = feasible(&system, Limit::default());
                system.rollback(mark);
                answer != Feasibility::Infeasible
            };
            let later = may(&[(dst, sign), (src, -sign)], -1, false);
            let same = may(&[(dst, 1), (src, -1)], 0, true);
            let earlier = may(&[(dst, -sign), (src, sign)], -1, false);
            let distance = match (later, same, earlier) {
                (false, true, false) => Some(0),
                (true, false, false) => constant_distance(&system, src, dst, sign),
                (false, false, true) => constant_distance(&system, dst, src, sign).map(|d| -d),
                _ => None,
            };
            Direction { distance, later, same, earlier }
        })
        .collect()
}

/// `sign * (to - from)`, if it is positive and the same at every point.
fn constant_distance(system: &System, from: usize, to: usize, sign: i64) -> Option<i64> {
    let mut shifted = system.clone();
    let distance = shifted.add_var();
    shifted.add_eq(&[(distance, 1), (to, -sign), (from, sign)], 0);
    let least = sample_var(&shifted, distance, Limit::default())?;
    implies_eq(&shifted, &[(distance, 1)], least.checked_neg()?).then_some(least)
}

impl Dependence {
    /// One member: iterators of the source, iterators of the destination, and symbols.
    pub fn example(&self) -> Option<(Vec<i64>, Vec<i64>, Vec<i64>)> {
        let point = sample(&self.pairs.system, Limit::default())?;
        let (n_src, n_dst) = (self.pairs.n_src, self.pairs.n_dst);
        let symbols = n_src + n_dst..n_src + n_dst + self.pairs.n_symbols;
        Some((point[..n_src].to_vec(), point[n_src..n_src + n_dst].to_vec(), point[symbols].to_vec()))
    }
}

impl fmt::Display for DependenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
        })
    }
}

/// The distance if there is one, else `<` (later), `=`, `>`, `<=`, `>=`, `!=` or `*`.
impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(distance) = self.distance {
            return write!(f, "{distance}");
        }
        f.write_str(match (self.later, self.same, self.earlier) {
            (true, true, true) => "*",
            (true, true, false) => "<=",
            (true, false, true) => "!=",
            (true, false, false) => "<",
            (false, true, true) => ">=",
            (false, true, false) => "=",
            (false, false, true) => ">",
            (false, false, false) => "none",
        })
    }
}

/// `flow S0 -> S1 on A2 (1, *)`, with `may` in front if the dependence is not exact.
impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let may = if self.exact { "" } else { "may " };
        write!(f, "{may}{} {} -> {} on {} (", self.kind, self.src.stmt, self.dst.stmt, self.array)?;
        for (idx, direction) in self.directions.iter().enumerate() {
            let comma = if idx == 0 { "" } else { ", " };
            write!(f, "{comma}{direction}")?;
        }
        f.write_str(")")
    }
}

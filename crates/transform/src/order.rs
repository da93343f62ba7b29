//! Loop orders for imperfect nests: chosen level by level, with statements in a dependence cycle kept together.
//!
//! At every level the statements fall into the strongly connected components of the dependences not yet carried (Allen
//! and Kennedy, "Automatic translation of FORTRAN programs to vector form", 1987); each component gets loops of its
//! own. Unlike there, each statement may contribute any of its iterators to the level, so that an imperfect nest such
//! as LU can be turned inside out. The choice depends on cost (Carr, McKinley and Tseng, 1994) and parallelism.

use crate::legality::{accumulates, pair_system};
use crate::policy::Policy;
use crate::schedule::Schedule;
use crate::schedule::space::{Space, implies, project};
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
use oxeye_ir::{Affine, Constraint, LoopId, Var};
use std::collections::BTreeMap;

/// Preferences for the loop order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preference {
    /// Rank of the legal choice at the outermost level of the deepest component, 0 being the best.
    pub(crate) nth: usize,
    /// Prefer loops whose iterations are independent, from this level on.
    pub(crate) parallel_from: Option<usize>,
    /// Leave independent loops for the innermost levels, as vector lanes for the recurrences around them.
    pub(crate) parallel_last: bool,
    /// Merge neighbouring components whose loops agree.
    pub(crate) fuse: bool,
    /// For a single statement: the iterators to leave for the three innermost loops, in order.
    pub(crate) innermost: BTreeMap<usize, Vec<LoopId>>,
}

/// A dependence, restricted to instances that no outer loop has ordered yet.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) s: usize,
    pub(crate) t: usize,
    /// Only concurrency matters, not order.
    pub(crate) accumulation: bool,
    space: Space,
    system: System,
}

impl Pair {
    /// Whether some instance has `φ_t(y) − φ_s(x)` in the given relation to zero.
    pub(crate) fn possible(&self, a: &Level, b: &Level, sign: i64) -> bool {
        let (mut space, mut system) = (self.space.clone(), self.system.clone());
        let (terms, constant) = space.difference((0, &a.value()), (1, &b.value()));
        space.fit(&mut system);
        match sign {
            0 => system.add_eq(&terms, constant),
            1 => system.add_ge(&terms, constant - 1),
            _ => {
                let negative: Vec<(usize, i64)> = terms.iter().map(|(k, c)| (*k, -c)).collect();
                system.add_ge(&negative, -constant - 1);
            }
        }
        feasible(&system, Limit::default()) != Feasibility::Infeasible
    }

    pub(crate) fn restricted(&self, a: &Level, b: &Level) -> Option<Pair> {
        let mut pair = self.clone();
        let (terms, constant) = pair.space.difference((0, &a.value()), (1, &b.value()));
        pair.space.fit(&mut pair.system);
        pair.system.add_eq(&terms, constant);
        (feasible(&pair.system, Limit::default()) != Feasibility::Infeasible).then_some(pair)
    }
}

/// The iterator a statement contributes to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level {
    pub(crate) iterator: LoopId,
    pub(crate) reverse: bool,
}

impl Level {
    /// The schedule value: descending iterators count negatively.
    fn value(self) -> Affine {
        Affine::term(self.iterator, if self.reverse { -1 } else { 1 })
    }
}

/// Cost of an iterator as the innermost: accesses that miss a cache line every time count 1, contiguous ones 1/8.
pub(crate) fn innermost_cost(schedule: &Schedule, s: usize, iterator: LoopId) -> f64 {
    let statement = &schedule.statements[s];
    statement
        .accesses
        .iter()
        .map(|access| {
            let indices: Option<Vec<Affine>> =
                access.indices.iter().map(|i| Some(statement.mapped(i.as_ref()?))).collect();
            access_cost(indices.as_deref(), iterator)
        })
        .sum()
}

/// What one access at these indices, if they are known, costs with this loop innermost.
pub(crate) fn access_cost(indices: Option<&[Affine]>, iterator: LoopId) -> f64 {
    let Some(indices) = indices else { return 1.0 };
    match indices.split_last() {
        None => 0.0,
        Some((_, others)) if others.iter().any(|i| i.uses(iterator)) => 1.0,
        Some((last, _)) => match last.coefficient(iterator).abs() {
            0 => 0.0,
            1 => 0.125,
            2..=7 => 0.5,
            _ => 1.0,
        },
    }
}

/// The dependences of an imported schedule, none of them ordered yet.
pub(crate) fn pairs(schedule: &Schedule, policy: Policy) -> Vec<Pair> {
    let pair = |pair| {
        let (space, system) = pair_system(schedule, pair);
        Pair {
            s: pair.source.0,
            t: pair.sink.0,
            accumulation: accumulates(schedule, pair, policy),
            space,
            system,
        }
    };
    schedule.original.pairs.iter().map(pair).collect()
}

/// A legal loop order for the whole nest, if one is found.
pub(crate) fn order(
    schedule: &Schedule,
    policy: Policy,
    preference: &Preference,
) -> Option<Vec<StatementSchedule>> {
    let pairs = pairs(schedule, policy);
    let paths = schedule.paths();
    let all: Vec<usize> = (0..schedule.statements.len()).collect();
    let deepest = paths.iter().map(Vec::len).max().unwrap_or(0);
    let arranger = Arranger { schedule, preference, deepest };
    let found = arranger.arrange(&all, &pairs, &paths, &vec![Vec::new(); paths.len()], false)?;
    Some(
        found
            .into_iter()
            .map(|(s, dimensions)| StatementSchedule { stmt: schedule.statements[s].id, dimensions })
            .collect(),
    )
}

type Arrangement = Vec<(usize, Vec<Dimension>)>;

struct Arranger<'a> {
    schedule: &'a Schedule,
    preference: &'a Preference,
    deepest: usize,
}

/// Statements that share a level, with the iterator of each.
#[derive(Clone)]
struct Group {
    stmts: Vec<usize>,
    levels: Vec<Level>,
    parallel: bool,
}

impl Arranger<'_> {
    /// Levels for `stmts` inside the loops in `outer`, one of which runs in parallel if `concurrent`.
    fn arrange(
        &self,
        stmts: &[usize],
        pairs: &[Pair],
        remaining: &[Vec<LoopId>],
        outer: &[Vec<LoopId>],
        concurrent: bool,
    ) -> Option<Arrangement> {
        let level = outer[stmts[0]].len();
        let mut groups: Vec<Group> = Vec::new();
        for component in components(stmts, pairs) {
            let group = self.choose(&component, pairs, remaining, level, concurrent)?;
            if self.preference.fuse
                && let Some(last) = groups.last()
                && let Some(merged) = self.merge(last, &group, pairs, remaining, outer)
            {
                *groups.last_mut()? = merged;
            } else {
                groups.push(group);
            }
        }
        let mut result = Arrangement::new();
        for (position, group) in groups.iter().enumerate() {
            if group.levels.is_empty() {
                result.push((group.stmts[0], vec![Dimension::At(position)]));
                continue;
            }
            let level_of = |s: usize| {
                let k = group.stmts.iter().position(|g| *g == s)?;
                Some(group.levels[k])
            };
            let inner: Vec<Pair> =
                pairs.iter().filter_map(|p| p.restricted(&level_of(p.s)?, &level_of(p.t)?)).collect();
            let (mut rest, mut outer) = (remaining.to_vec(), outer.to_vec());
            for (s, l) in group.stmts.iter().zip(&group.levels) {
                rest[*s].retain(|k| *k != l.iterator);
                outer[*s].push(l.iterator);
            }
            for (s, tail) in
                self.arrange(&group.stmts, &inner, &rest, &outer, concurrent || group.parallel)?
            {
                let l = level_of(s)?;
                let by = Dimension::By { expr: Affine::var(l.iterator), reverse: l.reverse };
                let mut dimensions = vec![Dimension::At(position), by];
                dimensions.extend(tail);
                result.push((s, dimensions));
            }
        }
        Some(result)
    }

    fn reverse(&self, id: LoopId) -> bool {
        self.schedule.loop_node(id).is_some_and(|b| b.reverse)
    }

    /// Iterators for a component: the best legal combination.
    fn choose(
        &self,
        stmts: &[usize],
        pairs: &[Pair],
        remaining: &[Vec<LoopId>],
        level: usize,
        concurrent: bool,
    ) -> Option<Group> {
        if let [only] = stmts
            && remaining[*only].is_empty()
        {
            return Some(Group { stmts: stmts.to_vec(), levels: Vec::new(), parallel: false });
        }
        let options: Vec<Vec<Level>> = stmts
            .iter()
            .map(|s| {
                let mut ranked = remaining[*s].clone();
                let cost = |l: &LoopId| innermost_cost(self.schedule, *s, *l);
                ranked.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
                if let [only] = stmts
                    && let Some(last) = self.preference.innermost.get(only)
                {
                    ranked.sort_by_key(|l| last.iter().position(|k| k == l).map_or(0, |k| k + 1));
                }
                ranked
                    .into_iter()
                    .map(|iterator| Level { iterator, reverse: self.reverse(iterator) })
                    .collect()
            })
            .collect();
        if options.iter().any(Vec::is_empty) {
            return None;
        }
        let internal: Vec<&Pair> =
            pairs.iter().filter(|p| stmts.contains(&p.s) && stmts.contains(&p.t)).collect();
        let mut memo: BTreeMap<(usize, Level, Level, i64), bool> = BTreeMap::new();
        let mut possible = |k: usize, a: Level, b: Level, sign: i64| {
            *memo.entry((k, a, b, sign)).or_insert_with(|| internal[k].possible(&a, &b, sign))
        };
        let mut legal: Vec<(usize, usize, Group)> = Vec::new();
        for (index, picks) in combinations(&options).into_iter().enumerate() {
            let levels: Vec<Level> = picks.iter().zip(&options).map(|(p, o)| o[*p]).collect();
            let of = |s: usize| levels[stmts.iter().position(|k| *k == s).unwrap_or(0)];
            let ordered = internal
                .iter()
                .enumerate()
                .all(|(k, p)| p.accumulation || !possible(k, of(p.s), of(p.t), -1));
            if !ordered {
                continue;
            }
            let parallel = internal.iter().enumerate().all(|(k, p)| {
                !(possible(k, of(p.s), of(p.t), 1) || p.accumulation && possible(k, of(p.s), of(p.t), -1))
            });
            let wants_parallel =
                !concurrent && self.preference.parallel_from.is_some_and(|from| level >= from);
            let fixed = stmts.len() == 1 && self.preference.innermost.contains_key(&stmts[0]);
            let rank: usize = picks.iter().sum();
            let wrong_place = (wants_parallel && !parallel) || (self.preference.parallel_last && parallel);
            let penalty = if wrong_place && !fixed { 1000 } else { 0 };
            legal.push((rank + penalty, index, Group { stmts: stmts.to_vec(), levels, parallel }));
        }
        legal.sort_by_key(|(rank, index, _)| (*rank, *index));
        let depth = stmts.iter().map(|s| remaining[*s].len()).max().unwrap_or(0);
        let nth = if level == 0 && depth == self.deepest { self.preference.nth } else { 0 };
        legal.into_iter().nth(nth).map(|(_, _, group)| group)
    }

    /// Merges two neighbours if their loops correspond and stay as parallel as they were.
    fn merge(
        &self,
        a: &Group,
        b: &Group,
        pairs: &[Pair],
        remaining: &[Vec<LoopId>],
        outer: &[Vec<LoopId>],
    ) -> Option<Group> {
        if a.levels.is_empty() || b.levels.is_empty() || a.parallel != b.parallel {
            return None;
        }
        // A guard in an innermost loop costs more than a separate loop.
        let innermost = |g: &Group| g.stmts.iter().any(|s| remaining[*s].len() == 1);
        if (innermost(a) || innermost(b)) && !self.same_range(a, b, remaining, outer) {
            return None;
        }
        if a.levels[0].reverse != b.levels[0].reverse {
            return None;
        }
        for p in pairs {
            let (Some(i), Some(j)) =
                (a.stmts.iter().position(|s| *s == p.s), b.stmts.iter().position(|s| *s == p.t))
            else {
                continue;
            };
            if p.possible(&a.levels[i], &b.levels[j], -1) {
                return None;
            }
            if a.parallel && p.possible(&a.levels[i], &b.levels[j], 1) {
                return None;
            }
        }
        Some(Group {
            stmts: [&a.stmts[..], &b.stmts].concat(),
            levels: [&a.levels[..], &b.levels].concat(),
            parallel: a.parallel,
        })
    }
}

impl Arranger<'_> {
    /// Whether the loops of both groups run over the same range, or each contain a single statement and these are equal.
    fn same_range(&self, a: &Group, b: &Group, remaining: &[Vec<LoopId>], outer: &[Vec<LoopId>]) -> bool {
        let range = |g: &Group| {
            let (s, own) = (g.stmts[0], g.levels[0].iterator);
            let around: Vec<LoopId> = outer[s].iter().copied().chain([own]).collect();
            let away: Vec<LoopId> = remaining[s].iter().copied().filter(|l| *l != own).collect();
            let rename = |v: Var| match v {
                Var::Loop(l) => {
                    around.iter().position(|o| *o == l).map(|k| Affine::var(LoopId(u32::MAX - k as u32)))
                }
                Var::Sym(_) => None,
            };
            project(&self.schedule.statements[s].domain, &away)
                .iter()
                .map(|c| c.substitute(&rename))
                .collect::<Vec<Constraint>>()
        };
        let (x, y) = (range(a), range(b));
        let inside = |p: &[Constraint], q: &[Constraint]| q.iter().all(|c| implies(p, c));
        if inside(&x, &y) && inside(&y, &x) {
            return true;
        }
        let [s, t] = [a.stmts[0], b.stmts[0]];
        let value = |s: usize, g: &Group| {
            let own = g.levels[0].iterator;
            let around: Vec<LoopId> = outer[s].iter().copied().chain([own]).collect();
            let mut stmt = self.schedule.statements[s].assignment()?.clone();
            let rename = |v: Var| match v {
                Var::Loop(l) => {
                    around.iter().position(|o| *o == l).map(|k| Affine::var(LoopId(u32::MAX - k as u32)))
                }
                Var::Sym(_) => None,
            };
            stmt.target.indices.iter_mut().for_each(|e| e.substitute(&rename));
            stmt.value.substitute(&rename);
            Some((stmt.target, stmt.update, stmt.value))
        };
        a.stmts.len() == 1 && b.stmts.len() == 1 && value(s, a).is_some() && value(s, a) == value(t, b)
    }
}

/// Index vectors over the options, including the cheapest combinations (smallest sum); at most a few hundred.
pub(crate) fn combinations(options: &[Vec<Level>]) -> Vec<Vec<usize>> {
    let total = options.iter().fold(1usize, |n, o| n.saturating_mul(o.len()));
    if total <= 512 {
        return options.iter().fold(vec![Vec::new()], |all, o| {
            all.iter()
                .flat_map(|head: &Vec<usize>| {
                    (0..o.len()).map(move |k| {
                        let mut picks = head.clone();
                        picks.push(k);
                        picks
                    })
                })
                .collect()
        });
    }
    // Too many: keep only those in which all statements contribute the same iterator where they have it.
    let mut iterators: Vec<LoopId> = options.iter().flatten().map(|l| l.iterator).collect();
    iterators.sort_unstable();
    iterators.dedup();
    iterators
        .into_iter()
        .map(|i| options.iter().map(|o| o.iter().position(|l| l.iterator == i).unwrap_or(0)).collect())
        .collect()
}

/// Strongly connected components in an order that respects the dependences, otherwise textual.
pub(crate) fn components(stmts: &[usize], pairs: &[Pair]) -> Vec<Vec<usize>> {
    let n = stmts.len();
    let at = |s: usize| stmts.iter().position(|k| *k == s);
    let mut reach = vec![vec![false; n]; n];
    for p in pairs.iter().filter(|p| !p.accumulation) {
        if let (Some(i), Some(j)) = (at(p.s), at(p.t)) {
            reach[i][j] = true;
        }
    }
    for k in 0..n {
        for i in 0..n {
            if reach[i][k] {
                let through = reach[k].clone();
                reach[i].iter_mut().zip(through).for_each(|(own, via)| *own |= via);
            }
        }
    }
    let mut placed = vec![false; n];
    let mut result = Vec::new();
    while let Some(next) =
        (0..n).find(|i| !placed[*i] && (0..n).all(|j| placed[j] || !reach[j][*i] || reach[*i][j]))
    {
        let members: Vec<usize> =
            (0..n).filter(|j| *j == next || (reach[next][*j] && reach[*j][next])).collect();
        members.iter().for_each(|j| placed[*j] = true);
        result.push(members.into_iter().map(|j| stmts[j]).collect());
    }
    result
}

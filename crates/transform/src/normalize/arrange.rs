//! Maximal distribution and stride minimisation.
//!
//! Statements that depend on each other in a cycle stay together; everything else gets loops of its own (Allen and
//! Kennedy, 1987). A statement on its own takes the legal permutation of its loops with the smallest strides;
//! statements of a cycle share loops, chosen level by level. Independent neighbours are ordered by their structural
//! keys.

use super::shapes::Shapes;
use crate::legality;
use crate::order::{Level, Pair, combinations, pairs};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::Schedule;
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::steps;
use crate::steps::{Reorder, Transformation};
use oxeye_ir::{Affine, BinaryOp, Expr, Loop, LoopId, Nest, Node, Program, Var};
use std::collections::BTreeMap;

/// A schedule of the nest in maximally distributed form with minimal strides, and whether sums are reordered.
///
/// # Errors
/// If no legal arrangement was found.
pub(super) fn arrange(program: &Program, nest: &Nest, policy: Policy) -> Result<(Schedule, bool), Reason> {
    let mut schedule = Schedule::import(program, nest);
    schedule.scalar_replacement = false;
    let planner = Planner::new(&schedule);
    let pairs = pairs(&schedule, policy);
    let all: Vec<usize> = (0..schedule.statements.len()).collect();
    let paths = schedule.paths();
    let found = planner.levels(&all, &pairs, &paths, 0).ok_or_else(|| {
        Reason::unsupported(
            "statements that depend on each other in a cycle have no loop in common that could be outermost",
        )
    })?;
    let schedules = found
        .into_iter()
        .map(|(s, dimensions)| StatementSchedule { stmt: schedule.statements[s].id, dimensions })
        .collect();
    steps::edit(&mut schedule, &Transformation::Reorder(Reorder { schedules }), policy)?;
    let reassociated = legality::check(&schedule, policy)?;
    Ok((schedule, reassociated))
}

/// Nests of at most this depth have all orders considered, deeper ones [`MOST_ORDERS`].
const DEEPEST_IN_FULL: usize = 7;
/// Most orders considered for a deep nest: 7!.
const MOST_ORDERS: usize = 5040;

/// Unknown sizes count as this many elements: large, and the same for all.
const LARGE: i64 = 1 << 12;

/// The cost of an access with an unknown stride.
const UNKNOWN_STRIDE: i64 = 1 << 40;

/// Access, dimension and coefficient of an index that uses a loop.
type Place = (usize, usize, i64);

struct Planner<'a> {
    schedule: &'a Schedule,
    /// Structural key of each statement.
    keys: Vec<u64>,
    /// Per statement and loop: the sum over the accesses of the stride of one iteration, in elements.
    costs: Vec<BTreeMap<LoopId, i64>>,
    /// Per statement and loop: the index positions that use it, to break ties.
    places: Vec<BTreeMap<LoopId, Vec<Place>>>,
}

type Arrangement = Vec<(usize, Vec<Dimension>)>;

impl<'a> Planner<'a> {
    fn new(schedule: &'a Schedule) -> Self {
        let shapes = Shapes::of(&schedule.program, &schedule.nest);
        let paths = schedule.paths();
        let mut planner = Self { schedule, keys: Vec::new(), costs: Vec::new(), places: Vec::new() };
        for (s, statement) in schedule.statements.iter().enumerate() {
            planner.keys.push(shapes.stmt(statement.id));
            planner.costs.push(paths[s].iter().map(|l| (*l, planner.cost(s, *l))).collect());
            planner.places.push(paths[s].iter().map(|l| (*l, places(schedule, &shapes, s, *l))).collect());
        }
        planner
    }

    fn cost(&self, s: usize, l: LoopId) -> i64 {
        let statement = &self.schedule.statements[s];
        let mut total = 0i64;
        for access in statement.accesses.iter() {
            let shape = &self.schedule.program.array(access.array).shape;
            let mut inner = 1i64;
            let mut stride = 0i64;
            for (dim, index) in access.indices.iter().enumerate().rev() {
                match index {
                    Some(index) => {
                        let step = statement.mapped(index).coefficient(l);
                        stride = stride.saturating_add(step.saturating_mul(inner));
                    }
                    None => stride = UNKNOWN_STRIDE,
                }
                let extent = shape.get(dim).and_then(Option::as_ref).and_then(extent).unwrap_or(LARGE);
                inner = inner.saturating_mul(extent.max(1));
            }
            total = total.saturating_add(stride.saturating_abs());
        }
        total
    }

    /// Positions and loops for `stmts`, whose first `depth` loops are chosen; `remaining` are the other loops.
    fn levels(
        &self,
        stmts: &[usize],
        pairs: &[Pair],
        remaining: &[Vec<LoopId>],
        depth: usize,
    ) -> Option<Arrangement> {
        let mut result = Arrangement::new();
        for (position, component) in self.components(stmts, pairs).into_iter().enumerate() {
            let own: Vec<Pair> = pairs
                .iter()
                .filter(|p| component.contains(&p.s) && component.contains(&p.t))
                .cloned()
                .collect();
            let found = match component.as_slice() {
                [only] => Some(vec![(*only, self.alone(*only, &own, &remaining[*only]))]),
                _ => self.together(&component, &own, remaining, depth).or_else(|| {
                    let original = |s: &usize| (*s, self.original(*s));
                    (depth == 0).then(|| component.iter().map(original).collect())
                }),
            };
            for (s, tail) in found? {
                result.push((s, [vec![Dimension::At(position)], tail].concat()));
            }
        }
        Some(result)
    }

    fn reverse(&self, id: LoopId) -> bool {
        self.schedule.loop_node(id).is_some_and(|b| b.reverse)
    }

    /// The dimensions in the source, after the first position.
    fn original(&self, s: usize) -> Vec<Dimension> {
        let time = &self.schedule.statements[s].time;
        let positions = time.positions.iter().skip(1);
        let by = |l: LoopId| Dimension::By { expr: Affine::var(l), reverse: self.reverse(l) };
        time.loops.iter().zip(positions).flat_map(|((l, _), p)| [by(*l), Dimension::At(*p)]).collect()
    }

    /// Loops of one statement: the legal permutation with the smallest strides, innermost loops counting most.
    fn alone(&self, s: usize, pairs: &[Pair], remaining: &[LoopId]) -> Vec<Dimension> {
        let orders = self.orders(s, remaining);
        let forward = |l: &LoopId| Level { iterator: *l, reverse: false };
        let as_written = |l: &LoopId| Level { iterator: *l, reverse: self.reverse(*l) };
        let backwards = remaining.iter().any(|l| self.reverse(*l));
        let candidates = orders.iter().flat_map(|order| {
            let own: Vec<Level> = order.iter().map(forward).collect();
            let other: Option<Vec<Level>> = backwards.then(|| order.iter().map(as_written).collect());
            [Some(own), other].into_iter().flatten()
        });
        let original: Vec<Level> = remaining.iter().map(as_written).collect();
        let levels = candidates.into_iter().find(|c| self.is_legal(pairs, c)).unwrap_or(original);
        let by = |l: &Level| Dimension::By { expr: Affine::var(l.iterator), reverse: l.reverse };
        levels.iter().flat_map(|l| [by(l), Dimension::At(0)]).collect()
    }

    /// Orders of the loops of one statement, smallest strides first: all of them, or for deep nests the first
    /// [`MOST_ORDERS`].
    fn orders(&self, s: usize, remaining: &[LoopId]) -> Vec<Vec<LoopId>> {
        let (costs, places) = (&self.costs[s], &self.places[s]);
        if remaining.len() > DEEPEST_IN_FULL {
            // From the innermost loop outwards, cheap loops first.
            let mut inwards = remaining.to_vec();
            inwards.sort_by(|a, b| (costs[a], &places[b]).cmp(&(costs[b], &places[a])));
            let mut orders = Vec::new();
            first_orders(&inwards, &mut Vec::new(), MOST_ORDERS, &mut orders);
            return orders;
        }
        let mut orders = permutations(remaining);
        orders.sort_by_cached_key(|order| {
            let costs: Vec<i64> = order.iter().rev().map(|l| costs[l]).collect();
            let places: Vec<_> = order.iter().map(|l| places[l].clone()).collect();
            (costs, places)
        });
        orders
    }

    fn is_legal(&self, pairs: &[Pair], levels: &[Level]) -> bool {
        let mut open: Vec<Pair> = pairs.iter().filter(|p| !p.accumulation).cloned().collect();
        for l in levels {
            if open.iter().any(|p| p.possible(l, l, -1)) {
                return false;
            }
            open = open.iter().filter_map(|p| p.restricted(l, l)).collect();
        }
        true
    }

    /// The next loop of statements in a cycle, and everything inside it.
    fn together(
        &self,
        stmts: &[usize],
        pairs: &[Pair],
        remaining: &[Vec<LoopId>],
        depth: usize,
    ) -> Option<Arrangement> {
        let options: Vec<Vec<Level>> = stmts.iter().map(|s| self.options(*s, &remaining[*s])).collect();
        if options.iter().any(Vec::is_empty) {
            return None;
        }
        let at = |s: usize| stmts.iter().position(|k| *k == s).unwrap_or(0);
        let mut memo: BTreeMap<(usize, Level, Level), bool> = BTreeMap::new();
        let mut choices = combinations(&options);
        choices.sort_by_key(|picks| picks.iter().sum::<usize>());
        for picks in choices {
            let levels: Vec<Level> = picks.iter().zip(&options).map(|(p, o)| o[*p]).collect();
            if levels.iter().any(|l| l.reverse != levels[0].reverse) {
                continue;
            }
            let legal = pairs.iter().enumerate().filter(|(_, p)| !p.accumulation).all(|(k, p)| {
                let (a, b) = (levels[at(p.s)], levels[at(p.t)]);
                !*memo.entry((k, a, b)).or_insert_with(|| p.possible(&a, &b, -1))
            });
            if !legal {
                continue;
            }
            let inner: Vec<Pair> =
                pairs.iter().filter_map(|p| p.restricted(&levels[at(p.s)], &levels[at(p.t)])).collect();
            let mut rest = remaining.to_vec();
            for (s, l) in stmts.iter().zip(&levels) {
                rest[*s].retain(|k| *k != l.iterator);
            }
            let Some(found) = self.levels(stmts, &inner, &rest, depth + 1) else { continue };
            let by = |s: usize| {
                let l = levels[at(s)];
                Dimension::By { expr: Affine::var(l.iterator), reverse: l.reverse }
            };
            return Some(found.into_iter().map(|(s, tail)| (s, [vec![by(s)], tail].concat())).collect());
        }
        None
    }

    /// Loops a statement may contribute, the one with the largest strides first, forwards before backwards.
    fn options(&self, s: usize, remaining: &[LoopId]) -> Vec<Level> {
        let mut ranked = remaining.to_vec();
        ranked.sort_by_cached_key(|l| (std::cmp::Reverse(self.costs[s][l]), self.places[s][l].clone()));
        let forward = ranked.iter().map(|l| Level { iterator: *l, reverse: false });
        let backward =
            ranked.iter().filter(|l| self.reverse(**l)).map(|l| Level { iterator: *l, reverse: true });
        forward.chain(backward).collect()
    }

    /// Strongly connected components in an order that respects the dependences; ties are broken by the smallest
    /// structural key.
    fn components(&self, stmts: &[usize], pairs: &[Pair]) -> Vec<Vec<usize>> {
        let n = stmts.len();
        let at: BTreeMap<usize, usize> = stmts.iter().enumerate().map(|(k, s)| (*s, k)).collect();
        let mut reach = vec![vec![false; n]; n];
        for p in pairs.iter().filter(|p| !p.accumulation) {
            if let (Some(i), Some(j)) = (at.get(&p.s), at.get(&p.t)) {
                reach[*i][*j] = true;
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
        let members = |i: usize| {
            (0..n)
                .filter(move |j| *j == i)
                .chain((0..n).filter(|j| *j != i && reach[i][*j] && reach[*j][i]))
                .collect::<Vec<usize>>()
        };
        let mut components: Vec<Vec<usize>> = Vec::new();
        for i in 0..n {
            if !components.iter().any(|c| c.contains(&i)) {
                let mut component = members(i);
                component.sort_by_key(|j| (self.keys[stmts[*j]], *j));
                components.push(component);
            }
        }
        let mut result = Vec::new();
        while !components.is_empty() {
            let ready = |c: &Vec<usize>| {
                components.iter().all(|d| d == c || !d.iter().any(|j| c.iter().any(|i| reach[*j][*i])))
            };
            let key = |c: &Vec<usize>| c.iter().map(|i| self.keys[stmts[*i]]).collect::<Vec<_>>();
            let next =
                (0..components.len()).filter(|k| ready(&components[*k])).min_by_key(|k| key(&components[*k]));
            let component = components.remove(next.unwrap_or(0));
            result.push(component.into_iter().map(|i| stmts[i]).collect());
        }
        result
    }
}

/// The first `most` orders of the loops, outermost first; each position, from the innermost outwards, takes the loops
/// in the listed order. `inner` are the loops already placed.
fn first_orders(loops: &[LoopId], inner: &mut Vec<LoopId>, most: usize, orders: &mut Vec<Vec<LoopId>>) {
    if inner.len() == loops.len() {
        orders.push(inner.iter().rev().copied().collect());
        return;
    }
    for l in loops {
        if orders.len() >= most {
            return;
        }
        if !inner.contains(l) {
            inner.push(*l);
            first_orders(loops, inner, most, orders);
            inner.pop();
        }
    }
}

/// Every order of the loops.
fn permutations(loops: &[LoopId]) -> Vec<Vec<LoopId>> {
    loops.iter().fold(vec![Vec::new()], |all, l| {
        let insert = |order: &Vec<LoopId>| {
            (0..=order.len())
                .map(|k| {
                    let mut longer = order.clone();
                    longer.insert(k, *l);
                    longer
                })
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(insert).collect()
    })
}

/// Access, dimension and coefficient of every index that uses the loop; accesses in structural order.
fn places(schedule: &Schedule, shapes: &Shapes, s: usize, l: LoopId) -> Vec<Place> {
    let statement = &schedule.statements[s];
    let Some(stmt) = statement.assignment() else { return Vec::new() };
    let nest = &schedule.nest;
    let mut path: Vec<&Loop> = Vec::new();
    nest.visit(&mut |around, node| {
        if matches!(node, Node::Stmt(x) if x.id == statement.id) {
            path = around.to_vec();
        }
    });
    let roles = shapes.roles(stmt, &path);
    let mut accesses: Vec<_> = stmt.value.reads();
    accesses.sort_by_key(|a| shapes.expr(&Expr::Read((*a).clone()), &roles));
    let mut found = Vec::new();
    for (k, access) in std::iter::once(&stmt.target).chain(accesses).enumerate() {
        for (dim, index) in access.indices.iter().enumerate() {
            if let Some(a) = index.as_affine()
                && statement.mapped(a).uses(l)
            {
                found.push((k, dim, statement.mapped(a).coefficient(l)));
            }
        }
    }
    if found.is_empty() {
        // Loops that index nothing come last, wherever they are in the source.
        found.push((usize::MAX, 0, 0));
    }
    found
}

/// The number of elements of a dimension; symbols count as large.
fn extent(e: &Expr) -> Option<i64> {
    match e {
        Expr::Affine(a) => a.evaluate(&|v| matches!(v, Var::Sym(_)).then_some(LARGE)),
        Expr::Binary(op, l, r) => {
            let (l, r) = (extent(l)?, extent(r)?);
            match op {
                BinaryOp::Add => l.checked_add(r),
                BinaryOp::Sub => l.checked_sub(r),
                BinaryOp::Mul => l.checked_mul(r),
                BinaryOp::Div if r != 0 => l.checked_div(r),
                BinaryOp::Max => Some(l.max(r)),
                BinaryOp::Min => Some(l.min(r)),
                _ => None,
            }
        }
        _ => None,
    }
}

//! Storage of private scalars and of temporaries made by normalization: how much of their expansion a schedule needs.
//!
//! For the judge a private scalar is an array over the loops that make it private (see [`crate::import`]). In the
//! emitted nest it becomes a scalar declared in the innermost loop that contains all uses of an element, or, where uses
//! of many elements are apart (after distribution), an array over the iterators that distinguish them. The same applies
//! to a temporary of the whole nest, which otherwise stays as it is.

use crate::refusal::Reason;
use crate::schedule::packed_contraction_of;
use crate::schedule::space::{Space, implies, project};
use crate::schedule::{MemoryAccess, Schedule, Statement};
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
use oxeye_ir::{Affine, ArrayId, BinaryOp, Constraint, Expr, LoopId, Relation, Storage, Var};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The dimensions of the expansion that stay, and what is subtracted from their indices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) kept: Vec<(usize, Affine)>,
}

/// An access to the array, standing for all that use the same elements at the same times.
pub(super) type Use<'a> = (&'a Statement, &'a MemoryAccess);

/// The storage of an array: its remaining dimensions, where it is declared, and its extents.
type Plan = (Layout, Storage, Vec<Option<Expr>>);

/// Decides the storage of every private scalar and temporary, updating its declaration.
pub(crate) fn assign(schedule: &mut Schedule) -> Result<BTreeMap<ArrayId, Layout>, Reason> {
    let mut layouts = BTreeMap::new();
    let privates = schedule.privates.clone().into_iter().map(|p| (p.array, Some(p.n_loops)));
    let temporaries = schedule.temporaries.clone().into_iter().map(|t| (t, None));
    for (id, n_loops) in privates.chain(temporaries) {
        let (layout, storage, shape) = match (plan(schedule, id, n_loops), n_loops) {
            (Some(plan), _) => plan,
            (None, None) => continue,
            (None, Some(n_loops)) => {
                let array = schedule.program.array(id);
                return Err(Reason::not_writable(format!(
                    "{} {} would need a copy for every iteration, and the number of iterations is not known",
                    if array.shape.len() > n_loops { "array" } else { "scalar" },
                    array.name
                )));
            }
        };
        let own_dims = layout.kept.len();
        let array = &mut Arc::make_mut(&mut schedule.program).arrays[&id];
        debug_assert_eq!(own_dims, shape.len());
        array.storage = storage;
        array.shape = shape;
        layouts.insert(id, layout);
    }
    Ok(layouts)
}

/// The storage in the innermost scope possible: of a private array (`n_loops` index it before its own dimensions) or a
/// temporary. `None` for a temporary if that is the whole nest.
fn plan(schedule: &Schedule, array: ArrayId, n_loops: Option<usize>) -> Option<Plan> {
    let mut uses: Vec<Use> = Vec::new();
    let mut common: Option<Vec<LoopId>> = None;
    for (index, (statement, path)) in schedule.statements.iter().zip(schedule.paths()).enumerate() {
        let accesses = statement.accesses.iter().filter(|a| a.array == array);
        let before = uses.len();
        uses.extend(accesses.map(|a| (statement, a)));
        if uses.len() == before {
            continue;
        }
        let inner = packed_contraction_of(&schedule.roots, index).map_or(0, |c| c.all_loops().count());
        let path = &path[..path.len() - inner];
        common = Some(match common {
            None => path.to_vec(),
            Some(c) => c.iter().zip(path).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect(),
        });
    }
    let mut seen = HashSet::new();
    uses.retain(|(statement, access)| {
        seen.insert((&statement.map, &statement.domain, &access.indices, &access.inner))
    });
    let common = common.unwrap_or_default();
    let n_dims = schedule.program.array(array).shape.len();
    let outermost = usize::from(n_loops.is_none());
    // The extent that is declared of a private array's own dimension, where indices do not tell a smaller one.
    let declared = |dim: usize| {
        let own = n_loops.is_some_and(|n| dim >= n);
        own.then(|| schedule.program.array(array).shape[dim].clone()).flatten().map(|size| (0.into(), size))
    };
    for whole in [false, true] {
        for depth in (outermost..=common.len()).rev() {
            let scope = &common[..depth];
            if !stays_inside(schedule, &uses, scope) {
                continue;
            }
            let kept: Option<Vec<(usize, (Affine, Expr))>> = (0..n_dims)
                .filter(|dim| !is_fixed(schedule, &uses, scope, *dim))
                .map(|dim| {
                    let found = extent(schedule, &uses, scope, dim);
                    Some((dim, found.or_else(|| whole.then(|| declared(dim)).flatten())?))
                })
                .collect();
            if let Some(kept) = kept {
                let (kept, shape) = kept.into_iter().map(|(dim, (lower, n))| ((dim, lower), Some(n))).unzip();
                return Some((Layout { kept }, Storage::Temp(scope.last().copied()), shape));
            }
        }
    }
    None
}

/// Systems for every pair of uses, both in their domains, with the loops of `scope` equal up to `n_equal`.
pub(super) fn pairs<'a>(
    schedule: &'a Schedule,
    uses: &'a [Use<'a>],
    scope: &'a [LoopId],
    n_equal: usize,
) -> impl Iterator<Item = (Space, System, Use<'a>, Use<'a>)> + 'a {
    uses.iter().flat_map(move |s| uses.iter().map(move |t| (s, t))).map(move |(s, t)| {
        let mut space = Space::default();
        let mut system = System::new(0);
        for c in &schedule.program.assumptions {
            space.add(&mut system, 0, c);
        }
        for (instance, (statement, access)) in [(0, s), (1, t)] {
            for c in &statement.domain {
                space.add(&mut system, instance, c);
            }
            for c in &access.inner {
                let c = Constraint { expr: statement.mapped(&c.expr), relation: c.relation };
                space.add(&mut system, instance, &c);
            }
        }
        for l in &scope[..n_equal] {
            let (x, y) = (space.column(0, Var::Loop(*l)), space.column(1, Var::Loop(*l)));
            space.fit(&mut system);
            system.add_eq(&[(x, 1), (y, -1)], 0);
        }
        (space, system, *s, *t)
    })
}

/// The difference of two accesses' indices in one dimension; `None` if it is not affine.
pub(super) fn difference(
    space: &mut Space,
    system: &mut System,
    s: Use,
    t: Use,
    dim: usize,
) -> Option<(Vec<(usize, i64)>, i64)> {
    let x = s.0.mapped(s.1.indices.get(dim)?.as_ref()?);
    let y = t.0.mapped(t.1.indices.get(dim)?.as_ref()?);
    let difference = space.difference((1, &y), (0, &x));
    space.fit(system);
    Some(difference)
}

/// Whether no integer point satisfies the system.
pub(super) fn infeasible(system: &System) -> bool {
    feasible(system, Limit::default()) == Feasibility::Infeasible
}

/// Whether no element is used in two different iterations of the loops in `scope`.
fn stays_inside(schedule: &Schedule, uses: &[Use], scope: &[LoopId]) -> bool {
    (0..scope.len()).all(|level| {
        pairs(schedule, uses, scope, level).all(|(mut space, mut system, s, t)| {
            for dim in 0..s.1.indices.len() {
                if let Some((terms, constant)) = difference(&mut space, &mut system, s, t, dim) {
                    system.add_eq(&terms, constant);
                }
            }
            let (x, y) = (space.column(0, Var::Loop(scope[level])), space.column(1, Var::Loop(scope[level])));
            space.fit(&mut system);
            // Pairs come in both orders, so one direction is enough.
            system.add_ge(&[(y, 1), (x, -1)], -1);
            infeasible(&system)
        })
    })
}

/// Whether the index is the same for all uses in one iteration of the loops in `scope`.
fn is_fixed(schedule: &Schedule, uses: &[Use], scope: &[LoopId], dim: usize) -> bool {
    pairs(schedule, uses, scope, scope.len()).all(|(mut space, mut system, s, t)| {
        let Some((terms, constant)) = difference(&mut space, &mut system, s, t, dim) else { return false };
        system.add_ge(&terms, constant - 1);
        infeasible(&system)
    })
}

/// Least index and number of elements of a dimension within one iteration of the loops in `scope`.
fn extent(schedule: &Schedule, uses: &[Use], scope: &[LoopId], dim: usize) -> Option<(Affine, Expr)> {
    let value = LoopId(schedule.next_loop);
    let mut projections: Vec<Vec<Constraint>> = Vec::new();
    for (statement, access) in uses {
        let index = statement.mapped(access.indices.get(dim)?.as_ref()?);
        let mut constraints = statement.domain.clone();
        constraints.extend(schedule.program.assumptions.iter().cloned());
        // The loops inside an atomic statement.
        let inner = access.inner.iter();
        constraints
            .extend(inner.map(|c| Constraint { expr: statement.mapped(&c.expr), relation: c.relation }));
        constraints.push(Constraint::eq(Affine::var(value), index));
        let mut away: Vec<LoopId> = constraints
            .iter()
            .flat_map(|c| c.expr.loops())
            .filter(|l| *l != value && !scope.contains(l))
            .collect();
        away.sort_unstable();
        away.dedup();
        projections.push(project(&constraints, &away));
    }
    let mut lowers = Vec::new();
    let mut uppers = Vec::new();
    for row in projections.iter().flatten() {
        let c = row.expr.coefficient(value);
        if c.abs() != 1 {
            continue;
        }
        let rest = row.expr.clone().add_scaled(&Affine::var(value), -c);
        let bound = rest.scaled(-c);
        let signs: &[i64] = if row.relation == Relation::Zero { &[1, -1] } else { &[c] };
        for sign in signs {
            let list = if *sign > 0 { &mut lowers } else { &mut uppers };
            let constraint = if *sign > 0 {
                Constraint::ge(Affine::var(value), bound.clone())
            } else {
                Constraint::ge(bound.clone(), Affine::var(value))
            };
            if !list.contains(&bound) && projections.iter().all(|p| implies(p, &constraint)) {
                list.push(bound.clone());
            }
        }
    }
    let sized = |lower: &Affine, upper: &Affine| (upper.clone() - lower.clone()).offset(1);
    let mut best: Option<(i64, Affine)> = None;
    for lower in &lowers {
        for upper in &uppers {
            if let Some(n) = sized(lower, upper).as_constant()
                && best.as_ref().is_none_or(|(m, _)| n < *m)
            {
                best = Some((n, lower.clone()));
            }
        }
    }
    if let Some((n, lower)) = best {
        return Some((lower, Expr::from(n.max(1))));
    }
    let plain = |a: &&Affine| a.loops().next().is_none();
    let (lower, upper) = (lowers.iter().find(plain)?, uppers.iter().find(plain)?);
    let size = sized(lower, upper);
    // If the loops do not run at all, the difference may be anything, but an array has no negative size.
    let positive = Constraint::ge(size.clone(), 1.into());
    let size = Expr::Affine(size);
    Some((
        lower.clone(),
        if implies(&schedule.program.assumptions, &positive) {
            size
        } else {
            Expr::binary(BinaryOp::Max, size, 1.into())
        },
    ))
}

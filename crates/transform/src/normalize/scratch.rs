//! Removes scratch arrays whose elements are on their way to another array, as [`scalars`](super::scalars) does with scalars.
//!
//! *Accumulation in place*: `for j: t[j] = 0; for k: for j: t[j] += e; for j: c[i + j] = t[j]` becomes `for j: c[i + j] = 0; for
//! k: for j: c[i + j] += e`. It is what tiles with results in registers look like in a source, and hides what is computed. If the
//! elements were loaded first, that goes, too; if the sums are added in the end, `c[i + j] += t[j]`, they are added at once where
//! floating point may be reassociated.

use super::rewrites::Done;
use super::scalars::{accesses, in_scope, strangers, writers};
use crate::instances::Instances;
use crate::policy::Policy;
use crate::rewrite::Rewrite;
use crate::scan::for_each_access;
use oxeye_analysis::{common_loops, is_covered};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, Expr, Loop, LoopId, Nest, Node, Program, Stmt, StmtId, Storage, Update,
    Var,
};

/// Removes every array that can be; returns what was done.
pub(super) fn dissolve(
    program: &Program,
    nest: &mut Nest,
    policy: Policy,
    instances: &mut Instances,
) -> Done {
    let mut done = Done::new();
    for id in nest.arrays() {
        let array = program.array(id);
        let is_own = matches!(array.storage, Storage::Temp(_) | Storage::Body(_));
        if !is_own || array.shape.is_empty() || !starts_anew(program, nest, array) {
            continue;
        }
        let mut roots = std::mem::take(&mut nest.roots);
        let target = in_scope(&mut roots, id, &mut Vec::new(), &mut |body, _| {
            let (rewrite, target) = accumulate_in_place(program, body, array, policy, instances)?;
            Some((rewrite, format!("array {}: accumulated in {}", array.name, program.array(target).name)))
        });
        nest.roots = roots;
        done.extend(target);
    }
    done
}

/// Whether no iteration of the loops around all uses of an array reads what another one left in it.
fn starts_anew(program: &Program, nest: &Nest, array: &Array) -> bool {
    let Some(common) = common_loops(nest, array.id) else { return false };
    let is_declared_inside = match array.storage {
        Storage::Body(l) => common.last() == Some(&l),
        _ => false,
    };
    is_declared_inside || is_covered(program, nest, array.id, &common)
}

/// The array that replaces another one, whose uses are all in this list, if one can, and what was done then.
fn accumulate_in_place(
    program: &Program,
    body: &mut Vec<Node>,
    array: &Array,
    policy: Policy,
    instances: &mut Instances,
) -> Option<(Rewrite, ArrayId)> {
    let uses = |n: &Node| accesses(std::slice::from_ref(n)).iter().any(|(a, _)| a.array == array.id);
    let (first, last) = (body.iter().position(uses)?, body.iter().rposition(uses)?);
    let end = stored(&body[last], array)?;
    let target = end.stmt.target.clone();
    let places: Vec<Affine> = target.affine_indices()?.into_iter().cloned().collect();
    let is_plain = matches!(&end.stmt.value, Expr::Read(_));
    let start = filled(&body[first], array);
    let load = start.as_ref().filter(|start| start.loads(target.array, &places, &end.counters));
    let rewrite = match end.stmt.update {
        Update::Assign => Rewrite::AccumulationInPlace,
        Update::Add if policy.reassociate && array.element.is_float() && is_plain => Rewrite::SumInPlace,
        _ => return None,
    };
    let mut onto = Vec::new();
    body.iter().for_each(|n| writers(n, array.id, &mut onto));
    if rewrite == Rewrite::SumInPlace {
        let zero = start.as_ref().filter(|start| is_zero(&start.stmt.value))?;
        onto.retain(|stmt| *stmt != zero.stmt.id);
    }
    onto.retain(|stmt| load.is_none_or(|load| load.stmt.id != *stmt));
    let onto: Vec<&Stmt> = onto.iter().filter_map(|stmt| stmt_of(body, *stmt)).collect();
    let is_sum =
        |stmt: &&Stmt| stmt.update == Update::Add && stmt.value.reads().iter().all(|a| a.array != array.id);
    if rewrite == Rewrite::SumInPlace && !onto.iter().all(is_sum) {
        return None;
    }
    // Besides the final store, only an initial load may touch the array, and only the same elements.
    let all = accesses(body);
    let n_others = all.iter().filter(|(a, _)| a.array == target.array).count();
    let is_affine = all.iter().all(|(a, _)| a.array != array.id || a.affine_indices().is_some());
    let mut readers = Vec::new();
    body.iter().for_each(|n| strangers(n, array.id, &mut readers));
    let goal = program.array(target.array);
    let n_own = 1 + usize::from(end.stmt.update != Update::Assign) + usize::from(load.is_some());
    let is_alone = n_others == n_own && readers == [end.stmt.id];
    if first == last
        || !is_alone
        || !is_affine
        || goal.element != array.element
        || !are_distinct(&places, &end.counters)
    {
        return None;
    }
    // The statements that loaded and stored the elements, and whether they stay.
    let mut ends = vec![(&end, !is_plain)];
    ends.extend(load.map(|load| (load, false)));
    let users: Vec<(StmtId, Access)> = onto.iter().map(|stmt| (stmt.id, stmt.target.clone())).collect();
    let group = instances.group(target.array);
    for (sweep, stays) in &ends {
        let others = users.iter().filter(|(user, _)| *user != sweep.stmt.id);
        others.for_each(|(user, at)| instances.take_over(sweep.stmt.id, *user, &sweep.values(at), group));
        if !stays {
            instances.drop(sweep.stmt.id, rewrite);
        }
    }
    let is_gone = [load.is_some() || rewrite == Rewrite::SumInPlace, is_plain];
    if let (Rewrite::SumInPlace, Some(zero)) = (rewrite, &start) {
        instances.drop(zero.stmt.id, rewrite);
    }
    instances.move_array(array.id, rewrite);
    for node in &mut *body {
        for_each_access(node, &mut |a| {
            if a.array == array.id {
                let values = end.values(a);
                let with =
                    |v: Var| values.iter().find(|(l, _)| v == Var::Loop(*l)).map(|(_, value)| value.clone());
                let indices = places.iter().map(|place| Expr::Affine(place.substitute(&with))).collect();
                *a = Access { array: target.array, indices };
            }
        });
    }
    for (k, is_gone) in [(last, is_gone[1]), (first, is_gone[0])] {
        if is_gone {
            body.remove(k);
        }
    }
    Some((rewrite, target.array))
}

/// Loops over the whole of an array, with one statement inside.
struct Sweep {
    /// The loops, by the dimensions of the array.
    counters: Vec<LoopId>,
    stmt: Stmt,
}

impl Sweep {
    /// The values of the counters at an element.
    fn values(&self, at: &Access) -> Vec<(LoopId, Affine)> {
        let indices = at.affine_indices().unwrap_or_default();
        self.counters.iter().copied().zip(indices.into_iter().cloned()).collect()
    }

    /// Whether it loads the elements of an array at these places, which are in terms of other counters.
    fn loads(&self, array: ArrayId, places: &[Affine], counters: &[LoopId]) -> bool {
        let Expr::Read(from) = &self.stmt.value else { return false };
        let own: Vec<(LoopId, LoopId)> =
            self.counters.iter().copied().zip(counters.iter().copied()).collect();
        let with =
            |v: Var| own.iter().find(|(l, _)| v == Var::Loop(*l)).map(|(_, other)| Affine::var(*other));
        let is_same = |(own, place): (&&Affine, &Affine)| own.substitute(&with) == *place;
        from.array == array
            && from
                .affine_indices()
                .is_some_and(|own| own.len() == places.len() && own.iter().zip(places).all(is_same))
    }
}

/// Loops that give every element of an array its first value.
fn filled(node: &Node, array: &Array) -> Option<Sweep> {
    let is_first = |stmt: &Stmt| stmt.target.array == array.id && stmt.update == Update::Assign;
    sweep(node, array, &|stmt| is_first(stmt).then(|| stmt.target.clone()))
}

/// Loops that use every element of an array for one of another.
fn stored(node: &Node, array: &Array) -> Option<Sweep> {
    sweep(node, array, &|stmt| {
        let mut reads = stmt.value.reads().into_iter().filter(|a| a.array == array.id);
        let first = reads.next()?.clone();
        (stmt.target.array != array.id && reads.all(|a| *a == first)).then_some(first)
    })
}

/// Loops over an array, whose elements the statement inside accesses so.
fn sweep(node: &Node, array: &Array, access: &dyn Fn(&Stmt) -> Option<Access>) -> Option<Sweep> {
    let mut loops: Vec<&Loop> = Vec::new();
    let mut inner = node;
    let stmt = loop {
        match inner {
            Node::Loop(l) => {
                loops.push(l);
                let [only] = l.body.as_slice() else { return None };
                inner = only;
            }
            Node::Stmt(s) => break s,
            Node::If { .. } => return None,
        }
    };
    let access = access(stmt)?;
    let mut counters = Vec::new();
    for (index, extent) in access.affine_indices()?.iter().zip(&array.shape) {
        let over = loops.iter().find(|l| **index == Affine::var(l.id))?;
        let is_whole = over.step == 1
            && over.lower.as_affine().is_some_and(|lower| lower.as_constant() == Some(0))
            && over.upper.as_affine() == extent.as_ref()?.as_affine();
        if !is_whole || counters.contains(&over.id) {
            return None;
        }
        counters.push(over.id);
    }
    (counters.len() == loops.len()).then(|| Sweep { counters, stmt: stmt.clone() })
}

fn is_zero(value: &Expr) -> bool {
    matches!(value, Expr::Float { text, .. } if text.trim_end_matches(['f', 'F']).parse() == Ok(0.0_f64))
}

/// Whether different values of the counters are different places.
fn are_distinct(places: &[Affine], counters: &[LoopId]) -> bool {
    let uses = |place: &Affine| counters.iter().filter(|l| place.uses(**l)).count();
    let is_own = |l: &LoopId| places.iter().filter(|place| place.uses(*l)).count() == 1;
    counters.iter().all(is_own) && places.iter().all(|place| uses(place) <= 1)
}

fn stmt_of(nodes: &[Node], id: StmtId) -> Option<&Stmt> {
    nodes.iter().find_map(|node| match node {
        Node::Stmt(s) => (s.id == id).then_some(s),
        _ => node.bodies().into_iter().find_map(|body| stmt_of(body, id)),
    })
}

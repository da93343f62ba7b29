//! Removes scratch arrays whose elements are on their way to another array, as [`scalars`](super::scalars) does with scalars.
//!
//! *Accumulation in place*: `for j: t[j] = 0; for k: for j: t[j] += e; for j: c[i + j] = t[j]` becomes `for j: c[i + j] = 0; for
//! k: for j: c[i + j] += e`. It is what tiles with results in registers look like in a source, and hides what is computed.

use super::rewrites::Done;
use super::scalars::{accesses, in_scope, strangers, writers};
use crate::instances::Instances;
use crate::rewrite::Rewrite;
use crate::scan::for_each_access;
use oxeye_analysis::{common_loops, is_covered};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, Expr, Form, Loop, LoopId, Nest, Node, Program, Stmt, Storage, Update, Var,
};

/// Removes every array that can be; returns what was done.
pub(super) fn dissolve(program: &Program, nest: &mut Nest, instances: &mut Instances) -> Done {
    let mut done = Done::new();
    for id in nest.arrays() {
        let array = program.array(id);
        let is_own = matches!(array.storage, Storage::Temp(_) | Storage::Body(_));
        if !is_own || array.shape.is_empty() || !starts_anew(program, nest, array) {
            continue;
        }
        let mut roots = std::mem::take(&mut nest.roots);
        let target = in_scope(&mut roots, id, &mut Vec::new(), &mut |body, _| {
            let target = accumulate_in_place(program, body, array, instances)?;
            Some((
                Rewrite::AccumulationInPlace,
                format!("array {}: accumulated in {}", array.name, program.array(target).name),
            ))
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

/// The array that replaces another one, whose uses are all in this list, if one can.
fn accumulate_in_place(
    program: &Program,
    body: &mut Vec<Node>,
    array: &Array,
    instances: &mut Instances,
) -> Option<ArrayId> {
    let last = body.iter().rposition(|n| all_accesses(n).iter().any(|(a, _)| a.array == array.id))?;
    let Copy { counters, end } = copy(&body[last], array)?;
    let target = end.target.clone();
    let places = target.affine_indices()?;
    let same_type = program.array(target.array).element == array.element;
    let is_lone = accesses(body).iter().filter(|(a, _)| a.array == target.array).count() == 1;
    let mut readers = Vec::new();
    body.iter().for_each(|n| strangers(n, array.id, &mut readers));
    if !same_type
        || !is_lone
        || readers != [end.id]
        || !are_distinct(program.array(target.array), &places, &counters)
    {
        return None;
    }
    // Where each statement that writes the array has the counters of the copy.
    let mut onto = Vec::new();
    body.iter().for_each(|n| writers(n, array.id, &mut onto));
    let all: Vec<Access> =
        accesses(body).into_iter().map(|(access, _)| access).filter(|a| a.array == array.id).collect();
    if all.iter().any(|access| access.affine_indices().is_none()) {
        return None;
    }
    let at = |access: &Access| -> Option<Vec<(LoopId, Affine)>> {
        Some(counters.iter().copied().zip(access.affine_indices()?.into_iter().cloned()).collect())
    };
    let targets: Vec<_> = onto.iter().filter_map(|stmt| at(&stmt_of(body, *stmt)?.target)).collect();
    if targets.len() != onto.len() {
        return None;
    }
    for node in &mut *body {
        for_each_access(node, &mut |a| {
            if a.array != array.id {
                return;
            }
            let Some(values) = at(a) else { return };
            let with =
                |v: Var| values.iter().find(|(l, _)| v == Var::Loop(*l)).map(|(_, value)| value.clone());
            let indices = places.iter().map(|place| Expr::Affine(place.substitute(&with))).collect();
            *a = Access { array: target.array, indices };
        });
    }
    let is_plain = matches!(&end.value, Expr::Read(_));
    if is_plain {
        body.remove(last);
    }
    instances.spread_elements(
        target.array,
        &onto,
        &targets,
        (end.id, !is_plain),
        Rewrite::AccumulationInPlace,
    );
    instances.move_array(array.id, Rewrite::AccumulationInPlace);
    Some(target.array)
}

/// Loops over a whole array that store every element of it in another.
struct Copy {
    /// The loops of its dimensions.
    counters: Vec<LoopId>,
    end: Stmt,
}

fn copy(node: &Node, array: &Array) -> Option<Copy> {
    let mut loops: Vec<&Loop> = Vec::new();
    let mut inner = node;
    let end = loop {
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
    let reads: Vec<&Access> = end.value.reads().into_iter().filter(|a| a.array == array.id).collect();
    let first = reads.first()?;
    if end.update != Update::Assign || end.target.array == array.id || reads.iter().any(|a| a != first) {
        return None;
    }
    let extents = array.shape.iter().map(Option::as_ref);
    let mut counters = Vec::new();
    for (index, extent) in first.affine_indices()?.iter().zip(extents) {
        let over = loops.iter().find(|l| **index == Affine::var(l.id))?;
        let extent = match extent? {
            Expr::Affine(extent) => extent.clone(),
            _ => return None,
        };
        let is_whole = over.step == 1
            && over.lower.as_affine().is_some_and(|lower| lower.as_constant() == Some(0))
            && over.upper.as_affine() == Some(&extent);
        if !is_whole || counters.contains(&over.id) {
            return None;
        }
        counters.push(over.id);
    }
    (counters.len() == loops.len()).then(|| Copy { counters, end: end.clone() })
}

/// Whether different values of the counters are different elements of an array at these places.
fn are_distinct(array: &Array, places: &[&Affine], counters: &[LoopId]) -> bool {
    let uses = |place: &Affine| counters.iter().filter(|l| place.uses(**l)).count();
    let is_own = |l: &LoopId| places.iter().filter(|place| place.uses(*l)).count() == 1;
    // Of those that are one block, indices may go beyond the rows.
    let is_one = counters.len() == 1 || array.form != Form::Linear;
    is_one && counters.iter().all(is_own) && places.iter().all(|place| uses(place) <= 1)
}

fn all_accesses(node: &Node) -> Vec<(Access, bool)> {
    accesses(std::slice::from_ref(node))
}

fn stmt_of(nodes: &[Node], id: oxeye_ir::StmtId) -> Option<&Stmt> {
    nodes.iter().find_map(|node| match node {
        Node::Stmt(s) => (s.id == id).then_some(s),
        _ => node.bodies().into_iter().find_map(|body| stmt_of(body, id)),
    })
}

//! Expansion of scratch arrays.
//!
//! An array that is not read after the nest, and of which every iteration of a loop reads only what it wrote, carries
//! nothing from one iteration to the next. It gets a dimension for each such loop that does not index it yet, so that
//! the loop can be distributed (array privatisation; Tu and Padua, "Automatic array privatization", 1993).

use super::rewrites::Done;
use crate::instances::Instances;
use crate::rewrite::Rewrite;
use crate::scan::for_each_access;
use crate::schedule::fresh_array;
use crate::schedule::space::implies;
use oxeye_analysis::bound_constraints;
use oxeye_ir::{
    Access, Affine, ArrayId, BoundTerm, Constraint, Expr, Loop, LoopId, Nest, Node, Program, Relation,
    Storage, Update, Var,
};

/// Expands every array that can be expanded; returns what was done, as messages.
pub(super) fn expand(program: &mut Program, nest: &mut Nest, instances: &mut Instances) -> Done {
    let mut done = Done::new();
    for id in nest.arrays() {
        let decl = program.array(id).clone();
        let is_scratch = match decl.storage {
            Storage::Local => !nest.live_out.contains(&id),
            Storage::Temp(None) => true,
            _ => false,
        };
        if !is_scratch || decl.shape.is_empty() {
            continue;
        }
        let Some(common) = common_loops(nest, id) else { continue };
        for depth in (1..=common.len()).rev() {
            let loops = missing(nest, id, &common[..depth]);
            if loops.is_empty() || !is_covered(program, nest, id, &common[..depth]) {
                continue;
            }
            let extents: Option<Vec<Expr>> = loops.iter().map(|l| extent(nest.find_loop(*l)?)).collect();
            let shape: Option<Vec<Expr>> = decl.shape.iter().cloned().collect();
            let own = || extent_of_uses(program, nest, id);
            let (Some(extents), Some(shape)) = (extents, shape.or_else(own)) else { continue };
            let shape = extents.into_iter().chain(shape).collect();
            let wide = fresh_array(program, &decl.name, decl.element, shape, Storage::Temp(None));
            for root in &mut nest.roots {
                for_each_access(root, &mut |a| {
                    if a.array == id {
                        a.array = wide;
                        let own = std::mem::take(&mut a.indices);
                        a.indices = loops.iter().map(|l| Expr::from(*l)).chain(own).collect();
                    }
                });
            }
            instances.move_array(id, Rewrite::ArrayExpansion);
            let names: Vec<&str> =
                loops.iter().filter_map(|l| nest.find_loop(*l)).map(|l| l.name.as_str()).collect();
            let what = format!("array {}: one copy for every iteration of {}", decl.name, names.join(", "));
            done.push((Rewrite::ArrayExpansion, what));
            break;
        }
    }
    done
}

/// The loops around all accesses of the array, if all its accesses are in statements.
fn common_loops(nest: &Nest, id: ArrayId) -> Option<Vec<LoopId>> {
    let mut common: Option<Vec<LoopId>> = None;
    let mut plain = true;
    nest.visit(&mut |path, node| match node {
        Node::Stmt(s) => {
            if s.target.array == id || s.value.reads().iter().any(|a| a.array == id) {
                let own: Vec<LoopId> = path.iter().map(|l| l.id).collect();
                common = Some(match common.take() {
                    None => own,
                    Some(c) => c.iter().zip(&own).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect(),
                });
            }
            plain &= !s.target.indices.iter().any(|i| i.reads().iter().any(|a| a.array == id));
        }
        Node::If { condition, .. } => plain &= !condition.reads().iter().any(|a| a.array == id),
        Node::Loop(l) => {
            for term in l.lower.0.iter().chain(&l.upper.0) {
                if let BoundTerm::Data(e) = term {
                    plain &= !e.reads().iter().any(|a| a.array == id);
                }
            }
        }
    });
    common.filter(|c| plain && !c.is_empty())
}

fn uses(nest: &Nest, id: ArrayId) -> Vec<Access> {
    nest.accesses().into_iter().filter(|(a, _)| a.array == id).map(|(a, _)| a.clone()).collect()
}

/// The loops that no index of the array uses.
fn missing(nest: &Nest, id: ArrayId, loops: &[LoopId]) -> Vec<LoopId> {
    let uses = uses(nest, id);
    let indexed = |l: &LoopId| uses.iter().any(|a| a.indices.iter().any(|i| i.uses(*l)));
    loops.iter().copied().filter(|l| !indexed(l)).collect()
}

/// The number of copies that a loop from zero needs.
fn extent(l: &Loop) -> Option<Expr> {
    let upper = l.upper.as_affine()?;
    let plain =
        l.lower.as_affine()?.as_constant() == Some(0) && l.step == 1 && upper.loops().next().is_none();
    if !plain {
        return None;
    }
    match upper.as_constant() {
        Some(n) => Some(Expr::from(n.max(1))),
        None => Some(Expr::binary(oxeye_ir::BinaryOp::Max, Expr::Affine(upper.clone()), Expr::from(1))),
    }
}

/// Extents from the loops that index an array whose first extent is unknown.
fn extent_of_uses(program: &Program, nest: &Nest, id: ArrayId) -> Option<Vec<Expr>> {
    let shape = &program.array(id).shape;
    let mut first: Option<Expr> = None;
    for access in uses(nest, id) {
        let index = access.indices.first()?.as_affine()?.as_var()?;
        let Var::Loop(l) = index else { return None };
        let own = extent(nest.find_loop(l)?)?;
        if first.get_or_insert(own.clone()) != &own {
            return None;
        }
    }
    let rest: Option<Vec<Expr>> = shape.iter().skip(1).cloned().collect();
    Some([vec![first?], rest?].concat())
}

/// A statement's place: constraints on the loops around it, and its positions among their children.
struct Place {
    loops: Vec<LoopId>,
    positions: Vec<usize>,
    domain: Vec<Constraint>,
}

fn places(nest: &Nest, id: ArrayId) -> Option<Vec<(Place, Access, bool, bool)>> {
    #[derive(Clone, Default)]
    struct Walk {
        loops: Vec<LoopId>,
        positions: Vec<usize>,
        domain: Vec<Constraint>,
        guarded: bool,
    }
    fn go(
        nodes: &[Node],
        walk: &Walk,
        id: ArrayId,
        found: &mut Vec<(Place, Access, bool, bool)>,
    ) -> Option<()> {
        for (k, node) in nodes.iter().enumerate() {
            let mut inner = walk.clone();
            inner.positions.push(k);
            match node {
                Node::Loop(l) => {
                    inner.loops.push(l.id);
                    // Without affine bounds, the body may run or not.
                    match bound_constraints(&Affine::var(l.id), &l.lower, &l.upper) {
                        Some(bounds) if l.step == 1 => inner.domain.extend(bounds),
                        _ => inner.guarded = true,
                    }
                    go(&l.body, &inner, id, found)?;
                }
                Node::If { then, otherwise, .. } => {
                    inner.guarded = true;
                    go(then, &inner, id, found)?;
                    inner.positions.push(usize::MAX);
                    go(otherwise, &inner, id, found)?;
                }
                Node::Stmt(s) => {
                    let place = || Place {
                        loops: inner.loops.clone(),
                        positions: inner.positions.clone(),
                        domain: inner.domain.clone(),
                    };
                    for read in s.value.reads().into_iter().filter(|a| a.array == id) {
                        found.push((place(), read.clone(), false, inner.guarded));
                    }
                    if s.target.array == id {
                        if s.update != Update::Assign {
                            found.push((place(), s.target.clone(), false, inner.guarded));
                        }
                        let definite = s.update == Update::Assign;
                        found.push((place(), s.target.clone(), definite, inner.guarded));
                    }
                }
            }
        }
        Some(())
    }
    let mut found = Vec::new();
    go(&nest.roots, &Walk::default(), id, &mut found)?;
    Some(found)
}

/// Whether every read in an iteration of the loops (of the whole nest, if there are none) is preceded by a write of the
/// same element in that iteration.
pub(super) fn is_covered(program: &Program, nest: &Nest, id: ArrayId, loops: &[LoopId]) -> bool {
    let Some(places) = places(nest, id) else { return false };
    let writes: Vec<_> = places.iter().filter(|(_, _, definite, guarded)| *definite && !guarded).collect();
    places.iter().filter(|(_, _, definite, _)| !definite).all(|(read, element, ..)| {
        writes
            .iter()
            .any(|(write, target, ..)| precedes_and_covers(program, loops, (write, target), (read, element)))
    })
}

fn precedes_and_covers(
    program: &Program,
    loops: &[LoopId],
    (write, target): (&Place, &Access),
    (read, element): (&Place, &Access),
) -> bool {
    let (Some(target), Some(element)) = (target.affine_indices(), element.affine_indices()) else {
        return false;
    };
    // Each further loop of the write is determined by an index that is its iterator plus a constant.
    let fresh = |l: LoopId| Var::Loop(LoopId(u32::MAX - l.0));
    let own: Vec<LoopId> = write.loops.iter().copied().filter(|l| !loops.contains(l)).collect();
    let mut context = program.assumptions.clone();
    context.extend(read.domain.iter().cloned());
    let renamed = |a: &Affine| {
        a.substitute(&|v| match v {
            Var::Loop(l) if own.contains(&l) => Some(Affine::var(fresh(l))),
            _ => None,
        })
    };
    let mut fixing: Vec<usize> = Vec::new();
    for l in &own {
        let fixes =
            |t: &Affine| t.coefficient(*l).abs() == 1 && t.loops().all(|k| k == *l || loops.contains(&k));
        let Some(dim) = (0..target.len()).find(|d| !fixing.contains(d) && fixes(target[*d])) else {
            return false;
        };
        fixing.push(dim);
    }
    let equal = |dim: usize| Constraint::eq(renamed(target[dim]), element[dim].clone());
    context.extend(fixing.iter().map(|d| equal(*d)));
    let agree = (0..target.len()).filter(|d| !fixing.contains(d)).all(|d| implies(&context, &equal(d)));
    let runs = write.domain.iter().all(|c| {
        let c = Constraint { expr: renamed(&c.expr), relation: c.relation };
        implies(&context, &c)
    });
    // Textually before, in the loops that both share and whose iteration the element determines.
    let shared = write
        .loops
        .iter()
        .zip(&read.loops)
        .enumerate()
        .take_while(|(k, (a, b))| a == b && write.positions[..=*k] == read.positions[..=*k])
        .count();
    let same_iteration = write.loops[..shared].iter().filter(|l| own.contains(l)).all(|l| {
        let equal = Constraint { expr: Affine::var(fresh(*l)) - Affine::var(*l), relation: Relation::Zero };
        implies(&context, &equal)
    });
    let textual = write.positions.get(shared) < read.positions.get(shared);
    agree && runs && same_iteration && textual
}

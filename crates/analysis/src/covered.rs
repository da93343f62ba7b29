//! Scratch arrays: of which code reads only what it wrote itself.

use crate::bound_constraints;
use crate::omega::{System, implies_eq, implies_ge};
use oxeye_ir::{
    Access, Affine, ArrayId, Constraint, LoopId, Nest, Node, Program, Relation, Stmt, Update, Var,
};

/// Whether every integer point of `context` satisfies `constraint`.
pub fn implies(context: &[Constraint], constraint: &Constraint) -> bool {
    let mut columns: Vec<Var> = Vec::new();
    let mut terms = |of: &Constraint| -> Vec<(usize, i64)> {
        let mut column = |var: Var| {
            columns.iter().position(|known| *known == var).unwrap_or_else(|| {
                columns.push(var);
                columns.len() - 1
            })
        };
        of.expr.terms().map(|(var, c)| (column(var), c)).collect()
    };
    let rows: Vec<_> = context.iter().map(&mut terms).collect();
    let goal = terms(constraint);
    let mut system = System::new(columns.len());
    for (row, known) in rows.iter().zip(context) {
        let constant = known.expr.constant_part();
        match known.relation {
            Relation::Zero => system.add_eq(row, constant),
            Relation::NonNegative => system.add_ge(row, constant),
        }
    }
    let constant = constraint.expr.constant_part();
    match constraint.relation {
        Relation::NonNegative => implies_ge(&system, &goal, constant),
        Relation::Zero => implies_eq(&system, &goal, constant),
    }
}

/// The loops around all accesses of the array, if all its accesses are in statements.
pub fn common_loops(nest: &Nest, id: ArrayId) -> Option<Vec<LoopId>> {
    let mut is_plain = true;
    nest.visit(&mut |_, node| {
        let in_indices = |s: &Stmt| s.target.indices.iter().any(|i| i.reads().iter().any(|a| a.array == id));
        is_plain &= match node {
            Node::Stmt(s) => !in_indices(s),
            _ => node.own_accesses().iter().all(|(a, _)| a.array != id),
        };
    });
    loops_around(nest, id).filter(|_| is_plain)
}

/// The loops around all accesses of the array; `None` if there are no accesses.
pub fn loops_around(nest: &Nest, id: ArrayId) -> Option<Vec<LoopId>> {
    let mut common: Option<Vec<LoopId>> = None;
    nest.visit(&mut |path, node| {
        if node.own_accesses().iter().any(|(a, _)| a.array == id) {
            let own: Vec<LoopId> = path.iter().map(|l| l.id).collect();
            common = Some(match common.take() {
                None => own,
                Some(c) => c.iter().zip(&own).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect(),
            });
        }
    });
    common
}

/// The fewest loops, from the outermost on, in an iteration of which every read of the array is preceded by a write of the same
/// element: the whole nest reads of it only what it wrote. `None` if it may read what was there before.
pub fn covering_loops(program: &Program, nest: &Nest, id: ArrayId) -> Option<Vec<LoopId>> {
    let common = common_loops(nest, id)?;
    let mut prefixes = (0..=common.len()).map(|depth| &common[..depth]);
    prefixes.find(|loops| is_covered(program, nest, id, loops)).map(<[LoopId]>::to_vec)
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
            let place = || Place {
                loops: walk.loops.clone(),
                positions: inner.positions.clone(),
                domain: walk.domain.clone(),
            };
            for (read, _) in node.own_accesses().into_iter().filter(|(a, w)| !w && a.array == id) {
                found.push((place(), read.clone(), false, walk.guarded));
            }
            match node {
                Node::Loop(l) => {
                    inner.loops.push(l.id);
                    // Without affine bounds, the body may run or not; with steps, in some iterations between them.
                    let bounds = bound_constraints(&Affine::var(l.id), &l.lower, &l.upper);
                    inner.guarded |= bounds.is_none() || l.step != 1;
                    inner.domain.extend(bounds.unwrap_or_default());
                    go(&l.body, &inner, id, found)?;
                }
                Node::If { then, otherwise, .. } => {
                    inner.guarded = true;
                    go(then, &inner, id, found)?;
                    inner.positions.push(usize::MAX);
                    go(otherwise, &inner, id, found)?;
                }
                Node::Stmt(s) if s.target.array == id => {
                    let definite = s.update == Update::Assign;
                    found.push((place(), s.target.clone(), definite, inner.guarded));
                }
                Node::Stmt(_) => {}
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
pub fn is_covered(program: &Program, nest: &Nest, id: ArrayId, loops: &[LoopId]) -> bool {
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

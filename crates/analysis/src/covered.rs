//! Scratch arrays: of which code reads only what it wrote itself.

use crate::bound_constraints;
use crate::omega::{System, implies_eq, implies_ge};
use oxeye_ir::{
    Access, Affine, ArrayId, Constraint, LoopId, Nest, Node, Program, Relation, Stmt, Update, Var,
};
use std::collections::BTreeMap;

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
/// same element in that iteration. Several writes may share the elements among them.
pub fn is_covered(program: &Program, nest: &Nest, id: ArrayId, loops: &[LoopId]) -> bool {
    let Some(places) = places(nest, id) else { return false };
    let writes = places.iter().filter(|(_, _, definite, guarded)| *definite && !guarded);
    let writes: Vec<(&Place, &Access)> = writes.map(|(place, access, ..)| (place, access)).collect();
    let mut reads = places.iter().filter(|(_, _, definite, _)| !definite);
    reads.all(|(read, element, ..)| {
        let mut context = program.assumptions.clone();
        context.extend(read.domain.iter().cloned());
        let covering = Covering { loops, read, element };
        covering.is_covered(&context, &writes, MOST_SHARED)
    })
}

/// A read is covered by at most so many writes together.
const MOST_SHARED: usize = 4;

/// With more writes, each has to cover a read alone.
const MOST_WRITES: usize = 12;

/// A read that writes are to precede.
struct Covering<'a> {
    loops: &'a [LoopId],
    read: &'a Place,
    element: &'a Access,
}

impl Covering<'_> {
    /// Whether the read is preceded by one of the writes wherever this holds; so many of them may share it.
    fn is_covered(&self, context: &[Constraint], writes: &[(&Place, &Access)], n_shared: usize) -> bool {
        let mut partly = Vec::new();
        for (k, write) in writes.iter().enumerate() {
            match self.lacking(context, *write) {
                Some(lacking) if lacking.is_empty() => return true,
                Some(lacking) => partly.push((k, lacking)),
                None => {}
            }
        }
        if n_shared <= 1 || writes.len() > MOST_WRITES {
            return false;
        }
        // Where one does not run, others have to.
        partly.into_iter().any(|(k, lacking)| {
            let others: Vec<_> = [&writes[..k], &writes[k + 1..]].concat();
            let mut here = context.to_vec();
            lacking.into_iter().all(|constraint| {
                let not = Constraint { expr: (-constraint.expr.clone()).offset(-1), ..constraint };
                here.push(not);
                let is_covered = self.is_covered(&here, &others, n_shared - 1);
                here.pop();
                here.push(constraint);
                is_covered
            })
        })
    }

    /// What must hold beside the context for a write of the same element to precede the read; `None` if it may not even then.
    fn lacking(&self, context: &[Constraint], (write, target): (&Place, &Access)) -> Option<Vec<Constraint>> {
        let (loops, read) = (self.loops, self.read);
        let (target, element) = (target.affine_indices()?, self.element.affine_indices()?);
        // Each further loop of the write is determined by an index that is its iterator plus a constant.
        let own: Vec<LoopId> = write.loops.iter().copied().filter(|l| !loops.contains(l)).collect();
        let mut iterators: BTreeMap<LoopId, Affine> = BTreeMap::new();
        let mut fixing: Vec<usize> = Vec::new();
        for l in &own {
            let fixes =
                |t: &Affine| t.coefficient(*l).abs() == 1 && t.loops().all(|k| k == *l || loops.contains(&k));
            let dim = (0..target.len()).find(|d| !fixing.contains(d) && fixes(target[*d]))?;
            fixing.push(dim);
            let sign = target[dim].coefficient(*l);
            let rest = target[dim].clone() - Affine::term(Var::Loop(*l), sign);
            iterators.insert(*l, (element[dim].clone() - rest).scaled(sign));
        }
        let at_element = |a: &Affine| {
            a.substitute(&|v| match v {
                Var::Loop(l) => iterators.get(&l).cloned(),
                Var::Sym(_) => None,
            })
        };
        let equal = |dim: usize| Constraint::eq(at_element(target[dim]), element[dim].clone());
        let agree = (0..target.len()).filter(|d| !fixing.contains(d)).all(|d| implies(context, &equal(d)));
        // Textually before, in the loops that both share and whose iteration the element determines.
        let shared = write
            .loops
            .iter()
            .zip(&read.loops)
            .enumerate()
            .take_while(|(k, (a, b))| a == b && write.positions[..=*k] == read.positions[..=*k])
            .count();
        let same_iteration = write.loops[..shared].iter().filter(|l| own.contains(l)).all(|l| {
            let equal = Constraint { expr: iterators[l].clone() - Affine::var(*l), relation: Relation::Zero };
            implies(context, &equal)
        });
        let textual = write.positions.get(shared) < read.positions.get(shared);
        if !agree || !same_iteration || !textual {
            return None;
        }
        let domain = write.domain.iter().map(|c| Constraint { expr: at_element(&c.expr), ..*c });
        let lacking: Vec<Constraint> = domain.filter(|c| !implies(context, c)).collect();
        lacking.iter().all(|c| c.relation == Relation::NonNegative).then_some(lacking)
    }
}

//! Drop a store: leaves out a statement of which every element is stored again before anything reads it.
//!
//! *Rewrite*: `for i { s[i] = 0; … s[i] = x[i]; y[i] = s[i] }` → `for i { … s[i] = x[i]; y[i] = s[i] }`, and the same where the
//! stores stand in loops of their own.
//!
//! *Legal when* the exact test finds one statement that stores into the same element after each instance, in the same iteration
//! of all loops around both, and no instance of any statement that reads the element between them. *Refused when* it does not.

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::space::{Space, implies};
use crate::schedule::{MemoryAccess, Schedule, Statement};
use crate::values::{NestRewrite, Valued};
use oxeye_analysis::omega::{Feasibility, System, feasible};
use oxeye_ir::{Affine, Constraint, LoopId, Node, StmtId, Update, Var};
use std::collections::BTreeMap;

step! {
    /// Leaves out a store that is overwritten unread.
    DropStore: "drop_store",
    "leave out a statement of which every element is stored again before anything reads it",
    "{stmt}";
    /// The statement.
    stmt: StmtId = Kind::Statement,
}

impl NestRewrite for DropStore {
    fn rewrite(&self, nest: &mut Valued, _: Policy) -> Result<(), Reason> {
        if !nest.nest.stmts().iter().any(|s| s.id == self.stmt) {
            let text = format!("the nest has no statement {}", self.stmt);
            return Err(Reason::new(RefusalKind::NoSuchStatement, text));
        }
        let schedule = Schedule::import(&nest.program, &nest.nest);
        let found = schedule.statements.iter().find(|s| s.assignment().is_some_and(|s| s.id == self.stmt));
        let Some(store) = found.and_then(|s| Store::of(&schedule, s)) else {
            return Err(Reason::unsupported("which elements it stores into is not known exactly"));
        };
        if store.update != Update::Assign {
            return Err(Reason::unsupported("it adds to what is there, which is read so"));
        }
        let others = schedule.statements.iter().filter(|s| s.id != self.stmt);
        let mut reason = "no later statement stores into all of its elements in the same iteration";
        for later in others.filter_map(|s| Store::of(&schedule, s)).filter(|s| s.update == Update::Assign) {
            let Some(covered) = Covered::by(&store, &later) else { continue };
            if schedule.statements.iter().all(|reader| covered.leaves_alone(reader)) {
                without(&mut nest.nest.roots, self.stmt);
                return Ok(());
            }
            reason = "something may read its elements before they are stored again";
        }
        Err(Reason::unsupported(reason))
    }
}

fn without(nodes: &mut Vec<Node>, stmt: StmtId) {
    nodes.retain(|node| !matches!(node, Node::Stmt(s) if s.id == stmt));
    for body in nodes.iter_mut().flat_map(Node::bodies_mut) {
        without(body, stmt);
    }
    nodes.retain(|node| node.bodies().is_empty() || node.bodies().iter().any(|body| !body.is_empty()));
}

/// A statement that stores into elements that are known exactly.
struct Store<'s> {
    statement: &'s Statement,
    target: &'s MemoryAccess,
    indices: Vec<Affine>,
    update: Update,
    domain: Vec<Constraint>,
}

impl<'s> Store<'s> {
    fn of(schedule: &Schedule, statement: &'s Statement) -> Option<Self> {
        let assignment = statement.assignment()?;
        let target = statement.accesses.iter().find(|access| access.write)?;
        let indices =
            target.indices.iter().map(|i| i.as_ref().map(|i| statement.mapped(i))).collect::<Option<_>>()?;
        let domain = [&statement.domain[..], &schedule.program.assumptions].concat();
        Some(Self { statement, target, indices, update: assignment.update, domain })
    }

    fn loops(&self) -> impl Iterator<Item = LoopId> + '_ {
        self.statement.time.loops.iter().map(|(id, _)| *id)
    }
}

/// A store, and a later one that overwrites what it leaves.
struct Covered<'s> {
    store: &'s Store<'s>,
    later: &'s Store<'s>,
    /// How many loops are around both.
    n_common: usize,
    /// The iterators of the later one, as expressions of those of the first.
    at: BTreeMap<LoopId, Affine>,
}

impl<'s> Covered<'s> {
    fn by(store: &'s Store<'s>, later: &'s Store<'s>) -> Option<Self> {
        if store.target.array != later.target.array {
            return None;
        }
        let n_common = store.loops().zip(later.loops()).take_while(|(a, b)| a == b).count();
        let (first, second) = (&store.statement.time.positions, &later.statement.time.positions);
        if first.get(n_common)? >= second.get(n_common)? {
            return None;
        }
        let mut at: BTreeMap<LoopId, Affine> =
            later.loops().take(n_common).map(|l| (l, Affine::var(l))).collect();
        let own: Vec<LoopId> = later.loops().skip(n_common).collect();
        for (wanted, index) in store.indices.iter().zip(&later.indices) {
            let mut unknown = index.loops().filter(|l| own.contains(l) && !at.contains_key(l));
            if let (Some(l), None) = (unknown.next(), unknown.next())
                && index.coefficient(l) == 1
                && index.loops().all(|k| k == l || !own.contains(&k))
            {
                let rest = index.clone() - Affine::var(l);
                at.insert(l, wanted.clone() - rest);
            }
        }
        let covered = Self { store, later, n_common, at };
        let is_same = |(wanted, index): (&Affine, &Affine)| covered.at_store(index).as_ref() == Some(wanted);
        if !store.indices.iter().zip(&later.indices).all(is_same) {
            return None;
        }
        let runs = |c: &Constraint| {
            covered.at_store(&c.expr).is_some_and(|expr| {
                let there = Constraint { expr, relation: c.relation };
                implies(&store.domain, &there)
            })
        };
        later.statement.domain.iter().all(runs).then_some(covered)
    }

    /// An expression of the later store's iterators, where it overwrites an instance of the first.
    fn at_store(&self, expr: &Affine) -> Option<Affine> {
        expr.loops().all(|l| self.at.contains_key(&l)).then(|| {
            expr.substitute(&|v| match v {
                Var::Loop(l) => self.at.get(&l).cloned(),
                Var::Sym(_) => None,
            })
        })
    }

    /// Whether a statement reads none of the elements between the stores.
    fn leaves_alone(&self, reader: &Statement) -> bool {
        let reads = reader.accesses.iter().filter(|a| !a.write && a.array == self.store.target.array);
        reads.into_iter().all(|read| self.is_outside(reader, read))
    }

    fn is_outside(&self, reader: &Statement, read: &MemoryAccess) -> bool {
        let common = &self.store.statement.time.loops[..self.n_common];
        // What is not in all loops around both is before or after both, and so are other iterations of these.
        if !reader.time.loops.starts_with(common) {
            return true;
        }
        let position = |s: &Statement| s.time.positions.get(self.n_common).copied();
        let (Some(first), Some(last), Some(here)) =
            (position(self.store.statement), position(self.later.statement), position(reader))
        else {
            return false;
        };
        if here < first || here > last {
            return true;
        }
        let (mut space, mut system) = self.same_element(reader, read);
        if here < last {
            return is_empty(&space, &mut system);
        }
        // Around the later store: not before it.
        let later = &self.later.statement.time;
        let n_shared = reader.time.loops.iter().zip(&later.loops).take_while(|(a, b)| a == b).count();
        for (id, is_reverse) in &later.loops[self.n_common..n_shared] {
            let own = Affine::var(*id);
            let Some(value) = self.at.get(id) else { return false };
            // The schedule counts the iterations of other steps in its own way.
            if self.later.statement.map.get(id) != Some(&own) {
                return false;
            }
            let (terms, constant) = space.difference((1, &own), (0, value));
            space.fit(&mut system);
            // value − iterator ≥ 1 of what is read earlier
            let sign = if *is_reverse { -1 } else { 1 };
            let scaled: Vec<(usize, i64)> = terms.iter().map(|(k, c)| (*k, sign * c)).collect();
            let mut earlier = system.clone();
            earlier.add_ge(&scaled, sign * constant - 1);
            if !is_empty(&space, &mut earlier) {
                return false;
            }
            system.add_eq(&terms, constant);
        }
        let is_after = reader.time.positions.get(n_shared) > later.positions.get(n_shared);
        is_after || is_empty(&space, &mut system)
    }

    /// The pairs of an instance of the first store and one of the reader, in the same iteration of the common loops, that touch
    /// one element.
    fn same_element(&self, reader: &Statement, read: &MemoryAccess) -> (Space, System) {
        let (mut space, mut system) = (Space::default(), System::new(0));
        self.store.domain.iter().for_each(|c| space.add(&mut system, 0, c));
        reader.domain.iter().chain(&read.inner).for_each(|c| space.add(&mut system, 1, c));
        for (wanted, index) in self.store.indices.iter().zip(&read.indices) {
            let Some(index) = index else { continue };
            let (terms, constant) = space.difference((0, wanted), (1, &reader.mapped(index)));
            space.fit(&mut system);
            system.add_eq(&terms, constant);
        }
        for (id, _) in &self.store.statement.time.loops[..self.n_common] {
            let own = Affine::var(*id);
            let (terms, constant) = space.difference((0, &own), (1, &own));
            space.fit(&mut system);
            system.add_eq(&terms, constant);
        }
        (space, system)
    }
}

fn is_empty(space: &Space, system: &mut System) -> bool {
    space.fit(system);
    feasible(system, Default::default()) == Feasibility::Infeasible
}

//! The map from statement instances of a rewritten nest to the source instances that they perform.
//!
//! Normalization starts from the identity, and each of its passes updates the map together with the nest, so that the
//! map is always the composition of all passes so far. The judge (`legality::composed`) checks the dependences of the
//! source under it. What a rewrite stores elsewhere or drops is recorded with that rewrite.

use crate::rewrite::Rewrite;
use oxeye_ir::{Affine, ArrayId, Constraint, LoopId, Nest, Node, StmtId, Var};
use std::collections::{BTreeMap, BTreeSet};

/// A source statement performed by a statement of the result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The statement of the source.
    pub(crate) stmt: StmtId,
    /// Its iterators in terms of the result's.
    pub(crate) iterators: BTreeMap<LoopId, Affine>,
    /// The constraints on the result's iterators under which it is performed.
    pub(crate) when: Vec<Constraint>,
    /// If set, only its accesses to the target of an accumulation are performed here.
    pub(crate) only: Option<Spread>,
}

/// Marks accesses that an accumulation in place takes over from the statements that loaded and stored its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    /// The target.
    pub(crate) array: ArrayId,
    /// The accumulation.
    pub(crate) group: usize,
}

/// The map from a nest to its source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instances {
    /// What each statement performs, in this order.
    parts: BTreeMap<StmtId, Vec<Part>>,
    /// Statements of the source that nothing performs.
    gone: BTreeMap<StmtId, Rewrite>,
    /// Arrays whose elements are stored elsewhere, or nowhere.
    moved: BTreeMap<ArrayId, Rewrite>,
    /// A rewrite that gives no map.
    unmapped: Option<Rewrite>,
    n_groups: usize,
}

impl Instances {
    /// Every statement performs itself.
    pub(crate) fn identity(nest: &Nest) -> Self {
        let mut parts = BTreeMap::new();
        nest.visit(&mut |path, node| {
            if let Node::Stmt(s) = node {
                let iterators = path.iter().map(|l| (l.id, Affine::var(l.id))).collect();
                parts.insert(s.id, vec![Part { stmt: s.id, iterators, when: Vec::new(), only: None }]);
            }
        });
        Self { parts, ..Self::default() }
    }

    /// What a statement performs, in this order.
    pub(crate) fn parts(&self, stmt: StmtId) -> &[Part] {
        self.parts.get(&stmt).map(Vec::as_slice).unwrap_or_default()
    }

    /// The rewrite that left out this statement of the source.
    pub(crate) fn gone(&self, stmt: StmtId) -> Option<Rewrite> {
        self.gone.get(&stmt).copied()
    }

    /// The rewrite that stores the elements of an array elsewhere, or nowhere.
    pub(crate) fn moved(&self, array: ArrayId) -> Option<Rewrite> {
        self.moved.get(&array).copied()
    }

    /// The rewrite, if any, after which the instances are unknown.
    pub(crate) fn unmapped(&self) -> Option<Rewrite> {
        self.unmapped
    }

    /// Marks all instances as unknown.
    pub(crate) fn give_up(&mut self, rewrite: Rewrite) {
        self.unmapped.get_or_insert(rewrite);
    }

    /// Records that the elements of an array are stored elsewhere, or nowhere.
    pub(crate) fn move_array(&mut self, array: ArrayId, rewrite: Rewrite) {
        self.moved.entry(array).or_insert(rewrite);
    }

    /// Replaces iterators in some statements.
    pub(crate) fn substitute(&mut self, stmts: &[StmtId], with: &dyn Fn(Var) -> Option<Affine>) {
        for stmt in stmts {
            for part in self.parts.get_mut(stmt).into_iter().flatten() {
                part.iterators.values_mut().for_each(|value| *value = value.substitute(with));
                part.when.iter_mut().for_each(|c| *c = c.substitute(with));
            }
        }
    }

    /// Records that a statement is a copy of another.
    pub(crate) fn copy(&mut self, from: StmtId, to: StmtId) {
        if let Some(parts) = self.parts.get(&from).cloned() {
            self.parts.insert(to, parts);
        }
    }

    /// Prepares for copying nodes that also stay: `rename` gives the copies' loops and statements new ids and returns
    /// the map of the loops.
    pub(crate) fn renamed_copy(
        &mut self,
        nodes: &mut [Node],
        rename: impl FnOnce(&mut [Node]) -> BTreeMap<LoopId, LoopId>,
    ) {
        let old = stmts_under(&*nodes);
        let loops = rename(nodes);
        let new = stmts_under(&*nodes);
        old.iter().zip(&new).for_each(|(from, to)| self.copy(*from, *to));
        self.substitute(&new, &|v| match v {
            Var::Loop(l) => loops.get(&l).map(|l| Affine::var(*l)),
            Var::Sym(_) => None,
        });
    }

    /// Gives statements other ids, all at once.
    pub(crate) fn rename(&mut self, renamed: &[(StmtId, StmtId)]) {
        let mut old = std::mem::take(&mut self.parts);
        self.parts = renamed.iter().filter_map(|(from, to)| Some((*to, old.remove(from)?))).collect();
        self.parts.extend(old);
    }

    /// Removes a statement that nothing replaces.
    pub(crate) fn drop(&mut self, stmt: StmtId, rewrite: Rewrite) {
        for part in self.parts.remove(&stmt).unwrap_or_default() {
            if !self.parts.values().flatten().any(|p| p.stmt == part.stmt) {
                self.gone.entry(part.stmt).or_insert(rewrite);
            }
        }
    }

    /// Every statement of `users`, inside the same loops and perhaps more, now performs what `stmt` did, before its own
    /// parts; `stmt` is gone.
    pub(crate) fn absorb(&mut self, stmt: StmtId, users: &[StmtId], rewrite: Rewrite) {
        let parts = self.parts.get(&stmt).cloned().unwrap_or_default();
        for user in users.iter().filter(|user| **user != stmt) {
            let own = self.parts.entry(*user).or_default();
            own.splice(0..0, parts.iter().cloned());
        }
        self.drop(stmt, rewrite);
    }

    /// `second` is now performed directly after `first`, in its place; `with` gives its iterators in terms of those of
    /// `first`.
    pub(crate) fn append(&mut self, first: StmtId, second: StmtId, with: &dyn Fn(Var) -> Option<Affine>) {
        self.substitute(&[second], with);
        let parts = self.parts.remove(&second).unwrap_or_default();
        self.parts.entry(first).or_default().extend(parts);
    }

    /// A statement performs its parts only under this constraint.
    pub(crate) fn restrict(&mut self, stmt: StmtId, when: &Constraint) {
        for part in self.parts.get_mut(&stmt).into_iter().flatten() {
            part.when.push(when.clone());
        }
    }

    /// The statements `onto` now accumulate in an array what went through a scalar from `start` to `end`. These loaded
    /// and stored its elements, and stay or not (`stays`).
    pub(crate) fn spread(
        &mut self,
        array: ArrayId,
        onto: &[StmtId],
        ends: [(StmtId, bool); 2],
        rewrite: Rewrite,
    ) {
        let group = self.group(array);
        for (stmt, stays) in ends {
            onto.iter()
                .filter(|user| **user != stmt)
                .for_each(|user| self.take_over(stmt, *user, &[], group));
            if !stays {
                self.drop(stmt, rewrite);
            }
        }
    }

    /// The mark of a further accumulation in an array.
    pub(crate) fn group(&mut self, array: ArrayId) -> Spread {
        self.n_groups += 1;
        Spread { array, group: self.n_groups - 1 }
    }

    /// A statement takes over accesses to the target of an accumulation from another one, around which these loops have these
    /// values.
    pub(crate) fn take_over(&mut self, of: StmtId, by: StmtId, values: &[(LoopId, Affine)], group: Spread) {
        let with = |v: Var| values.iter().find(|(l, _)| v == Var::Loop(*l)).map(|(_, value)| value.clone());
        let parts = self.parts.get(&of).cloned().unwrap_or_default().into_iter().map(|part| Part {
            stmt: part.stmt,
            iterators: part.iterators.iter().map(|(l, value)| (*l, value.substitute(&with))).collect(),
            when: part.when.iter().map(|c| c.substitute(&with)).collect(),
            only: part.only.or(Some(group)),
        });
        self.parts.entry(by).or_default().extend(parts);
    }

    /// Updates the map for a generated nest: for each group of statements, the new values of their old iterators.
    /// `copies` are statements that are already mapped. If the nest has any other statement, or one in other loops, the
    /// map is lost.
    pub(crate) fn generated(
        &mut self,
        groups: &[(Vec<StmtId>, BTreeMap<LoopId, Affine>)],
        copies: &[StmtId],
        nest: &Nest,
        rewrite: Rewrite,
    ) {
        for (stmts, map) in groups {
            self.substitute(stmts, &|v| match v {
                Var::Loop(l) => map.get(&l).cloned(),
                Var::Sym(_) => None,
            });
        }
        let left: BTreeSet<StmtId> = nest.stmts().iter().map(|s| s.id).collect();
        let in_groups = groups.iter().flat_map(|(stmts, _)| stmts.iter());
        let known: Vec<StmtId> = in_groups.chain(copies).copied().collect();
        for stmt in known.iter().filter(|stmt| !left.contains(stmt)) {
            self.drop(*stmt, Rewrite::IterationSpace);
        }
        if left.iter().any(|stmt| !known.contains(stmt)) || !self.fits(nest) {
            self.give_up(rewrite);
        }
    }

    /// Claims that the first part of a statement had one loop around it, with this value of its iterator.
    #[cfg(test)]
    pub(crate) fn claim(&mut self, stmt: StmtId, of: LoopId, value: Affine) {
        if let Some(part) = self.parts.get_mut(&stmt).and_then(|parts| parts.first_mut()) {
            part.iterators = BTreeMap::from([(of, value)]);
        }
    }

    /// Whether the map covers exactly the statements of the nest and uses only the loops around each.
    pub(crate) fn fits(&self, nest: &Nest) -> bool {
        let mut found = BTreeSet::new();
        let mut fits = true;
        nest.visit(&mut |path, node| {
            let Node::Stmt(s) = node else { return };
            found.insert(s.id);
            let around = |l: LoopId| path.iter().any(|p| p.id == l);
            let parts = self.parts(s.id);
            fits &= !parts.is_empty();
            for part in parts {
                let when = part.when.iter().map(|c| &c.expr);
                fits &= part.iterators.values().chain(when).all(|e| e.loops().all(around));
            }
        });
        fits && self.parts.keys().all(|stmt| found.contains(stmt))
    }
}

/// The statements under some nodes, in textual order.
pub(crate) fn stmts_under<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<StmtId> {
    fn go(node: &Node, found: &mut Vec<StmtId>) {
        if let Node::Stmt(s) = node {
            found.push(s.id);
        }
        node.bodies().into_iter().flatten().for_each(|n| go(n, found));
    }
    let mut found = Vec::new();
    nodes.into_iter().for_each(|node| go(node, &mut found));
    found
}

/// The loops under some nodes, outermost first.
pub(crate) fn loops_under<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<LoopId> {
    fn go(node: &Node, found: &mut Vec<LoopId>) {
        if let Node::Loop(l) = node {
            found.push(l.id);
        }
        node.bodies().into_iter().flatten().for_each(|n| go(n, found));
    }
    let mut found = Vec::new();
    nodes.into_iter().for_each(|node| go(node, &mut found));
    found
}

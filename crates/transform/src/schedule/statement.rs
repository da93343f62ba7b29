//! Statements of a schedule: domains, accesses, and the place of their instances in the original nest.

use oxeye_ir::{Access, Affine, ArrayId, Constraint, LoopId, Node, Stmt, StmtId, Update, Var};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Position of a statement in the original program: `positions[0], loops[0], positions[1], …`.
#[derive(Clone, Debug)]
pub(crate) struct OriginalTime {
    pub(crate) positions: Vec<usize>,
    /// Original loops around the statement, outermost first, with whether they run backwards.
    pub(crate) loops: Vec<(LoopId, bool)>,
}

/// One memory access of a statement, indices over the *original* iterators.
#[derive(Clone, Debug)]
pub(crate) struct MemoryAccess {
    pub(crate) array: ArrayId,
    /// The access as it stands in the nest.
    pub(crate) source: Access,
    /// `None` where the index is not affine.
    pub(crate) indices: Vec<Option<Affine>>,
    pub(crate) write: bool,
    /// The access belongs to an update such as `+=` of the statement's own target, or in an atomic subtree of one of its
    /// statements' targets.
    pub(crate) update: Option<Update>,
    /// Constraints on the loops inside an atomic statement.
    pub(crate) inner: Vec<Constraint>,
}

/// A statement, or a subtree that stays in one piece (`atomic`), with its domain.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) id: StmtId,
    /// The imported statement that this one comes from (index sets may be split).
    pub(crate) origin: usize,
    /// `Node::Stmt`, or an atomic subtree; over the original iterators.
    pub(crate) node: Arc<Node>,
    pub(crate) accesses: Arc<[MemoryAccess]>,
    pub(crate) time: Arc<OriginalTime>,
    /// Original iterator → affine expression of the schedule's loops and symbols.
    pub(crate) map: BTreeMap<LoopId, Affine>,
    /// Constraints over the schedule's loops and symbols.
    pub(crate) domain: Vec<Constraint>,
}

impl Statement {
    /// The assignment, unless this is an atomic subtree.
    pub(crate) fn assignment(&self) -> Option<&Stmt> {
        match &*self.node {
            Node::Stmt(s) => Some(s),
            _ => None,
        }
    }

    /// An affine expression over original iterators, in terms of the schedule's loops.
    pub(crate) fn mapped(&self, expr: &Affine) -> Affine {
        expr.substitute(&|v| match v {
            Var::Loop(l) => self.map.get(&l).cloned(),
            Var::Sym(_) => None,
        })
    }

    /// Replaces a schedule loop by an expression of others.
    pub(crate) fn substitute_loop(&mut self, id: LoopId, with: &Affine) {
        let f = |v: Var| (v == Var::Loop(id)).then(|| with.clone());
        for value in self.map.values_mut() {
            *value = value.substitute(&f);
        }
        for c in &mut self.domain {
            *c = c.substitute(&f);
        }
    }
}

//! The tree that orders a schedule's statements.

use super::packed_contraction::Contraction;
use oxeye_ir::{Execution, LoopId};

/// A node of the schedule tree.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Loop(LoopNode),
    /// Index into [`Schedule::statements`].
    Leaf(usize),
    /// A packed contraction: cache blocks around a register tile.
    PackedContraction(Box<Contraction>),
}

/// A loop of the schedule tree.
#[derive(Clone, Debug)]
pub(crate) struct LoopNode {
    pub(crate) id: LoopId,
    pub(crate) reverse: bool,
    pub(crate) execution: Execution,
    /// Point loops of a tile: emit a version with constant trip counts for tiles that are full in these loops.
    pub(crate) separate: Vec<LoopId>,
    /// Iterations that are gathered, computed in vector lanes, and stored in their order: so many at a time
    /// ([`crate::steps::batch`]).
    pub(crate) batch: Option<i64>,
    pub(crate) body: Vec<Tree>,
}

impl LoopNode {
    /// Lets the loop run in another way, without what belonged to the one before.
    pub(crate) fn run_as(&mut self, execution: Execution) {
        self.execution = execution;
        self.batch = None;
    }
}

/// Statement indices under a tree, in order.
pub(crate) fn leaves(tree: &Tree) -> Vec<usize> {
    match tree {
        Tree::Leaf(s) => vec![*s],
        Tree::PackedContraction(c) => c.statements.clone(),
        Tree::Loop(b) => b.body.iter().flat_map(leaves).collect(),
    }
}

/// Statement indices under several trees, in order.
pub(crate) fn all_leaves(trees: &[Tree]) -> Vec<usize> {
    trees.iter().flat_map(leaves).collect()
}

/// The packed contraction that computes a statement, if any.
pub(crate) fn packed_contraction_of(trees: &[Tree], s: usize) -> Option<&Contraction> {
    trees.iter().find_map(|tree| match tree {
        Tree::PackedContraction(c) if c.statements.contains(&s) => Some(&**c),
        Tree::Loop(b) => packed_contraction_of(&b.body, s),
        _ => None,
    })
}

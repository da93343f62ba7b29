//! Positions in the schedule tree.

use crate::schedule::Tree;
use crate::steps::vectorize::is_written_out;
use oxeye_ir::LoopId;

/// Whether any of the trees contains a packed contraction.
pub(crate) fn contains_packed_contraction(trees: &[Tree]) -> bool {
    trees.iter().any(|t| match t {
        Tree::PackedContraction(_) => true,
        Tree::Loop(b) => contains_packed_contraction(&b.body),
        Tree::Leaf(_) => false,
    })
}

/// The outermost loops of the trees.
pub(crate) fn top_loops(trees: &[Tree]) -> Vec<LoopId> {
    trees.iter().filter_map(|t| if let Tree::Loop(b) = t { Some(b.id) } else { None }).collect()
}

/// The loops that contain only statements.
pub(crate) fn innermost_loops(trees: &[Tree]) -> Vec<LoopId> {
    trees
        .iter()
        .flat_map(|t| match t {
            Tree::Loop(b) if b.body.iter().all(is_written_out) => vec![b.id],
            Tree::Loop(b) => innermost_loops(&b.body),
            _ => Vec::new(),
        })
        .collect()
}

/// The loop whose only child is `id`.
pub(crate) fn parent_of(trees: &[Tree], id: LoopId) -> Option<LoopId> {
    trees.iter().find_map(|t| match t {
        Tree::Loop(b) if b.body.iter().any(|c| matches!(c, Tree::Loop(k) if k.id == id)) => Some(b.id),
        Tree::Loop(b) => parent_of(&b.body, id),
        _ => None,
    })
}

/// The loop that directly follows `id` among its siblings.
pub(crate) fn next_sibling(trees: &[Tree], id: LoopId) -> Option<LoopId> {
    trees.iter().enumerate().find_map(|(k, t)| match t {
        Tree::Loop(b) if b.id == id => match trees.get(k + 1) {
            Some(Tree::Loop(next)) => Some(next.id),
            _ => None,
        },
        Tree::Loop(b) => next_sibling(&b.body, id),
        _ => None,
    })
}

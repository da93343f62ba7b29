//! Schedules: which loops run around which statements, in what order, and how.
//!
//! A [`Schedule`] is the nest as statements with iteration domains, plus a tree that orders them. Every transformation
//! edits the tree and, where it makes new iterators, each statement's *map* (original iterators in terms of the new
//! ones) and *domain* (constraints on the new ones). [`crate::legality`] compares the tree's order with the original
//! one; [`crate::scan`] turns the tree back into an IR nest with explicit bounds.

mod original;
pub(crate) mod packed_contraction;
pub(crate) mod space;
mod statement;
pub(crate) mod statement_schedule;
mod time;
mod tree;
mod verdicts;

pub(crate) use original::{Original, OriginalPair};
pub(crate) use statement::{MemoryAccess, OriginalTime, Statement};
pub(crate) use time::TimeStep;
pub(crate) use tree::{LoopNode, Tree, all_leaves, leaves, packed_contraction_of};
pub(crate) use verdicts::{ComparedStep, Question};

use indexmap::IndexMap;
use oxeye_ir::{Affine, Array, ArrayId, Expr, Form, LoopId, Nest, Program, ScalarType, StmtId, Storage};
use std::sync::Arc;

/// Name and type of an iterator.
#[derive(Clone, Debug)]
pub(crate) struct IteratorInfo {
    pub(crate) name: String,
    pub(crate) ty: ScalarType,
}

/// A scalar that every iteration of some loop writes before reading: seen as an array over the loops around it.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) array: ArrayId,
    /// Number of loops that index it, before its own dimensions.
    pub(crate) n_loops: usize,
}

/// The nest as statements and a tree.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) program: Arc<Program>,
    pub(crate) nest: Arc<Nest>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) roots: Vec<Tree>,
    pub(crate) iterators: IndexMap<LoopId, IteratorInfo>,
    pub(crate) privates: Vec<Private>,
    /// Temporaries of the whole nest, which may get smaller storage if all uses of an element end up close together.
    pub(crate) temporaries: Vec<ArrayId>,
    /// The nest's dependences in its original order.
    pub(crate) original: Arc<Original>,
    pub(crate) next_loop: u32,
    /// Keep the accumulators of innermost loops in registers when the nest is generated.
    pub(crate) scalar_replacement: bool,
}

impl Schedule {
    /// Replaces a loop by an expression of others in the map and domain of statement `s`.
    pub(crate) fn substitute_loop(&mut self, s: usize, id: LoopId, with: &Affine) {
        fn in_contractions(trees: &mut [Tree], s: usize, id: LoopId, with: &Affine) {
            for tree in trees {
                match tree {
                    Tree::PackedContraction(c) if c.statements.first() == Some(&s) => {
                        c.substitute_loop(id, with)
                    }
                    Tree::Loop(b) => in_contractions(&mut b.body, s, id, with),
                    _ => {}
                }
            }
        }
        self.statements[s].substitute_loop(id, with);
        in_contractions(&mut self.roots, s, id, with);
    }

    /// A statement id that is not in use.
    pub(crate) fn fresh_stmt(&self) -> StmtId {
        let in_nest = self.nest.stmts().into_iter().map(|s| s.id.0);
        StmtId(in_nest.chain(self.statements.iter().map(|s| s.id.0)).max().map_or(0, |m| m + 1))
    }

    /// A fresh iterator.
    pub(crate) fn fresh_loop(&mut self, name: impl Into<String>, ty: ScalarType) -> LoopId {
        let id = LoopId(self.next_loop);
        self.next_loop += 1;
        self.iterators.insert(id, IteratorInfo { name: name.into(), ty });
        id
    }

    /// The loops around each leaf, outermost first, by statement index.
    pub(crate) fn paths(&self) -> Vec<Vec<LoopId>> {
        fn go(trees: &[Tree], path: &mut Vec<LoopId>, out: &mut Vec<Vec<LoopId>>) {
            for tree in trees {
                match tree {
                    Tree::Loop(loop_node) => {
                        path.push(loop_node.id);
                        go(&loop_node.body, path, out);
                        path.pop();
                    }
                    Tree::Leaf(s) => out[*s] = path.clone(),
                    Tree::PackedContraction(c) => {
                        for s in &c.statements {
                            out[*s] = path.iter().copied().chain(c.all_loops()).collect();
                        }
                    }
                }
            }
        }
        let mut out = vec![Vec::new(); self.statements.len()];
        go(&self.roots, &mut Vec::new(), &mut out);
        out
    }

    /// The loop with this id.
    pub(crate) fn loop_node(&self, id: LoopId) -> Option<&LoopNode> {
        fn go(trees: &[Tree], id: LoopId) -> Option<&LoopNode> {
            trees.iter().find_map(|t| match t {
                Tree::Loop(b) if b.id == id => Some(b),
                Tree::Loop(b) => go(&b.body, id),
                _ => None,
            })
        }
        go(&self.roots, id)
    }

    /// The loop with this id, mutable.
    pub(crate) fn loop_node_mut(&mut self, id: LoopId) -> Option<&mut LoopNode> {
        fn go(trees: &mut [Tree], id: LoopId) -> Option<&mut LoopNode> {
            for tree in trees {
                let Tree::Loop(loop_node) = tree else { continue };
                if loop_node.id == id {
                    return Some(loop_node);
                }
                if let Some(found) = go(&mut loop_node.body, id) {
                    return Some(found);
                }
            }
            None
        }
        go(&mut self.roots, id)
    }

    /// The list of siblings that contains the loop, and its position in it.
    pub(crate) fn siblings_mut(&mut self, id: LoopId) -> Option<(&mut Vec<Tree>, usize)> {
        fn go(trees: &mut Vec<Tree>, id: LoopId) -> Option<(&mut Vec<Tree>, usize)> {
            if let Some(k) = trees.iter().position(|t| matches!(t, Tree::Loop(b) if b.id == id)) {
                return Some((trees, k));
            }
            trees.iter_mut().find_map(|t| match t {
                Tree::Loop(b) => go(&mut b.body, id),
                _ => None,
            })
        }
        go(&mut self.roots, id)
    }

    /// The name of a loop for people: `i (L0)`.
    pub(crate) fn loop_name(&self, id: LoopId) -> String {
        match self.iterators.get(&id) {
            Some(info) => format!("{} ({id})", info.name),
            None => id.to_string(),
        }
    }
}

/// Adds a temporary array with an unused name.
pub(crate) fn fresh_array(
    program: &mut Program,
    name: &str,
    element: ScalarType,
    shape: Vec<Expr>,
    storage: Storage,
) -> ArrayId {
    let taken = |n: &str| {
        program.arrays.values().any(|a| a.name == n) || program.symbols.values().any(|s| s.name == n)
    };
    let mut unique = name.to_owned();
    let mut k = 2;
    while taken(&unique) {
        unique = format!("{name}{k}");
        k += 1;
    }
    program.add_array(Array {
        id: ArrayId(0),
        name: unique,
        element,
        c_type: None,
        shape: shape.into_iter().map(Some).collect(),
        form: Form::Nested,
        storage,
        align: 64,
    })
}

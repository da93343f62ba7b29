//! Fixes names, subscripts and ids of a generated nest.

use super::storage::Layout;
use crate::schedule::{Schedule, Statement};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, BoundTerm, Execution, Expr, LoopId, Nest, Node, Program, StmtId,
    Storage, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a statement of a schedule runs, in terms of the loops that it has now.
pub(crate) fn placed(statement: &Statement) -> Node {
    let mut node = Node::clone(&statement.node);
    node.substitute(&|v| match v {
        Var::Loop(l) => statement.map.get(&l).cloned(),
        Var::Sym(_) => None,
    });
    node
}

/// Calls `f` on every access under a node.
pub(crate) fn for_each_access(node: &mut Node, f: &mut dyn FnMut(&mut Access)) {
    fn in_expr(e: &mut Expr, f: &mut dyn FnMut(&mut Access)) {
        e.rewrite(&mut |e| {
            if let Expr::Read(a) = e {
                f(a);
            }
        });
    }
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(|e| in_expr(e, f));
            f(&mut s.target);
            in_expr(&mut s.value, f);
        }
        Node::If { condition, .. } => in_expr(condition, f),
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                if let BoundTerm::Data(e) = term {
                    in_expr(e, f);
                }
            }
        }
    }
    for body in node.bodies_mut() {
        body.iter_mut().for_each(|n| for_each_access(n, f));
    }
}

/// Replaces an array everywhere under a node, including lists of reductions.
pub(crate) fn rename_array(node: &mut Node, from: ArrayId, to: ArrayId) {
    fn reductions(node: &mut Node, from: ArrayId, to: ArrayId) {
        if let Node::Loop(l) = node
            && let Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } =
                &mut l.execution
        {
            reductions.iter_mut().filter(|r| r.array == from).for_each(|r| r.array = to);
        }
        for body in node.bodies_mut() {
            body.iter_mut().for_each(|n| reductions(n, from, to));
        }
    }
    for_each_access(node, &mut |a| {
        if a.array == from {
            a.array = to;
        }
    });
    reductions(node, from, to);
}

pub(super) fn relocate(node: &mut Node, layouts: &BTreeMap<ArrayId, Layout>) {
    for_each_access(node, &mut |a| {
        if let Some(layout) = layouts.get(&a.array) {
            a.indices = layout
                .kept
                .iter()
                .map(|(dim, lower)| match lower.as_constant() {
                    Some(0) => a.indices[*dim].clone(),
                    _ => Expr::binary(BinaryOp::Sub, a.indices[*dim].clone(), Expr::Affine(lower.clone())),
                })
                .collect();
        }
    });
}

/// Gives copied loops, statements and their temporaries fresh ids.
pub(crate) fn make_unique(program: &mut Program, nest: &mut Nest, next_loop: u32) {
    struct Unique<'a> {
        program: &'a mut Program,
        loops: BTreeSet<LoopId>,
        stmts: BTreeSet<StmtId>,
        next_loop: u32,
        next_stmt: u32,
    }
    impl Unique<'_> {
        fn node(&mut self, node: &mut Node) {
            match node {
                Node::Stmt(s) => {
                    if !self.stmts.insert(s.id) {
                        s.id = StmtId(self.next_stmt);
                        self.next_stmt += 1;
                        self.stmts.insert(s.id);
                    }
                }
                Node::Loop(l) => {
                    if !self.loops.insert(l.id) {
                        let (old, new) = (l.id, LoopId(self.next_loop));
                        self.next_loop += 1;
                        self.loops.insert(new);
                        l.id = new;
                        let scoped: Vec<ArrayId> = self
                            .program
                            .arrays
                            .values()
                            .filter(|a| matches!(a.storage, Storage::Temp(Some(s)) | Storage::Body(s) if s == old))
                            .map(|a| a.id)
                            .collect();
                        for array in scoped {
                            let mut copy = self.program.array(array).clone();
                            copy.storage = match copy.storage {
                                Storage::Body(_) => Storage::Body(new),
                                _ => Storage::Temp(Some(new)),
                            };
                            let copy = self.program.add_array(copy);
                            l.body.iter_mut().for_each(|n| rename_array(n, array, copy));
                        }
                        l.body.iter_mut().for_each(|n| {
                            n.substitute(&|v| (v == Var::Loop(old)).then(|| Affine::var(new)));
                        });
                    }
                }
                Node::If { .. } => {}
            }
            for body in node.bodies_mut() {
                body.iter_mut().for_each(|n| self.node(n));
            }
        }
    }
    let next_loop = nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0).max(next_loop);
    let next_stmt = nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
    let mut unique = Unique { program, loops: BTreeSet::new(), stmts: BTreeSet::new(), next_loop, next_stmt };
    for node in &mut nest.roots {
        unique.node(node);
    }
}

/// Removes temporaries of this schedule that the nest does not use.
pub(super) fn drop_unused(program: &mut Program, nest: &Nest, schedule: &Schedule) {
    let used: BTreeSet<ArrayId> = nest.arrays().into_iter().collect();
    let original: BTreeSet<ArrayId> = schedule.program.nests.values().flat_map(|n| n.arrays()).collect();
    program.arrays.retain(|id, a| {
        used.contains(id)
            || original.contains(id)
            || !matches!(a.storage, Storage::Temp(_) | Storage::Body(_))
    });
}

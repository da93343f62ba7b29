//! Clean-up that needs no dependences: iteration spaces, guards, and the form of single statements.
//!
//! *Iteration spaces*: loops that run once are replaced by their body, those that never run are removed, and those that
//! start at a constant start at zero. *Guards* on the very element they protect become selections. *Sums* that are
//! accumulated over a loop are accumulated term by term, where the policy allows.

use super::expressions::Canonical;
use super::shapes::Shapes;
use crate::instances::{Instances, stmts_under};
use crate::policy::Policy;
use crate::rewrite::Rewrite;
use oxeye_ir::{
    Affine, Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, Program, Stmt, StmtId, Storage, Update, Var,
};

/// Puts iteration spaces into canonical form. Loops that own arrays of `program` stay.
pub(super) fn loops(program: &Program, nodes: Vec<Node>, instances: &mut Instances) -> Vec<Node> {
    nodes.into_iter().flat_map(|n| one_loop(program, n, instances)).collect()
}

fn one_loop(program: &Program, node: Node, instances: &mut Instances) -> Vec<Node> {
    match node {
        Node::Loop(mut l) => {
            let start = match l.lower.0.as_slice() {
                [BoundTerm::Affine { expr, divisor: 1 }] => Some(expr.clone()),
                _ => None,
            };
            match (l.constant_trip_count(), start) {
                (Some(0), _) => {
                    for stmt in stmts_under(&l.body) {
                        instances.drop(stmt, Rewrite::IterationSpace);
                    }
                    return Vec::new();
                }
                (Some(1), Some(start)) if l.step > 0 && !owns_array(program, l.id) => {
                    replace(&mut l.body, l.id, &start, instances);
                    return loops(program, l.body, instances);
                }
                (_, Some(start)) => {
                    if let Some(c) = start.as_constant()
                        && c != 0
                        && l.step.abs() == 1
                        && l.upper.0.iter().all(|t| matches!(t, BoundTerm::Affine { .. }))
                    {
                        shift(&mut l, c, instances);
                    }
                }
                _ => {}
            }
            l.body = loops(program, std::mem::take(&mut l.body), instances);
            if l.body.is_empty() { Vec::new() } else { vec![Node::Loop(l)] }
        }
        Node::If { condition, then, otherwise } => {
            let (then, otherwise) = (loops(program, then, instances), loops(program, otherwise, instances));
            if then.is_empty() && otherwise.is_empty() {
                return Vec::new();
            }
            vec![Node::If { condition, then, otherwise }]
        }
        stmt => vec![stmt],
    }
}

fn owns_array(program: &Program, id: LoopId) -> bool {
    program.arrays.values().any(|a| matches!(a.storage, Storage::Body(l) | Storage::Temp(Some(l)) if l == id))
}

fn replace(nodes: &mut [Node], id: LoopId, with: &Affine, instances: &mut Instances) {
    let with = |v: Var| (v == Var::Loop(id)).then(|| with.clone());
    nodes.iter_mut().for_each(|node| node.substitute(&with));
    instances.substitute(&stmts_under(&*nodes), &with);
}

/// Shifts a loop that starts at `c` to start at zero.
fn shift(l: &mut Loop, c: i64, instances: &mut Instances) {
    let moved = Affine::var(l.id).offset(c);
    replace(&mut l.body, l.id, &moved, instances);
    l.lower = Bound::from(0);
    for term in &mut l.upper.0 {
        if let BoundTerm::Affine { expr, divisor } = term {
            *expr = expr.clone().offset(-c * *divisor);
        }
    }
}

/// Puts statements into canonical form. Returns whether any sum was reordered.
pub(super) fn statements(
    program: &Program,
    nest: &mut Nest,
    policy: Policy,
    instances: &mut Instances,
) -> bool {
    let shapes = Shapes::of(program, nest);
    let mut next = nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
    let roots = std::mem::take(&mut nest.roots);
    let mut rewriter =
        Rewriter { program, shapes: &shapes, policy, next: &mut next, instances, reassociated: false };
    nest.roots = rewriter.nodes(roots, &[]);
    rewriter.reassociated
}

struct Rewriter<'a> {
    program: &'a Program,
    shapes: &'a Shapes,
    policy: Policy,
    next: &'a mut u32,
    instances: &'a mut Instances,
    reassociated: bool,
}

impl Rewriter<'_> {
    fn nodes(&mut self, nodes: Vec<Node>, path: &[&Loop]) -> Vec<Node> {
        nodes.into_iter().flat_map(|n| self.node(n, path)).collect()
    }

    fn node(&mut self, node: Node, path: &[&Loop]) -> Vec<Node> {
        match node {
            Node::Loop(mut l) => {
                let body = std::mem::take(&mut l.body);
                let around: Vec<&Loop> = path.iter().copied().chain([&l]).collect();
                let body = self.nodes(body, &around);
                l.body = body;
                vec![Node::Loop(l)]
            }
            Node::If { condition, then, otherwise } => {
                if let Some(stmt) = selection(&condition, &then, &otherwise) {
                    return self.stmt(&stmt, path);
                }
                vec![Node::If {
                    condition,
                    then: self.nodes(then, path),
                    otherwise: self.nodes(otherwise, path),
                }]
            }
            Node::Stmt(stmt) => self.stmt(&stmt, path),
        }
    }

    fn stmt(&mut self, stmt: &Stmt, path: &[&Loop]) -> Vec<Node> {
        let canonical = Canonical::new(self.program, self.shapes, path, stmt, self.policy);
        let own = canonical.stmt(stmt);
        if self.policy.reassociate && !self.reassociated {
            let strict = Policy { reassociate: false, finite: false };
            let exact = Canonical::new(self.program, self.shapes, path, stmt, strict).stmt(stmt);
            self.reassociated = (&exact.value, exact.update) != (&own.value, own.update);
        }
        if is_reduction(&own, path)
            && let Some(summands) = canonical.summands(&own)
        {
            self.reassociated = true;
            let mut parts = Vec::new();
            for (k, value) in summands.into_iter().enumerate() {
                let id = if k == 0 { own.id } else { self.fresh() };
                if k > 0 {
                    self.instances.copy(own.id, id);
                }
                // A sign may move into the update.
                parts.push(Node::Stmt(canonical.stmt(&Stmt { id, value, ..own.clone() })));
            }
            return parts;
        }
        vec![Node::Stmt(own)]
    }

    fn fresh(&mut self) -> StmtId {
        *self.next += 1;
        StmtId(*self.next - 1)
    }
}

/// Whether some loop around the statement repeats its target.
pub(super) fn is_reduction(stmt: &Stmt, path: &[&Loop]) -> bool {
    path.iter().any(|l| !stmt.target.indices.iter().any(|i| i.uses(l.id)))
}

/// `if (c) x = e` as `x = c ? e : x`, if the condition itself reads x: then x may be read and written in any case.
fn selection(condition: &Expr, then: &[Node], otherwise: &[Node]) -> Option<Stmt> {
    let ([Node::Stmt(stmt)], []) = (then, otherwise) else { return None };
    if stmt.update != Update::Assign || !condition.reads().contains(&&stmt.target) {
        return None;
    }
    let own = Expr::Read(stmt.target.clone());
    let value = Expr::Select {
        condition: Box::new(condition.clone()),
        then: Box::new(stmt.value.clone()),
        otherwise: Box::new(own),
    };
    Some(Stmt { value, ..stmt.clone() })
}

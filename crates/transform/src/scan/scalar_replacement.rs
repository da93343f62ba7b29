//! Accumulators in registers (scalar replacement; Callahan, Carr and Kennedy, "Improving register allocation for
//! subscripted variables", 1990).
//!
//! *Rewrite*, for an innermost loop that always accumulates into the same element:
//!
//! ```text
//! for j: s[i] += a[i][j] * x[j]
//! →
//! if the loop runs: sum = s[i]; for j: sum += a[i][j] * x[j]; s[i] = sum
//! ```
//!
//! *Done when* nothing else in the loop touches that element. The order of the sum does not change.

use super::{Generator, for_each_access, guarded};
use crate::refusal::Reason;
use crate::schedule::space::{gist, is_empty};
use oxeye_ir::{
    Access, Affine, BoundTerm, Constraint, Execution, Expr, Loop, LoopId, Node, Reduction, Relation, Stmt,
    StmtId, Storage, Update,
};

impl Generator<'_> {
    /// The loop with its accumulators kept in scalars; `context` holds before it, `inside` within it.
    pub(crate) fn accumulate(
        &mut self,
        mut node: Loop,
        outer: &[LoopId],
        context: &[Constraint],
        inside: &[Constraint],
    ) -> Result<Vec<Node>, Reason> {
        let mut load = Vec::new();
        let mut store = Vec::new();
        let plain = node.body.iter().all(|n| matches!(n, Node::Stmt(_))) && self.schedule.scalar_replacement;
        let runs = if plain { runs(&node, context) } else { None };
        if let Some(runs) = &runs {
            for k in 0..node.body.len() {
                let Node::Stmt(stmt) = &node.body[k] else { continue };
                if !self.stays(stmt, &node, k, inside) {
                    continue;
                }
                let (target, update) = (stmt.target.clone(), stmt.update);
                let array = self.program.array(target.array).clone();
                let storage = Storage::Temp(outer.last().copied());
                let name = format!("{}_acc", array.name);
                let scalar =
                    crate::schedule::fresh_array(self.program, &name, array.element, Vec::new(), storage);
                let own = Access::scalar(scalar);
                if let Node::Stmt(stmt) = &mut node.body[k] {
                    stmt.target = own.clone();
                }
                let op = if update == Update::Sub { Update::Add } else { update };
                if let Execution::Vector { reductions, .. } = &mut node.execution
                    && reductions.iter().any(|r| r.array == target.array)
                {
                    reductions.push(Reduction { array: scalar, op });
                }
                let assign = |target: Access, value: Access| {
                    let update = Update::Assign;
                    Node::Stmt(Stmt { id: StmtId(0), target, update, value: Expr::Read(value), line: None })
                };
                load.push(assign(own.clone(), target.clone()));
                store.push(assign(target, own));
            }
            if let Execution::Vector { reductions, .. } = &mut node.execution {
                let program = &*self.program;
                let used = |r: &Reduction| {
                    node.body.iter().any(|n| matches!(n, Node::Stmt(s) if s.target.array == r.array))
                };
                reductions.retain(|r| program.array(r.array).shape.is_empty() || used(r));
            }
            if !load.is_empty() {
                let mut all = load;
                all.push(Node::Loop(node));
                all.extend(store);
                return Ok(guarded(runs, all, Vec::new()));
            }
        }
        if let Execution::Vector { reductions, .. } = &node.execution {
            let kept = |r: &&Reduction| {
                !self.program.array(r.array).shape.is_empty()
                    && !self.schedule.privates.iter().any(|p| p.array == r.array)
            };
            if let Some(r) = reductions.iter().find(kept) {
                let name = &self.program.array(r.array).name;
                return Err(Reason::not_writable(format!(
                    "what loop {} adds to {name} cannot be kept in a register",
                    node.name
                )));
            }
        }
        Ok(vec![Node::Loop(node)])
    }

    /// Whether statement `k` of the loop accumulates into one element that nothing else in the loop touches.
    fn stays(&self, stmt: &Stmt, node: &Loop, k: usize, inside: &[Constraint]) -> bool {
        let Some(target) = stmt.target.affine_indices() else { return false };
        if !stmt.update.is_reduction() || target.is_empty() || target.iter().any(|a| a.uses(node.id)) {
            return false;
        }
        if self.schedule.privates.iter().any(|p| p.array == stmt.target.array) {
            return false;
        }
        let mut apart = true;
        for (other, sibling) in node.body.iter().enumerate() {
            let mut first = other == k;
            for_each_access(&mut sibling.clone(), &mut |access| {
                // The target itself is skipped once, after its indices.
                if first && *access == stmt.target {
                    first = false;
                } else if access.array == stmt.target.array {
                    apart &= never_meet(&target, access, inside);
                }
            });
        }
        apart
    }
}

/// Whether an access can be proved to touch another element in every iteration.
fn never_meet(target: &[&Affine], access: &Access, inside: &[Constraint]) -> bool {
    let Some(indices) = access.affine_indices() else { return false };
    let equal = target
        .iter()
        .zip(indices)
        .map(|(a, b)| Constraint { expr: (*a).clone() - b.clone(), relation: Relation::Zero });
    is_empty(&inside.iter().cloned().chain(equal).collect::<Vec<_>>())
}

/// The conditions, beyond `context`, under which the loop runs at all; `None` if its bounds do not give them.
fn runs(node: &Loop, context: &[Constraint]) -> Option<Vec<Constraint>> {
    let mut found = Vec::new();
    for lower in &node.lower.0 {
        for upper in &node.upper.0 {
            match (lower, upper) {
                (BoundTerm::Affine { expr: l, divisor: 1 }, BoundTerm::Affine { expr: u, divisor: 1 }) => {
                    found.push(Constraint::lt(l.clone(), u.clone()));
                }
                _ => return None,
            }
        }
    }
    Some(gist(&found, context))
}

//! Index-set splitting, called `split` in recipes: cuts the range of a loop in two.
//!
//! *Rewrite*: `for i S` → `for i < p S; for i ≥ p S`. The copies of statements in the second loop get the next free ids.
//!
//! *Legal when*: always for a forward loop, since the order does not change. *Refused when* the point uses inner
//! iterators.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::{Schedule, Tree};
use oxeye_ir::{Affine, Constraint, LoopId, Node};
use std::collections::BTreeMap;
use std::sync::Arc;

step! {
    /// Cuts the range of a loop in two.
    IndexSetSplit: "split",
    "cut the range of a loop in two",
    "{at} at {point}",
    .alias("index_set_split");
    /// The loop.
    at: LoopId = Kind::Loop,
    /// Iterations before this value of the iterator go into a loop of their own.
    point: Affine = Kind::Expression,
}

impl Step for IndexSetSplit {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let at = self.at;
        let loop_node = lookup::loop_node(schedule, at)?.clone();
        if loop_node.reverse {
            return Err(Reason::unsupported(format!("loop {} runs backwards", schedule.loop_name(at))));
        }
        let paths = schedule.paths();
        let mut second = loop_node.clone();
        second.id = {
            let info = schedule.iterators[&at].clone();
            schedule.fresh_loop(info.name, info.ty)
        };
        let mut renamed = BTreeMap::from([(at, second.id)]);
        for tree in &mut second.body {
            copy(schedule, tree, at, second.id, &self.point, &paths, &mut renamed)?;
        }
        let mut copied = Tree::Loop(second);
        rename_separate(&mut copied, &renamed);
        for s in crate::schedule::all_leaves(&loop_node.body) {
            schedule.statements[s].domain.push(Constraint::lt(Affine::var(at), self.point.clone()));
        }
        let (siblings, k) = lookup::siblings_mut(schedule, at)?;
        siblings.insert(k + 1, copied);
        Ok(())
    }
}

/// Makes copied tiles refer to their own point loops.
fn rename_separate(tree: &mut Tree, renamed: &BTreeMap<LoopId, LoopId>) {
    if let Tree::Loop(loop_node) = tree {
        for l in &mut loop_node.separate {
            *l = renamed.get(l).copied().unwrap_or(*l);
        }
        loop_node.body.iter_mut().for_each(|t| rename_separate(t, renamed));
    }
}

/// Gives a copied tree its own loops and statements, restricted to iterations from `point` on.
fn copy(
    schedule: &mut Schedule,
    tree: &mut Tree,
    from: LoopId,
    to: LoopId,
    point: &Affine,
    paths: &[Vec<LoopId>],
    renamed: &mut BTreeMap<LoopId, LoopId>,
) -> Result<(), Reason> {
    match tree {
        Tree::Leaf(s) => {
            let outside = paths[*s].iter().take_while(|l| **l != from).count();
            if point.loops().any(|l| !paths[*s][..outside].contains(&l)) {
                return Err(Reason::new(
                    RefusalKind::BadArgument { argument: "point".into() },
                    "the splitting point may only use outer iterators",
                ));
            }
            let mut statement = schedule.statements[*s].clone();
            statement.domain.push(Constraint::ge(Affine::var(from), point.clone()));
            statement.id = schedule.fresh_stmt();
            if let Node::Stmt(stmt) = Arc::make_mut(&mut statement.node) {
                stmt.id = statement.id;
            }
            schedule.statements.push(statement);
            *s = schedule.statements.len() - 1;
            schedule.substitute_loop(*s, from, &Affine::var(to));
            Ok(())
        }
        Tree::Loop(loop_node) => {
            let info = schedule.iterators[&loop_node.id].clone();
            let fresh = schedule.fresh_loop(info.name, info.ty);
            for child in &mut loop_node.body {
                copy(schedule, child, from, to, point, paths, renamed)?;
            }
            for s in crate::schedule::all_leaves(&loop_node.body) {
                schedule.substitute_loop(s, loop_node.id, &Affine::var(fresh));
            }
            renamed.insert(loop_node.id, fresh);
            loop_node.id = fresh;
            Ok(())
        }
        Tree::PackedContraction(_) => {
            Err(Reason::unsupported("a statement of a packed contraction cannot be split"))
        }
    }
}

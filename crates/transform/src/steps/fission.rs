//! Fission, called `distribute` in recipes: puts the children of a loop into loops of their own.
//!
//! *Rewrite*: `for i { A; B }` → `for i { A } for i { B }`.
//!
//! *Legal when* the judge finds no dependence from a later iteration's `A` back to an earlier `B`. *Refused when* the
//! loop does not exist.

use super::argument::Kind;
use super::lookup;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, LoopId};

step! {
    /// Puts the children of a loop into loops of their own.
    Fission: "distribute",
    "put the children of a loop into loops of their own",
    "{at} [before {before}]",
    .alias("fission");
    /// The loop whose children are put into loops of their own.
    at: LoopId = Kind::Loop,
    /// Cut only before this child; `None`: between all of them.
    before: Option<usize> = Kind::Position { of: "at" },
}

impl Step for Fission {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        let Self { at, before } = *self;
        let loop_node = lookup::loop_node(schedule, at)?.clone();
        let info = schedule.iterators[&at].clone();
        let groups: Vec<Vec<Tree>> = match before {
            None => loop_node.body.iter().map(|child| vec![child.clone()]).collect(),
            Some(k) => vec![loop_node.body[..k].to_vec(), loop_node.body[k..].to_vec()],
        };
        let mut parts = Vec::new();
        for (k, body) in groups.into_iter().enumerate() {
            let id = if k == 0 { at } else { schedule.fresh_loop(info.name.clone(), info.ty) };
            for s in all_leaves(&body) {
                schedule.substitute_loop(s, at, &Affine::var(id));
            }
            let separate = loop_node.separate.iter().map(|l| if *l == at { id } else { *l }).collect();
            parts.push(Tree::Loop(LoopNode { id, body, separate, ..loop_node.clone() }));
        }
        let (siblings, k) = lookup::siblings_mut(schedule, at)?;
        siblings.splice(k..=k, parts);
        Ok(())
    }
}

//! Distribute (fission): the children of a loop in loops of their own.
//!
//! *Rewrite*: `for i { A; B }` → `for i { A } for i { B }`.
//!
//! *Legal when* the judge finds no dependence from a later iteration's `A` back to an earlier `B`. *Refused when* the
//! loop does not exist.

use crate::refusal::Reason;
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use oxeye_ir::{Affine, LoopId};

pub(crate) fn edit(schedule: &mut Schedule, at: LoopId, before: Option<usize>) -> Result<(), Reason> {
    let loop_node = super::loop_node(schedule, at)?.clone();
    let info = schedule.iterators[&at].clone();
    let groups: Vec<Vec<Tree>> = match before {
        None => loop_node.body.iter().map(|child| vec![child.clone()]).collect(),
        Some(k) if k > 0 && k < loop_node.body.len() => {
            vec![loop_node.body[..k].to_vec(), loop_node.body[k..].to_vec()]
        }
        Some(k) => {
            return Err(Reason::unsupported(format!(
                "loop {} has no child {k} to cut before",
                schedule.loop_name(at)
            )));
        }
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
    let (siblings, k) = schedule.siblings_mut(at).ok_or_else(|| super::no_loop(at))?;
    siblings.splice(k..=k, parts);
    Ok(())
}

//! Neighbouring loops merged: with shifts, so that an iteration of a later loop runs as soon as what it reads is there, or those
//! that have the same iterations.

use super::builder::Builder;
use crate::scan;
use crate::schedule::Tree;
use crate::steps::Fuse;
use crate::templates::unfit::Unfit;
use oxeye_ir::{LoopId, Node};
use std::collections::BTreeSet;

/// Loops that would run further behind each other are not merged.
const MOST_SHIFT: i64 = 8;

/// Merges neighbouring outermost loops, each with the least shift that the judge finds to keep dependences.
pub(crate) fn with_shifts(mut builder: Builder) -> Result<Builder, Unfit> {
    let mut is_shifted = false;
    let mut from = 0;
    while let Some((k, first, second)) = neighbours(&builder.schedule.roots, from) {
        let least =
            (0..=MOST_SHIFT).find(|shift| builder.step(Fuse { first, second, shift: *shift }).is_ok());
        is_shifted |= least.is_some_and(|shift| shift > 0);
        from = if least.is_some() { k } else { k + 1 };
    }
    match is_shifted {
        true => Ok(builder),
        false => Err(Unfit::Inapplicable("no neighbouring loops can be merged by shifting one".into())),
    }
}

/// Most loops that are merged because they agree.
const MOST_MERGED: usize = 32;

/// Merges neighbouring loops of the same iterations wherever that is legal, outer ones first.
pub(crate) fn that_agree(builder: &mut Builder) {
    let mut refused: BTreeSet<(LoopId, LoopId)> = BTreeSet::new();
    for _ in 0..MOST_MERGED {
        let Ok((_, nest)) = scan::generate(builder.schedule.clone(), &builder.schedule.nest) else { return };
        let mut pairs = Vec::new();
        agreeing(&nest.roots, &mut pairs);
        let merged = pairs.into_iter().find(|(first, second)| {
            let fuse = Fuse { first: *first, second: *second, shift: 0 };
            !refused.contains(&(*first, *second)) && {
                let is_legal = builder.step(fuse).is_ok();
                refused.extend((!is_legal).then_some((*first, *second)));
                is_legal
            }
        });
        if merged.is_none() {
            return;
        }
    }
}

/// Loops and their next siblings with the same bounds, in and under nodes, outer ones first.
fn agreeing(nodes: &[Node], found: &mut Vec<(LoopId, LoopId)>) {
    found.extend(nodes.windows(2).filter_map(|pair| match pair {
        [Node::Loop(a), Node::Loop(b)] => {
            let agree = a.lower == b.lower && a.upper == b.upper && a.step == b.step;
            agree.then_some((a.id, b.id))
        }
        _ => None,
    }));
    nodes.iter().flat_map(Node::bodies).for_each(|body| agreeing(body, found));
}

/// The first loop at a position or behind it that a loop follows, with its position.
fn neighbours(trees: &[Tree], from: usize) -> Option<(usize, LoopId, LoopId)> {
    trees.windows(2).enumerate().skip(from).find_map(|(k, pair)| match pair {
        [Tree::Loop(first), Tree::Loop(second)] => Some((k, first.id, second.id)),
        _ => None,
    })
}

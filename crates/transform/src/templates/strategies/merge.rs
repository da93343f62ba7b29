//! Neighbouring loops merged with shifts: an iteration of a later loop runs as soon as what it reads is there.

use super::builder::Builder;
use crate::schedule::Tree;
use crate::steps::Fuse;
use crate::templates::unfit::Unfit;
use oxeye_ir::LoopId;

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

/// The first loop at a position or behind it that a loop follows, with its position.
fn neighbours(trees: &[Tree], from: usize) -> Option<(usize, LoopId, LoopId)> {
    trees.windows(2).enumerate().skip(from).find_map(|(k, pair)| match pair {
        [Tree::Loop(first), Tree::Loop(second)] => Some((k, first.id, second.id)),
        _ => None,
    })
}

//! The panel: templates that every nest is measured with, so that nests can be compared by their response.

use super::template::{
    Base, BlockShape, Cache, Independent, Lanes, Loops, Order, Registers, Share, Shares, Strategy, Template,
    Threads,
};

/// Changes whenever the panel or the result of one of its templates changes: responses to different panels cannot be
/// compared.
pub const PANEL_VERSION: u32 = 2;

/// The panel: [`Template::AS_IT_IS`] first, then templates as different as possible. Every kind of nest (products,
/// element-wise chains, reductions, stencils, recurrences, factorizations) has several that apply.
pub fn panel() -> &'static [Template] {
    &PANEL
}

const MEMORY: Order = ranked(0, Independent::Anywhere, true);
const PARALLEL: Order = ranked(0, Independent::Outer, true);
const SECOND: Order = ranked(1, Independent::Inner, true);
const IN_LANES: Order = ranked(0, Independent::Innermost, true);
const HALF_L1: Option<Share> = Some(Share { cache: Cache::L1, divisor: 2 });
const HALF_L2: Option<Share> = Some(Share { cache: Cache::L2, divisor: 2 });
const TEAM: Threads = Threads::Outer(Shares::Fitting);
const STRIPS: Threads = Threads::Strips { width: super::template::STRIP };
const WIDE: BlockShape =
    BlockShape { registers: Some(Registers { rows: 12, vectors: 1 }), ..BlockShape::USUAL };

static PANEL: [Template; 31] = [
    Template::AS_IT_IS,
    loops(Order::Source, None, None, Threads::One),
    loops(Order::Source, None, None, TEAM),
    loops(Order::Source, None, None, Threads::Outer(Shares::Dynamic)),
    loops(Order::Source, None, None, STRIPS),
    loops(Order::Source, None, Some(4), Threads::One),
    loops(MEMORY, None, None, Threads::One),
    loops(ranked(0, Independent::Anywhere, false), None, None, Threads::One),
    loops(MEMORY, None, None, STRIPS),
    loops(MEMORY, HALF_L1, None, Threads::One),
    loops(MEMORY, HALF_L2, None, Threads::One),
    loops(MEMORY, None, Some(4), Threads::One),
    loops(PARALLEL, None, None, TEAM),
    loops(ranked(0, Independent::Outer, false), None, None, TEAM),
    loops(PARALLEL, HALF_L1, None, TEAM),
    loops(PARALLEL, HALF_L2, None, TEAM),
    loops(PARALLEL, None, Some(4), TEAM),
    loops(SECOND, None, None, Threads::One),
    loops(SECOND, None, None, TEAM),
    loops(ranked(2, Independent::Inner, true), None, None, TEAM),
    loops(IN_LANES, None, None, Threads::One),
    loops(IN_LANES, None, None, TEAM),
    with(Strategy::PackedContraction(BlockShape::USUAL), Threads::One),
    with(Strategy::PackedContraction(BlockShape::USUAL), TEAM),
    with(Strategy::PackedContraction(WIDE), TEAM),
    with(Strategy::Factor { steps: 64, blocks: BlockShape::USUAL }, TEAM),
    with(Strategy::TimeTiles { steps: 4, rows: 8 }, TEAM),
    with(Strategy::TimeTiles { steps: 16, rows: 32 }, Threads::One),
    with(Strategy::TimeTiles { steps: 16, rows: 32 }, TEAM),
    with(Strategy::TimeTiles { steps: 32, rows: 1024 }, TEAM),
    with(Strategy::Crossings, TEAM),
];

const fn ranked(rank: u8, independent: Independent, fuse: bool) -> Order {
    Order::Ranked { rank, independent, fuse }
}

const fn loops(order: Order, tile: Option<Share>, jam: Option<u8>, threads: Threads) -> Template {
    let lanes = match order {
        Order::Ranked { independent: Independent::Innermost, .. } => Lanes::Scattered,
        _ => Lanes::Contiguous,
    };
    Template { base: Base::Source, strategy: Strategy::Loops(Loops { order, tile, jam }), threads, lanes }
}

const fn with(strategy: Strategy, threads: Threads) -> Template {
    Template { base: Base::Source, strategy, threads, lanes: Lanes::Contiguous }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn templates_differ() {
        assert!((16..=32).contains(&panel().len()));
        assert_eq!(panel()[0], Template::AS_IT_IS);
        assert_eq!(panel().iter().collect::<BTreeSet<_>>().len(), panel().len());
        assert_eq!(panel().iter().map(Template::title).collect::<BTreeSet<_>>().len(), panel().len());
    }

    /// A changed panel needs a new version.
    #[test]
    fn the_version_stands_for_these_templates() {
        let text: Vec<String> = panel().iter().map(Template::to_string).collect();
        insta::assert_snapshot!(format!("panel {PANEL_VERSION}\n{}", text.join("\n")));
    }
}

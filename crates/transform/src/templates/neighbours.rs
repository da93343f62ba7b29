//! Templates near a template: one parameter changed, one step away.

use super::template::{
    Base, BlockShape, Cache, Capped, Independent, Lanes, Loops, Order, Registers, STRIP, Share, Shares,
    Strategy, Template, Threads,
};

/// Greatest rank of a loop order: the cheapest orders come first.
const MAX_RANK: u8 = 5;
/// Greatest divisor of a cache.
const MAX_DIVISOR: u8 = 64;
/// Most copies of a jammed loop: more do not fit the registers.
const MAX_JAM: u8 = 8;

impl Template {
    /// Templates that differ in one parameter by one step, each once. Every strategy is at most three changes away.
    pub fn neighbours(&self) -> Vec<Template> {
        let mut near = Vec::new();
        near.extend(strategies(&self.strategy).into_iter().map(|strategy| Template { strategy, ..*self }));
        near.extend(threads(self.threads).into_iter().map(|threads| Template { threads, ..*self }));
        let lanes = [Lanes::Off, Lanes::Contiguous, Lanes::Scattered, Lanes::Batches];
        near.extend(lanes.into_iter().filter(|l| *l != self.lanes).map(|lanes| Template { lanes, ..*self }));
        near.extend([Base::Source, Base::Normal].map(|base| Template { base, ..*self }));
        let mut distinct: Vec<Template> = Vec::new();
        for template in near {
            if template != *self && !distinct.contains(&template) {
                distinct.push(template);
            }
        }
        distinct
    }

    /// One of the neighbours, selected by `choose(n)`, a number below `n`. The result depends only on the choice.
    pub fn mutate(&self, choose: &mut dyn FnMut(usize) -> usize) -> Template {
        let near = self.neighbours();
        near.get(choose(near.len())).copied().unwrap_or(*self)
    }
}

/// Half and twice a value, inside a range.
fn scaled(value: u16, least: u16, most: u16) -> Vec<u16> {
    let both = [value / 2, value.saturating_mul(2)];
    both.into_iter().map(|v| v.clamp(least, most)).filter(|v| *v != value).collect()
}

fn strategies(strategy: &Strategy) -> Vec<Strategy> {
    let source = Strategy::Loops(Loops { order: Order::Source, tile: None, jam: None });
    match *strategy {
        Strategy::Loops(loops) => {
            let mut near: Vec<Strategy> = around_loops(loops).into_iter().map(Strategy::Loops).collect();
            if loops.order == Order::Source {
                near.push(Strategy::PackedContraction(BlockShape::USUAL));
                near.push(Strategy::TimeTiles { steps: 8, rows: 32 });
                near.extend([Strategy::Crossings, Strategy::Regions, Strategy::WrittenOut]);
                near.extend([Strategy::Merged, Strategy::Fissioned]);
            }
            near
        }
        Strategy::PackedContraction(blocks) => {
            let mut near: Vec<Strategy> =
                around_blocks(blocks).into_iter().map(Strategy::PackedContraction).collect();
            near.push(Strategy::Factor { steps: 64, blocks });
            near.push(source);
            near
        }
        Strategy::Factor { steps, blocks } => {
            let mut near: Vec<Strategy> =
                scaled(steps, 16, 256).into_iter().map(|steps| Strategy::Factor { steps, blocks }).collect();
            near.extend(around_blocks(blocks).into_iter().map(|blocks| Strategy::Factor { steps, blocks }));
            near.push(Strategy::PackedContraction(blocks));
            near
        }
        Strategy::TimeTiles { steps, rows } => {
            let mut near: Vec<Strategy> =
                scaled(steps, 2, 128).into_iter().map(|steps| Strategy::TimeTiles { steps, rows }).collect();
            near.extend(scaled(rows, 4, 4096).into_iter().map(|rows| Strategy::TimeTiles { steps, rows }));
            near.push(source);
            near
        }
        Strategy::Crossings
        | Strategy::Regions
        | Strategy::WrittenOut
        | Strategy::Merged
        | Strategy::Fissioned => vec![source],
    }
}

fn around_loops(loops: Loops) -> Vec<Loops> {
    let mut near: Vec<Loops> =
        orders(loops.order).into_iter().map(|order| Loops { order, ..loops }).collect();
    let tiles = match loops.tile {
        None => [Cache::L1, Cache::L2].map(|cache| Some(Share { cache, divisor: 2 })).to_vec(),
        Some(share) => std::iter::once(None).chain(shares(share).into_iter().map(Some)).collect(),
    };
    near.extend(tiles.into_iter().map(|tile| Loops { tile, ..loops }));
    let jams = match loops.jam {
        None => vec![Some(2), Some(4)],
        Some(jam) => {
            let other = [jam / 2, jam.saturating_mul(2)];
            let other = other.into_iter().filter(|j| (2..=MAX_JAM).contains(j));
            std::iter::once(None).chain(other.map(Some)).collect()
        }
    };
    near.extend(jams.into_iter().map(|jam| Loops { jam, ..loops }));
    near
}

fn orders(order: Order) -> Vec<Order> {
    let places = [Independent::Anywhere, Independent::Outer, Independent::Inner, Independent::Innermost];
    match order {
        Order::Source => {
            places.map(|independent| Order::Ranked { rank: 0, independent, fuse: true }).to_vec()
        }
        Order::Ranked { rank, independent, fuse } => {
            let mut near = vec![Order::Source, Order::Ranked { rank, independent, fuse: !fuse }];
            let ranks = [rank.checked_sub(1), rank.checked_add(1).filter(|r| *r <= MAX_RANK)];
            near.extend(ranks.into_iter().flatten().map(|rank| Order::Ranked { rank, independent, fuse }));
            near.extend(places.map(|independent| Order::Ranked { rank, independent, fuse }));
            near
        }
    }
}

/// Half and twice the share, and the same share of the other caches.
fn shares(share: Share) -> Vec<Share> {
    let divisors = [share.divisor / 2, share.divisor.saturating_mul(2)];
    let divisors = divisors.into_iter().filter(|d| (1..=MAX_DIVISOR).contains(d));
    let mut near: Vec<Share> = divisors.map(|divisor| Share { divisor, ..share }).collect();
    near.extend([Cache::L1, Cache::L2, Cache::L3].map(|cache| Share { cache, ..share }));
    near.retain(|s| *s != share);
    near
}

fn around_blocks(blocks: BlockShape) -> Vec<BlockShape> {
    let tile = |rows, vectors| Some(Registers { rows, vectors });
    let registers = match blocks.registers {
        None => vec![tile(4, 3), tile(6, 4), tile(8, 2), tile(12, 1)],
        Some(Registers { rows, vectors }) => {
            let mut near = vec![None];
            let rows_near = [rows.saturating_sub(1), rows.saturating_add(1), rows.saturating_add(2)];
            near.extend(rows_near.into_iter().filter(|r| (1..=16).contains(r)).map(|r| tile(r, vectors)));
            let vectors_near = [vectors.saturating_sub(1), vectors.saturating_add(1)];
            near.extend(vectors_near.into_iter().filter(|v| (1..=4).contains(v)).map(|v| tile(rows, v)));
            near
        }
    };
    let mut near: Vec<BlockShape> =
        registers.into_iter().map(|registers| BlockShape { registers, ..blocks }).collect();
    near.extend(capped(blocks.rows, 4, 256).into_iter().map(|rows| BlockShape { rows, ..blocks }));
    near.extend(capped(blocks.depth, 32, 2048).into_iter().map(|depth| BlockShape { depth, ..blocks }));
    near.extend(capped(blocks.columns, 4, 1024).into_iter().map(|columns| BlockShape { columns, ..blocks }));
    near
}

/// Half and twice the share or the limit.
fn capped(size: Capped, least: u16, most: u16) -> Vec<Capped> {
    let shares = shares(size.share).into_iter().filter(|s| s.cache == size.share.cache);
    let mut near: Vec<Capped> = shares.map(|share| Capped { share, ..size }).collect();
    near.extend(scaled(size.most, least, most).into_iter().map(|most| Capped { most, ..size }));
    near
}

fn threads(threads: Threads) -> Vec<Threads> {
    let strips = |width| Threads::Strips { width };
    match threads {
        Threads::One => vec![Threads::Outer(Shares::Fitting), strips(STRIP)],
        Threads::Outer(shares) => {
            let all = [Shares::Fitting, Shares::Static, Shares::Dynamic];
            let other = all.into_iter().filter(|s| *s != shares).map(Threads::Outer);
            [Threads::One, strips(STRIP)].into_iter().chain(other).collect()
        }
        Threads::Strips { width } => {
            let mut near = vec![Threads::One, Threads::Outer(Shares::Fitting)];
            near.extend(scaled(width, 32, 4096).into_iter().map(strips));
            near
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::panel;
    use std::collections::{BTreeSet, HashSet};

    /// A random walk of mutations, as in a search.
    #[test]
    fn walks_stay_among_templates() {
        let mut state = 7u64;
        let mut choose = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        let mut seen = BTreeSet::new();
        for start in panel() {
            let mut template = *start;
            for _ in 0..200 {
                let next = template.mutate(&mut choose);
                assert_ne!(next, template);
                assert_eq!(next.to_string().parse(), Ok(next), "{next}");
                seen.insert(next);
                template = next;
            }
        }
        assert!(seen.len() > 1000, "{}", seen.len());
    }

    #[test]
    fn neighbours_are_distinct_and_reach_every_strategy() {
        let kinds = |templates: &BTreeSet<Template>| {
            templates.iter().map(|t| std::mem::discriminant(&t.strategy)).collect::<HashSet<_>>()
        };
        // The panel is older than the last strategies.
        let mut every = kinds(&panel().iter().copied().collect());
        every.extend(
            [Strategy::Regions, Strategy::WrittenOut, Strategy::Merged, Strategy::Fissioned]
                .map(|s| std::mem::discriminant(&s)),
        );
        for template in panel() {
            let near = template.neighbours();
            assert_eq!(near.iter().collect::<BTreeSet<_>>().len(), near.len());
            assert!(near.len() >= 5 && !near.contains(template));
            assert_eq!(near.iter().filter(|t| t.base == Base::Normal).count(), 1);
            let mut reached: BTreeSet<Template> = near.into_iter().collect();
            for _ in 0..2 {
                let next: Vec<Template> = reached.iter().flat_map(Template::neighbours).collect();
                reached.extend(next);
            }
            assert_eq!(kinds(&reached), every, "{template}");
        }
    }
}

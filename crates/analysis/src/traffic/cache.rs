//! The simulated cache hierarchy.

use super::sample::Tally;
use super::stream::{Sink, Touch};
use super::{CacheGeometry, NoTraffic};

/// Caches, nearest first, and the counts of the lines moved between them.
pub(super) struct Hierarchy {
    levels: Vec<Level>,
    /// The weight of each event.
    weight: f64,
    /// The event counts.
    tally: Tally,
}

impl Hierarchy {
    pub(super) fn new(caches: &[CacheGeometry], tally: Tally) -> Result<Self, NoTraffic> {
        let levels = caches.iter().map(Level::new).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { levels, weight: 1.0, tally })
    }

    /// Counts the lines that are still modified as written back, and returns the counts.
    pub(super) fn finish(mut self) -> Tally {
        let mut modified: Vec<u64> = Vec::new();
        for (idx, level) in self.levels.iter().enumerate() {
            modified.extend(level.tags.iter().filter(|tag| *tag & 1 == 1).map(|tag| tag >> 1));
            modified.sort_unstable();
            modified.dedup();
            self.tally.written_back(idx, modified.len() as f64);
        }
        self.tally
    }

    /// Touches a line and returns whether the nearest cache has it.
    fn access(&mut self, line: u64, is_write: bool) -> bool {
        for idx in 0..self.levels.len() {
            // Farther caches see only reads: modified lines stay in the nearest.
            let victim = match self.levels[idx].access(line, is_write && idx == 0) {
                Access::Hit => return idx == 0,
                Access::Miss { victim } => victim,
            };
            if self.weight > 0.0 {
                self.tally.filled(idx, line, self.weight);
            }
            if victim & 1 == 1 {
                self.write_back(idx, victim >> 1);
            }
        }
        false
    }

    /// Writes a line that cache `from` evicted back to the next cache that has it.
    fn write_back(&mut self, from: usize, line: u64) {
        for idx in from..self.levels.len() {
            if self.weight > 0.0 {
                self.tally.written_back(idx, self.weight);
            }
            if self.levels.get_mut(idx + 1).is_some_and(|next| next.mark_modified(line)) {
                return;
            }
        }
    }
}

impl Sink for Hierarchy {
    fn repeat(&mut self, touches: &[Touch], times: u64) {
        for touch in touches {
            self.access(touch.line, touch.is_write);
        }
        let n_ways = self.levels.first().map_or(0, |level| level.n_ways);
        if times == 1 || touches.len() <= n_ways {
            // All lines are now in the nearest cache, in the order in which another repetition would leave them.
            return;
        }
        for _ in 1..times {
            let mut hits_only = true;
            for touch in touches {
                hits_only &= self.access(touch.line, touch.is_write);
            }
            if hits_only {
                return;
            }
        }
    }

    fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    fn set_cell(&mut self, nest: usize, part: usize) {
        self.tally.select(nest, part);
    }
}

/// One cache.
struct Level {
    /// The lines of each set, most recently used first: `2 · line + modified`, or [`EMPTY`]. Line 0 is never used.
    tags: Vec<u64>,
    n_sets: u64,
    n_ways: usize,
}

const EMPTY: u64 = 0;
/// More lines than any real cache has.
const MAX_LINES: u64 = 1 << 28;

enum Access {
    Hit,
    Miss { victim: u64 },
}

impl Level {
    fn new(geometry: &CacheGeometry) -> Result<Self, NoTraffic> {
        let (n_sets, n_ways) = (geometry.n_sets(), geometry.ways as usize);
        let n_lines = n_sets.saturating_mul(n_ways as u64);
        if n_lines == 0 || n_lines > MAX_LINES || !geometry.line_bytes.is_power_of_two() {
            return Err(NoTraffic(format!(
                "cache {} has {} bytes in lines of {} and {} ways, which is impossible",
                geometry.name, geometry.bytes, geometry.line_bytes, geometry.ways
            )));
        }
        Ok(Self { tags: vec![EMPTY; n_lines as usize], n_sets, n_ways })
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let set = if self.n_sets.is_power_of_two() { line & (self.n_sets - 1) } else { line % self.n_sets };
        let first = set as usize * self.n_ways;
        &mut self.tags[first..first + self.n_ways]
    }

    #[inline]
    fn access(&mut self, line: u64, is_write: bool) -> Access {
        let set = self.set(line);
        let modified = u64::from(is_write);
        if set[0] >> 1 == line {
            set[0] |= modified;
            return Access::Hit;
        }
        match set.iter().position(|tag| tag >> 1 == line) {
            Some(way) => {
                let tag = set[way] | modified;
                set.copy_within(..way, 1);
                set[0] = tag;
                Access::Hit
            }
            None => {
                let last = set.len() - 1;
                let victim = set[last];
                set.copy_within(..last, 1);
                set[0] = line << 1 | modified;
                Access::Miss { victim }
            }
        }
    }

    /// Marks the line as modified and returns whether the cache has it.
    fn mark_modified(&mut self, line: u64) -> bool {
        match self.set(line).iter_mut().find(|tag| **tag >> 1 == line) {
            Some(tag) => {
                *tag |= 1;
                true
            }
            None => false,
        }
    }
}

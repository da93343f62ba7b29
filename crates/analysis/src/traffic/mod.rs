//! How many bytes a nest moves between the levels of a cache hierarchy.
//!
//! A set-associative, write-allocate, write-back hierarchy with least-recently-used replacement is fed with the addresses
//! that the loop tree produces. A nearer cache hides its hits from those beyond it, and dirty lines that it evicts are
//! handed to the next one without counting as a use there: the model of cachegrind, with write-backs added.
//!
//! # What counts as an access
//! - Scalars live in registers and cause no traffic.
//! - In a loop without inner loops, accesses that its iterator does not move are in registers while it runs: they are
//!   touched once when it is entered, and if they write once more when it is left. An access below a guard that the
//!   iterator decides is not.
//! - Within a statement: reads of the value from left to right, those inside target indices, the target.
//! - A guard or selection that only the data decide counts both sides; an index that only the data know is drawn
//!   uniformly from its dimension. Either makes the result inexact. Bounds that only the data know give no result,
//!   unless an affine one beside them bounds the loop.
//! - Parallel and vector loops count as sequential ones.
//!
//! # Where arrays lie
//! As a C library would put them: what is at least 128 KiB in pages of its own, 16 bytes behind their beginning, each
//! array directly behind the pages of the one before; smaller ones one after the other with 16 bytes between them.
//! Arrays of unknown size lie far from all others.
//!
//! # Sampling
//! A run of more accesses than [`TrafficOptions::max_accesses`] is sampled in two ways. First by *sets* (Kessler, Hill and
//! Wood, 1991): only lines of some residues modulo 64 are followed, each of which has sets of its own at every level, so
//! that what happens to them is exact. Iterations in which no access reaches such a line are stepped over, not run. A
//! number of sets that is no multiple of 64 is rounded down to one, if that changes the cache by no more than a
//! sixteenth; otherwise sets are not sampled. Then, where that is not enough, by *windows*: a loop runs only in some
//! places of its range, each time after iterations that warm the caches and are not counted.
//! [`Traffic::relative_error`] compares residues, and windows with their neighbours.

mod cache;
mod call;
mod form;
mod layout;
mod plan;
mod reuse;
mod run;
mod sample;
mod stream;
#[cfg(test)]
mod tests;
mod walk;

pub use call::Call;
pub use reuse::{ReuseDistances, ReuseHistogram, reuse_distances};
pub use run::{CallTraffic, NestTraffic, call_accesses, call_traffic, traffic};

use serde::{Deserialize, Serialize};

/// One cache of a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheGeometry {
    /// What it is called: `L1`, `L2`, …
    pub name: String,
    /// Capacity.
    pub bytes: u64,
    /// Bytes per line, a power of two and the same at all levels.
    pub line_bytes: u64,
    /// Lines per set.
    pub ways: u32,
}

impl CacheGeometry {
    /// How many sets there are. A capacity that is no multiple of line and ways is rounded down.
    pub fn n_sets(&self) -> u64 {
        self.bytes.checked_div(self.line_bytes.saturating_mul(u64::from(self.ways))).unwrap_or(0)
    }
}

/// How to count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrafficOptions {
    /// Run up to this many accesses one by one; sample what has more, at about this cost.
    pub max_accesses: u64,
    /// Where samples are taken, and what stands for indices that only the data know.
    pub seed: u64,
    /// Caches are empty at the beginning; otherwise they hold what an earlier run of the same nest left there.
    pub cold: bool,
}

impl Default for TrafficOptions {
    fn default() -> Self {
        Self { max_accesses: 4_000_000, seed: 1, cold: true }
    }
}

/// Bytes moved by a nest, or by several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// One per cache, nearest first.
    pub levels: Vec<LevelTraffic>,
    /// Accesses to memory, hits included.
    pub accesses: f64,
    /// Bytes of the distinct lines that must be brought in at least: what is surely touched, as if densely packed. Not
    /// above any level's `fill_bytes` for caches that were empty.
    pub compulsory_bytes: f64,
    /// Whether every access was known and run; otherwise something was sampled, drawn or over-approximated.
    pub exact: bool,
    /// For sampled results, about two standard errors of the last level's `fill_bytes`, as a fraction of it; zero
    /// otherwise. What over-approximation adds is not in it.
    pub relative_error: f64,
    /// What was not exact, in words.
    pub notes: Vec<String>,
}

/// What passes between one cache and what is beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelTraffic {
    /// The cache whose misses these are.
    pub name: String,
    /// Bytes of lines brought in from beyond.
    pub fill_bytes: f64,
    /// Bytes of lines written beyond, those that are still modified at the end included.
    pub write_back_bytes: f64,
}

impl LevelTraffic {
    /// Bytes in both directions.
    pub fn bytes(&self) -> f64 {
        self.fill_bytes + self.write_back_bytes
    }
}

/// Why there is no figure, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoTraffic(pub String);

//! Bytes that a nest moves between the levels of a cache hierarchy.
//!
//! A set-associative, write-allocate, write-back hierarchy with least-recently-used replacement is fed with the
//! addresses that the loop tree produces. Hits in a nearer cache are not seen by those beyond it, and dirty lines that
//! it evicts are handed to the next one without counting as a use there: the model of cachegrind, with write-backs
//! added.
//!
//! # What counts as an access
//! - Scalars live in registers and cause no traffic.
//! - In an innermost loop, accesses that its iterator does not move are in registers while it runs: they are touched
//!   once when it is entered and, if they write, once more when it is left. Accesses under a guard that depends on the
//!   iterator are excepted.
//! - Within a statement, the order is: reads of the value from left to right, reads in target indices, the target.
//! - Both sides of a data-dependent guard or selection are counted; a data-dependent index is drawn uniformly from its
//!   dimension. Either makes the result inexact. Data-dependent bounds give no result, unless an affine bound also
//!   limits the loop.
//! - Parallel and vector loops count as sequential.
//!
//! # Placement of arrays
//! As a C library would place them: arrays of at least 128 KiB in pages of their own, 16 bytes after the start, each
//! directly behind the pages of the one before; smaller ones one after the other with 16 bytes between them. Arrays of
//! unknown size lie far from all others.
//!
//! # Sampling
//! A run of more accesses than [`TrafficOptions::max_accesses`] is sampled in two ways. First by *sets* (Kessler, Hill
//! and Wood, 1991): only lines of some residues modulo 64 are followed. Each residue has sets of its own at every
//! level, so what happens to these lines is exact. Iterations in which no access reaches such a line are skipped. A
//! number of sets that is not a multiple of 64 is rounded down to one, if that changes the cache by no more than a
//! sixteenth; otherwise sets are not sampled. If that does not suffice, then by *windows*: a loop runs only in some
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
    /// Its name: `L1`, `L2`, …
    pub name: String,
    /// Capacity.
    pub bytes: u64,
    /// Bytes per line, a power of two and the same at all levels.
    pub line_bytes: u64,
    /// Lines per set.
    pub ways: u32,
}

impl CacheGeometry {
    /// The number of sets. A capacity that is not a multiple of line size times ways is rounded down.
    pub fn n_sets(&self) -> u64 {
        self.bytes.checked_div(self.line_bytes.saturating_mul(u64::from(self.ways))).unwrap_or(0)
    }
}

/// Counting options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrafficOptions {
    /// Up to this many accesses are run one by one; longer runs are sampled, at about this cost.
    pub max_accesses: u64,
    /// Seed for the places of samples and for data-dependent indices.
    pub seed: u64,
    /// Caches are empty at the start; otherwise they hold what an earlier run of the same nest left.
    pub cold: bool,
}

impl Default for TrafficOptions {
    fn default() -> Self {
        Self { max_accesses: 4_000_000, seed: 1, cold: true }
    }
}

/// Bytes moved by one nest or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// One per cache, nearest first.
    pub levels: Vec<LevelTraffic>,
    /// Accesses to memory, hits included.
    pub accesses: f64,
    /// Lower bound of the bytes brought in: the distinct lines that are sure to be touched, as if densely packed. Not
    /// above any level's `fill_bytes` for caches that were empty.
    pub compulsory_bytes: f64,
    /// Whether every access was known and run; otherwise something was sampled, drawn at random or over-approximated.
    pub exact: bool,
    /// For sampled results, about two standard errors of the last level's `fill_bytes`, as a fraction of it; zero
    /// otherwise. The error of over-approximation is not included.
    pub relative_error: f64,
    /// What was not exact, as sentences for the user.
    pub notes: Vec<String>,
}

/// What passes between one cache and the next level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelTraffic {
    /// The cache whose misses these are.
    pub name: String,
    /// Bytes of lines brought in from the next level.
    pub fill_bytes: f64,
    /// Bytes of lines written to the next level, including those still modified at the end.
    pub write_back_bytes: f64,
}

impl LevelTraffic {
    /// Bytes in both directions.
    pub fn bytes(&self) -> f64 {
        self.fill_bytes + self.write_back_bytes
    }
}

/// Why there is no figure, as a message for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoTraffic(pub String);

//! The machine that recipes are made for.

use serde::{Deserialize, Serialize};

/// What recipes need to know of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// First-level data cache per core, bytes.
    pub l1: u64,
    /// Second-level cache per core, bytes.
    pub l2: u64,
    /// Last-level cache, bytes.
    pub l3: u64,
    /// Threads to use.
    pub threads: u32,
    /// Width of a vector register, bytes.
    pub vector_bytes: u32,
}

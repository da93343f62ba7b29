//! What a profile is made from: plain numbers about a nest, however they were obtained.

use oxeye_host::{FloatType, HostProfile, Operation, Provenance, Quantity};
use serde::{Deserialize, Serialize};

/// Main memory as a level.
pub(crate) const MAIN_MEMORY: &str = "DRAM";

/// One nest: what was timed, counted and modelled. Everything but the name may be missing; reasons are in
/// [`NestInput::why_missing`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestInput {
    /// Number of the nest in its file.
    pub id: usize,
    /// Its place: `function:line`.
    pub name: String,
    /// Threads that the timed code uses.
    pub threads: u32,
    /// Widest vectors that the compile flags allow, in bits; 0 for scalars.
    pub max_vector_bits: u32,
    /// Time of one invocation that finds its data outside the caches, in nanoseconds.
    pub cold_ns: Option<Quantity>,
    /// Time of one invocation that finds the data as the invocation before left them, in nanoseconds.
    pub warm_ns: Option<Quantity>,
    /// Floating-point operations of one invocation: an addition, subtraction, multiplication, division or square root
    /// is one, a fused multiply-add two, a call of a mathematical function none (see [`NestInput::expensive`]).
    pub flops: Vec<Flops>,
    /// Divisions, square roots and exponentials of one invocation.
    pub expensive: Vec<ExpensiveOperations>,
    /// Bytes that each memory level serves to one invocation that starts with empty caches. See
    /// [`levels_served`].
    pub levels: Vec<LevelBytes>,
    /// Why they are not known, as a sentence of [`NestInput::why_missing`].
    #[serde(default)]
    pub why_no_levels: Option<String>,
    /// Distinct bytes that one invocation touches.
    pub footprint_bytes: Option<Quantity>,
    /// Bytes that any cache, however large, must move for one invocation that starts with empty caches: what is read
    /// before it is written, once, and what is written, once.
    pub compulsory_bytes: Option<Quantity>,
    /// Times of one warm invocation with other numbers of threads.
    pub scaling: Vec<ThreadTime>,
    /// Share of the program's time, from 0 to 1.
    pub share: Option<Quantity>,
    /// Readings of hardware and software counters, one invocation.
    pub counters: Vec<CounterValue>,
    /// What could not be obtained, and why, in sentences: `counters: refused by the kernel`.
    pub why_missing: Vec<String>,
}

/// Floating-point operations of one type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flops {
    /// The type.
    pub ty: FloatType,
    /// The count.
    pub count: Quantity,
}

/// Count of an expensive operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpensiveOperations {
    /// The operation.
    pub operation: Operation,
    /// The type.
    pub ty: FloatType,
    /// The count.
    pub count: Quantity,
}

/// Bytes that a memory level serves: what is read from it and written to it, whole lines beyond `L1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelBytes {
    /// `L1`, `L2`, .., `DRAM`, as in the host profile.
    pub level: String,
    /// The count.
    pub bytes: Quantity,
}

/// A time with a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadTime {
    /// Threads.
    pub threads: u32,
    /// Time of one invocation in nanoseconds.
    pub runtime_ns: Quantity,
}

/// The reading of a counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterValue {
    /// Name of the counter: `cycles`, `page-faults`.
    pub counter: String,
    /// Its reading.
    pub value: f64,
    /// Whether the counter was multiplexed, so that the reading is extrapolated.
    pub scaled: bool,
}

/// Traffic between one cache and the next level beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheTraffic {
    /// The cache: `L1`, `L2`, ..
    pub cache: String,
    /// Bytes of the lines it loads from beyond.
    pub fill_bytes: f64,
    /// Bytes of the modified lines it writes back.
    pub write_back_bytes: f64,
}

impl NestInput {
    /// A nest about which nothing is known yet.
    pub fn new(id: usize, name: impl Into<String>) -> NestInput {
        NestInput {
            id,
            name: name.into(),
            threads: 1,
            max_vector_bits: 0,
            cold_ns: None,
            warm_ns: None,
            flops: Vec::new(),
            expensive: Vec::new(),
            levels: Vec::new(),
            why_no_levels: None,
            footprint_bytes: None,
            compulsory_bytes: None,
            scaling: Vec::new(),
            share: None,
            counters: Vec::new(),
            why_missing: Vec::new(),
        }
    }
}

/// The traffic of caches, nearest first, as bytes that the memory levels serve: each level serves the traffic of the
/// cache before it, `DRAM` that of the last cache, and `L1` serves `access_bytes`, every access of the program's text.
/// A cache that is no level of the host profile is skipped, as its misses are among those of the next one.
pub fn levels_served(
    access_bytes: Option<f64>,
    caches: &[CacheTraffic],
    provenance: Provenance,
    host: &HostProfile,
) -> Vec<LevelBytes> {
    let figure = |value| Quantity { value, spread: 0.0, samples: 0, provenance };
    let mut served = Vec::new();
    let mut inner: Option<&CacheTraffic> = None;
    for (position, level) in host.levels().iter().enumerate() {
        let bytes = if position == 0 {
            access_bytes
        } else {
            inner.map(|cache| cache.fill_bytes + cache.write_back_bytes)
        };
        if let Some(bytes) = bytes {
            served.push(LevelBytes { level: level.name.clone(), bytes: figure(bytes) });
        }
        // Main memory lies beyond every modelled cache, whether the host profile has it as a level or not.
        let next_is_memory = host.levels().get(position + 1).is_some_and(|next| next.name == MAIN_MEMORY);
        inner = if next_is_memory { caches.last() } else { caches.iter().find(|c| c.cache == level.name) };
    }
    served
}

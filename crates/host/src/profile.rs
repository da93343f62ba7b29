//! The host profile.

use crate::quantity::{Provenance, Quantity};
use crate::topology::Topology;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Name and version of the file format.
pub const SCHEMA: &str = "oxeye.host/1";

/// What one machine can do. Its JSON form is the file format `oxeye.host/1`; see the crate's front page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostProfile {
    /// [`SCHEMA`].
    pub schema: String,
    /// Which machine this is.
    pub key: HostKey,
    /// Whether everything was measured thoroughly; `false` for the brief measurement made when a profile is needed at
    /// once.
    pub thorough: bool,
    /// When the measurement began: RFC 3339, UTC.
    pub measured_at: String,
    /// Time that the measurement took.
    pub seconds: f64,
    /// Processors, caches and memory, as the system reports them.
    pub topology: Topology,
    /// Clock rate of one busy core in GHz, from a chain of dependent additions; `None` where no chain with a known
    /// cycle count is at hand.
    pub clock_ghz: Option<Quantity>,
    /// Bandwidths by memory level, nearest first. Levels that could not be told apart are left out and noted.
    pub memory_levels: Vec<MemoryLevel>,
    /// Read bandwidth of one core by array size, in order of size: where the capacities and the cache bandwidths come
    /// from.
    pub curve: Vec<CurvePoint>,
    /// Peak rates of multiply-add.
    pub compute: Vec<PeakRate>,
    /// Rates of expensive operations, one core.
    pub rates: Vec<OperationRate>,
    /// Microseconds that an empty OpenMP parallel region takes with all cores.
    pub fork_join_us: Option<Quantity>,
    /// How noisy the machine was.
    pub noise: Noise,
    /// Why figures are missing, and remarks on the others.
    pub notes: Vec<String>,
    /// Figures under the names that Daisy's host files give them, at the top level of the file.
    #[serde(flatten)]
    pub daisy: DaisyKeys,
}

/// What identifies a machine for as long as its profile is valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostKey {
    /// Model name of the processor, with single blanks.
    pub cpu_model: String,
    /// Microcode revision as the system prints it; `unknown` where it does not.
    pub microcode: String,
    /// Physical cores this process may use, within the container's processor limit.
    pub cores: u32,
    /// Logical processors this process may use.
    pub threads: u32,
}

impl fmt::Display for HostKey {
    /// `AMD EPYC 7B13, 2 threads`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} threads", self.cpu_model, self.threads)
    }
}

/// One level of the memory hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryLevel {
    /// `L1`, `L2`, .., `DRAM`.
    pub name: String,
    /// 1 for `L1` and so on; main memory is one more than the last cache.
    pub level: u32,
    /// How large an array may be and still be read at this level's speed by one core, from the size sweep. `None` for
    /// main memory.
    pub capacity_bytes: Option<u64>,
    /// Measured bandwidths.
    pub bandwidths: Vec<Bandwidth>,
}

/// The bandwidth of one kernel at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The kernel.
    pub kernel: StreamKernel,
    /// With stores that go around the caches.
    pub non_temporal: bool,
    /// Cores at work, one thread each.
    pub threads: u32,
    /// Bytes that the program's text reads and writes, per nanosecond (10⁹ bytes per second), as McCalpin counts them:
    /// the line that an ordinary store reads before it writes is not counted. `value` is the best round, as
    /// STREAM reports it.
    pub gb_per_s: Quantity,
    /// The same of the median round.
    pub median_gb_per_s: f64,
}

/// The kernels of STREAM (McCalpin, "Memory bandwidth and machine balance in current high performance computers",
/// 1995) and its two halves, on f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKernel {
    /// Reads `a[i]`: 8 bytes.
    Load,
    /// `a[i] = s`: 8 bytes.
    Store,
    /// `c[i] = a[i]`: 16 bytes.
    Copy,
    /// `b[i] = s * c[i]`: 16 bytes.
    Scale,
    /// `c[i] = a[i] + b[i]`: 24 bytes.
    Add,
    /// `a[i] = b[i] + s * c[i]`: 24 bytes.
    Triad,
}

/// One point of the size sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Size of the array.
    pub bytes: u64,
    /// Best read bandwidth of one core, 10⁹ bytes per second.
    pub gb_per_s: f64,
    /// Median read bandwidth.
    pub median_gb_per_s: f64,
}

/// A floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FloatType {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

/// A peak rate of multiply-adds on registers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeakRate {
    /// The type.
    pub ty: FloatType,
    /// Width of the vectors; 0 for scalars.
    pub vector_bits: u32,
    /// Cores at work, one thread each.
    pub threads: u32,
    /// 10⁹ floating-point operations per second; a fused multiply-add is two. `value` is the best round.
    pub gflops: Quantity,
    /// The same of the median round.
    pub median_gflops: f64,
}

/// An expensive operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Division.
    Div,
    /// Square root.
    Sqrt,
    /// Exponential of the system's mathematical library (of its vector library for vectors).
    Exp,
}

/// The rate of independent expensive operations on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationRate {
    /// The operation.
    pub operation: Operation,
    /// The type.
    pub ty: FloatType,
    /// Width of the vectors; 0 for scalars.
    pub vector_bits: u32,
    /// 10⁹ results (elements, not vectors) per second. `value` is the best round.
    pub gop_per_s: Quantity,
}

/// The spread of the times of a fixed piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Median time of the work over its best time; 1 on an idle machine.
    pub median_slowdown: f64,
    /// The 95th percentile of the times, over the best time.
    pub p95_slowdown: f64,
    /// Processor time that a hypervisor gave to others while the profile was measured, as a fraction; `None` where
    /// the system does not tell.
    pub steal_fraction: Option<f64>,
    /// Whether times taken on this machine should be doubted.
    pub noisy: bool,
    /// All this in words.
    pub sentence: String,
}

/// Figures under Daisy's names and in Daisy's units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DaisyKeys {
    /// Processor: vendor, family and model as CPUID tells them, or the name of the architecture.
    pub arch: String,
    /// Sockets.
    pub num_sockets: u32,
    /// Physical cores of a socket.
    pub cores_per_socket: u32,
    /// Hardware threads of a core.
    pub threads_per_core: u32,
    /// Size of a second-level cache as the system tells, KiB.
    pub l2_cache: Option<u64>,
    /// Size of a third-level cache as the system tells, KiB.
    pub l3_cache: Option<u64>,
    /// Best read bandwidth of main memory, all cores, MB/s (10⁶ bytes per second).
    pub stream_load: Option<f64>,
    /// The same of writing, with ordinary or non-temporal stores, whichever is faster.
    pub stream_store: Option<f64>,
    /// The same of STREAM's copy.
    pub stream_copy: Option<f64>,
    /// The same of STREAM's triad.
    pub stream_triad: Option<f64>,
    /// Peak rate of scalar f64 arithmetic, all cores, 10⁶ operations per second.
    pub peakflops: Option<f64>,
    /// The same with the widest vectors.
    pub peakflops_avx: Option<f64>,
}

impl HostKey {
    /// The key of a machine with this topology.
    pub fn of(topology: &Topology) -> HostKey {
        HostKey {
            cpu_model: topology.cpu_model.clone(),
            microcode: topology.microcode.clone().unwrap_or_else(|| "unknown".into()),
            cores: topology.cores(),
            threads: topology.allowed_cpus.len().max(1) as u32,
        }
    }
}

impl HostProfile {
    /// Peak rate in GFLOP/s with the best vector width up to `max_vector_bits` (0: scalars only). Thread counts
    /// that were not measured are modelled: a multiple of one core, and never more than all cores together.
    pub fn peak_gflops(&self, ty: FloatType, threads: u32, max_vector_bits: u32) -> Option<Quantity> {
        let fits = |p: &&PeakRate| p.ty == ty && p.vector_bits <= max_vector_bits;
        let rates = || self.compute.iter().filter(fits).map(|p| (p.threads, p.gflops));
        at_threads(rates, threads)
    }

    /// The ceiling of a level (`L1`, `L2`, `L3`, `DRAM`) in GB/s: the largest rate at which any kernel was seen to move
    /// data between it and the level above, the lines that ordinary stores read before they write included (see
    /// [`MemoryLevel::traffic`]). It is what modelled or counted traffic may be compared with. For STREAM's own
    /// figures see [`HostProfile::triad`] and [`MemoryLevel::bandwidths`].
    pub fn bandwidth(&self, level_name: &str, threads: u32) -> Option<Quantity> {
        let level = self.memory_levels.iter().find(|l| l.name == level_name)?;
        at_threads(|| level.bandwidths.iter().map(|b| (b.threads, level.traffic(b))), threads)
    }

    /// STREAM triad of main memory in GB/s, as McCalpin counts it, with ordinary stores.
    pub fn triad(&self, threads: u32) -> Option<Quantity> {
        let level = self.memory_levels.iter().find(|l| l.name == "DRAM")?;
        let ordinary = |b: &&Bandwidth| b.kernel == StreamKernel::Triad && !b.non_temporal;
        at_threads(|| level.bandwidths.iter().filter(ordinary).map(|b| (b.threads, b.gb_per_s)), threads)
    }

    /// Bytes of a cache that a program can count on: from the sweep, else from the system. Per core for
    /// private caches, the whole of a shared one.
    pub fn cache_bytes(&self, level: u32) -> Option<u64> {
        let swept = self.memory_levels.iter().find(|l| l.level == level).and_then(|l| l.capacity_bytes);
        swept.or_else(|| self.topology.cache(level).map(|c| c.bytes))
    }

    /// Memory levels, nearest first.
    pub fn levels(&self) -> &[MemoryLevel] {
        &self.memory_levels
    }

    /// The most threads anything was measured with: one for each core that this process may use.
    pub fn all_cores(&self) -> u32 {
        self.key.cores
    }

    /// Whether the machine was so noisy that the ceilings may be too low: they are lower bounds then, and a nest that
    /// reaches one proves nothing.
    pub fn is_provisional(&self) -> bool {
        self.noise.noisy
    }

    /// Raises the peak of this many threads to an observed rate in GFLOP/s, if that is higher.
    pub fn raise_peak(&mut self, ty: FloatType, threads: u32, gflops: f64) -> bool {
        let known = self.peak_gflops(ty, threads, u32::MAX);
        if !known.is_some_and(|known| gflops.is_finite() && gflops > known.value) {
            return false;
        }
        for (threads, seen) in self.rates_behind(threads, gflops, |p| p.compute.iter().map(|c| c.threads)) {
            let of_threads = self.compute.iter_mut().filter(|p| p.ty == ty && p.threads == threads);
            let fastest = of_threads.max_by(|a, b| a.gflops.value.total_cmp(&b.gflops.value));
            if let Some(peak) = fastest {
                peak.gflops.value = peak.gflops.value.max(seen);
            }
        }
        true
    }

    /// Raises the [ceiling](HostProfile::bandwidth) of a level and this many threads to an observed rate in GB/s, if
    /// that is higher.
    pub fn raise_bandwidth(&mut self, level_name: &str, threads: u32, gb_per_s: f64) -> bool {
        let known = self.bandwidth(level_name, threads);
        if !known.is_some_and(|known| gb_per_s.is_finite() && gb_per_s > known.value) {
            return false;
        }
        let Some(idx) = self.memory_levels.iter().position(|l| l.name == level_name) else { return false };
        let behind = self
            .rates_behind(threads, gb_per_s, |p| p.memory_levels[idx].bandwidths.iter().map(|b| b.threads));
        let level = &mut self.memory_levels[idx];
        for (threads, seen) in behind {
            let traffic = |level: &MemoryLevel, k: usize| level.traffic(&level.bandwidths[k]).value;
            let of_threads = (0..level.bandwidths.len()).filter(|k| level.bandwidths[*k].threads == threads);
            let fastest = of_threads.max_by(|a, b| traffic(level, *a).total_cmp(&traffic(level, *b)));
            if let Some(k) = fastest {
                let factor = (seen / traffic(level, k)).max(1.0);
                level.bandwidths[k].gb_per_s.value *= factor;
            }
        }
        true
    }

    /// Raises every ceiling to that of another profile of the same machine where that is higher.
    pub(crate) fn raise_to(&mut self, other: &HostProfile) {
        for p in &mut self.compute {
            let same = other
                .compute
                .iter()
                .find(|o| (o.ty, o.vector_bits, o.threads) == (p.ty, p.vector_bits, p.threads));
            raise(&mut p.gflops, same.map(|o| o.gflops));
        }
        for r in &mut self.rates {
            let key = |o: &OperationRate| (o.operation, o.ty, o.vector_bits);
            let same = other.rates.iter().find(|o| key(o) == key(r));
            raise(&mut r.gop_per_s, same.map(|o| o.gop_per_s));
        }
        for level in &mut self.memory_levels {
            let Some(same) = other.memory_levels.iter().find(|o| o.name == level.name) else { continue };
            for b in &mut level.bandwidths {
                let key = |o: &Bandwidth| (o.kernel, o.non_temporal, o.threads);
                let same = same.bandwidths.iter().find(|o| key(o) == key(b));
                raise(&mut b.gb_per_s, same.map(|o| o.gb_per_s));
            }
        }
    }

    /// Which measured thread counts a rate of `threads` threads bears on, and the rate for each: that count itself if
    /// it was measured; else one thread, from which others are modelled, and the largest count.
    fn rates_behind<'a, I: Iterator<Item = u32>>(
        &'a self,
        threads: u32,
        rate: f64,
        measured: impl Fn(&'a HostProfile) -> I,
    ) -> Vec<(u32, f64)> {
        let most = measured(self).max().unwrap_or(threads);
        match measured(self).any(|n| n == threads) {
            true => vec![(threads, rate)],
            false if threads >= most => vec![(most, rate)],
            false => vec![(1, rate / f64::from(threads.max(1))), (most, rate)],
        }
    }

    /// Whether every figure is finite and positive.
    pub(crate) fn is_sound(&self) -> bool {
        let figures = self
            .compute
            .iter()
            .map(|p| p.gflops)
            .chain(self.rates.iter().map(|r| r.gop_per_s))
            .chain(self.memory_levels.iter().flat_map(|l| l.bandwidths.iter().map(|b| b.gb_per_s)))
            .chain(self.fork_join_us)
            .chain(self.clock_ghz);
        figures.into_iter().all(|f| f.value.is_finite() && f.value > 0.0 && f.spread.is_finite())
            && self.curve.iter().all(|p| p.gb_per_s.is_finite() && p.gb_per_s > 0.0)
    }
}

impl MemoryLevel {
    /// The bandwidth with everything counted that moves between this level and the one above it: beyond the nearest
    /// level an ordinary store reads its line first, so 4/3 of what McCalpin counts for triad and add, 3/2 for
    /// copy and scale, twice for store. Some processors save that reading when they write whole lines; the
    /// figure is then an upper bound, which a ceiling may be. It is marked as modelled where the factor is not 1.
    pub fn traffic(&self, bandwidth: &Bandwidth) -> Quantity {
        if self.level <= 1 || bandwidth.non_temporal || bandwidth.kernel == StreamKernel::Load {
            return bandwidth.gb_per_s;
        }
        let words = bandwidth.kernel.words() as f64;
        bandwidth.gb_per_s.scaled((words + 1.0) / words, Provenance::Modelled)
    }
}

impl StreamKernel {
    /// All of them, in STREAM's order after load and store.
    pub const ALL: [StreamKernel; 6] = [
        StreamKernel::Load,
        StreamKernel::Store,
        StreamKernel::Copy,
        StreamKernel::Scale,
        StreamKernel::Add,
        StreamKernel::Triad,
    ];

    /// Arrays that it reads or writes, each once.
    pub fn words(self) -> usize {
        match self {
            StreamKernel::Load | StreamKernel::Store => 1,
            StreamKernel::Copy | StreamKernel::Scale => 2,
            StreamKernel::Add | StreamKernel::Triad => 3,
        }
    }

    /// Its name, one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            StreamKernel::Load => "load",
            StreamKernel::Store => "store",
            StreamKernel::Copy => "copy",
            StreamKernel::Scale => "scale",
            StreamKernel::Add => "add",
            StreamKernel::Triad => "triad",
        }
    }
}

impl FloatType {
    /// Size of one in bits.
    pub fn bits(self) -> u32 {
        match self {
            FloatType::F32 => 32,
            FloatType::F64 => 64,
        }
    }

    /// `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            FloatType::F32 => "f32",
            FloatType::F64 => "f64",
        }
    }
}

impl Operation {
    /// Its name, one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Div => "div",
            Operation::Sqrt => "sqrt",
            Operation::Exp => "exp",
        }
    }
}

fn raise(ceiling: &mut Quantity, other: Option<Quantity>) {
    if let Some(other) = other.filter(|other| other.value > ceiling.value) {
        *ceiling = other;
    }
}

/// The best rate with a number of threads: measured if it was, else modelled between one core and all of them.
fn at_threads<I: Iterator<Item = (u32, Quantity)>>(rates: impl Fn() -> I, threads: u32) -> Option<Quantity> {
    let best = |n: u32| {
        let with_n = rates().filter(|(t, _)| *t == n).map(|(_, figure)| figure);
        with_n.max_by(|a, b| a.value.total_cmp(&b.value))
    };
    if let Some(measured) = best(threads) {
        return Some(measured);
    }
    let most = rates().map(|(t, _)| t).max()?;
    let all = best(most)?;
    if threads >= most {
        return Some(Quantity { provenance: Provenance::Modelled, ..all });
    }
    let one = best(1)?.scaled(f64::from(threads.max(1)), Provenance::Modelled);
    // Two cores may be slower than one where they share a bandwidth; the ceiling is the best that was seen.
    Some(if one.value <= all.value { one } else { Quantity { provenance: Provenance::Modelled, ..all } })
}

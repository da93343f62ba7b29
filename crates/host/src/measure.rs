//! The whole measurement: what is measured, in which order, and for how long.

use crate::bandwidth::{self, StreamPlan, SweepPlan};
use crate::error::HostError;
use crate::levels::{self, SweptLevels};
use crate::pool::Pool;
use crate::profile::{
    Bandwidth, DaisyKeys, FloatType, HostKey, HostProfile, MemoryLevel, PeakRate, SCHEMA, StreamKernel,
};
use crate::quantity::Quantity;
use crate::sampling::Patience;
use crate::topology::{Sources, Topology};
use crate::{clock, compute, fork_join, knees, noise};
use oxeye_measure::Compiler;
use std::time::Instant;

/// How much time a measurement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// At most about three seconds: main memory, the caches roughly, and the peak rates of scalars and the widest
    /// vectors. For a profile that is needed at once.
    Brief,
    /// About a minute: everything.
    Thorough,
}

/// The progress of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What is being measured now.
    pub label: &'static str,
    /// Approximate fraction that is done, 0 to 1.
    pub fraction: f64,
}

/// Sizes and time shares, all in bytes and seconds.
struct Plan {
    sweep_largest: u64,
    sweep_per_octave: u32,
    sweep_sample_s: f64,
    sweep_s: f64,
    cache_kernels: &'static [StreamKernel],
    cache_s: f64,
    memory_kernels: Vec<(StreamKernel, bool)>,
    /// Bounds of one of the three arrays.
    memory_array: (u64, u64),
    memory_s: f64,
    all_widths: bool,
    peaks_s: f64,
    operations_s: f64,
    fork_join: bool,
    noise_s: f64,
}

const MIB: u64 = 1 << 20;

impl Plan {
    fn of(effort: Effort) -> Plan {
        let ordinary = StreamKernel::ALL.map(|kernel| (kernel, false));
        let around = StreamKernel::ALL.map(|kernel| (kernel, true));
        match effort {
            Effort::Brief => Plan {
                sweep_largest: 128 * MIB,
                sweep_per_octave: 2,
                sweep_sample_s: 5e-4,
                sweep_s: 0.25,
                cache_kernels: &[StreamKernel::Load, StreamKernel::Triad],
                cache_s: 0.03,
                memory_kernels: vec![(StreamKernel::Load, false), (StreamKernel::Triad, false)],
                memory_array: (64 * MIB, 128 * MIB),
                memory_s: 0.2,
                all_widths: false,
                peaks_s: 0.3,
                operations_s: 0.0,
                fork_join: false,
                noise_s: 0.1,
            },
            Effort::Thorough => Plan {
                sweep_largest: 1024 * MIB,
                sweep_per_octave: 4,
                sweep_sample_s: 2e-3,
                sweep_s: 8.0,
                cache_kernels: &StreamKernel::ALL,
                cache_s: 1.0,
                memory_kernels: ordinary.into_iter().chain(around).collect(),
                memory_array: (128 * MIB, 1024 * MIB),
                memory_s: 9.0,
                all_widths: true,
                peaks_s: 7.0,
                operations_s: 4.0,
                fork_join: true,
                noise_s: 2.0,
            },
        }
    }
}

/// Measures this machine, on the processors this process may use, and keeps nothing.
///
/// `compiler` is needed for the cost of OpenMP's parallel regions only; `progress` is told about every step.
/// What cannot be measured is left out of the profile, and its notes say why.
///
/// # Errors
/// When no thread can be started.
pub fn measure(
    effort: Effort,
    compiler: Option<&Compiler>,
    progress: &mut dyn FnMut(Step),
) -> Result<HostProfile, HostError> {
    let (topology, notes) = Topology::read(&Sources::this_machine());
    measure_with(&topology, notes, &Plan::of(effort), effort, compiler, progress)
}

fn measure_with(
    topology: &Topology,
    notes: Vec<String>,
    plan: &Plan,
    effort: Effort,
    compiler: Option<&Compiler>,
    progress: &mut dyn FnMut(Step),
) -> Result<HostProfile, HostError> {
    let (start, measured_at) = (Instant::now(), clock::now_rfc3339());
    let mut progress = |label, fraction| progress(Step { label, fraction });
    progress("starting threads", 0.0);
    let pool = Pool::start(&topology.core_cpus)?;
    let mut run = Run { pool: &pool, topology, plan, notes };
    if !pool.pinned() {
        run.notes.push("threads: the system did not let them be kept on their cores".into());
    }
    let stolen_before = noise::ProcessorTimes::now();
    let mut times = noise::work_times(&pool, plan.noise_s / 2.0);
    progress("reading arrays of growing size", 0.02);
    let (curve, swept) = run.sweep();
    progress("bandwidths of the caches", 0.20);
    let mut memory_levels = run.caches(&swept);
    progress("bandwidths of main memory", 0.35);
    memory_levels.extend(run.memory(&swept));
    progress("peak rates", 0.78);
    let (compute, clock_ghz) = run.peaks();
    progress("rates of expensive operations", 0.90);
    let rates = if plan.operations_s > 0.0 {
        compute::operations(&pool, Patience::seconds(plan.operations_s))
    } else {
        run.notes.push("rates of div, sqrt and exp: not measured briefly".into());
        Vec::new()
    };
    progress("cost of parallel regions", 0.96);
    let fork_join_us = run.fork_join_us(compiler);
    progress("noise", 0.98);
    times.extend(noise::work_times(&pool, plan.noise_s / 2.0));
    let noise = noise::judge(&times, stolen_before, noise::ProcessorTimes::now());
    progress("done", 1.0);
    let notes = run.notes;
    Ok(HostProfile {
        schema: SCHEMA.into(),
        key: HostKey::of(topology),
        thorough: effort == Effort::Thorough,
        measured_at,
        seconds: start.elapsed().as_secs_f64(),
        daisy: daisy_keys(topology, &memory_levels, &compute),
        topology: topology.clone(),
        clock_ghz,
        memory_levels,
        curve,
        compute,
        rates,
        fork_join_us,
        noise,
        notes,
    })
}

/// One measurement under way.
struct Run<'a> {
    pool: &'a Pool,
    topology: &'a Topology,
    plan: &'a Plan,
    notes: Vec<String>,
}

impl Run<'_> {
    /// One thread and all of them.
    fn thread_counts(&self) -> Vec<u32> {
        let all = self.pool.len() as u32;
        if all > 1 { vec![1, all] } else { vec![1] }
    }

    /// A quarter of what is available, for all arrays together.
    fn memory_limit(&self) -> u64 {
        const UNKNOWN: u64 = 1024 * MIB;
        self.topology.available_memory_bytes.unwrap_or(UNKNOWN) / 4
    }

    fn sweep(&mut self) -> (Vec<crate::CurvePoint>, SweptLevels) {
        let largest = self.plan.sweep_largest.min(self.memory_limit());
        let plan = SweepPlan {
            largest: largest as usize,
            per_octave: self.plan.sweep_per_octave,
            sample_s: self.plan.sweep_sample_s,
            patience: Patience::seconds(self.plan.sweep_s),
        };
        let curve = match bandwidth::sweep(self.pool, plan) {
            Ok(curve) => curve,
            Err(error) => {
                self.notes.push(format!("caches: {error}"));
                return (Vec::new(), SweptLevels { memory_level: 1, ..SweptLevels::default() });
            }
        };
        let end = curve.last().map_or(0, |point| point.bytes);
        let mut swept = levels::name_plateaus(&knees::plateaus(&curve), self.topology, end);
        self.notes.append(&mut swept.notes);
        (curve, swept)
    }

    fn caches(&mut self, swept: &SweptLevels) -> Vec<MemoryLevel> {
        let mut levels = Vec::new();
        let mut before = 0;
        for cache in &swept.caches {
            let (name, capacity) = (format!("L{}", cache.level), cache.plateau.to_bytes);
            let mut bandwidths = Vec::new();
            for threads in self.thread_counts() {
                match part_of_cache(capacity, before, self.sharers(cache.level, threads)) {
                    Some(bytes) => bandwidths.extend(self.within_cache(&name, threads, bytes)),
                    None => self.notes.push(format!("{name} with {threads} threads: each one's part of it is hardly larger than the cache before, so that the two cannot be told apart")),
                }
            }
            before = capacity.max(self.topology.cache(cache.level).map_or(0, |c| c.bytes));
            levels.push(MemoryLevel { name, level: cache.level, capacity_bytes: Some(capacity), bandwidths });
        }
        levels
    }

    fn within_cache(&mut self, name: &str, threads: u32, bytes: u64) -> Vec<Bandwidth> {
        let kernels: Vec<(StreamKernel, bool)> =
            self.plan.cache_kernels.iter().map(|k| (*k, false)).collect();
        let plan = StreamPlan {
            kernels: &kernels,
            threads: threads as usize,
            bytes_per_thread: bytes as usize,
            sample_s: self.plan.sweep_sample_s,
            patience: Patience::seconds(self.plan.cache_s),
        };
        self.noted(name, bandwidth::within_cache(self.pool, &plan))
    }

    /// How many of the threads, one a core, share a cache of this level.
    fn sharers(&self, level: u32, threads: u32) -> u32 {
        let shared_by = match self.topology.cache(level) {
            Some(cache) => cache.shared_by,
            // The usual numbers, if the system does not tell.
            None if level <= 2 => 1,
            None => u32::MAX,
        };
        (shared_by / self.topology.threads_per_core.max(1)).clamp(1, threads)
    }

    fn memory(&mut self, swept: &SweptLevels) -> Option<MemoryLevel> {
        const ARRAYS: u64 = 3;
        let (least, most) = self.plan.memory_array;
        // McCalpin asks for arrays of four times the caches; of caches that are shared with strangers only the part
        // counts that the sweep could use.
        let wanted = (4 * swept.beyond_caches.unwrap_or(0)).clamp(least, most);
        let array = wanted.min(self.memory_limit() / ARRAYS);
        if array < wanted || 4 * swept.beyond_caches.unwrap_or(0) > most {
            self.notes.push(format!(
                "DRAM: arrays of {} MiB each instead of {} MiB, four times what caches were seen to hold",
                array / MIB,
                4 * swept.beyond_caches.unwrap_or(0) / MIB
            ));
        }
        let mut bandwidths = Vec::new();
        for threads in self.thread_counts() {
            let plan = StreamPlan {
                kernels: &self.plan.memory_kernels,
                threads: threads as usize,
                bytes_per_thread: (ARRAYS * array / u64::from(threads)) as usize,
                sample_s: self.plan.sweep_sample_s,
                patience: Patience::seconds(self.plan.memory_s),
            };
            let measured = bandwidth::from_memory(self.pool, &plan);
            bandwidths.extend(self.noted("DRAM", measured));
        }
        if !bandwidths.iter().any(|b| b.non_temporal) {
            self.notes.push(match self.plan.all_widths {
                true => "non-temporal stores: there are none for this processor".into(),
                false => "DRAM: only load and triad with ordinary stores are measured briefly".into(),
            });
        }
        let level =
            MemoryLevel { name: "DRAM".into(), level: swept.memory_level, capacity_bytes: None, bandwidths };
        (!level.bandwidths.is_empty()).then_some(level)
    }

    fn noted(&mut self, what: &str, measured: Result<Vec<Bandwidth>, HostError>) -> Vec<Bandwidth> {
        measured.unwrap_or_else(|error| {
            self.notes.push(format!("{what}: {error}"));
            Vec::new()
        })
    }

    fn peaks(&mut self) -> (Vec<PeakRate>, Option<Quantity>) {
        let mut widths = compute::widths();
        if !self.plan.all_widths && widths.len() > 2 {
            widths.drain(1..widths.len() - 1);
            self.notes
                .push("peak rates: only those of scalars and the widest vectors are measured briefly".into());
        }
        if widths.len() == 1 {
            self.notes.push(
                "peak rates: there are no vector kernels for this processor; those of scalars are of portable code, which the compiler may have vectorized".into(),
            );
        }
        let patience = Patience::seconds(self.plan.peaks_s);
        let (peaks, clock_ghz) = compute::peaks(self.pool, &self.thread_counts(), &widths, patience);
        if clock_ghz.is_none() {
            self.notes.push("clock rate: there is no chain of known cycles for this processor".into());
        }
        (peaks, clock_ghz)
    }

    fn fork_join_us(&mut self, compiler: Option<&Compiler>) -> Option<Quantity> {
        if !self.plan.fork_join {
            self.notes.push("cost of OpenMP parallel regions: not measured briefly".into());
            return None;
        }
        match fork_join::fork_join_us(compiler, self.pool.len() as u32) {
            Ok(figure) => Some(figure),
            Err(why) => {
                self.notes.push(format!("cost of OpenMP parallel regions: {why}"));
                None
            }
        }
    }
}

/// How many bytes each of the threads uses to measure a cache that they share, where the cache before it holds `before`
/// bytes. The nearest cache is half filled, so that starting a kernel weighs little. Of the others four times the cache
/// before is used: a cache shared by many cores gets slower the more of it is used, and the figure is to be a ceiling.
/// `None` where that does not fit.
fn part_of_cache(capacity: u64, before: u64, sharers: u32) -> Option<u64> {
    if before == 0 {
        return Some(capacity / 2 / u64::from(sharers));
    }
    let part = (4 * before).min(capacity / 4 * 3 / u64::from(sharers));
    (2 * part >= 3 * before).then_some(part)
}

fn daisy_keys(topology: &Topology, levels: &[MemoryLevel], compute: &[PeakRate]) -> DaisyKeys {
    let all = topology.cores();
    let kib = |level: u32| topology.cache(level).map(|cache| cache.bytes / 1024);
    let memory = levels.iter().find(|l| l.name == "DRAM");
    let mb_per_s = |kernel: StreamKernel| {
        let rates = memory?.bandwidths.iter().filter(|b| b.kernel == kernel && b.threads == all);
        rates.map(|b| b.gb_per_s.value * 1e3).max_by(f64::total_cmp)
    };
    let mflops = |wide: bool| {
        let fits = |p: &&PeakRate| p.ty == FloatType::F64 && p.threads == all && (p.vector_bits > 0) == wide;
        compute.iter().filter(fits).map(|p| p.gflops.value * 1e3).max_by(f64::total_cmp)
    };
    DaisyKeys {
        arch: topology.cpu_id.clone().unwrap_or_else(|| topology.architecture.clone()),
        num_sockets: topology.sockets,
        cores_per_socket: topology.cores_per_socket,
        threads_per_core: topology.threads_per_core,
        l2_cache: kib(2),
        l3_cache: kib(3),
        stream_load: mb_per_s(StreamKernel::Load),
        stream_store: mb_per_s(StreamKernel::Store),
        stream_copy: mb_per_s(StreamKernel::Copy),
        stream_triad: mb_per_s(StreamKernel::Triad),
        peakflops: mflops(false),
        peakflops_avx: mflops(true),
    }
}

#[cfg(test)]
mod tests;

//! What schedules need to know of the machine: caches, cores, vector width.

use oxeye_codegen::Isa;
use oxeye_embed::HostVector;
use oxeye_host::{FloatType, HostProfile};
use oxeye_measure::{Compiler, Invocation, Limits, run_program};
use serde::Serialize;

/// The machine the figures were measured on.
#[derive(Clone, Debug, Serialize)]
pub struct HostReport {
    /// Processor model, if the system tells.
    pub cpu: Option<String>,
    /// Cores this process may run on.
    pub cores: u32,
    /// Bytes of first-level data cache.
    pub l1_bytes: u64,
    /// Bytes of second-level cache.
    pub l2_bytes: u64,
    /// Bytes of last-level cache.
    pub l3_bytes: u64,
    /// Bytes of the widest vector register that the compile flags allow.
    pub vector_bytes: u32,
    /// Most bytes that all cores together move to and from main memory, 10⁹ per second.
    pub dram_gb_per_s: Option<f64>,
    /// Most floating-point operations that all cores together do on f64, 10⁹ per second.
    pub peak_f64_gflops: Option<f64>,
    /// Whether the machine was measured with care (`oxeye host`) and not only briefly.
    pub thorough: bool,
    /// Whether it was busy then, so that its ceilings are lower bounds and stopped nothing.
    pub provisional: bool,
}

/// The machine as its profile and the compiler describe it. Assumed sizes stand in for what is not known.
pub(crate) fn detect(compiler: &Compiler, profile: Option<&HostProfile>) -> HostReport {
    let cache = |level, assumed| profile.and_then(|p| cache_bytes(p, level)).unwrap_or(assumed);
    let l2_bytes = cache(2, 512 << 10);
    let all_cores = |p: &HostProfile| p.all_cores();
    HostReport {
        cpu: profile.map(|p| p.key.cpu_model.clone()),
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        l1_bytes: cache(1, 32 << 10),
        l2_bytes,
        l3_bytes: cache(3, 8 << 20).max(l2_bytes),
        vector_bytes: vector_bytes(compiler),
        dram_gb_per_s: profile.and_then(|p| Some(p.bandwidth("DRAM", all_cores(p))?.value)),
        peak_f64_gflops: profile
            .and_then(|p| Some(p.peak_gflops(FloatType::F64, all_cores(p), u32::MAX)?.value)),
        thorough: profile.is_some_and(|p| p.thorough),
        provisional: profile.is_some_and(HostProfile::is_provisional),
    }
}

/// The machine as feature vectors have it. Caches are as the system tells them, as they are where encoders are trained.
pub(crate) fn vector(host: &HostReport, profile: Option<&HostProfile>, threads: u32) -> HostVector {
    let told = |level| profile.and_then(|p| Some(p.topology.cache(level)?.bytes));
    let bytes = |level, known: u64| Some(told(level).unwrap_or(known) as f64);
    HostVector {
        l1_bytes: bytes(1, host.l1_bytes),
        l2_bytes: bytes(2, host.l2_bytes),
        l3_bytes: bytes(3, host.l3_bytes),
        cores: profile.map(|p| f64::from(p.topology.cores())).or(Some(f64::from(host.cores))),
        threads: Some(f64::from(threads)),
        vector_bytes: Some(f64::from(host.vector_bytes)),
        ..profile.map(host_rates).unwrap_or_default()
    }
}

/// The rates of a machine as feature vectors have them: peaks, bandwidths and clock, of all cores together.
pub fn host_rates(profile: &HostProfile) -> HostVector {
    let peak = |ty| Some(profile.peak_gflops(ty, profile.all_cores(), u32::MAX)?.value);
    let bandwidth = |level| Some(profile.bandwidth(level, profile.all_cores())?.value);
    HostVector {
        peak_f32_gflops: peak(FloatType::F32),
        peak_f64_gflops: peak(FloatType::F64),
        l1_gb_per_s: bandwidth("L1"),
        l2_gb_per_s: bandwidth("L2"),
        l3_gb_per_s: bandwidth("L3"),
        dram_gb_per_s: bandwidth("DRAM"),
        clock_ghz: profile.clock_ghz.as_ref().map(|clock| clock.value),
        ..HostVector::default()
    }
}

/// Bytes of a cache that a program can count on. What a short measurement found is not better than what the system
/// says; a long one is, where a cache is shared with strangers.
fn cache_bytes(profile: &HostProfile, level: u32) -> Option<u64> {
    let told = profile.topology.cache(level).map(|c| c.bytes);
    let found = profile.cache_bytes(level).filter(|_| profile.thorough);
    match (told, found) {
        (Some(told), Some(found)) => Some(told.min(found)),
        (told, found) => told.or(found).or_else(|| profile.cache_bytes(level)),
    }
}

/// Bytes of main memory; an assumed 8 GiB if the system does not tell.
pub(crate) fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.map_or(8 << 30, |k| k << 10)
}

/// Whether this processor has these instructions.
pub(crate) fn has(isa: Isa) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = std::arch::is_x86_feature_detected!("avx2");
        let fma = std::arch::is_x86_feature_detected!("fma");
        match isa {
            Isa::Avx2 => avx2,
            Isa::Avx2Fma => avx2 && fma,
            Isa::Avx512 => {
                fma && std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = isa;
        false
    }
}

/// Bytes of the widest vector register under the user's flags, by the macros the compiler defines; 16 if unknown.
fn vector_bytes(compiler: &Compiler) -> u32 {
    let flags = compiler.args.iter().filter(|a| a.starts_with("-m") || a.starts_with("-O")).cloned();
    let invocation =
        Invocation::new(&compiler.program).args(flags).args(["-dM", "-E", "-x", "c", "/dev/null"]);
    let limits = Limits { seconds: 20.0, ..Limits::default() };
    let Ok(outcome) = run_program(&invocation, &limits) else { return 16 };
    let macros = String::from_utf8_lossy(&outcome.stdout);
    let defines = |name: &str| macros.lines().any(|l| l.split_whitespace().nth(1) == Some(name));
    match () {
        () if defines("__AVX512F__") => 64,
        () if defines("__AVX__") => 32,
        () => 16,
    }
}

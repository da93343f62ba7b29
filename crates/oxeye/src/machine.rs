//! What schedules need to know of the machine: caches, cores, vector width.

use crate::report::HostReport;
use oxeye_measure::{Compiler, Invocation, Limits, run_program};
use std::path::Path;

/// The machine as the system and the compiler describe it. Assumed sizes stand in for what they do not tell.
pub(crate) fn detect(compiler: &Compiler) -> HostReport {
    let cache = |level, assumed| {
        cache_bytes(Path::new("/sys/devices/system/cpu/cpu0/cache"), level).unwrap_or(assumed)
    };
    let l2_bytes = cache(2, 512 << 10);
    HostReport {
        cpu: cpu_model(),
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        l1_bytes: cache(1, 32 << 10),
        l2_bytes,
        l3_bytes: cache(3, 8 << 20).max(l2_bytes),
        vector_bytes: vector_bytes(compiler),
    }
}

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Bytes of main memory; an assumed 8 GiB if the system does not tell.
pub(crate) fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.map_or(8 << 30, |k| k << 10)
}

/// Bytes of the data or unified cache of a level, from Linux's description of a core.
fn cache_bytes(folder: &Path, level: u32) -> Option<u64> {
    (0..8).find_map(|index| {
        let read = |name| std::fs::read_to_string(folder.join(format!("index{index}/{name}"))).ok();
        let matches = read("level")?.trim() == level.to_string() && read("type")?.trim() != "Instruction";
        let size = read("size")?;
        let size = size.trim();
        let (digits, unit) = size.split_at(size.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
        let scale = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => 1,
        };
        matches.then_some(digits.parse::<u64>().ok()? * scale)
    })
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

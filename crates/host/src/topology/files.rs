//! The files below `/proc` and `/sys`.

use super::cache::CacheInfo;
use std::path::Path;

/// The folder that has `proc` and `sys` in it.
pub(super) struct Root<'a>(pub(super) &'a Path);

impl Root<'_> {
    /// A file's text without blanks at its ends.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.0.join(path)).ok()?;
        Some(text.trim().to_owned())
    }

    /// A file that holds one number that is not negative.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds a list such as `0-3,8`.
    pub(super) fn list(&self, path: &str) -> Option<Vec<u32>> {
        parse_list(&self.text(path)?)
    }
}

/// Numbers and ranges, both ends included. `None` for anything else, and for absurdly long ranges.
pub(super) fn parse_list(text: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 1 << 16;
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// `/proc/cpuinfo`: one list of names and values for each logical processor.
pub(super) struct CpuInfo(Vec<Vec<(String, String)>>);

impl CpuInfo {
    pub(super) fn read(root: &Root<'_>) -> CpuInfo {
        let text = root.text("proc/cpuinfo").unwrap_or_default();
        let pair = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
        };
        let blocks = text.split("\n\n").map(|block| block.lines().filter_map(pair).collect());
        CpuInfo(blocks.filter(|block: &Vec<_>| !block.is_empty()).collect())
    }

    /// The first value of a name that is not empty.
    pub(super) fn first(&self, name: &str) -> Option<String> {
        let mut all = self.0.iter().flatten();
        all.find(|(n, value)| n == name && !value.is_empty()).map(|(_, value)| value.clone())
    }

    pub(super) fn cpus(&self) -> Vec<u32> {
        self.0.iter().filter_map(|block| value(block, "processor")?.parse().ok()).collect()
    }

    /// Socket and core of a logical processor.
    pub(super) fn place(&self, cpu: u32) -> Option<(u32, u32)> {
        let of_cpu = |block: &&Vec<(String, String)>| {
            value(block, "processor").and_then(|v| v.parse().ok()) == Some(cpu)
        };
        let block = self.0.iter().find(of_cpu)?;
        Some((value(block, "physical id")?.parse().ok()?, value(block, "core id")?.parse().ok()?))
    }

    pub(super) fn model_name(&self) -> Option<String> {
        self.first("model name").or_else(|| self.first("cpu")).or_else(|| self.first("Hardware"))
    }

    pub(super) fn cpu_id(&self) -> Option<String> {
        let vendor = self.first("vendor_id")?;
        Some(format!("{vendor}-{}-{}", self.first("cpu family")?, self.first("model")?))
    }

    pub(super) fn vector_extensions(&self) -> Vec<String> {
        let flags = self.first("flags").or_else(|| self.first("Features")).unwrap_or_default();
        const KNOWN: [&str; 12] = [
            "neon",
            "asimd",
            "sve",
            "sve2",
            "sse2",
            "sse4_2",
            "avx",
            "fma",
            "avx2",
            "avx512f",
            "avx512_fp16",
            "amx_tile",
        ];
        let has = |name: &&&str| flags.split(' ').any(|flag| flag == **name);
        KNOWN.iter().filter(has).map(|name| (*name).to_owned()).collect()
    }
}

fn value<'a>(block: &'a [(String, String)], name: &str) -> Option<&'a str> {
    block.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// Data and unified caches of a logical processor, nearest first.
pub(super) fn caches(root: &Root<'_>, cpu: u32) -> Vec<CacheInfo> {
    let folder = |idx: u32| format!("sys/devices/system/cpu/cpu{cpu}/cache/index{idx}");
    let cache = |idx: u32| {
        let at = |name: &str| format!("{}/{name}", folder(idx));
        if root.text(&at("type"))? == "Instruction" {
            return None;
        }
        let bytes = parse_size(&root.text(&at("size"))?)?;
        Some(CacheInfo {
            level: u32::try_from(root.number(&at("level"))?).ok()?,
            bytes,
            line_bytes: root.number(&at("coherency_line_size")).filter(|bytes| *bytes > 0),
            ways: root.number(&at("ways_of_associativity")).map(|w| w as u32).filter(|ways| *ways > 0),
            shared_by: root.list(&at("shared_cpu_list")).map_or(1, |cpus| cpus.len().max(1) as u32),
        })
    };
    let mut caches: Vec<CacheInfo> =
        (0..16).filter_map(cache).filter(|c| c.bytes > 0 && c.level > 0).collect();
    caches.sort_by_key(|c| c.level);
    caches.dedup_by_key(|c| c.level);
    caches
}

/// `48K`, `2048K`, `8M`, or bytes.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(unit)
}

/// Main memory in bytes.
pub(super) struct Memory {
    pub(super) total: Option<u64>,
    pub(super) available: Option<u64>,
}

pub(super) fn memory(root: &Root<'_>) -> Memory {
    let text = root.text("proc/meminfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    Memory { total: field("MemTotal"), available: field("MemAvailable").or_else(|| field("MemFree")) }
}

pub(super) fn huge_pages(root: &Root<'_>) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(root.0.join("sys/kernel/mm/hugepages")) else { return Vec::new() };
    let size = |name: &str| parse_size(&name.strip_prefix("hugepages-")?.to_ascii_uppercase());
    let mut sizes: Vec<u64> =
        entries.flatten().filter_map(|entry| size(&entry.file_name().to_string_lossy())).collect();
    sizes.sort_unstable();
    sizes
}

/// The choice in brackets, as in `always [madvise] never`.
pub(super) fn transparent_huge_pages(root: &Root<'_>) -> Option<String> {
    let text = root.text("sys/kernel/mm/transparent_hugepage/enabled")?;
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

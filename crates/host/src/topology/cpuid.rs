//! The processor, as CPUID describes it.

#[cfg(not(target_arch = "x86_64"))]
pub(super) use elsewhere::*;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::*;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::topology::CacheInfo;
    use std::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};

    fn leaf(leaf: u32) -> Option<CpuidResult> {
        (leaf <= __cpuid(leaf & 0x8000_0000).eax).then(|| __cpuid(leaf))
    }

    fn vendor() -> String {
        let r = __cpuid(0);
        let bytes: Vec<u8> = [r.ebx, r.edx, r.ecx].into_iter().flat_map(u32::to_le_bytes).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(in crate::topology) fn brand() -> Option<String> {
        leaf(0x8000_0004)?;
        let words = (0x8000_0002..=0x8000_0004).flat_map(|l| {
            let r = __cpuid(l);
            [r.eax, r.ebx, r.ecx, r.edx]
        });
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).take_while(|b| *b != 0).collect();
        let text = String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    }

    pub(in crate::topology) fn cpu_id() -> Option<String> {
        let eax = leaf(1)?.eax;
        let (mut family, mut model) = ((eax >> 8) & 0xf, (eax >> 4) & 0xf);
        if family == 6 || family == 15 {
            model += ((eax >> 16) & 0xf) << 4;
        }
        if family == 15 {
            family += (eax >> 20) & 0xff;
        }
        Some(format!("{}-{family}-{model}", vendor()))
    }

    /// Deterministic cache parameters: leaf 4, and leaf 8000_001D on processors that follow AMD.
    pub(in crate::topology) fn caches() -> Vec<CacheInfo> {
        let vendor = vendor();
        let amd = vendor == "AuthenticAMD" || vendor == "HygonGenuine";
        let source = if amd { 0x8000_001d } else { 4 };
        if leaf(source).is_none() {
            return Vec::new();
        }
        let mut caches = Vec::new();
        for idx in 0..16 {
            let r = __cpuid_count(source, idx);
            match r.eax & 0x1f {
                0 => break,
                1 | 3 => {}
                _ => continue,
            }
            let line = u64::from(r.ebx & 0xfff) + 1;
            let partitions = u64::from((r.ebx >> 12) & 0x3ff) + 1;
            let ways = (r.ebx >> 22) + 1;
            let sets = u64::from(r.ecx) + 1;
            caches.push(CacheInfo {
                level: (r.eax >> 5) & 7,
                bytes: line * partitions * u64::from(ways) * sets,
                line_bytes: Some(line),
                ways: (r.eax & (1 << 9) == 0).then_some(ways),
                shared_by: ((r.eax >> 14) & 0xfff) + 1,
            });
        }
        caches
    }

    pub(in crate::topology) fn vector_extensions() -> Vec<String> {
        let known = [
            ("sse2", is_x86_feature_detected!("sse2")),
            ("sse4_2", is_x86_feature_detected!("sse4.2")),
            ("avx", is_x86_feature_detected!("avx")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx2", is_x86_feature_detected!("avx2")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
        ];
        known.into_iter().filter(|(_, there)| *there).map(|(name, _)| name.to_owned()).collect()
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use crate::topology::CacheInfo;

    pub(in crate::topology) fn brand() -> Option<String> {
        None
    }

    pub(in crate::topology) fn cpu_id() -> Option<String> {
        None
    }

    pub(in crate::topology) fn caches() -> Vec<CacheInfo> {
        Vec::new()
    }

    /// `std` detects them at compile time only; the measurements use portable code here.
    pub(in crate::topology) fn vector_extensions() -> Vec<String> {
        Vec::new()
    }
}

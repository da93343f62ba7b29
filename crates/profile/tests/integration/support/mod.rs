//! A made-up machine: two cores with three caches, f64 peak 236 GFLOP/s.

use oxeye_host::{
    Bandwidth, CacheInfo, ContainerLimits, CurvePoint, DaisyKeys, FloatType, HostKey, HostProfile,
    MemoryLevel, Noise, Operation, OperationRate, PeakRate, Provenance, Quantity, StreamKernel, Topology,
};

/// A measured figure.
pub(crate) fn measured(value: f64, spread: f64) -> Quantity {
    Quantity { value, spread, samples: 15, provenance: Provenance::Measured }
}

/// A counted figure.
pub(crate) fn counted(value: f64) -> Quantity {
    Quantity { value, spread: 0.0, samples: 0, provenance: Provenance::Counted }
}

/// The machine.
pub(crate) fn host() -> HostProfile {
    let levels = [
        ("L1", 1, Some(46 << 10), [398.0, 792.0], [310.0, 600.0]),
        ("L2", 2, Some(1920 << 10), [158.0, 312.0], [101.0, 196.0]),
        ("L3", 3, Some(24 << 20), [33.0, 61.0], [24.0, 45.0]),
        ("DRAM", 4, None, [13.5, 21.5], [9.6, 15.2]),
    ];
    let memory_levels = levels.map(|(name, level, capacity_bytes, load, triad)| {
        let kernel = |kernel, rates: [f64; 2]| {
            [1, 2].map(|threads| Bandwidth {
                kernel,
                non_temporal: false,
                threads,
                gb_per_s: measured(rates[threads as usize - 1], 0.02),
                median_gb_per_s: rates[threads as usize - 1] * 0.98,
            })
        };
        let bandwidths = [kernel(StreamKernel::Load, load), kernel(StreamKernel::Triad, triad)].concat();
        MemoryLevel { name: name.into(), level, capacity_bytes, bandwidths }
    });
    let mut compute = Vec::new();
    for (ty, factor) in [(FloatType::F64, 1.0), (FloatType::F32, 2.0)] {
        for (vector_bits, rate) in [(0, 7.4), (128, 29.4), (256, 59.0), (512, 118.0)] {
            for threads in [1, 2] {
                let scale = if vector_bits == 0 { 1.0 } else { factor };
                let gflops = measured(rate * scale * f64::from(threads), 0.01);
                compute.push(PeakRate {
                    ty,
                    vector_bits,
                    threads,
                    gflops,
                    median_gflops: gflops.value * 0.99,
                });
            }
        }
    }
    let rate = |operation, gop_per_s| OperationRate {
        operation,
        ty: FloatType::F64,
        vector_bits: 512,
        gop_per_s: measured(gop_per_s, 0.02),
    };
    HostProfile {
        schema: "oxeye.host/1".into(),
        key: HostKey {
            cpu_model: "Example Processor 8000 @ 2.60GHz".into(),
            microcode: "0x1".into(),
            cores: 2,
            threads: 2,
        },
        thorough: true,
        measured_at: "2026-11-21T10:00:00Z".into(),
        seconds: 74.0,
        topology: topology(),
        clock_ghz: Some(measured(3.68, 0.01)),
        memory_levels: memory_levels.into(),
        curve: curve(),
        compute,
        rates: vec![rate(Operation::Div, 1.8), rate(Operation::Sqrt, 1.2), rate(Operation::Exp, 0.9)],
        fork_join_us: Some(measured(4.2, 0.1)),
        noise: Noise {
            median_slowdown: 1.01,
            p95_slowdown: 1.06,
            steal_fraction: Some(0.0),
            noisy: false,
            sentence: "quiet: the median of a fixed piece of work took 1 % longer than the best".into(),
        },
        notes: Vec::new(),
        daisy: DaisyKeys::default(),
    }
}

fn topology() -> Topology {
    let cache = |level, bytes, ways, shared_by| CacheInfo {
        level,
        bytes,
        line_bytes: Some(64),
        ways: Some(ways),
        shared_by,
    };
    Topology {
        architecture: "x86_64".into(),
        cpu_model: "Example Processor 8000 @ 2.60GHz".into(),
        cpu_id: None,
        microcode: None,
        sockets: 1,
        cores_per_socket: 2,
        threads_per_core: 1,
        numa_nodes: 1,
        allowed_cpus: vec![0, 1],
        core_cpus: vec![0, 1],
        vector_extensions: ["sse2", "avx", "avx2", "avx512f"].map(String::from).into(),
        caches: vec![cache(1, 48 << 10, 12, 1), cache(2, 2 << 20, 16, 1), cache(3, 30 << 20, 15, 2)],
        page_bytes: 4096,
        huge_page_bytes: vec![2 << 20],
        transparent_huge_pages: Some("madvise".into()),
        memory_bytes: Some(8 << 30),
        available_memory_bytes: Some(7 << 30),
        container: ContainerLimits::default(),
    }
}

/// Read bandwidth by size: a plateau for each level, with smooth steps between.
fn curve() -> Vec<CurvePoint> {
    let plateaus = [(46e3, 398.0), (1.9e6, 158.0), (24e6, 33.0), (f64::INFINITY, 13.5)];
    let mut points = Vec::new();
    let mut bytes = 4096.0_f64;
    while bytes < 512e6 {
        let mut rate = plateaus[3].1;
        for window in plateaus.windows(2).rev() {
            let ((capacity, near), (_, _)) = (window[0], window[1]);
            let weight = 1.0 / (1.0 + (bytes / capacity).powi(6));
            rate = near * weight + rate * (1.0 - weight);
        }
        let gb_per_s = rate;
        points.push(CurvePoint { bytes: bytes as u64, gb_per_s, median_gb_per_s: gb_per_s * 0.97 });
        bytes *= std::f64::consts::SQRT_2;
    }
    points
}

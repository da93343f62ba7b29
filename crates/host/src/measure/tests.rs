use super::*;

/// The least that can be measured.
fn tiny() -> Plan {
    Plan {
        sweep_largest: MIB,
        sweep_per_octave: 1,
        sweep_sample_s: 1e-5,
        sweep_s: 0.0,
        cache_s: 0.0,
        memory_array: (MIB, MIB),
        memory_s: 0.0,
        peaks_s: 0.0,
        noise_s: 0.01,
        ..Plan::of(Effort::Brief)
    }
}

fn measured(change: impl Fn(&mut Topology)) -> HostProfile {
    let (mut topology, notes) = Topology::read(&Sources::this_machine());
    change(&mut topology);
    let mut fractions = Vec::new();
    let mut progress = |step: Step| fractions.push(step.fraction);
    let profile = measure_with(&topology, notes, &tiny(), Effort::Brief, None, &mut progress);
    assert!(fractions.is_sorted() && fractions.last() == Some(&1.0), "{fractions:?}");
    profile.expect("threads start")
}

#[test]
fn a_tiny_measurement_gives_sane_figures() {
    let profile = measured(|_| {});
    assert!(profile.is_sound() && !profile.thorough && profile.schema == SCHEMA);
    assert!(!profile.curve.is_empty());
    let all = profile.all_cores();
    for threads in [1, all, all + 7] {
        let load = profile.bandwidth("DRAM", threads).expect("main memory is always measured");
        assert!(load.value > 0.01, "{load:?}");
        assert!(profile.triad(threads).is_some_and(|f| f.value > 0.01));
        for ty in [FloatType::F32, FloatType::F64] {
            let scalar = profile.peak_gflops(ty, threads, 0).expect("scalars are always measured");
            let wide = profile.peak_gflops(ty, threads, 4096).expect("so are the widest vectors");
            assert!(scalar.value > 0.001 && wide.value >= scalar.value, "{scalar:?} {wide:?}");
        }
    }
    assert!(profile.daisy.stream_load.is_some() && profile.daisy.peakflops.is_some());
    assert!(profile.daisy.stream_store.is_none(), "it is not measured briefly");
    for missing in ["div, sqrt and exp", "parallel regions", "DRAM: only load and triad"] {
        assert!(profile.notes.iter().any(|n| n.contains(missing)), "{missing} is not in {:?}", profile.notes);
    }
}

#[test]
fn one_core_and_nothing_known_about_caches() {
    let profile = measured(|topology| {
        topology.core_cpus.truncate(1);
        topology.caches.clear();
        topology.available_memory_bytes = None;
    });
    assert!(profile.is_sound());
    assert!(profile.compute.iter().all(|p| p.threads == 1));
    assert!(profile.bandwidth("DRAM", 1).is_some() && profile.daisy.l2_cache.is_none());
}

#[test]
fn little_memory_is_respected() {
    let profile = measured(|topology| topology.available_memory_bytes = Some(MIB));
    assert!(profile.curve.iter().all(|point| point.bytes <= MIB / 4));
    assert!(profile.notes.iter().any(|n| n.contains("arrays of 0 MiB each instead")), "{:?}", profile.notes);
}

#[test]
fn parts_of_caches_are_beyond_the_cache_before_and_fit() {
    const KIB: u64 = 1 << 10;
    assert_eq!(part_of_cache(48 * KIB, 0, 1), Some(24 * KIB));
    assert_eq!(part_of_cache(2 * MIB, 48 * KIB, 1), Some(192 * KIB));
    assert_eq!(part_of_cache(128 * MIB, 2 * MIB, 2), Some(8 * MIB));
    assert_eq!(part_of_cache(32 * MIB, MIB, 16), Some(3 * MIB / 2));
    assert_eq!(part_of_cache(16 * MIB, MIB, 16), None);
    assert_eq!(part_of_cache(MIB, 2 * MIB, 1), None, "it holds less than was promised");
}

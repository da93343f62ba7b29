//! Profiles of nests with known figures, and of nonsensical input.

use crate::support::{counted, host, measured};
use oxeye_host::{FloatType, HostProfile, Operation, Provenance, Quantity};
use oxeye_profile::{
    Bound, CacheTraffic, ExpensiveOperations, Flops, LevelBytes, NestInput, NestProfile, Run, ThreadTime,
    levels_served, profile_nest, raise_ceilings,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// A cold run of `n` f64 triads that takes this many nanoseconds.
fn triad(n: f64, ns: f64) -> NestInput {
    let caches = ["L1", "L2", "L3"].map(|cache| CacheTraffic {
        cache: cache.into(),
        fill_bytes: 24.0 * n,
        write_back_bytes: 8.0 * n,
    });
    NestInput {
        threads: 2,
        max_vector_bits: 512,
        cold_ns: Some(measured(ns, 0.01)),
        flops: vec![Flops { ty: FloatType::F64, count: counted(2.0 * n) }],
        levels: levels_served(Some(24.0 * n), &caches, Provenance::Modelled, &host()),
        footprint_bytes: Some(counted(24.0 * n)),
        compulsory_bytes: Some(counted(24.0 * n)),
        ..NestInput::new(3, "triad:7")
    }
}

fn says(profile: &NestProfile, figure: &str) -> bool {
    profile.why_missing.iter().any(|line| line.starts_with(&format!("{figure}:")))
}

#[test]
fn a_cold_stream_is_bound_by_main_memory() {
    let n = 1e7;
    let profile = profile_nest(&triad(n, 32.0 * n / 20.0), &host());
    assert_eq!(profile.basis, Some(Run::Cold));
    assert_eq!(profile.bound, Bound::Bandwidth { level: "DRAM".into() });
    assert_eq!(profile.bound.to_string(), "DRAM bandwidth");
    let memory = profile.level("DRAM").expect("the host has it");
    assert_eq!(memory.gb_per_s.map(|f| f.value), Some(20.0));
    assert_eq!(memory.intensity.map(|f| f.value), Some(2.0 / 32.0));
    assert_eq!(profile.compulsory_intensity.map(|f| f.value), Some(2.0 / 24.0));
    let fraction = profile.roof_fraction.expect("bound by memory");
    // The best kernel of the host moves 21.5 GB/s.
    assert!((fraction.value - 20.0 / 21.5).abs() < 1e-12, "{fraction:?}");
    assert_eq!(fraction.provenance, Provenance::Modelled);
    let attainable = profile.attainable_gflops.expect("it has operations").value;
    assert!((attainable - 21.5 * 2.0 / 32.0).abs() < 1e-12);
}

#[test]
fn data_that_stay_in_a_cache_are_not_said_to_come_from_memory() {
    let n = 5e5;
    let cold = triad(n, 32.0 * n / 20.0);
    let warm = NestInput { warm_ns: Some(measured(32.0 * n / 55.0, 0.01)), ..cold };
    let profile = profile_nest(&warm, &host());
    assert_eq!(profile.basis, Some(Run::Warm));
    assert_eq!(profile.bound, Bound::Bandwidth { level: "L3".into() });
    let memory = profile.level("DRAM").expect("the host has it");
    assert_eq!((memory.bytes, memory.gb_per_s, memory.intensity), (None, None, None));
    let why = profile.why_missing.iter().find(|line| line.starts_with("DRAM traffic:")).expect("a reason");
    assert!(why.contains("stay in L3"), "{why}");
}

#[test]
fn a_clock_faster_than_memory_withholds_its_traffic() {
    let n = 1e7;
    let profile = profile_nest(&triad(n, 32.0 * n / 44.0), &host());
    assert_eq!(profile.bound, Bound::Bandwidth { level: "L3".into() });
    assert_eq!(profile.level("DRAM").and_then(|l| l.gb_per_s), None);
    assert!(says(&profile, "DRAM traffic") && says(&profile, "DRAM intensity"), "{:?}", profile.why_missing);
}

#[test]
fn a_share_within_the_spread_reads_one_hundred_per_cent_and_says_so() {
    let n = 1e7;
    let profile = profile_nest(&triad(n, 32.0 * n / 21.6), &host());
    assert_eq!(profile.roof_fraction.map(|f| f.value), Some(1.0));
    assert!(profile.notes.iter().any(|note| note.contains("within their spread")), "{:?}", profile.notes);
}

#[test]
fn dense_arithmetic_is_bound_by_the_peak_and_registers_hide_accesses() {
    let n = 2048.0_f64;
    let flops = 2.0 * n.powi(3);
    let input = NestInput {
        threads: 2,
        max_vector_bits: 512,
        warm_ns: Some(measured(flops / 142.0, 0.02)),
        flops: vec![Flops { ty: FloatType::F64, count: counted(flops) }],
        levels: vec![LevelBytes { level: "L1".into(), bytes: counted(32.0 * n.powi(3)) }],
        compulsory_bytes: Some(counted(32.0 * n * n)),
        ..NestInput::new(0, "gemm:12")
    };
    let profile = profile_nest(&input, &host());
    assert_eq!(profile.bound, Bound::Peak { ty: FloatType::F64 });
    let fraction = profile.roof_fraction.expect("bound by the peak").value;
    assert!((fraction - 142.0 / 236.0).abs() < 1e-9, "{fraction}");
    let why = profile.why_missing.iter().find(|line| line.starts_with("L1 traffic:")).expect("a reason");
    assert!(why.contains("registers"), "{why}");
    assert!(says(&profile, "counters") && says(&profile, "share of the program"));
}

#[test]
fn the_nearest_level_is_a_roof_only_where_registers_can_save_little() {
    let nest = |accesses: f64| NestInput {
        warm_ns: Some(measured(1e5, 0.01)),
        levels: vec![LevelBytes { level: "L1".into(), bytes: counted(accesses) }],
        footprint_bytes: Some(counted(3.2e7)),
        ..NestInput::new(0, "copy:1")
    };
    let stream = profile_nest(&nest(3.2e7), &host());
    assert_eq!(stream.bound, Bound::Bandwidth { level: "L1".into() });
    let mut reuse = nest(3.6e7);
    reuse.footprint_bytes = Some(counted(1e6));
    let reuse = profile_nest(&reuse, &host());
    assert_eq!((reuse.bound.clone(), reuse.roofs.len()), (Bound::Unknown, 0));
    assert!(reuse.notes.iter().any(|note| note.contains("registers")), "{:?}", reuse.notes);
}

#[test]
fn operations_that_the_compiler_removed_make_no_rate() {
    let input = NestInput {
        warm_ns: Some(measured(1e6, 0.01)),
        flops: vec![Flops { ty: FloatType::F32, count: counted(1e12) }],
        ..NestInput::new(0, "dead:1")
    };
    let profile = profile_nest(&input, &host());
    assert_eq!((profile.gflops, profile.bound.clone()), (None, Bound::Unknown));
    assert!(says(&profile, "GFLOP/s") && says(&profile, "share of the roof"), "{:?}", profile.why_missing);
}

#[test]
fn divisions_bound_what_is_made_of_them() {
    let input = NestInput {
        max_vector_bits: 512,
        warm_ns: Some(measured(1e6, 0.01)),
        flops: vec![Flops { ty: FloatType::F64, count: counted(2e6) }],
        expensive: vec![ExpensiveOperations {
            operation: Operation::Div,
            ty: FloatType::F64,
            count: counted(1.5e6),
        }],
        ..NestInput::new(0, "divide:1")
    };
    let profile = profile_nest(&input, &host());
    assert_eq!(profile.bound, Bound::Rate { operation: Operation::Div, ty: FloatType::F64 });
    assert_eq!(profile.bound.to_string(), "f64 div rate");
    assert!((profile.roof_fraction.expect("bound").value - 1.5 / 1.8).abs() < 1e-9);
}

#[test]
fn a_nest_shorter_than_a_fork_join_is_overhead() {
    let input = NestInput {
        warm_ns: Some(measured(900.0, 0.01)),
        flops: vec![Flops { ty: FloatType::F64, count: counted(1e3) }],
        ..NestInput::new(0, "tiny:1")
    };
    let profile = profile_nest(&input, &host());
    assert_eq!((profile.bound.clone(), profile.roof_fraction), (Bound::Overhead, None));
    assert!(says(&profile, "share of the roof"));
    assert!(!profile.roofs.is_empty());
}

#[test]
fn profiles_survive_json() {
    let profile = profile_nest(&triad(1e6, 3e6), &host());
    let text = serde_json::to_string(&profile).expect("turns into JSON");
    assert_eq!(serde_json::from_str::<NestProfile>(&text).expect("reads back"), profile);
}

#[test]
fn threads_are_compared_with_one() {
    let time = |threads, ns| ThreadTime { threads, runtime_ns: measured(ns, 0.01) };
    let input =
        NestInput { scaling: vec![time(2, 60.0), time(1, 100.0), time(0, 1.0)], ..NestInput::new(0, "x:1") };
    let profile = profile_nest(&input, &host());
    let speedups: Vec<_> = profile.scaling.iter().map(|p| (p.threads, p.speedup.map(|s| s.value))).collect();
    assert_eq!(speedups, [(1, Some(1.0)), (2, Some(100.0 / 60.0))]);
}

#[test]
fn a_machine_of_which_little_is_known_gives_reasons() {
    let mut bare = host();
    bare.compute.clear();
    bare.rates.clear();
    bare.fork_join_us = None;
    for memory_levels in [Vec::new(), bare.memory_levels[..1].to_vec()] {
        bare.memory_levels = memory_levels;
        let profile = profile_nest(&triad(1e6, 3e6), &bare);
        assert_eq!(profile.gflops, None);
        check(&profile, &bare).expect("nothing impossible, every gap explained");
    }
}

/// What must hold of any profile: nothing impossible, and a reason for every figure that is missing.
fn check(profile: &NestProfile, host: &HostProfile) -> Result<(), String> {
    let sane = |name: &str, figure: Option<Quantity>, most: f64| match figure {
        Some(f) if !(f.value.is_finite() && f.value >= 0.0 && f.value <= most) => {
            Err(format!("{name} is {} where {most} is the most", f.value))
        }
        None if !says(profile, name) => {
            Err(format!("no reason for missing {name}: {:?}", profile.why_missing))
        }
        _ => Ok(()),
    };
    let any = f64::MAX;
    let time_spread = profile.runtime_ns().map_or(0.0, |t| t.spread.min(0.25));
    let peak = host.compute.iter().map(|p| p.gflops.value).fold(0.0, f64::max);
    let rounding = 1.0 + 1e-9;
    sane("warm time", profile.warm_ns, any)?;
    sane("cold time", profile.cold_ns, any)?;
    sane("operations", profile.flops, any)?;
    sane("GFLOP/s", profile.gflops, peak * (1.25 + time_spread) * rounding)?;
    sane("footprint", profile.footprint_bytes, any)?;
    sane("compulsory traffic", profile.compulsory_bytes, any)?;
    sane("compulsory intensity", profile.compulsory_intensity, any)?;
    sane("share of the program", profile.share, 1.0)?;
    sane("share of the roof", profile.roof_fraction, 1.0)?;
    sane("attainable GFLOP/s", profile.attainable_gflops, any)?;
    if let (Some(reached), Some(attainable)) = (profile.gflops, profile.attainable_gflops) {
        sane("GFLOP/s", Some(reached), attainable.value * (1.25 + time_spread) * rounding)?;
    }
    for level in &profile.levels {
        let name = &level.level;
        let ceiling = level.ceiling_gb_per_s.map_or(0.0, |c| c.value * (1.0 + c.spread + 0.25 + time_spread));
        sane(&format!("{name} traffic"), level.bytes, any)?;
        sane(&format!("{name} bandwidth"), level.gb_per_s, ceiling * rounding)?;
        let most = profile.compulsory_intensity.map_or(any, |i| i.value * rounding);
        sane(&format!("{name} intensity"), level.intensity, most)?;
        sane(&format!("{name} ceiling"), level.ceiling_gb_per_s, any)?;
    }
    for roof in &profile.roofs {
        sane("a roof", Some(roof.fraction), 1.0)?;
    }
    // NaN turns into a null that does not read back.
    let text = serde_json::to_string(profile).map_err(|e| e.to_string())?;
    serde_json::from_str::<NestProfile>(&text).map(|_| ()).map_err(|e| format!("{text}: {e}"))
}

/// Any number at all, absurd ones often.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-2.0..16.0_f64).prop_map(|exponent| 10f64.powf(exponent)),
        1 => prop::sample::select(vec![
            0.0, -0.0, -1.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324,
        ]),
    ]
}

fn figure() -> impl Strategy<Value = Quantity> {
    let spread = prop_oneof![4 => 0.0..0.25, 1 => prop::sample::select(vec![f64::NAN, -1.0, 9.0])];
    let provenance = prop::sample::select(vec![
        Provenance::Measured,
        Provenance::Counted,
        Provenance::Modelled,
        Provenance::Assumed,
    ]);
    (number(), spread, 0u32..20, provenance).prop_map(|(value, spread, samples, provenance)| Quantity {
        value,
        spread,
        samples,
        provenance,
    })
}

fn input() -> impl Strategy<Value = NestInput> {
    let maybe = || prop::option::of(figure());
    let ty = || prop::sample::select(vec![FloatType::F32, FloatType::F64]);
    let flops = prop::collection::vec((ty(), figure()).prop_map(|(ty, count)| Flops { ty, count }), 0..3);
    let operation = prop::sample::select(vec![Operation::Div, Operation::Sqrt, Operation::Exp]);
    let expensive = (operation, ty(), figure());
    let expensive = expensive.prop_map(|(operation, ty, count)| ExpensiveOperations { operation, ty, count });
    let level = prop::sample::select(vec!["L1", "L2", "L3", "DRAM", "tape"]);
    let level = (level, figure()).prop_map(|(level, bytes)| LevelBytes { level: level.into(), bytes });
    let time = (0u32..5, figure()).prop_map(|(threads, runtime_ns)| ThreadTime { threads, runtime_ns });
    let sizes = (maybe(), maybe(), maybe(), maybe(), maybe());
    let lists = (
        flops,
        prop::collection::vec(expensive, 0..3),
        prop::collection::vec(level, 0..6),
        prop::collection::vec(time, 0..4),
    );
    (0u32..5, prop::sample::select(vec![0u32, 128, 256, 512]), sizes, lists).prop_map(
        |(threads, max_vector_bits, sizes, (flops, expensive, levels, scaling))| NestInput {
            threads,
            max_vector_bits,
            cold_ns: sizes.0,
            warm_ns: sizes.1,
            footprint_bytes: sizes.2,
            compulsory_bytes: sizes.3,
            share: sizes.4,
            flops,
            expensive,
            levels,
            scaling,
            ..NestInput::new(0, "random:1")
        },
    )
}

proptest! {
    #![proptest_config(Config { cases: 4000, rng_seed: RngSeed::Fixed(17), failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_input_gives_an_impossible_figure(input in input()) {
        let host = host();
        let profile = profile_nest(&input, &host);
        prop_assert_eq!(check(&profile, &host), Ok(()));
        let modelled_fraction = profile.roof_fraction.map_or(0.0, |f| f.value);
        prop_assert!(profile.roofs.iter().all(|roof| roof.fraction.value <= modelled_fraction)
            || profile.bound == Bound::Overhead);
    }
}

#[test]
fn levels_are_served_by_what_lies_beyond_a_cache() {
    let cache =
        |name: &str, fill_bytes| CacheTraffic { cache: name.into(), fill_bytes, write_back_bytes: 1.0 };
    let caches = [cache("L1", 300.0), cache("L2", 200.0), cache("L3", 100.0)];
    let served = |host: &HostProfile| -> Vec<(String, f64)> {
        let levels = levels_served(Some(900.0), &caches, Provenance::Modelled, host);
        levels.into_iter().map(|l| (l.level, l.bytes.value)).collect()
    };
    let all = [("L1", 900.0), ("L2", 301.0), ("L3", 201.0), ("DRAM", 101.0)];
    let expected = |names: &[&str]| -> Vec<(String, f64)> {
        all.iter().filter(|(name, _)| names.contains(name)).map(|(name, b)| (name.to_string(), *b)).collect()
    };
    let mut machine = host();
    assert_eq!(served(&machine), expected(&["L1", "L2", "L3", "DRAM"]));
    // A third-level cache that the sweep could not tell from memory.
    machine.memory_levels.remove(2);
    assert_eq!(served(&machine), expected(&["L1", "L2", "DRAM"]));
}

#[test]
fn what_a_nest_reaches_raises_the_ceilings_of_a_provisional_profile() {
    let n = 1e10;
    let count = counted(n);
    let nest = NestInput {
        threads: 2,
        max_vector_bits: 256,
        warm_ns: Some(measured(n / 400.0, 0.01)),
        flops: vec![Flops { ty: FloatType::F64, count }],
        levels: vec![LevelBytes { level: "DRAM".into(), bytes: counted(0.1 * n) }],
        ..NestInput::new(0, "fast:1")
    };
    let mut quiet = host();
    assert!(!raise_ceilings(&nest, &mut quiet) && quiet == host());
    let mut noisy = host();
    noisy.noise.noisy = true;
    assert!(raise_ceilings(&nest, &mut noisy));
    assert_eq!(noisy.peak_gflops(FloatType::F64, 2, 512).map(|q| q.value), Some(400.0));
    assert_eq!(noisy.bandwidth("DRAM", 2).map(|q| q.value.round()), Some(40.0));
    let profile = profile_nest(&nest, &noisy);
    assert_eq!(profile.roof_fraction.map(|q| q.value), Some(1.0), "{:?}", profile.why_missing);
    assert!(!raise_ceilings(&nest, &mut noisy), "it is so high now");
    // Modelled traffic is an upper bound.
    let modelled = Quantity { provenance: Provenance::Modelled, ..counted(10.0 * n) };
    let levels = vec![LevelBytes { level: "DRAM".into(), bytes: modelled }];
    assert!(!raise_ceilings(&NestInput { levels, ..nest }, &mut noisy));
}

use super::*;
use crate::measure::Effort;
use crate::profile::{Bandwidth, DaisyKeys, FloatType, MemoryLevel, Noise, PeakRate, StreamKernel};
use crate::quantity::{Provenance, Quantity};
use crate::topology::{Sources, Topology};

fn figure(value: f64) -> Quantity {
    Quantity { value, spread: 0.25, samples: 8, provenance: Provenance::Measured }
}

fn profile(thorough: bool) -> HostProfile {
    let nowhere = tempfile::tempdir().expect("a temporary folder");
    let sources =
        Sources { root: nowhere.path().into(), allowed_cpus: Some(vec![0, 1]), ask_processor: false };
    let (topology, notes) = Topology::read(&sources);
    let bandwidth = |kernel, non_temporal, threads, rate| Bandwidth {
        kernel,
        non_temporal,
        threads,
        gb_per_s: figure(rate),
        median_gb_per_s: rate - 1.0,
    };
    let peak = |vector_bits, threads, rate| PeakRate {
        ty: FloatType::F64,
        vector_bits,
        threads,
        gflops: figure(rate),
        median_gflops: rate,
    };
    HostProfile {
        schema: SCHEMA.into(),
        key: HostKey::of(&topology),
        thorough,
        measured_at: "2020-01-01T00:00:00Z".into(),
        seconds: 1.5,
        topology,
        clock_ghz: None,
        memory_levels: vec![MemoryLevel {
            name: "DRAM".into(),
            level: 4,
            capacity_bytes: None,
            bandwidths: vec![
                bandwidth(StreamKernel::Load, false, 1, 16.0),
                bandwidth(StreamKernel::Load, false, 4, 40.0),
                bandwidth(StreamKernel::Triad, false, 1, 15.0),
                bandwidth(StreamKernel::Triad, true, 1, 18.0),
            ],
        }],
        curve: Vec::new(),
        compute: vec![peak(0, 1, 5.0), peak(256, 1, 20.0), peak(512, 1, 40.0), peak(512, 4, 120.0)],
        rates: Vec::new(),
        fork_join_us: Some(figure(2.5)),
        noise: Noise {
            median_slowdown: 1.0,
            p95_slowdown: 1.0,
            steal_fraction: None,
            noisy: false,
            sentence: "quiet".into(),
        },
        notes,
        daisy: DaisyKeys {
            arch: "x".into(),
            num_sockets: 1,
            stream_load: Some(16000.0),
            ..DaisyKeys::default()
        },
    }
}

fn store() -> (tempfile::TempDir, ProfileStore) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = ProfileStore::at(folder.path().join("not").join("there"));
    (folder, store)
}

#[test]
fn what_is_saved_is_loaded() {
    let (_folder, store) = store();
    let profile = profile(true);
    assert_eq!(store.load(&profile.key).expect("no file is no error"), None);
    store.save(&profile).expect("the folder is writable");
    assert_eq!(store.load(&profile.key).expect("it was just written"), Some(profile.clone()));
    let other = HostKey { cores: 64, ..profile.key.clone() };
    assert_eq!(store.load(&other).expect("no file is no error"), None);
}

#[test]
fn the_file_has_daisys_keys_at_its_top() {
    let json = serde_json::to_value(profile(true)).expect("it has a JSON form");
    for key in [
        "arch",
        "num_sockets",
        "cores_per_socket",
        "threads_per_core",
        "l2_cache",
        "l3_cache",
        "stream_load",
        "stream_store",
        "stream_copy",
        "stream_triad",
        "peakflops",
        "peakflops_avx",
    ] {
        assert!(json.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(json["schema"], "oxeye.host/1");
    assert_eq!(json["stream_load"], 16000.0);
}

#[test]
fn a_brief_profile_never_replaces_a_thorough_one() {
    let (_folder, store) = store();
    let (brief, thorough) = (profile(false), profile(true));
    assert!(matches!(store.save(&brief), Ok(Kept::New { set_aside: None, .. })));
    assert!(matches!(store.save(&thorough), Ok(Kept::New { set_aside: None, .. })));
    assert!(matches!(store.save(&brief), Ok(Kept::Old(old)) if old.thorough));
    assert_eq!(store.load(&brief.key).expect("it is there"), Some(thorough));
}

#[test]
fn damaged_files_are_named_and_set_aside() {
    let (_folder, store) = store();
    let profile = profile(true);
    let unknown = serde_json::to_string(&profile).expect("JSON").replace(SCHEMA, "oxeye.host/99");
    let negative = serde_json::to_string(&profile).expect("JSON").replace("2.5", "-2.5");
    let elsewhere = serde_json::to_string(&profile).expect("JSON").replace("unknown", "Another CPU");
    let damaged: [(&str, &str); 6] = [
        ("", "not a host profile"),
        ("{\"schema\": \"oxeye.host/1\"", "not a host profile"),
        ("{\"schema\": \"oxeye.host/1\"}", "does not follow"),
        (&unknown, "oxeye.host/99"),
        (&negative, "not positive"),
        (&elsewhere, "another machine"),
    ];
    for (n, (text, why)) in damaged.into_iter().enumerate() {
        store.save(&profile).expect("the folder is writable");
        std::fs::write(store.path(&profile.key), text).expect("a file");
        let error = store.load(&profile.key).expect_err("it is damaged").to_string();
        assert!(error.contains(why) && error.contains("--refresh"), "{error}");
        let Ok(Kept::New { set_aside: Some((aside, reason)), .. }) = store.save(&profile) else {
            panic!("number {n} was not set aside");
        };
        assert_eq!(std::fs::read_to_string(&aside).expect("it is still there"), text);
        assert!(reason.contains(why), "{reason}");
        assert_eq!(store.load(&profile.key).expect("the new one is sound"), Some(profile.clone()));
    }
    let names = std::fs::read_dir(store.path(&profile.key).parent().expect("a folder")).expect("a folder");
    let aside = names.flatten().filter(|e| e.file_name().to_string_lossy().contains(".damaged")).count();
    assert_eq!(aside, damaged.len(), "none overwrote another");
}

#[test]
fn writers_at_the_same_time_leave_one_whole_thorough_file() {
    let (_folder, store) = store();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..10 {
                    let thorough = (writer + round) % 3 == 0;
                    let profile =
                        HostProfile { seconds: f64::from(writer * 100 + round), ..profile(thorough) };
                    store.save(&profile).expect("saving works");
                    let seen = store.load(&profile.key).expect("the file is whole at any time");
                    assert!(seen.is_some_and(|seen| seen.thorough || !thorough));
                }
            });
        }
    });
    let key = profile(true).key;
    assert!(store.load(&key).expect("whole").is_some_and(|p| p.thorough));
    let folder = store.path(&key).parent().expect("a folder").to_path_buf();
    let left: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 2, "only the profile and the lock are left: {left:?}");
}

#[test]
fn folders_follow_the_environment() {
    let folder = |set: &[(&str, &str)]| {
        let find = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value));
        folder_from(find).map(|p| p.to_string_lossy().into_owned())
    };
    let home = ("HOME", "/home/me");
    assert_eq!(folder(&[home]).as_deref(), Some("/home/me/.cache/oxeye/hosts"));
    assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "/c")]).as_deref(), Some("/c/oxeye/hosts"));
    assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "c")]).as_deref(), Some("/home/me/.cache/oxeye/hosts"));
    let all = [home, ("XDG_CACHE_HOME", "/c"), ("OXEYE_CACHE", "/o")];
    assert_eq!(folder(&all).as_deref(), Some("/o/hosts"));
    assert_eq!(folder(&[("OXEYE_CACHE", ""), home]).as_deref(), Some("/home/me/.cache/oxeye/hosts"));
    assert_eq!(folder(&[]), None);
}

#[test]
fn file_names_are_plain_and_differ_with_the_key() {
    let key =
        HostKey { cpu_model: "Some(R) CPU @ 2.0/GHz".into(), microcode: "0x1".into(), cores: 2, threads: 4 };
    let name = file_name(&key);
    assert!(name.starts_with("Some-R-CPU-2-0-GHz-0x1-2c4t-") && name.ends_with(".json"), "{name}");
    assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.'));
    for other in [
        HostKey { cpu_model: "Some(R) CPU @ 2.0 GHz".into(), ..key.clone() },
        HostKey { microcode: "0x2".into(), ..key.clone() },
        HostKey { cores: 1, ..key.clone() },
    ] {
        assert_ne!(file_name(&other), name, "{other:?}");
    }
}

#[test]
fn accessors_answer_for_thread_counts_that_were_not_measured() {
    let profile = profile(true);
    let peak =
        |threads, bits| profile.peak_gflops(FloatType::F64, threads, bits).map(|f| (f.value, f.provenance));
    assert_eq!(peak(1, 512), Some((40.0, Provenance::Measured)));
    assert_eq!(peak(1, 511), Some((20.0, Provenance::Measured)));
    assert_eq!(peak(2, 512), Some((80.0, Provenance::Modelled)));
    assert_eq!(peak(3, 512), Some((120.0, Provenance::Modelled)));
    assert_eq!(peak(9, 512), Some((120.0, Provenance::Modelled)), "never more than all cores");
    assert_eq!(profile.peak_gflops(FloatType::F32, 1, 512), None);
    assert_eq!(profile.triad(1).map(|f| f.value), Some(15.0), "ordinary stores only");
    let ceiling = profile.bandwidth("DRAM", 1).map(|f| f.value);
    assert_eq!(ceiling, Some(20.0), "triad with the line that is read before it is written");
    assert_eq!(profile.bandwidth("L2", 1), None);
    assert_eq!(profile.cache_bytes(2), None);
}

/// A profile of a machine that others used at the same time, every ceiling `factor` times as high as in [`profile`].
fn noisy(thorough: bool, factor: f64) -> HostProfile {
    let mut profile = profile(thorough);
    profile.noise = Noise { p95_slowdown: 21.0, noisy: true, ..profile.noise };
    profile.compute.iter_mut().for_each(|p| p.gflops.value *= factor);
    profile.memory_levels.iter_mut().flat_map(|l| &mut l.bandwidths).for_each(|b| b.gb_per_s.value *= factor);
    profile
}

fn peak_and_bandwidth(profile: &HostProfile) -> (f64, f64) {
    let peak = profile.peak_gflops(FloatType::F64, 4, 512).expect("it is there").value;
    (peak, profile.bandwidth("DRAM", 4).expect("it is there").value)
}

#[test]
fn a_provisional_profile_never_replaces_a_believed_one() {
    let (_folder, store) = store();
    for believed in [profile(false), profile(true)] {
        assert!(matches!(store.save(&believed), Ok(Kept::New { .. })));
        for doubted in [noisy(false, 0.5), noisy(true, 0.5)] {
            assert!(matches!(store.save(&doubted), Ok(Kept::Old(_))));
            assert_eq!(store.load(&believed.key).expect("it is there"), Some(believed.clone()));
        }
    }
    let (_folder, store) = self::store();
    store.save(&noisy(true, 0.5)).expect("the folder is writable");
    assert!(matches!(store.save(&profile(false)), Ok(Kept::New { .. })), "brief and quiet is better");
    assert_eq!(store.load(&profile(false).key).expect("it is there"), Some(profile(false)));
}

#[test]
fn of_two_provisional_profiles_the_higher_ceilings_are_kept() {
    let (_folder, store) = store();
    let kept = || store.load(&profile(true).key).expect("it is there").expect("it is there");
    store.save(&noisy(false, 0.5)).expect("the folder is writable");
    store.save(&noisy(false, 0.25)).expect("the folder is writable");
    assert_eq!(peak_and_bandwidth(&kept()), (60.0, 20.0));
    store.save(&noisy(true, 0.25)).expect("the folder is writable");
    assert!(kept().thorough && peak_and_bandwidth(&kept()) == (60.0, 20.0));
    assert!(matches!(store.save(&noisy(false, 0.75)), Ok(Kept::Old(_))));
    assert!(kept().thorough && peak_and_bandwidth(&kept()) == (90.0, 30.0));
}

#[test]
fn a_provisional_profile_is_measured_again() {
    let (_folder, store) = store();
    let key = profile(false).key;
    let measure = |profile: HostProfile| {
        let mut n = 0;
        let given = crate::kept_or_measured(&store, &key, Effort::Brief, &mut || {
            n += 1;
            Ok(profile.clone())
        });
        (n, given.expect("it is measured"))
    };
    assert_eq!(measure(noisy(false, 0.5)).0, 1, "there is none yet");
    let (n, given) = measure(noisy(false, 0.25));
    assert_eq!((n, peak_and_bandwidth(&given)), (1, (60.0, 20.0)), "the best of both");
    assert_eq!(measure(profile(false)), (1, profile(false)), "the machine is quiet now");
    assert_eq!(measure(noisy(false, 0.5)), (0, profile(false)), "and that is kept");
}

#[test]
fn ceilings_of_provisional_profiles_are_raised_in_the_file() {
    let (_folder, store) = store();
    let key = profile(false).key;
    let mut raise =
        |p: &mut HostProfile| p.raise_peak(FloatType::F64, 4, 100.0) | p.raise_bandwidth("DRAM", 4, 33.0);
    assert!(!store.raise(&key, &mut raise).expect("no file is no error"));
    store.save(&noisy(false, 0.5)).expect("the folder is writable");
    assert!(store.raise(&key, &mut raise).expect("it is raised"));
    let raised = store.load(&key).expect("it is there").expect("it is there");
    assert!(peak_and_bandwidth(&raised) == (100.0, 33.0) && raised.is_provisional());
    assert!(!store.raise(&key, &mut raise).expect("it is read"), "it is so high already");
    store.save(&profile(false)).expect("the folder is writable");
    assert!(!store.raise(&key, &mut |_| true).expect("it is read"));
    assert_eq!(store.load(&key).expect("it is there"), Some(profile(false)), "a believed one stays");
}

#[test]
fn ceilings_are_raised_for_thread_counts_that_were_not_measured() {
    let mut profile = profile(true);
    assert!(!profile.raise_peak(FloatType::F64, 2, 79.0) && !profile.raise_peak(FloatType::F32, 1, 1e9));
    assert!(profile.raise_peak(FloatType::F64, 2, 90.0));
    let peak = |p: &HostProfile, threads| p.peak_gflops(FloatType::F64, threads, 512).map(|q| q.value);
    assert_eq!([1, 2, 4].map(|n| peak(&profile, n)), [Some(45.0), Some(90.0), Some(120.0)]);
    assert!(profile.raise_peak(FloatType::F64, 3, 150.0));
    assert_eq!([1, 3, 9].map(|n| peak(&profile, n)), [Some(50.0), Some(150.0), Some(150.0)]);
    assert!(profile.raise_bandwidth("DRAM", 1, 30.0) && !profile.raise_bandwidth("L9", 1, 30.0));
    assert_eq!(profile.bandwidth("DRAM", 1).map(|q| q.value.round()), Some(30.0), "the fastest kernel's");
    assert!(!profile.raise_bandwidth("DRAM", 1, f64::INFINITY));
}

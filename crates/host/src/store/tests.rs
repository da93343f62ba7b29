use super::*;
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

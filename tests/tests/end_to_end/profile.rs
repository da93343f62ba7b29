//! `oxeye host` and `oxeye profile` as users run them.

use oxeye_tests::Playground;
use serde_json::Value;

const STREAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static double a[1 << 16], b[1 << 16], c[1 << 16];
static void kernel(int n, double s) {
    for (int i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
static int scan(const int *restrict keys, int n) {
    int at = 0;
    while (at < n && keys[at] != 3) at++;
    return at;
}
int main(void) {
    int keys[4] = {0, 1, 2, 3};
    for (int i = 0; i < 1 << 16; i++) { b[i] = i % 7; c[i] = i % 5; }
    for (int t = 0; t < 50; t++) kernel(1 << 16, 3.0);
    printf("%g %d\n", a[1234], scan(keys, 4));
}
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Every figure below `value` that is a share, or a ratio of a measurement to a ceiling.
fn assert_possible(nest: &Value) {
    if let Some(fraction) = nest["roof_fraction"]["value"].as_f64() {
        assert!(fraction > 0.0 && fraction <= 1.0, "{nest:#}");
    }
    for level in nest["levels"].as_array().into_iter().flatten() {
        let (Some(rate), Some(ceiling)) =
            (level["gb_per_s"]["value"].as_f64(), level["ceiling_gb_per_s"]["value"].as_f64())
        else {
            continue;
        };
        let slack = 1.0 + 3.0 * (level["gb_per_s"]["spread"].as_f64().unwrap_or(0.0) + 0.1);
        assert!(rate <= ceiling * slack, "{level:#}");
        if let (Some(level), Some(most)) =
            (level["intensity"]["value"].as_f64(), nest["compulsory_intensity"]["value"].as_f64())
        {
            assert!(level <= 1.001 * most, "{nest:#}");
        }
    }
}

#[test]
fn a_profile_names_the_bound_and_counts_exactly() {
    let play = Playground::new();
    play.write("stream.c", STREAM);
    let ran = play.run("profile stream.c --json - -- gcc -O2 -ffast-math");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran.stdout);
    assert_eq!(report["schema"], "oxeye.profile/1");
    let nests = report["nests"].as_array().expect("nests");
    let kernel =
        nests.iter().find(|n| n["name"].as_str().is_some_and(|n| n.starts_with("kernel:"))).expect("kernel");
    assert_eq!(kernel["flops"]["value"], 2.0 * 65536.0);
    assert_eq!(kernel["flops"]["provenance"], "counted");
    assert_eq!(kernel["compulsory_bytes"]["value"], 3.0 * 8.0 * 65536.0);
    assert_eq!(kernel["warm_ns"]["provenance"], "measured");
    assert!(kernel["warm_ns"]["samples"].as_u64() >= Some(3));
    nests.iter().for_each(assert_possible);
}

#[test]
fn a_profile_is_kept_until_something_changes() {
    let play = Playground::new();
    // Profiles of earlier test runs are kept too.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_nanos();
    let source = format!("{STREAM}/* {now} */\n");
    play.write("stream.c", &source);
    let cached = |line: &str| {
        let ran = play.run(line);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        json(&ran.stdout)["from_cache"].as_bool()
    };
    assert_eq!(cached("profile stream.c --refresh --json - -- gcc -O2"), Some(false));
    assert_eq!(cached("profile stream.c --json - -- gcc -O2"), Some(true));
    assert_eq!(cached("profile stream.c --json - -- gcc -O1"), Some(false));
    play.write("stream.c", &source.replace("t < 50", "t < 51"));
    assert_eq!(cached("profile stream.c --json - -- gcc -O2"), Some(false));
}

#[test]
fn tables_and_pages_are_written_whole() {
    let play = Playground::new();
    play.write("stream.c", STREAM);
    let ran = play.run("profile stream.c --csv s.csv --parquet s.parquet --html s.html -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("kernel:"), "{}", ran.stdout);
    assert!(play.read("s.csv").starts_with("id,nest,"));
    let parquet = std::fs::read(play.path("s.parquet")).expect("a file");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let page = play.read("s.html");
    assert!(page.contains("<svg") && page.contains("kernel:"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "the page needs the network: {outside}");
    }
}

#[test]
fn sections_count_every_call_of_the_run() {
    let play = Playground::new();
    play.write("stream.c", STREAM);
    let ran = play.run("profile stream.c --refresh --json - -- gcc -O2 -ffast-math");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran.stdout);
    let sections = report["sections"].as_array().expect("sections");
    let section = |name: &str| {
        let found = sections.iter().find(|s| s["name"].as_str().is_some_and(|n| n.starts_with(name)));
        found.unwrap_or_else(|| panic!("{name}: {sections:#?}"))
    };
    let kernel = section("kernel:");
    assert_eq!(kernel["calls"], 50);
    assert_eq!(kernel["points"]["value"], 50.0 * 65536.0);
    assert_eq!(kernel["flops"]["value"], 50.0 * 2.0 * 65536.0);
    assert_eq!(kernel["bytes"]["value"], 50.0 * 3.0 * 8.0 * 65536.0);
    assert_eq!(kernel["points"]["provenance"], "counted");
    let time = |name: &str| kernel[name].as_f64().unwrap_or_else(|| panic!("{name}: {kernel:#}"));
    assert!(time("min_ns") <= time("mean_ns") && time("mean_ns") <= time("max_ns"));
    assert!((time("mean_ns") * 50.0 - time("total_ns")).abs() < 1.0);
    let rate = kernel["gpoints_per_s"]["value"].as_f64().expect("a rate");
    assert!((rate * time("total_ns") / (50.0 * 65536.0) - 1.0).abs() < 1e-9);
    // A loop that calls it has its work, so that the time of all nests is no less.
    assert!(section("all nests")["total_ns"].as_f64() >= Some(time("total_ns")));
}

#[test]
fn a_trace_shows_every_thread_of_every_nest() {
    let play = Playground::new();
    play.write(
        "threads.c",
        &STREAM.replace(
            "    for (int i = 0; i < n; i++)\n        a[i]",
            "    #pragma omp parallel for num_threads(2)\n    for (int i = 0; i < n; i++)\n        a[i]",
        ),
    );
    let ran = play.run("profile threads.c --threads 2 --trace t.json -- gcc -O2 -fopenmp");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("operations/byte"), "{}", ran.stdout);
    let trace = json(&play.read("t.json"));
    let events = trace["traceEvents"].as_array().expect("events");
    let named = |name: &str| {
        events
            .iter()
            .filter(|e| {
                e["ph"] == "X"
                    && e["name"].as_str().is_some_and(|n| n.starts_with("kernel:") && n.ends_with(name))
            })
            .collect::<Vec<_>>()
    };
    let parts = named("(part)");
    let nests: Vec<_> = named("").into_iter().filter(|e| e["cat"] == "nest").collect();
    assert_eq!((nests.len(), parts.len()), (50, 100));
    let threads: std::collections::BTreeSet<u64> = parts.iter().filter_map(|e| e["tid"].as_u64()).collect();
    assert_eq!(threads.into_iter().collect::<Vec<_>>(), [0, 1]);
    assert!(
        events
            .iter()
            .filter(|e| e["ph"] == "X")
            .all(|e| e["ts"].as_f64() >= Some(0.0) && e["dur"].as_f64() >= Some(0.0))
    );
    // A trace of bounded size says what is not in it.
    let ran = play.run("profile threads.c --threads 2 --trace t.json --trace-events 20 -- gcc -O2 -fopenmp");
    assert!(ran.stdout.contains("were dropped"), "{}", ran.stdout);
    let trace = json(&play.read("t.json"));
    assert_eq!(
        trace["traceEvents"].as_array().map(|e| e.iter().filter(|e| e["ph"] == "X").count()),
        Some(20)
    );
    assert!(trace["otherData"]["dropped"].as_u64() > Some(100));
}

#[test]
fn bad_profiles_say_what_is_wrong() {
    let play = Playground::new();
    play.write("stream.c", STREAM);
    let ran = play.run("profile missing.c -- gcc");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("missing.c"), "{}", ran.stderr);
    let ran = play.run("profile stream.c --html no/such/folder/p.html -- gcc");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    play.write("none.c", "int main(void) { return 0; }\n");
    let ran = play.run("profile none.c -- gcc");
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("no loop nest in none.c"), "{}", ran.stderr);
}

#[test]
fn optimize_reports_roofs_and_writes_a_page() {
    let play = Playground::new();
    play.write("stream.c", STREAM);
    let ran =
        play.run("optimize stream.c --quick --budget 5s --json r.json --html r.html -- gcc -O2 -ffast-math");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&play.read("r.json"));
    for nest in report["nests"].as_array().expect("nests") {
        assert_possible(&nest["profile_before"]);
        assert_possible(&nest["profile_after"]);
    }
    let bound = report["nests"].as_array().into_iter().flatten().any(|n| n["bound"].is_string());
    assert!(bound, "{report:#}");
    assert!(play.read("r.html").contains("<svg"));
}

#[test]
fn the_host_profile_has_its_keys() {
    let play = Playground::new();
    let ran = play.run("host --brief --json -");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let host = json(&ran.stdout);
    assert_eq!(host["schema"], "oxeye.host/1");
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
        assert!(host.get(key).is_some(), "{key}");
    }
    assert!(host["memory_levels"].as_array().is_some_and(|l| !l.is_empty()));
}

//! Writes an example report from made-up figures: `cargo run -p oxeye-profile --example report -- OUT.html`, and beside
//! it plots as SVG files and the table as CSV, JSON and Parquet.

#[path = "../tests/integration/support/mod.rs"]
mod support;

use oxeye_host::{FloatType, Operation, Provenance};
use oxeye_profile::{
    About, CacheTraffic, CounterValue, ExpensiveOperations, Flops, Listing, NestEntry, NestInput, PlotSize,
    ProgramTimes, ReportData, RooflinePoint, SUMMARY, ThreadTime, html_report, levels_served, memory_sweep,
    profile_nest, roofline,
};
use std::path::PathBuf;
use support::{counted, host, measured};

/// A nest in one state.
struct State {
    ms: f64,
    threads: u32,
    gflop: f64,
    /// Bytes that L1, L2, L3 and main memory serve, in MB; `None` where no model applies.
    traffic_mb: Option<[f64; 4]>,
    compulsory_mb: f64,
}

/// A nest before and after.
struct Example {
    name: &'static str,
    share: f64,
    before: State,
    after: Option<State>,
}

const CODE: &str = "#pragma omp parallel for
for (int it = 0; it < n; it += 32)
  for (int jt = 0; jt < n; jt += 128)
    for (int i = it; i < min(n, it + 32); i++)
      for (int j = jt; j < min(n, jt + 128); j++)
        B[i][j] = a < b && c > d ? 0.25 * (A[i][j-1] + A[i][j+1] + A[i-1][j] + A[i+1][j]) : 0.0;
";

fn input(id: usize, example: &Example, state: &State) -> NestInput {
    let levels = state.traffic_mb.map_or(Vec::new(), |[l1, l2, l3, dram]| {
        let beyond = |cache: &str, mb: f64| CacheTraffic {
            cache: cache.into(),
            fill_bytes: mb * 0.75e6,
            write_back_bytes: mb * 0.25e6,
        };
        let caches = [beyond("L1", l2), beyond("L2", l3), beyond("L3", dram)];
        levels_served(Some(l1 * 1e6), &caches, Provenance::Modelled, &host())
    });
    let one_thread = if state.threads > 1 { state.ms * 1.86 } else { state.ms };
    let times = [(1, one_thread), (state.threads, state.ms)];
    NestInput {
        threads: state.threads,
        max_vector_bits: 512,
        cold_ns: Some(measured(state.ms * 1.07e6, 0.03)),
        warm_ns: Some(measured(state.ms * 1e6, 0.012)),
        flops: vec![Flops { ty: FloatType::F64, count: counted(state.gflop * 1e9) }],
        levels,
        footprint_bytes: Some(counted(state.compulsory_mb * 0.8e6)),
        compulsory_bytes: Some(counted(state.compulsory_mb * 1e6)),
        scaling: times
            .map(|(threads, ms)| ThreadTime { threads, runtime_ns: measured(ms * 1e6, 0.01) })
            .into(),
        share: Some(measured(example.share, 0.01)),
        counters: vec![CounterValue { counter: "page-faults".into(), value: 12.0, scaled: false }],
        why_missing: vec!["hardware counters: this virtual machine has none".into()],
        ..NestInput::new(id, example.name)
    }
}

fn examples() -> Vec<Example> {
    let state = |ms, threads, gflop, traffic_mb, compulsory_mb| State {
        ms,
        threads,
        gflop,
        traffic_mb,
        compulsory_mb,
    };
    let heat = Some([2900.0, 1310.0, 1300.0, 1290.0]);
    vec![
        Example {
            name: "kernel_gemm:41",
            share: 0.52,
            before: state(612.0, 1, 17.2, Some([68_000.0, 9_200.0, 4_400.0, 1_100.0]), 134.0),
            after: Some(state(121.0, 2, 17.2, Some([68_000.0, 2_100.0, 620.0, 205.0]), 134.0)),
        },
        Example {
            name: "jacobi_2d:77",
            share: 0.23,
            before: state(271.0, 1, 0.81, Some([6_500.0, 3_900.0, 3_800.0, 3_300.0]), 81.0),
            after: Some(state(64.0, 2, 0.81, Some([6_500.0, 3_900.0, 2_700.0, 340.0]), 81.0)),
        },
        Example {
            name: "heat_3d:103",
            share: 0.12,
            before: state(141.0, 1, 0.62, heat, 128.0),
            after: Some(state(66.0, 2, 0.62, heat, 128.0)),
        },
        Example {
            name: "haar_rows:18",
            share: 0.07,
            before: state(82.0, 1, 0.0168, Some([134.0, 1075.0, 1070.0, 1020.0]), 67.1),
            after: Some(state(4.3, 2, 0.0168, Some([134.0, 74.0, 70.0, 68.0]), 67.1)),
        },
        Example {
            name: "normalize:130",
            share: 0.04,
            before: state(47.0, 1, 0.052, Some([416.0, 416.0, 416.0, 400.0]), 390.0),
            after: None,
        },
        Example {
            name: "scatter_add:152",
            share: 0.015,
            before: state(17.6, 1, 0.012, None, 48.0),
            after: None,
        },
        Example {
            name: "init_array:9",
            share: 0.0002,
            before: state(0.0031, 1, 0.000_002, Some([0.032, 0.032, 0.0, 0.0]), 0.016),
            after: None,
        },
    ]
}

fn entry(id: usize, example: &Example) -> NestEntry {
    let mut before = input(id, example, &example.before);
    if example.name.starts_with("normalize") {
        let count = counted(2.6e7);
        before.expensive.push(ExpensiveOperations { operation: Operation::Div, ty: FloatType::F64, count });
    }
    let entry = NestEntry::new(profile_nest(&before, &host()));
    let Some(state) = &example.after else {
        return NestEntry {
            refused: vec![
                "parallelize(i): two iterations may write the same element of h[idx[i]]".into(),
                "vectorize(i): two iterations may write the same element of h[idx[i]]".into(),
            ],
            note: Some("nothing faster was found within the budget".into()),
            ..entry
        };
    };
    NestEntry {
        after: Some(profile_nest(&input(id, example, state), &host())),
        recipe: Some("tile, parallelize, vectorize".into()),
        steps: ["interchange(i, j)", "tile(i: 32, j: 128)", "parallelize(it)", "vectorize(j)"]
            .map(String::from)
            .into(),
        speedup: Some(measured(example.before.ms / state.ms, 0.018)),
        verified: true,
        refused: vec!["skew(t, i): would reverse the dependence of A[i][j] on A[i-1][j]".into()],
        listings: vec![Listing { heading: "emitted code".into(), text: CODE.into() }],
        ..entry
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "report.html".into()));
    let data = ReportData {
        title: "benchmarks/mixed.c".into(),
        build: Some("gcc 12.2.0 -O3 -march=native -lm".into()),
        about: About { made_at: Some("2026-11-21 10:30 UTC".into()), ..About::default() },
        program: ProgramTimes {
            before_ns: Some(measured(1.174e9, 0.008)),
            after_ns: Some(measured(0.348e9, 0.011)),
            verified: true,
            max_rel_error: Some(2.2e-15),
            ..ProgramTimes::default()
        },
        host: host(),
        threads: 2,
        nests: examples().iter().enumerate().map(|(id, example)| entry(id, example)).collect(),
        shared: Vec::new(),
        unread: None,
        sections: Vec::new(),
        notes: vec!["sums are kept in the order of the source: -ffast-math is not among the flags".into()],
    };
    std::fs::write(&out, html_report(&data))?;
    let points: Vec<RooflinePoint<'_>> =
        data.nests.iter().map(|n| RooflinePoint { before: &n.before, after: n.after.as_ref() }).collect();
    std::fs::write(out.with_extension("svg"), roofline(&points, &data.host, PlotSize::Wide).standalone())?;
    std::fs::write(out.with_extension("sweep.svg"), memory_sweep(&data.host, PlotSize::Wide).standalone())?;
    let table = data.table();
    std::fs::write(out.with_extension("csv"), table.to_csv())?;
    std::fs::write(out.with_extension("json"), serde_json::to_string_pretty(&table.to_json())?)?;
    #[cfg(feature = "tables")]
    table.write_parquet(&out.with_extension("parquet"))?;
    print!("{}", table.select(&SUMMARY).to_text());
    Ok(())
}

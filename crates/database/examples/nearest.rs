//! Times a nearest-neighbour search among many embeddings, given the number of entries and the length of the vectors:
//!
//! ```text
//! cargo run --release -p oxeye-database --example nearest -- 100000 64
//! ```

use oxeye_database::*;
use oxeye_random::SplitMix64;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let n_entries = arguments.next().transpose()?.unwrap_or(100_000);
    let dimension = arguments.next().transpose()?.unwrap_or(64);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("recipes.sqlite");
    let mut random = SplitMix64::new(0x0b5e_55ed);

    let start = Instant::now();
    let mut store = SqliteStore::open(&path, OnDamage::Refuse)?;
    let mut n_left = n_entries;
    while n_left > 0 {
        let n_now = n_left.min(1000);
        let batch: Vec<Addition> = (0..n_now)
            .map(|k| Addition {
                content: entry(n_left - k, vector(&mut random, dimension)),
                count: Count::Trial,
            })
            .collect();
        store.put(&batch)?;
        n_left -= n_now;
    }
    let megabytes = std::fs::metadata(&path)?.len() / 1_000_000;
    println!("{n_entries} entries added in {:.2} s, {megabytes} MB", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let store = SqliteStore::open(&path, OnDamage::Refuse)?;
    println!("opened and checked in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let filter = Filter { verdict: Some(VerdictKind::Gained), one_per_nest: true, ..Filter::default() };
    for (name, filter) in [("no filter", Filter::default()), ("gains, one a nest", filter)] {
        let mut times = Vec::new();
        for _ in 0..21 {
            let to = Embedding { space: space(), nest: vector(&mut random, dimension), nodes: vec![] };
            let start = Instant::now();
            let found = store.nearest(&to, 10, &filter)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            assert_eq!(found.len(), n_entries.min(10));
        }
        let first = times.remove(0);
        times.sort_by(f64::total_cmp);
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{name}: first {first:.1} ms, then median {median:.2} ms, worst {worst:.2} ms");
    }
    Ok(())
}

fn space() -> EmbeddingSpace {
    EmbeddingSpace { feature_schema: 1, model: "random".into(), model_hash: "00".into() }
}

fn entry(number: usize, vector: Vec<f32>) -> NewEntry {
    let speedup = Speedup { median: 2.0, low: 1.9, high: 2.1, confidence: 0.95 };
    NewEntry {
        nest: NormalForm { hash: format!("{number:016x}"), text: format!("nest {number}") },
        embedding: Some(Embedding { space: space(), nest: vector, nodes: vec![] }),
        recipe: RecipeText {
            format: "oxeye.recipe/1".into(),
            steps: Json::from(&serde_json::Value::Array(vec![])),
        },
        verdict: Verdict::Gained,
        measured: Some(Measured { baseline_seconds: 0.2, best_seconds: 0.1, speedup }),
        n_samples: 1,
        context: Context {
            host_key: "host".into(),
            compiler: "cc".into(),
            flags: vec!["-O3".into()],
            threads: 2,
            policy: FpPolicy::Strict,
        },
        compiler_version: "1".into(),
        host_summary: Json::from(&serde_json::Value::Null),
        sizes: Default::default(),
        provenance: Provenance { origin: Origin::Search, imported_from: None },
        created_at: Timestamp::default(),
        oxeye_version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn vector(random: &mut SplitMix64, dimension: usize) -> Vec<f32> {
    (0..dimension).map(|_| random.unit() as f32 - 0.5).collect()
}

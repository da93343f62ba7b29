//! Random entries of recipe databases.

use oxeye_database::*;
use oxeye_random::SplitMix64;

pub(crate) fn space() -> EmbeddingSpace {
    EmbeddingSpace { feature_schema: 1, model: "random".into(), model_hash: "00".into() }
}

pub(crate) fn entry(number: usize, vector: Vec<f32>) -> NewEntry {
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

/// Vectors of nests lie near each other: around one of 500 points, each of which has a few directions.
pub(crate) fn vector(random: &mut SplitMix64, dimension: usize) -> Vec<f32> {
    let mut of_kind = SplitMix64::new((random.unit() * 500.0) as u64);
    let mut vector: Vec<f32> = (0..dimension).map(|_| of_kind.unit() as f32 - 0.5).collect();
    for _ in 0..8 {
        let along = (random.unit() - 0.5) as f32;
        vector.iter_mut().for_each(|x| *x += 0.3 * along * (of_kind.unit() as f32 - 0.5));
    }
    vector.iter_mut().for_each(|x| *x += 0.02 * (random.unit() as f32 - 0.5));
    vector
}

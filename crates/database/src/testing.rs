//! Entries for tests.

use crate::{
    Context, Embedding, EmbeddingSpace, FpPolicy, Json, Measured, NewEntry, NodeEmbedding, NormalForm,
    Origin, Provenance, RecipeText, Speedup, Timestamp, Verdict,
};

/// The space of test embeddings.
pub(crate) fn space(model: u32) -> EmbeddingSpace {
    EmbeddingSpace { feature_schema: 1, model: format!("model{model}"), model_hash: format!("{model:08x}") }
}

/// The normal form of a nest.
pub(crate) fn nest(nest: u32) -> NormalForm {
    NormalForm { hash: format!("{nest:016x}"), text: format!("nest {nest}:\n  for l0 in 0..s0\n") }
}

/// A speedup of `1 + recipe` on a nest; embeddings of nests lie on a line at a distance of 1.
pub(crate) fn entry(nest_number: u32, recipe: u32) -> NewEntry {
    let best_seconds = 0.1 / (1.0 + f64::from(recipe));
    let median = 1.0 + f64::from(recipe);
    let node = |k: u32| NodeEmbedding {
        id: format!("l{k}"),
        kind: "loop".into(),
        vector: vec![k as f32 / 3.0, nest_number as f32, 1e-20],
    };
    NewEntry {
        nest: nest(nest_number),
        embedding: Some(Embedding {
            space: space(0),
            nest: vec![nest_number as f32, 0.1],
            nodes: vec![node(0), node(1)],
        }),
        recipe: RecipeText {
            format: "oxeye.recipe/1".into(),
            steps: Json::parse(&format!(r#"[{{"step":"unroll","at":0,"factor":{recipe}}}]"#)).expect("JSON"),
        },
        verdict: Verdict::Gained,
        measured: Some(Measured {
            baseline_seconds: 0.1,
            best_seconds,
            speedup: Speedup { median, low: 0.9 * median, high: 1.1 * median, confidence: 0.95 },
        }),
        n_samples: 7,
        context: Context {
            host_key: "host-a".into(),
            compiler: "gcc".into(),
            flags: vec!["-O3".into(), "-march=native".into()],
            threads: 2,
            policy: FpPolicy::Strict,
        },
        compiler_version: "12.2.0".into(),
        host_summary: Json::parse(r#"{"cores":2,"l2_bytes":1048576}"#).expect("JSON"),
        sizes: [("s0".to_owned(), 1000)].into(),
        provenance: Provenance { origin: Origin::Search, imported_from: None },
        created_at: Timestamp::from_unix_seconds(1_700_000_000).expect("in range"),
        oxeye_version: "0.1.0".into(),
    }
}

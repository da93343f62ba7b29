//! The nests of a recipe database: their embeddings, and what made each fastest.

use std::collections::BTreeMap;

use anyhow::Result;
use oxeye_database::{EmbeddingSpace, NewEntry, Order, RecipeStore, SqliteStore, Verdict};
use oxeye_transform::StoredRecipe;
use oxeye_transform::templates::{Independent, Loops, Order as LoopOrder, Strategy, Template, Threads};

/// A nest of the database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Donor {
    /// Its embedding.
    pub(crate) embedding: Vec<f32>,
    /// The kind of its best recipe.
    pub(crate) kind: Kind,
    /// The speedup of that recipe; 1 if nothing gained.
    pub(crate) speedup: f64,
    /// Loops around its innermost statement.
    pub(crate) depth: usize,
    /// The file it was imported from, if it was.
    pub(crate) source: Option<String>,
}

/// Kinds of recipes, few enough for a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Packed blocks around a register tile, for contractions and factorizations.
    Blocks,
    /// Tiles of several time steps.
    TimeTiles,
    /// Cache tiles.
    Tiles,
    /// Recurrences in vector lanes.
    Recurrences,
    /// Loops in another order, or split.
    Reordered,
    /// The order of the source on several threads.
    Threads,
    /// The order of the source on one thread.
    OneThread,
    /// Nothing gained.
    AsItIs,
}

impl Kind {
    /// All of them, in the order of the legend.
    pub(crate) const ALL: [Kind; 8] = [
        Kind::Blocks,
        Kind::TimeTiles,
        Kind::Tiles,
        Kind::Recurrences,
        Kind::Reordered,
        Kind::Threads,
        Kind::OneThread,
        Kind::AsItIs,
    ];

    /// In the legend.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Kind::Blocks => "packed blocks",
            Kind::TimeTiles => "time tiles",
            Kind::Tiles => "cache tiles",
            Kind::Recurrences => "vector recurrences",
            Kind::Reordered => "other loop order",
            Kind::Threads => "threads only",
            Kind::OneThread => "vectors, unrolled",
            Kind::AsItIs => "as it is",
        }
    }

    fn of(template: &Template) -> Kind {
        match template.strategy {
            _ if *template == Template::AS_IT_IS => Kind::AsItIs,
            Strategy::PackedContraction(_) | Strategy::Factor { .. } => Kind::Blocks,
            Strategy::TimeTiles { .. } => Kind::TimeTiles,
            Strategy::Loops(Loops { tile: Some(_), .. }) => Kind::Tiles,
            Strategy::Loops(Loops {
                order: LoopOrder::Ranked { independent: Independent::Innermost, .. },
                ..
            }) => Kind::Recurrences,
            Strategy::Crossings
            | Strategy::Regions
            | Strategy::Merged
            | Strategy::WrittenOut
            | Strategy::Fissioned
            | Strategy::Loops(Loops { order: LoopOrder::Ranked { .. }, .. }) => Kind::Reordered,
            Strategy::Loops(Loops { order: LoopOrder::Source, .. }) => match template.threads {
                Threads::One => Kind::OneThread,
                Threads::Outer(_) | Threads::Strips { .. } => Kind::Threads,
            },
        }
    }
}

/// Every nest of a database that has an embedding, in the space that most have, ordered by normal form.
///
/// # Errors
/// If the database cannot be read.
pub(crate) fn donors(store: &SqliteStore) -> Result<Vec<Donor>> {
    let mut by_space: BTreeMap<EmbeddingSpace, BTreeMap<String, Donor>> = BTreeMap::new();
    for entry in store.entries(Order::OldestFirst) {
        let content = entry?.content;
        let Some(embedding) = &content.embedding else { continue };
        let nests = by_space.entry(embedding.space.clone()).or_default();
        let donor = nests.entry(content.nest.hash.clone()).or_insert_with(|| Donor {
            embedding: embedding.nest.clone(),
            kind: Kind::AsItIs,
            speedup: 1.0,
            depth: depth(&content.nest.text),
            source: content.provenance.imported_from.clone(),
        });
        if let Some((kind, speedup)) = gain(&content)
            && speedup > donor.speedup
        {
            (donor.kind, donor.speedup, donor.embedding) = (kind, speedup, embedding.nest.clone());
        }
    }
    let largest = by_space.into_values().max_by_key(BTreeMap::len);
    Ok(largest.into_iter().flat_map(BTreeMap::into_values).collect())
}

/// Kind and speedup of an entry that gained. Recipes that no longer come from a template, as a person or a search
/// edited them, have no kind.
fn gain(content: &NewEntry) -> Option<(Kind, f64)> {
    let template = StoredRecipe::from_json(content.recipe.steps.value()).ok()?.template?;
    let speedup = content.speedup().filter(|_| content.verdict == Verdict::Gained)?;
    Some((Kind::of(&template), speedup))
}

/// Loops around the innermost statement of a nest's text.
fn depth(text: &str) -> usize {
    let mut indents: Vec<usize> = Vec::new();
    let mut deepest = 0;
    for line in text.lines().filter(|line| line.trim_start().starts_with("for ")) {
        let indent = line.len() - line.trim_start().len();
        indents.retain(|outer| *outer < indent);
        indents.push(indent);
        deepest = deepest.max(indents.len());
    }
    deepest
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use oxeye_database::{
        Context, Embedding, FpPolicy, Json, Measured, NormalForm, OnDamage, Origin, Provenance, RecipeText,
        Speedup, Timestamp,
    };
    use std::collections::BTreeSet;
    use std::path::Path;

    /// An entry for nest `nest`, with a template and its speedup.
    pub(crate) fn entry(nest: u32, template: Option<&str>, speedup: f64) -> NewEntry {
        let steps = serde_json::json!({ "template": template, "steps": [] });
        let verdict = if speedup > 1.0 { Verdict::Gained } else { Verdict::Slowed };
        NewEntry {
            nest: NormalForm {
                hash: format!("{nest:016x}"),
                text: "nest N0 {\n  for L0 {\n    if x {\n      for L1 {\n      }\n    }\n    for L2 {\n    }\n  }\n}\n".into(),
            },
            embedding: Some(Embedding {
                space: EmbeddingSpace { feature_schema: 1, model: "m".into(), model_hash: "5eed".into() },
                nest: vec![nest as f32, (nest * 7 % 11) as f32],
                nodes: Vec::new(),
            }),
            recipe: RecipeText { format: "oxeye.learnt-recipe/1".into(), steps: Json::from(&steps) },
            verdict,
            measured: Some(Measured {
                baseline_seconds: 1.0,
                best_seconds: 1.0 / speedup,
                speedup: Speedup { median: speedup, low: speedup, high: speedup, confidence: 0.0 },
            }),
            n_samples: 3,
            context: Context {
                host_key: "host".into(),
                compiler: "gcc".into(),
                flags: Vec::new(),
                threads: 2,
                policy: FpPolicy::Strict,
            },
            compiler_version: "12".into(),
            host_summary: Json::from(&serde_json::json!({})),
            sizes: BTreeMap::new(),
            provenance: Provenance { origin: Origin::Shipped, imported_from: None },
            created_at: Timestamp::from_unix_seconds(1_700_000_000).expect("in range"),
            oxeye_version: "0.1.0".into(),
        }
    }

    /// A database with these entries.
    pub(crate) fn store(path: &Path, entries: Vec<NewEntry>) -> SqliteStore {
        let mut store = SqliteStore::open(path, OnDamage::SetAside).expect("a new file opens");
        for entry in entries {
            store.add(entry).expect("it is sound");
        }
        store
    }

    #[test]
    fn nests_are_known_by_their_best_recipe() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bare = entry(4, Some("source threads simd"), 2.0);
        bare.embedding = None;
        let entries = vec![
            entry(1, Some("source threads simd"), 1.5),
            entry(1, Some("order:0 parallel-outer fused tile:l1/2 threads simd"), 3.0),
            entry(1, Some("time-tiles:8x32 threads simd"), 0.5),
            entry(2, Some("source threads simd"), 0.8),
            entry(3, None, 9.0),
            bare,
        ];
        let found = donors(&store(&folder.path().join("r.sqlite"), entries)).expect("it can be read");
        let brief: Vec<(Kind, f64)> = found.iter().map(|d| (d.kind, d.speedup)).collect();
        assert_eq!(brief, [(Kind::Tiles, 3.0), (Kind::AsItIs, 1.0), (Kind::AsItIs, 1.0)]);
        assert_eq!(found[0].depth, 2);
        assert_eq!(found[0].embedding, [1.0, 7.0]);
    }

    #[test]
    fn every_strategy_has_its_kind() {
        for (text, kind) in [
            ("source one-thread scalar", Kind::AsItIs),
            ("source one-thread simd", Kind::OneThread),
            ("source strips:256 simd", Kind::Threads),
            ("order:0 parallel-outer fused threads simd", Kind::Reordered),
            ("order:0 parallel-innermost fused threads simd:scattered", Kind::Recurrences),
            ("crossings threads simd", Kind::Reordered),
        ] {
            let template: Template = text.parse().expect(text);
            assert_eq!(Kind::of(&template), kind, "{text}");
        }
        let of_panel: BTreeSet<Kind> = oxeye_transform::templates::panel().iter().map(Kind::of).collect();
        assert_eq!(of_panel, BTreeSet::from(Kind::ALL));
    }
}

//! Export, import and merge.

use crate::{
    EXCHANGE_SCHEMA, Entry, MemoryStore, NewEntry, OnBadLine, OnDamage, Order, RecipeStore, SqliteStore,
    Tally, export, export_file, import, merge, parse_line, testing,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::path::Path;

fn filled(n_entries: u32) -> MemoryStore {
    let mut store = MemoryStore::new();
    for nest in 0..n_entries {
        store.add(testing::entry(nest, 1)).expect("adds");
    }
    store
}

fn text(store: &dyn RecipeStore) -> String {
    let mut text = Vec::new();
    export(store, Path::new("-"), &mut text).expect("writes");
    String::from_utf8(text).expect("UTF-8")
}

fn imported(store: &mut dyn RecipeStore, text: &str, on_bad: OnBadLine) -> Tally {
    import(store, "shared.jsonl", &mut text.as_bytes(), on_bad).expect("reads")
}

/// The entries without what an import changes.
fn contents(store: &dyn RecipeStore) -> Vec<(u64, NewEntry)> {
    let entries = store.entries(Order::OldestFirst).map(|entry| {
        let Entry { n_added, mut content, .. } = entry.expect("reads");
        content.provenance.imported_from = None;
        (n_added, content)
    });
    entries.collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(12),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_figure_comes_back_bit_for_bit(
        floats in proptest::collection::vec(any::<f32>().prop_filter("a number", |x| x.is_finite()), 1..20),
        seconds in (1e-12..1e12f64, 1e-12..1e12f64),
        median in 1.0000001..1e6f64,
        words in any::<String>(),
        size in any::<i64>(),
    ) {
        let mut entry = testing::entry(1, 1);
        let embedding = entry.embedding.as_mut().expect("vectors");
        embedding.nodes[0].vector = floats.clone();
        embedding.nodes.truncate(1);
        embedding.nest = floats;
        let measured = entry.measured.as_mut().expect("times");
        (measured.baseline_seconds, measured.best_seconds) = seconds;
        (measured.speedup.median, measured.speedup.low, measured.speedup.high) = (median, median / 3.0, median * 1.7);
        entry.context.flags.push(words.clone());
        entry.recipe.steps = crate::Json::from(&serde_json::json!({ words: [size, median, seconds.0] }));
        entry.sizes.insert("s1".into(), size);
        let mut store = MemoryStore::new();
        store.add(entry).expect("adds");
        let mut copy = MemoryStore::new();
        prop_assert_eq!(imported(&mut copy, &text(&store), OnBadLine::Stop).inserted, 1);
        prop_assert_eq!(contents(&copy), contents(&store));
        let bits = |store: &MemoryStore| -> Vec<u32> {
            let entries = contents(store).into_iter().flat_map(|(_, e)| e.embedding.expect("vectors").nest);
            entries.map(f32::to_bits).collect()
        };
        prop_assert_eq!(bits(&copy), bits(&store));
    }

    /// Lines of any bytes are taken or reported, and never break anything.
    #[test]
    fn spoilt_lines_are_named(position in 0..2000usize, byte in any::<u8>()) {
        let mut line = text(&filled(1)).into_bytes();
        let position = position % (line.len() - 1);
        line[position] = byte;
        let mut store = MemoryStore::new();
        let tally = import(&mut store, "x", &mut line.as_slice(), OnBadLine::Skip).expect("reads");
        let n_lines = if byte == b'\n' { 2 } else { 1 };
        prop_assert!(tally.n_good() as usize + tally.bad_lines.len() <= n_lines);
        prop_assert!(tally.bad_lines.iter().all(|bad| bad.line <= n_lines && !bad.reason.is_empty()));
    }
}

#[test]
fn an_export_is_imported_as_it_was_and_twice_is_once() {
    let mut store = filled(20);
    for _ in 0..3 {
        store.add(testing::entry(4, 1)).expect("adds");
    }
    let mut entry = testing::entry(5, 2);
    (entry.verdict, entry.measured) = (crate::Verdict::Failed("outputs differ\nby 1e-3".into()), None);
    entry.embedding = None;
    store.add(entry).expect("adds");
    let folder = tempfile::tempdir().expect("a folder");
    let mut copy = SqliteStore::open(&folder.path().join("copy.sqlite"), OnDamage::Refuse).expect("opens");
    for (inserted, kept) in [(21, 0), (0, 21)] {
        let tally = imported(&mut copy, &text(&store), OnBadLine::Stop);
        assert_eq!(tally, Tally { inserted, kept, ..Tally::default() });
        assert_eq!(contents(&copy), contents(&store));
    }
    let first = copy.entries(Order::OldestFirst).next().expect("one").expect("reads");
    assert_eq!(first.content.provenance.imported_from.as_deref(), Some("shared.jsonl"));
}

#[test]
fn bad_lines_are_named_and_stop_everything_unless_skipped() {
    let store = filled(3);
    let good: Vec<String> = text(&store).lines().map(str::to_owned).collect();
    let conflict = good[0].replace("nest 0:", "another nest:").replace(r#""factor":1"#, r#""factor":2"#);
    let lines = [
        good[0].clone(),
        String::new(),
        "{".into(),
        good[1].replace(EXCHANGE_SCHEMA, "oxeye.recipes/9"),
        good[1].replace(r#""n_samples":7"#, r#""n_samples":0"#),
        good[1].replace(r#""threads""#, r#""treads""#),
        conflict,
        good[2].clone(),
        r#"{"n_added": 1}"#.into(),
    ];
    let mut copy = MemoryStore::new();
    let tally = imported(&mut copy, &lines.join("\r\n"), OnBadLine::Stop);
    assert_eq!((copy.n_entries().expect("reads"), tally.n_good()), (0, 0));
    let tally = imported(&mut copy, &lines.join("\n"), OnBadLine::Skip);
    assert_eq!((copy.n_entries().expect("reads"), tally.inserted), (2, 2));
    let expected = [
        (3, "EOF while parsing an object at column 1"),
        (4, "its schema is `oxeye.recipes/9`"),
        (5, "n_samples: a verdict needs at least one"),
        (6, "unknown field `treads`"),
        (7, "stands for another normal form"),
        (9, "its schema is missing"),
    ];
    assert_eq!(tally.bad_lines.len(), expected.len());
    for (bad, (line, words)) in tally.bad_lines.iter().zip(expected) {
        assert_eq!(bad.line, line, "{bad}");
        assert!(bad.to_string().contains(words), "{bad}");
    }
}

#[test]
fn a_conflict_alone_stops_an_import_too() {
    let mut store = filled(1);
    let line = text(&filled(2)).replace("nest 0:", "another nest:");
    let tally = imported(&mut store, &line, OnBadLine::Stop);
    assert_eq!((tally.n_good(), tally.bad_lines[0].line), (0, 1));
    assert_eq!(store.n_entries().expect("reads"), 1);
}

#[test]
fn a_merge_takes_the_better_of_both() {
    let (mut a, mut b) = (filled(400), filled(2));
    b.add(NewEntry { n_samples: 70, ..testing::entry(1, 1) }).expect("adds");
    b.add(testing::entry(1000, 1)).expect("adds");
    for (inserted, replaced, kept) in [(1, 1, 1), (0, 0, 3)] {
        let tally = merge(&mut a, "b.sqlite", &b).expect("merges");
        assert_eq!(tally, Tally { inserted, replaced, kept, bad_lines: vec![] });
    }
    let tally = merge(&mut b, "a.sqlite", &a).expect("merges");
    assert_eq!((tally.inserted, tally.kept), (398, 3));
    let sorted = |store: &MemoryStore| {
        let mut contents = contents(store);
        contents.sort_by(|a, b| a.1.nest.hash.cmp(&b.1.nest.hash));
        contents
    };
    assert_eq!(sorted(&a), sorted(&b));
}

#[test]
fn an_exported_file_is_whole_or_the_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recipes.jsonl");
    assert_eq!(export_file(&filled(3), &path).expect("writes"), 3);
    assert_eq!(export_file(&filled(2), &path).expect("writes"), 2);
    assert_eq!(std::fs::read_to_string(&path).expect("reads"), text(&filled(2)));
    assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    let refused = export_file(&filled(1), &folder.path().join("none/recipes.jsonl"));
    assert!(refused.is_err_and(|e| e.to_string().contains("none/recipes.jsonl")));
}

#[test]
fn a_line_is_what_the_format_says() {
    let line = text(&filled(1));
    let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
    assert_eq!(keys.len(), 3);
    assert_eq!((&value["schema"], &value["n_added"]), (&EXCHANGE_SCHEMA.into(), &1.into()));
    let entry = &value["entry"];
    assert_eq!(entry["verdict"], "gained");
    assert_eq!(entry["created_at"], "2023-11-14T22:13:20Z");
    assert_eq!(entry["recipe"]["steps"][0]["step"], "unroll");
    assert_eq!(entry["provenance"]["imported_from"], serde_json::Value::Null);
    assert!(parse_line(line.as_bytes()).is_ok());
    assert!(parse_line(b"\xff{}").is_err_and(|e| e == "it is not UTF-8"));
}

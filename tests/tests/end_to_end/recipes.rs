//! Existing recipes are read, and written unchanged.

use oxeye_database::{SqliteStore, export};
use oxeye_transform::{Recipe, StoredRecipe};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models")
}

/// Reads the recipe in a line of an exchange file; returns the names of its steps.
fn reread(line: &str) -> Vec<String> {
    let line: Value = serde_json::from_str(line).expect("JSON");
    let recipe = &line["entry"]["recipe"]["steps"];
    let read = StoredRecipe::from_json(recipe.clone()).unwrap_or_else(|e| panic!("{recipe}: {e}"));
    assert_eq!(read.to_json(), *recipe);
    let text = read.steps.to_string();
    assert_eq!(text.parse::<Recipe>().as_ref(), Ok(&read.steps), "{text}");
    read.steps.steps.iter().map(|step| step.name().to_owned()).collect()
}

#[test]
fn the_shipped_database_and_textbook_are_read_and_written_alike() {
    let path = models().join("recipes.sqlite");
    let store = SqliteStore::open_read_only(&path).expect("the shipped database");
    let mut lines = Vec::new();
    export(&store, &path, &mut lines).expect("exported");
    let lines = String::from_utf8(lines).expect("UTF-8");
    let textbook = std::fs::read_to_string(models().join("textbook.jsonl")).expect("the textbook's entries");
    let lines: Vec<&str> =
        lines.lines().chain(textbook.lines()).filter(|l| l.contains("\"entry\"")).collect();
    assert!(lines.len() > 1000, "{}", lines.len());
    let names: BTreeSet<String> = lines.iter().flat_map(|line| reread(line)).collect();
    let wanted = ["contract", "distribute", "interchange", "normalize", "parallelize", "reorder", "skew"];
    let others = ["split", "tile", "unroll_and_jam", "vectorize"];
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), [&wanted[..], &others].concat());
}

#[test]
fn recipes_of_filetests_are_read_and_written_alike() {
    let mut n_read = 0;
    for folder in ["transform", "legality"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests").join(folder);
        for file in std::fs::read_dir(&folder).expect("the filetests").flatten() {
            let text = std::fs::read_to_string(file.path()).expect("a filetest");
            for json in
                text.lines().filter_map(|line| line.strip_prefix("// ")).filter(|l| l.starts_with('{'))
            {
                // Names of loops are for people: files are written with ids.
                let Ok(recipe) = serde_json::from_str::<Recipe>(&format!("[{json}]")) else {
                    assert!(file.file_name().to_string_lossy().contains("name"), "{json}");
                    continue;
                };
                let mut value: Value = serde_json::from_str(json).expect("JSON");
                let mut written = serde_json::to_value(&recipe.steps[0]).expect("JSON");
                // Files may leave out optional parts, and have terms in any order.
                if let Some(fields) = written.as_object_mut() {
                    fields.retain(|key, v| !v.is_null() || value.get(key).is_some());
                }
                sort_terms(&mut written);
                sort_terms(&mut value);
                assert_eq!(written, value, "{}", file.path().display());
                n_read += 1;
            }
        }
    }
    assert!(n_read > 100, "{n_read}");
}

/// Sorts the terms of all expressions.
fn sort_terms(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                sort_terms(value);
                if let (true, Value::Array(terms)) = (key == "terms", value) {
                    terms.sort_by_key(ToString::to_string);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(sort_terms),
        _ => {}
    }
}

//! `oxeye db` as a command.

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs `oxeye db` with the default database in `folder`.
fn db(folder: &Path, arguments: &[&str], input: &str) -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oxeye"))
        .arg("db")
        .args(arguments)
        .current_dir(folder)
        .env_remove("OXEYE_DATABASE")
        .env("XDG_DATA_HOME", folder)
        .env("COLUMNS", "160")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // Not every command reads its input.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A line of the exchange format.
fn line(nest: u32, seconds: f64) -> String {
    let value = json!({
        "schema": "oxeye.recipes/1",
        "n_added": 1,
        "entry": {
            "nest": { "hash": format!("{nest:08x}"), "text": format!("nest {nest}\n") },
            "embedding": null,
            "recipe": { "format": "oxeye.recipe/1", "steps": [{ "step": "vectorize", "at": 2 }] },
            "verdict": "gained",
            "measured": {
                "baseline_seconds": 0.3,
                "best_seconds": seconds,
                "speedup": { "median": 0.3 / seconds, "low": 1.0, "high": 1e3, "confidence": 0.95 },
            },
            "n_samples": 5,
            "context": {
                "host_key": "host", "compiler": "gcc", "flags": ["-O3"], "threads": 2, "policy": "strict",
            },
            "compiler_version": "12.2.0",
            "host_summary": { "cores": 2 },
            "sizes": { "s0": 100 },
            "provenance": { "origin": "search", "imported_from": null },
            "created_at": "2026-11-21T10:03:03Z",
            "oxeye_version": "0.1.0",
        },
    });
    format!("{value}\n")
}

#[test]
fn entries_go_in_and_come_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let empty = db(folder, &["list"], "");
    assert_eq!(empty.code, Some(0));
    assert!(empty.out.starts_with("no entries in "), "{}", empty.out);
    let path = db(folder, &["path"], "").out;
    assert_eq!(Path::new(path.trim()), folder.join("oxeye/recipes.sqlite"));
    assert!(!folder.join("oxeye").exists(), "reading creates nothing");

    let lines = line(1, 0.1) + &line(2, 0.123_456_789_012_345);
    let imported = db(folder, &["import", "-"], &lines);
    assert_eq!(
        (imported.code, imported.out.as_str()),
        (Some(0), "2 entries added, 0 replaced, 0 kept as they were\n")
    );
    assert_eq!(db(folder, &["add", "-"], &line(3, 0.01)).out, "entry 3 added\n");

    let list = db(folder, &["list", "--limit", "2"], "");
    assert!(list.out.contains("2 of 3 entries in ") && list.out.contains("30.00x"), "{}", list.out);
    let list: Value = serde_json::from_str(&db(folder, &["list", "--json"], "").out).expect("JSON");
    assert_eq!((&list["n_entries"], &list["entries"][0]["id"]), (&json!(3), &json!("3")));

    let shown = db(folder, &["show", "2"], "").out;
    assert!(
        shown.contains("gained") && shown.contains("from standard input") && shown.contains("nest 2"),
        "{shown}"
    );
    let shown = db(folder, &["show", "2", "--json"], "").out;
    assert!(shown.contains("0.123456789012345,"), "{shown}");
    let added = db(folder, &["--database", "other.sqlite", "add", "-"], &shown);
    assert_eq!((added.code, added.out.as_str()), (Some(0), "entry 1 added\n"));

    let exported = db(folder, &["export", "-"], "").out;
    assert_eq!(exported.lines().count(), 3);
    assert_eq!(db(folder, &["export", "all.jsonl"], "").code, Some(0));
    assert_eq!(std::fs::read_to_string(folder.join("all.jsonl")).expect("reads"), exported);

    let merged = db(folder, &["merge", "oxeye/recipes.sqlite", "--database", "other.sqlite"], "");
    assert_eq!(merged.out, "2 entries added, 0 replaced, 1 kept as they were\n");
}

#[test]
fn bad_lines_and_unknown_numbers_are_negative_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let lines = line(1, 0.1) + "{\n" + &line(2, 0.1);
    let refused = db(folder, &["import", "-"], &lines);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.starts_with("line 2: ") && refused.err.contains("--skip-bad"), "{}", refused.err);
    let skipped = db(folder, &["import", "-", "--skip-bad", "--json"], &lines);
    let tally: Value = serde_json::from_str(&skipped.out).expect("JSON");
    assert_eq!(
        (skipped.code, &tally["inserted"], &tally["bad_lines"][0]["line"]),
        (Some(0), &json!(2), &json!(2))
    );
    let missing = db(folder, &["show", "7"], "");
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("there is no entry 7"), "{}", missing.err);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("notes.txt"), "not a database ".repeat(100)).expect("writes");
    for arguments in [
        &["list", "--database", "notes.txt"][..],
        &["merge", "notes.txt"],
        &["merge", "missing.sqlite"],
        &["import", "missing.jsonl"],
        &["add", "notes.txt"],
        &["export", "no/such/folder/x.jsonl"],
    ] {
        let outcome = db(folder, arguments, "");
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.err);
        let named = arguments.iter().any(|word| word.contains('.') && outcome.err.contains(word));
        assert!(outcome.err.starts_with("error: ") && named, "{arguments:?}: {}", outcome.err);
    }
    assert!(folder.join("notes.txt").exists());
    assert_eq!(db(folder, &["show", "x"], "").code, Some(2));
    assert_eq!(db(folder, &[], "").code, Some(2));
}

#[test]
fn a_damaged_database_is_set_aside_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    assert_eq!(db(folder, &["add", "-"], &line(1, 0.1)).code, Some(0));
    let path = folder.join("oxeye/recipes.sqlite");
    std::fs::write(&path, "x".repeat(5000)).expect("writes");
    let outcome = db(folder, &["list"], "");
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.err.contains("was damaged") && outcome.err.contains(".damaged-"), "{}", outcome.err);
    assert!(!path.exists());
    assert_eq!(db(folder, &["list"], "").err, "");
}

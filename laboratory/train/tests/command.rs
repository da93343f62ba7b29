//! The command line as it is run, with and without libtorch.

use std::path::Path;
use std::process::{Command, Output};

fn train(args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxeye-train"));
    command.args(args).current_dir(folder).output().expect("oxeye-train starts")
}

#[test]
fn nests_are_drawn_alike_from_one_seed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let draw = |out: &str| {
        let ran = train(&["generate", "-n", "20", "--seed", "7", "--out", out], folder.path());
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        std::fs::read(folder.path().join(out)).expect("written")
    };
    let first = draw("a.jsonl");
    assert!(!first.is_empty());
    assert_eq!(first, draw("b.jsonl"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ran = train(&["stats", "nowhere.parquet"], folder.path());
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("nowhere.parquet"));
}

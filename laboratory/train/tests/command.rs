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

#[test]
fn nodes_measure_each_nest_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let train = |words: &str| {
        let ran = train(&words.split(' ').collect::<Vec<_>>(), folder.path());
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    train("generate -n 3 --seed 5 --out nests.jsonl");
    let n_nests = oxeye_dataset::nest::read_nests(&folder.path().join("nests.jsonl")).expect("nests").len();
    let measure = "measure nests.jsonl --timing-seconds 0.01 --threads 1";
    let said = train(&format!("{measure} --out set.parquet --local-shards 2"));
    assert_eq!(said, format!("{n_nests} of {n_nests} nests are in set.parquet\n"));
    let journal = || std::fs::read_to_string(folder.path().join("set.jsonl")).expect("the journal");
    let first = journal();
    assert_eq!(first.lines().count(), n_nests);
    // What is in the journal is not posted, whoever is to measure.
    train(&format!("{measure} --out set.parquet --local-shards 2"));
    train(&format!("{measure} --out set.parquet"));
    assert_eq!(journal(), first);
    // What is in a folder that stays is not measured again, either.
    let shared = format!("{measure} --local-shards 2 --shared shared");
    train(&format!("{shared} --out first.parquet"));
    train(&format!("{shared} --out second.parquet"));
    let table = |name: &str| oxeye_dataset::table::read(&folder.path().join(name)).expect("a dataset");
    let by_nest = |name: &str| {
        let mut records = table(name);
        records.sort_by(|a, b| a.nest.id.cmp(&b.nest.id));
        records
    };
    assert_eq!(by_nest("first.parquet"), by_nest("second.parquet"));
    assert_eq!(by_nest("first.parquet").len(), n_nests);
}

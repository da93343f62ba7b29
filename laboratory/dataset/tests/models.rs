//! The committed dataset contains none of the programs that Oxeye is evaluated with.

use oxeye_dataset::table;
use oxeye_ir::testing::is_required;
use oxeye_transform::{Policy, normalize_nest};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// The dataset, if this checkout has it; a missing one is a failure if `OXEYE_REQUIRE` names `dataset`.
fn committed_dataset() -> Option<PathBuf> {
    let path = models().join("dataset.parquet");
    if path.exists() {
        return Some(path);
    }
    assert!(!is_required("dataset"), "{} is required but missing", path.display());
    eprintln!("skipped: {} is missing", path.display());
    None
}

#[test]
fn no_nest_of_the_dataset_is_one_of_the_corpus() {
    let Some(path) = committed_dataset() else { return };
    let text = std::fs::read_to_string(models().join("excluded.txt")).expect("the list");
    let excluded: BTreeSet<&str> = text.lines().collect();
    for record in table::read(&path).expect("a dataset") {
        let (program, nest) = record.nest.parse().expect("a nest");
        for reassociate in [false, true] {
            let normal = normalize_nest(&program, &nest, Policy { reassociate, finite: false });
            let hash = format!("{:016x}", normal.hash);
            assert!(!excluded.contains(hash.as_str()), "{}", record.nest.id);
        }
        assert!(!excluded.contains(record.normal_hash.as_str()), "{}", record.nest.id);
    }
}

#[test]
fn the_dataset_stays_small() {
    let Some(path) = committed_dataset() else { return };
    let metadata = path.metadata().expect("a file");
    assert!(metadata.len() <= 40_000_000, "{} bytes", metadata.len());
}

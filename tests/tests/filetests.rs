//! The files in `tests/filetests`; `OXEYE_BLESS=1` rewrites their expectations.

use oxeye_tests::{filetest, repository};

fn run(folder: &str) {
    let failures = filetest::run_folder(&repository().join("tests/filetests").join(folder));
    assert!(
        failures.is_empty(),
        "{}\n\n{} files differ; OXEYE_BLESS=1 takes over what came out",
        failures.join("\n\n"),
        failures.len()
    );
}

#[test]
fn ir() {
    run("ir");
}

#[test]
fn transform() {
    run("transform");
}

#[test]
fn legality() {
    run("legality");
}

#[test]
fn normalize() {
    run("normalize");
}

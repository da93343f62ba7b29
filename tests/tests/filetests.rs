//! The files in `tests/filetests`, a test each: `cargo xtask filetest PATH` runs some of them.

use libtest_mimic::{Arguments, Trial};
use oxeye_tests::{filetest, repository};
use std::path::PathBuf;

fn main() -> Result<std::process::ExitCode, String> {
    let files = filetest::files(&repository().join("tests/filetests"))?;
    let trial = |(name, path): (String, PathBuf)| Trial::test(name, move || Ok(filetest::run_file(&path)?));
    let trials = files.into_iter().map(trial).collect();
    Ok(libtest_mimic::run(&Arguments::from_args(), trials).exit_code())
}

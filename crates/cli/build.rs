//! Tells the command which commit it was built from.

use std::path::Path;
use std::process::Command;

fn main() {
    // A package from a registry, or a build without git, has no commit.
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let is_ours = Path::new("../../.git").exists();
    let commit = is_ours.then(|| git(&["rev-parse", "--short=9", "HEAD"])).flatten();
    println!("cargo::rustc-env=OXEYE_COMMIT={}", commit.unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    // Where the commit changes, one of these does.
    let head = is_ours.then(|| git(&["rev-parse", "--git-path", "logs/HEAD"])).flatten();
    for path in head.iter().filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
}

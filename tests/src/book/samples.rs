//! Samples of what commands print.

use crate::{oxeye_binary, repository, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command line of a shell prints, as a block: in a copy of the examples of the book with `benchmarks/kernels` beside
/// them, `oxeye` being the built command and `$BOOK` the folder of the chapters.
///
/// # Errors
/// If it prints nothing, or its folder cannot be made.
pub fn sample(words: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let kernels = "benchmarks/kernels";
    for (from, to) in [(super::folder().join("examples"), ""), (repository().join(kernels), kernels)] {
        copy(&from, &folder.path().join(to)).map_err(|e| format!("{}: {e}", from.display()))?;
    }
    let here = oxeye_binary().parent().unwrap_or(Path::new("/"));
    let others = std::env::var_os("PATH").unwrap_or_default();
    let found: Vec<PathBuf> =
        std::iter::once(here.to_owned()).chain(std::env::split_paths(&others)).collect();
    let path = std::env::join_paths(found).map_err(|e| e.to_string())?;
    let line = words.join(" ");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path()).env("PATH", path).env("BOOK", super::folder());
    let output = command.output().map_err(|e| format!("no shell: {e}"))?;
    let told = text(&output.stdout);
    match told.trim().is_empty() {
        true => Err(format!("`{line}` prints nothing\n{}", text(&output.stderr))),
        false => Ok(format!("```text\n{}\n```", told.trim_matches('\n'))),
    }
}

/// Copies a folder with what is in it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

//! `cargo xtask filetest`: runs the files in `tests/filetests`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use oxeye_evaluation::{Verdict, repository};

/// Options of `cargo xtask filetest`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// A file or folder in tests/filetests, such as `legality` or `tests/filetests/transform/gather.oxir`; all if left out.
    path: Option<PathBuf>,
    /// Rewrite expectations with what comes out; read the difference before you keep it.
    #[arg(long)]
    bless: bool,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--package", "oxeye-tests", "--test", "filetests", "--"]);
    if let Some(path) = &args.path {
        command.arg(name(path));
    }
    if args.bless {
        command.env("OXEYE_BLESS", "1");
    }
    let status = command.current_dir(repository::root()).status().context("cannot start cargo")?;
    Ok(if status.success() { Verdict::Good } else { Verdict::Bad })
}

/// What tests are called that stand in this file or below this folder.
fn name(path: &Path) -> PathBuf {
    let parts: Vec<_> = path.components().collect();
    let at = parts.iter().position(|part| part.as_os_str() == "filetests");
    parts[at.map_or(0, |at| at + 1)..].iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_files_in_the_repository_or_in_the_folder() {
        for path in [
            "legality/a.oxir",
            "tests/filetests/legality/a.oxir",
            "/home/me/oxeye/tests/filetests/legality/a.oxir",
        ] {
            assert_eq!(name(Path::new(path)), Path::new("legality/a.oxir"));
        }
    }
}

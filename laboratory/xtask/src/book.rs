//! `cargo xtask book`: writes the generated parts of the book in `docs/book`.

use std::process::Command;

use anyhow::{Context, Result};
use oxeye_evaluation::{Verdict, repository};

/// Options of `cargo xtask book`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Only look whether the book is that of the code.
    #[arg(long)]
    check: bool,
    /// Write the samples of what commands print anew, which takes minutes on a quiet machine.
    #[arg(long, conflicts_with = "check")]
    samples: bool,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--package", "oxeye-tests", "--test", "book"]);
    if args.samples {
        command.args(["--release", "--", "--ignored", "samples"]);
    }
    if !args.check {
        command.env("OXEYE_BLESS", "1");
    }
    let status = command.current_dir(repository::root()).status().context("cannot start cargo")?;
    Ok(if status.success() { Verdict::Good } else { Verdict::Bad })
}

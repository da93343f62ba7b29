//! `cargo xtask dace`: tunes the DaCe programs in `benchmarks/dace` and compares them with DaCe's own.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use oxeye_evaluation::{Verdict, repository};

/// Options of `cargo xtask dace`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Programs: names without `.py`, or all
    #[arg(long, value_delimiter = ',')]
    programs: Vec<String>,
    /// A Python with dace==1.0.2 networkx==3.4.2 numpy==1.26.4
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Time for trying candidates, for each program
    #[arg(long, default_value = "60s")]
    budget: String,
    /// Stop at what similar nests and the nests themselves suggest
    #[arg(long)]
    quick: bool,
    /// Use this oxeye instead of building it
    #[arg(long)]
    oxeye: Option<PathBuf>,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let oxeye = match &args.oxeye {
        Some(path) => path.clone(),
        None => repository::build_binary("oxeye")?,
    };
    let mut command = Command::new(&args.python);
    command.arg(repository::root().join("benchmarks/dace/compare.py"));
    command.args(["--budget", &args.budget]).arg("--oxeye").arg(oxeye);
    if args.quick {
        command.arg("--quick");
    }
    let status = command.args(&args.programs).status();
    let status = status.with_context(|| format!("cannot run {}", args.python.display()))?;
    match status.code() {
        Some(0) => Ok(Verdict::Good),
        Some(1) => Ok(Verdict::Bad),
        _ => bail!("{} ended with {status}", args.python.display()),
    }
}

//! `oxeye replay`: apply a saved recipe file.

use crate::terminal::print_or_quit;
use anyhow::bail;
use oxeye::{Compiler, RecipeFile};
use std::path::PathBuf;
use std::process::ExitCode;

/// Apply the recipes of an earlier run to a file: the same result byte for byte, without running anything
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oxeye replay gemm.recipe.json gemm.c
  oxeye replay report.json gemm.c -o gemm_fast.c -- clang -O3
  oxeye replay gemm.search.jsonl gemm.c --trial 12 -o gemm_12.c

Every step is proved legal again. Compile the result with the flags of the run
that found the recipes, and with -fopenmp unless that used --threads 1.")]
pub(crate) struct Args {
    /// Recipe file of `oxeye optimize --save-recipe`, a report of its `--json`, or a log of `oxeye search`
    recipe: PathBuf,
    /// The C file
    file: PathBuf,
    /// Which trial of a search's log to apply
    #[arg(long, value_name = "N")]
    trial: Option<usize>,
    /// Where the tuned file goes; `-` is standard output [default: FILE with `.oxeye` before its extension]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Compiler and arguments to read the file with [default: those of the recipe file]
    #[arg(last = true, value_name = "CC ARGS")]
    compiler: Vec<String>,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut recipes = match args.trial {
        Some(trial) => oxeye::trial_recipes(&args.recipe, trial)?,
        None => RecipeFile::load(&args.recipe)?,
    };
    if !args.compiler.is_empty() {
        recipes.compiler = Compiler::from_words(&args.compiler, &args.file);
    }
    let text = oxeye::replay(&recipes, &args.file)?;
    let output = args.output.unwrap_or_else(|| oxeye::default_output(&args.file));
    if output.as_os_str() == "-" {
        print_or_quit(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if output.is_dir() {
        bail!("{} is a directory; name a file with -o", output.display());
    }
    oxeye::write_atomically(&output, &oxeye::encoded(&text))?;
    let n = recipes.nests.len();
    let nests = if n == 1 { "nest" } else { "nests" };
    print_or_quit(&format!("{n} {nests} rewritten; written to {}\n", output.display()))?;
    Ok(ExitCode::SUCCESS)
}

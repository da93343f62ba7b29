//! `oxeye optimize`: tune the loop nests of a C file.

use crate::program::ProgramArgs;
use crate::{draw::Drawing, table};
use anyhow::bail;
use clap::ValueEnum;
use oxeye::{FpPolicy, Options, Report};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  A program with a main: it is run once, and its nests are tuned with the data it really uses
    oxeye optimize gemm.c -- gcc -O3 -march=native -ffast-math -lm

  The same, the kernel in one file and the main in another
    oxeye optimize kernel.c -o kernel_fast.c -- clang -O3 main.c -lm

  A function without a program: sizes are given, data are drawn at random or read from NumPy files
    oxeye optimize kernel.c -f jacobi --set n=2000 --set steps=10 --input A=a.npy -- gcc -O2

  Keep the recipe, and apply it again later without measuring
    oxeye optimize gemm.c --save-recipe gemm.recipe.json -- gcc -O3
    oxeye replay gemm.recipe.json gemm.c

Exit codes:
  0    done; if nothing faster was found the file comes back unchanged and the table says why
  1    the tuned program did not behave like the original and was discarded
  2    could not run
  130  interrupted";

/// Rewrite the loop nests of a C file so that they run faster, checked against the original
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Where the tuned file goes [default: FILE with `.oxeye` before its extension]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// How many of the fastest candidates of a nest are timed against the original
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    /// Time for trying candidates, such as 90s or 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    budget: Duration,
    /// Whether floating-point sums may be reordered [default: as the compile flags say]
    #[arg(long, value_enum)]
    fp: Option<Fp>,
    /// Write the recipes of the chosen candidates to a file for `oxeye replay`
    #[arg(long, value_name = "RECIPE")]
    save_recipe: Option<PathBuf>,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
    /// Write the report as a page with roofline plots: one file that needs nothing else
    #[arg(long, value_name = "REPORT")]
    html: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fp {
    /// Never: results stay bit for bit
    Strict,
    /// Always
    Reassociate,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (json, html) = (args.json.clone(), args.html.clone());
    let options = args.options();
    let output = options.output_path();
    let mut taken: Vec<&Path> = vec![&options.file, &output];
    taken.extend(options.save_recipe.as_deref());
    for path in json.iter().chain(&html).filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &taken)?;
        taken.push(path);
    }
    let drawing = Drawing::new();
    let outcome = oxeye::optimize(&options, &drawing);
    drawing.finish();
    let report = outcome?;
    if let Some(path) = html {
        match report.to_html() {
            Some(page) => oxeye::write_atomically(&path, page.as_bytes())?,
            None => bail!("{}: no page was written, as the machine could not be measured", path.display()),
        }
    }
    if json.as_deref() == Some(Path::new("-")) {
        print_or_quit(&report.to_json())?;
        let _ = std::io::stderr().write_all(table::render(&report).as_bytes());
    } else {
        if let Some(path) = json {
            oxeye::write_atomically(&path, report.to_json().as_bytes())?;
        }
        print_or_quit(&table::render(&report))?;
    }
    Ok(exit_code(&report))
}

fn exit_code(report: &Report) -> ExitCode {
    match &report.program.mismatch {
        Some(_) if !report.changed => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    }
}

/// A closed pipe is the reader's business, not an error.
pub(crate) fn print_or_quit(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => bail!("cannot write to standard output: {e}"),
        Ok(()) => Ok(()),
    }
}

impl Args {
    fn options(self) -> Options {
        let mut options = self.program.options();
        options.output = self.output;
        options.top_k = self.top_k as usize;
        options.budget = self.budget;
        options.fp = match self.fp {
            None => FpPolicy::FromFlags,
            Some(Fp::Strict) => FpPolicy::Strict,
            Some(Fp::Reassociate) => FpPolicy::Reassociate,
        };
        options.save_recipe = self.save_recipe;
        options
    }
}

/// `90`, `90s`, `1.5m`, `500ms`, `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is not a unit of time; use ms, s, m or h")),
    };
    let value: f64 = digits.parse().map_err(|_| format!("`{text}` is not a time such as 90s or 5m"))?;
    match Duration::try_from_secs_f64(value * scale) {
        Ok(time) if !time.is_zero() && time <= Duration::from_secs(7 * 24 * 3600) => Ok(time),
        _ => Err("it should be longer than nothing and at most a week".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "s", "-1s", "0s", "1e300s", "5 parsecs", "nan", "inf"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

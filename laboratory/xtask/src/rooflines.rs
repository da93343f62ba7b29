//! `cargo xtask rooflines`: profiles every nest of the programs in `benchmarks/kernels`, and looks for impossible figures.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use oxeye_evaluation::corpus::{self, Kernel};
use oxeye_evaluation::{Verdict, repository};

/// Options of `cargo xtask rooflines`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Programs to profile: names without `.c`, or the groups all, base (the thirty) and b (their variants)
    #[arg(long, value_delimiter = ',', default_value = "all")]
    kernels: Vec<String>,
    /// Divide every size by this number
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    shrink: u64,
    /// Compiler and flags
    #[arg(long, default_value = "gcc -O3 -march=native -ffast-math", allow_hyphen_values = true)]
    compiler: String,
    /// The `oxeye` to run instead of a freshly built one
    #[arg(long)]
    oxeye: Option<PathBuf>,
    /// Folder for roofline.md
    #[arg(long, default_value = "benchmarks/results")]
    out: PathBuf,
}

/// Profiles and checks, and rewrites the table after each program.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let kernels = corpus::select(&root.join("benchmarks/kernels"), &args.kernels)?;
    let oxeye = match &args.oxeye {
        Some(path) => path.clone(),
        None => repository::build_binary("oxeye")?,
    };
    let mut table = String::new();
    let mut faults = Vec::new();
    let mut n_nests = 0;
    for (idx, kernel) in kernels.iter().enumerate() {
        let found = match profile(&oxeye, kernel, args) {
            Ok(report) => {
                let nests = report["nests"].as_array().cloned().unwrap_or_default();
                n_nests += nests.len();
                nests.iter().for_each(|nest| table.push_str(&row(&kernel.name, nest)));
                nests
                    .iter()
                    .flat_map(|n| impossible(n).into_iter().map(|why| format!("{}: {why}", kernel.name)))
                    .collect()
            }
            Err(error) => vec![format!("{}: {error:#}", kernel.name)],
        };
        eprintln!("[{}/{}] {}: {} faults", idx + 1, kernels.len(), kernel.name, found.len());
        faults.extend(found);
        write(&root.join(&args.out), args, n_nests, &table, &faults)?;
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    println!(
        "{n_nests} nests of {} programs, {} impossible figures or failures",
        kernels.len(),
        faults.len()
    );
    Ok(if faults.is_empty() { Verdict::Good } else { Verdict::Bad })
}

fn profile(oxeye: &Path, kernel: &Kernel, args: &Args) -> Result<Value> {
    let mut command = Command::new(oxeye);
    command.args(["profile", "--refresh", "--json", "-"]).arg(&kernel.path).arg("--");
    command.args(args.compiler.split_whitespace()).args(kernel.shrunk(args.shrink)).arg("-lm");
    let output = command.output().with_context(|| format!("cannot start {}", oxeye.display()))?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "no profile: {}", words.lines().last().unwrap_or_default());
    serde_json::from_slice(&output.stdout).context("the profile is not JSON")
}

/// Impossible figures: rates above a measured ceiling beyond the spread of both, intensities above the compulsory
/// bound, shares of a roof above 1, figures that are not positive numbers.
fn impossible(nest: &Value) -> Vec<String> {
    let name = nest["name"].as_str().unwrap_or_default();
    let value = |figure: &Value| figure["value"].as_f64();
    let spread = |figure: &Value| figure["spread"].as_f64().unwrap_or(0.0);
    let mut faults = Vec::new();
    if let Some(share) = value(&nest["roof_fraction"])
        && !(share > 0.0 && share <= 1.0)
    {
        faults.push(format!("{name} reaches {share} of its roof"));
    }
    let most = value(&nest["compulsory_intensity"]);
    for level in nest["levels"].as_array().into_iter().flatten() {
        let label = level["level"].as_str().unwrap_or_default();
        if let (Some(rate), Some(ceiling)) = (value(&level["gb_per_s"]), value(&level["ceiling_gb_per_s"])) {
            // Quartiles are narrower than the tails that a short run may come from.
            let slack = 1.0 + 3.0 * (spread(&level["gb_per_s"]) + spread(&level["ceiling_gb_per_s"])) + 0.05;
            if rate > ceiling * slack {
                faults.push(format!("{name}: {rate:.1} GB/s from {label}, whose ceiling is {ceiling:.1}"));
            }
        }
        if let (Some(intensity), Some(most)) = (value(&level["intensity"]), most)
            && intensity > 1.001 * most
        {
            faults.push(format!(
                "{name}: intensity {intensity:.3} at {label}, and at most {most:.3} is possible"
            ));
        }
    }
    faults
}

/// A line of the table.
fn row(kernel: &str, nest: &Value) -> String {
    let number = |figure: &Value, scale: f64| match figure["value"].as_f64() {
        Some(value) => format!("{:.3}", value * scale),
        None => "–".to_owned(),
    };
    let time = if nest["basis"] == "cold" { &nest["cold_ns"] } else { &nest["warm_ns"] };
    let bound = match nest["bound"]["kind"].as_str() {
        Some("bandwidth") => format!("{} bandwidth", nest["bound"]["level"].as_str().unwrap_or_default()),
        Some("peak") => format!("{} peak", nest["bound"]["ty"].as_str().unwrap_or_default()),
        Some("rate") => format!(
            "{} {} rate",
            nest["bound"]["ty"].as_str().unwrap_or_default(),
            nest["bound"]["operation"].as_str().unwrap_or_default()
        ),
        kind => kind.unwrap_or("unknown").to_owned(),
    };
    format!(
        "| {kernel} | {} | {} | {} | {} | {bound} | {} |\n",
        nest["name"].as_str().unwrap_or_default(),
        number(time, 1e-6),
        number(&nest["gflops"], 1.0),
        number(&nest["compulsory_intensity"], 1.0),
        number(&nest["roof_fraction"], 100.0),
    )
}

fn write(folder: &Path, args: &Args, n_nests: usize, table: &str, faults: &[String]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut text = String::from("# The nests of the benchmark programs on the roofline\n\n");
    let _ = writeln!(
        text,
        "`oxeye profile` with `{}`, all sizes divided by {}: {n_nests} nests, {} impossible figures or failures. Times are of \
         one invocation with warm caches. Intensity is against compulsory traffic. The share is of the nearest roof, by \
         modelled traffic where that is not compulsory.\n",
        args.compiler,
        args.shrink,
        faults.len()
    );
    text.push_str(
        "| program | nest | ms | GFLOP/s | FLOP/B | bound | % of it |\n|---|---|---:|---:|---:|---|---:|\n",
    );
    text.push_str(table);
    if !faults.is_empty() {
        text.push('\n');
        faults.iter().for_each(|fault| _ = writeln!(text, "- {fault}"));
    }
    let path = folder.join("roofline.md");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

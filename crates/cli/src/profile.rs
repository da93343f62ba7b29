//! `oxeye profile`: the nests of a C file against the roofline of this machine.

use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::terminal::{View, print_or_quit};
use oxeye::{NestProfile, ProfileOptions, ProfileReport, Progress};
use oxeye_host::HostProfile;
use oxeye_profile::{SECTION_RULES, Section, Table, format_ns, format_number, format_percent, section_cells};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  Every nest of a program, with the data it really uses
    oxeye profile gemm.c -- gcc -O3 -march=native -lm

  The same as a page with roofline plots, and as a table for pandas or polars
    oxeye profile gemm.c --html gemm.html --parquet gemm.parquet -- gcc -O3 -lm

  When each thread was in which nest, for chrome://tracing or ui.perfetto.dev
    oxeye profile gemm.c --trace gemm.trace.json -- gcc -O3 -fopenmp -lm

  A function without a program: sizes are given, data are drawn at random
    oxeye profile kernel.c -f jacobi --set n=2000 --set steps=10 -- gcc -O2

Times are of one invocation, alone in a process, with its data in the caches
(warm) or not (cold). GFLOP/s is the rate reached; possible, the rate that the
bound allows. Below that stand the sections of the program's own run: every
call of every nest. Figures that are missing are named below the tables, and -v
says why. A profile is kept and shown again until program, inputs, compiler,
flags or machine change.";

/// Show what bounds each loop nest, and how much of that it reaches
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::run_of_file), mut_arg("timeout", program::timeout_without_budget))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Measure again even if a profile of the same program is kept
    #[arg(long)]
    refresh: bool,
    /// Write every figure with its provenance as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the table as comma-separated values; `-` is standard output
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the table as a Parquet file
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Write a self-contained HTML page with roofline plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write when each thread was in which nest, for Chrome's and Perfetto's trace viewers
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Most intervals in the trace; later ones are dropped
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "trace")]
    trace_events: usize,
}

impl Args {
    /// Profiles the nests of the file. Also returns the machine's own profile.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<(ProfileReport, HostProfile)> {
        let profiling = ProfileOptions {
            use_cache: !self.refresh,
            trace: self.trace.clone(),
            trace_events: self.trace_events,
            ..ProfileOptions::default()
        };
        Ok(oxeye::profile(&self.program.options()?, &profiling, progress)?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let mut taken: Vec<&Path> = vec![&args.program.file];
    let files = [&args.json, &args.csv, &args.parquet, &args.html, &args.trace];
    for path in files.into_iter().flatten().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &taken)?;
        taken.push(path);
    }
    let drawing = Drawing::new(manner, true);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let (report, host) = outcome?;
    let table = Table::of(&report.nests);
    let mut to_stdout = false;
    let mut write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
        Some(path) if path == Path::new("-") => {
            to_stdout = true;
            print_or_quit(&text())
        }
        Some(path) => Ok(oxeye::write_atomically(path, text().as_bytes())?),
        None => Ok(()),
    };
    write(&args.json, &|| report.to_json())?;
    write(&args.csv, &|| table.to_csv())?;
    write(&args.html, &|| report.to_html(&host))?;
    if let Some(path) = &args.parquet {
        table.write_parquet(path)?;
    }
    if !to_stdout {
        manner.say(&|view| shown(&report, host.is_provisional(), view))?;
    }
    Ok(if report.nests.is_empty() { Exit::Negative } else { Exit::Done })
}

/// The report for people. The ceilings of a provisional profile are lower bounds; why figures are missing is for those who ask.
fn shown(report: &ProfileReport, provisional: bool, view: View) -> String {
    let (mut out, width) = (String::new(), view.width);
    if report.nests.is_empty() {
        out.push_str("no loop nest has a profile\n");
    } else {
        out += &nests(&report.nests, provisional, width);
    }
    if !report.sections.is_empty() {
        out += &sections(&report.sections, width);
    }
    let remarks = |n: &NestProfile| {
        let missing: &[String] = if view.verbose { &n.why_missing } else { &[] };
        missing.iter().chain(&n.notes).cloned().collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = report.nests.iter().map(remarks).collect();
    let mut line = |place: &str, text: &str| out += &wrapped(&format!("{place}{text}"), width);
    // What goes for every nest is said once.
    let shared = |line: &String| all.len() > 1 && all.iter().all(|lines| lines.contains(line));
    for text in all.first().into_iter().flatten().filter(|line| shared(line)) {
        line("all nests: ", text);
    }
    for (nest, lines) in report.nests.iter().zip(&all) {
        for text in lines.iter().filter(|line| !shared(line)) {
            line(&format!("{}: ", nest.name), text);
        }
    }
    for sentence in &report.shared {
        line("", sentence);
    }
    let reasons = report.nests.iter().flat_map(|nest| &nest.why_missing).map(String::as_str);
    if let Some(missing) = missing(reasons).filter(|_| !view.verbose) {
        line("", &missing);
    }
    for nest in &report.skipped {
        line(&format!("{}: ", nest.name), &nest.why);
    }
    for note in &report.notes {
        line("", note);
    }
    if report.from_cache {
        out.push_str("from an earlier run; --refresh measures again\n");
    }
    out
}

/// One sentence that names the figures for whose lack these are the reasons.
fn missing<'t>(reasons: impl IntoIterator<Item = &'t str>) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for text in reasons {
        let name = match text.split(": ").next().unwrap_or(text) {
            counters if counters.starts_with("counters") => "hardware counters",
            name => name,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty())
        .then(|| format!("no figures, of some nests at least: {} (-v says why)", names.join(", ")))
}

/// The program's run: calls and times of its nests, and what they do per second and per byte.
fn sections(sections: &[Section], width: usize) -> String {
    let heads = ["calls", "minimum", "mean", "maximum", "total", "share"];
    let rates = ["Gpoints/s", "operations/byte", "GFLOP/s"];
    let table = |heads: &[&'static str], from: usize| {
        let columns: Vec<Column> = std::iter::once(Column::words("section"))
            .chain(heads.iter().map(|head| Column::numbers(head)))
            .collect();
        let row = |section: &Section| {
            let cells = section_cells(section).into_iter().skip(from).take(heads.len());
            std::iter::once(section.name.clone()).chain(cells).collect::<Vec<_>>()
        };
        columns::table(&columns, &sections.iter().map(row).collect::<Vec<_>>(), width)
    };
    let mut out = format!("\nthe program's run\n{}{}", table(&heads, 0), table(&rates, heads.len()));
    SECTION_RULES.iter().for_each(|rule| out += &wrapped(rule, width));
    out
}

/// One row per nest: its time, its rate, and the roof that bounds it.
fn nests(nests: &[NestProfile], provisional: bool, width: usize) -> String {
    let most = if provisional { "≤" } else { "" };
    let columns = [
        Column::words("nest"),
        Column::numbers("share"),
        Column::numbers("time"),
        Column::whole("caches"),
        Column::numbers("GFLOP/s"),
        Column::numbers("possible"),
        Column::words("bound by"),
        Column::numbers("reached"),
    ];
    let row = |nest: &NestProfile| {
        let shown = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        vec![
            nest.name.clone(),
            shown(nest.share.map(|share| format_percent(share.value))),
            shown(nest.runtime_ns().map(|time| format_ns(time.value))),
            shown(nest.basis.map(|basis| basis.to_string())),
            shown(nest.gflops.map(|rate| format_number(rate.value))),
            shown(nest.attainable_gflops.map(|rate| format_number(rate.value))),
            nest.bound.to_string(),
            shown(nest.roof_fraction.map(|fraction| format!("{most}{}", format_percent(fraction.value)))),
        ]
    };
    columns::table(&columns, &nests.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_figures_are_named_in_one_line() {
        let why = [
            "thread scaling: the nest runs on one thread",
            "counters cycles, branches: none here",
            "counters DRAM bytes read: none here",
            "thread scaling: the nest runs on one thread",
            "DRAM traffic: 4 MB stay in L3",
        ];
        let line = missing(why).expect("some are missing");
        assert!(
            line.contains("at least: thread scaling, hardware counters, DRAM traffic (-v says why)"),
            "{line}"
        );
        assert_eq!(missing([]), None);
    }
}

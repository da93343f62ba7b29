//! `oxeye explain`: why nests are tuned as they are.

use crate::draw::Drawing;
use crate::optimize::print_or_quit;
use crate::program::ProgramArgs;
use crate::table::{ruled, time};
use crate::tuning::{FpArgs, KnowledgeArgs, duration};
use oxeye::{
    CandidateExplanation, DonorExplanation, ExplainOptions, ExplainReport, NestExplanation, Verdict,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  Every nest of a program: what it is like, what helped there, and what of that helps here
    oxeye explain gemm.c -- gcc -O3 -march=native -ffast-math -lm

  The same without measuring any candidate
    oxeye explain gemm.c --no-run -- gcc -O3 -lm

  Everything, the vectors included, for a notebook
    oxeye explain gemm.c --json gemm.explain.json -- gcc -O3 -lm

  A function without a program
    oxeye explain kernel.c -f jacobi --set n=2000 --set steps=10 -- gcc -O2

What is measured is measured as by `oxeye optimize`, nest by nest; no file is written but the report.

Exit codes:
  0    done
  1    the file has no loop nest that would be tuned
  2    could not run
  130  interrupted";

/// Rows of each table; everything is in the JSON report.
const MOST_ROWS: usize = 12;

/// Show what each loop nest is like, what helped its relatives, and what each recipe would do here or why not
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Time for trying candidates, such as 90s or 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    budget: Duration,
    /// How many candidates of a nest that helped nests like it are tried
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    #[command(flatten)]
    fp: FpArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    /// Do not measure what would be tried; the program itself is still run once
    #[arg(long)]
    no_run: bool,
    /// Write everything as JSON (schema oxeye.explain/1); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.program.options();
    options.budget = args.budget;
    options.top_k = args.top_k as usize;
    options.fp = args.fp.policy();
    args.knowledge.apply(&mut options);
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[&options.file])?;
    }
    let drawing = Drawing::new();
    let outcome = oxeye::explain(&options, &ExplainOptions { measure: !args.no_run }, &drawing);
    drawing.finish();
    let report = outcome?;
    let shown = render(&report);
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => {
            print_or_quit(&report.to_json())?;
            // Where standard error is closed, nobody wants to know.
            let _ = std::io::stderr().write_all(shown.as_bytes());
        }
        Some(path) => {
            oxeye::write_atomically(path, report.to_json().as_bytes())?;
            print_or_quit(&shown)?;
        }
        None => print_or_quit(&shown)?,
    }
    Ok(if report.nests.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The report for people.
fn render(report: &ExplainReport) -> String {
    let mut out = String::new();
    for nest in &report.nests {
        explain_nest(&mut out, nest);
    }
    if report.nests.is_empty() {
        out.push_str("no loop nest would be tuned\n");
    }
    for nest in &report.skipped {
        let _ = writeln!(out, "{}: {}", nest.name, nest.why);
    }
    for note in &report.notes {
        let _ = writeln!(out, "{note}");
    }
    out
}

fn explain_nest(out: &mut String, nest: &NestExplanation) {
    // Writing to a string does not fail.
    let share = nest.share.map(|s| format!(", {:.0} % of the program's time", 100.0 * s)).unwrap_or_default();
    let _ = writeln!(out, "== {}, line {}{share}", nest.function, nest.line);
    if let Some(known) = &nest.nest {
        let sizes: Vec<String> =
            known.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(
            out,
            "normal form {}{}",
            known.hash,
            if sizes.is_empty() { String::new() } else { format!(", {}", sizes.join(", ")) }
        );
        for line in known.text.lines().filter(|line| is_loop_or_stmt(line)) {
            // Nests are indented inside their program.
            let _ = writeln!(out, "  {}", line.strip_prefix("    ").unwrap_or(line));
        }
        let _ = writeln!(
            out,
            "embedding of model {}: {} numbers; the encoder guesses {} a run, {:.2} GFLOP/s",
            known.space.model,
            known.embedding.len(),
            time(1e3 * known.predicted_seconds),
            known.predicted_gflops
        );
    }
    donors(out, nest);
    candidates(out, nest);
    refusals(out, nest);
    let n_others = nest.refused.iter().filter(|r| r.helped.is_none() && r.steps.is_empty()).count();
    if n_others > 0 {
        let _ = writeln!(out, "{n_others} templates do not fit this nest; the JSON report says why");
    }
    if let Some(note) = &nest.note {
        let _ = writeln!(out, "note: {note}");
    }
    let _ = writeln!(out, "{}\n", nest.conclusion);
}

/// What helped donors, or came to steps, and cannot be done here: once for each reason.
fn refusals(out: &mut String, nest: &NestExplanation) {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for refusal in nest.refused.iter().filter(|r| r.helped.is_some() || !r.steps.is_empty()) {
        let helped = refusal.helped.as_ref().map(|helped| format!(" ({helped})")).unwrap_or_default();
        let what = format!("{}{helped}", refusal.name);
        match told.iter_mut().find(|(reason, _)| *reason == refusal.reason) {
            Some((_, all)) => all.push(what),
            None => told.push((&refusal.reason, vec![what])),
        }
    }
    for (reason, what) in told {
        let _ = writeln!(out, "refused: {}: {reason}", what.join(", "));
    }
}

fn is_loop_or_stmt(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("for L") || line.starts_with("if ") || line.starts_with('S')
}

fn donors(out: &mut String, nest: &NestExplanation) {
    if nest.donors.is_empty() {
        return;
    }
    let mut table = ruled(["donor", "distance", "tried", "best gain", "by", "its loops here"]);
    for donor in &nest.donors {
        let best = donor.trials.iter().find(|trial| trial.speedup.is_some());
        let by = best.map(|t| t.template.clone().unwrap_or_else(|| t.steps.join("; ")));
        table.add_row([
            donor.donor.clone(),
            donor.distance.map(|d| format!("{d:.3}")).unwrap_or_default(),
            donor.trials.len().to_string(),
            best.and_then(|t| t.speedup).map(|s| format!("{s:.2}x")).unwrap_or_else(|| "-".into()),
            by.unwrap_or_else(|| "-".into()),
            loops(donor),
        ]);
    }
    let _ = writeln!(out, "{table}");
    if let Some(far) = nest.far {
        let _ = writeln!(out, "beyond a distance of {far:.3} donors say nothing");
    }
}

/// Which loop of the donor is which loop here.
fn loops(donor: &DonorExplanation) -> String {
    let loops = donor.aligned.iter().filter(|node| node.kind == "loop");
    let pairs: Vec<String> = loops.map(|node| format!("{} is {}", node.donor, node.here)).collect();
    if pairs.is_empty() { "-".into() } else { pairs.join(", ") }
}

fn candidates(out: &mut String, nest: &NestExplanation) {
    if nest.candidates.is_empty() {
        return;
    }
    let mut table =
        ruled(["", "legal schedule", "speaks for it", "gain there", "predicted", "measured", "verdict"]);
    let factor = |speedup: Option<f64>| speedup.map(|s| format!("{s:.2}x")).unwrap_or_else(|| "-".into());
    for candidate in nest.candidates.iter().take(MOST_ROWS) {
        table.add_row([
            candidate.rank.map(|rank| rank.to_string()).unwrap_or_default(),
            candidate.name.clone(),
            candidate.donor.clone().unwrap_or_else(|| "-".into()),
            factor(candidate.donor_speedup),
            factor(candidate.predicted_speedup),
            factor(candidate.speedup),
            verdict(candidate),
        ]);
    }
    let _ = writeln!(out, "{table}");
    if nest.candidates.len() > MOST_ROWS {
        let _ = writeln!(out, "{} more in the JSON report", nest.candidates.len() - MOST_ROWS);
    }
    for candidate in nest.candidates.iter().filter(|c| c.rank.is_some()) {
        let _ = writeln!(out, "{}: {}", candidate.name, candidate.steps.join("; "));
    }
}

fn verdict(candidate: &CandidateExplanation) -> String {
    let word = match candidate.verdict {
        None => "not chosen",
        Some(Verdict::Chosen) => "wins",
        Some(Verdict::Slower) => "right, not the fastest",
        Some(Verdict::NotTried) => "not tried",
        Some(Verdict::TooSlow) => "too slow",
        Some(Verdict::WrongResult) => "wrong result",
        Some(Verdict::Crashed) => "crashed",
        Some(Verdict::DoesNotCompile) => "does not compile",
        Some(Verdict::Refused) => "refused",
        Some(Verdict::Duplicate) => "the same as another",
        Some(Verdict::Dropped) => "dropped",
    };
    match &candidate.why {
        Some(why) if candidate.verdict != Some(Verdict::NotTried) => format!("{word}: {why}"),
        _ => word.into(),
    }
}

//! `oxeye explain`: why nests are tuned as they are.

use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::knowledge::KnowledgeArgs;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::table::{outcome, percent, time};
use crate::terminal::View;
use crate::tuning::{FpArgs, duration, print_report};
use console::Style;
use oxeye::{
    CandidateExplanation, DonorExplanation, ExplainOptions, ExplainReport, NestExplanation, Options,
    Progress, RefusalExplanation, Verdict,
};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  Every nest of a program: which nests it resembles, and what of theirs helps
    oxeye explain gemm.c -- gcc -O3 -march=native -ffast-math -lm

  The same without measuring any candidate
    oxeye explain gemm.c --no-run -- gcc -O3 -lm

  Everything, the vectors included, for a notebook
    oxeye explain gemm.c --json gemm.explain.json -- gcc -O3 -lm

  A function without a program
    oxeye explain kernel.c -f jacobi --set n=2000 --set steps=10 -- gcc -O2

Candidates are measured as by `oxeye tune`, nest by nest. Only the report
is written.

Exit codes:
  0    done
  1    the file has no loop nest that would be tuned
  2    could not run
  130  interrupted";

/// Lines of each normal form, candidates and donors of each nest, unless everything is asked for.
const MOST_LINES: usize = 12;
const MOST_CANDIDATES: usize = 6;
const MOST_DONORS: usize = 3;
/// Share of the time from which on a nest is explained without being asked for.
const WORTH_READING: f64 = 0.05;
/// From this width on tables have columns that are not needed to follow them.
const WIDER: usize = 120;

/// Show what made similar loop nests fast, and what that does here
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::run_of_file))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Time for trying candidates, such as 90s or 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    budget: Duration,
    /// Candidates to try on each nest, from what helped nests like it
    #[arg(long, default_value_t = 3, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    top_k: u32,
    #[command(flatten)]
    fp: FpArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    /// Do not measure candidates; the program itself is still run once
    #[arg(long)]
    no_run: bool,
    /// Write everything as JSON (schema oxeye.explain/1); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Args {
    /// The options of the run.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let mut options = self.program.options()?;
        options.budget = self.budget;
        options.top_k = self.top_k as usize;
        options.fp = self.fp.policy();
        self.knowledge.check()?;
        self.knowledge.apply(&mut options);
        Ok(options)
    }

    /// Explains, and measures unless told not to.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<ExplainReport> {
        Ok(oxeye::explain(&self.options()?, &ExplainOptions { measure: !self.no_run }, progress)?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[&args.program.file])?;
    }
    let drawing = Drawing::new(manner, true);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let report = outcome?;
    print_report(args.json.as_deref(), &|| report.to_json(), manner, &|view| render(&report, view))?;
    Ok(if report.nests.is_empty() { Exit::Negative } else { Exit::Done })
}

/// The report for people.
fn render(report: &ExplainReport, view: View) -> String {
    let mut out = String::new();
    let takes_time = |nest: &&NestExplanation| nest.share.is_none_or(|share| share >= WORTH_READING);
    let is_all = view.verbose || !report.nests.iter().any(|nest| takes_time(&nest));
    let (told, brief): (Vec<_>, Vec<_>) = report.nests.iter().partition(|nest| is_all || takes_time(nest));
    for nest in told {
        explain_nest(&mut out, nest, view);
    }
    if report.nests.is_empty() {
        out.push_str("no loop nest would be tuned\n");
    }
    if !brief.is_empty() {
        let names: Vec<String> =
            brief.iter().map(|nest| format!("{}:{}", nest.function, nest.line)).collect();
        let line = format!(
            "less than {} of the time each, shown with --verbose: {}",
            percent(WORTH_READING),
            names.join(", ")
        );
        out += &wrapped(&line, view.width);
    }
    // Nests with the same reason share a line.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for nest in &report.skipped {
        match reasons.iter_mut().find(|(why, _)| *why == nest.why) {
            Some((_, names)) => names.push(&nest.name),
            None => reasons.push((&nest.why, vec![&nest.name])),
        }
    }
    for (why, names) in reasons {
        out += &wrapped(&format!("not tuned: {}: {why}", names.join(", ")), view.width);
    }
    for note in &report.notes {
        out += &wrapped(note, view.width);
    }
    out
}

fn explain_nest(out: &mut String, nest: &NestExplanation, view: View) {
    // Writing to a string does not fail.
    let share =
        nest.share.map(|share| format!(", {} of the program's time", percent(share))).unwrap_or_default();
    let heading = format!("== {}, line {}{share}", nest.function, nest.line);
    let _ = writeln!(out, "{}", view.styled(Style::new().bold(), &heading));
    described(out, nest, view);
    donors(out, nest, view);
    candidates(out, nest, view);
    refusals(out, nest, view);
    if let Some(note) = &nest.note {
        *out += &wrapped(&format!("note: {note}"), view.width);
    }
    let _ = writeln!(out, "{}", wrapped(&nest.conclusion, view.width));
}

/// The normal form, and what the encoder thinks of it.
fn described(out: &mut String, nest: &NestExplanation, view: View) {
    let Some(known) = &nest.nest else { return };
    let sizes: Vec<String> = known.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!(", {}", sizes.join(", ")) };
    *out += &wrapped(&format!("normal form{sizes}:"), view.width);
    let lines: Vec<&str> = known.text.lines().filter(|line| is_loop_or_stmt(line)).collect();
    let shown = if view.verbose { lines.len() } else { MOST_LINES };
    for line in lines.iter().take(shown) {
        // Nests are indented inside their program.
        let line = format!("  {}", line.strip_prefix("    ").unwrap_or(line));
        let _ = writeln!(out, "{}", if view.verbose { line } else { cut_code(&line, view.width) });
    }
    if lines.len() > shown {
        let _ = writeln!(out, "  ({} more lines with --verbose)", lines.len() - shown);
    }
    if view.verbose {
        let (hash, model, n) = (&known.hash, &known.space.model, known.embedding.len());
        let _ = writeln!(out, "hash {hash}; embedding of model {model}, {n} numbers");
    }
    let seconds = known.predicted_seconds.map(|seconds| format!("{} a run", time(1e3 * seconds)));
    let gflops = known.predicted_gflops.map(|rate| format!("{rate:.2} GFLOP/s"));
    let guesses: Vec<String> = seconds.into_iter().chain(gflops).collect();
    if !guesses.is_empty() {
        let _ = writeln!(out, "predicted before measuring: {}", guesses.join(", "));
    }
    for why in &known.why_no_guess {
        *out += &wrapped(why, view.width);
    }
}

/// A line of code cut to a width, its indentation kept.
fn cut_code(line: &str, width: usize) -> String {
    console::truncate_str(line, width, "…").into_owned()
}

/// What helped donors, or came to steps, and cannot be done here: once for each reason.
fn refusals(out: &mut String, nest: &NestExplanation, view: View) {
    let is_told = |refusal: &&RefusalExplanation| refusal.helped.is_some() || !refusal.steps.is_empty();
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for refusal in nest.refused.iter().filter(|refusal| view.verbose || is_told(refusal)) {
        let helped = refusal.helped.as_ref().map(|helped| format!(" ({helped})")).unwrap_or_default();
        let what = format!("{}{}", refusal.name, if view.verbose { helped } else { String::new() });
        match told.iter_mut().find(|(reason, _)| *reason == refusal.reason) {
            Some((_, all)) => all.push(what),
            None => told.push((&refusal.reason, vec![what])),
        }
    }
    for (reason, mut what) in told {
        what.dedup();
        let (first, n) = (what[0].clone(), what.len());
        let names = match view.verbose {
            true => what.join(", "),
            false if n > 1 => format!("{first} and {} more", n - 1),
            false => first,
        };
        *out += &wrapped(&format!("not possible: {names}: {reason}"), view.width);
    }
    let n_others = nest.refused.iter().filter(|refusal| !is_told(refusal)).count();
    if n_others > 0 && !view.verbose {
        let recipes = if n_others == 1 { "recipe does" } else { "recipes do" };
        let _ = writeln!(out, "{n_others} further {recipes} not fit this nest; --verbose says why");
    }
}

fn is_loop_or_stmt(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("for L") || line.starts_with("if ") || line.starts_with('S')
}

fn donors(out: &mut String, nest: &NestExplanation, view: View) {
    if nest.donors.is_empty() {
        return;
    }
    let mut columns = vec![
        Column::words("donor"),
        Column::numbers("alike"),
        Column::numbers("tried"),
        Column::numbers("best gain"),
        Column::words("by"),
    ];
    if view.verbose {
        columns.extend([Column::words("entry"), Column::numbers("distance")]);
    }
    let best_of = |donor: &DonorExplanation| {
        let best = donor.trials.iter().find(|trial| trial.speedup.is_some());
        (best.and_then(|t| t.speedup), best.map(|t| t.template.clone().unwrap_or_else(|| t.steps.join("; "))))
    };
    let row = |donor: &DonorExplanation| {
        let (gain, by) = best_of(donor);
        let what = donor.in_words.split(',').next().unwrap_or_default();
        let mut row = vec![
            what.to_owned(),
            donor.likeness.map(percent).unwrap_or_default(),
            donor.trials.len().to_string(),
            gain.map(|s| format!("{s:.2}x")).unwrap_or_else(|| "-".into()),
            by.unwrap_or_else(|| "-".into()),
        ];
        if view.verbose {
            row.push(donor.entry.clone());
            row.push(donor.distance.map(|d| format!("{d:.3}")).unwrap_or_default());
        }
        row
    };
    // Of donors that the same recipe helped, the nearest stands for all.
    let mut recipes = HashSet::new();
    let nearest = nest.donors.iter().filter(|donor| view.verbose || recipes.insert(best_of(donor).1));
    let rows: Vec<Vec<String>> =
        nearest.take(if view.verbose { usize::MAX } else { MOST_DONORS }).map(row).collect();
    *out += &columns::table(&columns, &rows, view.width);
    if nest.donors.len() > rows.len() {
        let _ = writeln!(out, "{} more with --verbose", nest.donors.len() - rows.len());
    }
    let best =
        nest.donors.iter().filter_map(|donor| donor.trials.iter().find(|trial| trial.speedup.is_some()));
    let elsewhere: BTreeSet<&str> = best.filter_map(|trial| trial.machine.as_deref()).collect();
    if !elsewhere.is_empty() {
        let machines: Vec<&str> = elsewhere.into_iter().collect();
        let sentence = format!(
            "gained on other machines, which count less the less they are like this one: {}",
            machines.join("; ")
        );
        *out += &wrapped(&sentence, view.width);
    }
    if view.verbose {
        for donor in &nest.donors {
            *out += &wrapped(&format!("loops of entry {}: {}", donor.entry, loops(donor)), view.width);
        }
    }
    if let Some(far) = nest.far {
        let alike = percent((1.0 - far * far / 2.0).max(0.0));
        let _ = writeln!(out, "donors less than {alike} alike are no guide");
    }
}

/// Which loop of the donor is which loop here.
fn loops(donor: &DonorExplanation) -> String {
    let loops = donor.aligned.iter().filter(|node| node.kind == "loop");
    let pairs: Vec<String> = loops.map(|node| format!("{} is {}", node.donor, node.here)).collect();
    if pairs.is_empty() { "-".into() } else { pairs.join(", ") }
}

fn candidates(out: &mut String, nest: &NestExplanation, view: View) {
    if nest.candidates.is_empty() {
        return;
    }
    let is_wide = view.width >= WIDER;
    let mut columns = vec![Column::numbers(""), Column::words("legal schedule")];
    if is_wide {
        columns.push(Column::words("donor"));
    }
    columns.extend(["donor gain", "predicted", "screened", "timed"].map(Column::numbers));
    columns.push(Column::words("verdict"));
    let factor = |speedup: Option<f64>| speedup.map(|s| format!("{s:.2}x")).unwrap_or_else(|| "-".into());
    let is_winner = |candidate: &CandidateExplanation| nest.winner.as_ref() == Some(&candidate.name);
    let is_run = |candidate: &CandidateExplanation| {
        candidate.verdict.is_some_and(|verdict| verdict != Verdict::NotTried)
    };
    let any_is_run = nest.candidates.iter().any(is_run);
    let mut n_shown = 0;
    let is_shown = |candidate: &&CandidateExplanation| {
        let may_be = !any_is_run || is_run(candidate);
        n_shown += usize::from(may_be);
        view.verbose || may_be && n_shown <= MOST_CANDIDATES || is_winner(candidate)
    };
    let row = |candidate: &CandidateExplanation| {
        let mut row =
            vec![candidate.rank.map(|rank| rank.to_string()).unwrap_or_default(), candidate.name.clone()];
        if is_wide {
            row.push(candidate.donor_in_words.clone().unwrap_or_else(|| "-".into()));
        }
        row.extend([
            factor(candidate.donor_speedup),
            factor(candidate.predicted_speedup),
            candidate.screened_ms.map(time).unwrap_or_else(|| "-".into()),
            factor(candidate.speedup),
            verdict(candidate, nest),
        ]);
        row
    };
    let rows: Vec<Vec<String>> = nest.candidates.iter().filter(is_shown).map(row).collect();
    *out += &columns::table(&columns, &rows, view.width);
    if nest.candidates.len() > rows.len() {
        let _ = writeln!(out, "{} more with --verbose", nest.candidates.len() - rows.len());
    }
    if nest.candidates.iter().any(|candidate| candidate.screened_ms.is_some()) {
        let original = nest.baseline_ms.map(|ms| format!(" (original: {})", time(ms))).unwrap_or_default();
        let sentence = format!(
            "screened: shortest of a few runs{original}; timed: speedup over the original in alternating runs, which decides"
        );
        *out += &wrapped(&sentence, view.width);
    }
    let is_chosen = |candidate: &CandidateExplanation| !any_is_run && candidate.rank.is_some();
    for candidate in nest.candidates.iter().filter(|c| view.verbose || is_winner(c) || is_chosen(c)) {
        *out += &wrapped(&format!("{}: {}", candidate.name, candidate.steps.join("; ")), view.width);
    }
}

fn verdict(candidate: &CandidateExplanation, nest: &NestExplanation) -> String {
    let screened = || Some(nest.baseline_ms? / candidate.screened_ms?);
    let speedup = candidate.speedup.or_else(screened);
    let word = match candidate.verdict {
        None => "not chosen",
        Some(verdict) => outcome(verdict, speedup, nest.winner.is_some()),
    };
    match &candidate.why {
        Some(why) if candidate.verdict != Some(Verdict::NotTried) => format!("{word}: {why}"),
        _ => word.into(),
    }
}

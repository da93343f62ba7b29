//! `oxeye check`: is a tuned project still as fast, and still right?

use crate::annotations;
use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, RunArgs};
use crate::project::{BuildArgs, Told, given};
use crate::table::time;
use crate::terminal::{View, print_or_quit};
use crate::tune::percent;
use crate::tuning::{JudgingArgs, print_report};
use anyhow::bail;
use clap::ValueEnum;
use console::Style;
use oxeye::{CheckOptions, CheckReport, CheckedNest, LOCK_FILE, Progress};
use oxeye_profile::format_percent;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  Once: tune, keep how (oxeye.toml) and what was found (oxeye.lock.json), and
  take the new text over
    oxeye tune --build 'make clean && make' --run ./solver --save-config
    git apply oxeye.patch
    git add oxeye.toml oxeye.lock.json

  Then, in each run of a CI job
    oxeye check

  The same, with failures where GitHub shows them beside the lines
    oxeye check --format github
    oxeye check --format sarif > oxeye.sarif

  The same where the sources stay as they are, and a patch is kept beside them
    oxeye check --patch oxeye.patch

The project is built and run, with the tuned text and with the original, which
the lock file has; each tuned nest is measured against its original. It fails if
a nest reaches a smaller share of its roof than it did, by more than the slack;
if it is no faster than its original, though it was by more than that;
if the tuned text is no longer in the sources (or the patch no longer applies);
if a tuned file is compiled without the flags it needs; or if the program does
not do the same, or is slower than with the original text. On another machine
than that of the tuning run, a nest must not be slower than its original there.

Exit codes:
  0    all is as it was
  1    something is not, and it is said what, and by how much
  2    could not run
  130  interrupted";

/// Fail if a tuned project lost its text, speed or results
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::run_of_project), mut_arg("copies", program::without_times), mut_arg("rank", program::without_times))]
pub(crate) struct Args {
    #[command(flatten)]
    build: BuildArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    judging: JudgingArgs,
    /// What `oxeye tune` kept of its run
    #[arg(help_heading = "Check", long, value_name = "FILE", default_value = LOCK_FILE)]
    lock: PathBuf,
    /// Check with this patch in the sources
    ///
    /// The sources are as they were.
    #[arg(help_heading = "Check", long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// By how much a figure may be worse, as noise
    #[arg(help_heading = "Check", long, value_name = "PERCENT", default_value_t = 25.0, value_parser = percent)]
    slack: f64,
    /// Write the report as JSON; `-` is standard output
    #[arg(help_heading = "Check", long, value_name = "REPORT")]
    json: Option<PathBuf>,
    /// How failures are printed
    ///
    /// For people, as annotations of GitHub's actions, or as SARIF.
    #[arg(help_heading = "Check", long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How failures are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Github,
    Sarif,
}

impl Args {
    /// Checks the project. Also returns the command that was run.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<(CheckReport, String)> {
        if !self.lock.exists() {
            bail!(
                "there is no {}; `oxeye tune --save-config` writes it, and later `oxeye tune`s without --build and --run",
                self.lock.display()
            );
        }
        let told = Told::by(given(&self.build, &self.run, &self.judging))?;
        let mut project = told.options()?;
        project.quick = true;
        let options = CheckOptions {
            lock: self.lock.clone(),
            patch: self.patch.clone(),
            slack: 0.01 * self.slack,
            ..CheckOptions::new(project)
        };
        if let Some(path) = self.json.as_deref().filter(|path| *path != Path::new("-")) {
            oxeye::check_writable(path, &[&options.lock])?;
        }
        Ok((oxeye::check_project(&options, progress)?, told.config.run.unwrap_or_default()))
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let drawing = Drawing::new(manner, false);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let (report, command) = outcome?;
    let shown = |view: View| shown(&report, &command, view);
    match args.format {
        Format::Sarif => {
            if args.json.as_deref() == Some(Path::new("-")) {
                bail!(
                    "--json - and --format sarif both write to standard output; name a file for one of them"
                );
            }
            if let Some(path) = &args.json {
                oxeye::write_atomically(path, report.to_json().as_bytes())?;
            }
            print_or_quit(&annotations::sarif(&report))?;
        }
        Format::Text => print_report(args.json.as_deref(), &|| report.to_json(), manner, &shown)?,
        Format::Github => {
            let shown = |view: View| shown(view) + &annotations::github(&report);
            print_report(args.json.as_deref(), &|| report.to_json(), manner, &shown)?;
        }
    }
    Ok(if report.passed { Exit::Done } else { Exit::Negative })
}

/// The report for people.
fn shown(report: &CheckReport, command: &str, view: View) -> String {
    let mut out = String::new();
    let columns = [
        Column::words("nest"),
        Column::numbers("original"),
        Column::numbers("tuned"),
        Column::numbers("speedup"),
        Column::numbers("then"),
        Column::numbers("roof"),
        Column::numbers("then"),
        Column::words(""),
    ];
    let mut rows = Vec::new();
    for file in &report.files {
        for nest in &file.nests {
            rows.push(row(&format!("{}: {}", file.path.display(), nest.locked.function), nest));
        }
    }
    if !rows.is_empty() {
        out += &columns::table(&columns, &rows, view.width);
    }
    for file in &report.files {
        for nest in file.nests.iter().filter(|nest| nest.failure.is_none()) {
            let at = format!("{}, {}()", file.path.display(), nest.locked.function);
            nest.note.iter().for_each(|note| out += &wrapped(&format!("{at}: {note}"), view.width));
        }
    }
    report.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    let program = &report.program;
    if let (Some(before), Some(after), Some(speedup)) =
        (program.baseline_ms, program.optimized_ms, program.speedup)
    {
        let then = program.locked_speedup.map(|then| format!(" (then {then:.2}x)")).unwrap_or_default();
        let same = if program.verified { "same output" } else { "other output" };
        let figures = format!("{} -> {}, {speedup:.2}x{then}, {same}", time(before), time(after));
        out += &wrapped(&format!("{command}: {figures}"), view.width);
    }
    for failure in &report.failures {
        let mark = view.styled(Style::new().red().bold(), "failed:");
        out += &wrapped(&format!("{mark} {failure}"), view.width);
    }
    if report.passed && !report.files.is_empty() {
        out += &wrapped(
            &format!("passed; up to {} worse than then is taken for noise", format_percent(report.slack)),
            view.width,
        );
    }
    out
}

fn row(name: &str, nest: &CheckedNest) -> Vec<String> {
    let shown = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let times = |ratio: Option<f64>| shown(ratio.map(|ratio| format!("{ratio:.2}x")));
    let share = |share: Option<f64>| shown(share.map(format_percent));
    vec![
        name.to_owned(),
        shown(nest.baseline_ms.map(time)),
        shown(nest.optimized_ms.map(time)),
        times(nest.speedup),
        times(nest.locked.speedup),
        share(nest.roof_fraction),
        share(nest.locked.roof_fraction),
        if nest.failure.is_some() { "failed" } else { "ok" }.to_owned(),
    ]
}

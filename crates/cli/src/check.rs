//! `oxeye check`: is a tuned project still as fast, and still right?

use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::table::time;
use crate::terminal::View;
use crate::tune::ProjectArgs;
use crate::tuning::print_report;
use anyhow::bail;
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

  The same where the sources stay as they are, and a patch is kept beside them
    oxeye check --patch oxeye.patch

The project is built and run, with the tuned text and with the original, which
the lock file has; each tuned nest is measured against its original. It fails if
a nest reaches a smaller share of its roof than it did, by more than the slack;
if the tuned text is no longer in the sources (or the patch no longer applies);
if a tuned file is compiled without the flags it needs; or if the program does
not do the same, or is slower than with the original text. On another machine
than that of the tuning run, a nest must not be slower than its original there.

Exit codes:
  0    all is as it was
  1    something is not, and it is said what, and by how much
  2    could not run
  130  interrupted";

/// Fail if a tuned project lost its tuned text, its speed or its results
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// What `oxeye tune` kept of its run
    #[arg(long, value_name = "FILE", default_value = LOCK_FILE)]
    lock: PathBuf,
    /// The sources are as they were; check with this patch in them
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// By how much a figure may be worse than it was, in percent, as noise
    #[arg(long, value_name = "PERCENT", default_value_t = 25.0, value_parser = percent)]
    slack: f64,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse() {
        Ok(value) if (0.0..100.0).contains(&value) => Ok(value),
        _ => Err("it is a number of percent from 0 to below 100".into()),
    }
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
        let told = self.project.told(None)?;
        let mut project = told.config.options()?;
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
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let drawing = Drawing::new(false);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let (report, command) = outcome?;
    let shown = |view: View| shown(&report, &command, view);
    print_report(args.json.as_deref(), &|| report.to_json(), false, &shown)?;
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
    if report.passed {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_is_a_percentage() {
        assert_eq!(percent("25"), Ok(25.0));
        assert_eq!(percent("10 %"), Ok(10.0));
        for wrong in ["", "-1", "100", "nan", "x"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}

//! `oxeye verify`: debug builds of a tuned file.

use crate::columns::wrapped;
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::terminal::View;
use crate::tuning::{JudgingArgs, print_report};
use anyhow::bail;
use console::Style;
use oxeye::{BuildOutcome, CheckBuildOptions, CheckBuildReport, DebugBuild, Progress, SavedRecipes};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  Debug builds of gemm.oxeye.c, which an earlier run made of gemm.c
    oxeye verify gemm.c -- gcc -O3 -march=native -ffast-math -lm

  Of another tuned file, and of what a recipe file makes
    oxeye verify gemm.c --tuned gemm_fast.c -- gcc -O3
    oxeye verify gemm.c --recipe gemm.recipe.json -- gcc -O3

  With less to do than when it was tuned: debug builds are slow
    oxeye verify solver.c --run './solver -n 50' -- gcc -O3 -lm

The tuned program is compared with the original, and with itself on one thread.
Then it is built with a check of every access in its nests, and with the address
and the undefined-behaviour sanitizer of the compiler, if it has them. What one
of these finds is looked for in the original as well: what your program does
itself is told, and does not count.

Exit codes:
  0    nothing was found of which the original is free
  1    something was
  2    could not run
  130  interrupted";

/// Look for errors in a tuned file by debug builds
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::compared_run_of_file), mut_arg("copies", program::without_times), mut_arg("rank", program::without_times), mut_arg("timeout", program::timeout_without_budget))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// The tuned file [default: FILE with `.oxeye` before its extension]
    #[arg(long, value_name = "TUNED")]
    tuned: Option<PathBuf>,
    /// Recipe file of `--save-recipe`: what it makes is checked, if no tuned file is named [default: the recipes that were
    /// kept when the tuned file was written]
    #[arg(long, value_name = "RECIPE")]
    recipe: Option<PathBuf>,
    #[command(flatten)]
    judging: JudgingArgs,
    /// Write the findings as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
}

impl Args {
    /// What the builds found.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<CheckBuildReport> {
        let mut options = self.program.options()?;
        self.judging.apply(&mut options);
        let recipes = match self.recipe.as_deref().map(SavedRecipes::load).transpose()? {
            None => None,
            Some(SavedRecipes::File(recipes)) => Some(recipes),
            Some(SavedRecipes::Project(_)) => bail!("the recipe file is for a project, not for one file"),
        };
        let how = CheckBuildOptions { tuned: self.tuned.clone(), recipes };
        Ok(oxeye::check_build(&options, &how, progress)?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[&args.program.file])?;
    }
    let drawing = Drawing::new(manner, manner.verbose);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let report = outcome?;
    print_report(args.json.as_deref(), &|| report.to_json(), manner, &|view| shown(&report, view))?;
    Ok(if report.passed { Exit::Done } else { Exit::Negative })
}

/// The report for people.
fn shown(report: &CheckBuildReport, view: View) -> String {
    let mut out = String::new();
    for build in &report.builds {
        out += &one(build, view);
    }
    for nest in &report.skipped {
        out += &wrapped(&format!("{}: accesses are not checked: {}", nest.name, nest.why), view.width);
    }
    let n = report.builds.iter().filter(|build| build.outcome == BuildOutcome::NotDone).count();
    out += "\n";
    out += &match (report.passed, n) {
        (true, 0) => format!("{}: nothing found\n", report.tuned.display()),
        (true, 1) => format!("{}: nothing found; 1 build was not made\n", report.tuned.display()),
        (true, n) => format!("{}: nothing found; {n} builds were not made\n", report.tuned.display()),
        (false, _) => format!("{}: what is marked with ! is wrong\n", report.tuned.display()),
    };
    out
}

/// A build: how it went, what it is for, and what it found.
fn one(build: &DebugBuild, view: View) -> String {
    let (mark, word, style) = match build.outcome {
        BuildOutcome::Passed => (" ", "passed", Style::new().green()),
        BuildOutcome::Failed => ("!", "failed", Style::new().red()),
        BuildOutcome::NotDone => ("-", "not done", Style::new().yellow()),
    };
    let head = format!("{mark} {:10} {word:9}", build.name);
    let note = build.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    let seconds = build.seconds.map(|s| format!(", {s:.1} s")).unwrap_or_default();
    let text = wrapped(&format!("{}{note}{seconds}", build.asserts), view.width.saturating_sub(24));
    let blank = " ".repeat(24);
    let mut out = String::new();
    for (k, line) in text.lines().enumerate() {
        match k {
            0 => out += &format!("{} {line}\n", view.styled(style.clone(), &head)),
            _ => out += &format!("{blank}{line}\n"),
        }
    }
    if view.verbose && !build.flags.is_empty() {
        out += &format!("{blank}{}\n", build.flags.join(" "));
    }
    for finding in &build.findings {
        let also = if finding.in_original { " (the original does so, too)" } else { "" };
        let text = format!("{}: {}{also}", finding.place, finding.message);
        wrapped(&text, view.width.saturating_sub(4)).lines().for_each(|line| out += &format!("    {line}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye::BuildFinding;

    #[test]
    fn findings_stand_below_their_build() {
        let finding = |message: &str, in_original| BuildFinding {
            kind: "index".into(),
            place: "f:3".into(),
            message: message.into(),
            in_original,
        };
        let build = DebugBuild {
            name: "accesses",
            asserts: "indices and addresses",
            flags: vec!["-O1".into(), "-g".into()],
            outcome: BuildOutcome::Failed,
            note: Some("2 nests".into()),
            findings: vec![
                finding("index 9 of `x`, in a dimension of 9", false),
                finding("index -1 of `y`", true),
            ],
            seconds: Some(0.25),
        };
        let view = View { width: 72, colour: false, verbose: true };
        assert_eq!(
            one(&build, view),
            "! accesses   failed    indices and addresses (2 nests), 0.2 s
                        -O1 -g
    f:3: index 9 of `x`, in a dimension of 9
    f:3: index -1 of `y` (the original does so, too)
"
        );
    }
}

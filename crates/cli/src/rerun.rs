//! `oxeye rerun`: candidates that were edited by hand, verified and timed beside what was generated.

use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::table::time;
use crate::terminal::View;
use crate::tuning::{JudgingArgs, duration, print_report};
use anyhow::bail;
use console::Style;
use oxeye::{Progress, RerunCandidate, RerunFigures, RerunOptions, RerunReport};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  Keep the fastest candidates of every nest as files
    oxeye tune gemm.c --keep-candidates candidates -- gcc -O3 -lm

  Edit one, and see what that does
    oxeye rerun gemm.c --candidates candidates -- gcc -O3 -lm

  One of them, edited or not
    oxeye rerun gemm.c --candidates candidates/kernel_gemm-31-tile-1a2b3c4d.c \\
        -- gcc -O3 -lm

Compiler, flags and --run are those of the tuning run. Each file is yours with
one nest replaced; what was generated lies beside it, in generated/. The nest is
replayed on what the program calls it with, results are compared with those of
the original, and both are timed in turns; then the whole program is. Where more
than the nest was edited, only the whole program is.

Exit codes:
  0    the candidates give the original's results
  1    one does not
  2    could not run
  130  interrupted";

/// Verify and time candidates that were edited by hand, beside what was generated
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::compared_run_of_file))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// The folder of `tune --keep-candidates`, for all that were edited, or a file in it; may be repeated
    #[arg(long, required = true, value_name = "FOLDER|FILE")]
    candidates: Vec<PathBuf>,
    #[command(flatten)]
    judging: JudgingArgs,
    /// Time for each candidate, such as 90s or 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    budget: Duration,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "REPORT")]
    json: Option<PathBuf>,
}

impl Args {
    /// What came of the candidates.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<RerunReport> {
        let mut options = self.program.options()?;
        self.judging.apply(&mut options);
        options.budget = self.budget;
        Ok(oxeye::rerun(&options, &chosen(&self.candidates)?, progress)?)
    }
}

/// The folder, and the files in it that are named.
fn chosen(paths: &[PathBuf]) -> anyhow::Result<RerunOptions> {
    if let [folder] = paths
        && folder.is_dir()
    {
        return Ok(RerunOptions { folder: folder.clone(), files: Vec::new() });
    }
    let parent = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut folders: Vec<PathBuf> = paths.iter().map(|path| parent(path)).collect();
    folders.dedup();
    match (folders.as_slice(), paths.iter().find(|path| !path.is_file())) {
        (_, Some(path)) if path.is_dir() => {
            bail!(
                "--candidates takes one folder, or files of one; {} is a folder beside others",
                path.display()
            )
        }
        (_, Some(path)) => bail!(
            "--candidates: there is no {}; name the folder that `oxeye tune FILE --keep-candidates FOLDER` has written, or \
             files in it",
            path.display()
        ),
        ([folder], None) => {
            let files = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            Ok(RerunOptions { folder: folder.clone(), files })
        }
        _ => bail!("candidates of one folder at a time"),
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[&args.program.file])?;
    }
    let drawing = Drawing::new(manner, false);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let report = outcome?;
    print_report(args.json.as_deref(), &|| report.to_json(), manner, &|view| shown(&report, view))?;
    Ok(if report.is_right() { Exit::Done } else { Exit::Negative })
}

/// The report for people.
fn shown(report: &RerunReport, view: View) -> String {
    let mut out = String::new();
    for candidate in &report.candidates {
        out += &one(candidate, view);
    }
    if report.candidates.is_empty() {
        out +=
            &format!("no candidate in {} was edited; name one to run it as it is\n", report.folder.display());
    }
    out
}

/// A candidate: what was edited, and the figures of both texts.
fn one(candidate: &RerunCandidate, view: View) -> String {
    let mut out = format!("{}: {}, {}\n", candidate.file, candidate.nest, candidate.recipe);
    for line in candidate.diff.lines() {
        let style = match line.chars().next() {
            Some('+') => Style::new().green(),
            Some('-') => Style::new().red(),
            _ => Style::new(),
        };
        out += &format!("{}\n", view.styled(style, line));
    }
    let columns = [
        Column::whole(""),
        Column::numbers("original"),
        Column::numbers("here"),
        Column::numbers("speedup"),
        Column::numbers("interval"),
        Column::numbers("program"),
        Column::words("results"),
    ];
    let generated = std::iter::once(("generated", &candidate.generated));
    let rows = generated.chain(candidate.now.as_ref().map(|now| ("edited", now)));
    let rows: Vec<Vec<String>> = rows.map(|(name, figures)| row(name, figures)).collect();
    out += &columns::table(&columns, &rows, view.width);
    let wrong = [Some(&candidate.generated), candidate.now.as_ref()];
    for (name, figures) in ["generated", "edited"].into_iter().zip(wrong) {
        if let Some(why) = figures.and_then(|figures| figures.wrong.as_ref()) {
            out += &wrapped(&format!("{name}: {why}"), view.width);
        }
    }
    candidate.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    out + "\n"
}

fn row(name: &str, figures: &RerunFigures) -> Vec<String> {
    let none = || "–".to_owned();
    let times = |speedup: Option<f64>| speedup.map_or_else(none, |speedup| format!("{speedup:.2}x"));
    let interval = figures.speedup_interval.map_or_else(none, |(low, high)| format!("{low:.2}–{high:.2}"));
    let results = match (&figures.wrong, figures.max_rel_error) {
        (Some(_), _) => "wrong".to_owned(),
        (None, Some(error)) if error > 0.0 => format!("right, to {error:.1e}"),
        (None, _) => "right".to_owned(),
    };
    vec![
        name.to_owned(),
        figures.baseline_ms.map_or_else(none, time),
        figures.ms.map_or_else(none, time),
        times(figures.speedup),
        interval,
        times(figures.program_speedup),
        results,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_named_by_folder_or_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.c");
        std::fs::write(&file, "").expect("written");
        let all = chosen(&[folder.path().to_owned()]).expect("a folder");
        assert!(all.files.is_empty() && all.folder == folder.path());
        let one = chosen(std::slice::from_ref(&file)).expect("a file");
        assert_eq!((one.folder.as_path(), one.files.len()), (folder.path(), 1));
        let why = |paths: &[PathBuf]| chosen(paths).err().map(|why| why.to_string()).unwrap_or_default();
        assert!(why(&[file.with_file_name("b.c")]).contains("b.c; name the folder that"));
        assert!(why(&[file, folder.path().to_owned()]).contains("is a folder beside others"));
    }

    #[test]
    fn both_texts_stand_below_their_difference() {
        let candidate = RerunCandidate {
            file: "f-3-tile-00000000.c".into(),
            nest: "f:3".into(),
            recipe: "tile".into(),
            edited: true,
            diff: "--- generated/f-3-tile-00000000.c\n+++ f-3-tile-00000000.c\n@@ -1 +1 @@\n-a\n+b\n".into(),
            generated: RerunFigures {
                baseline_ms: Some(8.0),
                ms: Some(2.0),
                speedup: Some(4.0),
                speedup_interval: Some((3.9, 4.1)),
                max_rel_error: Some(0.0),
                program_speedup: Some(2.5),
                ..RerunFigures::default()
            },
            now: Some(RerunFigures { wrong: Some("`y` differs".into()), ..RerunFigures::default() }),
            notes: vec![],
        };
        let text = one(&candidate, View { width: 80, colour: false, verbose: false });
        assert!(text.contains("\n-a\n+b\n"), "{text}");
        assert!(text.contains("generated   8.00 ms  2.00 ms    4.00x  3.90–4.10    2.50x  right"), "{text}");
        assert!(text.contains("edited: `y` differs"), "{text}");
    }
}

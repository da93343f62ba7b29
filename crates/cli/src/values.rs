//! `oxeye values`: what the values of a program's nests have in common.

use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::watched::{Outputs, WatchArgs};
use oxeye::{Progress, ValuesFinding, ValuesReport};
use oxeye_profile::format_percent;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  What the arrays of a program's nests hold, and which recipe would profit
    oxeye values solver.c --run './solver -n 200' -- gcc -O3 -march=native -lm

  The same as a page with a picture, and for scripts
    oxeye values solver.c --html values.html --json values.json -- gcc -O3 -lm

  Let the recipes be tried; what they rely on is tested when the program runs
    oxeye values solver.c --json values.json -- gcc -O3 -ffast-math
    oxeye tune solver.c --values values.json -- gcc -O3 -ffast-math

The program is run twice as it is and once with every access of its loop nests
told. Found are arrays that hold one value, mostly one, zeros, few values, whole
numbers, a linear function of the index, values that a narrower type holds or
that are equal when rounded, and stores that change nothing or that no nest
reads. Of long runs only a part of the memory is looked at; the report says how
much. Findings are of this run and its input.

Exit codes:
  0    done
  1    no loop nest could be watched
  2    could not run
  130  interrupted";

/// Show what the values that loop nests read and write have in common, and which recipe would profit
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::run_of_file), mut_arg("copies", program::without_times), mut_arg("rank", program::without_times), mut_arg("timeout", program::timeout_without_budget))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    watching: WatchArgs,
    /// Write everything as JSON (schema oxeye.values/1); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a self-contained HTML page with a picture
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the picture as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Args {
    /// Runs the program and tells what it saw.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<ValuesReport> {
        Ok(oxeye::values(&self.program.options()?, &self.watching.options(), progress)?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let mut outputs = Outputs::new(&args.program.file, &[&args.json, &args.html, &args.svg])?;
    let drawing = Drawing::new(manner, false);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let report = outcome?;
    outputs.write(&args.json, &|| report.to_json())?;
    outputs.write(&args.html, &|| report.to_html())?;
    outputs.write(&args.svg, &|| report.to_svg())?;
    outputs.print(manner, &|view| shown(&report, args.json.as_deref(), view.width))?;
    Ok(if report.nests.is_empty() { Exit::Negative } else { Exit::Done })
}

/// The report for people.
pub(crate) fn shown(report: &ValuesReport, json: Option<&Path>, width: usize) -> String {
    let mut out = String::new();
    if report.findings.is_empty() {
        out.push_str("nothing was found\n");
    } else {
        out += &table(&report.findings, width);
        for finding in &report.findings {
            let recipe = finding.recipe.map(|recipe| format!("{recipe}: ")).unwrap_or_default();
            let why_not = finding.no_steps.as_ref().map(|why| format!(" (to be done by hand: {why})"));
            let advice = format!("{}: {recipe}{}", place(finding), finding.advice);
            out += &wrapped(&(advice + &why_not.unwrap_or_default()), width);
        }
    }
    for nest in &report.skipped {
        out += &wrapped(&format!("{} was not watched: {}", nest.name, nest.why), width);
    }
    for note in std::iter::once(&report.looked.in_words()).chain(&report.notes) {
        out += &wrapped(note, width);
    }
    if report.findings.iter().any(|finding| !finding.steps.is_empty()) {
        out += &how_to_ask(report, json);
    }
    out
}

/// What makes `tune` try the recipes.
fn how_to_ask(report: &ValuesReport, json: Option<&Path>) -> String {
    let file = report.input.display();
    let (first, json) = match json.filter(|path| *path != Path::new("-")) {
        Some(json) => ("to have these recipes tried, with the same compiler:", json),
        None => {
            let first = "to have these recipes tried, add --json values.json here, then:";
            (first, Path::new("values.json"))
        }
    };
    format!("{first}\n  oxeye tune {file} --values {}\n", json.display())
}

fn place(finding: &ValuesFinding) -> String {
    format!("{} in {}:{}", finding.array, finding.function, finding.line)
}

/// One row per finding.
fn table(findings: &[ValuesFinding], width: usize) -> String {
    let columns = [
        Column::words("array"),
        Column::words("nest"),
        Column::words("lines"),
        Column::whole(""),
        Column::numbers("accesses"),
        Column::whole("found"),
        Column::words("what"),
    ];
    let row = |finding: &ValuesFinding| {
        let lines: Vec<String> = finding.lines.iter().map(u32::to_string).collect();
        vec![
            finding.array.clone(),
            format!("{}:{}", finding.function, finding.line),
            lines.join(","),
            if finding.is_store { "stored" } else { "read" }.to_owned(),
            format_percent(finding.share),
            finding.pattern.name().to_owned(),
            finding.detail.clone(),
        ]
    };
    columns::table(&columns, &findings.iter().map(row).collect::<Vec<_>>(), width)
}

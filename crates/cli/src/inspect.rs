//! `oxeye inspect`: what the nests of a program read and write, and which feeds which.

use crate::columns::wrapped;
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::terminal::View;
use crate::watched::{Outputs, WatchArgs};
use crate::{flow, values};
use console::Style;
use oxeye::{InspectReport, Progress};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  What the arrays of a program's nests hold, and what flows between the nests
    oxeye inspect solver.c --run './solver -n 200' -- gcc -O3 -march=native -lm

  The same as pages with pictures, and as a graph for Graphviz
    oxeye inspect solver.c --values-html values.html --flow-html flow.html \\
        --dot flow.dot -- gcc -O3 -lm

  Let the recipes be tried; what they rely on is tested when the program runs
    oxeye inspect solver.c --json found.json -- gcc -O3 -ffast-math
    oxeye tune solver.c --values found.json -- gcc -O3 -ffast-math

The program is run twice as it is and once with every memory access of its loop
nests instrumented. Found are arrays that hold one value, mostly one, zeros, few
values, whole numbers, a linear function of the index, values that a narrower
type holds or that are equal when rounded, and stores that change nothing or
that no nest reads. A byte flows where a nest reads what another nest, or an
earlier run of its own, stored last. Code that is not a nest is `elsewhere`.
Of long runs only a part of the memory is looked at; the report says how much.
Findings are of this run and its input.

Exit codes:
  0    done
  1    no loop nest could be watched
  2    could not run
  130  interrupted";

/// Show what loop nests read and write, and which feeds which
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::run_of_file), mut_arg("copies", program::without_times), mut_arg("rank", program::without_times), mut_arg("timeout", program::timeout_without_budget))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    watching: WatchArgs,
    #[command(flatten)]
    written: WrittenArgs,
}

/// The files that it writes.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
struct WrittenArgs {
    /// Write everything as JSON (schema oxeye.inspect/1); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write what was found of the values as a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    values_html: Option<PathBuf>,
    /// Write what flows as a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    flow_html: Option<PathBuf>,
    /// Write the picture of the values as SVG
    #[arg(long, value_name = "FILE")]
    values_svg: Option<PathBuf>,
    /// Write the picture of the flow as SVG
    #[arg(long, value_name = "FILE")]
    flow_svg: Option<PathBuf>,
    /// Write the flow in the language of Graphviz; `-` is standard output
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
}

impl Args {
    /// Runs the program and tells what it saw.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<InspectReport> {
        Ok(oxeye::inspect(&self.program.options()?, &self.watching.options(), progress)?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let WrittenArgs { json, values_html, flow_html, values_svg, flow_svg, dot } = &args.written;
    let files = [json, values_html, flow_html, values_svg, flow_svg, dot];
    let mut outputs = Outputs::new(&args.program.file, &files)?;
    let drawing = Drawing::new(manner, false);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let report = outcome?;
    outputs.write(json, &|| report.to_json())?;
    outputs.write(values_html, &|| report.values.to_html())?;
    outputs.write(flow_html, &|| report.flow.to_html())?;
    outputs.write(values_svg, &|| report.values.to_svg())?;
    outputs.write(flow_svg, &|| report.flow.to_svg())?;
    outputs.write(dot, &|| report.flow.to_dot())?;
    outputs.print(manner, &|view| {
        let heading = |text: &str, view: &View| view.styled(Style::new().bold(), text) + "\n";
        let values = values::shown(&report.values, json.as_deref(), view.width);
        let flow = flow::shown(&report.flow, view.width);
        // What was looked at is the same of both.
        let looked = wrapped(&report.values.looked.in_words(), view.width);
        let values = values.replacen(&looked, "", 1);
        format!("{}{values}\n{}{flow}", heading("values", &view), heading("flow between nests", &view))
    })?;
    Ok(if report.flow.nests.is_empty() { Exit::Negative } else { Exit::Done })
}

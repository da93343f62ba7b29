//! `oxeye flow`: which nest's output feeds which.

use crate::columns::{self, Column, wrapped};
use crate::draw::Drawing;
use crate::exit::Exit;
use crate::manner::Manner;
use crate::program::{self, ProgramArgs};
use crate::watched::{Outputs, WatchArgs};
use oxeye::{FlowReport, Progress};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  What flows between the nests of a program
    oxeye flow solver.c --run './solver -n 200' -- gcc -O3 -march=native -lm

  The same drawn, as a page, and as a graph for Graphviz
    oxeye flow solver.c --svg flow.svg --html flow.html --dot flow.dot -- gcc -O3

The program is run twice as it is and once with every access of its loop nests
told. A byte flows where a nest reads what another nest, or an earlier run of
its own, stored last. Code that is not a nest is `elsewhere`: what it stores is
noticed when a nest reads it, what it reads is not seen. Of long runs only a
part of the memory is looked at, and bytes are estimates; the report says so.

Exit codes:
  0    done
  1    no loop nest could be watched
  2    could not run
  130  interrupted";

/// Show which loop nest's output feeds which, and what of it nobody reads
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, mut_arg("run", program::run_of_file), mut_arg("copies", program::without_times), mut_arg("rank", program::without_times), mut_arg("timeout", program::timeout_without_budget))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    watching: WatchArgs,
    /// Write everything as JSON (schema oxeye.flow/1); `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a self-contained HTML page with a picture
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the picture as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the graph in the language of Graphviz; `-` is standard output
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
}

impl Args {
    /// Runs the program and tells what it saw.
    pub(crate) fn answer(&self, progress: &dyn Progress) -> anyhow::Result<FlowReport> {
        Ok(oxeye::flow(&self.program.options()?, &self.watching.options(), progress)?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let mut outputs = Outputs::new(&args.program.file, &[&args.json, &args.html, &args.svg, &args.dot])?;
    let drawing = Drawing::new(manner, false);
    let outcome = args.answer(&drawing);
    drawing.finish();
    let report = outcome?;
    outputs.write(&args.json, &|| report.to_json())?;
    outputs.write(&args.html, &|| report.to_html())?;
    outputs.write(&args.svg, &|| report.to_svg())?;
    outputs.write(&args.dot, &|| report.to_dot())?;
    outputs.print(manner, &|view| shown(&report, view.width))?;
    Ok(if report.nests.is_empty() { Exit::Negative } else { Exit::Done })
}

/// The report for people.
pub(crate) fn shown(report: &FlowReport, width: usize) -> String {
    let mut out = String::new();
    if report.nests.is_empty() {
        out.push_str("no loop nest was watched\n");
    } else {
        let flows =
            [Column::words("from"), Column::words("to"), Column::numbers("bytes"), Column::words("arrays")];
        out += &columns::table(&flows, &report.rows(), width);
        let nests = [
            Column::words("nest"),
            Column::numbers("runs"),
            Column::numbers("stored"),
            Column::numbers("unchanged"),
            Column::numbers("overwritten"),
            Column::numbers("left"),
            Column::numbers("own"),
        ];
        out += &columns::table(&nests, &report.nest_rows(), width);
        out += &wrapped(
            "overwritten: before a nest read it; left: by the end of the program no nest had read it; own: read and stored \
             by the same run",
            width,
        );
    }
    let same = [
        Column::words("holds the same"),
        Column::words("as"),
        Column::numbers("bytes"),
        Column::numbers("times"),
    ];
    if !report.duplicates.is_empty() {
        out += &columns::table(&same, &report.same_rows(), width);
    }
    for nest in &report.skipped {
        out += &wrapped(&format!("{} was not watched: {}", nest.name, nest.why), width);
    }
    for note in std::iter::once(&report.looked.in_words()).chain(&report.notes) {
        out += &wrapped(note, width);
    }
    out
}

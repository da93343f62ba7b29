//! What is printed of a run: the short report, with all of it in the middle if it is asked for.

use super::brief::{Run, beginning, ending, lines};
use super::project::full_project;
use super::{full, left};
use crate::terminal::View;
use oxeye::{Report, TuneReport};

/// The report on one file, with `more` lines below. `go_on` is the command that would search further for the nests of one
/// function, or of all.
pub(crate) fn render(
    report: &Report,
    more: &str,
    view: View,
    go_on: &dyn Fn(Option<&str>) -> Option<String>,
) -> String {
    let further = left(report, view, go_on);
    let run = Run::of_file(report, &further);
    let lines = match view.verbose {
        true => around(&run, &full(report, view), view),
        false => lines(&run, more.lines().count(), view),
    };
    lines.join("\n") + "\n" + more
}

/// The report on a project. `command` is how the program is run; `kept` says whether what was found is kept for checks.
pub(crate) fn render_project(report: &TuneReport, command: &str, kept: bool, view: View) -> String {
    let run = Run::of_project(report, command, kept);
    let lines = match view.verbose {
        true => around(&run, &full_project(report, view), view),
        false => lines(&run, 0, view),
    };
    lines.join("\n") + "\n"
}

/// The short report with everything about the nests in its middle, so that nothing is said twice.
fn around(run: &Run<'_>, details: &str, view: View) -> Vec<String> {
    let middle = [String::new(), details.trim_end().to_owned(), String::new()];
    [beginning(run, view), middle.into(), ending(run, view)].concat()
}

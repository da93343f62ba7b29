//! What is printed of a run: the short report, and all of it behind that if it is asked for.

use super::brief::{Run, lines};
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
    let short = lines(&Run::of_file(report, &further), more.lines().count(), view).join("\n") + "\n";
    match view.verbose {
        true => format!("{short}\n{}{more}", full(report, view, &further)),
        false => short + more,
    }
}

/// The report on a project. `command` is how the program is run; `kept` says whether what was found is kept for checks.
pub(crate) fn render_project(report: &TuneReport, command: &str, kept: bool, view: View) -> String {
    let short = lines(&Run::of_project(report, command, kept), 0, view).join("\n") + "\n";
    match view.verbose {
        true => format!("{short}\n{}", full_project(report, command, kept, view)),
        false => short,
    }
}

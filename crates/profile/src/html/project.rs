//! The report of a project: what is said of one file, over all of them, and where its time goes.

use super::unread::{NONE, unread};
use super::{handling, header, machine, nests, notes, plots, whole_page};
use crate::figures::format_percent;
use crate::plot::escape;
use crate::report::ProjectData;
use std::fmt::Write;

/// The whole report of a project, as [`html_report`](crate::html_report) is of a file.
pub fn html_project_report(data: &ProjectData) -> String {
    let report = &data.report;
    let kind = "project";
    whole_page(&report.title, kind, |page| {
        header(page, report, kind);
        handling::commands(page, report);
        files(page, data);
        nests::table(page, report);
        plots(page, report);
        handling::flows(page, report);
        unread(page, report.unread.as_deref());
        phases(page, data);
        nests::details(page, report);
        machine::machine(page, report);
        handling::compared(page, report);
        notes(page, report);
    })
}

/// One row per file.
fn files(page: &mut String, data: &ProjectData) {
    page.push_str(
        "<section>\n<h2>Files</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">File</th>\
         <th class=\"n\" scope=\"col\">Share</th><th class=\"n\" scope=\"col\">In nests</th>\
         <th class=\"n\" scope=\"col\">Nests</th><th class=\"n\" scope=\"col\">Faster</th>\
         <th scope=\"col\">Remark</th></tr></thead>\n<tbody>\n",
    );
    for file in &data.files {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"recipe\">{}</td></tr>",
            escape(&file.path),
            format_percent(file.share),
            share(file.tunable),
            file.nests,
            file.tuned,
            escape(file.note.as_deref().unwrap_or_default()),
        );
    }
    if let Some(elsewhere) = data.elsewhere.filter(|elsewhere| *elsewhere >= 0.005) {
        let _ = writeln!(
            page,
            "<tr><td class=\"none\">other code</td><td class=\"n\">{}</td><td class=\"n\">{NONE}</td>\
             <td class=\"n\">{NONE}</td><td class=\"n\">{NONE}</td>\
             <td class=\"recipe\">libraries, sources in other languages, files with little of the time</td></tr>",
            format_percent(elsewhere)
        );
    }
    page.push_str("</tbody></table></div>\n</section>\n");
}

/// Where the seconds of the run went.
fn phases(page: &mut String, data: &ProjectData) {
    page.push_str(
        "<section>\n<h2>This run</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Phase</th>\
         <th class=\"n\" scope=\"col\">Seconds</th></tr></thead>\n<tbody>\n",
    );
    for (phase, seconds) in &data.phases {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{}</td></tr>",
            escape(phase),
            format_args!("{seconds:.1}")
        );
    }
    page.push_str("</tbody></table></div>\n</section>\n");
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| NONE.to_owned(), format_percent)
}

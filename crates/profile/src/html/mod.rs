//! The report as one HTML file that needs nothing else: no network, no fonts. What its one script does, sorting, filtering and
//! copying, can be done without.

mod handling;
mod machine;
mod nests;
mod page;
mod parts;
mod project;
mod script;
mod style;
mod unread;

use crate::figures::{format_ns, format_number, format_percent};
use crate::plot::{Bar, RooflinePoint, bars, escape, roofline, theme};
use crate::report::ReportData;
use crate::sections;
use parts::{at_most, figure};
use std::fmt::Write;

pub use page::Page;
pub use project::html_project_report;

/// The whole report. It follows the reader's choice of light or dark and fits a phone; all names are escaped.
pub fn html_report(data: &ReportData) -> String {
    let kind = if data.has_after() { "optimization" } else { "profile" };
    whole_page(&data.title, kind, |page| {
        header(page, data, kind);
        handling::commands(page, data);
        nests::table(page, data);
        plots(page, data);
        handling::flows(page, data);
        unread::unread(page, data.unread.as_deref());
        sections::html(page, &data.sections);
        nests::details(page, data);
        machine::machine(page, data);
        handling::compared(page, data);
        notes(page, data);
    })
}

/// A page around these sections.
fn whole_page(title: &str, kind: &str, sections: impl FnOnce(&mut String)) -> String {
    let title = escape(title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · oxeye {kind}</title>\n\
         <style>{}{}{}</style>\n</head>\n<body>\n<main>\n",
        theme::VARIABLES,
        theme::PLOT_STYLE,
        style::PAGE
    );
    sections(&mut page);
    let _ = write!(page, "</main>\n<script>{}</script>\n</body>\n</html>\n", script::SCRIPT);
    page
}

fn header(page: &mut String, data: &ReportData, kind: &str) {
    let _ =
        write!(page, "<header>\n<p class=\"kicker\">oxeye {kind}</p>\n<h1>{}</h1>\n", escape(&data.title));
    let threads = match data.threads {
        0 | 1 => "1 thread".to_string(),
        n => format!("{n} threads"),
    };
    let version = data.about.version.as_ref().map(|version| format!("oxeye {version}"));
    let facts = [
        Some(data.host.key.cpu_model.clone()),
        Some(threads),
        data.build.clone(),
        version,
        data.about.made_at.clone(),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().map(|fact| escape(&fact)).collect();
    let _ =
        writeln!(page, "<p class=\"facts\">{}</p>\n</header>", facts.join(" <span class=\"dot\">·</span> "));
    summary(page, data);
}

fn summary(page: &mut String, data: &ReportData) {
    page.push_str("<section class=\"tiles\" aria-label=\"Summary\">\n");
    let program = &data.program;
    match (program.before_ns, program.after_ns) {
        (Some(before), Some(after)) if before.value > 0.0 && after.value > 0.0 => {
            let speedup = program.speedup.unwrap_or(before.value / after.value);
            let interval = program.speedup_interval.filter(|(low, high)| low < high);
            let interval = interval.map(|(low, high)| format!(" ({low:.2}–{high:.2})")).unwrap_or_default();
            let speedup = format!("{speedup:.2}×{interval}");
            let times = format!("{} → {}", format_ns(before.value), format_ns(after.value));
            tile(page, "Program", &speedup, &times);
        }
        (Some(before), _) => tile(page, "Program", &format_ns(before.value), "as it is"),
        _ => tile(page, "Program", "–", "not run as a whole"),
    }
    if data.has_after() {
        let faster = || data.nests.iter().filter(|n| n.after.is_some()).count();
        let (faster, all) = data.about.counted.unwrap_or_else(|| (faster(), data.nests.len()));
        tile(page, "Nests made faster", &format!("{faster} of {all}"), "the others stay byte for byte");
        let error = match program.max_rel_error {
            Some(error) if error > 0.0 => format!("largest relative difference {}", format_number(error)),
            Some(_) => "no difference".to_string(),
            None => "outputs of every changed nest are compared".to_string(),
        };
        let (mark, text) = if program.verified {
            ("verified", error.as_str())
        } else {
            ("not verified", "outputs were not compared")
        };
        tile(page, "Program's output", mark, text);
    } else {
        tile(page, "Nests", &data.nests.len().to_string(), "with a profile below");
    }
    let weighted = data.nests.iter().filter_map(|n| {
        let fraction = n.latest().roof_fraction?.value;
        let share = n.own_share.or(n.before.share.map(|share| share.value))?;
        Some((fraction * share, share))
    });
    let (reached, share) = weighted.fold((0.0, 0.0), |sum, (r, s)| (sum.0 + r, sum.1 + s));
    if share > 0.0 {
        let reached = at_most(&data.host).to_owned() + &format_percent(reached / share);
        tile(page, "Of the roofs", &reached, "reached, nests weighted by their time");
    }
    page.push_str("</section>\n");
    if let Some(note) = &program.note {
        let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(note));
    }
}

fn tile(page: &mut String, name: &str, value: &str, text: &str) {
    let _ = writeln!(
        page,
        "<div class=\"tile\"><div class=\"name\">{}</div><div class=\"value\">{}</div><div class=\"text\">{}</div></div>",
        escape(name),
        escape(value),
        escape(text)
    );
}

fn plots(page: &mut String, data: &ReportData) {
    let points: Vec<RooflinePoint<'_>> =
        data.nests.iter().map(|n| RooflinePoint { before: &n.before, after: n.after.as_ref() }).collect();
    page.push_str("<section>\n<h2>Roofline</h2>\n");
    figure(page, |size| roofline(&points, &data.host, size));
    let rows: Vec<Bar> = data
        .nests
        .iter()
        .map(|n| Bar {
            label: format!("{} {}", n.before.id, n.before.name),
            before_ns: n.before_ns(),
            after_ns: n.after_ns(),
            share: n.before.share.map(|s| s.value),
        })
        .collect();
    page.push_str("</section>\n<section>\n<h2>Where the time goes</h2>\n");
    figure(page, |size| bars(&rows, size));
    page.push_str("</section>\n");
}

fn notes(page: &mut String, data: &ReportData) {
    page.push_str(
        "<section>\n<h2>Where the figures come from</h2>\n<ul>\n\
         <li><b>Measured</b> figures are medians of the runs given with them; ± is half their interquartile distance.</li>\n\
         <li>Figures marked <i class=\"tag\">counted</i> are exact, from the program's text and sizes; \
         <i class=\"tag\">modelled</i> ones come from a model of the caches; <i class=\"tag\">assumed</i> ones are common \
         values for want of better. A figure made of several is marked as the weakest of them.</li>\n\
         <li>A nest's roof is the ceiling that allows it the least speed: peak arithmetic, the bandwidth of a memory level \
         at the traffic it has there, or the rate of divisions, square roots and exponentials.</li>\n\
         <li>Where clock and counts contradict a measured ceiling, the figure is left out and the nest's details say \
         why.</li>\n",
    );
    for note in data.notes.iter().chain(&data.host.notes) {
        let _ = writeln!(page, "<li>{}</li>", escape(note));
    }
    page.push_str("</ul>\n</section>\n");
}

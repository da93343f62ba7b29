//! The table of nests.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use oxeye::{NestReport, Report};
use std::fmt::Write;

/// The report for people.
pub(crate) fn render(report: &Report) -> String {
    let mut out = String::new();
    if !report.nests.is_empty() {
        let _ = writeln!(out, "{}", nests(report));
    }
    for trouble in &report.diagnostics {
        let line = trouble.line.map(|l| format!("line {l}: ")).unwrap_or_default();
        let help = trouble.help.as_deref().map(|h| format!("; {h}")).unwrap_or_default();
        let _ = writeln!(out, "left as it is: {line}{}{help}", trouble.message);
    }
    let p = &report.program;
    if let (Some(before), Some(after), Some(speedup)) = (p.baseline_ms, p.optimized_ms, p.speedup) {
        let verified = if p.verified { "same output" } else { "output not compared" };
        let _ =
            writeln!(out, "whole program: {} -> {}, {speedup:.2}x, {verified}", time(before), time(after));
    } else if let Some(before) = p.baseline_ms {
        let _ = writeln!(out, "whole program: {}, unchanged", time(before));
    }
    if let Some(note) = &p.note {
        let _ = writeln!(out, "whole program: {note}");
    }
    if report.fp.used {
        let error = report.fp.max_rel_error.unwrap_or(0.0);
        let _ = writeln!(out, "floating-point sums were reordered; largest relative difference {error:.1e}");
    }
    for note in &report.notes {
        let _ = writeln!(out, "{note}");
    }
    let flags = match report.build.added.as_slice() {
        [] => String::new(),
        added => format!("; compile it with {} added", added.join(" ")),
    };
    let output = report.output.display();
    let _ = match report.changed {
        true => writeln!(out, "written to {output}{flags}"),
        false => writeln!(out, "{output} is the input unchanged"),
    };
    out
}

fn nests(report: &Report) -> Table {
    let mut table = ruled([
        "line",
        "function",
        "share",
        "before",
        "after",
        "speedup",
        "recipe",
        "verified",
        "of its roof",
        "note",
    ]);
    for nest in &report.nests {
        table.add_row([
            nest.line.to_string(),
            nest.function.clone(),
            nest.share.map(|s| format!("{:.0} %", 100.0 * s)).unwrap_or_default(),
            nest.baseline_ms.map(time).unwrap_or_default(),
            nest.optimized_ms.filter(|_| nest.recipe.is_some()).map(time).unwrap_or_default(),
            nest.speedup.filter(|_| nest.recipe.is_some()).map(|s| format!("{s:.2}x")).unwrap_or_default(),
            nest.recipe.clone().unwrap_or_else(|| "-".into()),
            if nest.verified { "yes".into() } else { "-".into() },
            roof(nest),
            note(nest),
        ]);
    }
    for column in [0, 2, 3, 4, 5] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// An empty table as wide as the terminal.
pub(crate) fn ruled<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().top_border(rule).header_separator(rule).bottom_border(rule));
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width());
    table.set_header(header);
    table
}

/// How much of its roof a nest reaches in the end, and which roof that is.
fn roof(nest: &NestReport) -> String {
    match (&nest.bound, nest.roof_fraction) {
        (Some(bound), Some(fraction)) => format!("{:.0} % of {bound}", 100.0 * fraction),
        (Some(bound), None) => bound.clone(),
        (None, _) => "-".into(),
    }
}

/// Why a nest stays as it is; for a rewritten one, where its recipe was learnt.
fn note(nest: &NestReport) -> String {
    let learnt = nest.learnt_from().map(|from| format!("learnt from {from}"));
    let mut parts: Vec<&str> = learnt.iter().chain(&nest.note).map(String::as_str).collect();
    if nest.recipe.is_none() {
        parts.extend(nest.refused.iter().take(2).map(String::as_str));
    }
    let more = nest.refused.len().saturating_sub(2);
    let mut text = parts.join("; ");
    if nest.recipe.is_none() && more > 0 {
        let _ = write!(text, "; {more} more in the JSON report");
    }
    text
}

fn width() -> u16 {
    std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|w| *w >= 60).unwrap_or(120)
}

/// A time with three digits and its unit.
pub(crate) fn time(ms: f64) -> String {
    let (value, unit) = match ms {
        ms if ms >= 1000.0 => (ms / 1e3, "s"),
        ms if ms >= 1.0 => (ms, "ms"),
        ms => (ms * 1e3, "us"),
    };
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_have_three_digits() {
        let shown: Vec<_> = [12_345.0, 123.4, 1.234, 0.0123].into_iter().map(super::time).collect();
        assert_eq!(shown, ["12.3 s", "123 ms", "1.23 ms", "12.3 us"]);
    }
}

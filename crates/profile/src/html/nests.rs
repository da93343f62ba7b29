//! The nests: a table of all, and the details of each.

use super::parts::{at_most, shown};
use crate::figures::{format_bytes, format_ns, format_number, format_percent};
use crate::nest::NestProfile;
use crate::plot::escape;
use crate::report::{NestEntry, ReportData};
use oxeye_host::Quantity;
use std::fmt::Write;

/// One row per nest.
pub(super) fn table(page: &mut String, data: &ReportData) {
    page.push_str(
        "<section>\n<h2>Nests</h2>\n<div class=\"scroll\"><table class=\"nests sorted\">\n<thead><tr>",
    );
    let has_after = data.has_after();
    let after: &[&str] = if has_after { &["After", "Speedup"] } else { &[] };
    let last: &[&str] = if has_after { &["Recipe"] } else { &[] };
    let first = ["#", "Nest", "Share", if has_after { "Before" } else { "Time" }];
    let columns = first.iter().chain(after).chain(&["GFLOP/s", "Bound", "Of the roof"]).chain(last);
    for name in columns {
        let class = if matches!(*name, "Nest" | "Bound" | "Recipe") { "" } else { " class=\"n\"" };
        let _ = write!(page, "<th{class} scope=\"col\">{name}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for nest in &data.nests {
        row(page, nest, has_after, at_most(&data.host));
    }
    page.push_str("</tbody></table></div>\n");
    if data.nests.is_empty() {
        page.push_str("<p class=\"note\">No loop nest was found.</p>\n");
    }
    for sentence in &data.shared {
        let _ = writeln!(page, "<p class=\"note\">{}.</p>", escape(sentence));
    }
    page.push_str("</section>\n");
}

fn row(page: &mut String, nest: &NestEntry, has_after: bool, most: &str) {
    let latest = nest.latest();
    let _ = write!(
        page,
        "<tr><td class=\"n\">{0}</td><td><a href=\"#nest-{0}\">{1}</a></td>{2}{3}",
        nest.before.id,
        escape(&nest.before.name),
        number(nest.before.share.map(|share| share.value), format_percent),
        number(nest.before_ns(), format_ns)
    );
    if has_after {
        page.push_str(&number(nest.after_ns(), format_ns));
        page.push_str(&number(nest.speedup(), |speedup| format!("{speedup:.2}×")));
    }
    let _ = write!(
        page,
        "{}<td>{}</td><td class=\"n\" data-v=\"{}\">{}</td>",
        number(latest.gflops.map(|gflops| gflops.value), format_number),
        escape(&latest.bound.to_string()),
        latest.roof_fraction.map_or(String::new(), |fraction| fraction.value.to_string()),
        meter(latest.roof_fraction, most)
    );
    if has_after {
        let recipe = match (&nest.recipe, nest.refused.len()) {
            (Some(recipe), _) => escape(recipe),
            (None, 0) => "<span class=\"none\">stays</span>".into(),
            (None, n) => format!("<span class=\"none\">stays; {n} refused</span>"),
        };
        let _ = write!(page, "<td class=\"recipe\">{recipe}</td>");
    }
    page.push_str("</tr>\n");
}

/// One section per nest, folded.
pub(super) fn details(page: &mut String, data: &ReportData) {
    page.push_str("<section>\n<h2>Each nest</h2>\n");
    let most = at_most(&data.host);
    for nest in &data.nests {
        let latest = nest.latest();
        let _ = write!(
            page,
            "<details id=\"nest-{0}\">\n<summary><span class=\"title\">{0} {1}</span> <span class=\"hint\">{2}{3}</span></summary>\n",
            nest.before.id,
            escape(&nest.before.name),
            escape(&latest.bound.to_string()),
            latest
                .roof_fraction
                .map_or(String::new(), |f| format!(", {most}{} of it", format_percent(f.value)))
        );
        for text in nest.note.iter().chain(&nest.help) {
            let _ = writeln!(page, "<p>{}</p>", escape(text));
        }
        recipe(page, nest);
        if let Some(guard) = &nest.guard {
            let _ = writeln!(page, "<p>Guard: {}.</p>", escape(guard));
        }
        texts(page, nest);
        figures(page, nest, most);
        roofs(page, nest, most);
        list(page, "Refused", &nest.refused);
        let notes: Vec<String> =
            states(nest).flat_map(|(state, p)| with_state(nest, state, &p.notes)).collect();
        list(page, "Notes", &notes);
        let missing: Vec<String> =
            states(nest).flat_map(|(state, p)| with_state(nest, state, &p.why_missing)).collect();
        list(page, "Missing figures", &missing);
        // The first stands beside the original.
        for listing in nest.listings.iter().skip(usize::from(nest.original.is_some())) {
            let _ = writeln!(
                page,
                "<details class=\"inner\"><summary>{}</summary><div class=\"scroll\"><pre>{}</pre></div></details>",
                escape(&listing.heading),
                escape(&listing.text)
            );
        }
        page.push_str("</details>\n");
    }
    page.push_str("</section>\n");
}

/// The original and the new text side by side.
fn texts(page: &mut String, nest: &NestEntry) {
    let Some(original) = &nest.original else { return };
    let new = nest.listings.first().map(|listing| ("new", &listing.text));
    page.push_str("<div class=\"texts\">");
    for (name, text) in [("original", original)].into_iter().chain(new) {
        let _ = write!(
            page,
            "<div><h3>{name}</h3><div class=\"scroll\"><pre>{}</pre></div></div>",
            escape(text.trim_end())
        );
    }
    page.push_str("</div>\n");
}

fn recipe(page: &mut String, nest: &NestEntry) {
    let Some(name) = &nest.recipe else { return };
    let verified = if nest.verified { "outputs compared, they agree" } else { "outputs not compared" };
    let speedup = shown(nest.speedup, |x| format!("{x:.2}×"));
    let learnt = nest.learnt_from.as_ref().map(|from| format!("; learnt from {}", escape(from)));
    let learnt = learnt.unwrap_or_default();
    let _ = writeln!(page, "<p><b>{}</b>: speedup {speedup}, {verified}{learnt}</p>", escape(name));
    if !nest.steps.is_empty() {
        page.push_str("<ol class=\"steps\">");
        for step in &nest.steps {
            let _ = write!(page, "<li><code>{}</code></li>", escape(step));
        }
        page.push_str("</ol>\n");
    }
}

/// Before and after side by side.
fn figures(page: &mut String, nest: &NestEntry, most: &str) {
    page.push_str("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\"></th>");
    for (state, _) in states(nest) {
        let _ = write!(page, "<th class=\"n\" scope=\"col\">{state}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    let mut line = |name: &str, cell: &dyn Fn(&NestProfile) -> String| {
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", escape(name));
        for (_, profile) in states(nest) {
            let _ = write!(page, "<td class=\"n\">{}</td>", cell(profile));
        }
        page.push_str("</tr>\n");
    };
    let rate = |unit: &'static str| move |x: f64| format!("{} {unit}", format_number(x));
    line("warm time", &|p| shown(p.warm_ns, format_ns));
    line("cold time", &|p| shown(p.cold_ns, format_ns));
    line("threads", &|p| p.threads.to_string());
    line("performance", &|p| shown(p.gflops, rate("GFLOP/s")));
    line("attainable", &|p| shown(p.attainable_gflops, rate("GFLOP/s")));
    line("bound", &|p| escape(&p.bound.to_string()));
    let of_roof = |fraction: f64| most.to_owned() + &format_percent(fraction);
    line("share of the roof", &|p| shown(p.roof_fraction, of_roof));
    line("operations", &|p| shown(p.flops, format_number));
    line("footprint", &|p| shown(p.footprint_bytes, format_bytes));
    line("compulsory traffic", &|p| shown(p.compulsory_bytes, format_bytes));
    line("compulsory intensity", &|p| shown(p.compulsory_intensity, rate("FLOP/B")));
    for level in &nest.before.levels {
        let name = &level.level;
        line(&format!("{name} traffic"), &|p| shown(p.level(name).and_then(|l| l.bytes), format_bytes));
        line(&format!("{name} bandwidth"), &|p| {
            let Some(level) = p.level(name) else { return shown(None, format_number) };
            let rate = shown(level.gb_per_s, rate("GB/s"));
            match (level.gb_per_s, level.ceiling_gb_per_s) {
                (Some(_), Some(most)) => format!("{rate} <small>of {}</small>", format_number(most.value)),
                _ => rate,
            }
        });
        line(&format!("{name} intensity"), &|p| {
            shown(p.level(name).and_then(|l| l.intensity), rate("FLOP/B"))
        });
    }
    for point in nest.latest().scaling.iter().filter(|s| s.threads > 1) {
        line(&format!("speedup with {} threads", point.threads), &|p| {
            let found = p.scaling.iter().find(|s| s.threads == point.threads);
            shown(found.and_then(|s| s.speedup), |x| format!("{}×", format_number(x)))
        });
    }
    for counter in &nest.latest().counters {
        line(&counter.counter, &|p| match p.counters.iter().find(|c| c.counter == counter.counter) {
            Some(found) if found.scaled => format!("{} <small>scaled</small>", format_number(found.value)),
            Some(found) => format_number(found.value),
            None => shown(None, format_number),
        });
    }
    page.push_str("</tbody></table></div>\n");
}

/// The roofs of the latest state, the binding one first.
fn roofs(page: &mut String, nest: &NestEntry, most: &str) {
    let latest = nest.latest();
    if latest.roofs.is_empty() {
        return;
    }
    page.push_str("<h3>Roofs</h3>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">roof</th><th class=\"n\" scope=\"col\">least time</th><th class=\"n\" scope=\"col\">share</th></tr></thead>\n<tbody>\n");
    for roof in &latest.roofs {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&roof.bound.to_string()),
            format_ns(roof.least_ns.value),
            meter(Some(roof.fraction), most)
        );
    }
    page.push_str("</tbody></table></div>\n");
}

fn list(page: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(page, "<h3>{heading}</h3>\n<ul>");
    for line in lines {
        let _ = write!(page, "<li>{}</li>", escape(line));
    }
    page.push_str("</ul>\n");
}

fn states(nest: &NestEntry) -> impl Iterator<Item = (&'static str, &NestProfile)> {
    let first = if nest.after.is_some() { "before" } else { "nest" };
    std::iter::once((first, &nest.before)).chain(nest.after.as_ref().map(|after| ("after", after)))
}

/// Lines that only one of two states has, marked with the state.
fn with_state(nest: &NestEntry, state: &str, lines: &[String]) -> Vec<String> {
    let is_in = |profile: &NestProfile, line: &String| {
        profile.notes.contains(line) || profile.why_missing.contains(line)
    };
    let Some(after) = &nest.after else { return lines.to_vec() };
    lines
        .iter()
        .filter_map(|line| match (is_in(&nest.before, line) && is_in(after, line), state) {
            (true, "before") => Some(line.clone()),
            (true, _) => None,
            (false, _) => Some(format!("{line} ({state})")),
        })
        .collect()
}

/// A cell with a number, which rows are sorted by.
fn number(value: Option<f64>, words: impl Fn(f64) -> String) -> String {
    match value {
        Some(value) => format!("<td class=\"n\" data-v=\"{value}\">{}</td>", escape(&words(value))),
        None => "<td class=\"n\" data-v=\"\"><span class=\"none\">–</span></td>".into(),
    }
}

/// A share as per cent with a small bar, these letters before it.
fn meter(fraction: Option<Quantity>, most: &str) -> String {
    let Some(fraction) = fraction else { return "<span class=\"none\">–</span>".into() };
    let percent = (fraction.value * 100.0).clamp(0.0, 100.0);
    format!(
        "<span class=\"meter\" aria-hidden=\"true\"><span style=\"width:{percent:.0}%\"></span></span>{most}{}",
        format_percent(fraction.value)
    )
}

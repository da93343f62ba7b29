//! The report of a tuning run, for people: all of it, which `brief` says in a few lines.

use crate::columns::{Column, continued, lines, wrapped};
use crate::terminal::View;
use console::{Style, measure_text_width};
use oxeye::{
    FpReport, IllConditioned, LineReport, NestReport, ProgramReport, Report, SizeReport, TrialReport,
    Unchanged, Verdict,
};
use std::fmt::Write;

/// From these widths on the table says where recipes were learnt, and what bounds each nest; the latter also from `WIDE` on,
/// where no recipe was learnt.
const WITH_DONORS: usize = 110;
const WITH_BOTH: usize = 150;
const WIDE: usize = 100;
/// Characters for the lines of nests that stay as they are.
const LEAST_PLACES: usize = 24;
/// A nest that ends below this share of its roof, and has at least that share of the program's time, is worth a search.
const FAR_FROM_ROOF: f64 = 0.25;
const WORTH_A_SEARCH: f64 = 0.05;
/// A loop that is not read is told of from this share of the program's time on, and at most so many places are listed in the
/// sentence on where the time goes.
const WORTH_A_WORD: f64 = 0.01;
const MOST_PLACES: usize = 3;

/// Everything about the nests of a file, and its own notes. What there is to say of its program is said around that.
fn full(report: &Report, view: View) -> String {
    let mut out = coverage(report, view);
    if report.nests.iter().any(is_listed) {
        out += &nests(report, view);
    }
    out += &guards(report, view);
    out += &unchanged(report, view);
    report.nests.iter().for_each(|nest| out += &details(nest, report.host.provisional, view));
    out.push('\n');
    out += &unread(report, view);
    out += &same_results(report);
    out += &conditioning(report, view);
    report.notes.iter().for_each(|note| out += &wrapped(note, view.width));
    out
}

/// Nests that are too short, or of which no time is known, have a place in the lines below the table only.
fn is_listed(nest: &NestReport) -> bool {
    nest.recipe.is_some() || (nest.unchanged != Some(Unchanged::TooShort) && nest.baseline_ms.is_some())
}

/// Whether loops that do the same work are rewritten instead.
fn is_covered(nest: &NestReport) -> bool {
    nest.unchanged == Some(Unchanged::Overlapped)
}

fn nests(report: &Report, view: View) -> String {
    let listed: Vec<&NestReport> = report.nests.iter().filter(|nest| is_listed(nest)).collect();
    let has_shares = listed.iter().any(|nest| nest.time.share.is_some());
    let has_donors = view.width >= WITH_DONORS && listed.iter().any(|nest| nest.learnt_from().is_some());
    let has_bounds = view.width >= if has_donors { WITH_BOTH } else { WIDE };
    let mut columns = vec![Column::numbers("line"), Column::words("function")];
    if has_shares {
        columns.push(Column::numbers("share"));
    }
    columns.extend([Column::numbers("before"), Column::numbers("after"), Column::numbers("speedup")]);
    columns.push(match has_bounds {
        true => Column::whole("of its roof"),
        false => Column::numbers("roof"),
    });
    columns.push(Column::words("recipe"));
    if has_donors {
        columns.push(Column::whole("learnt from"));
    }
    let row = |nest: &&NestReport| {
        let is_rewritten = nest.recipe.is_some();
        let mut row = vec![nest.line.to_string(), nest.function.clone()];
        if has_shares {
            row.push(nest.time.share.map(percent).unwrap_or_default());
        }
        row.push(nest.baseline_ms.map(time).unwrap_or_default());
        row.push(nest.optimized_ms.filter(|_| is_rewritten).map(time).unwrap_or_default());
        row.push(nest.speedup.filter(|_| is_rewritten).map(|s| format!("{s:.2}x")).unwrap_or_default());
        row.push(roof(nest, has_bounds, report.host.provisional));
        row.push(nest.recipe.clone().unwrap_or_else(|| "-".into()));
        if has_donors {
            row.push(nest.learnt_from().unwrap_or_default());
        }
        row
    };
    let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
    let lines = lines(&columns, &rows, view.width);
    let widest = lines.iter().flatten().map(|line| measure_text_width(line)).max().unwrap_or(0);
    let rule = "─".repeat(widest);
    let mut out = format!("{rule}\n{}\n{rule}\n", view.styled(Style::new().bold(), &lines[0].join("\n")));
    for (nest, lines) in listed.iter().zip(&lines[1..]) {
        let style = if nest.recipe.is_some() { Style::new() } else { Style::new().dim() };
        for line in lines {
            out += &view.styled(style.clone(), line);
            out.push('\n');
        }
    }
    out += &rule;
    out.push('\n');
    if has_shares {
        out += &shared_time(&listed, view);
    }
    out
}

/// Which rows tell of time that others have, too.
fn shared_time(listed: &[&NestReport], view: View) -> String {
    let name = |nests: &[&NestReport]| places(nests, view.width / 2);
    oxeye::shared_time(listed, &name).iter().map(|sentence| wrapped(sentence, view.width)).collect()
}

/// How much of its roof a nest reaches in the end, and where there is room, which roof that is. A provisional ceiling is a
/// lower bound, so that its share is an upper one.
fn roof(nest: &NestReport, with_bound: bool, provisional: bool) -> String {
    let most = if provisional { "≤" } else { "" };
    match (&nest.bound, nest.roof_fraction) {
        (Some(bound), Some(fraction)) if with_bound => format!("{most}{} of {bound}", percent(fraction)),
        (_, Some(fraction)) => format!("{most}{}", percent(fraction)),
        (Some(bound), None) if with_bound => bound.clone(),
        _ => "-".into(),
    }
}

/// For which sizes new code runs, where it does not for all.
fn guards(report: &Report, view: View) -> String {
    let guarded = report.nests.iter().filter(|nest| nest.recipe.is_some());
    let guarded = guarded.filter_map(|nest| Some((&nest.line, nest.guard.as_ref()?)));
    guarded.map(|(line, guard)| wrapped(&format!("line {line}: {}", guard.in_words()), view.width)).collect()
}

/// Why nests stay as they are: a line a reason.
fn unchanged(report: &Report, view: View) -> String {
    let mut reasons: Vec<(String, Vec<&NestReport>)> = Vec::new();
    for nest in &report.nests {
        let Some(why) = nest.unchanged else { continue };
        let why = match (why.words(), &nest.note) {
            (Some(words), _) => words.to_owned(),
            (None, note) => note.clone().unwrap_or_else(|| "not tuned".into()),
        };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, nests)) => nests.push(nest),
            None => reasons.push((why, vec![nest])),
        }
    }
    // A nest too short to matter has no row, so that its share stands here.
    let is_short = |nests: &[&NestReport]| nests.iter().any(|nest| !is_listed(nest));
    let short = Some(Unchanged::TooShort).and_then(Unchanged::words);
    reasons.sort_by_key(|(_, nests)| is_short(nests));
    let mut out = String::new();
    for (why, nests) in reasons {
        let share: f64 = nests.iter().filter_map(|nest| nest.time.own_share).sum();
        let why = match Some(why.as_str()) == short {
            true => format!("{why} ({} of the time together)", percent(share)),
            false => why,
        };
        let room = view.width.saturating_sub(measure_text_width(&why) + 4).max(LEAST_PLACES);
        out += &wrapped(&format!("{}: {why}", places(&nests, room)), view.width);
    }
    out
}

/// `line 7`, `lines 7, 12 and 30`, and as many of more as there is room for.
fn places(nests: &[&NestReport], room: usize) -> String {
    let numbers: Vec<String> = nests.iter().map(|nest| nest.line.to_string()).collect();
    let [before @ .., last] = numbers.as_slice() else { return String::new() };
    if before.is_empty() {
        return format!("line {last}");
    }
    let all = format!("lines {} and {last}", before.join(", "));
    if all.len() <= room {
        return all;
    }
    let n = numbers.len();
    let some = |k: usize| format!("{n} nests (lines {}, …)", numbers[..k].join(", "));
    (1..n)
        .rev()
        .map(some)
        .find(|text| measure_text_width(text) <= room)
        .unwrap_or_else(|| format!("{n} nests"))
}

/// How much of the time is in loops that can be tuned, and where the rest is.
fn coverage(report: &Report, view: View) -> String {
    let Some(found) = &report.coverage else { return String::new() };
    let mut parts = vec![format!("{} of the time is in loops that can be tuned", percent(found.tunable))];
    let mut rest = 1.0 - found.tunable;
    let loops = found.loops.iter().map(|found| (found.share, format!("line {}", found.line)));
    let name = |file: &std::path::Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let files = found.files.iter().map(|found| (found.share, name(&found.file)));
    let mut others: Vec<(f64, String)> =
        loops.chain(files).filter(|(share, _)| *share >= WORTH_A_WORD).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (share, place) in others.into_iter().take(MOST_PLACES) {
        rest -= share;
        parts.push(format!("{} in {place}", percent(share)));
    }
    if rest >= 0.005 {
        parts.push(format!("{} elsewhere", percent(rest)));
    }
    wrapped(&parts.join("; "), view.width)
}

/// What could not be read: a line a reason, those first that cost most.
fn unread(report: &Report, view: View) -> String {
    refused_loops(report).iter().map(|sentence| wrapped(sentence, view.width)).collect()
}

/// What could not be read: a sentence a reason, those first that cost most.
pub(crate) fn refused_loops(report: &Report) -> Vec<String> {
    struct Reason<'a> {
        message: &'a str,
        help: Option<&'a str>,
        lines: Vec<LineReport>,
        loops: Vec<LineReport>,
    }
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for trouble in &report.diagnostics {
        let known = reasons.iter().position(|reason| reason.message == trouble.message);
        let known = known.unwrap_or_else(|| {
            let (message, help) = (trouble.message.as_str(), trouble.help.as_deref());
            reasons.push(Reason { message, help, lines: Vec::new(), loops: Vec::new() });
            reasons.len() - 1
        });
        let lines = &mut reasons[known].lines;
        lines.extend(trouble.place().filter(|line| !lines.contains(line)));
        reasons[known].loops.extend(trouble.loop_place());
    }
    // `None` where nothing is known of the time.
    let share = |reason: &Reason<'_>| {
        let found = report.coverage.as_ref()?;
        let mut loops = reason.loops.clone();
        loops.sort();
        loops.dedup();
        (!loops.is_empty()).then(|| loops.iter().filter_map(|line| found.of_loop(line)).sum::<f64>())
    };
    reasons.sort_by(|a, b| share(b).unwrap_or(0.0).total_cmp(&share(a).unwrap_or(0.0)));
    let place = |lines: &[LineReport]| match lines {
        [] => String::new(),
        [line] => format!("line {line}"),
        lines => format!("lines {}", lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    };
    let sentence = |reason: Reason<'_>| {
        let cost = share(&reason).filter(|share| *share >= WORTH_A_WORD);
        let cost = cost.map(|share| format!(" ({} of the time)", percent(share))).unwrap_or_default();
        let place = match place(&reason.lines) {
            place if place.is_empty() => place,
            place => format!("{place}{cost}: "),
        };
        let help = reason.help.map(|help| format!("; {help}")).unwrap_or_default();
        format!("left as it is: {place}{}{help}", reason.message)
    };
    reasons.into_iter().map(sentence).collect()
}

/// Whether the rewritten nests give the results of the original.
fn same_results(report: &Report) -> String {
    let rewritten: Vec<&NestReport> = report.nests.iter().filter(|nest| nest.recipe.is_some()).collect();
    if rewritten.is_empty() || !rewritten.iter().all(|nest| nest.verified) {
        return String::new();
    }
    let nests = match rewritten.len() {
        1 => "the rewritten nest gives".into(),
        2 => "both rewritten nests give".into(),
        n => format!("all {n} rewritten nests give"),
    };
    format!("{nests} the results of the original\n")
}

/// `same output`, and what else is the same.
fn same_output(program: &ProgramReport) -> String {
    match program.compared.split_first() {
        Some((_, files)) if !files.is_empty() => format!("same output, same {}", files.join(", ")),
        _ => "same output".into(),
    }
}

/// Whether sums were reordered, and what became of the results, if they were.
fn same_floats(reports: &[&FpReport]) -> Option<String> {
    let used: Vec<&&FpReport> = reports.iter().filter(|fp| fp.used).collect();
    let error = used.iter().filter_map(|fp| fp.max_rel_error).fold(0.0, f64::max);
    let is_by_clauses = used.iter().all(|fp| fp.source == "clauses");
    let leave = if is_by_clauses { ", as `reduction` clauses allow" } else { "" };
    let error = if error > 0.0 { format!("{error:.1e}") } else { "0".into() };
    let sentence = format!("floating-point sums were reordered{leave}; largest relative difference {error}");
    (!used.is_empty()).then_some(sentence)
}

/// The nests of which roundings decide the results.
fn conditioning(report: &Report, view: View) -> String {
    let ill = report.nests.iter().filter_map(|nest| Some((nest, nest.conditioning.as_ref()?)));
    ill.map(|(nest, found)| {
        let IllConditioned { argument, digits_lost, digits, runs, .. } = found;
        let sentence = format!(
            "line {}: ill-conditioned, roundings change up to {digits_lost:.0} of {digits:.0} digits of `{argument}`; \
             candidates were held to what {runs} runs of the original differ by",
            nest.line
        );
        wrapped(&sentence, view.width)
    })
    .collect()
}

/// What was left on the table, and the command that would go on.
fn left(report: &Report, view: View, go_on: &dyn Fn(Option<&str>) -> Option<String>) -> String {
    let is_far = |nest: &&NestReport| {
        nest.roof_fraction.is_some_and(|fraction| fraction < FAR_FROM_ROOF)
            && nest.time.share.is_none_or(|share| share >= WORTH_A_SEARCH)
            && is_listed(nest)
            && !is_covered(nest)
    };
    let far: Vec<&NestReport> = report.nests.iter().filter(is_far).collect();
    let Some(first) = far.first().filter(|_| report.search.is_none()) else { return String::new() };
    // A search of one function writes a file in which only that is tuned.
    let function = &first.function;
    let others = report.nests.iter().filter(|nest| nest.function != *function);
    let is_alone =
        far.iter().all(|nest| nest.function == *function) && others.into_iter().all(|n| n.recipe.is_none());
    let Some(command) = go_on(is_alone.then_some(function.as_str())) else { return String::new() };
    let fractions = || far.iter().filter_map(|nest| nest.roof_fraction);
    let (low, high) = (fractions().fold(1.0, f64::min), fractions().fold(0.0, f64::max));
    let reached = match (percent(low), percent(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{} to {high}", low.trim_end_matches(" %")),
    };
    let roofs = if far.len() == 1 { "its roof" } else { "their roofs" };
    let verb = if far.len() == 1 { "reaches" } else { "reach" };
    let room = view.width / 2;
    let sentence = format!("{} {verb} {reached} of {roofs}; to search further:", places(&far, room));
    wrapped(&sentence, view.width) + &continued(&command, view.width)
}

/// Everything about one nest.
fn details(nest: &NestReport, provisional: bool, view: View) -> String {
    let mut out = String::new();
    let share = nest.time.share.map(|share| format!(", {} of the time", percent(share))).unwrap_or_default();
    let heading = format!("line {}, {}{share}", nest.line, nest.function);
    let _ = writeln!(out, "\n{}", view.styled(Style::new().bold(), &heading));
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&wrapped(&format!("{name}: {text}"), view.width));
        }
    };
    if let Some(recipe) = &nest.recipe {
        line("recipe", recipe);
        line("steps", &nest.steps.join("; "));
    }
    if let (Some(learnt_from), Some(donor)) = (nest.learnt_from(), &nest.donor) {
        let entry = donor.split(',').next().unwrap_or_default();
        line("learnt from", &format!("{learnt_from} (entry {entry} of the recipe database)"));
    }
    if nest.sizes.len() > 1 {
        nest.sizes.iter().for_each(|size| line("size", &calls_of(size)));
    }
    line("roof", &roof(nest, true, provisional));
    line("note", nest.note.as_deref().unwrap_or_default());
    for trial in &nest.trials {
        line("tried", &tried(trial, nest.recipe.is_some()));
    }
    for refused in &nest.refused {
        line("not possible", refused);
    }
    out
}

/// Calls of one size.
fn calls_of(size: &SizeReport) -> String {
    let speedup = size.speedup.map(|speedup| format!(", {speedup:.2}x")).unwrap_or_default();
    let iterations = match size.iterations {
        many if many >= 1e4 => format!("{:e}", round_to_digit(many)),
        few => format!("{few}"),
    };
    let (calls, share) = (size.invocations, percent(size.share));
    format!("{iterations} iterations and more, {calls} calls, {share} of its time{speedup}")
}

/// The first digit of a number, zeros behind it.
fn round_to_digit(value: f64) -> f64 {
    let unit = 10f64.powi(value.log10().floor() as i32);
    (value / unit).floor() * unit
}

fn tried(trial: &TrialReport, has_winner: bool) -> String {
    let screened = trial.screened_ms.map(|ms| format!(", {} when screened", time(ms))).unwrap_or_default();
    let timed =
        trial.time_ms.map(|ms| format!(", {} in turns with the original", time(ms))).unwrap_or_default();
    let why = trial.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{}: {}{screened}{timed}{why}", trial.name, outcome(trial.verdict, trial.speedup, has_winner))
}

/// What became of a candidate so many times as fast as the original, in a word or two; whether another one wins.
pub(crate) fn outcome(verdict: Verdict, speedup: Option<f64>, has_winner: bool) -> &'static str {
    match verdict {
        Verdict::Chosen => "wins",
        Verdict::Slower if speedup.is_none_or(|speedup| speedup <= 1.0) => "correct, but slower",
        Verdict::Slower if has_winner => "not the fastest",
        Verdict::Slower => "not faster beyond noise",
        Verdict::NotTried => "not tried",
        Verdict::TooSlow => "too slow",
        Verdict::WrongResult => "wrong result",
        Verdict::Crashed => "crashed",
        Verdict::DoesNotCompile => "does not compile",
        Verdict::Refused => "refused",
        Verdict::Duplicate => "the same as another",
        Verdict::Dropped => "dropped",
        Verdict::Overlapped => "faster, but not needed",
    }
}

/// What files are built with besides their own flags: `build a.c and link with -fopenmp`. What is for vector loops alone is no
/// matter of linking.
pub(crate) fn build_with(files: &[String], flags: &[&str]) -> String {
    let and_link = if flags == ["-fopenmp-simd"] { "" } else { "and link " };
    format!("build {} {and_link}with {}", files.join(", "), flags.join(" "))
}

/// A share in per cent; what is there and rounds to nothing is below one.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 1.0 => "<1 %".into(),
        percent => format!("{percent:.0} %"),
    }
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

mod brief;
#[cfg(test)]
mod brief_tests;
mod printed;
mod project;
#[cfg(test)]
mod tests;

pub(crate) use printed::{render, render_project};

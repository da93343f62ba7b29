//! The first lines: what became of the whole program, and of how many nests that comes.

use super::super::{same_output, time};
use super::nests::Counted;
use super::run::Run;
use crate::columns::{joined, middle_cut};
use crate::terminal::View;
use console::{Style, measure_text_width};
use oxeye::ProgramReport;

/// A name is not cut shorter to make room for how often the program ran, and for what of its output was compared.
const ENOUGH_OF_A_NAME: usize = 24;
const LEAST_OF_A_NAME: usize = 8;
/// More letters on what was compared are a number.
const MOST_OF_COMPARED: usize = 40;

/// What became of the program, and of its nests: a line each.
pub(super) fn headline(run: &Run<'_>, nests: &[Counted<'_>], view: View) -> Vec<String> {
    let n_tuned = nests.iter().filter(|nest| nest.is_tuned).count();
    let n_nests = match (n_tuned, nests.len()) {
        (_, 0) => "no nest was tuned".to_owned(),
        (0, 1) => "its one nest got no faster".to_owned(),
        (0, n) => format!("none of {n} nests got faster"),
        (_, 1) => "its one nest is faster".to_owned(),
        (tuned, n) => format!("{tuned} of {n} nests faster"),
    };
    // Of a file, the last line says so.
    let is_same = !run.changed && run.closing.needed.is_empty();
    let nothing = || is_same.then(|| "nothing is changed".to_owned()).into_iter().collect();
    let (line, mut parts, runs): (String, Vec<String>, Option<String>) =
        match (whole(run, view), run.program.baseline_ms) {
            (Some(whole), _) => {
                let (line, left) = of_program(run, whole, view);
                (line, left.same.into_iter().chain([n_nests]).collect(), left.runs)
            }
            (None, Some(before)) => {
                (named(run, &[(format!("{}, {n_nests}", time(before)), 0)], view), nothing(), None)
            }
            (None, None) => (named(run, &[(n_nests, 0)], view), nothing(), None),
        };
    parts.extend(new_code(run, nests));
    parts.push(spent(run));
    parts.extend(runs);
    vec![line, joined(&parts, ", ", view.width)]
}

/// How much was tried, and how long that took.
fn spent(run: &Run<'_>) -> String {
    let n_trials: usize = run.reports().map(|report| report.tried.trials).sum();
    let nodes = match run.nodes.iter().filter(|node| node.measured > 0).count() {
        0 => String::new(),
        n => format!(" on {}", count(n, "node")),
    };
    format!("{} tried in {}{nodes}", count(n_trials, "candidate"), seconds(run.seconds))
}

/// The program before and after.
struct Whole {
    figures: String,
    left: Left,
}

/// What stands behind the figures where there is room, and in the second line elsewhere.
struct Left {
    /// What of it is the same.
    same: Option<String>,
    /// How often each ran.
    runs: Option<String>,
}

/// `None` of a program that stays as it is, or was not run.
fn whole(run: &Run<'_>, view: View) -> Option<Whole> {
    let p = run.program;
    let (Some(before), Some(after), Some(speedup), true) =
        (p.baseline_ms, p.optimized_ms, p.speedup, run.changed)
    else {
        return None;
    };
    Some(Whole {
        figures: format!("{} -> {}, {}", time(before), time(after), gain(p, speedup, view)),
        left: Left {
            same: Some(if p.verified { compared(p) } else { "output not compared".into() }),
            runs: (p.samples > 0).then(|| format!("{} each", count(p.samples, "run"))),
        },
    })
}

/// The line on the program, and what of it has no room there.
fn of_program(run: &Run<'_>, whole: Whole, view: View) -> (String, Left) {
    let Whole { figures, left } = whole;
    let with_same = left.same.iter().fold(figures.clone(), |text, same| format!("{text}, {same}"));
    let with_runs = left.runs.iter().fold(with_same.clone(), |text, runs| format!("{text} ({runs})"));
    let texts = [(with_runs, ENOUGH_OF_A_NAME), (with_same, LEAST_OF_A_NAME), (figures, 0)];
    let line = named(run, &texts, view);
    let has = |k: usize| line.ends_with(&texts[k].0);
    let (has_same, has_runs) = (has(0) || has(1), has(0));
    (line, Left { same: left.same.filter(|_| !has_same), runs: left.runs.filter(|_| !has_runs) })
}

/// A time that nobody needs in full.
fn seconds(seconds: f64) -> String {
    if seconds >= 10.0 { format!("{seconds:.0} s") } else { time(1e3 * seconds) }
}

/// `3 runs`, `1 run`.
pub(super) fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The name of the run, cut in its middle, with the first of the texts that leaves so much of it.
fn named(run: &Run<'_>, texts: &[(String, usize)], view: View) -> String {
    let name = run.name.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = |text: &str| (view.width - ": ".len()).saturating_sub(measure_text_width(text));
    let fits = |(text, least): &&(String, usize)| room(text) >= *least.min(&measure_text_width(&name));
    let fitting = texts.iter().find(fits);
    fitting.map(|(text, _)| format!("{}: {text}", middle_cut(&name, room(text)))).unwrap_or(name)
}

/// How many times faster the program is, between which bounds, and whether that is more than noise.
fn gain(p: &ProgramReport, speedup: f64, view: View) -> String {
    // One run of each has no interval.
    let interval = p.speedup_interval.filter(|(low, high)| low < high);
    let interval = interval.map(|(low, high)| format!(" ({low:.2}-{high:.2})")).unwrap_or_default();
    let is_noise = p.is_within_noise() || p.speedup_interval.is_some_and(|(low, _)| low <= 1.0);
    let style = if speedup > 1.0 && !is_noise { Style::new().green().bold() } else { Style::new().bold() };
    let figure = view.styled(style, &format!("{speedup:.2}x"));
    format!("{figure}{interval}{}", if is_noise { ", within noise" } else { "" })
}

/// What of the program is the same.
fn compared(p: &ProgramReport) -> String {
    match same_output(p) {
        short if short.len() <= MOST_OF_COMPARED => short,
        _ => format!("same output and {}", count(p.compared.len() - 1, "file")),
    }
}

/// How much text is new, and in how many files; nothing where only flags are.
fn new_code(run: &Run<'_>, nests: &[Counted<'_>]) -> Option<String> {
    let tuned = || nests.iter().filter(|nest| nest.is_tuned);
    let n_lines: usize =
        tuned().filter_map(|nest| nest.nest.source.code.as_ref()).map(|code| code.lines().count()).sum();
    let files = run.files.iter().filter(|file| tuned().any(|nest| std::ptr::eq(nest.file, *file)));
    let n_files = files.count();
    let of_files = if n_files > 1 { format!(" in {n_files} files") } else { String::new() };
    (n_lines > 0).then(|| count(n_lines, "new line") + &of_files)
}

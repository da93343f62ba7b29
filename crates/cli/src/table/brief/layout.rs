//! Lines of what is to be said, as much as there is room for.

use super::super::percent;
use super::causes::{Cause, Spot, causes};
use super::change;
use super::headline::{count, headline};
use super::nests::{Counted, Place, counted};
use super::run::{Closing, Run};
use super::trust;
use crate::columns::{clipped, joined, middle_cut, wrapped};
use crate::terminal::View;
use console::{Style, measure_text_width};

/// Lines of a report, and of one that has no gain to tell of.
const MOST_LINES: usize = 15;
const MOST_WITHOUT_GAIN: usize = 10;
/// Tuned nests that are listed, causes, and lines on what there is to know besides.
const MOST_NESTS: usize = 5;
const MOST_CAUSES: usize = 4;
const MOST_OF_TRUST: usize = 2;
/// Characters of a place, and those that the words on what was done to a nest have at least.
const WIDEST_PLACE: usize = 40;
const LEAST_OF_CHANGE: usize = 34;

/// The report, one line shorter for each of `n_more` that follow it.
pub(crate) fn lines(run: &Run<'_>, n_more: usize, view: View) -> Vec<String> {
    let nests = counted(run);
    let head = headline(run, &nests, view);
    let tuned: Vec<&Counted<'_>> = nests.iter().filter(|nest| nest.is_tuned).collect();
    let causes = causes(run, &nests);
    let trust = trust_lines(&trust::sentences(run), view.width);
    let closing = closing_lines(&run.closing, view.width);
    let most = if run.changed { MOST_LINES } else { MOST_WITHOUT_GAIN }.saturating_sub(n_more);
    let room = most.saturating_sub(head.len() + trust.len() + closing.len());
    let title = if run.changed { "why not more" } else { "why" };
    let middle = middle(&tuned, &causes, title, room, view);
    let mut all = [head, middle, trust, closing].concat();
    if all.len() + run.closing.lines.len() <= most {
        all.extend(run.closing.lines.iter().cloned());
    }
    all
}

/// What became of the program, the tuned nests, and why it is not more.
pub(crate) fn beginning(run: &Run<'_>, view: View) -> Vec<String> {
    let nests = counted(run);
    let tuned: Vec<&Counted<'_>> = nests.iter().filter(|nest| nest.is_tuned).collect();
    let title = if run.changed { "why not more" } else { "why" };
    [headline(run, &nests, view), middle(&tuned, &causes(run, &nests), title, MOST_LINES, view)].concat()
}

/// All there is to know of the program besides, and what to do with the result.
pub(crate) fn ending(run: &Run<'_>, view: View) -> Vec<String> {
    let known = trust::of_program(run);
    let known: Vec<String> = known.iter().flat_map(|sentence| in_lines(sentence, view.width)).collect();
    [known, run.closing.lines.clone(), closing_lines(&run.closing, view.width)].concat()
}

/// The tuned nests and the causes, in so many lines.
fn middle(tuned: &[&Counted<'_>], causes: &[Cause], title: &str, room: usize, view: View) -> Vec<String> {
    let (mut n_nests, mut n_causes) = (tuned.len().min(MOST_NESTS), causes.len().min(MOST_CAUSES));
    let mut detail = Detail::Messages;
    loop {
        let table = [gains(tuned, n_nests, view), reasons(causes, n_causes, detail, title, view)].concat();
        if table.len() <= room || n_nests + n_causes == 0 {
            return table;
        }
        match detail {
            Detail::Messages => detail = Detail::Help,
            Detail::Help => detail = Detail::Lines,
            Detail::Lines if n_nests > n_causes => n_nests -= 1,
            Detail::Lines => n_causes -= 1,
        }
    }
}

/// How much is said of causes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// One line each.
    Lines,
    /// What would help with the first loop that is not read, besides.
    Help,
    /// Whole messages, besides.
    Messages,
}

/// A line a nest, the first `n`.
fn gains(tuned: &[&Counted<'_>], n: usize, view: View) -> Vec<String> {
    let shown = &tuned[..n];
    if shown.is_empty() {
        return Vec::new();
    }
    let has_shares = shown.iter().any(|nest| nest.share.is_some());
    let figures = |speedup: &str, share: &str| match has_shares {
        true => format!("  {speedup:>7}  {share:>5}  "),
        false => format!("  {speedup:>7}  "),
    };
    let heads = figures("speedup", "share");
    let places = places_of_nests(shown, view.width.saturating_sub(heads.len() + 2 + LEAST_OF_CHANGE));
    let widest = places.iter().map(|place| measure_text_width(place)).max().unwrap_or(0).max("nest".len());
    let room = view.width.saturating_sub(heads.len() + widest + 2);
    let mut lines = vec![view.styled(Style::new().bold(), &format!("{heads}{:widest$}  change", "nest"))];
    for (nest, place) in shown.iter().zip(&places) {
        let speedup = nest.nest.speedup.map(|speedup| format!("{speedup:.2}x")).unwrap_or_default();
        let figures = figures(&speedup, &nest.share.map(percent).unwrap_or_default());
        let blanks = " ".repeat(widest - measure_text_width(place) + 2);
        lines.push(format!("{figures}{place}{blanks}{}", joined(&change::parts(nest.nest), ", ", room)));
    }
    if tuned.len() > n {
        let rest: f64 = tuned[n..].iter().filter_map(|nest| nest.share).sum();
        let share = if has_shares { percent(rest) } else { String::new() };
        lines.push(format!("{}and {} more: -v", figures("", &share), tuned.len() - n));
    }
    lines
}

/// Where nests are, with their functions if all have room for that.
fn places_of_nests(nests: &[&Counted<'_>], room: usize) -> Vec<String> {
    let with_function = |nest: &&Counted<'_>| format!("{} {}", nest.place(), nest.nest.function);
    let long: Vec<String> = nests.iter().map(with_function).collect();
    match long.iter().all(|place| measure_text_width(place) <= room) {
        true => long,
        false => {
            nests.iter().map(|nest| middle_cut(&nest.place().to_string(), WIDEST_PLACE.min(room))).collect()
        }
    }
}

/// A line a cause, the first `n`, and one for the rest.
fn reasons(causes: &[Cause], n: usize, detail: Detail, title: &str, view: View) -> Vec<String> {
    if causes.is_empty() {
        return Vec::new();
    }
    let (shown, rest) = causes.split_at(n);
    let counted = |cause: &Cause| match cause.what {
        "" => String::new(),
        what => count(cause.spots.len(), what),
    };
    let n_rest: usize = rest.iter().map(|cause| cause.spots.len()).sum();
    let share_of_rest: f64 = rest.iter().filter_map(|cause| cause.share).sum();
    let others = (!rest.is_empty()).then(|| count(n_rest, "place"));
    let widest = shown.iter().map(counted).chain(others.clone()).map(|text| text.len()).max().unwrap_or(0);
    let has_shares = causes.iter().any(|cause| cause.share.is_some());
    let start = |share: Option<f64>, count: &str| {
        let share = share.map(percent).unwrap_or_default();
        let share = if has_shares { format!("  {share:>5}") } else { String::new() };
        let count = if widest > 0 { format!("  {count:>widest$}") } else { String::new() };
        share + &count + "  "
    };
    let room = view.width.saturating_sub(start(None, "").len());
    let explained = if has_shares { " (shares of the time; -v shows all)" } else { " (-v shows all)" };
    let mut lines = vec![view.styled(Style::new().bold(), &(title.to_owned() + explained))];
    let mut helped = detail == Detail::Lines;
    for cause in shown {
        let mut told = told(cause, room, detail == Detail::Messages).into_iter();
        lines.extend(told.next().map(|text| start(cause.share, &counted(cause)) + &text));
        lines.extend(told.map(|text| start(None, "") + &text));
        let help = cause.spots.first().and_then(|spot| spot.help.as_deref()).filter(|_| !helped);
        if let Some(help) = help {
            lines.push(advice(help, &start(None, ""), view.width));
            helped = true;
        }
    }
    if let Some(others) = others {
        let share = Some(share_of_rest).filter(|share| *share > 0.0);
        lines.push(start(share, &others) + "other reasons");
    }
    lines
}

/// A cause with what it is about and what would help, in one line, or in as many as its message takes.
fn told(cause: &Cause, room: usize, in_full: bool) -> Vec<String> {
    if let Some(Spot { place, message: Some(message), .. }) = cause.spots.first() {
        let text = format!("{}, {place}: {message}", cause.why);
        return match in_full {
            true => in_lines(&text, room),
            false => vec![clipped(&text, room)],
        };
    }
    let remedy = cause.remedy.as_ref().map(|remedy| format!(" -> {remedy}")).unwrap_or_default();
    let room = room.saturating_sub(measure_text_width(&remedy));
    let with = |(n, with_share)| format!("{}: {}", cause.why, places(&cause.spots, n, with_share));
    let is_somewhere = cause.spots.first().is_some_and(|spot| !spot.place.is_nowhere());
    let fits = |text: &String| measure_text_width(text) <= room;
    let numbers = (1..=cause.spots.len()).rev().filter(|_| is_somewhere);
    let text = numbers.flat_map(|n| [(n, true), (n, false)]).map(with).find(fits);
    vec![text.unwrap_or_else(|| clipped(&cause.why, room)) + &remedy]
}

/// The first `n` places, the share of the first with it: `a.c:12 (10 %), :15, b.c:7, ...`.
fn places(spots: &[Spot], n: usize, with_share: bool) -> String {
    let mut before: Option<&Place> = None;
    let mut words = Vec::new();
    for spot in &spots[..n] {
        let share = spot.share.filter(|_| with_share && words.is_empty() && spots.len() > 1);
        let share = share.map(|share| format!(" ({})", percent(share))).unwrap_or_default();
        words.push(spot.place.behind(before) + &share);
        before = Some(&spot.place);
    }
    words.extend((n < spots.len()).then(|| "...".into()));
    words.join(", ")
}

/// Advice in one line, with as little before it as it takes: all of it, or the first of several things to do.
fn advice(help: &str, start: &str, width: usize) -> String {
    let cuts = help.match_indices(", or ").chain(help.match_indices("; ")).map(|(at, _)| &help[..at]);
    let texts: Vec<&str> = std::iter::once(help).chain(cuts).collect();
    for start in [start, "  "] {
        let room = width.saturating_sub(start.len() + "-> ".len());
        let fitting = texts.iter().filter(|text| measure_text_width(text) <= room);
        if let Some(text) = fitting.max_by_key(|text| text.len()) {
            return format!("{start}-> {text}");
        }
    }
    clipped(&format!("  -> {help}"), width)
}

/// Sentences in at most two lines, and how many are left out.
fn trust_lines(sentences: &[String], width: usize) -> Vec<String> {
    let left_out = |n: usize| {
        let more = sentences.len() - n;
        (more > 0).then(|| format!("{}: -v", count(more, "more note")))
    };
    let with = |n: usize| {
        let lines = in_lines(&sentences[..n].join("; "), width);
        left_out(n).iter().fold(lines, |lines, words| with_last_words(lines, words, width))
    };
    let fitting = (1..=sentences.len()).rev().map(with).find(|lines| lines.len() <= MOST_OF_TRUST);
    let Some(first) = sentences.first() else { return Vec::new() };
    fitting.unwrap_or_else(|| {
        let mut lines = in_lines(first, width);
        let rest = lines.split_off(1).iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let more = left_out(1).map(|words| format!("; {words}")).unwrap_or_default();
        lines.push(format!("  {}{more}", clipped(&rest, width - 2 - more.len())));
        lines
    })
}

/// Lines with some words behind them that stay together: in the last line, if they have room there.
fn with_last_words(mut lines: Vec<String>, words: &str, width: usize) -> Vec<String> {
    match lines.last_mut() {
        Some(last) if measure_text_width(last) + "; ".len() + measure_text_width(words) <= width => {
            *last += &format!("; {words}");
        }
        _ => lines.push(format!("  {words}")),
    }
    lines
}

/// A sentence in lines of at most `width`; words that are longer give up their middle.
fn in_lines(text: &str, width: usize) -> Vec<String> {
    wrapped(text, width).lines().map(|line| middle_cut(line, width)).collect()
}

/// What to do with the result, in as few lines as it takes.
fn closing_lines(closing: &Closing, width: usize) -> Vec<String> {
    const BETWEEN: &str = "    ";
    let mut lines: Vec<String> = closing.command.iter().cloned().collect();
    let needed = closing.needed.iter().map(|text| (text, true));
    for (text, is_needed) in needed.chain(closing.short.iter().map(|text| (text, false))) {
        let used = lines.last().map_or(width, |line| measure_text_width(line) + BETWEEN.len());
        match lines.last_mut() {
            Some(line) if used + measure_text_width(text) <= width => *line += &format!("{BETWEEN}{text}"),
            _ if is_needed => lines.extend(in_lines(text, width)),
            _ => {}
        }
    }
    lines
}

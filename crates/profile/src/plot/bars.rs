//! Bars: the time of every nest before and after.

use super::PlotSize;
use super::svg::{Anchor, Canvas, Plot};
use crate::figures::{format_ns, format_number, format_percent};

/// One nest's bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Time before, in nanoseconds.
    pub before_ns: Option<f64>,
    /// Time after, in nanoseconds.
    pub after_ns: Option<f64>,
    /// Share of the program's time before, from 0 to 1.
    pub share: Option<f64>,
}

/// Two bars per nest on one linear scale, the longest first; each shows its time, the second also the speedup. Where
/// the shares of the program are known they scale the bars: a bar is then the time the program spends in the
/// nest, relative to the whole program before.
pub fn bars(bars: &[Bar], size: PlotSize) -> Plot {
    let sound = |x: Option<f64>| x.filter(|x| x.is_finite() && *x >= 0.0);
    let by_share = bars.iter().any(|b| sound(b.share).is_some());
    let length = |bar: &Bar, ns: Option<f64>| {
        let ns = sound(ns)?;
        if !by_share {
            return Some(ns);
        }
        let before = sound(bar.before_ns).filter(|before| *before > 0.0)?;
        Some(sound(bar.share)? * (ns / before)).filter(|length| length.is_finite())
    };
    let mut order: Vec<&Bar> = bars.iter().collect();
    let key = |bar: &Bar| length(bar, bar.before_ns).unwrap_or(-1.0);
    order.sort_by(|a, b| key(b).total_cmp(&key(a)));

    let width = size.width();
    let is_wide = size == PlotSize::Wide;
    let left = if is_wide { 210.0 } else { 14.0 };
    // Room for the words after the longest bar.
    let room = width - left - if is_wide { 230.0 } else { 150.0 };
    let longest = bars.iter().flat_map(|b| [length(b, b.before_ns), length(b, b.after_ns)]).flatten();
    let longest = longest.fold(0.0, f64::max);
    let px = |length: f64| if longest > 0.0 { (length / longest * room).max(1.5) } else { 1.5 };

    let mut canvas = Canvas::default();
    let row = if is_wide { 46.0 } else { 64.0 };
    let mut y = 30.0;
    legend(&mut canvas, left);
    for bar in order {
        let share = sound(bar.share).map(|s| format!("{} of the program", format_percent(s)));
        if is_wide {
            canvas.text("ox-strong", (left - 12.0, y + 13.0), Anchor::End, 0.0, &bar.label);
            canvas.text(
                "ox-muted",
                (left - 12.0, y + 30.0),
                Anchor::End,
                0.0,
                share.as_deref().unwrap_or(""),
            );
        } else {
            let text = [Some(bar.label.clone()), share].into_iter().flatten().collect::<Vec<_>>().join(" · ");
            canvas.text("ox-strong", (left, y + 10.0), Anchor::Start, 0.0, &text);
            y += 18.0;
        }
        let states = [("before", bar.before_ns), ("after", bar.after_ns)];
        for (position, (state, ns)) in states.into_iter().enumerate() {
            let top = y + 18.0 * position as f64;
            let Some(time) = sound(ns) else {
                let text = if state == "before" { "not timed" } else { "unchanged" };
                canvas.text("ox-muted", (left, top + 12.0), Anchor::Start, 0.0, text);
                continue;
            };
            let speedup = sound(bar.before_ns).filter(|_| state == "after" && time > 0.0).map(|b| b / time);
            let text = match speedup {
                Some(speedup) => {
                    let word = if speedup >= 1.0 { " faster" } else { "" };
                    format!("{} · {}×{word}", format_ns(time), format_number(speedup))
                }
                None => format_ns(time),
            };
            let mut end = left;
            if let Some(length) = length(bar, ns) {
                let tooltip = format!("{} {state}: {text}", bar.label);
                canvas.rect(&format!("ox-bar-{state}"), (left, top), (px(length), 15.0), Some(&tooltip));
                end += px(length) + 7.0;
            }
            canvas.text("", (end, top + 12.0), Anchor::Start, 0.0, &text);
        }
        y += row;
    }
    let scale =
        if by_share { "bars are shares of the program's time" } else { "bars are times of one invocation" };
    canvas.text("ox-muted", (left, y + 8.0), Anchor::Start, 0.0, scale);
    let description = format!("{} nests; {scale}", bars.len());
    canvas.finish(width, y + 18.0, "Time of every nest before and after", &description)
}

fn legend(canvas: &mut Canvas, left: f64) {
    for (position, (class, text)) in
        [("ox-bar-before", "before"), ("ox-bar-after", "after")].iter().enumerate()
    {
        let x = left + 80.0 * position as f64;
        canvas.rect(class, (x, 6.0), (12.0, 12.0), None);
        canvas.text("", (x + 18.0, 16.5), Anchor::Start, 0.0, text);
    }
}

//! Bars of shares, coloured by what they are shares of.

use super::PlotSize;
use super::svg::{Anchor, Canvas, Plot, text_width};
use super::theme::FONT_PX;
use crate::figures::format_percent;

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareBar {
    /// What it is, in few words.
    pub label: String,
    /// What there is to say of it.
    pub text: String,
    /// Share of the whole, from 0 to 1.
    pub share: f64,
    /// The part of the bar that is filled, from 0 to 1.
    pub part: f64,
    /// Which of the kinds it is.
    pub kind: usize,
}

/// Most bars that are drawn.
const MOST: usize = 40;

/// A bar for each share on one linear scale, in the order given, filled as far as its part goes. The text of each stands in
/// its tooltip and, where there is room, behind it. Kinds have colours and marks.
pub fn share_bars(bars: &[ShareBar], kinds: &[&str], size: PlotSize) -> Plot {
    let is_wide = size == PlotSize::Wide;
    let (width, left) = (size.width(), if is_wide { 250.0 } else { 14.0 });
    let mut canvas = Canvas::default();
    let mut y = legend(&mut canvas, kinds, width);
    let sound = |x: f64| if x.is_finite() { x.clamp(0.0, 1.0) } else { 0.0 };
    let longest = bars.iter().map(|bar| sound(bar.share)).fold(0.0, f64::max);
    let room = if is_wide { 260.0 } else { width - left - 70.0 };
    for bar in bars.iter().take(MOST) {
        let share = sound(bar.share);
        let length = if longest > 0.0 { (share / longest * room).max(1.5) } else { 1.5 };
        if is_wide {
            canvas.text("ox-strong", (left - 28.0, y + 13.0), Anchor::End, 0.0, &bar.label);
        } else {
            canvas.text("ox-strong", (left, y + 10.0), Anchor::Start, 0.0, &bar.label);
            y += 17.0;
        }
        let tooltip = format!("{}: {} of the accesses; {}", bar.label, format_percent(share), bar.text);
        let class = format!("ox-mark-{}", bar.kind % 8);
        let from = if is_wide { left } else { left + 18.0 };
        canvas.mark(bar.kind, (from - 12.0, y + 8.0), 5.0, None);
        canvas.rect(&format!("{class} ox-pale"), (from, y), (length, 15.0), Some(&tooltip));
        canvas.rect(&class, (from, y), (length * sound(bar.part), 15.0), Some(&tooltip));
        let mut words = format_percent(share);
        let behind = from + length + 7.0;
        if is_wide {
            words += &format!(" · {}", bar.text);
        }
        canvas.text("", (behind, y + 12.0), Anchor::Start, 0.0, &fitting(&words, width - behind - 8.0));
        y += if is_wide { 24.0 } else { 26.0 };
    }
    let left_out = bars.len().saturating_sub(MOST);
    let mut scale = "bars are shares of all accesses; the full part is where it holds".to_owned();
    if left_out > 0 {
        scale = format!("{left_out} smaller ones are left out; {scale}");
    }
    canvas.text("ox-muted", (14.0, y + 12.0), Anchor::Start, 0.0, &fitting(&scale, width - 20.0));
    canvas.finish(
        width,
        y + 24.0,
        "What was found, by share of the accesses",
        &format!("{} bars", bars.len()),
    )
}

/// The kinds with their marks; returns where the bars begin.
fn legend(canvas: &mut Canvas, kinds: &[&str], width: f64) -> f64 {
    let (mut x, mut y) = (20.0, 16.0);
    for (kind, name) in kinds.iter().enumerate() {
        let needed = 34.0 + text_width(name, FONT_PX);
        if x > 20.0 && x + needed > width {
            (x, y) = (20.0, y + 20.0);
        }
        canvas.mark(kind, (x, y - 4.0), 5.0, None);
        canvas.text("", (x + 11.0, y), Anchor::Start, 0.0, name);
        x += needed;
    }
    y + 18.0
}

/// As much of a text as fits.
pub(super) fn fitting(text: &str, room: f64) -> String {
    if text_width(text, FONT_PX) <= room {
        return text.to_owned();
    }
    let mut cut: String = text.to_owned();
    while !cut.is_empty() && text_width(&cut, FONT_PX) + FONT_PX > room {
        cut.pop();
    }
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_shares() {
        let bar = |share: f64, part: f64, kind: usize| ShareBar {
            label: format!("x{kind}"),
            text: "all are <0>".into(),
            share,
            part,
            kind,
        };
        let svg = share_bars(&[bar(0.5, 1.0, 0), bar(0.25, 0.5, 1)], &["zeros", "one"], PlotSize::Wide)
            .standalone();
        for width in ["width=\"260\"", "width=\"130\"", "width=\"65\""] {
            assert!(svg.contains(width), "{width} in {svg}");
        }
        assert!(svg.contains("all are &lt;0&gt;") && svg.contains(">zeros</text>"));
        let narrow = share_bars(&[bar(f64::NAN, 2.0, 9)], &[], PlotSize::Narrow).standalone();
        assert!(!narrow.contains("NaN") && narrow.contains("ox-mark-1"));
    }

    #[test]
    fn texts_are_cut_where_there_is_no_room() {
        assert_eq!(fitting("short", 100.0), "short");
        let cut = fitting("a rather long text that does not fit", 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, FONT_PX) <= 105.0, "{cut}");
    }
}

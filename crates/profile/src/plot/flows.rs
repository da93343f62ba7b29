//! What flows where: boxes below each other in their order, and lines between them, those that go down to the right of the
//! boxes, those that go back up to the left.

use super::PlotSize;
use super::shares::fitting;
use super::svg::{Anchor, Canvas, Plot};

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowBox {
    /// Its name.
    pub title: String,
    /// What else there is to say, in few words.
    pub text: String,
    /// Whether it stands for everything that is not part of the picture.
    pub is_outside: bool,
}

/// A line from one box to another, or to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowLine {
    /// Position of the box where it begins.
    pub from: usize,
    /// Position of the box where it ends.
    pub to: usize,
    /// What flows, in few words.
    pub label: String,
    /// How much, in any unit.
    pub amount: f64,
    /// Whether nobody uses what flows there.
    pub is_unread: bool,
}

/// Most lines that are drawn: those with the largest amounts.
const MOST: usize = 60;
/// Distance of the ends of lines at a box.
const STEP: f64 = 20.0;
const GAP: f64 = 16.0;

/// The boxes and lines. Lines are the wider the more flows, by orders of magnitude.
pub fn flows(boxes: &[FlowBox], lines: &[FlowLine], size: PlotSize) -> Plot {
    let width = size.width();
    let is_known = |line: &&FlowLine| line.from < boxes.len() && line.to < boxes.len();
    let mut lines: Vec<&FlowLine> = lines.iter().filter(is_known).collect();
    lines.sort_by(|a, b| b.amount.total_cmp(&a.amount));
    let n_left_out = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let (down, up): (Vec<&FlowLine>, Vec<&FlowLine>) = lines.iter().partition(|line| line.from < line.to);
    // Each line has two ends, each at its own height.
    let n_ends = |k: usize, side: &[&FlowLine]| {
        side.iter().map(|line| usize::from(line.from == k) + usize::from(line.to == k)).sum::<usize>()
    };
    let mut tops = Vec::new();
    let mut y = 10.0;
    for k in 0..boxes.len() {
        let n = n_ends(k, &down).max(n_ends(k, &up)).max(2);
        let height = STEP * n as f64 + 10.0;
        tops.push((y, height));
        y += height + GAP;
    }
    let frame =
        Frame::new(size, width, !up.is_empty(), lines.iter().map(|line| line.amount).fold(0.0, f64::max));
    let mut canvas = Canvas::default();
    let n_lanes = draw(&mut canvas, &down, &tops, &frame, true);
    draw(&mut canvas, &up, &tops, &frame, false);
    // Lanes that are not needed take no room.
    let width = width.min(frame.right + frame.label + 14.0 * n_lanes as f64 + 20.0);
    for (flow_box, (top, height)) in boxes.iter().zip(&tops) {
        let class = if flow_box.is_outside { "ox-box ox-outside" } else { "ox-box" };
        let tooltip = format!("{}: {}", flow_box.title, flow_box.text);
        canvas.rect(class, (frame.left, *top), (frame.right - frame.left, *height), Some(&tooltip));
        let room = frame.right - frame.left - 16.0;
        let (x, middle) = (frame.left + 8.0, top + height / 2.0);
        let title = fitting(&flow_box.title, room * 0.95);
        let up = if flow_box.text.is_empty() { -4.5 } else { 4.0 };
        canvas.text("ox-strong", (x, middle - up), Anchor::Start, 0.0, &title);
        canvas.text("ox-muted", (x, middle + 13.0), Anchor::Start, 0.0, &fitting(&flow_box.text, room));
    }
    if n_left_out > 0 {
        let words = format!("{n_left_out} smaller flows are left out");
        canvas.text("ox-muted", (frame.left, y + 8.0), Anchor::Start, 0.0, &words);
        y += 20.0;
    }
    let description = format!("{} boxes and {} flows between them", boxes.len(), lines.len());
    canvas.finish(width, y, "What flows where", &description)
}

/// Where the boxes and the labels are.
struct Frame {
    width: f64,
    left: f64,
    right: f64,
    label: f64,
    most: f64,
}

impl Frame {
    fn new(size: PlotSize, width: f64, has_up: bool, most: f64) -> Frame {
        let (own, label, margin) = match size {
            PlotSize::Wide => (290.0, 175.0, 130.0),
            PlotSize::Narrow => (210.0, 22.0, 40.0),
        };
        let left = if has_up { label + margin } else { 12.0 };
        Frame { width, left, right: left + own, label, most }
    }

    /// The class of a line's width: one step an order of magnitude below the largest.
    fn class(&self, amount: f64) -> usize {
        let below = (self.most.max(1.0) / amount.max(1.0)).log10().max(0.0);
        5 - (below.round() as usize).min(4)
    }
}

/// The lines of one side, the short ones next to the boxes. Returns how many lie side by side.
fn draw(canvas: &mut Canvas, side: &[&FlowLine], tops: &[(f64, f64)], frame: &Frame, is_down: bool) -> usize {
    let mut ordered: Vec<&FlowLine> = side.to_vec();
    ordered.sort_by_key(|line| (line.from.abs_diff(line.to), line.from, line.to));
    // Ends at a box from top to bottom: first lines from above, then those to below.
    let mut ends: Vec<(usize, usize, bool, usize)> = Vec::new();
    for (k, line) in ordered.iter().enumerate() {
        ends.push((line.from, if is_down { 1 } else { 0 }, false, k));
        ends.push((line.to, if is_down { 0 } else { 1 }, true, k));
    }
    ends.sort_by_key(|(at, is_lower, _, k)| {
        let line = ordered[*k];
        let other = if line.from == *at { line.to } else { line.from };
        (*at, *is_lower, other, *k)
    });
    let mut heights = vec![(0.0, 0.0); ordered.len()];
    let mut n_at = vec![0usize; tops.len()];
    for (at, _, is_target, k) in ends {
        let y = tops[at].0 + 16.0 + STEP * n_at[at] as f64;
        n_at[at] += 1;
        if is_target { heights[k].1 = y } else { heights[k].0 = y }
    }
    let mut lanes: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut lane_of = Vec::new();
    for (from, to) in &heights {
        let (low, high) = (from.min(*to), from.max(*to));
        let is_free = |taken: &Vec<(f64, f64)>| taken.iter().all(|(a, b)| high < *a || *b < low);
        let lane = lanes.iter().position(is_free).unwrap_or(lanes.len());
        if lane == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[lane].push((low, high));
        lane_of.push(lane);
    }
    let (edge, sign, room) = match is_down {
        true => (frame.right, 1.0, frame.width - frame.right - frame.label - 8.0),
        false => (frame.left, -1.0, frame.left - frame.label - 8.0),
    };
    let spacing = (room / lanes.len().max(1) as f64).min(14.0);
    for ((line, (from, to)), lane) in ordered.iter().zip(&heights).zip(lane_of) {
        let x = edge + sign * (frame.label + 4.0 + spacing * lane as f64);
        let kind = match (line.is_unread, is_down) {
            (true, _) => " ox-unread",
            (false, true) => "",
            (false, false) => " ox-back",
        };
        let class = format!("ox-flow ox-w{}{kind}", frame.class(line.amount));
        let points = [(edge, *from), (x, *from), (x, *to), (edge + sign * 7.0, *to)];
        canvas.bend(&class, &points, 6.0, Some(&line.label));
        let head = [(edge, *to), (edge + sign * 9.0, to - 4.5), (edge + sign * 9.0, to + 4.5)];
        canvas.polygon(&format!("ox-flow-head{kind}"), &head);
    }
    let (anchor, at) = if is_down { (Anchor::Start, edge + 13.0) } else { (Anchor::End, edge - 13.0) };
    for (line, (_, to)) in ordered.iter().zip(&heights).filter(|_| frame.label > 100.0) {
        let label = fitting(&line.label, frame.label - 18.0);
        canvas.text("", (at, to - 5.0), anchor, 0.0, &label);
    }
    lanes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_from_box_to_box() {
        let a_box =
            |title: &str| FlowBox { title: title.into(), text: String::new(), is_outside: title == "e" };
        let line = |from: usize, to: usize, amount: f64| FlowLine {
            from,
            to,
            label: format!("{from}>{to}"),
            amount,
            is_unread: to == 2,
        };
        let boxes = [a_box("e"), a_box("<a>"), a_box("b")];
        let lines = [line(0, 1, 1e6), line(1, 1, 10.0), line(1, 2, 1e5), line(2, 1, 3.0), line(7, 1, 1.0)];
        for size in [PlotSize::Wide, PlotSize::Narrow] {
            let svg = flows(&boxes, &lines, size).standalone();
            assert_eq!(svg.matches("<path").count(), 4, "{svg}");
            assert!(svg.contains("&lt;a&gt;") && !svg.contains("NaN") && svg.contains("ox-w5"));
            assert_eq!(svg.matches("ox-flow ox-w1 ox-back").count(), 2);
        }
    }

    #[test]
    fn lines_in_one_lane_do_not_meet() {
        let boxes = vec![FlowBox { title: "x".into(), text: String::new(), is_outside: false }; 4];
        let line = |from: usize, to: usize| FlowLine {
            from,
            to,
            label: String::new(),
            amount: 1.0,
            is_unread: false,
        };
        let svg = flows(&boxes, &[line(0, 1), line(1, 2), line(0, 3)], PlotSize::Wide).standalone();
        // The long one has a lane of its own; the short ones share the nearest.
        let lanes: std::collections::BTreeSet<&str> = svg
            .split("<path")
            .skip(1)
            .filter_map(|path| path.split(" Q").nth(1)?.split(',').next())
            .collect();
        assert_eq!(lanes.len(), 2, "{svg}");
    }
}

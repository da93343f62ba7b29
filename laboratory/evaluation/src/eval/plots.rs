//! The pictures of an evaluation.

use std::collections::{BTreeMap, BTreeSet};

use oxeye_profile::{Anchor, Canvas, Plot};

use super::donors::{Donor, Kind};
use super::speedup::{Method, ProgramRun, Scope};
use super::summary::{GOOD_SHARE, Summary};

/// In pixels, for a column of text.
const WIDTH: f64 = 700.0;
const PANEL: f64 = 330.0;
const ROW: f64 = 19.0;
/// Colours and shapes that can be told apart.
const MOST_SERIES: usize = 8;

/// A panel of points: the series, and the series of each point.
struct Panel {
    title: &'static str,
    legend: Vec<String>,
    series: Vec<usize>,
}

/// The nests of a database at the places that t-SNE gives them, coloured by what made each fastest, and by origin or,
/// if there is only one origin, by the depth of the loops.
pub(crate) fn map(donors: &[Donor], at: &[[f64; 2]]) -> Plot {
    let panels = [by_recipe(donors), by_origin(donors)];
    let rows = panels.iter().map(|p| p.legend.len().div_ceil(2)).max().unwrap_or(0);
    let height = 30.0 + PANEL + 28.0 + ROW * rows as f64;
    let mut canvas = Canvas::default();
    for (panel, left) in panels.iter().zip([16.0, WIDTH - PANEL - 2.0]) {
        draw(&mut canvas, panel, donors, at, left);
    }
    canvas.text("ox-muted", (11.0, 30.0 + PANEL / 2.0), Anchor::Middle, -90.0, "t-SNE, second coordinate");
    let description = format!(
        "{} nests of the recipe database; near ones have like embeddings. {}",
        donors.len(),
        panels.iter().map(counted).collect::<Vec<_>>().join(" ")
    );
    canvas.finish(WIDTH, height, "Embeddings of the nests of the recipe database", &description)
}

fn by_recipe(donors: &[Donor]) -> Panel {
    let position = |kind| Kind::ALL.iter().position(|k| *k == kind).unwrap_or(0);
    Panel {
        title: "by best recipe",
        legend: Kind::ALL.map(|kind| kind.label().to_owned()).to_vec(),
        series: donors.iter().map(|donor| position(donor.kind)).collect(),
    }
}

fn by_origin(donors: &[Donor]) -> Panel {
    let sources: BTreeSet<&str> = donors.iter().filter_map(|d| d.source.as_deref()).collect();
    // Two only tell the generated nests from the others.
    if (3..MOST_SERIES).contains(&sources.len()) {
        let position = |source: &str| sources.iter().position(|s| *s == source);
        let mut legend: Vec<String> = sources.iter().map(|s| (*s).to_owned()).collect();
        legend.push("elsewhere".into());
        let series = |d: &Donor| d.source.as_deref().and_then(position).unwrap_or(sources.len());
        return Panel { title: "by origin", legend, series: donors.iter().map(series).collect() };
    }
    let label = |depth: usize| match depth {
        0 => "no loop".to_owned(),
        1 => "1 loop deep".to_owned(),
        depth if depth + 1 == MOST_SERIES => format!("{depth} loops deep or more"),
        depth => format!("{depth} loops deep"),
    };
    Panel {
        title: "by depth",
        legend: (0..MOST_SERIES).map(label).collect(),
        series: donors.iter().map(|d| d.depth.min(MOST_SERIES - 1)).collect(),
    }
}

fn draw(canvas: &mut Canvas, panel: &Panel, donors: &[Donor], at: &[[f64; 2]], left: f64) {
    let top = 24.0;
    canvas.text("ox-strong", (left, 15.0), Anchor::Start, 0.0, panel.title);
    canvas.rect("ox-frame", (left, top), (PANEL, PANEL), None);
    canvas.text(
        "ox-muted",
        (left + PANEL / 2.0, top + PANEL + 16.0),
        Anchor::Middle,
        0.0,
        "t-SNE, first coordinate",
    );
    let place = placing(at, (left, top), PANEL);
    let radius = if donors.len() > 400 { 2.4 } else { 3.4 };
    for ((donor, at), series) in donors.iter().zip(at).zip(&panel.series) {
        let tooltip = format!("{}: {:.2}×, {} loops deep", donor.kind.label(), donor.speedup, donor.depth);
        canvas.mark(*series, place(*at), radius, Some(&tooltip));
    }
    let entries: Vec<(usize, String)> = counts(panel)
        .iter()
        .map(|(series, n)| (*series, format!("{} ({n})", panel.legend[*series])))
        .collect();
    legend(canvas, &entries, (left, top + PANEL + 38.0), PANEL / 2.0);
}

/// Number of points of each series that has any.
fn counts(panel: &Panel) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for series in &panel.series {
        *counts.entry(*series).or_insert(0) += 1;
    }
    counts
}

fn counted(panel: &Panel) -> String {
    let words: Vec<String> =
        counts(panel).iter().map(|(series, n)| format!("{} {n}", panel.legend[*series])).collect();
    format!("{}: {}.", panel.title, words.join(", "))
}

/// Points in a square, with the same scale in both directions.
fn placing(at: &[[f64; 2]], corner: (f64, f64), side: f64) -> impl Fn([f64; 2]) -> (f64, f64) {
    let range =
        |d: usize| at.iter().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p[d]), high.max(p[d])));
    let [x, y] = [range(0), range(1)];
    let extent = (x.1 - x.0).max(y.1 - y.0).max(1e-9);
    let scale = (side - 20.0) / extent;
    let middle = [(x.0 + x.1) / 2.0, (y.0 + y.1) / 2.0];
    let center = (corner.0 + side / 2.0, corner.1 + side / 2.0);
    move |p| (center.0 + (p[0] - middle[0]) * scale, center.1 - (p[1] - middle[1]) * scale)
}

/// A method on the plot of shares.
struct Curve<'a> {
    series: usize,
    summary: Summary,
    /// Shares with the programs that have them, the least first.
    shares: Vec<(f64, &'a str)>,
}

/// The plot of shares: the frame in pixels, and what its sides stand for.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Least and greatest share.
    range: (f64, f64),
    n_programs: usize,
}

impl Frame {
    fn around(curves: &[Curve<'_>]) -> Frame {
        let all = || curves.iter().flat_map(|curve| &curve.shares).map(|(share, _)| *share);
        let low = (10.0 * all().fold(GOOD_SHARE, f64::min)).floor() / 10.0;
        let n_programs = curves.iter().map(|curve| curve.shares.len()).max().unwrap_or(0);
        let range = (low, all().fold(1.0, f64::max) + 0.02);
        Frame { left: 62.0, right: WIDTH - 14.0, top: 14.0, bottom: 344.0, range, n_programs }
    }

    /// The place of the program of a rank, from 0.
    fn x(&self, rank: usize) -> f64 {
        let (first, last) = (self.left + 10.0, self.right - 10.0);
        first + (last - first) * rank as f64 / (self.n_programs.max(2) - 1) as f64
    }

    fn y(&self, share: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * (share - self.range.0) / (self.range.1 - self.range.0)
    }

    fn draw(&self, canvas: &mut Canvas) {
        let Frame { left, right, top, bottom, range, n_programs } = *self;
        for tenth in (10.0 * range.0).round() as i32..=10 {
            let at = self.y(f64::from(tenth) / 10.0);
            canvas.line("ox-grid", (left, at), (right, at));
            let label = format!("{} %", 10 * tenth);
            canvas.text("ox-muted", (left - 7.0, at + 4.0), Anchor::End, 0.0, &label);
        }
        canvas.line("ox-capacity", (left, self.y(GOOD_SHARE)), (right, self.y(GOOD_SHARE)));
        for number in (1..=n_programs).filter(|number| *number == 1 || number % 5 == 0) {
            let at = (self.x(number - 1), bottom + 17.0);
            canvas.text("ox-muted", at, Anchor::Middle, 0.0, &number.to_string());
        }
        canvas.rect("ox-frame", (left, top), (right - left, bottom - top), None);
        let below = ((left + right) / 2.0, bottom + 36.0);
        canvas.text("", below, Anchor::Middle, 0.0, "programs, each method's in the order of its shares");
        let beside = (15.0, (top + bottom) / 2.0);
        canvas.text("", beside, Anchor::Middle, -90.0, "share of the search's speedup");
    }
}

/// The shares of the search's speedup that each method reaches on the programs, each method's sorted.
pub(crate) fn shares(programs: &[ProgramRun]) -> Plot {
    let curve = |(series, method)| {
        let summary = Summary::of(method, programs)?;
        Some(Curve { series, summary, shares: sorted_shares(method, programs) })
    };
    let curves: Vec<Curve<'_>> = Method::ALL.into_iter().enumerate().filter_map(curve).collect();
    let frame = Frame::around(&curves);
    let mut canvas = Canvas::default();
    frame.draw(&mut canvas);
    // The embedding is drawn last, over the others.
    for Curve { series, summary, shares } in curves.iter().rev() {
        let points: Vec<(f64, f64)> =
            shares.iter().enumerate().map(|(rank, (share, _))| (frame.x(rank), frame.y(*share))).collect();
        canvas.polyline(&format!("ox-line-{series}"), &points);
        for (point, (share, name)) in points.iter().zip(shares) {
            let tooltip = format!("{name}, {}: {:.1} %", summary.method.label(), 100.0 * share);
            canvas.mark(*series, *point, 3.6, Some(&tooltip));
        }
    }
    let mean = |c: &Curve<'_>| format!("{}: mean {:.1} %", c.summary.method.label(), 100.0 * c.summary.share);
    let entries: Vec<(usize, String)> = curves.iter().map(|c| (c.series, mean(c))).collect();
    let top = frame.bottom + 62.0;
    legend(&mut canvas, &entries, (frame.left, top), (WIDTH - frame.left) / 2.0);
    let height = top + ROW * entries.len().div_ceil(2).max(1) as f64;
    let means: Vec<String> = entries.into_iter().map(|(_, text)| text).collect();
    let description = format!("{} programs. {}", frame.n_programs, means.join("; "));
    canvas.finish(WIDTH, height, "Share of the search's speedup that each method reaches", &description)
}

/// Marks with their names in two columns.
fn legend(canvas: &mut Canvas, entries: &[(usize, String)], corner: (f64, f64), column: f64) {
    for (place, (series, text)) in entries.iter().enumerate() {
        let at = (corner.0 + column * (place % 2) as f64, corner.1 + ROW * (place / 2) as f64);
        canvas.mark(*series, (at.0 + 6.0, at.1 - 4.0), 4.0, None);
        canvas.text("", (at.0 + 16.0, at.1), Anchor::Start, 0.0, text);
    }
}

fn sorted_shares(method: Method, programs: &[ProgramRun]) -> Vec<(f64, &str)> {
    let mut shares: Vec<(f64, &str)> = programs
        .iter()
        .filter_map(|p| Some((p.share_of_search(Scope::Program, method)?, p.name.as_str())))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::speedup::tests::{nest, program};

    fn donor(kind: Kind, depth: usize, source: Option<&str>) -> Donor {
        Donor { embedding: vec![0.0], kind, speedup: 2.0, depth, source: source.map(Into::into) }
    }

    #[test]
    fn every_nest_is_on_both_panels() {
        let donors = [donor(Kind::Blocks, 3, None), donor(Kind::Tiles, 2, None), donor(Kind::Tiles, 9, None)];
        let svg = map(&donors, &[[0.0, 0.0], [1.0, 5.0], [-3.0, 2.0]]).standalone();
        assert_eq!(svg.matches("<title>cache tiles: 2.00×").count(), 4, "{svg}");
        assert!(svg.contains("cache tiles (2)") && svg.contains("7 loops deep or more (1)"), "{svg}");
        assert!(!svg.contains("time tiles ("), "{svg}");
    }

    #[test]
    fn origins_are_shown_where_they_are_known() {
        let donors = [
            donor(Kind::Blocks, 3, Some("stencils")),
            donor(Kind::Tiles, 2, Some("products")),
            donor(Kind::Tiles, 2, Some("scans")),
            donor(Kind::Tiles, 2, None),
        ];
        let svg = map(&donors, &[[0.0, 0.0]; 4]).standalone();
        for expected in ["products (1)", "scans (1)", "stencils (1)", "elsewhere (1)"] {
            assert!(svg.contains(expected), "{svg}");
        }
        assert!(!svg.contains("loops deep ("), "{svg}");
    }

    #[test]
    fn every_program_is_a_mark_of_every_method() {
        let programs = [
            program("gemm", vec![nest(1.0, 0.1, [0.1, 0.125, 0.2, 0.5, 0.25])]),
            program("lu", vec![nest(1.0, 0.5, [0.5, 0.5, 1.5, 1.0, 0.5])]),
        ];
        let svg = shares(&programs).standalone();
        assert_eq!(svg.matches("<title>gemm, ").count(), 5);
        assert_eq!(svg.matches("<polyline").count(), 5);
        assert!(svg.contains("<title>gemm, random donor: 20.0 %</title>"), "{svg}");
        assert!(svg.contains("share of the search") && svg.contains(">20 %<"), "{svg}");
        let empty = shares(&[]).standalone();
        assert!(!empty.contains("NaN"), "{empty}");
    }
}

//! The roofline plot: every ceiling of the machine, every nest before and after.

use super::axis::LogAxis;
use super::labels::{LabelBox, Placement};
use super::svg::{Anchor, Canvas, Plot, text_width};
use super::theme::FONT_PX;
use super::{PlotSize, level_class};
use crate::figures::{format_number, format_percent};
use crate::nest::NestProfile;
use oxeye_host::{FloatType, HostProfile};
use std::collections::BTreeSet;

/// One nest on the plot.
#[derive(Clone, Copy, Debug)]
pub struct RooflinePoint<'a> {
    /// The original nest.
    pub before: &'a NestProfile,
    /// The tuned nest.
    pub after: Option<&'a NestProfile>,
}

/// A ceiling: a bandwidth, or a peak rate.
struct Ceiling {
    text: String,
    /// Colour, and the kind of line.
    color: &'static str,
    line: &'static str,
    /// GB/s of a bandwidth; `None` for a peak.
    bandwidth: Option<f64>,
    /// GFLOP/s of a peak; for a bandwidth, of the peak it meets.
    gflops: f64,
    threads: u32,
}

/// The place of a state of a nest.
struct Spot {
    at: (f64, f64),
    tooltip: String,
}

const LABEL_HEIGHT: f64 = FONT_PX * 1.2;

/// Performance over operational intensity, both logarithmic (Williams, Waterman, Patterson 2009), with a bandwidth
/// line for each memory level (Ilic, Pratas, Sousa 2014): solid with all cores, dashed with one. Scalar peaks are thin.
/// A nest stands at the intensity of its binding level, which its tooltip names. Nests without a rate or an
/// intensity are not on the plot; the description counts them.
pub fn roofline(points: &[RooflinePoint<'_>], host: &HostProfile, size: PlotSize) -> Plot {
    let ceilings = ceilings(points, host);
    let (width, height) = (size.width(), if size == PlotSize::Wide { 600.0 } else { 460.0 });
    let (left, right, top, bottom) = (58.0, 14.0, 14.0, if size == PlotSize::Wide { 74.0 } else { 90.0 });
    let coordinates = |p: &NestProfile| Some((p.plotted_intensity()?.1.value, p.gflops?.value));
    let states = || points.iter().flat_map(|p| [Some(p.before), p.after].into_iter().flatten());
    let drawn: Vec<(f64, f64)> = states().filter_map(coordinates).collect();

    let peaks: Vec<f64> = ceilings.iter().filter(|c| c.bandwidth.is_none()).map(|c| c.gflops).collect();
    let top_peak = peaks.iter().copied().fold(0.0, f64::max);
    let slowest = ceilings.iter().filter_map(|c| c.bandwidth).fold(f64::MAX, f64::min);
    let ridge = if top_peak > 0.0 && slowest < f64::MAX { Some(2.0 * top_peak / slowest) } else { None };
    let xs = drawn.iter().map(|(x, _)| *x).chain([0.03, 10.0]).chain(ridge);
    let x = LogAxis::around(xs, 1.6, (left, width - right));
    let floor = ceilings.iter().filter_map(|c| c.bandwidth).fold(f64::MAX, f64::min) * x.range().0;
    let ys = drawn.iter().map(|(_, y)| *y).chain(peaks).chain((floor < f64::MAX).then_some(floor * 1.5));
    let y = LogAxis::around(ys, 1.7, (height - bottom, top));

    let mut canvas = Canvas::default();
    axes(&mut canvas, &x, &y, (left, top, width - right, height - bottom), size);
    let mut placement = Placement::inside((left, top), (width - right - left, height - bottom - top));
    let spots: Vec<(usize, Option<Spot>, Option<Spot>)> = points
        .iter()
        .map(|p| {
            (p.before.id, spot(p.before, "before", &x, &y), p.after.and_then(|a| spot(a, "after", &x, &y)))
        })
        .collect();
    for spot in spots.iter().flat_map(|(_, before, after)| [before, after]).flatten() {
        placement.take(LabelBox::upright((spot.at.0 - 7.0, spot.at.1 - 7.0), (14.0, 14.0)), 60.0);
    }
    let lines: Vec<[(f64, f64); 2]> =
        ceilings.iter().map(|c| segment(c, &x, &y)).filter(|[a, b]| b.0 > a.0).collect();
    for ([from, to], ceiling) in lines.iter().zip(&ceilings) {
        let class = format!("ox-roof ox-{} {}", ceiling.color, ceiling.line);
        canvas.polyline(&class, &[*from, *to]);
        placement.take(LabelBox::line(*from, *to, 3.0), 4.0);
    }
    nests(&mut canvas, &mut placement, points, &spots, size);
    ceiling_labels(&mut canvas, &mut placement, &ceilings, &lines, host.all_cores(), size);
    legend(&mut canvas, (left, height), states().count() > points.len(), host.all_cores(), size);

    let absent =
        points.iter().zip(&spots).filter(|(_, (_, before, after))| before.is_none() && after.is_none());
    let description = format!(
        "{} ceilings; {} nests, {} of them not drawn for want of a rate or an intensity",
        ceilings.len(),
        points.len(),
        absent.count()
    );
    canvas.finish(width, height, "Roofline: performance over operational intensity", &description)
}

/// All ceilings: bandwidths by level, peaks of scalars and of the widest vectors, each with one core and with all.
fn ceilings(points: &[RooflinePoint<'_>], host: &HostProfile) -> Vec<Ceiling> {
    let all = host.all_cores().max(1);
    let thread_counts: BTreeSet<u32> = [1, all].into();
    let single = points.iter().any(|p| {
        let types = p.before.roofs.iter().filter_map(|r| match r.bound {
            crate::Bound::Peak { ty } => Some(ty),
            _ => None,
        });
        types.into_iter().any(|ty| ty == FloatType::F32)
    });
    let types: &[FloatType] = if single { &[FloatType::F64, FloatType::F32] } else { &[FloatType::F64] };
    let mut ceilings: Vec<Ceiling> = Vec::new();
    for &threads in thread_counts.iter().rev() {
        let cores = cores(threads);
        let one = if threads == all { "" } else { "ox-one" };
        for &ty in types {
            let vector = host.peak_gflops(ty, threads, u32::MAX).map(|f| f.value);
            let scalar = host.peak_gflops(ty, threads, 0).map(|f| f.value);
            for (kind, peak) in [("SIMD", vector), ("scalar", scalar)] {
                let Some(gflops) = peak.filter(|p| p.is_normal() && *p > 0.0) else { continue };
                // Scalars of either type share one rate: one line is enough.
                let is_known = |c: &Ceiling| c.threads == threads && (c.gflops / gflops - 1.0).abs() < 0.02;
                if ceilings.iter().any(is_known) {
                    continue;
                }
                let line = match (kind, one) {
                    ("scalar", "") => "ox-low",
                    ("scalar", _) => "ox-one ox-low",
                    _ => one,
                };
                let text = format!("{} {kind} peak, {cores}: {} GFLOP/s", ty.name(), format_number(gflops));
                ceilings.push(Ceiling { text, color: "peak", line, bandwidth: None, gflops, threads });
            }
        }
        let peak = |c: &&Ceiling| c.threads == threads && c.bandwidth.is_none();
        let top = ceilings.iter().filter(peak).map(|c| c.gflops).fold(0.0, f64::max);
        for level in host.levels() {
            let bandwidth = host.bandwidth(&level.name, threads).map(|f| f.value);
            let Some(bandwidth) = bandwidth.filter(|b| b.is_normal() && *b > 0.0) else { continue };
            let text = format!("{}, {cores}: {} GB/s", level.name, format_number(bandwidth));
            let gflops = if top > 0.0 { top } else { f64::MAX };
            let color = level_class(&level.name);
            ceilings.push(Ceiling { text, color, line: one, bandwidth: Some(bandwidth), gflops, threads });
        }
    }
    ceilings
}

fn cores(threads: u32) -> String {
    if threads == 1 { "1 core".into() } else { format!("{threads} cores") }
}

/// The visible part of a ceiling, left end first. Peaks go from edge to edge, bandwidths up to their peak.
fn segment(ceiling: &Ceiling, x: &LogAxis, y: &LogAxis) -> [(f64, f64); 2] {
    let (x_low, x_high) = x.range();
    let (y_low, y_high) = y.range();
    match ceiling.bandwidth {
        None => [(x.px(x_low), y.px(ceiling.gflops)), (x.px(x_high), y.px(ceiling.gflops))],
        Some(bandwidth) => {
            let from = x_low.max(y_low / bandwidth);
            let to = x_high.min(y_high / bandwidth).min(ceiling.gflops / bandwidth);
            [(x.px(from), y.px(from * bandwidth)), (x.px(to), y.px(to * bandwidth))]
        }
    }
}

fn axes(canvas: &mut Canvas, x: &LogAxis, y: &LogAxis, frame: (f64, f64, f64, f64), size: PlotSize) {
    let (left, top, right, bottom) = frame;
    for tick in x.ticks(34.0) {
        let at = x.px(tick);
        canvas.line("ox-grid", (at, top), (at, bottom));
        canvas.text("ox-muted", (at, bottom + 17.0), Anchor::Middle, 0.0, &format_number(tick));
    }
    for tick in y.ticks(26.0) {
        let at = y.px(tick);
        canvas.line("ox-grid", (left, at), (right, at));
        canvas.text("ox-muted", (left - 7.0, at + 4.0), Anchor::End, 0.0, &format_number(tick));
    }
    canvas.rect("ox-frame", (left, top), (right - left, bottom - top), None);
    let name = match size {
        PlotSize::Wide => "operational intensity (FLOP per byte that the binding level serves)",
        PlotSize::Narrow => "operational intensity (FLOP/B)",
    };
    canvas.text("", ((left + right) / 2.0, bottom + 36.0), Anchor::Middle, 0.0, name);
    canvas.text("", (15.0, (top + bottom) / 2.0), Anchor::Middle, -90.0, "performance (GFLOP/s)");
}

/// A label along each ceiling, where it covers least. On a narrow plot, only those of all cores.
fn ceiling_labels(
    canvas: &mut Canvas,
    placement: &mut Placement,
    ceilings: &[Ceiling],
    lines: &[[(f64, f64); 2]],
    all_cores: u32,
    size: PlotSize,
) {
    for (ceiling, [from, to]) in ceilings.iter().zip(lines) {
        let is_narrow = size == PlotSize::Narrow;
        if is_narrow && ceiling.threads != all_cores.max(1) {
            continue;
        }
        let short = ceiling.text.replace(&format!(", {}", cores(ceiling.threads)), "");
        let text = if is_narrow { &short } else { &ceiling.text };
        let half = (text_width(text, FONT_PX) / 2.0 + 2.0, LABEL_HEIGHT / 2.0);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let degrees = dy.atan2(dx).to_degrees();
        // Peaks are named at their right end, where they bind; bandwidths at their left end.
        let steps = 48;
        let room = length - 2.0 * half.0;
        let candidates = (0..=steps).flat_map(|step| {
            let along = half.0 + room * f64::from(step) / f64::from(steps);
            let along = if ceiling.bandwidth.is_none() { length - along } else { along };
            [-1.0, 1.0].map(|side| {
                let off = side * (half.1 + 2.5);
                let center = (from.0 + ux * along - uy * off, from.1 + uy * along + ux * off);
                (LabelBox { center, half, degrees }, 0.0)
            })
        });
        let Some((place, cost)) = placement.best(candidates) else { continue };
        // A label over others is unreadable; over a thin line it is not.
        if cost >= 60.0 {
            continue;
        }
        placement.take(place, 100.0);
        let shift = FONT_PX * 0.35;
        let (sin, cos) = degrees.to_radians().sin_cos();
        let at = (place.center.0 - sin * shift, place.center.1 + cos * shift);
        canvas.text(&format!("ox-halo ox-t-{}", ceiling.color), at, Anchor::Middle, degrees, text);
    }
}

fn spot(profile: &NestProfile, state: &str, x: &LogAxis, y: &LogAxis) -> Option<Spot> {
    let (level, intensity) = profile.plotted_intensity()?;
    let gflops = profile.gflops?;
    let roof = match profile.roof_fraction {
        Some(fraction) => format!("{} of its roof, {}", format_percent(fraction.value), profile.bound),
        None => format!("bound: {}", profile.bound),
    };
    let tooltip = format!(
        "{} {state}: {} GFLOP/s at {} FLOP/B ({level}), {roof}",
        profile.name,
        format_number(gflops.value),
        format_number(intensity.value)
    );
    Some(Spot { at: (x.px(intensity.value), y.px(gflops.value)), tooltip })
}

/// Points, arrows from before to after, and names.
fn nests(
    canvas: &mut Canvas,
    placement: &mut Placement,
    points: &[RooflinePoint<'_>],
    spots: &[(usize, Option<Spot>, Option<Spot>)],
    size: PlotSize,
) {
    for (_, before, after) in spots {
        if let (Some(before), Some(after)) = (before, after) {
            arrow(canvas, before.at, after.at);
            placement.take(LabelBox::line(before.at, after.at, 4.0), 10.0);
        }
    }
    for (_, before, after) in spots {
        if let Some(spot) = before {
            canvas.circle("ox-before", spot.at, 5.0, Some(&spot.tooltip));
        }
        if let Some(spot) = after {
            canvas.circle("ox-after", spot.at, 6.0, Some(&spot.tooltip));
        }
    }
    let all: Vec<(f64, f64)> =
        spots.iter().flat_map(|(_, b, a)| [b, a]).flatten().map(|spot| spot.at).collect();
    let is_crowded = points.len() > 12 || size == PlotSize::Narrow;
    for (point, (id, before, after)) in points.iter().zip(spots) {
        let Some(spot) = after.as_ref().or(before.as_ref()) else { continue };
        let text = if is_crowded { format!("{id}") } else { format!("{id} {}", point.before.name) };
        // Bold text is a little wider.
        let extent = (text_width(&text, FONT_PX) * 1.07 + 2.0, LABEL_HEIGHT);
        let candidates = around(spot.at, extent).map(|place| {
            // The label must not look like that of a nearer point.
            let (_, own) = gap(&place, spot.at);
            let is_misleading = all.iter().any(|at| *at != spot.at && gap(&place, *at).1 < own + 4.0);
            (place, 0.15 * own + if is_misleading { 12.0 } else { 0.0 })
        });
        let Some((place, _)) = placement.best(candidates) else { continue };
        placement.take(place, 100.0);
        let (nearest, distance) = gap(&place, spot.at);
        let (dx, dy) = (nearest.0 - spot.at.0, nearest.1 - spot.at.1);
        if distance > 14.0 {
            let start = (spot.at.0 + dx / distance * 7.0, spot.at.1 + dy / distance * 7.0);
            canvas.line("ox-leader", start, nearest);
        }
        let at = (place.center.0, place.center.1 + FONT_PX * 0.35);
        canvas.text("ox-halo ox-strong", at, Anchor::Middle, 0.0, &text);
    }
}

/// The point of an upright box that is nearest to another point, and its distance.
fn gap(place: &LabelBox, to: (f64, f64)) -> ((f64, f64), f64) {
    let nearest = (
        to.0.clamp(place.center.0 - place.half.0, place.center.0 + place.half.0),
        to.1.clamp(place.center.1 - place.half.1, place.center.1 + place.half.1),
    );
    (nearest, (nearest.0 - to.0).hypot(nearest.1 - to.1))
}

/// Places for a label around a point, nearest first.
fn around(at: (f64, f64), extent: (f64, f64)) -> impl Iterator<Item = LabelBox> {
    const DIRECTIONS: [(f64, f64); 12] = [
        (1.0, 0.0),
        (1.0, -0.8),
        (1.0, 0.8),
        (-1.0, 0.0),
        (-1.0, -0.8),
        (-1.0, 0.8),
        (0.0, -1.0),
        (0.0, 1.0),
        (0.5, -1.0),
        (0.5, 1.0),
        (-0.5, -1.0),
        (-0.5, 1.0),
    ];
    let half = (extent.0 / 2.0, extent.1 / 2.0);
    [10.0, 16.0, 26.0, 40.0, 58.0, 80.0].into_iter().flat_map(move |gap| {
        DIRECTIONS.into_iter().map(move |(dx, dy)| {
            let center = (at.0 + dx * (half.0 + gap), at.1 + dy * (half.1 + gap));
            LabelBox { center, half, degrees: 0.0 }
        })
    })
}

/// An arrow that ends short of the point it leads to.
fn arrow(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 18.0 {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let along = |point: (f64, f64), back: f64, aside: f64| {
        (point.0 - ux * back - uy * aside, point.1 - uy * back + ux * aside)
    };
    canvas.line("ox-arrow", along(from, -6.0, 0.0), along(to, 13.0, 0.0));
    canvas.polygon("ox-arrow-head", &[along(to, 7.0, 0.0), along(to, 15.0, 4.0), along(to, 15.0, -4.0)]);
}

fn legend(canvas: &mut Canvas, corner: (f64, f64), has_after: bool, all_cores: u32, size: PlotSize) {
    let (left, height) = corner;
    let mut at = (left, height - if size == PlotSize::Wide { 12.0 } else { 30.0 });
    let middle = |at: (f64, f64)| at.1 - 4.0;
    canvas.circle("ox-before", (at.0 + 6.0, middle(at)), 5.0, None);
    canvas.text("", (at.0 + 17.0, at.1), Anchor::Start, 0.0, if has_after { "before" } else { "nest" });
    at.0 += 80.0;
    if has_after {
        canvas.circle("ox-after", (at.0 + 6.0, middle(at)), 6.0, None);
        canvas.text("", (at.0 + 17.0, at.1), Anchor::Start, 0.0, "after");
        at.0 += 72.0;
    }
    if size == PlotSize::Narrow {
        at = (left, height - 10.0);
    }
    let entries = [("", cores(all_cores.max(1))), ("ox-one", cores(1))];
    let shown = if all_cores > 1 { &entries[..] } else { &entries[..1] };
    for (line, text) in shown {
        canvas.line(&format!("ox-roof ox-peak {line}"), (at.0, middle(at)), (at.0 + 28.0, middle(at)));
        canvas.text("", (at.0 + 34.0, at.1), Anchor::Start, 0.0, text);
        at.0 += 100.0;
    }
    if size == PlotSize::Wide {
        canvas.line("ox-roof ox-peak ox-low", (at.0, middle(at)), (at.0 + 28.0, middle(at)));
        canvas.text("", (at.0 + 34.0, at.1), Anchor::Start, 0.0, "scalar arithmetic");
    }
}

//! The memory sweep: read bandwidth of one core over the size of the array.

use super::axis::LogAxis;
use super::labels::{LabelBox, Placement};
use super::svg::{Anchor, Canvas, Plot, text_width};
use super::theme::FONT_PX;
use super::{PlotSize, level_class};
use crate::figures::{format_capacity, format_number};
use oxeye_host::HostProfile;

/// The curve with the capacities found on it.
pub fn memory_sweep(host: &HostProfile, size: PlotSize) -> Plot {
    let (width, height) = (size.width(), 330.0);
    let (left, right, top, bottom) = (58.0, 16.0, 26.0, 52.0);
    let sound = |x: f64| x.is_finite() && x > 0.0;
    let curve: Vec<_> = host.curve.iter().filter(|p| sound(p.gb_per_s) && p.bytes > 0).collect();
    let x = LogAxis::around(curve.iter().map(|p| p.bytes as f64), 1.15, (left, width - right));
    let y = LogAxis::around(curve.iter().map(|p| p.gb_per_s), 1.35, (height - bottom, top));

    let mut canvas = Canvas::default();
    for tick in x.binary_ticks(64.0) {
        let at = x.px(tick);
        canvas.line("ox-grid", (at, top), (at, height - bottom));
        let text = format_capacity(tick as u64);
        canvas.text("ox-muted", (at, height - bottom + 17.0), Anchor::Middle, 0.0, &text);
    }
    for tick in y.ticks(24.0) {
        let at = y.px(tick);
        canvas.line("ox-grid", (left, at), (width - right, at));
        canvas.text("ox-muted", (left - 7.0, at + 4.0), Anchor::End, 0.0, &format_number(tick));
    }
    canvas.rect("ox-frame", (left, top), (width - right - left, height - bottom - top), None);
    let points: Vec<(f64, f64)> = curve.iter().map(|p| (x.px(p.bytes as f64), y.px(p.gb_per_s))).collect();

    let mut placement = Placement::inside((left, 0.0), (width - right - left, height - bottom));
    for pair in points.windows(2) {
        placement.take(LabelBox::line(pair[0], pair[1], 8.0), 20.0);
    }
    let (low, high) = x.range();
    let mut start = low;
    for level in host.levels() {
        let end = level.capacity_bytes.map_or(high, |b| (b as f64).clamp(low, high));
        if level.capacity_bytes.is_some() && end < high {
            canvas.line("ox-capacity", (x.px(end), top), (x.px(end), height - bottom));
            placement.take(LabelBox::line((x.px(end), top), (x.px(end), height - bottom), 3.0), 10.0);
        }
        let rate = host.bandwidth(&level.name, 1).map(|f| format!("{} GB/s", format_number(f.value)));
        let room = level.capacity_bytes.map(format_capacity);
        let long: Vec<String> =
            [Some(level.name.clone()), room.clone(), rate].into_iter().flatten().collect();
        let texts =
            [long.join(" · "), format!("{} {}", level.name, room.unwrap_or_default()), level.name.clone()];
        let middle = (x.px(start) + x.px(end)) / 2.0;
        let found = texts.iter().filter_map(|text| {
            let extent = (text_width(text.trim(), FONT_PX), FONT_PX * 1.3);
            let rows = (0..12).map(|row| top + 4.0 + f64::from(row) * 18.0);
            let places = rows.flat_map(|y| {
                [0.0, -0.5, 0.5].map(|aside| {
                    let corner = (middle - extent.0 / 2.0 + aside * extent.0 * 0.5, y);
                    (LabelBox::upright(corner, extent), 0.0)
                })
            });
            let (place, cost) = placement.best(places)?;
            Some((text.trim(), place, cost))
        });
        let best = found.min_by(|a, b| a.2.total_cmp(&b.2));
        if let Some((text, place, _)) = best {
            placement.take(place, 100.0);
            let at = (place.center.0, place.center.1 + FONT_PX * 0.35);
            let class = format!("ox-halo ox-strong ox-t-{}", level_class(&level.name));
            canvas.text(&class, at, Anchor::Middle, 0.0, text);
        }
        start = end;
    }
    canvas.polyline("ox-curve", &points);
    for (point, at) in curve.iter().zip(&points) {
        let tooltip = format!("{}: {} GB/s", format_capacity(point.bytes), format_number(point.gb_per_s));
        canvas.circle("ox-curve-dot", *at, 2.6, Some(&tooltip));
    }
    canvas.text("", ((left + width - right) / 2.0, height - 14.0), Anchor::Middle, 0.0, "size of the array");
    let middle = (15.0, (top + height - bottom) / 2.0);
    canvas.text("", middle, Anchor::Middle, -90.0, "read bandwidth, 1 core (GB/s)");
    let description = format!("{} sizes; dashed lines are the capacities of the caches", curve.len());
    canvas.finish(width, height, "Read bandwidth of one core over the size of the array", &description)
}

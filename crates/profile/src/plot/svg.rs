//! A small writer of SVG: elements with escaped text, and a picture with its title, description and style.

use std::fmt::Write;

/// A drawing under construction. Coordinates are pixels, from the upper left. Classes are those of the plots' style:
/// text is `ox-muted` or `ox-strong`, grid lines `ox-grid`, the frame `ox-frame`, and what belongs to the series `N` of
/// several (0 to 7) is `ox-mark-N`, or `ox-line-N` for a line.
#[derive(Clone, Debug, Default)]
pub struct Canvas {
    body: String,
}

/// Alignment of a text to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// Corners of marks whose radius is 1; a disc without any. Their areas are about equal.
const OUTLINES: [Option<&[(f64, f64)]>; 8] = [
    None,
    Some(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]),
    Some(&[(0.0, -1.3), (1.15, 0.8), (-1.15, 0.8)]),
    Some(&[(0.0, -1.3), (1.15, 0.0), (0.0, 1.3), (-1.15, 0.0)]),
    Some(&[(0.0, 1.3), (1.15, -0.8), (-1.15, -0.8)]),
    Some(&[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ]),
    Some(&[(0.0, -1.2), (1.14, -0.37), (0.7, 0.97), (-0.7, 0.97), (-1.14, -0.37)]),
    Some(&[
        (0.0, -0.55),
        (0.6, -1.15),
        (1.15, -0.6),
        (0.55, 0.0),
        (1.15, 0.6),
        (0.6, 1.15),
        (0.0, 0.55),
        (-0.6, 1.15),
        (-1.15, 0.6),
        (-0.55, 0.0),
        (-1.15, -0.6),
        (-0.6, -1.15),
    ]),
];

/// A finished picture.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    title: String,
    description: String,
    body: String,
}

impl Canvas {
    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.element("line", class, &[("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)], None);
    }

    /// A rectangle, with a tooltip.
    pub fn rect(&mut self, class: &str, corner: (f64, f64), size: (f64, f64), tooltip: Option<&str>) {
        let numbers = [("x", corner.0), ("y", corner.1), ("width", size.0), ("height", size.1)];
        self.element("rect", class, &numbers, tooltip);
    }

    /// A disc, with a tooltip.
    pub fn circle(&mut self, class: &str, center: (f64, f64), radius: f64, tooltip: Option<&str>) {
        self.element("circle", class, &[("cx", center.0), ("cy", center.1), ("r", radius)], tooltip);
    }

    /// A line through points.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let _ = write!(self.body, "<polyline class=\"{class}\" points=\"");
        self.points(points);
        self.body.push_str("\"/>\n");
    }

    /// A line through points with round corners, with a tooltip.
    pub fn bend(&mut self, class: &str, points: &[(f64, f64)], radius: f64, tooltip: Option<&str>) {
        let Some((first, rest)) = points.split_first() else { return };
        let _ = write!(self.body, "<path class=\"{class}\" d=\"M{},{}", round(first.0), round(first.1));
        let mut from = *first;
        for (k, corner) in rest.iter().enumerate() {
            let towards = |to: (f64, f64), by: f64| {
                let length = (to.0 - corner.0).hypot(to.1 - corner.1);
                let by = if length > 0.0 { by.min(length / 2.0) / length } else { 0.0 };
                (corner.0 + (to.0 - corner.0) * by, corner.1 + (to.1 - corner.1) * by)
            };
            match rest.get(k + 1) {
                Some(next) => {
                    let (begin, end) = (towards(from, radius), towards(*next, radius));
                    let numbers = [begin, *corner, end].map(|(x, y)| (round(x), round(y)));
                    let [(a, b), (c, d), (e, f)] = numbers;
                    let _ = write!(self.body, " L{a},{b} Q{c},{d} {e},{f}");
                    from = end;
                }
                None => {
                    let _ = write!(self.body, " L{},{}", round(corner.0), round(corner.1));
                }
            }
        }
        let _ = match tooltip {
            Some(tooltip) => writeln!(self.body, "\"><title>{}</title></path>", escape(tooltip)),
            None => writeln!(self.body, "\"/>"),
        };
    }

    /// A filled outline.
    pub fn polygon(&mut self, class: &str, points: &[(f64, f64)]) {
        let _ = write!(self.body, "<polygon class=\"{class}\" points=\"");
        self.points(points);
        self.body.push_str("\"/>\n");
    }

    /// A point of the series `series` of several: each of the first eight has a colour and a shape of its own.
    pub fn mark(&mut self, series: usize, center: (f64, f64), radius: f64, tooltip: Option<&str>) {
        let class = format!("ox-mark-{}", series % 8);
        let Some(outline) = OUTLINES[series % 8] else {
            return self.circle(&class, center, radius, tooltip);
        };
        let points: Vec<(f64, f64)> =
            outline.iter().map(|(x, y)| (center.0 + radius * x, center.1 + radius * y)).collect();
        let _ = write!(self.body, "<polygon class=\"{class}\" points=\"");
        self.points(&points);
        let _ = match tooltip {
            Some(tooltip) => writeln!(self.body, "\"><title>{}</title></polygon>", escape(tooltip)),
            None => writeln!(self.body, "\"/>"),
        };
    }

    /// A line of text, turned by `degrees` about its point.
    pub fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, degrees: f64, text: &str) {
        let (x, y) = (round(at.0), round(at.1));
        let _ = write!(self.body, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"");
        if anchor != Anchor::Start {
            let _ = write!(self.body, " text-anchor=\"{}\"", anchor.name());
        }
        if degrees != 0.0 {
            let _ = write!(self.body, " transform=\"rotate({} {x} {y})\"", round(degrees));
        }
        let _ = writeln!(self.body, ">{}</text>", escape(text));
    }

    /// The picture of everything drawn. `title` and `description` are read out instead of it.
    pub fn finish(self, width: f64, height: f64, title: &str, description: &str) -> Plot {
        Plot { width, height, title: title.into(), description: description.into(), body: self.body }
    }

    fn points(&mut self, points: &[(f64, f64)]) {
        for (position, (x, y)) in points.iter().enumerate() {
            let gap = if position == 0 { "" } else { " " };
            let _ = write!(self.body, "{gap}{},{}", round(*x), round(*y));
        }
    }

    fn element(&mut self, name: &str, class: &str, numbers: &[(&str, f64)], tooltip: Option<&str>) {
        let _ = write!(self.body, "<{name} class=\"{class}\"");
        for (key, value) in numbers {
            let _ = write!(self.body, " {key}=\"{}\"", round(*value));
        }
        match tooltip {
            Some(tooltip) => {
                let _ = writeln!(self.body, "><title>{}</title></{name}>", escape(tooltip));
            }
            None => self.body.push_str("/>\n"),
        }
    }
}

impl Plot {
    /// A file of its own, with its colours for light and dark.
    pub fn standalone(&self) -> String {
        let style = format!("<style>{}{}</style>\n", super::theme::VARIABLES, super::theme::PLOT_STYLE);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}",
            self.element("xmlns=\"http://www.w3.org/2000/svg\" ", &style)
        )
    }

    /// An element for a page that has the plots' style. `class` goes on it.
    pub(crate) fn inline(&self, class: &str) -> String {
        self.element(&format!("class=\"{class}\" "), "")
    }

    fn element(&self, attributes: &str, style: &str) -> String {
        let (width, height) = (round(self.width), round(self.height));
        let (title, description) = (escape(&self.title), escape(&self.description));
        format!(
            "<svg {attributes}viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n{style}<g class=\"ox-plot\">\n\
             <rect class=\"ox-paper\" x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\"/>\n{}</g>\n</svg>\n",
            self.body
        )
    }
}

/// Two decimals; 0 for what is not finite.
fn round(x: f64) -> f64 {
    let rounded = (x * 100.0).round() / 100.0;
    if rounded.is_finite() { rounded + 0.0 } else { 0.0 }
}

/// Text for use between tags and in attributes. Control characters, which XML does not allow, are left out.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// An estimate of a text's width, on the large side, for labels in a common sans-serif face.
pub fn text_width(text: &str, font_px: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | '|' | '!' | '\'' | '(' | ')' | ' ' | 'f' | 't' | 'I' => 0.36,
            'm' | 'w' | 'M' | 'W' | '→' | '×' => 0.92,
            c if c.is_uppercase() => 0.72,
            _ => 0.58,
        })
        .sum();
    ems * font_px
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        let mut canvas = Canvas::default();
        canvas.text("a", (1.0, f64::NAN), Anchor::Start, 0.0, "</text><script>\u{1}");
        canvas.circle("a", (1.0, 2.0), 3.0, Some("\"&'"));
        let svg = canvas.finish(10.0, 10.0, "<b>", "&").standalone();
        assert!(!svg.contains("<script>") && !svg.contains("<b>") && !svg.contains('\u{1}'), "{svg}");
        assert!(svg.contains("<title>&quot;&amp;&#39;</title>") && svg.contains("y=\"0\""), "{svg}");
    }

    #[test]
    fn series_differ_in_shape() {
        let drawn = |series: usize| {
            let mut canvas = Canvas::default();
            canvas.mark(series, (10.0, 10.0), 4.0, Some("here"));
            canvas.body.replace(&format!("ox-mark-{series}"), "")
        };
        let shapes: std::collections::BTreeSet<String> = (0..8).map(drawn).collect();
        assert_eq!(shapes.len(), 8);
        assert!(shapes.iter().all(|s| s.contains("<title>here</title>")), "{shapes:?}");
    }
}

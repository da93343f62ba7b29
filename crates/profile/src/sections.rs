//! A program's run section by section: calls and times of its nests, and what they do per second and per byte.

use crate::figures::{format_ns, format_number, format_percent};
use crate::plot::escape;
use oxeye_host::{Provenance, Quantity};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// How points, operations and bytes are counted, and times taken: what readers of the figures need to know.
pub const SECTION_RULES: [&str; 4] = [
    "times: of every call in one run of the program as you compile it; shares are of that run",
    "points: runs of the statement of the nest that runs most often",
    "operations: floating-point additions, subtractions, multiplications, divisions and square roots of all statements, \
     as the source has them",
    "bytes: every array element that a call touches, once: what any cache must move",
];

/// A nest, or all of them together, in the run of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// `function:line`; of all nests, `all nests`.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// Nanoseconds of the shortest call; of all nests together, `None`.
    pub min_ns: Option<f64>,
    /// Nanoseconds of a call on average, likewise.
    pub mean_ns: Option<f64>,
    /// Nanoseconds of the longest call, likewise.
    pub max_ns: Option<f64>,
    /// Nanoseconds of all calls.
    pub total_ns: f64,
    /// Share of the run.
    pub share: f64,
    /// Points of all calls.
    pub points: Option<Quantity>,
    /// Floating-point operations of all calls.
    pub flops: Option<Quantity>,
    /// Bytes of all calls.
    pub bytes: Option<Quantity>,
    /// 10⁹ points per second.
    pub gpoints_per_s: Option<Quantity>,
    /// 10⁹ floating-point operations per second.
    pub gflops: Option<Quantity>,
    /// Operations per byte.
    pub flops_per_byte: Option<Quantity>,
}

/// What all calls of a nest do together, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectionWork {
    /// Points.
    pub points: Option<Quantity>,
    /// Floating-point operations.
    pub flops: Option<Quantity>,
    /// Bytes.
    pub bytes: Option<Quantity>,
}

/// Calls of a nest in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionTimes {
    /// How many.
    pub calls: u64,
    /// Nanoseconds of the shortest.
    pub min_ns: f64,
    /// Nanoseconds of the longest.
    pub max_ns: f64,
    /// Nanoseconds of all.
    pub total_ns: f64,
}

impl Section {
    /// A nest in a run of so many nanoseconds. A rate above `most_gflops`, what the machine can do at most, is none: where the
    /// compiler leaves operations out, or does some of them elsewhere, no rate follows from those of the source.
    pub fn new(
        name: impl Into<String>,
        times: SectionTimes,
        work: SectionWork,
        run_ns: f64,
        most_gflops: Option<f64>,
    ) -> Self {
        let mean = times.total_ns / times.calls.max(1) as f64;
        let section = Self {
            name: name.into(),
            calls: times.calls,
            min_ns: Some(times.min_ns),
            mean_ns: Some(mean),
            max_ns: Some(times.max_ns),
            total_ns: times.total_ns,
            share: (times.total_ns / run_ns).clamp(0.0, 1.0),
            points: work.points,
            flops: work.flops,
            bytes: work.bytes,
            gpoints_per_s: None,
            gflops: None,
            flops_per_byte: None,
        };
        section.with_rates(most_gflops)
    }

    /// All nests together, of which none may be part of another.
    pub fn all(sections: &[&Section], run_ns: f64, most_gflops: Option<f64>) -> Self {
        let total_ns = sections.iter().map(|section| section.total_ns).sum();
        // What is not known of one is not known of all.
        let sum = |of: &dyn Fn(&Section) -> Option<Quantity>| {
            let parts: Option<Vec<Quantity>> = sections.iter().map(|section| of(section)).collect();
            parts.filter(|parts| !parts.is_empty()).map(|parts| total(&parts))
        };
        let section = Self {
            name: "all nests".into(),
            calls: sections.iter().map(|section| section.calls).sum(),
            min_ns: None,
            mean_ns: None,
            max_ns: None,
            total_ns,
            share: (total_ns / run_ns).clamp(0.0, 1.0),
            points: sum(&|section| section.points),
            flops: sum(&|section| section.flops),
            bytes: sum(&|section| section.bytes),
            gpoints_per_s: None,
            gflops: None,
            flops_per_byte: None,
        };
        section.with_rates(most_gflops)
    }

    fn with_rates(mut self, most_gflops: Option<f64>) -> Self {
        let rate = |count: Option<Quantity>| {
            let count = count.filter(|_| self.total_ns > 0.0)?;
            Some(Quantity { value: count.value / self.total_ns, samples: 1, ..count })
        };
        self.gpoints_per_s = rate(self.points);
        self.gflops = rate(self.flops).filter(|rate| most_gflops.is_none_or(|most| rate.value <= most));
        self.flops_per_byte =
            self.flops.zip(self.bytes).filter(|(_, bytes)| bytes.value > 0.0).map(|(flops, bytes)| {
                Quantity {
                    value: flops.value / bytes.value,
                    provenance: weaker(flops.provenance, bytes.provenance),
                    ..flops
                }
            });
        self
    }
}

/// The sum of counts.
fn total(parts: &[Quantity]) -> Quantity {
    let start = Quantity { value: 0.0, spread: 0.0, samples: 0, provenance: Provenance::Counted };
    parts.iter().fold(start, |sum, part| Quantity {
        value: sum.value + part.value,
        provenance: weaker(sum.provenance, part.provenance),
        ..sum
    })
}

fn weaker(a: Provenance, b: Provenance) -> Provenance {
    if a == Provenance::Counted { b } else { a }
}

/// The sections as a part of a page; nothing without any.
pub(crate) fn html(page: &mut String, sections: &[Section]) {
    if sections.is_empty() {
        return;
    }
    page.push_str("<section>\n<h2>Sections of the run</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Nest</th>");
    for name in [
        "Calls",
        "Minimum",
        "Mean",
        "Maximum",
        "Total",
        "Share",
        "Gpoints/s",
        "Operations per byte",
        "GFLOP/s",
    ] {
        let _ = write!(page, "<th class=\"n\" scope=\"col\">{name}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for section in sections {
        let _ = write!(page, "<tr><td>{}</td>", escape(&section.name));
        for cell in cells(section) {
            let _ = write!(page, "<td class=\"n\">{}</td>", escape(&cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n<ul class=\"note\">\n");
    for rule in SECTION_RULES {
        let _ = writeln!(page, "<li>{}</li>", escape(rule));
    }
    page.push_str("</ul>\n</section>\n");
}

/// The figures of a section in words: calls, minimum, mean, maximum, total, share, points per second, operations per byte and
/// per second; `–` for none.
pub fn cells(section: &Section) -> [String; 9] {
    let time = |ns: Option<f64>| ns.map_or("–".to_owned(), format_ns);
    let figure = |figure: Option<Quantity>| figure.map_or("–".to_owned(), |f| format_number(f.value));
    [
        section.calls.to_string(),
        time(section.min_ns),
        time(section.mean_ns),
        time(section.max_ns),
        format_ns(section.total_ns),
        format_percent(section.share),
        figure(section.gpoints_per_s),
        figure(section.flops_per_byte),
        figure(section.gflops),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(value: f64) -> Option<Quantity> {
        Some(Quantity { value, spread: 0.0, samples: 0, provenance: Provenance::Counted })
    }

    fn section(calls: u64, total_ns: f64, flops: Option<Quantity>) -> Section {
        let times = SectionTimes { calls, min_ns: 1.0, max_ns: 9.0, total_ns };
        let work = SectionWork { points: counted(500.0), flops, bytes: counted(4000.0) };
        Section::new("f:1", times, work, 1000.0, Some(10.0))
    }

    #[test]
    fn rates_are_of_all_calls() {
        let one = section(4, 100.0, counted(1000.0));
        assert_eq!((one.mean_ns, one.share), (Some(25.0), 0.1));
        let values =
            [one.gpoints_per_s, one.gflops, one.flops_per_byte].map(|figure| figure.expect("known").value);
        assert_eq!(values, [5.0, 10.0, 0.25]);
        let all = Section::all(&[&one, &section(1, 300.0, counted(200.0))], 1000.0, Some(10.0));
        assert_eq!((all.calls, all.total_ns, all.share, all.min_ns), (5, 400.0, 0.4, None));
        assert_eq!(all.gflops.expect("known").value, 3.0);
    }

    #[test]
    fn what_is_unknown_or_impossible_has_no_rate() {
        let unknown = section(1, 300.0, None);
        assert!(unknown.gflops.is_none() && unknown.flops_per_byte.is_none());
        let known = section(1, 300.0, counted(30.0));
        assert!(Section::all(&[&known, &unknown], 1000.0, None).flops.is_none());
        // A rate beyond what the machine can do.
        assert!(section(1, 99.0, counted(1000.0)).gflops.is_none());
    }
}

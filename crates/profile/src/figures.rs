//! Arithmetic on quantities that yields `None` instead of nonsense.

use oxeye_host::{Provenance, Quantity};

/// Spreads are cut to this: a noisy machine must not excuse every contradiction.
const MOST_SPREAD: f64 = 0.25;

/// The figure, if it can be a time or a rate: finite and above zero, with a valid spread.
pub(crate) fn positive(figure: Option<Quantity>) -> Option<Quantity> {
    figure.filter(|f| f.value.is_normal() && f.value > 0.0 && sound_spread(f))
}

/// The figure, if it can be a count: finite and not below zero, with a valid spread.
pub(crate) fn count(figure: Option<Quantity>) -> Option<Quantity> {
    figure.filter(|f| f.value.is_finite() && f.value >= 0.0 && sound_spread(f))
}

/// `a / b * scale`, with the weaker provenance of both and their spreads added; `None` if that is not finite.
pub(crate) fn ratio(a: Quantity, b: Quantity, scale: f64) -> Option<Quantity> {
    let value = a.value / b.value * scale;
    (value.is_finite() && value >= 0.0).then(|| Quantity { value, ..joined(a, b) })
}

/// `a + b`, with the weaker provenance of both and the larger spread.
pub(crate) fn sum(a: Quantity, b: Quantity) -> Option<Quantity> {
    let value = a.value + b.value;
    value.is_finite().then(|| Quantity { value, spread: a.spread.max(b.spread), ..joined(a, b) })
}

/// A number without samples.
pub(crate) fn exact(value: f64, provenance: Provenance) -> Quantity {
    Quantity { value, spread: 0.0, samples: 0, provenance }
}

/// How far `a / b` may lie beyond what is possible before the two contradict each other: the relative spreads of
/// both together.
pub(crate) fn slack(a: Quantity, b: Quantity) -> f64 {
    a.spread.min(MOST_SPREAD) + b.spread.min(MOST_SPREAD)
}

fn sound_spread(figure: &Quantity) -> bool {
    figure.spread.is_finite() && figure.spread >= 0.0
}

/// Spread, samples and provenance of a figure made of two others. The caller sets its value.
fn joined(a: Quantity, b: Quantity) -> Quantity {
    let samples = match (a.samples, b.samples) {
        (0, n) | (n, 0) => n,
        (n, m) => n.min(m),
    };
    let provenance = if weakness(a) >= weakness(b) { a.provenance } else { b.provenance };
    Quantity { value: 0.0, spread: a.spread + b.spread, samples, provenance }
}

/// A figure is no better than the worst that went into it.
fn weakness(figure: Quantity) -> u8 {
    match figure.provenance {
        Provenance::Counted => 0,
        Provenance::Measured => 1,
        Provenance::Modelled => 2,
        Provenance::Assumed => 3,
    }
}

/// `1.23 µs`, `4.56 ms`: a time given in nanoseconds, three digits.
pub fn format_ns(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", format_number(ns)),
        ns if ns < 1e6 => format!("{} µs", format_number(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", format_number(ns / 1e6)),
        ns => format!("{} s", format_number(ns / 1e9)),
    }
}

/// `1.23 MB` (10⁶ bytes).
pub fn format_bytes(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{} B", format_number(b)),
        b if b < 1e6 => format!("{} kB", format_number(b / 1e3)),
        b if b < 1e9 => format!("{} MB", format_number(b / 1e6)),
        b => format!("{} GB", format_number(b / 1e9)),
    }
}

/// `48 KiB`, `2 MiB`: a capacity, in powers of two.
pub fn format_capacity(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        b if b < 1024.0 => format!("{b} B"),
        b if b < 1048576.0 => format!("{} KiB", format_number(b / 1024.0)),
        b if b < 1073741824.0 => format!("{} MiB", format_number(b / 1048576.0)),
        b => format!("{} GiB", format_number(b / 1073741824.0)),
    }
}

/// Three significant digits, without an exponent between a thousandth and a million.
pub fn format_number(x: f64) -> String {
    if !x.is_finite() {
        return "–".into();
    }
    let size = x.abs();
    let digits = match size {
        0.0 => return "0".into(),
        s if !(0.001..999_999.5).contains(&s) => return format!("{x:.2e}"),
        s if s < 0.01 => 5,
        s if s < 0.1 => 4,
        s if s < 0.9995 => 3,
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{x:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_string() }
}

/// `63 %`, `0.4 %`: a fraction as per cent.
pub fn format_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        p if p >= 9.95 || p == 0.0 => format!("{p:.0} %"),
        p if p >= 0.05 => format!("{p:.1} %"),
        _ => "< 0.1 %".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_link_names_the_provenance() {
        let flops = exact(100.0, Provenance::Counted);
        let time = Quantity { value: 50.0, spread: 0.02, samples: 7, provenance: Provenance::Measured };
        let bytes = exact(10.0, Provenance::Modelled);
        let rate = ratio(flops, time, 1.0).expect("a number");
        assert_eq!((rate.value, rate.spread, rate.samples), (2.0, 0.02, 7));
        assert_eq!(rate.provenance, Provenance::Measured);
        assert_eq!(ratio(bytes, time, 1.0).expect("a number").provenance, Provenance::Modelled);
        assert_eq!(ratio(flops, exact(0.0, Provenance::Counted), 1.0), None);
        assert_eq!(sum(exact(f64::MAX, Provenance::Counted), exact(f64::MAX, Provenance::Counted)), None);
    }

    #[test]
    fn numbers_are_short_and_readable() {
        let shown = [0.0, 0.00012, 0.0123, 0.25, 1.0, 9.999, 12.34, 99.97, 123.4, 123456.7, 1.5e7, f64::NAN];
        let texts: Vec<String> = shown.iter().map(|x| format_number(*x)).collect();
        let expected =
            ["0", "1.20e-4", "0.0123", "0.25", "1", "10", "12.3", "100", "123", "123457", "1.50e7", "–"];
        assert_eq!(texts, expected);
        assert_eq!(format_ns(1234.0), "1.23 µs");
        assert_eq!(format_ns(2.5e9), "2.5 s");
        assert_eq!(format_bytes(3.2e6), "3.2 MB");
        assert_eq!(format_capacity(49152), "48 KiB");
        assert_eq!((format_percent(0.63), format_percent(0.004)), ("63 %".into(), "0.4 %".into()));
    }
}

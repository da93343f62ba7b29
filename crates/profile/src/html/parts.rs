//! Building blocks of several parts of the page.

use crate::plot::{Plot, PlotSize, escape};
use oxeye_host::{HostProfile, Provenance, Quantity};
use std::fmt::Write;

/// A plot in both sizes; the page shows the one that fits.
pub(super) fn figure(page: &mut String, draw: impl Fn(PlotSize) -> Plot) {
    let (wide, narrow) = (draw(PlotSize::Wide).inline("wide"), draw(PlotSize::Narrow).inline("narrow"));
    let _ = write!(page, "<div class=\"figure\">\n{wide}{narrow}</div>\n");
}

/// A figure in words with unit, spread and mark; `–` for none.
pub(super) fn shown(figure: Option<Quantity>, words: impl Fn(f64) -> String) -> String {
    let Some(figure) = figure else { return "<span class=\"none\">–</span>".into() };
    let mut text = escape(&words(figure.value));
    if figure.samples > 1 && figure.spread > 0.0 {
        let percent = figure.spread * 100.0;
        let _ = write!(text, " <small title=\"{} samples\">± {percent:.1} %</small>", figure.samples);
    }
    match figure.provenance {
        Provenance::Measured => {}
        Provenance::Counted => text.push_str(" <i class=\"tag\">counted</i>"),
        Provenance::Modelled => text.push_str(" <i class=\"tag\">modelled</i>"),
        Provenance::Assumed => text.push_str(" <i class=\"tag\">assumed</i>"),
    }
    text
}

/// `≤` before the share of a roof where that is an upper bound: ceilings of a provisional profile are lower ones.
pub(super) fn at_most(host: &HostProfile) -> &'static str {
    if host.is_provisional() { "≤" } else { "" }
}

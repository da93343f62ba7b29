//! Plots as SVG: real text, tooltips, colours for light and dark, titles for screen readers.

mod axis;
mod bars;
mod flows;
mod labels;
mod roofline;
mod shares;
mod svg;
mod sweep;
pub(crate) mod theme;

pub use bars::{Bar, bars};
pub use flows::{FlowBox, FlowLine, flows};
pub use roofline::{RooflinePoint, roofline};
pub use shares::{ShareBar, share_bars};
pub(crate) use svg::escape;
pub use svg::{Anchor, Canvas, Plot, text_width};
pub use sweep::memory_sweep;
pub use theme::FONT_PX;

/// The width a plot is drawn for; text has the same size in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlotSize {
    /// For a page: 960 pixels.
    Wide,
    /// For a phone: 380 pixels, with fewer labels.
    Narrow,
}

impl PlotSize {
    fn width(self) -> f64 {
        match self {
            PlotSize::Wide => 960.0,
            PlotSize::Narrow => 380.0,
        }
    }
}

/// Class suffix of a memory level's colour.
fn level_class(level: &str) -> &'static str {
    match level {
        "L1" => "l1",
        "L2" => "l2",
        "L3" => "l3",
        _ => "dram",
    }
}

//! Roofline profiles of loop nests: how fast a nest is against what the machine can do, as values, tables, plots and a
//! report.
//!
//! [`profile_nest`] takes plain numbers, measured, counted or modelled by others, and a host profile:
//!
//! ```
//! use oxeye_host::{Quantity, FloatType, HostProfile, Provenance};
//! use oxeye_profile::{Flops, NestInput, profile_nest, LevelBytes};
//!
//! fn describe(host: &HostProfile) -> String {
//!     let measured = |value| Quantity { value, spread: 0.01, samples: 9, provenance: Provenance::Measured };
//!     let counted = |value| Quantity { value, spread: 0.0, samples: 0, provenance: Provenance::Counted };
//!     let nest = NestInput {
//!         threads: 2,
//!         max_vector_bits: 512,
//!         cold_ns: Some(measured(16.5e6)),
//!         flops: vec![Flops { ty: FloatType::F64, count: counted(2e7) }],
//!         levels: vec![LevelBytes { level: "DRAM".into(), bytes: counted(3.2e8) }],
//!         compulsory_bytes: Some(counted(2.4e8)),
//!         ..NestInput::new(0, "triad:7")
//!     };
//!     let profile = profile_nest(&nest, host);
//!     match profile.roof_fraction {
//!         Some(fraction) => format!("{}: {:.0} % of the {}", profile.name, fraction.value * 100.0, profile.bound),
//!         None => profile.why_missing.join("\n"),
//!     }
//! }
//! ```
//!
//! # Formulas
//!
//! With `T` the time of one invocation, `W` its floating-point operations and `Qₖ` the bytes that memory level `k`
//! serves to it: performance `W / T`, bandwidth `Qₖ / T`, operational intensity `Iₖ = W / Qₖ`. Attainable performance
//! is `min(P, minₖ Iₖ·Bₖ)` for peak `P` and bandwidths `Bₖ` (Williams, Waterman, Patterson: "Roofline: an insightful
//! visual performance model for multicore architectures", CACM 2009), over all levels of the hierarchy as in the
//! cache-aware form (Ilic, Pratas, Sousa: "Cache-aware roofline model", IEEE CAL 2014), except that `Qₖ` is the traffic
//! of that level and not the same for all. Here every roof is written as the least time it allows,
//!
//! | roof | least time |
//! |---|---|
//! | peak | `Σ W(type) / P(type)` |
//! | bandwidth of level `k` | `Qₖ / Bₖ` |
//! | division, square root, exponential | `count / (rate of a core × threads)` |
//! | fork-join, for nests on all cores | the time of an empty parallel region |
//!
//! so that the binding roof is the one with the longest, the share of the roof is that time over `T`, and attainable
//! performance is `W` over it. For nests with arithmetic this is the same, and it holds for nests without as well.
//! A nest that runs shorter than a fork-join is bound by overhead and has no share.
//!
//! # What is never shown
//!
//! Counts are bounds, not facts. Modelled traffic of a cache is an upper bound where the real cache is larger, or
//! already holds the data; accesses in the text are one where the compiler keeps values in registers; operations are
//! one where it removes some. Compulsory traffic is a lower bound only for an invocation that starts cold, and only of
//! what has moved when changed data have left the caches. Hence:
//!
//! - If the data of a warm invocation fit into a cache, they come from there: levels beyond it get no traffic. Private
//!   caches of all threads count together. An unknown footprint is taken to be the compulsory traffic, which is no
//!   smaller.
//! - A roof that asks for more time than `T`, beyond the spread of both, contradicts the clock. Its count is dropped and
//!   nothing is derived from it; the traffic is then attributed to the nearer levels, which have figures of their own. Within the spread the share reads 100 % with a note.
//! - Accesses in the text make the nearest level a roof only where they are at most 1.5 times the bytes touched: beyond,
//!   registers may save an unknown part. Measured traffic always is a roof.
//! - An intensity above `W / compulsory bytes` is not shown.
//! - A rate without a measured ceiling to check it against is not shown.
//!
//! A [provisional](oxeye_host::HostProfile::is_provisional) host profile proves nothing against a count: its ceilings
//! are raised by [`raise_ceilings`] first.
//!
//! Every missing figure has a line in [`NestProfile::why_missing`].
//!
//! # What else is here
//!
//! [`Table`] has one row per nest and prints as text, CSV and JSON; with the feature `tables` (on by default) it is written
//! as a Parquet file, with the feature `polars` it becomes a polars `DataFrame`. [`roofline`], [`bars`] and
//! [`memory_sweep`] draw SVG, so do [`share_bars`] and [`flows`]; [`Page`] is for reports of other things. [`Canvas`] is for plots of other things in the same style, [`html_report`] writes one file
//! that needs nothing else.
//!
//! This crate does not run, time or read programs.

mod figures;
#[cfg(feature = "polars")]
mod frame;
mod html;
mod input;
mod model;
mod nest;
mod plot;
mod raise;
mod report;
mod sections;
mod table;
mod trace;

pub use figures::{format_bytes, format_capacity, format_ns, format_number, format_percent};
pub use html::{Page, html_project_report, html_report};
pub use input::{
    CacheTraffic, CounterValue, ExpensiveOperations, Flops, LevelBytes, NestInput, ThreadTime, levels_served,
};
pub use model::profile_nest;
pub use nest::{Bound, LevelProfile, NestProfile, Roof, Run, ScalingPoint};
pub use oxeye_columns::Cells;
pub use plot::{
    Anchor, Bar, Canvas, FONT_PX, FlowBox, FlowLine, Plot, PlotSize, RooflinePoint, ShareBar, bars, flows,
    memory_sweep, roofline, share_bars, text_width,
};
#[cfg(feature = "polars")]
pub use polars_core::frame::DataFrame;
pub use raise::raise_ceilings;
pub use report::{
    About, DataFlow, FileEntry, Listing, NestEntry, ProgramTimes, ProjectData, ReportData, UnreadEntry,
};
pub use sections::{SECTION_RULES, Section, SectionTimes, SectionWork, cells as section_cells};
pub use table::{Column, SUMMARY, Table};
pub use trace::{TraceSlice, chrome_trace};

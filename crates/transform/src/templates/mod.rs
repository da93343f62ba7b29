//! Templates: strategies for loop nests that name no loop, statement or byte count.
//!
//! A recipe speaks of the loops of one nest and of sizes that fit one machine. A [`Template`] says what such a recipe
//! wants: "the second best loop order, fused, in tiles that take half of L1, on several threads". [`Instantiator`] turns it
//! into a recipe for a nest and a machine, or says why that cannot be. Templates are what a search mutates
//! ([`Template::neighbours`]), what nests are compared by ([`panel`]), and what is carried from one nest to another.
//!
//! A template is one line of text, and is serialised as that:
//!
//! ```
//! use oxeye_transform::templates::{Strategy, Template};
//!
//! let template: Template = "order:1 parallel-outer fused tile:l1/2 jam:4 threads simd".parse()?;
//! assert!(matches!(template.strategy, Strategy::Loops(_)));
//! assert_eq!(template.to_string(), "order:1 parallel-outer fused tile:l1/2 jam:4 threads simd");
//! # Ok::<(), oxeye_transform::templates::TemplateError>(())
//! ```
//!
//! | word | means |
//! |---|---|
//! | `normal` | first of all words: the rest is said of the nest's normal form, not of the nest as it stands in the source |
//! | `source` | loops in the order of the source (of the normal form) |
//! | `order:N` | loops in the legal order of rank `N`, the best guess being 0, followed by where independent loops should be (`parallel-outer`, `parallel-inner`, `parallel-innermost`, or `memory` for wherever strides put them) and by `fused` or `distributed` |
//! | `tile:l1/2` | tiles whose footprint is half of L1 |
//! | `jam:4` | the loop around an innermost one unrolled four times, the copies fused |
//! | `contract` | sums of products in packed blocks, with `registers:6x4` (rows and vectors of the register tile, or `auto`), `rows:l2/4..16`, `depth:l2/8..256` and `columns:l3/8..64` (share of a cache, but at most so many register tiles, or iterations of depth) |
//! | `factor:64` | elimination steps in blocks of 64, the update behind a block as by `contract`, with its words |
//! | `time-tiles:8x32` | tiles of 8 time steps and 32 rows on a wavefront |
//! | `crossings` | loops cut where one iterator meets another |
//! | `one-thread`, `threads`, `threads:static`, `threads:dynamic`, `strips:256` | one thread; outermost independent loops shared, as their work suggests or as stated; innermost loops shared in strips of 256, beside which outermost loops without such strips are shared as they are |
//! | `scalar`, `simd`, `simd:scattered` | no vector loops; those with contiguous accesses; all |

mod instantiate;
mod machine;
mod neighbours;
mod panel;
mod stored;
mod strategies;
mod suggest;
mod template;
mod text;
mod unfit;

pub use instantiate::{Instantiator, MOST_NORMAL_STATEMENTS, templates};
pub use machine::Machine;
pub use panel::{PANEL_VERSION, panel};
pub use stored::{STORED_RECIPE_FORMAT, StoredRecipe};
pub use suggest::{RefusedSuggestion, Suggestion, Suggestions, suggest, suggest_for};
pub use template::{
    Base, BlockShape, Cache, Capped, Independent, Lanes, Loops, Order, Registers, Share, Shares, Strategy,
    Template, Threads,
};
pub use text::TemplateError;
pub use unfit::Unfit;

//! Templates: strategies for loop nests that do not depend on particular loops, statements or sizes in bytes.
//!
//! A recipe refers to the loops of one nest and to sizes that fit one machine. A [`Template`] states the intent of such
//! a recipe: "the second best loop order, fused, in tiles that take half of L1, on several threads". [`Instantiator`]
//! turns it into a recipe for a nest and a machine, or says why that is impossible. Searches mutate templates
//! ([`Template::neighbours`]), nests are compared by them ([`panel`]), and they carry over from one nest to another.
//!
//! A template is one line of text, also when serialised:
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
//! | `normal` | as the first word: the template applies to the nest's normal form instead of the source |
//! | `source` | loops in the order of the source (of the normal form) |
//! | `order:N` | loops in the legal order of rank `N`, 0 being the best guess, followed by the place of independent
//! loops (`parallel-outer`, `parallel-inner`, `parallel-innermost`, or `memory` for wherever strides put them) and by
//! `fused` or `distributed` |
//! | `tile:l1/2` | tiles whose footprint is half of L1 |
//! | `jam:4` | the loop around an innermost one unrolled four times, the copies fused |
//! | `contract` | sums of products in packed blocks, with `registers:6x4` (rows and vectors of the register tile, or
//! `auto`), `rows:l2/4..16`, `depth:l2/8..256` and `columns:l3/8..64` (share of a cache, up to a number of register
//! tiles, or of iterations for depth) |
//! | `factor:64` | elimination steps in blocks of 64, with the update after a block as in `contract`, with the same
//! words |
//! | `time-tiles:8x32` | tiles of 8 time steps and 32 rows on a wavefront |
//! | `crossings` | loops cut where one iterator meets another |
//! | `merged` | neighbouring loops merged, each with the least shift that keeps dependences |
//! | `fissioned` | loops cut so that what runs in order stands apart from what threads may share |
//! | `regions` | innermost loops cut where conditions inside them change |
//! | `one-thread`, `threads`, `threads:static`, `threads:dynamic`, `strips:256` | one thread; outermost independent
//! loops shared, according to their work or as stated; innermost loops shared in strips of 256, and outermost loops
//! without such strips shared as they are |
//! | `scalar`, `simd`, `simd:scattered`, `simd:batches` | no vector loops; those with contiguous accesses; all; those with long
//! arithmetic under a condition, in batches, and others as for `simd` |

mod instantiate;
mod machine;
mod neighbours;
mod overlaps;
mod panel;
mod rewrites;
mod stored;
mod strategies;
mod suggest;
mod template;
mod text;
mod unfit;

pub use instantiate::{Instantiator, MOST_NORMAL_STATEMENTS, templates};
pub use machine::Machine;
pub use overlaps::{shares_parts_of_tiles, suggest_overlaps};
pub use panel::{PANEL_VERSION, panel};
pub use rewrites::{suggest_private_scratch, suggest_rewrites};
pub use stored::{STORED_RECIPE_FORMAT, StoredRecipe};
pub use suggest::{RefusedSuggestion, Suggestion, Suggestions, suggest, suggest_few, suggest_for};
pub use template::{
    Base, BlockShape, Cache, Capped, Independent, Lanes, Loops, Order, Registers, Share, Shares, Strategy,
    Template, Threads,
};
pub use text::TemplateError;
pub use unfit::Unfit;

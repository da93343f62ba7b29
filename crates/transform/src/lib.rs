//! Loop transformations, recipes and the legality judge.
//!
//! [`apply`] takes a nest and a [`Recipe`] and returns a nest that computes the same, or a [`Refusal`] that says which
//! step cannot be proved legal and why. Transformations only edit a schedule; legality is decided in one place, by an
//! exact integer test over all pairs of dependent statement instances. [`suggest`] proposes recipes for a nest and a
//! machine's cache sizes, made from [templates] that do not depend on the nest or the machine.
//!
//! ```
//! use oxeye_ir::Program;
//! use oxeye_transform::{Machine, Policy, Recipe, apply, suggest};
//!
//! let program: Program = "program matmul {
//!   symbol P0 n: i32
//!   array A0 a: f64[n][n] param
//!   array A1 b: f64[n][n] param
//!   array A2 c: f64[n][n] param
//!   dataflow { N0 }
//!   nest N0 in matmul {
//!     for L0 i: i32 in 0 .. n {
//!       for L1 j: i32 in 0 .. n {
//!         for L2 k: i32 in 0 .. n { S0: c[i][j] += a[i][k] * b[k][j] }
//!       }
//!     }
//!   }
//! }".parse()?;
//! let nest = &program.nests[0];
//! let policy = Policy { reassociate: false, finite: false };
//!
//! // What is worth trying here. Each proposal is a value that can be kept and applied again.
//! let machine = Machine { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 32 };
//! let suggestions = suggest(&program, nest, &machine, policy);
//! assert!(suggestions.recipes.iter().any(|s| s.name == "contract"));
//!
//! // A hand-written recipe.
//! let recipe: Recipe = serde_json::from_str(
//!     r#"[{"step": "interchange", "outer": 1, "inner": 2}, {"step": "vectorize", "at": 1}]"#,
//! )?;
//! let applied = apply(&program, nest, &recipe, policy)?;
//! let text = applied.nest.display(&applied.program).to_string();
//! assert!(text.contains("for L1 j: i32 in 0 .. n vector {"), "{text}");
//!
//! // The same from the normal form of the nest, which other spellings of the product share.
//! let from_normal_form: Recipe = "normalize; vectorize L2".parse()?;
//! assert!(apply(&program, nest, &from_normal_form, policy).is_ok());
//!
//! // What cannot be proved legal is refused, with the reason.
//! let sums_in_lanes: Recipe = serde_json::from_str(r#"[{"step": "vectorize", "at": 2}]"#)?;
//! let refusal = apply(&program, nest, &sums_in_lanes, policy).unwrap_err();
//! assert!(refusal.reason.contains("a floating-point sum may not be taken in another order"), "{refusal}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate knows nothing of C, compilers, clocks or databases.
//!
//! # Inside
//!
//! A nest is imported as a **schedule**: statements with their iteration domains, and a tree of loops that orders them. A
//! statement knows its original iterators as affine expressions of the tree's loops, so whatever the steps do to the tree,
//! its instances can be compared with the original ones. Steps edit the tree; `legality` compares orders; `scan` turns
//! the tree back into explicit loops, with bounds by Fourier–Motzkin projection and guards where a statement's domain asks for
//! more. What cannot be imported exactly (ragged bounds, data-dependent guards) is one atomic statement that keeps its inside.
//! Statements, domains, accesses and dependences in the original order are `analysis::NestModel`'s, which knows also what is
//! inside atomic statements; its relations are found once a nest (`schedule::Original`) and kept by every copy of the schedule.
//! Guards and data-dependent bounds are accesses at the points where they are evaluated, whether or not anything inside runs.
//! What the judge has found about a pair of statements stands beside the relations (`schedule::verdicts`) and holds until a step
//! changes their place. A nest with more than `MOST_DEPENDENCES` is not judged at all, so that its inner loops are tuned by
//! themselves; of a large one only the first kinds of schedules are looked at (`suggest`).
//! Indices that are quotients or remainders have unknowns with bounds there; other indices that are not affine may mean any
//! element. `PreparedNest` holds the imported nest and its normal forms for all recipes that are applied to it.
//!
//! - **Private scalars** (written before read in every iteration) are arrays over the loops around them for the judge;
//!   `storage` decides afterwards whether a register is enough or an array is needed.
//! - **Steps** (`steps`) are entries of one registry. A step declares its parameters and what each asks for (a loop, a perfect
//!   chain of loops, one size a loop, a statement, an affine expression, …); reading and printing as text and JSON, the checks
//!   of arguments and their messages, the renaming of loops and statements, what a search may vary, and the help follow.
//! - **Steps that rewrite the nest for its values** (`steps::{specialise, split_zeros, guard_zeros, compact_zeros, drop_store}`,
//!   with `values`) come first in a recipe: the other steps schedule the nest that they leave, under its own dependences, which are
//!   those of the source without some. None changes the order of anything; that values stay the same is proved in the step's doc
//!   comment, from what loops before the nest find (`values::reads`: those of the nest around the reads, so that they read nothing
//!   else), or by the exact test (`drop_store`). What a schedule speaks of as symbols, such as where zeros end, are scalars of
//!   these loops in the end (`values::found`). Around the result stands `if (!differs) … else` the nest as it was read, for which
//!   `codegen::own_branch` puts the user's own text. What such a nest does depends on the values, so it is compared with no roof.
//! - **Factorizing** (`steps::factorize`) is a rewrite of the same kind that asks nothing of the values: a sum over a loop is computed
//!   once for the loops that do not move its factors, where sums may be reordered. `templates::suggest_rewrites` names such rewrites,
//!   and `oxeye::stages::rewrite_trials` tries them with what the rewritten nest suggests.
//! - **Sharing sums** (`steps::share_sums`) is another: where two loops move the same elements (`a[y + u]`), sums over a third loop are
//!   the same in all windows, and are computed once for each value of `y + u`, in an array before the loops. Box filters, separable
//!   filters, dilations and erosions.
//! - **Hoisting** (`steps::hoist`) is another: calls of mathematical functions whose arguments a loop leaves alone are made before it, as
//!   scalars or tables. Arguments are followed through local scalars that one statement before sets (`x = h * i; pow(x, 6)`). Products
//!   and sums around them stay, since compilers round them together with others.
//! - **Tiles of symbolic size** (`Loop::tile`: `for it in c * i .. c * i + c`) are products that linear constraints cannot say. That no two
//!   have an element in common, and that later ones come later, is added to the pairs of dependent instances
//!   (`analysis::dependence`); that the first begins at zero, to what is known of subscripts (`frontend::prove`).
//! - **Overlapped tiles** (`steps::overlap`) are a rewrite of loops beside each other, outermost or in the body of another. Arrays that
//!   one computes for later ones are computed tile by tile into temporaries of a tile, with what a tile needs beyond its own iterations
//!   computed in each tile that needs it; arrays that are dead behind the loops cause no traffic any more. `around` makes symbols of the
//!   iterators of loops around, `chain` knows the loops and the order of their iterations, `handed` which arrays can be handed on so and
//!   how far tiles reach over (`Plan`), `tiles` writes the loops. What is proved stands in the step's doc comment.
//!   `templates::suggest_overlaps` picks ranges of loops and sizes that fit the caches.
//! - **Scratch arrays** that every iteration sets before it reads them (`analysis::is_covered`) are one for all iterations until the step
//!   `privatize` declares them in the body of a loop, so that threads may share it. `frontend/scratch` makes static variables of the
//!   file local where no run of a nest reads what another, or anything else, has left in them.
//! - **Recipes** (`recipe`) are lists of steps in the ids of the nest. What people write (`WrittenRecipe`) may call loops by their
//!   names in the source; the names are resolved step by step against the nest, since steps make and renumber loops.
//! - **Refusals** (`refusal`) are a kind and a sentence. Whoever decides by a refusal asks for its kind; nobody reads the sentence
//!   but people.
//! - **Packed contraction** is one step: operands packed into cache blocks around a register tile. The judge sees when operands
//!   are really read (when their block is packed) and when the target is really written (after the tile).
//! - **Templates** (`templates`) are strategies that name no loop and no byte count ("tiles in half of L1"): what a search
//!   mutates and what is carried between nests and machines. Instantiating one gives a recipe or the reason why not.
//! - **Suggestions** are the templates worth trying, instantiated (`templates::strategies`), so made of the same steps, every
//!   one judged: loop orders for imperfect nests found level by level over strongly connected components, packed contractions,
//!   blocked factorizations, time tiles on wavefronts, index sets split where iterators meet and where windows reach beyond
//!   borders, recurrences in vector lanes, strip-mined loops shared among threads.
//! - **Accumulators** of innermost loops are kept in scalars when the nest is written, in the order of the source.
//!
//! - **Normal forms** (`normalize`) are what two spellings of one computation share: maximally distributed, strides as small as
//!   legal orders allow, scratch scalars and arrays undone, canonical order and names.
//! - **Who proves what** in normalization. Every pass gives back its result and what it did; a pass whose result does not stand
//!   up to its check is taken back and noted as refused.
//!   - *Distribution and loop order* (`arrange`), and statements or iterations that move next to each other (`merge`): the judge,
//!     on the dependences of the nest as it was before the pass.
//!   - *Scalars, expansion, factors*: `rewrites::runs_in_place` checks that the map from instances to those before is the identity,
//!     so that no order changes; that the values stay the same is proved in the doc comment of the `Rewrite`, from what the pass
//!     establishes by the exact test or by looking at all accesses.
//!   - *Iteration spaces, rotating buffers, canonical expressions*: values by the proof in the doc comment of the `Rewrite`.
//!   - *The order of all of them together*: every pass changes a map (`instances`) as it changes the nest. For each statement
//!     of the result it says which statements of the source it performs, one after the other, with their iterators as affine
//!     expressions of the result's and the conditions under which it does. In every `apply` of a recipe on the normal form,
//!     `legality::composed` asks for the source's dependences under the final schedule composed with that map; once a nest it
//!     asks whether the normal form accesses the elements that the map says. Every statement of the source is performed
//!     somewhere, or was left out by a named rewrite.
//!   - *What the source's dependences do not ask*: arrays that a rewrite stores elsewhere or nowhere (private and dissolved
//!     scalars, expanded arrays), and elements found by the values of such; of a target that is accumulated in place, the load
//!     before and the store behind the accumulation against each other. There the rewrite's proof stands, and the dependences
//!     of the normal form, to which every recipe is held as well.
//!   - A pass without a map says so (`Instances::give_up`); its nest is held to the dependences of the normal form only
//!     (`PreparedNest::judged`). Tests count such nests, in the corpus and at random: there are none today.
//!   - `tests/integration/normalize.rs` runs random nests after every single pass in the interpreter, demands that every kind of rewrite was
//!     among them, and asks the judge after every pass; `cargo xtask soak` runs whole recipes, and `cargo xtask programs` whole
//!     C programs, from what is read to what is emitted.
//! - **Recipes on the normal form** begin with the step `normalize`: `apply` puts the normal form in the place of the nest,
//!   imports that as the schedule, and the other steps and the judge work on it. Its loops and statements are numbered in the
//!   order in which they stand, so where two spellings meet, a recipe for one fits the other. Templates say the same with the
//!   word `normal`; suggestions have such templates where normalization changes more than the order of statements. What
//!   normalization expands is stored in as little as the recipe's loops allow (`storage`), on the heap if it is large, with
//!   the user's own text for when memory is short. What it leaves in the user's scratch arrays nobody reads, so `measure` does
//!   not compare those.

mod apply;
mod import;
mod instances;
mod legality;
mod normalize;
mod order;
mod policy;
mod prepared;
mod recipe;
mod refusal;
mod rewrite;
mod scan;
mod schedule;
pub mod steps;
pub mod templates;
#[cfg(feature = "testing")]
pub mod testing;
mod values;

pub use apply::apply;
pub use normalize::{Change, LogEntry, NormalForm, NormalNest, Stage, normalize, normalize_nest};
pub use policy::Policy;
pub use prepared::{Applied, Judged, PreparedNest, Rewritten};
pub use recipe::{Recipe, RecipeError, WrittenRecipe};
pub use refusal::{Reason, Refusal, RefusalKind};
pub use rewrite::Rewrite;
pub use schedule::packed_contraction::Blocks;
pub use schedule::statement_schedule::{Dimension, StatementSchedule};
pub use steps::argument::{Kind, Renaming};
pub use steps::registry::{Parameter, TransformationInfo, Variation};
pub use steps::{TRANSFORMATIONS, Transformation};
pub use templates::{
    Machine, RefusedSuggestion, STORED_RECIPE_FORMAT, StoredRecipe, Suggestion, Suggestions, suggest,
    suggest_few, suggest_for,
};
pub use values::Literal;

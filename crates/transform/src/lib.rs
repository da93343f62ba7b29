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

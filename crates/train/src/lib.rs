//! Where performance embeddings come from.
//!
//! [`generate`](generate::generate) draws realistic random nests, [`measure`](measure::measure) finds how each responds to
//! a panel of recipe templates, [`dataset`] keeps that as Parquet, [`recipes`] makes entries of a recipe database of it, and
//! with the feature `torch` the encoder of `oxeye-embed` is trained on it.
//!
//! ```
//! let nests = oxeye_train::generate::generate(1, 10);
//! let (program, nest) = nests[0].parse()?;
//! assert!(!nest.loops().is_empty());
//! assert!(program.symbols.values().all(|s| nests[0].sizes.contains_key(&s.name)));
//! # Ok::<(), oxeye_train::nest::NestError>(())
//! ```
//!
//! Without the feature, which is the default, the crate neither needs nor mentions libtorch, so that the workspace builds
//! and passes its tests on any machine. The feature needs the environment that `cargo xtask libtorch` prints.

pub mod card;
pub mod curves;
pub mod dataset;
pub mod donors;
pub mod example;
pub mod generate;
pub mod journal;
pub mod measure;
pub mod metrics;
#[cfg(feature = "torch")]
pub mod model;
pub mod nest;
pub mod recipes;
pub mod record;
pub mod rng;
#[cfg(test)]
mod testing;
pub mod versions;

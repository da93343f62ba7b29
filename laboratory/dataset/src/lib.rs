//! The data that performance embeddings are learnt from.
//!
//! [`generate`](generate::generate) draws realistic random nests, [`measure`](measure::measure) finds how each responds
//! to a panel of recipe templates (on several nodes: [`elsewhere`]), [`table`] keeps that as Parquet, and [`recipes`]
//! makes entries of a recipe database of it. The encoder is trained on it in `oxeye-train`, whose command line offers all
//! of this.
//!
//! ```
//! let nests = oxeye_dataset::generate::generate(1, 10);
//! let (program, nest) = nests[0].parse()?;
//! assert!(!nest.loops().is_empty());
//! assert!(program.symbols.values().all(|s| nests[0].sizes.contains_key(&s.name)));
//! # Ok::<(), oxeye_dataset::nest::NestError>(())
//! ```

pub mod elsewhere;
pub mod generate;
pub mod journal;
pub mod measure;
pub mod nest;
pub mod recipes;
pub mod record;
pub mod statistics;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

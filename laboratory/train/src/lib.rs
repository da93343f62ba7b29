//! Training of the encoder that makes performance embeddings, on the data of `oxeye-dataset`.
//!
//! An [`Example`](example::Example) is what training sees of a measured nest: its graph, its responses, and the
//! features of every [version](versions) that was timed. With the feature `torch` the encoder of `oxeye-embed` is
//! trained on examples; [`metrics`] and [`donors`] judge it, [`card`] and [`curves`] document the result.
//!
//! ```
//! use oxeye_train::metrics::spearman;
//!
//! assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 21.0]), 1.0);
//! ```
//!
//! Without the feature, which is the default, the crate neither needs nor mentions libtorch, so that the workspace
//! builds and passes its tests on any machine. The feature needs the environment that `cargo xtask libtorch` prints.

pub mod card;
pub mod curves;
pub mod donors;
pub mod example;
pub mod metrics;
#[cfg(feature = "torch")]
pub mod model;
#[cfg(test)]
mod testing;
pub mod versions;

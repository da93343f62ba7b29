//! Loop nests as feature graphs, and the encoder that turns them into performance embeddings.
//!
//! [`graph`] makes a nest, sizes and a machine into a [`NestGraph`]: loops, statements, accesses and arrays as nodes
//! with features, nesting, strides and dependences as edges. `FEATURES.md` and [`schema`] list every feature. An
//! [`Encoder`] turns the graph into an [`Embedding`]: a vector for the nest, one for each node, and predictions for a
//! panel of recipe templates. The module [`architecture`] is the specification that training follows. [`hand_made`] is
//! the baseline without learning. [`schedule_features`] describe a scheduled nest, and [`Encoder::speedups`] predicts
//! from them what the schedule gains.
//!
//! ```
//! use oxeye_embed::{Encoder, HostVector, graph};
//! use oxeye_ir::Program;
//!
//! let program = Program::parse(
//!     "program scale {
//!        symbol P0 n: i32
//!        array A0 x: f64[n] param
//!        dataflow { N0 }
//!        nest N0 in scale {
//!          for L0 i: i32 in 0 .. n {
//!            S0: x[i] = 2.0 * x[i]
//!          }
//!        }
//!      }",
//! )?;
//! let host = HostVector { l1_bytes: Some(32768.0), ..HostVector::default() };
//! let graph = graph(&program, &program.nests[0], &|_| Some(1000), &host)?;
//! assert_eq!(graph.nodes.len(), 1 + 1 + 2 + 1);
//!
//! let embedding = Encoder::random(0)?.embed(&graph)?;
//! assert_eq!(embedding.nest.len(), 64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The graph does not depend on names, ids, or an order of statements that dependences leave open. Everything in it is
//! finite, for any sizes and for none; unknown features are flagged. This crate does not normalise
//! nests, does not train, knows no recipes, and needs no libtorch: weights are plain safetensors, the arithmetic is
//! `ndarray`'s.

pub mod architecture;
mod build;
mod encoder;
mod error;
mod graph;
mod hand_made;
mod layers;
mod schedule;
pub mod schema;
mod table;
#[cfg(test)]
mod tests;
mod vector;
mod vectors;
mod weights;

pub use architecture::{Architecture, INPUT_LIMIT, ModelInfo, SCHEDULE_SCALE, SCHEDULE_SHIFT, Way};
pub use build::graph;
pub use encoder::{Embedding, Encoder, PanelPrediction, residual};
pub use error::{EmbedError, METADATA_KEY};
pub use graph::{Edge, EdgeKind, NestGraph, Node, NodeKind};
pub use hand_made::{HandMadeFeature, N_HAND_MADE, hand_made};
pub use schedule::{ScheduleFeatures, schedule_features};
pub use schema::{
    AccessFeature, ArrayFeature, EdgeFeature, FEATURE_SCHEMA, FeatureList, HostFeature, LoopFeature, N_EDGE,
    N_HOST, N_NODE, N_PROFILE, N_SCHEDULE, ProfileFeature, ScheduleFeature, StmtFeature,
};
pub use table::feature_table;
pub use vector::Features;
pub use vectors::{HostVector, ProfileVector};
pub use weights::Weights;

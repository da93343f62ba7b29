//! Loop nests as feature graphs, and the encoder that turns them into performance embeddings.

mod architecture;
mod build;
mod error;
mod graph;
mod hand_made;
pub mod schema;
mod vectors;

pub use architecture::{Architecture, ModelInfo, Way};
pub use build::graph;
pub use error::EmbedError;
pub use graph::{Edge, EdgeKind, Features, NestGraph, Node, NodeKind};
pub use hand_made::HandMadeFeature;
pub use schema::{
    AccessFeature, ArrayFeature, EdgeFeature, FEATURE_SCHEMA, FeatureList, HostFeature, LoopFeature, N_EDGE,
    N_HOST, N_NODE, N_PROFILE, ProfileFeature, StmtFeature, feature_table,
};
pub use vectors::{HostVector, ProfileVector};

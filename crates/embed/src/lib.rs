//! Loop nests as feature graphs, and the encoder that turns them into performance embeddings.

mod architecture;
mod build;
mod encoder;
mod error;
mod graph;
mod hand_made;
mod layers;
pub mod schema;
mod vectors;
mod weights;

pub use architecture::{Architecture, METADATA_KEY, ModelInfo, Way};
pub use build::graph;
pub use encoder::{Embedding, Encoder, PanelPrediction};
pub use error::EmbedError;
pub use graph::{Edge, EdgeKind, Features, NestGraph, Node, NodeKind};
pub use hand_made::{HandMadeFeature, hand_made};
pub use schema::{
    AccessFeature, ArrayFeature, EdgeFeature, FEATURE_SCHEMA, FeatureList, HostFeature, LoopFeature, N_EDGE,
    N_HOST, N_NODE, N_PROFILE, ProfileFeature, StmtFeature, feature_table,
};
pub use vectors::{HostVector, ProfileVector};
pub use weights::Weights;

//! What can go wrong.

use crate::schema::FEATURE_SCHEMA;
use oxeye_ir::{ArrayId, NestId};
use std::path::PathBuf;

/// The entry of a file's metadata that describes the weights.
pub const METADATA_KEY: &str = "oxeye";

/// Why there is no graph, no encoder or no embedding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The nest uses an array that the program does not have.
    #[error("nest {nest} accesses {array}, which the program does not declare")]
    UnknownArray {
        /// The nest.
        nest: NestId,
        /// The array.
        array: ArrayId,
    },
    /// The nest has no statement.
    #[error("nest {0} has no statement")]
    EmptyNest(NestId),
    /// The nest has thousands of dependences.
    #[error("nest {0} has too many dependences to be compared with others")]
    TooLarge(NestId),
    /// A graph that this crate cannot have made.
    #[error("not a sound graph: {0}")]
    UnsoundGraph(String),
    /// Weights or a graph with other features than those of this build.
    #[error(
        "features of schema `{found}`, but this build computes `{}`: use a model made for it",
        FEATURE_SCHEMA
    )]
    OtherSchema {
        /// The schema that was named.
        found: String,
    },
    /// The file cannot be read or written.
    #[error("cannot access `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The bytes are not a safetensors file.
    #[error("not a sound safetensors file: {0}")]
    Damaged(String),
    /// The description in the file is missing or wrong.
    #[error("the metadata `{}` of the model is not valid: {reason}", METADATA_KEY)]
    Metadata {
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is missing.
    #[error("the model has no tensor `{0}`")]
    MissingTensor(String),
    /// A tensor that the encoder does not have.
    #[error("the model has a tensor `{0}` that this encoder does not know")]
    UnknownTensor(String),
    /// A tensor has another shape or type.
    #[error("the model's tensor `{name}` is {found}, but should be {expected}")]
    TensorShape {
        /// Which tensor.
        name: String,
        /// Its type and shape.
        found: String,
        /// What they should be.
        expected: String,
    },
    /// A tensor contains something that is not a finite number.
    #[error("the model's tensor `{0}` contains infinities or NaN")]
    TensorNotFinite(String),
    /// An embedding of another encoder.
    #[error("an embedding by the model `{found}` means nothing to `{expected}`: embed the nest anew")]
    OtherModel {
        /// The model it is from.
        found: String,
        /// The model that was asked.
        expected: String,
    },
    /// The weights are so large that the computation overflows.
    #[error("the embedding is not finite: the model's weights are damaged")]
    EmbeddingNotFinite,
}

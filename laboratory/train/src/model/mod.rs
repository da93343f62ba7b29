//! The encoder in libtorch, and its training.

mod adamw;
mod batch;
mod encoder;
mod loss;
mod train;

pub use batch::{Batch, Schedules};
pub use encoder::{Prediction, TorchEncoder};
pub use loss::LossWeights;
pub use train::{
    TrainError, TrainOptions, Trained, architecture, embeddings, is_held_out, n_groups, predict, train,
};

//! What this machine can do.
mod figure;
pub use figure::{Figure, Provenance};

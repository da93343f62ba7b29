//! All integration tests of the crate, in one program: each of its own would link the whole crate once more.

mod batches;
mod borders;
mod common;
mod completeness;
mod contract;
mod factorize;
mod hoist;
mod kernels;
mod kinds;
mod normalize;
mod overlap;
mod recipes;
mod same_memory;
mod templates;
mod values;
mod windows;

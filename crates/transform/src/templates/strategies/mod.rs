//! Strategies built from steps. Input: a schedule and the parameters of a strategy. Output: a [`builder::Builder`] with
//! steps approved by the judge, or why the nest does not fit.

pub(crate) mod builder;
pub(crate) mod contraction;
pub(crate) mod factor;
pub(crate) mod fission;
pub(crate) mod merge;
pub(crate) mod split;
pub(crate) mod stencil;
pub(crate) mod tile;
mod tree;
pub(crate) mod write_out;

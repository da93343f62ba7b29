//! What templates want, made of steps: in comes a schedule with the parameters of a strategy, out comes a [`builder::Builder`]
//! with steps that have been judged, or why the nest does not take them.

pub(crate) mod builder;
pub(crate) mod contraction;
pub(crate) mod factor;
pub(crate) mod split;
pub(crate) mod stencil;
pub(crate) mod tile;
mod tree;

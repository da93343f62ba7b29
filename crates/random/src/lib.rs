//! Random numbers that are the same on every machine and with every version of every dependency: generated nests, inputs
//! and searches are functions of their seeds, and stay so.
//!
//! ```
//! let mut random = oxeye_random::SplitMix64::new(7);
//! assert!(random.below(10) < 10);
//! ```
//!
//! [`Rng`] adds choices, and a stream of its own for every item that is drawn. Nothing here is fit for secrets.

mod rng;
mod split_mix;

pub use rng::Rng;
pub use split_mix::SplitMix64;

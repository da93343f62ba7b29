//! Choices of a search.

use oxeye_random::SplitMix64;

/// [`SplitMix64`] with choices.
#[derive(Clone, Debug)]
pub(crate) struct Rng(SplitMix64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A number below `n`; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    /// One of two.
    pub(crate) fn flip<T>(&mut self, a: T, b: T) -> T {
        if self.0.bits() >> 63 == 0 { a } else { b }
    }
}

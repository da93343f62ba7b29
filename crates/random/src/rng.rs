//! Choices.

use crate::SplitMix64;

/// [`SplitMix64`] with choices.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    /// A stream of its own for every pair of seed and index.
    pub fn new(seed: u64, index: u64) -> Self {
        let start = SplitMix64::new(seed ^ 0x6f78_6579_6574_7261).bits();
        let mut rng = SplitMix64::new(start ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        rng.bits();
        Self(rng)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Uniform in `low..=high`.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.0.remainder((high.max(low) - low + 1) as u64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Between `low` and `high`, uniform in the logarithm.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.unit() * (high.ln() - low.ln())).exp()
    }

    /// One of the items, with equal chances.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.within(0, items.len() - 1)]
    }

    /// Puts the items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.within(0, last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, index| {
            let mut rng = Rng::new(seed, index);
            [rng.bits(), rng.bits(), rng.within(3, 5) as u64]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert!((3..=5).contains(&draw(1, 2)[2]));
        // What was generated with a seed stays what it is.
        assert_eq!(draw(1, 2)[0], 8_143_732_038_385_276_552);
    }
}

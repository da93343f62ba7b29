//! The generator.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Numbers that are a function of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `n`, made of the high bits; 0 if `n` is 0. The bias is below n / 2⁶⁴.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A number below `n`: what is left when the bits are divided by it; 0 if `n` is 0, for which no bits are taken. The
    /// bias is below n / 2⁶⁴.
    pub fn remainder(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.bits() % n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut random = SplitMix64::new(1_234_567);
        let first = [(); 3].map(|()| random.bits());
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_are_in_range_and_even() {
        let mut random = SplitMix64::new(3);
        let (mut high, mut low) = ([0; 5], [0; 5]);
        for _ in 0..1000 {
            high[random.below(5) as usize] += 1;
            low[random.remainder(5) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        for seen in [high, low] {
            assert!(seen.iter().all(|n| (150..250).contains(n)), "{seen:?}");
        }
        assert_eq!((random.below(0), random.remainder(0)), (0, 0));
    }
}

//! The difference between two measurements of one speedup.

use crate::record::Record;
use crate::statistics::percentile;
use oxeye_database::{Speedup, Verdict};

/// A difference of log2 speedups that a repetition seldom exceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    log2: f64,
}

/// Share of repetitions that stay within the noise.
const CONFIDENCE: f64 = 0.9;
/// Assumed if nothing was repeated: three per cent.
const ASSUMED: f64 = 0.043;
/// Least noise: one per cent.
const LEAST: f64 = 0.0144;

impl Noise {
    /// From the repetitions of a dataset.
    pub fn of(records: &[Record]) -> Self {
        let differences: Vec<f64> =
            records.iter().filter_map(|r| r.retest_difference().map(f64::abs)).collect();
        let log2 = if differences.is_empty() { ASSUMED } else { percentile(&differences, CONFIDENCE) };
        Self { log2: log2.max(LEAST) }
    }

    /// As a ratio, in per cent.
    pub fn percent(self) -> f64 {
        100.0 * (self.log2.exp2() - 1.0)
    }

    /// The greater of two.
    pub fn at_least(self, log2: f64) -> Self {
        Self { log2: self.log2.max(log2) }
    }

    /// A gain or a loss only beyond the noise.
    pub fn verdict(self, speedup: f64) -> Verdict {
        match speedup.log2() {
            log2 if log2 > self.log2 => Verdict::Gained,
            log2 if log2 < -self.log2 => Verdict::Slowed,
            _ => Verdict::Even,
        }
    }

    /// The interval of a repetition.
    pub fn around(self, speedup: f64) -> Speedup {
        let factor = self.log2.exp2();
        Speedup { median: speedup, low: speedup / factor, high: speedup * factor, confidence: CONFIDENCE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn verdicts_are_beyond_what_repetition_differs_by() {
        let mut records: Vec<Record> = (0..10).map(record).collect();
        for (k, record) in records.iter_mut().enumerate() {
            record.panel[3].seconds = Some(1e-3);
            record.panel[0].seconds = Some(1e-3);
            let retest = record.retest.as_mut().expect("a retest");
            (retest.subject_seconds, retest.seconds) = (1e-3 * (0.01 * k as f64).exp2(), 1e-3);
        }
        let noise = Noise::of(&records);
        assert!((noise.log2 - 0.08).abs() < 1e-9, "{noise:?}");
        assert_eq!(noise.verdict(0.081f64.exp2()), Verdict::Gained);
        assert_eq!(noise.verdict(1.0), Verdict::Even);
        assert_eq!(noise.verdict(0.5), Verdict::Slowed);
        assert_eq!(noise.at_least(1.5).verdict(0.5), Verdict::Even);
        let around = noise.around(2.0);
        assert!(around.low < 2.0 && around.high > 2.0 && around.low > 1.85);
    }
}

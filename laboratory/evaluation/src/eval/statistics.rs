//! Comparing two methods on the same programs.

use oxeye_measure::quantile;
use oxeye_random::SplitMix64;

/// Number of bootstrap samples.
const N_RESAMPLES: usize = 10_000;
const SEED: u64 = 20_260_101;

/// How many times better one method is than another, in geometric mean over programs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// Geometric mean of the ratios.
    pub(crate) ratio: f64,
    /// Lower end of its 95 % interval.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
    /// Programs on which it is better by more than [`TIE`], about even, and worse.
    pub(crate) wins: [usize; 3],
}

/// Ratios that differ less from 1 are even.
pub(crate) const TIE: f64 = 0.02;

impl Comparison {
    /// Whether the whole interval is on one side of 1.
    pub(crate) fn is_clear(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// Compares by positive ratios, in groups that belong together: the two spellings of one computation are drawn
/// together. The interval is a percentile bootstrap (Efron, "Bootstrap methods: another look at the jackknife", 1979)
/// with a fixed seed. `None` without any ratio.
pub(crate) fn compare(groups: &[Vec<f64>]) -> Option<Comparison> {
    let sums: Vec<(f64, usize)> =
        groups.iter().map(|group| (group.iter().map(|r| r.ln()).sum(), group.len())).collect();
    let mean = |drawn: &mut dyn Iterator<Item = (f64, usize)>| {
        let (sum, n) = drawn.fold((0.0, 0), |(sum, n), (s, m)| (sum + s, n + m));
        (n > 0).then(|| sum / n as f64)
    };
    let ratio = mean(&mut sums.iter().copied())?.exp();
    let mut random = SplitMix64::new(SEED);
    let mut means: Vec<f64> = (0..N_RESAMPLES)
        .filter_map(|_| {
            mean(&mut (0..sums.len()).map(|_| sums[random.remainder(sums.len() as u64) as usize]))
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let mut wins = [0; 3];
    for ratio in groups.iter().flatten() {
        wins[if *ratio > 1.0 + TIE {
            0
        } else if *ratio >= 1.0 / (1.0 + TIE) {
            1
        } else {
            2
        }] += 1;
    }
    Some(Comparison { ratio, low: quantile(&means, 0.025).exp(), high: quantile(&means, 0.975).exp(), wins })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_mean_and_repeat() {
        let groups: Vec<Vec<f64>> = (0..30).map(|k| vec![0.8 + 0.02 * f64::from(k)]).collect();
        let comparison = compare(&groups).expect("there are ratios");
        assert!(comparison.low < comparison.ratio && comparison.ratio < comparison.high);
        assert_eq!(compare(&groups), Some(comparison));
        // The standard error of the mean logarithm is about 0.031.
        let half = (comparison.high / comparison.low).ln() / 2.0;
        assert!((half - 1.96 * 0.0313).abs() < 0.01, "{half}");
    }

    #[test]
    fn even_ratios_leave_no_doubt() {
        let comparison = compare(&[vec![1.5, 1.5], vec![1.5]]).expect("there are ratios");
        assert!((comparison.low - 1.5).abs() < 1e-12 && (comparison.high - 1.5).abs() < 1e-12);
        assert!(comparison.is_clear());
        assert_eq!(comparison.wins, [3, 0, 0]);
        assert_eq!(
            compare(&[vec![1.0], vec![0.5], vec![2.0]]).map(|c| (c.wins, c.is_clear())),
            Some(([1, 1, 1], false))
        );
    }

    #[test]
    fn pairs_that_belong_together_count_as_one() {
        let alone: Vec<Vec<f64>> = (0..40).map(|k| vec![if k % 2 == 0 { 1.2 } else { 0.9 }]).collect();
        let paired: Vec<Vec<f64>> = (0..20).map(|k| vec![if k % 2 == 0 { 1.2 } else { 0.9 }; 2]).collect();
        let width = |groups: &[Vec<f64>]| {
            let c = compare(groups).expect("there are ratios");
            (c.high / c.low).ln()
        };
        assert!(width(&paired) > 1.2 * width(&alone));
        assert_eq!(compare(&[]), None);
    }
}

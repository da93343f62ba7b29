//! Summaries of samples, and the precision of a ratio of paired times.

use serde::Serialize;

/// A summary of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stat {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Number of samples.
    pub n: usize,
    /// Half the distance between the quartiles, as a fraction of the median.
    pub spread: f64,
}

impl Stat {
    /// Summarises samples; all zeros when there are none.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Stat {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Stat { median: 0.0, min: 0.0, max: 0.0, n: 0, spread: 0.0 };
        };
        let median = quantile(&sorted, 0.5);
        let width = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
        let spread = if median == 0.0 { 0.0 } else { width / 2.0 / median.abs() };
        Stat { median, min, max, n: sorted.len(), spread }
    }
}

/// The value below which `fraction` of the samples lie: linear interpolation between the neighbours.
///
/// # Panics
/// If there are no samples. They must be sorted.
pub fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let position = fraction * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}

/// A typical ratio and the interval it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioInterval {
    /// The Hodges-Lehmann estimate: the median of the geometric means of all pairs of ratios.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How many ratios there were.
    pub n: usize,
    /// The probability that the interval holds the true ratio: at least 0.95 from 6 ratios on, less with fewer.
    pub confidence: f64,
}

impl RatioInterval {
    /// Half the width of the interval, as a fraction of the estimate.
    pub fn half_width(&self) -> f64 {
        if self.n < 2 { f64::INFINITY } else { (self.high - self.low) / 2.0 / self.median }
    }
}

/// The interval of Wilcoxon's signed-rank test (Hollander and Wolfe, "Nonparametric Statistical Methods", section 3.3)
/// on the logarithms of positive ratios of paired measurements. It assumes that a pair's noise is as likely to favour
/// one side as the other, and nothing about how much noise there is. `None` without a finite positive ratio.
pub fn ratio_interval(ratios: &[f64]) -> Option<RatioInterval> {
    // More pairs make the average table large and the interval hardly better.
    const MOST: usize = 400;
    let logs: Vec<f64> = ratios.iter().map(|r| r.ln()).filter(|log| log.is_finite()).take(MOST).collect();
    let n = logs.len();
    if n == 0 {
        return None;
    }
    let mut averages = Vec::with_capacity(n * (n + 1) / 2);
    for (i, a) in logs.iter().enumerate() {
        averages.extend(logs[..=i].iter().map(|b| (a + b) / 2.0));
    }
    averages.sort_by(f64::total_cmp);
    let (dropped, tail) = signed_rank_cut(n);
    Some(RatioInterval {
        median: quantile(&averages, 0.5).exp(),
        low: averages[dropped].exp(),
        high: averages[averages.len() - 1 - dropped].exp(),
        n,
        confidence: (1.0 - 2.0 * tail).max(0.0),
    })
}

/// The number of averages to drop at either end so that each tail has at most 2.5 %, and the probability of the tail.
fn signed_rank_cut(n: usize) -> (usize, f64) {
    // probability[w]: that the ranks with a positive sign sum to w.
    let mut probability = vec![0.0; n * (n + 1) / 2 + 1];
    probability[0] = 1.0;
    for rank in 1..=n {
        for w in (0..probability.len()).rev() {
            let with = if w >= rank { probability[w - rank] } else { 0.0 };
            probability[w] = 0.5 * (probability[w] + with);
        }
    }
    let (mut dropped, mut tail) = (0, probability[0]);
    while tail + probability[dropped + 1] <= 0.025 {
        dropped += 1;
        tail += probability[dropped];
    }
    (dropped, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_random::SplitMix64;

    #[test]
    fn summaries() {
        let stat = Stat::of([4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!((stat.median, stat.min, stat.max, stat.n), (3.0, 1.0, 5.0, 5));
        assert!((stat.spread - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(Stat::of([]).n, 0);
        assert_eq!(Stat::of([2.0, 4.0]).median, 3.0);
    }

    #[test]
    fn cuts_agree_with_published_tables() {
        // Critical values of the signed-rank statistic, two-sided 5 %: n = 6: 0, 10: 8, 20: 52.
        for (n, critical) in [(6, 0), (10, 8), (20, 52)] {
            assert_eq!(signed_rank_cut(n).0, critical, "n = {n}");
        }
    }

    #[test]
    fn few_ratios_promise_less() {
        assert_eq!(ratio_interval(&[]), None);
        assert_eq!(ratio_interval(&[f64::NAN, -1.0]), None);
        let one = ratio_interval(&[2.0]).expect("a ratio");
        assert_eq!(one.confidence, 0.0);
        assert!(one.half_width().is_infinite());
        let three = ratio_interval(&[2.0, 2.2, 1.9]).expect("ratios");
        assert!((three.low - 1.9).abs() < 1e-9 && (three.high - 2.2).abs() < 1e-9);
        assert!(three.confidence < 0.95);
    }

    #[test]
    fn the_interval_holds_the_truth_about_as_often_as_it_says() {
        let mut random = SplitMix64::new(42);
        let mut held = 0;
        for _ in 0..400 {
            let ratios: Vec<f64> = (0..12)
                .map(|_| {
                    let noise = (0..6).map(|_| random.unit() - 0.5).sum::<f64>();
                    1.5 * (0.1 * noise).exp()
                })
                .collect();
            let interval = ratio_interval(&ratios).expect("ratios");
            assert!(interval.low <= interval.median && interval.median <= interval.high);
            held += usize::from(interval.low <= 1.5 && 1.5 <= interval.high);
        }
        assert!((360..=398).contains(&held), "{held} of 400");
    }

    #[test]
    fn an_outlier_does_not_move_the_estimate() {
        let ratios = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 50.0, 1.01, 0.99];
        let interval = ratio_interval(&ratios).expect("ratios");
        assert!((interval.median - 1.0).abs() < 0.02, "{interval:?}");
    }
}

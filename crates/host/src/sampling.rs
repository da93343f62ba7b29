//! How often measurements are repeated.

use std::time::{Duration, Instant};

/// When to stop taking samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Time after which no new lap begins.
    pub(crate) share: Duration,
    /// Fewest laps.
    pub(crate) at_least: usize,
    /// Most laps.
    pub(crate) at_most: usize,
}

impl Patience {
    /// The given seconds, and at least two laps.
    pub(crate) fn seconds(share: f64) -> Patience {
        Patience { share: Duration::from_secs_f64(share), at_least: 2, at_most: 400 }
    }
}

/// Runs laps until every series is stable or patience ends. One lap takes one or more samples of each series, so that a
/// disturbance falls on all of them alike. Samples are rates: more is better.
pub(crate) fn laps(
    patience: Patience,
    n_series: usize,
    mut lap: impl FnMut(&mut [Vec<f64>]),
) -> Vec<Vec<f64>> {
    let mut series = vec![Vec::new(); n_series];
    let start = Instant::now();
    for n_done in 0..patience.at_most {
        let late = start.elapsed() >= patience.share;
        if n_done >= patience.at_least && (late || series.iter().all(|s| is_stable(s))) {
            break;
        }
        lap(&mut series);
    }
    series
}

/// Whether more samples would hardly change the best one: there are eight, the three best agree within 1 %, and the
/// best one is not among the last three.
pub(crate) fn is_stable(samples: &[f64]) -> bool {
    const ENOUGH: usize = 8;
    const AGREE: f64 = 0.99;
    if samples.len() < ENOUGH {
        return false;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let latest = samples[samples.len() - 3..].iter().copied().fold(0.0, f64::max);
    sorted[2] >= AGREE * sorted[0] && latest < sorted[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stability_needs_agreement_among_the_best() {
        assert!(!is_stable(&[10.0; 7]), "too few");
        assert!(is_stable(&[7.0, 10.0, 9.95, 9.93, 3.0, 9.0, 9.9, 8.0]));
        assert!(!is_stable(&[7.0, 10.0, 9.5, 9.4, 3.0, 9.0, 9.1, 8.0]), "the best stands alone");
        assert!(!is_stable(&[9.95, 9.95, 9.95, 9.95, 9.95, 9.9, 9.9, 10.0]), "it is still rising");
    }

    #[test]
    fn laps_end() {
        let patience = Patience { share: Duration::ZERO, at_least: 2, at_most: 50 };
        let mut n = 0;
        laps(patience, 1, |_| n += 1);
        assert_eq!(n, 2, "the least is done even without time");
        let patience = Patience { share: Duration::from_secs(3600), ..patience };
        let taken = laps(patience, 1, |series| series[0].push(1.0 + 1e-3 / (1.0 + series[0].len() as f64)));
        assert_eq!(taken[0].len(), 8, "stable samples end it");
        let mut x = 1.0;
        let rising = laps(patience, 1, |series| {
            x *= 1.1;
            series[0].push(x);
        });
        assert_eq!(rising[0].len(), 50, "unstable ones go on to the most");
    }
}

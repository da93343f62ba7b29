//! Numbers that say where they come from.

use oxeye_measure::quantile;
use serde::{Deserialize, Serialize};

/// How a number was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Taken with a clock or a hardware counter.
    Measured,
    /// Exact, from the program's text and sizes.
    Counted,
    /// From a model of the machine.
    Modelled,
    /// A common value, for want of better.
    Assumed,
}

/// A number with its provenance, and with its spread where it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// The number, in the unit of the field it stands in. The median of the samples where it was measured, unless that
    /// field says that it is the best of them.
    pub value: f64,
    /// Half the distance from the first to the third quartile, relative to the median; 0 where nothing was sampled.
    pub spread: f64,
    /// Samples taken; 0 where nothing was sampled.
    pub samples: u32,
    /// How the number was obtained.
    pub provenance: Provenance,
}

impl Quantity {
    /// The median of measured samples; `None` without a sample, or with one that is not a positive finite number.
    pub fn median_of(samples: &[f64]) -> Option<Quantity> {
        let sorted = sorted(samples)?;
        let value = quantile(&sorted, 0.5);
        let spread = (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / 2.0 / value;
        Some(Quantity { value, spread, samples: sorted.len() as u32, provenance: Provenance::Measured })
    }

    /// The largest of measured samples, with the spread of all of them. `None` as for [`Quantity::median_of`].
    pub fn best_of(samples: &[f64]) -> Option<Quantity> {
        let median = Quantity::median_of(samples)?;
        Some(Quantity { value: samples.iter().copied().fold(median.value, f64::max), ..median })
    }

    /// This quantity times a factor, with a provenance of its own if the factor is not exact.
    pub fn scaled(self, factor: f64, provenance: Provenance) -> Quantity {
        Quantity { value: self.value * factor, provenance, ..self }
    }
}

fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    let sound = |x: &f64| x.is_finite() && *x > 0.0;
    if samples.is_empty() || !samples.iter().all(sound) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_samples() {
        let samples = [4.0, 1.0, 2.0, 3.0, 5.0];
        let median = Quantity::median_of(&samples).expect("samples are sound");
        assert_eq!((median.value, median.samples), (3.0, 5));
        assert!((median.spread - 1.0 / 3.0).abs() < 1e-12);
        let best = Quantity::best_of(&samples).expect("samples are sound");
        assert_eq!((best.value, best.spread), (5.0, median.spread));
    }

    #[test]
    fn unsound_samples_give_no_figure() {
        for samples in [&[][..], &[1.0, 0.0], &[f64::NAN], &[f64::INFINITY], &[-1.0]] {
            assert_eq!(Quantity::median_of(samples), None, "{samples:?}");
            assert_eq!(Quantity::best_of(samples), None, "{samples:?}");
        }
    }
}

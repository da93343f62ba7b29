//! Quality of predicted responses.

use crate::example::Example;
use oxeye_dataset::nest::Family;
use oxeye_dataset::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The predictions of a model for one nest.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelGuess {
    /// log2 speedups, by template.
    pub log_speedups: Vec<f32>,
    /// Probabilities that templates apply.
    pub applicable: Vec<f32>,
    /// log10 of seconds.
    pub log_seconds: f32,
}

/// Quality of predictions on some nests. Figures without data are NaN, `null` in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of nests.
    pub n_nests: usize,
    /// Number of timed templates, without the original nests.
    pub n_responses: usize,
    /// Rank correlation of predicted and measured speedups, over all nests and templates.
    pub spearman: f64,
    /// The same within each nest, on average over nests with at least four timed templates.
    pub spearman_within: f64,
    /// Mean absolute error of the speedup relative to the measured one.
    pub mape: f64,
    /// Its median.
    pub median_ape: f64,
    /// Mean absolute error by template.
    pub mape_by_template: Vec<f64>,
    /// Accuracy of predicted applicability.
    pub applicable_accuracy: f64,
    /// Mean absolute error of log10 of seconds.
    pub log_seconds_error: f64,
    /// Share of the best speedup that the best of the three most promising templates reaches, in geometric mean.
    pub top3: f64,
}

impl Metrics {
    /// The metrics of predictions, one per example.
    pub fn of(examples: &[&Example], guesses: &[PanelGuess]) -> Self {
        let n_templates = examples.first().map_or(0, |e| e.log_speedups.len());
        let (mut found, mut wanted) = (Vec::new(), Vec::new());
        let mut errors: Vec<Vec<f64>> = vec![Vec::new(); n_templates];
        let (mut within, mut right, mut seconds, mut top3) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (example, guess) in examples.iter().zip(guesses) {
            let timed: Vec<(f64, f64)> = (1..n_templates)
                .filter_map(|t| {
                    let wanted = f64::from(example.log_speedups[t]?);
                    let found = f64::from(guess.log_speedups[t]);
                    errors[t].push(((found - wanted).exp2() - 1.0).abs());
                    Some((found, wanted))
                })
                .collect();
            let (f, w): (Vec<f64>, Vec<f64>) = timed.into_iter().unzip();
            if f.len() >= 4 {
                within.extend(Some(spearman(&f, &w)).filter(|r| r.is_finite()));
            }
            found.extend(f);
            wanted.extend(w);
            for (p, a) in guess.applicable.iter().zip(&example.applicable).skip(1) {
                right.extend(a.map(|a| f64::from(u8::from(a == (*p > 0.5)))));
            }
            seconds.extend(example.log_seconds.map(|s| f64::from((guess.log_seconds - s).abs())));
            let mut order: Vec<usize> =
                (1..n_templates).filter(|t| example.log_speedups[*t].is_some()).collect();
            order.sort_by(|a, b| guess.log_speedups[*b].total_cmp(&guess.log_speedups[*a]));
            order.truncate(3);
            top3.extend(reached(example, &order));
        }
        let all: Vec<f64> = errors.iter().flatten().copied().collect();
        Self {
            n_nests: examples.len(),
            n_responses: wanted.len(),
            spearman: spearman(&found, &wanted),
            spearman_within: mean(&within),
            mape: mean(&all),
            median_ape: oxeye_dataset::statistics::percentile(&all, 0.5),
            mape_by_template: errors.iter().map(|e| mean(e)).collect(),
            applicable_accuracy: mean(&right),
            log_seconds_error: mean(&seconds),
            top3: mean(&top3).exp2(),
        }
    }

    /// By family, families without nests left out.
    pub fn by_family(examples: &[&Example], guesses: &[PanelGuess]) -> BTreeMap<Family, Self> {
        let of = |family| {
            let pairs = examples.iter().zip(guesses).filter(|(e, _)| e.family == family);
            let (examples, guesses): (Vec<&Example>, Vec<PanelGuess>) =
                pairs.map(|(e, g)| (*e, g.clone())).unzip();
            (family, Self::of(&examples, &guesses))
        };
        Family::ALL.into_iter().map(of).filter(|(_, m)| m.n_nests > 0).collect()
    }
}

/// log2 of the share of the best speedup that the best of some templates reaches; changing nothing is a template too.
pub fn reached(example: &Example, templates: &[usize]) -> Option<f64> {
    let timed = |t: usize| example.log_speedups.get(t).copied().flatten().map(f64::from);
    let best = (0..example.log_speedups.len()).filter_map(timed).reduce(f64::max)?;
    Some(templates.iter().copied().filter_map(timed).fold(0.0, f64::max) - best)
}

/// How well a second measurement predicts the first: a bound for every model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Speedups that were measured twice.
    pub n: usize,
    /// Rank correlation.
    pub spearman: f64,
    /// Mean absolute error relative to the first measurement.
    pub mape: f64,
    /// Its median.
    pub median_ape: f64,
}

impl Floor {
    /// The floor of a dataset.
    pub fn of(records: &[Record]) -> Self {
        let pair = |record: &Record| {
            let first = record.log_speedups().get(record.retest.as_ref()?.template).copied().flatten()?;
            Some((first, first + record.retest_difference()?))
        };
        let (first, second): (Vec<f64>, Vec<f64>) = records.iter().filter_map(pair).unzip();
        let errors: Vec<f64> = first.iter().zip(&second).map(|(a, b)| ((b - a).exp2() - 1.0).abs()).collect();
        Self {
            n: first.len(),
            spearman: spearman(&first, &second),
            mape: mean(&errors),
            median_ape: oxeye_dataset::statistics::percentile(&errors, 0.5),
        }
    }
}

/// Spearman's rank correlation, ties at their mean rank; NaN for fewer than two values or without variation.
pub fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(&b) {
        ab += (x - mean_a) * (y - mean_b);
        aa += (x - mean_a).powi(2);
        bb += (y - mean_b).powi(2);
    }
    if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { f64::NAN }
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..].iter().take_while(|i| values[**i] == values[order[start]]).count();
        let rank = start as f64 + (same - 1) as f64 / 2.0;
        order[start..start + same].iter().for_each(|i| ranks[*i] = rank);
        start += same;
    }
    ranks
}

/// The mean; NaN without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;
    use oxeye_dataset::testing::record;

    #[test]
    fn rank_correlation() {
        assert!((spearman(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]) - 1.0).abs() < 1e-12);
        assert!((spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert!(spearman(&[1.0, 1.0], &[1.0, 2.0]).is_nan());
        // Worked out by hand: ranks 0.5 0.5 2 3 against 0 1 2 3.
        assert!(
            (spearman(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]) - 4.5 / (4.5f64 * 5.0).sqrt()).abs()
                < 1e-12
        );
    }

    #[test]
    fn the_floor_is_what_a_repetition_says() {
        let records: Vec<Record> = (0..9).map(record).collect();
        let floor = Floor::of(&records);
        let n = records.iter().filter(|r| r.retest_difference().is_some()).count();
        assert_eq!(floor.n, n);
        let same = |mut record: Record| {
            let first = record.panel[3].seconds.unwrap_or(1.0);
            let subject_seconds = record.panel[0].seconds.unwrap();
            record.retest =
                Some(oxeye_dataset::record::Retest { template: 3, subject_seconds, seconds: first });
            record
        };
        let records: Vec<Record> = records.into_iter().map(same).collect();
        assert!(Floor::of(&records).mape < 1e-9);
    }

    #[test]
    fn perfect_and_poor_guesses() {
        let examples: Vec<Example> = (0..5).map(example).collect();
        let examples: Vec<&Example> = examples.iter().collect();
        let guess = |e: &&Example, sign: f32| PanelGuess {
            log_speedups: e.log_speedups.iter().map(|s| sign * s.unwrap_or(0.0)).collect(),
            applicable: e.applicable.iter().map(|a| f32::from(u8::from(*a == Some(true)))).collect(),
            log_seconds: e.log_seconds.unwrap(),
        };
        let perfect = Metrics::of(&examples, &examples.iter().map(|e| guess(e, 1.0)).collect::<Vec<_>>());
        assert!((perfect.spearman - 1.0).abs() < 1e-9 && perfect.mape < 1e-6 && perfect.top3 > 1.0 - 1e-9);
        assert_eq!((perfect.applicable_accuracy, perfect.log_seconds_error), (1.0, 0.0));
        let poor = Metrics::of(&examples, &examples.iter().map(|e| guess(e, -1.0)).collect::<Vec<_>>());
        assert!(poor.spearman < 0.0 && poor.mape > perfect.mape && poor.top3 <= perfect.top3);
    }
}

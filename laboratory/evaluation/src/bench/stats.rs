//! The samples of one kernel, and ratios of them.

use std::time::Duration;

use oxeye_measure::quantile;

use super::build::{Compiler, Peer, Tuning};
use super::outcome::Outcome;
use crate::corpus::Group;

/// One of those that are timed against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contender {
    /// The user's file as it is.
    Peer(Peer),
    /// The file that Oxeye tuned for this compiler, built by it.
    Oxeye(Compiler),
}

impl Contender {
    /// Name in tables and files.
    pub(crate) fn label(self) -> String {
        match self {
            Contender::Peer(peer) => peer.word().to_owned(),
            Contender::Oxeye(compiler) => format!("oxeye-{}", compiler.word()),
        }
    }
}

/// One timed run.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// Round, from 1.
    pub(crate) round: usize,
    /// Its outcome.
    pub(crate) outcome: Outcome,
    /// Wall-clock time of the process.
    pub(crate) wall: Duration,
}

/// What one contender did on one kernel.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The contender.
    pub(crate) contender: Contender,
    /// Its runs, in order.
    pub(crate) samples: Vec<Sample>,
    /// Oxeye's work before the runs.
    pub(crate) tuning: Option<Tuning>,
    /// Why there is nothing to run: not built, or not tuned.
    pub(crate) failure: Option<String>,
}

impl Entry {
    /// The median kernel time, if every run gave the right result.
    pub(crate) fn median(&self) -> Option<f64> {
        if self.failure.is_some() || self.fault().is_some() {
            return None;
        }
        median(self.samples.iter().filter_map(seconds).collect())
    }

    /// The first run that was wrong, too long, or ended badly.
    pub(crate) fn fault(&self) -> Option<&Outcome> {
        self.samples.iter().map(|s| &s.outcome).find(|o| !matches!(o, Outcome::Good { .. }))
    }

    fn in_round(&self, round: usize) -> Option<f64> {
        self.samples.iter().find(|s| s.round == round).and_then(seconds)
    }
}

fn seconds(sample: &Sample) -> Option<f64> {
    match sample.outcome {
        Outcome::Good { kernel_seconds, .. } => Some(kernel_seconds),
        _ => None,
    }
}

/// Everything measured on one kernel.
#[derive(Debug, Clone)]
pub(crate) struct KernelResult {
    /// Its name.
    pub(crate) name: String,
    /// Its group.
    pub(crate) group: Group,
    /// Rounds run.
    pub(crate) rounds: usize,
    /// The contenders, in the order of the table.
    pub(crate) entries: Vec<Entry>,
    /// Why the kernel could not be measured at all.
    pub(crate) failure: Option<String>,
}

/// How many times faster one contender is than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    /// Ratio of the medians.
    pub(crate) ratio: f64,
    /// Smallest ratio within one round.
    pub(crate) low: f64,
    /// Largest ratio within one round.
    pub(crate) high: f64,
}

impl Ratio {
    /// Slower beyond noise: by 3 % or more in the median, and slower in every single round.
    pub(crate) fn is_slower(&self) -> bool {
        self.ratio < 0.97 && self.high < 1.0
    }
}

impl KernelResult {
    /// What `contender` did, if it took part.
    pub(crate) fn entry(&self, contender: Contender) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.contender == contender)
    }

    /// How many times faster `contender` is than `peer`, where both have a time.
    pub(crate) fn ratio(&self, contender: Contender, peer: Contender) -> Option<Ratio> {
        let (ours, theirs) = (self.entry(contender)?, self.entry(peer)?);
        let ratio = theirs.median()? / ours.median()?;
        let rounds =
            (1..=self.rounds).filter_map(|round| Some(theirs.in_round(round)? / ours.in_round(round)?));
        let (low, high) = rounds.fold((ratio, ratio), |(low, high), r| (low.min(r), high.max(r)));
        Some(Ratio { ratio, low, high })
    }

    /// The plain compiler with the smaller median, or the only one with a time.
    pub(crate) fn better_compiler(&self) -> Option<Contender> {
        [Peer::Gcc, Peer::Clang]
            .into_iter()
            .filter_map(|peer| Some((self.entry(Contender::Peer(peer))?.median()?, Contender::Peer(peer))))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, contender)| contender)
    }
}

/// The median; of an even number of values, the mean of the middle two.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| quantile(&values, 0.5))
}

/// The geometric mean of positive values.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    Some((logarithms / values.len() as f64).exp())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An entry with one good run per kernel time.
    pub(crate) fn entry(contender: Contender, times: &[f64]) -> Entry {
        let good = |(i, &kernel_seconds): (usize, &f64)| Sample {
            round: i + 1,
            outcome: Outcome::Good { kernel_seconds, error: 0.0 },
            wall: Duration::ZERO,
        };
        Entry {
            contender,
            samples: times.iter().enumerate().map(good).collect(),
            tuning: None,
            failure: None,
        }
    }

    const GCC: Contender = Contender::Peer(Peer::Gcc);
    const CLANG: Contender = Contender::Peer(Peer::Clang);
    const OURS: Contender = Contender::Oxeye(Compiler::Gcc);

    fn result(entries: Vec<Entry>) -> KernelResult {
        KernelResult { name: "k".into(), group: Group::Base, rounds: 3, entries, failure: None }
    }

    #[test]
    fn medians_and_means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
        assert!((geometric_mean(&[1.0, 4.0]).expect("two values") - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn the_better_compiler_is_the_one_with_the_right_result() {
        let mut wrong = entry(GCC, &[1.0, 1.0, 1.0]);
        wrong.samples[1].outcome = Outcome::Wrong(0.5);
        let result = result(vec![wrong, entry(CLANG, &[2.0, 2.0, 2.0]), entry(OURS, &[1.0, 0.5, 1.0])]);
        assert_eq!(result.better_compiler(), Some(CLANG));
        assert_eq!(result.ratio(OURS, GCC), None);
        assert_eq!(result.ratio(OURS, CLANG), Some(Ratio { ratio: 2.0, low: 2.0, high: 4.0 }));
    }

    #[test]
    fn slower_means_in_every_round() {
        let noisy = result(vec![entry(GCC, &[1.0, 1.0, 1.0]), entry(OURS, &[1.1, 1.1, 0.9])]);
        assert!(!noisy.ratio(OURS, GCC).expect("both ran").is_slower());
        let slower = result(vec![entry(GCC, &[1.0, 1.0, 1.0]), entry(OURS, &[1.1, 1.1, 1.1])]);
        assert!(slower.ratio(OURS, GCC).expect("both ran").is_slower());
    }
}

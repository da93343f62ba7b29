//! The sizes that a nest is called with: which calls stand for the others, and what a gain here and a loss there come to.

use oxeye_measure::{Sample, SizeClass};
use serde::Serialize;

/// Classes of calls that are timed, at most, and the share of the nest's time from which a further one is.
const MOST_TIMED: usize = 3;
const LEAST_SHARE: f64 = 0.05;

/// Calls that have about equally much to do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallClass {
    /// They have between 2^log2 and twice that many iterations, up to constant factors.
    pub log2: u32,
    /// How many they are.
    pub invocations: u64,
    /// Share of the nest's time.
    pub share: f64,
    /// Whether one of them is timed for all.
    pub timed: bool,
}

/// Brings the samples that are timed to the front: one for each of the classes that take the time, the heaviest first, each
/// the nearest to the mean of its class. The classes come in the same order, those that are not timed behind.
pub(crate) fn arrange(samples: &mut Vec<Sample>, classes: &[SizeClass]) -> Vec<CallClass> {
    let (seconds, invocations) =
        classes.iter().fold((0.0, 0), |(seconds, n), class| (seconds + class.seconds, n + class.invocations));
    let distance = |sample: &Sample, mean: f64| {
        sample.nanoseconds.map_or(f64::INFINITY, |ns| (1e-9 * ns as f64 - mean).abs())
    };
    let by_distance = |samples: &mut [Sample], mean: f64| {
        samples.sort_by(|a, b| {
            distance(a, mean).total_cmp(&distance(b, mean)).then(a.invocation.cmp(&b.invocation))
        });
    };
    by_distance(samples, seconds / invocations.max(1) as f64);
    let mut classes: Vec<(SizeClass, bool)> = classes
        .iter()
        .map(|class| (*class, samples.iter().any(|sample| sample.size_class == Some(class.log2))))
        .collect();
    classes.sort_by(|(a, has_a), (b, has_b)| {
        has_b.cmp(has_a).then(b.seconds.total_cmp(&a.seconds)).then(b.log2.cmp(&a.log2))
    });
    let mut found: Vec<CallClass> = Vec::new();
    for (position, (class, has_sample)) in classes.into_iter().enumerate() {
        let share = if seconds > 0.0 { class.seconds / seconds } else { 0.0 };
        let timed = has_sample && position < MOST_TIMED && (position == 0 || share >= LEAST_SHARE);
        if timed {
            let mean = class.seconds / class.invocations.max(1) as f64;
            let own = |sample: &Sample| sample.size_class == Some(class.log2);
            let mut of_class: Vec<Sample> = samples.iter().filter(|s| own(s)).cloned().collect();
            by_distance(&mut of_class, mean);
            if let Some(at) = samples.iter().position(|s| s.path == of_class[0].path) {
                let chosen = samples.remove(at);
                samples.insert(position, chosen);
            }
        }
        found.push(CallClass { log2: class.log2, invocations: class.invocations, share, timed });
    }
    found
}

/// A gain on calls of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// Share of the time that the original needs for all.
    pub(crate) weight: f64,
    /// How large the nest is.
    pub(crate) size: f64,
    /// The original's time by the candidate's.
    pub(crate) speedup: f64,
}

/// The speedup over all parts, where those that are smaller than `least` stay as they are.
pub(crate) fn speedup_from(parts: &[Part], least: Option<f64>) -> f64 {
    let is_new = |part: &Part| least.is_none_or(|least| part.size >= least);
    let weight: f64 = parts.iter().map(|part| part.weight).sum();
    let after: f64 =
        parts.iter().map(|part| if is_new(part) { part.weight / part.speedup } else { part.weight }).sum();
    if after > 0.0 { weight / after } else { 1.0 }
}

/// The size from which a candidate is worth most over all parts; `None` if that is any size.
pub(crate) fn best_least(parts: &[Part]) -> Option<f64> {
    let mut sizes: Vec<f64> = parts.iter().map(|part| part.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let mut best = (speedup_from(parts, None), None);
    for least in sizes.into_iter().skip(1) {
        let speedup = speedup_from(parts, Some(least));
        if speedup > best.0 {
            best = (speedup, Some(least));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn sample(invocation: u64, log2: u32, micros: u64) -> Sample {
        Sample {
            path: PathBuf::from(format!("site0.{invocation}.bin")),
            site: 0,
            invocation,
            nanoseconds: Some(1000 * micros),
            least_nanoseconds: None,
            size_class: Some(log2),
            args: Vec::new(),
            overlaps: Vec::new(),
            results: None,
        }
    }

    fn class(log2: u32, invocations: u64, micros: f64) -> SizeClass {
        SizeClass { log2, invocations, seconds: 1e-6 * micros * invocations as f64 }
    }

    fn arranged(mut samples: Vec<Sample>, classes: &[SizeClass]) -> (Vec<u64>, Vec<(u32, bool)>) {
        let found = arrange(&mut samples, classes);
        let order = samples.iter().map(|s| s.invocation).collect();
        (order, found.iter().map(|c| (c.log2, c.timed)).collect())
    }

    #[test]
    fn the_class_that_takes_the_time_is_timed_however_few_its_calls() {
        // A hundred short calls for each long one, so that the mean call is like neither.
        let classes = [class(10, 1000, 1.0), class(20, 10, 1000.0)];
        let samples = vec![sample(0, 10, 12), sample(7, 20, 1010), sample(64, 10, 1)];
        assert_eq!(arranged(samples, &classes), (vec![7, 64, 0], vec![(20, true), (10, true)]));
    }

    #[test]
    fn up_to_three_classes_are_timed_and_none_of_little_time() {
        let classes = [
            class(5, 1, 1.0),
            class(10, 1, 300.0),
            class(11, 1, 100.0),
            class(12, 1, 200.0),
            class(13, 1, 150.0),
        ];
        let samples: Vec<Sample> = classes.iter().map(|c| sample(c.log2.into(), c.log2, 100)).collect();
        let (order, found) = arranged(samples, &classes);
        assert_eq!(order[..3], [10, 12, 13]);
        assert_eq!(found, [(10, true), (12, true), (13, true), (11, false), (5, false)]);
        let classes = [class(5, 1, 4.0), class(6, 1, 96.0)];
        let samples = vec![sample(0, 5, 4), sample(1, 6, 96)];
        assert_eq!(arranged(samples, &classes), (vec![1, 0], vec![(6, true), (5, false)]));
    }

    #[test]
    fn what_has_no_sample_stands_behind() {
        let classes = [class(5, 1, 400.0), class(6, 1, 96.0)];
        assert_eq!(arranged(vec![sample(1, 6, 96)], &classes), (vec![1], vec![(6, true), (5, false)]));
        assert_eq!(arranged(vec![sample(3, 0, 1), sample(2, 0, 1)], &[]), (vec![2, 3], vec![]));
    }

    #[test]
    fn a_mix_gains_as_its_times_do() {
        let part = |weight, size, speedup| Part { weight, size, speedup };
        let parts = [part(0.5, 1e6, 2.0), part(0.5, 1e3, 0.5)];
        assert_eq!(speedup_from(&parts, None), 0.8);
        assert_eq!(best_least(&parts), Some(1e6));
        assert_eq!(speedup_from(&parts, Some(1e6)), 1.0 / 0.75);
        // It wins everywhere, if not equally much; or the sizes cannot be told apart.
        assert_eq!(best_least(&[part(0.5, 1e6, 2.0), part(0.5, 1e3, 1.5)]), None);
        assert_eq!(best_least(&[part(0.5, 1e6, 2.0), part(0.5, 1e6, 0.5)]), None);
        // A loss on large ones has no guard.
        assert_eq!(best_least(&[part(0.9, 1e6, 0.9), part(0.1, 1e3, 2.0)]), None);
    }
}

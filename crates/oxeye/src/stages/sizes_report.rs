//! What is reported of the sizes that a nest is called with, and of those that new code is for.

use super::emit::known_names;
use crate::mix::CallClass;
use crate::schedule::{SizeTiming, Trial};
use oxeye_binding::Binding;
use oxeye_codegen::{extent_in_words, size_in_words};
use oxeye_ir::{Nest, Program};
use serde::Serialize;
use std::collections::BTreeSet;

/// Calls of a nest that have about equally much to do.
#[derive(Clone, Debug, Serialize)]
pub struct SizeReport {
    /// They have at least so many iterations, up to constant factors, and fewer than twice as many.
    pub iterations: f64,
    /// How many they are.
    pub invocations: u64,
    /// Share of the nest's time.
    pub share: f64,
    /// Median time of one of them as the user's compiler builds it, if the winner was compared with it there.
    pub baseline_ms: Option<f64>,
    /// The same of the winner.
    pub optimized_ms: Option<f64>,
    /// How many times faster the winner is there; below 1 where the original runs in its place.
    pub speedup: Option<f64>,
}

/// From which sizes on new code runs.
#[derive(Clone, Debug, Serialize)]
pub struct GuardReport {
    /// How large the nest is, in the user's variables.
    pub size: String,
    /// Where that is less, the original code runs.
    pub least: Option<f64>,
    /// Where that is less, one thread runs the new code.
    pub threads: Option<f64>,
    /// Where one of these, in the user's variables, is less, the original code runs.
    pub lengths: Vec<(String, u32)>,
    /// Where one of these of the user's variables has another value, the original code runs.
    pub known: Vec<(String, i64)>,
}

/// The classes of calls with what was measured of the winner.
pub(crate) fn sizes(classes: &[CallClass], chosen: Option<&Trial>) -> Vec<SizeReport> {
    let timings: &[SizeTiming] = chosen.map_or(&[], |trial| &trial.sizes);
    let report = |(k, class): (usize, &CallClass)| {
        let timing = timings.get(k).filter(|_| class.timed);
        SizeReport {
            iterations: f64::from(class.log2).exp2(),
            invocations: class.invocations,
            share: class.share,
            baseline_ms: timing.map(|t| 1e3 * t.baseline_seconds),
            optimized_ms: timing.map(|t| 1e3 * t.seconds),
            speedup: timing.map(|t| t.speedup),
        }
    };
    classes.iter().enumerate().map(report).collect()
}

/// For which sizes the winner is, if not for all.
pub(crate) fn guard(
    (program, binding): (&Program, &Binding),
    nest: &Nest,
    chosen: Option<&Trial>,
) -> Option<GuardReport> {
    let guard = chosen?.guard;
    let known = chosen.map(|trial| known_names(trial, program)).unwrap_or_default();
    let lengths = || {
        let each = guard.lengths();
        let mut all: Vec<(String, u32)> = each
            .filter_map(|(at, least)| Some((extent_in_words(program, binding, nest, at)?, least)))
            .collect();
        // Several loops may be as long.
        let mut seen = BTreeSet::new();
        all.retain(|length| seen.insert(length.clone()));
        all
    };
    (guard.has_least() || guard.threads.is_some() || !known.is_empty()).then(|| GuardReport {
        size: size_in_words(program, binding, nest).unwrap_or_default(),
        least: guard.least,
        threads: guard.threads,
        lengths: lengths(),
        known: known.into_iter().collect(),
    })
}

impl GuardReport {
    /// For people: `new code runs where n * n >= 1e6, the original elsewhere`.
    pub fn in_words(&self) -> String {
        let all = self.condition();
        match self.condition_of_threads() {
            Some(threads) if all.is_empty() => format!("several threads run it where {threads}"),
            Some(threads) => format!("new code runs where {all}, with several threads where {threads}"),
            None if all.is_empty() => String::new(),
            None => format!("new code runs where {all}, the original elsewhere"),
        }
    }

    /// Where the new code runs: `n * n >= 1e6 and n >= 9`; empty if it always does.
    pub fn condition(&self) -> String {
        let lengths = self.lengths.iter().map(|(extent, least)| format!("{extent} >= {least}"));
        let known = self.known.iter().map(|(name, value)| format!("{name} = {value}"));
        let least = self.least.map(|least| self.from(least));
        known.chain(least).chain(lengths).collect::<Vec<_>>().join(" and ")
    }

    /// Where several threads run it, if one does elsewhere.
    pub fn condition_of_threads(&self) -> Option<String> {
        self.threads.map(|least| self.from(least))
    }

    fn from(&self, least: f64) -> String {
        format!("{} >= {}", self.size, oxeye_codegen::readable(least))
    }
}

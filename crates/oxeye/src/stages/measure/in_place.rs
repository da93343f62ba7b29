//! What the compiler knows of a nest where it stands, and would not know in a replay.
//!
//! A function with one call is compiled in its place: sizes are numbers there, and arrays from `malloc` are known to be apart.
//! The original that is replayed without that is slower than the program's own, and everything would seem to gain.

use super::bench::{Bench, LONG_ORIGINAL, ReplaySite};
use crate::machine::element_type;
use crate::nest::{Calls, KnownInPlace};
use crate::request::{Error, Setback};
use oxeye_codegen::ArgumentOf;
use oxeye_measure::{Sample, n_runs};
use std::path::{Path, PathBuf};

/// How much faster the original must be in its place than replayed, and replayed with what may be known than without, before
/// that counts as known.
const FASTER_IN_PLACE: f64 = 1.25;
const FASTER_KNOWING: f64 = 1.15;
/// What makes replays faster than this many times in its place is not known there: a busy machine has slowed the replay down.
const FASTER_THAN_IN_PLACE: f64 = 2.0;
/// A part of what may be known is all that is known if the original is at most this much slower with it than with all.
const AS_FAST: f64 = 1.05;

impl Bench<'_> {
    /// What makes replays of the original faster, where it is so much faster in its place that the compiler must know that
    /// there; nothing as a rule.
    ///
    /// # Errors
    /// If the run is interrupted, or a process cannot be started.
    pub(crate) fn known_in_place(&self) -> Result<KnownInPlace, Error> {
        let (site, session) = (self.site, self.site.session);
        let Sample { nanoseconds, least_nanoseconds, .. } = self.sample();
        let in_place = least_nanoseconds.or(*nanoseconds).map_or(f64::INFINITY, |ns| 1e-9 * ns as f64);
        let all = KnownInPlace { constants: same_in_all(site.calls), are_apart: may_be_apart(site) };
        if all.is_nothing() || in_place > LONG_ORIGINAL || !site.known.is_nothing() {
            return Ok(KnownInPlace::default());
        }
        let limited = self.replay.with_call_limit(2.0 * FASTER_IN_PLACE * in_place + 0.1);
        let run = |library: &Path| match session.judge(limited.time_few(
            library,
            self.sample(),
            n_runs(in_place),
        )) {
            Ok(times) => Ok(times.into_iter().min().map_or(f64::INFINITY, |ns| 1e-9 * ns as f64)),
            Err(Setback::Item(_)) => Ok(f64::INFINITY),
            Err(Setback::Run(error)) => Err(error),
        };
        let replayed = if self.baseline_samples > 0 { self.baseline_seconds } else { run(&self.baseline)? };
        if replayed < FASTER_IN_PLACE * in_place {
            return Ok(KnownInPlace::default());
        }
        let knowing = |known: &KnownInPlace| match library_knowing(site, known)? {
            Some(library) => run(&library),
            None => Ok(f64::INFINITY),
        };
        let may_be_known =
            |seconds: f64| seconds * FASTER_KNOWING < replayed && in_place < FASTER_THAN_IN_PLACE * seconds;
        let with_all = knowing(&all)?;
        if with_all * FASTER_KNOWING >= replayed {
            return Ok(KnownInPlace::default());
        }
        let least = if may_be_known(with_all) { AS_FAST * with_all } else { f64::INFINITY };
        if all.are_apart && !all.constants.is_empty() {
            // Sizes that are known leave no other sizes to be tried.
            let apart = KnownInPlace { are_apart: true, ..KnownInPlace::default() };
            for part in [apart, KnownInPlace { are_apart: false, ..all.clone() }] {
                let seconds = knowing(&part)?;
                if seconds <= least && may_be_known(seconds) {
                    return Ok(part);
                }
            }
        }
        Ok(if may_be_known(with_all) { all } else { KnownInPlace::default() })
    }
}

/// The original, built with what is known; `None` if it does not build.
fn library_knowing(site: ReplaySite<'_>, known: &KnownInPlace) -> Result<Option<PathBuf>, Error> {
    let site = ReplaySite { known, ..site };
    let job = site.library("knowing", &site.place.text(site.unit), false)?;
    match site.built(site.session.workshop.replay_compiler().compile(&job)) {
        Ok(library) => Ok(Some(library)),
        Err(setback) => setback.item().map(|_| None),
    }
}

/// Whether arrays of the nest might overlap for all that its function says, and in no call did.
fn may_be_apart(site: ReplaySite<'_>) -> bool {
    let (_, program, nest) = site.place.of(site.unit);
    let arrays = nest.arrays();
    let mut pairs = program.may_alias.iter();
    pairs.any(|(a, b)| arrays.contains(a) && arrays.contains(b))
        && site.calls.samples.iter().all(|sample| sample.overlaps.is_empty())
}

/// The integers among the arguments that have one value in all samples.
pub(super) fn same_in_all(calls: &Calls) -> Vec<(usize, i64)> {
    let value = |sample: &Sample, position: usize| {
        sample.read_integer(position, element_type(calls.arguments[position].element)).ok()
    };
    let is_integer = |argument: &oxeye_codegen::Argument| {
        matches!(argument.what, ArgumentOf::Symbol(_)) && !argument.element.is_float()
    };
    let positions = (0..calls.arguments.len()).filter(|k| is_integer(&calls.arguments[*k]));
    let same = positions.filter_map(|k| {
        let first = value(calls.samples.first()?, k)?;
        calls.samples.iter().all(|sample| value(sample, k) == Some(first)).then_some((k, first))
    });
    same.collect()
}

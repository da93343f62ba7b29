//! Measurements of candidates: compiled and run, or known from before.

use super::explore::{Limits, Measurements};
use super::trial::{Measurement, Outcome, Proposal};
use crate::stages::measure::{Bench, COMPILE_SECONDS, Patience, Screened, verdict_of};
use crate::{Captured, Error, Tuner, Verdict};
use oxeye_measure::{MeasureError, Rejection, compile_all};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Compiles and runs candidates of one nest.
pub(crate) struct Workbench<'a> {
    pub(crate) tuner: &'a Tuner<'a>,
    pub(crate) captured: &'a Captured,
    pub(crate) nest_idx: usize,
    pub(crate) bench: &'a Bench<'a>,
    /// What was built and gave the right outputs, by digest of the text.
    pub(crate) libraries: BTreeMap<String, PathBuf>,
}

impl Workbench<'_> {
    /// Builds candidates on all cores. Nothing is run meanwhile.
    fn build(&self, batch: &[Proposal], left: Duration) -> Result<Vec<Result<PathBuf, MeasureError>>, Error> {
        let job = |proposal: &Proposal| {
            let name = format!("search{}", proposal.digest);
            let job =
                self.tuner.library(self.captured, self.nest_idx, &name, &proposal.text, proposal.openmp)?;
            Ok(oxeye_measure::CompileJob { seconds: COMPILE_SECONDS.min(left.as_secs_f64()), ..job })
        };
        let jobs = batch.iter().map(job).collect::<Result<Vec<_>, Error>>()?;
        let libraries = compile_all(&self.tuner.replay_compiler(), &jobs, self.tuner.host.cores as usize);
        self.tuner.check_cancelled()?;
        Ok(libraries)
    }

    /// Builds one candidate and runs it once more, so that nothing is taken from a log unseen; `None` if it is rejected.
    pub(crate) fn again(&mut self, proposal: &Proposal) -> Result<Option<Screened>, Error> {
        let built = self.build(std::slice::from_ref(proposal), Duration::MAX)?.pop();
        let Some(library) = built else { return Ok(None) };
        let patience = Patience::for_best(self.bench.baseline_seconds);
        Ok(self.tuner.try_candidate(self.bench, library, patience)?.ok())
    }
}

impl Measurements for Workbench<'_> {
    fn measure(
        &mut self,
        batch: &[Proposal],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let libraries = self.build(batch, limits.time.left())?;
        let mut best = limits.best_seconds;
        for (k, library) in libraries.into_iter().enumerate() {
            self.tuner.check_cancelled()?;
            let left = limits.time.left().as_secs_f64();
            // What was stopped for want of time was not measured.
            if left == 0.0 {
                return Ok(());
            }
            let patience = Patience::for_best(best);
            let cut = patience.call_seconds > left;
            let patience = Patience { call_seconds: patience.call_seconds.min(left), left, ..patience };
            let measurement = match self.tuner.try_candidate(self.bench, library, patience)? {
                Ok(Screened { library, seconds, samples, max_rel_error }) => {
                    if !limits.alike {
                        best = best.min(seconds);
                    }
                    self.libraries.insert(batch[k].digest.clone(), library);
                    Measurement {
                        outcome: Outcome::Right,
                        seconds: Some(seconds),
                        samples,
                        max_rel_error: Some(max_rel_error),
                        why: None,
                    }
                }
                Err(Rejection::TimedOut { .. }) if cut => return Ok(()),
                Err(why) => {
                    let nest = &self.captured.nests[self.nest_idx];
                    Measurement::without(outcome_of(&why), self.tuner.words(&why, nest))
                }
            };
            found(k, measurement)?;
        }
        Ok(())
    }
}

fn outcome_of(why: &Rejection) -> Outcome {
    match verdict_of(why) {
        Verdict::TooSlow => Outcome::TooSlow,
        Verdict::WrongResult => Outcome::WrongResult,
        Verdict::DoesNotCompile => Outcome::DoesNotCompile,
        _ => Outcome::Crashed,
    }
}

/// Measures only what is not known from before.
pub(crate) struct Remembering<'a> {
    /// By digest of the text.
    pub(crate) known: BTreeMap<String, Measurement>,
    pub(crate) source: &'a mut dyn Measurements,
}

impl Measurements for Remembering<'_> {
    fn measure(
        &mut self,
        batch: &[Proposal],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut best_seconds = limits.best_seconds;
        let (mut positions, mut unknown) = (Vec::new(), Vec::new());
        for (k, proposal) in batch.iter().enumerate() {
            match self.known.get(&proposal.digest) {
                Some(measurement) => {
                    if !limits.alike {
                        best_seconds = measurement.seconds.map_or(best_seconds, |s| best_seconds.min(s));
                    }
                    found(k, measurement.clone())?;
                }
                None => {
                    positions.push(k);
                    unknown.push(proposal.clone());
                }
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let limits = Limits { best_seconds, ..limits };
        self.source.measure(&unknown, limits, &mut |k, measurement| found(positions[k], measurement))
    }
}

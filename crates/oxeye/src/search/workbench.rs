//! Measurements of candidates: compiled and run, or known from before.

use super::explore::{Limits, Measurements};
use super::record::{Candidate, Measurement, Outcome};
use crate::request::Error;
use crate::schedule::{Screening, Verdict};
use crate::stages::measure::{Bench, Screened, verdict_of};
use oxeye_measure::{CompileJob, MeasureError, Patience, Rejection, compile_all};
use oxeye_nodes::Nodes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Compiles and runs candidates of one nest.
pub(crate) struct Workbench<'a> {
    pub(crate) bench: &'a Bench<'a>,
    /// What was built and gave the right outputs, by digest of the text.
    pub(crate) libraries: BTreeMap<String, PathBuf>,
}

impl Workbench<'_> {
    /// How candidates are built within this time.
    fn jobs(&self, batch: &[Candidate], left: Duration) -> Result<Vec<CompileJob>, Error> {
        let job = |candidate: &Candidate| {
            let name = format!("search{}", candidate.digest);
            let proved = &candidate.proved;
            let job = self.bench.site.library_with(&name, &proved.text, proved.before(), proved.openmp)?;
            Ok(CompileJob { seconds: job.seconds.min(left.as_secs_f64()), ..job })
        };
        batch.iter().map(job).collect()
    }

    /// Lets nodes measure candidates. Returns those that nothing is known of.
    fn measure_elsewhere(
        &self,
        batch: &[Candidate],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<BTreeSet<usize>, Error> {
        let Some(nodes) = self.bench.nodes() else { return Ok((0..batch.len()).collect()) };
        let jobs = self.jobs(batch, limits.time.left())?;
        let patience = Patience::for_best(limits.best_seconds);
        let progress = self.bench.site.session.progress;
        let goes_on = || limits.time.left() > Duration::ZERO && !progress.enough();
        self.bench.run_elsewhere(nodes, (&jobs, patience), &goes_on, &mut |k, told| {
            let rejected =
                |why: Rejection| Measurement::without(outcome_of(&why), self.bench.site.words(&why));
            found(k, told.map_or_else(rejected, Measurement::from))
        })
    }

    /// Builds candidates on all cores. Nothing is run meanwhile.
    fn build(
        &self,
        batch: &[Candidate],
        left: Duration,
    ) -> Result<Vec<Result<PathBuf, MeasureError>>, Error> {
        let site = self.bench.site;
        let jobs = self.jobs(batch, left)?;
        let (compiler, cores) = (site.session.workshop.replay_compiler(), site.session.host.cores as usize);
        let libraries = compile_all(&compiler, &jobs, cores);
        site.session.check_cancelled()?;
        Ok(libraries)
    }

    /// Builds one candidate and runs it once more, so that nothing is taken from a log unseen; `None` if it is rejected.
    pub(crate) fn again(&mut self, candidate: &Candidate) -> Result<Option<Screened>, Error> {
        let built = self.build(std::slice::from_ref(candidate), Duration::MAX)?.pop();
        let Some(library) = built else { return Ok(None) };
        let patience = Patience::for_best(self.bench.baseline_seconds);
        match self.bench.run_candidate(library, patience) {
            Ok(screened) => Ok(Some(screened)),
            Err(setback) => setback.item().map(|_| None),
        }
    }
}

impl Measurements for Workbench<'_> {
    fn measure(
        &mut self,
        batch: &[Candidate],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let left = self.measure_elsewhere(batch, limits, found)?;
        let here: Vec<usize> = left.into_iter().filter(|_| limits.time.left() > Duration::ZERO).collect();
        let batch: Vec<Candidate> = here.iter().map(|k| batch[*k].clone()).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let libraries = self.build(&batch, limits.time.left())?;
        let mut best = limits.best_seconds;
        for (k, library) in libraries.into_iter().enumerate() {
            self.bench.site.session.check_cancelled()?;
            let left = limits.time.left().as_secs_f64();
            // What was stopped for want of time was not measured.
            if left == 0.0 {
                return Ok(());
            }
            let patience = Patience::for_best(best);
            let cut = patience.call_seconds > left;
            let patience = Patience { call_seconds: patience.call_seconds.min(left), left, ..patience };
            let measurement = match self.bench.run_candidate(library, patience) {
                Ok(Screened { library, screening }) => {
                    if !limits.alike {
                        best = best.min(screening.score());
                    }
                    self.libraries.insert(batch[k].digest.clone(), library);
                    screening.into()
                }
                Err(setback) => match setback.item()? {
                    Rejection::TimedOut { .. } if cut => return Ok(()),
                    why => Measurement::without(outcome_of(&why), self.bench.site.words(&why)),
                },
            };
            found(here[k], measurement)?;
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.bench.site.session.nodes().map_or(1, Nodes::n_wanted)
    }
}

impl From<Screening> for Measurement {
    fn from(screening: Screening) -> Self {
        Self {
            outcome: Outcome::Right,
            seconds: Some(screening.score()),
            samples: screening.samples,
            max_rel_error: screening.max_rel_error,
            why: None,
        }
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
        batch: &[Candidate],
        limits: Limits<'_>,
        found: &mut dyn FnMut(usize, Measurement) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut best_seconds = limits.best_seconds;
        let (mut positions, mut unknown) = (Vec::new(), Vec::new());
        for (k, candidate) in batch.iter().enumerate() {
            match self.known.get(&candidate.digest) {
                Some(measurement) => {
                    if !limits.alike {
                        best_seconds = measurement.seconds.map_or(best_seconds, |s| best_seconds.min(s));
                    }
                    found(k, measurement.clone())?;
                }
                None => {
                    positions.push(k);
                    unknown.push(candidate.clone());
                }
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let limits = Limits { best_seconds, ..limits };
        self.source.measure(&unknown, limits, &mut |k, measurement| found(positions[k], measurement))
    }

    fn width(&self) -> usize {
        self.source.width()
    }
}

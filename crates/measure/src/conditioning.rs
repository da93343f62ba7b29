//! Holds candidates of ill-conditioned nests to what the original does to itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::argument::Argument;
use crate::compare::{Comparison, Tolerance, verify_within};
use crate::error::{MeasureError, Rejection};
use crate::outputs::Outputs;
use crate::perturb::Perturbation;
use crate::replay::Replay;
use crate::sample::Sample;
use crate::swings::{MOST_RUNS, Swings};

/// Runs of the original after which candidates are looked at again.
const STEP: usize = 4;
/// Samples of more bytes are not run with other inputs.
const MOST_BYTES: u64 = 1 << 30;

/// Judges candidates whose results are outside the tolerance, where operations may be reordered.
///
/// Such a candidate is right if, first, every result is as near to the original's as those are to each other ([`Swings`])
/// when the original is built with and without reordering, and run on inputs that differ in their last bits. Where results
/// are mostly noise that says little, so that, second, it is compared with the original on other inputs: the same, each
/// multiplied by a random number, and random ones. What depends on roundings for the user's data seldom does for those, and
/// whatever computes something else shows it there.
#[derive(Debug)]
pub struct Conditioning {
    replay: Replay,
    /// The original, then other builds of it.
    builds: Vec<PathBuf>,
    args: Vec<Argument>,
    tolerance: Tolerance,
    folder: PathBuf,
    /// Seconds that runs of the original may take, and have taken.
    seconds: f64,
    used: f64,
    /// By the file of the sample.
    spreads: BTreeMap<PathBuf, Spread>,
    varied: BTreeMap<PathBuf, Vec<Varied>>,
}

/// What is known of the original on one sample.
#[derive(Debug)]
struct Spread {
    number: usize,
    swings: Swings,
    /// Runs that were tried.
    n_tried: usize,
}

/// Other inputs, and what the original makes of them.
#[derive(Debug)]
struct Varied {
    sample: Sample,
    reference: Outputs,
}

impl Conditioning {
    /// `builds` are libraries of the original: as the user's compiler makes it, and others, with and without reordering.
    /// Runs of them are made in so many seconds, but for a few that are needed in any case. `folder` is for temporary files
    /// of this value alone.
    pub fn new(
        replay: Replay,
        builds: Vec<PathBuf>,
        args: Vec<Argument>,
        tolerance: Tolerance,
        folder: PathBuf,
        seconds: f64,
    ) -> Conditioning {
        let (spreads, varied) = (BTreeMap::new(), BTreeMap::new());
        Conditioning { replay, builds, args, tolerance, folder, seconds, used: 0.0, spreads, varied }
    }

    /// How often the original was run on a sample and others like it.
    pub fn n_runs(&self, sample: &Sample) -> usize {
        self.spreads.get(&sample.path).map_or(0, |spread| spread.swings.n_runs())
    }

    /// Compares what a candidate made of a sample with what the original made of it.
    ///
    /// # Errors
    /// [`MeasureError::Rejected`] for a candidate that is wrong, or cannot do what the original can on other inputs.
    pub fn judge(
        &mut self,
        sample: &Sample,
        reference: &Outputs,
        library: &Path,
        outputs: &Outputs,
    ) -> Result<Comparison, MeasureError> {
        let comparison = self.within(sample, reference, outputs, false)?;
        if comparison.mismatch.is_some() || comparison.doubt.is_none() {
            return found(library, comparison);
        }
        let known = self.varied.remove(&sample.path);
        let varied = match known {
            Some(varied) => varied,
            None => self.vary(sample, reference)?,
        };
        let verdict = varied.iter().try_for_each(|varied| {
            let seconds = 5.0 + 10e-9 * varied.reference.first_call_ns as f64;
            let outputs = self.replay.with_call_limit(seconds).outputs(library, &varied.sample)?;
            found(library, self.within(&varied.sample, &varied.reference, &outputs, true)?).map(drop)
        });
        self.varied.insert(sample.path.clone(), varied);
        verdict.map(|()| comparison)
    }

    /// Compares results, running the original as often as it takes to know that they are right, or [`MOST_RUNS`] times.
    fn within(
        &mut self,
        sample: &Sample,
        reference: &Outputs,
        outputs: &Outputs,
        anything: bool,
    ) -> Result<Comparison, MeasureError> {
        let compared = |swings| verify_within(reference, outputs, &self.args, self.tolerance, swings);
        let known = self.spreads.get(&sample.path).map(|spread| &spread.swings);
        let mut comparison = compared(known)?;
        while comparison.mismatch.is_some() && self.run_original(sample, reference, anything)? {
            let known = self.spreads.get(&sample.path).map(|spread| &spread.swings);
            comparison = verify_within(reference, outputs, &self.args, self.tolerance, known)?;
        }
        Ok(comparison)
    }

    /// Runs the original a few times more; whether that was done.
    fn run_original(
        &mut self,
        sample: &Sample,
        reference: &Outputs,
        anything: bool,
    ) -> Result<bool, MeasureError> {
        let number = self.spreads.len();
        let begin = Instant::now();
        if !self.spreads.contains_key(&sample.path) {
            let swings = Swings::new(&self.folder.join(format!("swings{number}.bin")))?;
            self.spreads.insert(sample.path.clone(), Spread { number, swings, n_tried: 0 });
        }
        let Some(spread) = self.spreads.get_mut(&sample.path) else { return Ok(false) };
        if sample.total_bytes() > MOST_BYTES
            || spread.n_tried >= MOST_RUNS
            || spread.n_tried > 0 && self.used > self.seconds
        {
            return Ok(false);
        }
        let seconds = 5.0 + 10e-9 * reference.first_call_ns as f64;
        let limited = self.replay.with_call_limit(seconds);
        for _ in 0..STEP {
            let run = spread.n_tried;
            spread.n_tried += 1;
            // The other builds on the same inputs, then all of them in turns on others.
            let (library, is_perturbed) = match self.builds.get(run + 1) {
                Some(other) => (other, false),
                None => (&self.builds[run % self.builds.len()], true),
            };
            let path = self.folder.join(format!("inputs{}.bin", spread.number));
            let inputs = match is_perturbed {
                true => sample.perturbed(&path, &self.args, Perturbation::LastBit, run as u64 + 1)?,
                false => sample.clone(),
            };
            match limited.outputs(library, &inputs) {
                Ok(outputs) => spread.swings.add(reference, &outputs, &self.args, anything)?,
                // A run that fails tells nothing.
                Err(error) if error.rejection().is_some() => {}
                Err(error) => return Err(error),
            }
            if is_perturbed {
                let _ = fs::remove_file(&path);
            }
        }
        self.used += begin.elapsed().as_secs_f64();
        Ok(true)
    }

    /// Other inputs that the original can do something with.
    fn vary(&self, sample: &Sample, reference: &Outputs) -> Result<Vec<Varied>, MeasureError> {
        let mut varied = Vec::new();
        let number = self.spreads.get(&sample.path).map_or(0, |spread| spread.number);
        for (k, how) in [Perturbation::Scale, Perturbation::Replace].into_iter().enumerate() {
            let path = self.folder.join(format!("varied{number}-{k}.bin"));
            let sample = sample.perturbed(&path, &self.args, how, 1)?;
            let seconds = 5.0 + 10e-9 * reference.first_call_ns as f64;
            match self.replay.with_call_limit(seconds).outputs(&self.builds[0], &sample) {
                Ok(reference) => varied.push(Varied { sample, reference }),
                Err(error) if error.rejection().is_some() => drop(fs::remove_file(&path)),
                Err(error) => return Err(error),
            }
        }
        Ok(varied)
    }
}

impl Drop for Conditioning {
    fn drop(&mut self) {
        for varied in self.varied.values().flatten() {
            let _ = fs::remove_file(&varied.sample.path);
        }
    }
}

fn found(library: &Path, comparison: Comparison) -> Result<Comparison, MeasureError> {
    match comparison.mismatch {
        Some(mismatch) => Err(MeasureError::rejected(library, Rejection::WrongOutput(mismatch))),
        None => Ok(comparison),
    }
}

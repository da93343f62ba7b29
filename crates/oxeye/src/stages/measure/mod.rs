//! Stage 4: candidates compiled, run isolated, compared with the original, and timed.

pub(crate) mod select;

use crate::machine::roof::{ENOUGH_PERCENT, Roofs};
use crate::stages::capture::{LEAST_SHARE, complaint};
use crate::stages::measure::select::{Finalist, Winner};
use crate::stages::propose::{Candidate, CandidateState, NestCandidates};
use crate::stages::report::Verdict;
use crate::stages::synthetic_inputs;
use crate::transfer::{Advice, Choice};
use crate::{
    Candidates, Captured, CapturedNest, Error, Event, FpPolicy, NestDescription, Phase, Recipe, Tuner,
};
use oxeye_codegen::replay_unit;
use oxeye_measure::{
    Argument, CompileJob, MeasureError, Outputs, Rejection, Replay, Sample, Tolerance, compile_all, verify,
};
use oxeye_profile::NestProfile;
use oxeye_transform::templates::Template;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// From this time on one run of each tells enough if it tells a lot.
pub(crate) const LONG_SECONDS: f64 = 1.0;
/// Where the time of the original in its place is known, a first call as long as this needs no second one. The results of
/// invocations as long as that are captured, so that they need no first one either.
const TELLING_SECONDS: f64 = 0.4;
/// No single compilation of a candidate may take longer.
pub(crate) const COMPILE_SECONDS: f64 = 30.0;

/// Nests with what was measured of their candidates.
pub struct Measured {
    /// What the nests are called with.
    pub captured: Captured,
    /// One entry a nest of `captured`.
    pub nests: Vec<MeasuredNest>,
}

/// What was measured of one nest.
#[derive(Clone, Debug, Default)]
pub struct MeasuredNest {
    /// Seconds of one invocation of the original on the first sample.
    pub baseline_seconds: Option<f64>,
    /// Every candidate, best guess first.
    pub trials: Vec<Trial>,
    /// The candidate to emit.
    pub winner: Option<Winner>,
    /// What was found impossible, in words.
    pub refused: Vec<String>,
    /// Why nothing won.
    pub note: Option<String>,
    /// The nest as the user's compiler builds it, against the roofline; `None` without a host profile.
    pub before: Option<NestProfile>,
    /// The same of the winner.
    pub after: Option<NestProfile>,
    /// What the nest is known by, and what donors and the encoder advised.
    pub advice: Option<Box<(NestDescription, Advice)>>,
}

/// One candidate.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Name of the recipe.
    pub name: String,
    /// What the recipe was made from, if from a template.
    pub template: Option<Template>,
    /// The recipe.
    pub recipe: Recipe,
    /// What was thought of it.
    pub choice: Choice,
    /// What became of it.
    pub verdict: Verdict,
    /// Seconds of one invocation when it was screened.
    pub screened_seconds: Option<f64>,
    /// Timed runs of that screening.
    pub screened_samples: usize,
    /// Median seconds of the interleaved timing.
    pub timed_seconds: Option<f64>,
    /// All of that timing.
    pub timed: Option<Winner>,
    /// Why, where the verdict does not say it all.
    pub why: Option<String>,
}

/// What was compiled of a nest before anything was run.
struct Built {
    /// The original, or why there is none.
    original: Result<PathBuf, String>,
    /// Candidates by their numbers.
    candidates: BTreeMap<usize, Result<PathBuf, MeasureError>>,
}

/// What a nest's candidates are run with.
pub(crate) struct Bench<'a> {
    captured: &'a Captured,
    /// Position of the nest there.
    idx: usize,
    pub(crate) nest: &'a CapturedNest,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) replay: Replay,
    pub(crate) baseline: PathBuf,
    /// What the original left in its arguments.
    pub(crate) reference: Outputs,
    /// Seconds of one invocation of the original on the first sample.
    pub(crate) baseline_seconds: f64,
    /// Timed runs behind that.
    pub(crate) baseline_samples: usize,
    /// When to stop.
    pub(crate) deadline: Instant,
    /// The roofs of the nest, if they are known.
    pub(crate) roofs: Option<Roofs<'a>>,
}

/// A candidate that was run and gave the right outputs.
pub(crate) struct Screened {
    pub(crate) library: PathBuf,
    /// Seconds of one invocation.
    pub(crate) seconds: f64,
    /// Timed runs behind that.
    pub(crate) samples: usize,
    pub(crate) max_rel_error: f64,
}

/// How long running a candidate may take.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// Seconds of the best so far.
    pub(crate) best: f64,
    /// Limit of one call, seconds.
    pub(crate) call_seconds: f64,
    /// Seconds for all calls.
    pub(crate) left: f64,
}

impl Tuner<'_> {
    /// Stage 4: compiles the candidates of every nest, runs each isolated on the captured arguments, compares its outputs
    /// with those of the original nest as the user's compiler builds it, and times the best against it.
    ///
    /// # Errors
    /// If the run is interrupted, or a process cannot be started.
    pub fn measure(&self, candidates: Candidates) -> Result<Measured, Error> {
        self.enter(Phase::Trying)?;
        let Candidates { mut captured, nests: mut all } = candidates;
        let mut measured: Vec<MeasuredNest> =
            captured.nests.iter().map(|_| MeasuredNest::default()).collect();
        let order = captured.by_weight();
        let end = self.trial_deadline(&captured);
        for (position, (idx, weight)) in order.iter().enumerate() {
            self.check_cancelled()?;
            // What a nest leaves unused is there for the next ones.
            let rest: f64 = order[position..].iter().map(|(_, weight)| weight).sum();
            let share = (1.25 * weight / rest).min(1.0);
            let left = end.saturating_duration_since(Instant::now());
            let deadline = Instant::now() + left.mul_f64(share);
            let candidates = std::mem::take(&mut all[*idx]);
            measured[*idx] = self.measure_nest(&captured, *idx, candidates, deadline)?;
        }
        self.measure_short(&mut captured, &mut measured, end)?;
        Ok(Measured { captured, nests: measured })
    }

    /// Nests too short to matter beside slow ones may matter once those are fast: their candidates are made and measured
    /// then, those of the longest first.
    fn measure_short(
        &self,
        captured: &mut Captured,
        measured: &mut [MeasuredNest],
        end: Instant,
    ) -> Result<(), Error> {
        let speedup = |idx: usize| measured[idx].winner.as_ref().map(|winner| winner.speedup);
        let all = 0..captured.nests.len();
        let within: BTreeSet<usize> =
            all.clone().filter(|idx| speedup(*idx).is_some()).flat_map(|idx| captured.inside(idx)).collect();
        let faster = |idx: usize| Some((captured.nests[idx].share?, speedup(idx)?));
        let left = share_left(all.filter(|idx| !within.contains(idx)).filter_map(faster));
        for (idx, share) in captured.short() {
            self.check_cancelled()?;
            if share < LEAST_SHARE * left || Instant::now() >= end {
                break;
            }
            (captured.nests[idx].skip, captured.nests[idx].is_short) = (None, false);
            let candidates = self.candidates_by(captured, idx, self.options.donors)?;
            measured[idx] = self.measure_nest(captured, idx, candidates, end)?;
        }
        Ok(())
    }

    /// When to stop trying: early enough for the final runs of the whole program.
    fn trial_deadline(&self, captured: &Captured) -> Instant {
        let program = captured.program.as_ref().map_or(0.0, |p| p.seconds);
        let final_runs =
            Duration::from_secs_f64((4.0 * program).clamp(0.0, 1e6)).min(self.options.budget / 2);
        let end = self.start + self.options.budget - final_runs;
        // However long capturing took, some time is left for trying.
        end.max(Instant::now() + self.options.budget / 4)
    }

    fn measure_nest(
        &self,
        captured: &Captured,
        idx: usize,
        candidates: NestCandidates,
        deadline: Instant,
    ) -> Result<MeasuredNest, Error> {
        let nest = &captured.nests[idx];
        let (function, _, _) = nest.of(&captured.unit);
        let NestCandidates { candidates, n_first, refused, note, advice } = candidates;
        let mut result = MeasuredNest { refused, note, advice, ..MeasuredNest::default() };
        result.trials = candidates.iter().map(untried).collect();
        let n_ready = result.trials[..n_first].iter().filter(|t| t.verdict == Verdict::NotTried).count();
        self.progress.event(Event::Nest { function, line: nest.span.line, n_candidates: n_ready });
        if result.trials.iter().all(|t| t.verdict != Verdict::NotTried) {
            let why = "no schedule other than its own was found to be legal and different";
            add_note(&mut result.note, why);
            return Ok(result);
        }
        let mut built = self.build_first(captured, idx, &candidates[..n_first])?;
        let mut bench = match self.bench(captured, idx, deadline, built.original)? {
            Ok(bench) => bench,
            Err(why) => {
                add_note(&mut result.note, &why);
                return Ok(result);
            }
        };
        result.baseline_seconds = Some(bench.baseline_seconds);
        let (first, rest) = (0..n_first, n_first..candidates.len());
        let mut finalists = self.screen(&bench, &candidates, first, &mut built.candidates, &mut result)?;
        self.choose(&bench, &mut finalists, &mut result)?;
        if result.winner.is_some() {
            let why = "a schedule that was advised is faster than the original";
            result.trials[rest].iter_mut().for_each(|trial| {
                if trial.verdict == Verdict::NotTried {
                    trial.why = Some(why.into());
                }
            });
        } else if !rest.is_empty() && Instant::now() < bench.deadline {
            let note =
                "nothing that was advised is faster, so what the nest itself suggests was tried as well";
            add_note(&mut result.note, note);
            // No more of the budget than the nest has of the program's time.
            let share = self.options.budget.mul_f64(nest.share.unwrap_or(1.0).clamp(0.0, 1.0));
            bench.deadline = bench.deadline.min(Instant::now() + share);
            let built = &mut built.candidates;
            finalists.extend(self.screen(&bench, &candidates, rest, built, &mut result)?);
            self.choose(&bench, &mut finalists, &mut result)?;
        }
        self.conclude(&bench, &mut result);
        Ok(result)
    }

    /// Builds the original and the candidates to begin with, on all cores.
    fn build_first(&self, captured: &Captured, idx: usize, candidates: &[Candidate]) -> Result<Built, Error> {
        let in_place = captured.nests[idx].samples.first().and_then(|s| s.nanoseconds);
        let n_first = self.at_a_time(in_place.map_or(0.0, |ns| 1e-9 * ns as f64));
        let ready = candidates.iter().enumerate().filter_map(|(k, candidate)| match &candidate.state {
            CandidateState::Ready { text, openmp, .. } => Some((k, text, *openmp)),
            _ => None,
        });
        let (mut numbers, mut jobs) = (Vec::new(), vec![self.original(captured, idx)?]);
        for (k, text, openmp) in ready.take(n_first) {
            numbers.push(k);
            jobs.push(self.library(captured, idx, &format!("candidate{k}"), text, openmp)?);
        }
        let mut libraries = compile_all(&self.replay_compiler(), &jobs, self.host.cores as usize).into_iter();
        let original = libraries.next().map_or_else(|| Ok(Err(String::new())), |built| self.built(built))?;
        Ok(Built { original, candidates: numbers.into_iter().zip(libraries).collect() })
    }

    /// How many candidates to compile together: long nests leave time for few of them, and then the rest need not be
    /// compiled.
    fn at_a_time(&self, baseline_seconds: f64) -> usize {
        (if baseline_seconds > LONG_SECONDS { 1 } else { 4 }) * self.host.cores as usize
    }

    /// Runs the original; inner error if it cannot be replayed, or was not built.
    pub(crate) fn bench<'a>(
        &'a self,
        captured: &'a Captured,
        idx: usize,
        deadline: Instant,
        original: Result<PathBuf, String>,
    ) -> Result<Result<Bench<'a>, String>, Error> {
        let nest = &captured.nests[idx];
        let baseline = match original {
            Ok(library) => library,
            Err(why) => return Ok(Err(format!("the nest cannot be taken out of its function: {why}"))),
        };
        let not_replayed =
            |why: &Rejection| format!("the original cannot be replayed: {}", self.words(why, nest));
        let replay = self.replay()?;
        // Where nests inside were observed as well, that took part of the time in place.
        let is_undisturbed = captured.inside(idx).is_empty();
        let reference = match is_undisturbed {
            true => original_outputs(&replay, &baseline, &nest.samples[0]),
            false => replay.outputs(&baseline, &nest.samples[0]),
        };
        let reference = match self.reject(reference)? {
            Ok(outputs) => outputs,
            Err(why) => return Ok(Err(not_replayed(&why))),
        };
        let mut bench = Bench {
            captured,
            idx,
            nest,
            arguments: nest.arguments.iter().map(measure_argument).collect(),
            replay,
            baseline,
            reference,
            baseline_seconds: 0.0,
            baseline_samples: 0,
            deadline,
            roofs: Roofs::of(self, captured, idx),
        };
        let first = 1e-9 * bench.reference.first_call_ns as f64;
        let is_known = is_undisturbed && nest.samples[0].nanoseconds.is_some() && first > TELLING_SECONDS;
        let left = if is_known { 0.0 } else { f64::INFINITY };
        let patience = Patience { best: f64::INFINITY, call_seconds: f64::INFINITY, left };
        match self.seconds(&bench, &bench.baseline, &bench.reference, patience)? {
            Ok((seconds, samples)) => (bench.baseline_seconds, bench.baseline_samples) = (seconds, samples),
            Err(why) => return Ok(Err(not_replayed(&why))),
        }
        // However long the original takes, a few candidates are tried before the time is up.
        let least = Duration::from_secs_f64(1.2 * bench.baseline_seconds);
        bench.deadline = bench.deadline.max(Instant::now() + least);
        Ok(Ok(bench))
    }

    /// Compares before and after with the roofs.
    pub(crate) fn conclude(&self, bench: &Bench<'_>, result: &mut MeasuredNest) {
        if let Some(roofs) = &bench.roofs {
            let winner = result.winner.as_ref();
            let baseline = winner.map(|w| w.baseline_seconds).or(result.baseline_seconds);
            result.before = baseline.map(|seconds| roofs.before(seconds));
            result.after = winner
                .map(|w| roofs.after(&result.trials[w.trial_idx].recipe, w.seconds, w.threads(self.threads)));
        }
        if result.winner.is_none() {
            add_note(&mut result.note, &nothing_won(&result.trials));
        }
    }

    /// The original nest as a library; inner error if its text does not build by itself.
    pub(crate) fn baseline(&self, captured: &Captured, idx: usize) -> Result<Result<PathBuf, String>, Error> {
        self.built(self.replay_compiler().compile(&self.original(captured, idx)?))
    }

    /// How to build the original.
    fn original(&self, captured: &Captured, idx: usize) -> Result<CompileJob, Error> {
        let span = captured.nests[idx].span;
        let body = captured.unit.source.get(span.start..span.end).unwrap_or_default();
        self.library(captured, idx, "original", body, false)
    }

    /// What came of building the original; the inner error is the compiler's complaint.
    fn built(&self, built: Result<PathBuf, MeasureError>) -> Result<Result<PathBuf, String>, Error> {
        match built {
            Ok(library) => Ok(Ok(library)),
            Err(MeasureError::CompileFailed { text, .. }) => {
                self.check_cancelled()?;
                Ok(Err(complaint(&text)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// How to build a candidate.
    pub(crate) fn library(
        &self,
        captured: &Captured,
        idx: usize,
        name: &str,
        body: &str,
        openmp: bool,
    ) -> Result<CompileJob, Error> {
        let unit =
            replay_unit(&captured.unit.source, &captured.nests[idx].site(&captured.unit, idx as u32), body);
        let source = self.write_variant(&format!("nest{idx}/{name}.c"), &unit)?;
        let job = self.replay_job(&source, &format!("nest{idx}/{name}.so"), openmp);
        Ok(CompileJob { seconds: COMPILE_SECONDS, ..job })
    }

    /// Compiles and runs some of the candidates, a few at a time until the deadline; those with the right outputs are
    /// finalists.
    fn screen(
        &self,
        bench: &Bench<'_>,
        candidates: &[Candidate],
        which: Range<usize>,
        built: &mut BTreeMap<usize, Result<PathBuf, MeasureError>>,
        result: &mut MeasuredNest,
    ) -> Result<Vec<Finalist>, Error> {
        let baseline_seconds = bench.baseline_seconds;
        let ready: Vec<usize> = which.filter(|k| result.trials[*k].verdict == Verdict::NotTried).collect();
        let mut finalists: Vec<Finalist> = Vec::new();
        let mut best = baseline_seconds;
        let mut n_done = 0;
        for chunk in ready.chunks(self.at_a_time(baseline_seconds)) {
            // Half of the time is for the finalists of short nests; long ones are mostly decided here.
            if Instant::now() >= bench.deadline {
                break;
            }
            let roof = finalists.first().and_then(|_| bench.roofs.as_ref()?.near(best, self.threads));
            if let Some(bound) = roof {
                let why = format!("the best before it is within {ENOUGH_PERCENT} % of its roof ({bound})");
                ready[n_done..].iter().for_each(|k| result.trials[*k].why = Some(why.clone()));
                break;
            }
            let (mut numbers, mut jobs) = (Vec::new(), Vec::new());
            for k in chunk.iter().filter(|k| !built.contains_key(*k)) {
                let CandidateState::Ready { text, openmp, .. } = &candidates[*k].state else { continue };
                numbers.push(*k);
                jobs.push(self.library(
                    bench.captured,
                    bench.idx,
                    &format!("candidate{k}"),
                    text,
                    *openmp,
                )?);
            }
            let libraries = compile_all(&self.replay_compiler(), &jobs, self.host.cores as usize);
            built.extend(numbers.into_iter().zip(libraries));
            for k in chunk {
                self.check_cancelled()?;
                if Instant::now() >= bench.deadline {
                    break;
                }
                let Some(library) = built.remove(k) else { continue };
                let CandidateState::Ready { openmp, reassociated, .. } = candidates[*k].state else {
                    continue;
                };
                let trial = &mut result.trials[*k];
                if !openmp && baseline_seconds > LONG_SECONDS && finalists.iter().any(|f| f.openmp) {
                    trial.why = Some("one thread, where a long nest gains from several".into());
                    n_done += 1;
                    continue;
                }
                match self.try_candidate(bench, library, Patience::for_best(best))? {
                    Ok(Screened { library, seconds, samples, max_rel_error }) => {
                        trial.verdict = Verdict::Slower;
                        trial.screened_seconds = Some(seconds);
                        trial.screened_samples = samples;
                        best = best.min(seconds);
                        let trial_idx = *k;
                        finalists.push(Finalist {
                            trial_idx,
                            library,
                            seconds,
                            max_rel_error,
                            reassociated,
                            openmp,
                        });
                    }
                    Err(why) => {
                        trial.verdict = verdict_of(&why);
                        trial.why = Some(self.words(&why, bench.nest));
                    }
                }
                n_done += 1;
                self.progress.event(Event::Candidate {
                    n_done,
                    n_candidates: ready.len(),
                    best_speedup: finalists.first().map(|_| baseline_seconds / best),
                });
            }
        }
        Ok(finalists)
    }

    /// Runs one candidate, or says why it is rejected.
    pub(crate) fn try_candidate(
        &self,
        bench: &Bench<'_>,
        library: Result<PathBuf, MeasureError>,
        patience: Patience,
    ) -> Result<Result<Screened, Rejection>, Error> {
        let library = match self.reject(library)? {
            Ok(library) => library,
            Err(why) => return Ok(Err(why)),
        };
        let limited = bench.replay.with_call_limit(patience.call_seconds);
        let outputs = match self.reject(limited.outputs(&library, &bench.nest.samples[0]))? {
            Ok(outputs) => outputs,
            Err(why) => return Ok(Err(why)),
        };
        let comparison = verify(&bench.reference, &outputs, &bench.arguments, self.tolerance())?;
        if let Some(mismatch) = comparison.mismatch {
            return Ok(Err(Rejection::WrongOutput(mismatch)));
        }
        let max_rel_error = comparison.max_rel_error;
        let timed = self.seconds(bench, &library, &outputs, patience)?;
        Ok(timed.map(|(seconds, samples)| Screened { library, seconds, samples, max_rel_error }))
    }

    /// Seconds of one call, and of how many: of the first one if that was long, hopeless against the best so far, or all
    /// there is time for; else of a few more.
    fn seconds(
        &self,
        bench: &Bench<'_>,
        library: &Path,
        outputs: &Outputs,
        patience: Patience,
    ) -> Result<Result<(f64, usize), Rejection>, Error> {
        let first = outputs.first_call_ns as f64 * 1e-9;
        // A first call is cold, but not by that much.
        if first > LONG_SECONDS
            || (first > 0.05 && first > 2.0 * patience.best)
            || 3.0 * first > patience.left
        {
            return Ok(Ok((first, 1)));
        }
        let n = ((0.1 / first.max(1e-6)) as usize).clamp(1, 5);
        let times = match self.reject(bench.replay.time_few(library, &bench.nest.samples[0], n))? {
            Ok(times) => times,
            Err(why) => return Ok(Err(why)),
        };
        // The least of few runs is the one with least noise from elsewhere.
        let least = times.into_iter().min().unwrap_or(outputs.first_call_ns);
        Ok(Ok((least as f64 * 1e-9, n)))
    }

    /// How far outputs may be apart. Without an explicit word for bits, compilers may contract a product and a sum into
    /// one rounding, and do so differently around different loops.
    pub(crate) fn tolerance(&self) -> Tolerance {
        match self.options.fp {
            FpPolicy::Strict => Tolerance::Strict,
            _ if self.options.reassociate() => Tolerance::reassociate(),
            _ => Tolerance::Relative { f64: 1e-12, f32: 1e-5 },
        }
    }

    /// Separates what is the candidate's fault from what is not.
    pub(crate) fn reject<T>(&self, outcome: Result<T, MeasureError>) -> Result<Result<T, Rejection>, Error> {
        match outcome {
            Ok(value) => Ok(Ok(value)),
            Err(error) => {
                // Killed processes are our own doing then.
                self.check_cancelled()?;
                match error.rejection() {
                    Some(rejection) => Ok(Err(rejection)),
                    None => Err(error.into()),
                }
            }
        }
    }

    pub(crate) fn words(&self, why: &Rejection, nest: &CapturedNest) -> String {
        match why {
            Rejection::OutOfBounds { argument } => match nest.arguments.get(*argument) {
                Some(argument) => format!("accessed memory outside `{}`", argument.name),
                None => why.to_string(),
            },
            Rejection::CompileFailed { text } => {
                format!("does not compile: {}", complaint(text))
            }
            _ => why.to_string(),
        }
    }
}

impl Patience {
    /// For candidates that are only of interest if they come near the best so far. A first call is cold and may start
    /// threads.
    pub(crate) fn for_best(best: f64) -> Self {
        Self { best, call_seconds: 1.5 * best + 0.5, left: f64::INFINITY }
    }
}

/// The share of a program's time that is left when parts with a share of it become faster by a factor. Times are measured,
/// so that more than everything may seem to go; a hundredth stays.
fn share_left(faster: impl Iterator<Item = (f64, f64)>) -> f64 {
    let gone: f64 = faster.map(|(share, speedup)| share * (1.0 - 1.0 / speedup)).sum();
    (1.0 - gone).max(0.01)
}

/// What the original makes of a sample: as captured, or else replayed.
pub(crate) fn original_outputs(
    replay: &Replay,
    original: &Path,
    sample: &Sample,
) -> Result<Outputs, MeasureError> {
    match Outputs::captured(sample)? {
        Some(outputs) => Ok(outputs),
        None => replay.outputs(original, sample),
    }
}

pub(crate) fn untried(candidate: &Candidate) -> Trial {
    let (verdict, why) = match &candidate.state {
        CandidateState::Ready { .. } => (Verdict::NotTried, None),
        CandidateState::Refused(reason) => (Verdict::Refused, Some(reason.clone())),
        CandidateState::Duplicate(other) => (Verdict::Duplicate, Some(format!("the same as `{other}`"))),
    };
    Trial {
        name: candidate.name.clone(),
        template: candidate.template,
        recipe: candidate.recipe.clone(),
        choice: candidate.choice.clone(),
        verdict,
        screened_seconds: None,
        screened_samples: 0,
        timed_seconds: None,
        timed: None,
        why,
    }
}

pub(crate) fn measure_argument(argument: &oxeye_codegen::Argument) -> Argument {
    let element = synthetic_inputs::element_type(argument.element);
    let handed_over = match argument.is_buffer {
        true => Argument::buffer(&argument.name, element),
        false => Argument::scalar(&argument.name, element),
    };
    if argument.is_scratch { handed_over.scratch() } else { handed_over }
}

pub(crate) fn verdict_of(why: &Rejection) -> Verdict {
    match why {
        Rejection::TimedOut { .. } => Verdict::TooSlow,
        Rejection::WrongOutput(_) => Verdict::WrongResult,
        Rejection::CompileFailed { .. } | Rejection::LoadFailed { .. } => Verdict::DoesNotCompile,
        _ => Verdict::Crashed,
    }
}

/// Adds a sentence.
pub(crate) fn add_note(note: &mut Option<String>, sentence: &str) {
    *note = Some(match note.take() {
        Some(before) => format!("{before}; {sentence}"),
        None => sentence.to_owned(),
    });
}

/// Why no candidate was chosen, from what became of them.
fn nothing_won(trials: &[Trial]) -> String {
    let count = |verdict| trials.iter().filter(|t| t.verdict == verdict).count();
    let counts = [
        (Verdict::Slower, "not faster beyond noise"),
        (Verdict::TooSlow, "much slower"),
        (Verdict::WrongResult, "wrong"),
        (Verdict::Crashed, "crashed"),
        (Verdict::DoesNotCompile, "did not compile"),
        (Verdict::NotTried, "not tried within the budget"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(verdict, words)| (count(verdict), words))
        .filter(|(n, _)| *n > 0)
        .map(|(n, words)| format!("{n} {words}"))
        .collect();
    format!("nothing faster found; candidates: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_program() {
        let left = |faster: &[(f64, f64)]| share_left(faster.iter().copied());
        assert_eq!(left(&[]), 1.0);
        // 0.1 of the first, 0.25 of the second, and the rest.
        let both = left(&[(0.5, 5.0), (0.5, 2.0)]);
        assert!((both - 0.35).abs() < 1e-12, "{both}");
        assert_eq!(left(&[(0.9, 1000.0), (0.2, 1000.0)]), 0.01);
    }
}

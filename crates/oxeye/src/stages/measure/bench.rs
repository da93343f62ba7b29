//! The bench: one nest, its original built and run, and what runs candidates on the same arguments.

use super::doubts::Doubts;
use super::pace::Pace;
use crate::budget::{LONG_SECONDS, compiled_together, for_doubts};
use crate::machine::{Roofs, Sizes, element_type};
use crate::mix::{Part, best_least, speedup_from};
use crate::nest::{Calls, IllConditioned, KnownInPlace, Place};
use crate::request::{Error, Setback};
use crate::schedule::{Screening, Trial, Verdict};
use crate::session::Session;
use crate::whole::OTHER_BUILDS;
use crate::workshop::complaint;
use oxeye_codegen::{Site, replay_unit};
use oxeye_frontend::Unit;
use oxeye_ir::{Nest, Var};
use oxeye_measure::{
    Argument, CompileJob, Conditioning, Fields, MeasureError, Outputs, Patience, Rejection, Replay, Sample,
    compile_all, n_runs, verify,
};
use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Originals that take longer are not run for that.
pub(super) const LONG_ORIGINAL: f64 = 5.0;
/// Where the time of the original in its place is known, a first call as long as this needs no second one. The results of
/// invocations as long as that are captured, so that they need no first one either.
const TELLING_SECONDS: f64 = 0.4;

/// How many of [`OTHER_BUILDS`] candidates of ill-conditioned nests are compared with.
const N_BUILDS: usize = 2;

/// A nest with what it is replayed on.
#[derive(Clone, Copy)]
pub(crate) struct ReplaySite<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) unit: &'a Unit,
    /// Number of the nest in the file.
    pub(crate) idx: usize,
    pub(crate) place: &'a Place,
    pub(crate) calls: &'a Calls,
    /// What replays take for known when they are compiled.
    pub(crate) known: &'a KnownInPlace,
}

impl<'a> ReplaySite<'a> {
    /// The nest.
    pub(crate) fn nest(&self) -> &'a Nest {
        &self.unit.functions[self.place.function_idx].program.nests[&self.place.nest_id]
    }

    /// How large the nest is in a sample; 1 if it always is the same, or not known.
    pub(crate) fn size(&self, sample: &Sample) -> f64 {
        let sizes = Sizes::of(&self.calls.arguments, sample);
        let value = |var| match var {
            Var::Sym(id) => sizes.get(id),
            Var::Loop(_) => None,
        };
        self.nest().size().evaluate(&value).unwrap_or(1.0)
    }

    /// Whether several threads may run the original.
    pub(super) fn shares_work(&self) -> bool {
        let (_, program, nest) = self.place.of(self.unit);
        self.session.threads > 1
            && (program.has_team(nest.id) || self.place.own_text(self.unit).clauses.creates_team)
    }
}

/// What a nest's candidates are run with.
pub(crate) struct Bench<'a> {
    pub(crate) site: ReplaySite<'a>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) replay: Replay,
    pub(crate) baseline: PathBuf,
    /// What the original left in its arguments.
    pub(crate) reference: Outputs,
    /// Seconds of one invocation of the original on the first sample.
    pub(crate) baseline_seconds: f64,
    /// Timed runs behind that.
    pub(crate) baseline_samples: usize,
    /// Share of the time of all samples that are timed which the first one stands for, and the size of the nest there.
    pub(crate) weight: f64,
    pub(crate) size: f64,
    /// The other samples that are timed.
    pub(crate) others: Vec<OtherSize<'a>>,
    /// When to stop.
    pub(crate) deadline: Instant,
    pub(super) pace: Pace,
    /// Seconds of one invocation that candidates have to beat: those of the original, or what is left of them where nests inside
    /// are faster.
    pub(crate) to_beat: f64,
    /// The roofs of the nest, if they are known.
    pub(crate) roofs: Option<&'a Roofs<'a>>,
    /// What judges candidates whose outputs are outside the tolerance.
    doubts: Doubts,
    /// Seconds of a second call of the original, once it was needed.
    again: Cell<Option<f64>>,
    /// Most seconds that a first call took longer than those behind it.
    cold: Cell<f64>,
    /// What other nodes know it by, once they do.
    pub(super) shared: OnceCell<String>,
}

/// A sample that is timed besides the first.
pub(crate) struct OtherSize<'a> {
    pub(crate) sample: &'a Sample,
    /// Share of the time of all samples that are timed.
    pub(crate) weight: f64,
    /// How large the nest is.
    pub(crate) size: f64,
    /// Seconds of one invocation of the original.
    pub(crate) baseline_seconds: f64,
}

/// A candidate that was run and gave the right outputs.
pub(crate) struct Screened {
    pub(crate) library: PathBuf,
    pub(crate) screening: Screening,
}

/// The original's own text does not build by itself: the compiler's complaint.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotBuilt(pub(crate) String);

/// Why there is no bench for a nest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoBench {
    #[error("the nest cannot be taken out of its function: {0}")]
    NotBuilt(NotBuilt),
    #[error("the original cannot be replayed: {0}")]
    NotReplayed(String),
}

impl ReplaySite<'_> {
    /// How to build a library of the nest with this text in its place.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub(crate) fn library(&self, name: &str, body: &str, openmp: bool) -> Result<CompileJob, Error> {
        self.library_with(name, body, "", openmp)
    }

    /// The same of a text that calls this function.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub(crate) fn library_with(
        &self,
        name: &str,
        body: &str,
        before: &str,
        openmp: bool,
    ) -> Result<CompileJob, Error> {
        let idx = self.idx;
        let KnownInPlace { constants, are_apart } = self.known;
        let site =
            Site { constants, are_apart: *are_apart, before, ..self.place.site(self.unit, idx as u32) };
        let unit = replay_unit(&self.unit.source, &site, body);
        let workshop = &self.session.workshop;
        let source = workshop.write_variant(&format!("nest{idx}/{name}.c"), &unit)?;
        Ok(workshop.replay_job(&source, &format!("nest{idx}/{name}.so"), openmp))
    }

    /// How to build a trial's candidate until the deadline, if it has one.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub(crate) fn candidate(
        &self,
        trial_idx: usize,
        trial: &Trial,
        deadline: Instant,
    ) -> Result<Option<CompileJob>, Error> {
        const LEAST_SECONDS: f64 = 5.0;
        let Some(proved) = &trial.proved else { return Ok(None) };
        let name = format!("candidate{trial_idx}");
        let job = self.library_with(&name, &proved.text, proved.before(), proved.openmp)?;
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64().max(LEAST_SECONDS);
        Ok(Some(CompileJob { seconds: job.seconds.min(left), ..job }))
    }

    /// How to build the original.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub(crate) fn original(&self) -> Result<CompileJob, Error> {
        self.library("original", &self.place.text(self.unit), false)
    }

    /// The original nest as a library.
    ///
    /// # Errors
    /// If its text does not build by itself, or the run cannot go on.
    pub(crate) fn build_original(&self) -> Result<PathBuf, Setback<NotBuilt>> {
        self.built(self.session.workshop.replay_compiler().compile(&self.original()?))
    }

    /// What came of building the original.
    ///
    /// # Errors
    /// As [`ReplaySite::build_original`].
    pub(super) fn built(&self, built: Result<PathBuf, MeasureError>) -> Result<PathBuf, Setback<NotBuilt>> {
        match built {
            Ok(library) => Ok(library),
            Err(error) => {
                self.session.check_cancelled()?;
                match error.rejection() {
                    Some(Rejection::CompileFailed { text }) => Err(Setback::Item(NotBuilt(complaint(&text)))),
                    Some(why) => Err(Setback::Item(NotBuilt(why.to_string()))),
                    None => Err(error.into()),
                }
            }
        }
    }

    /// A rejection in the words of the user's program.
    pub(crate) fn words(&self, why: &Rejection) -> String {
        match why {
            Rejection::OutOfBounds { argument } => match self.calls.arguments.get(*argument) {
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

impl<'a> Bench<'a> {
    /// Runs the original.
    ///
    /// # Errors
    /// If it was not built or cannot be replayed, or the run cannot go on.
    pub(crate) fn open(
        site: ReplaySite<'a>,
        original: Result<PathBuf, Setback<NotBuilt>>,
        roofs: Option<&'a Roofs<'a>>,
        (pace, deadline): (Pace, Instant),
    ) -> Result<Self, Setback<NoBench>> {
        let baseline = original.map_err(|setback| setback.because(NoBench::NotBuilt))?;
        let session = site.session;
        let not_replayed =
            |setback: Setback<Rejection>| setback.because(|why| NoBench::NotReplayed(site.words(&why)));
        let replay = session.workshop.replay(session.threads)?;
        let sample = &site.calls.samples[0];
        // Where nests inside were observed as well, that took part of the time in place.
        let is_undisturbed = site.place.inside.is_empty();
        let reference = match is_undisturbed {
            true => original_outputs(&replay, &baseline, sample),
            false => replay.outputs(&baseline, sample),
        };
        let reference = session.judge(reference).map_err(not_replayed)?;
        let mut bench = Self {
            site,
            arguments: site.calls.arguments.iter().map(measure_argument).collect(),
            replay,
            baseline,
            reference,
            baseline_seconds: 0.0,
            baseline_samples: 0,
            weight: 1.0,
            size: site.size(sample),
            others: Vec::new(),
            deadline,
            pace,
            to_beat: f64::INFINITY,
            roofs,
            doubts: Doubts::default(),
            again: Cell::new(None),
            cold: Cell::new(0.0),
            shared: OnceCell::new(),
        };
        let first = 1e-9 * bench.reference.first_call_ns as f64;
        let in_place = sample.nanoseconds.filter(|_| is_undisturbed);
        let is_known = in_place.is_some() && first > TELLING_SECONDS;
        let left = if is_known { 0.0 } else { f64::INFINITY };
        let patience = Patience { best: f64::INFINITY, call_seconds: f64::INFINITY, left };
        (bench.baseline_seconds, bench.baseline_samples) = match in_place {
            Some(ns) if pace == Pace::Hurried => (1e-9 * ns as f64, 1),
            _ => bench.seconds(&bench.baseline, &bench.reference, patience).map_err(not_replayed)?,
        };
        bench.time_others()?;
        // However long the original takes, a few candidates are tried before the time is up, as far as the budget goes.
        let least = Duration::from_secs_f64(1.2 * bench.baseline_seconds).min(session.budget_left());
        bench.deadline = bench.deadline.max(Instant::now() + least);
        bench.to_beat = bench.to_beat.min(bench.baseline_seconds);
        Ok(bench)
    }

    /// How many candidates to compile before some of them are run.
    pub(super) fn compiled_together(&self) -> usize {
        let session = self.site.session;
        let left = self.deadline.saturating_duration_since(Instant::now());
        compiled_together(self.baseline_seconds, session.host.cores, left, session.workshop.build_seconds())
    }

    /// Seconds of another call of the original, on the first sample, where a single one was all that is known and there is
    /// time: noise in it would pass for a speedup. Infinity elsewhere. It is run once.
    ///
    /// # Errors
    /// If the run is interrupted, or a process cannot be started.
    pub(super) fn again(&self) -> Result<f64, Error> {
        if let Some(seconds) = self.again.get() {
            return Ok(seconds);
        }
        let left = self.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let mut seconds = f64::INFINITY;
        if self.baseline_samples <= 1
            && (self.baseline_seconds < left || self.baseline_seconds < LONG_ORIGINAL)
            && self.site.session.has_seconds(self.baseline_seconds)
        {
            let limited = self.replay.with_call_limit(1.5 * self.baseline_seconds + 0.5);
            match self.site.session.judge(limited.time_few(&self.baseline, self.sample(), 1)) {
                Ok(times) => {
                    seconds = times.into_iter().min().map_or(f64::INFINITY, |ns| 1e-9 * ns as f64);
                }
                Err(setback) => drop(setback.item()?),
            }
        }
        self.again.set(Some(seconds));
        Ok(seconds)
    }

    /// Times the original on the other samples that are timed. A long one is left out, as is one that cannot be replayed.
    fn time_others(&mut self) -> Result<(), Error> {
        let session = self.site.session;
        let calls = self.site.calls;
        let all: f64 = calls.timed().map(|(_, share)| share).sum();
        for (k, (sample, share)) in calls.timed().enumerate() {
            let in_place = sample.nanoseconds.map_or(f64::INFINITY, |ns| 1e-9 * ns as f64);
            let weight = if all > 0.0 { share / all } else { 1.0 };
            if k == 0 {
                self.weight = weight;
                continue;
            }
            if in_place > LONG_SECONDS {
                continue;
            }
            match session.judge(self.few_runs(&self.baseline, sample, in_place)) {
                Ok(seconds) => self.others.push(OtherSize {
                    sample,
                    weight,
                    size: self.site.size(sample),
                    baseline_seconds: seconds.min(in_place),
                }),
                Err(setback) => drop(setback.item()?),
            }
        }
        Ok(())
    }

    /// Seconds of one call: the least of a few.
    fn few_runs(&self, library: &Path, sample: &Sample, about: f64) -> Result<f64, MeasureError> {
        let times = self.replay.time_few(library, sample, n_runs(about))?;
        Ok(1e-9 * times.into_iter().min().unwrap_or_default().max(1) as f64)
    }

    /// Runs one candidate.
    ///
    /// # Errors
    /// Why it is rejected, or why the run cannot go on.
    pub(crate) fn run_candidate(
        &self,
        library: Result<PathBuf, MeasureError>,
        patience: Patience,
    ) -> Result<Screened, Setback<Rejection>> {
        let session = self.site.session;
        let library = session.judge(library)?;
        let limited = self.replay.with_call_limit(patience.call_seconds);
        let outputs = session.judge(limited.outputs(&library, self.sample()))?;
        let max_rel_error = self.agreement(self.sample(), &self.reference, &library, &outputs)?;
        // What is timed in turns with the original anyway is taken to be as fast.
        let (seconds, samples) = match self.pace {
            Pace::Hurried => (self.baseline_seconds, 0),
            Pace::Usual => self.seconds(&library, &outputs, patience)?,
        };
        let mixed = self.mixed(&library, seconds)?;
        Ok(Screened {
            library,
            screening: Screening { seconds, mixed, samples, max_rel_error: Some(max_rel_error) },
        })
    }

    /// What a candidate gains on all samples that are timed, as seconds on the first one, where it takes so many.
    fn mixed(&self, library: &Path, seconds: f64) -> Result<Option<f64>, Setback<Rejection>> {
        let mut others = Vec::new();
        for other in &self.others {
            let seconds = self.replay.impression_beside(library, other.sample, other.baseline_seconds);
            others.push(self.site.session.judge(seconds)?);
        }
        Ok(self.mixed_of(seconds, &others))
    }

    /// The same where it takes so many seconds on the first and on the others.
    pub(super) fn mixed_of(&self, first: f64, others: &[f64]) -> Option<f64> {
        if others.is_empty() {
            return None;
        }
        let part = |weight, size, speedup| Part { weight, size, speedup };
        let mut parts = vec![part(self.weight, self.size, self.baseline_seconds / first)];
        let others = self.others.iter().zip(others);
        parts.extend(others.map(|(o, seconds)| part(o.weight, o.size, o.baseline_seconds / seconds)));
        Some(self.baseline_seconds / speedup_from(&parts, best_least(&parts)))
    }

    /// The largest relative difference of outputs that are right: as the original's in the threads that it has, or else as
    /// those of its one thread. Its threads may race for a variable that nobody reads, so that no two runs agree. Where
    /// operations may be reordered and that makes a difference for the original, outputs may differ by as much.
    ///
    /// # Errors
    /// The first difference, or why the run cannot go on.
    pub(super) fn agreement(
        &self,
        sample: &Sample,
        reference: &Outputs,
        library: &Path,
        outputs: &Outputs,
    ) -> Result<f64, Setback<Rejection>> {
        let session = self.site.session;
        let tolerance = session.tolerance(self.site.nest());
        let comparison = verify(reference, outputs, &self.arguments, tolerance)?;
        let Some(mismatch) = comparison.mismatch else { return Ok(comparison.max_rel_error) };
        if self.site.shares_work() {
            let in_order = session.judge(self.replay.with_threads(1).outputs(&self.baseline, sample))?;
            let comparison = verify(&in_order, outputs, &self.arguments, tolerance)?;
            if comparison.mismatch.is_none() {
                return Ok(comparison.max_rel_error);
            }
        }
        if !session.reorders(self.site.nest()) {
            return Err(Setback::Item(Rejection::WrongOutput(mismatch)));
        }
        self.doubts.judge(session, || self.other_builds(), sample, reference, library, outputs)
    }

    /// Builds the original in other ways, with and without reordering.
    fn other_builds(&self) -> Result<Conditioning, Setback<Rejection>> {
        let site = self.site;
        let session = site.session;
        let text = site.place.text(site.unit);
        // Candidates may use instructions that round otherwise.
        let wide: Vec<String> =
            session.isa().map_or(&[][..], |isa| isa.features()).iter().map(|f| format!("-m{f}")).collect();
        let job = |(k, flags): (usize, &&[&str])| -> Result<CompileJob, Error> {
            let job = site.library(&format!("witness{k}"), &text, false)?.args(flags.iter().copied());
            Ok(if k == 0 { job } else { job.args(&wide) })
        };
        let jobs = OTHER_BUILDS[..N_BUILDS].iter().enumerate().map(job).collect::<Result<Vec<_>, _>>()?;
        let built = compile_all(&session.workshop.replay_compiler(), &jobs, session.host.cores as usize);
        session.check_cancelled()?;
        let others = built.into_iter().flatten();
        Ok(Conditioning::new(
            self.replay.clone(),
            std::iter::once(self.baseline.clone()).chain(others).collect(),
            self.arguments.clone(),
            session.tolerance(site.nest()),
            session.workshop.folder.subdir(format!("nest{}/conditioning", site.idx))?,
            for_doubts(session.options.budget, session.budget_left()),
        ))
    }

    /// How ill-conditioned the nest turned out to be, if there was a question of that.
    pub(crate) fn conditioning(&self) -> Option<IllConditioned> {
        self.doubts.found()
    }

    /// The arguments that are timed.
    pub(crate) fn sample(&self) -> &Sample {
        &self.site.calls.samples[0]
    }

    /// Seconds of one call, and of how many, for a first impression.
    fn seconds(
        &self,
        library: &Path,
        outputs: &Outputs,
        patience: Patience,
    ) -> Result<(f64, usize), Setback<Rejection>> {
        let of_sample = (library, self.sample());
        let impression = self.replay.impression(of_sample, outputs.first_call_ns, patience, self.cold.get());
        let impression = self.site.session.judge(impression)?;
        self.cold.set(self.cold.get().max(impression.cold));
        Ok((impression.seconds, impression.samples))
    }
}

/// What the original makes of a sample: as captured, or else replayed.
pub(super) fn original_outputs(
    replay: &Replay,
    original: &Path,
    sample: &Sample,
) -> Result<Outputs, MeasureError> {
    match Outputs::captured(sample)? {
        Some(outputs) => Ok(outputs),
        None => replay.outputs(original, sample),
    }
}

fn measure_argument(argument: &oxeye_codegen::Argument) -> Argument {
    let element = element_type(argument.element);
    let handed_over = match argument.is_buffer {
        true => Argument::buffer(&argument.name, element),
        false => Argument::scalar(&argument.name, element),
    };
    let handed_over = handed_over.with_fields(argument.fields.as_ref().map(|fields| {
        let run = |(offset, n, ty): &(u64, u64, _)| (*offset, *n, element_type(*ty));
        Fields { bytes: fields.bytes, runs: fields.runs.iter().map(run).collect() }
    }));
    if argument.is_scratch { handed_over.scratch() } else { handed_over }
}

/// What a rejection means for the trial.
pub(crate) fn verdict_of(why: &Rejection) -> Verdict {
    match why {
        Rejection::TimedOut { .. } => Verdict::TooSlow,
        Rejection::WrongOutput(_) => Verdict::WrongResult,
        Rejection::CompileFailed { .. } | Rejection::LoadFailed { .. } => Verdict::DoesNotCompile,
        _ => Verdict::Crashed,
    }
}

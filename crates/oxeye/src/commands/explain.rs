//! Why a nest is tuned as it is: what it is like, what helped there, what of that can be done here, and what came of it.

use super::profile_report::SkippedNest;
use super::sdfg;
use crate::coverage::LineReport;
use crate::knowledge::NestDescription;
use crate::machine::{HostReport, Roofs};
use crate::nest::{Standing, TunedNest, Workpiece};
use crate::request::{Error, Options, Progress};
use crate::schedule::{Schedule, Trial, Verdict};
use crate::session::Session;
use crate::stages::{capture, expect_nests, measure, open, propose, read, second_round};
use crate::transfer::{Advice, AdvisedOption, AdvisedRefusal, AlignedNode, Donor, DonorTrial};
use oxeye_database::{EmbeddingSpace, NodeEmbedding};
use oxeye_frontend::Unit;
use oxeye_transform::{Recipe, RefusedSuggestion};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Name and version of the report's form.
pub const EXPLAIN_SCHEMA: &str = "oxeye.explain/1";

/// What an explanation is asked besides the [`Options`] of every run.
#[derive(Clone, Copy, Debug)]
pub struct ExplainOptions {
    /// Measure what would be tried.
    pub measure: bool,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self { measure: true }
    }
}

/// The explanations for the nests of a file.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainReport {
    /// [`EXPLAIN_SCHEMA`].
    pub schema: &'static str,
    /// The user's file.
    pub input: PathBuf,
    /// The machine.
    pub host: HostReport,
    /// Threads the emitted code may use.
    pub threads: u32,
    /// Entries of the recipe database; `None` if it was not asked.
    pub database_entries: Option<u64>,
    /// Whether what would be tried was measured.
    pub measured: bool,
    /// The nests that would be tuned, in the order of the file.
    pub nests: Vec<NestExplanation>,
    /// The others, and why.
    pub skipped: Vec<SkippedNest>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// Why a nest is tuned as it is.
#[derive(Clone, Debug, Serialize)]
pub struct NestExplanation {
    /// Position in the file, from 0.
    pub id: usize,
    /// Function it stands in.
    pub function: String,
    /// First line.
    #[serde(flatten)]
    pub line: LineReport,
    /// Share of the original program's time.
    pub share: Option<f64>,
    /// What the nest is known by; `None` if it was not described.
    pub nest: Option<DescribedNest>,
    /// The nests of the database that were asked, those of the same normal form first, then nearest first.
    pub donors: Vec<DonorExplanation>,
    /// The distance beyond which donors say nothing, if the encoder knows it.
    pub far: Option<f64>,
    /// Legal schedules: those that are tried, in their order, then the others by what is expected of them.
    pub candidates: Vec<CandidateExplanation>,
    /// What could not be made for this nest, and why.
    pub refused: Vec<RefusalExplanation>,
    /// Milliseconds of one invocation of the original.
    pub baseline_ms: Option<f64>,
    /// Name of the schedule that won.
    pub winner: Option<String>,
    /// Why, in a sentence.
    pub conclusion: String,
    /// What else there is to say.
    pub note: Option<String>,
}

/// What a nest is known by.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedNest {
    /// Hash of the normal form.
    pub hash: String,
    /// The normal form.
    pub text: String,
    /// Values of its symbols.
    pub sizes: BTreeMap<String, i64>,
    /// What was done to bring it into that form, and what could not be done.
    pub normalization: Vec<String>,
    /// What its vectors can be compared with.
    pub space: EmbeddingSpace,
    /// Where it lies: the vector that donors are found by, of length 1.
    pub embedding: Vec<f32>,
    /// Where it would lie without the profile of its run, of length 1.
    pub static_embedding: Vec<f32>,
    /// Its loops and statements.
    pub nodes: Vec<NodeEmbedding>,
    /// The encoder's guess of the seconds of one run of the normal form; `None` if the machine cannot be so fast.
    pub predicted_seconds: Option<f64>,
    /// The encoder's guess of its rate, 10⁹ floating-point operations per second; `None` if it is above the machine's peak,
    /// or if that is not known.
    pub predicted_gflops: Option<f64>,
    /// Why one of these guesses is left out.
    pub why_no_guess: Vec<String>,
}

/// A nest of the database.
#[derive(Clone, Debug, Serialize)]
pub struct DonorExplanation {
    /// Its entry and what it is, as in reports.
    pub donor: String,
    /// The same for people: `a stencil of 6 loops, 68 % alike`.
    pub in_words: String,
    /// What it computes, as in reports.
    pub kind: &'static str,
    /// Its loops.
    pub n_loops: usize,
    /// How much it is like this nest, from 0 to 1, as in reports.
    pub likeness: Option<f64>,
    /// The entry of the greatest gain.
    pub entry: String,
    /// Hash of its normal form.
    pub hash: String,
    /// Its normal form.
    pub text: String,
    /// Distance of the embeddings.
    pub distance: Option<f64>,
    /// Whether it has the normal form of this nest.
    pub exact: bool,
    /// Where it lies.
    pub embedding: Vec<f32>,
    /// Which of its loops and statements is which of this nest.
    pub aligned: Vec<AlignedNode>,
    /// What was tried on it, greatest gain first.
    pub trials: Vec<TrialExplanation>,
}

/// What was tried on a donor.
#[derive(Clone, Debug, Serialize)]
pub struct TrialExplanation {
    /// The entry.
    pub entry: String,
    /// The template, if it was made from one.
    pub template: Option<String>,
    /// The steps.
    pub steps: Vec<String>,
    /// What it gained there; `None` if it failed.
    pub speedup: Option<f64>,
    /// Why it failed, or cannot be read.
    pub failure: Option<String>,
    /// How much the circumstances were like those of this run, from 0 to 1.
    pub likeness: f64,
    /// The machine, if it was another one.
    pub machine: Option<String>,
}

/// A legal schedule for the nest.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateExplanation {
    /// Short name.
    pub name: String,
    /// The templates that make it.
    pub templates: Vec<String>,
    /// Its steps, every one proved legal.
    pub steps: Vec<String>,
    /// Its place among those that are tried first, from 1.
    pub rank: Option<usize>,
    /// The donor that speaks for it most.
    pub donor: Option<String>,
    /// The same for people.
    pub donor_in_words: Option<String>,
    /// Distance of that donor.
    pub distance: Option<f64>,
    /// What it gained on that donor.
    pub donor_speedup: Option<f64>,
    /// The encoder's prediction; `None` if the machine cannot be so fast.
    pub predicted_speedup: Option<f64>,
    /// What donors and prediction expect together.
    pub expected_speedup: Option<f64>,
    /// What became of it, if it was tried.
    pub verdict: Option<Verdict>,
    /// Milliseconds of one invocation when it was screened: the least of a few runs, alone. Such times say which
    /// candidates are worth more runs, and compare with each other and with `baseline_ms` only.
    pub screened_ms: Option<f64>,
    /// Milliseconds of one invocation, the median of runs in turns with the original, if it was among the fastest.
    pub time_ms: Option<f64>,
    /// Original by candidate in those runs.
    pub speedup: Option<f64>,
    /// Why, where the verdict does not say it all.
    pub why: Option<String>,
}

/// Something that could not be made for the nest.
#[derive(Clone, Debug, Serialize)]
pub struct RefusalExplanation {
    /// Short name.
    pub name: String,
    /// Why not.
    pub reason: String,
    /// What it gained on which donor, if it helped one.
    pub helped: Option<String>,
    /// The steps, if it came to any before it was refused.
    pub steps: Vec<String>,
}

/// Explains what would be tried on the nests of `options.file`, and tries it unless told not to. No file is written.
///
/// # Errors
/// If the program cannot be built or run, or the recipe database cannot be read.
pub fn explain(
    options: &Options,
    explaining: &ExplainOptions,
    progress: &dyn Progress,
) -> Result<ExplainReport, Error> {
    if sdfg::is_sdfg(&options.file) {
        let found = sdfg::as_c(options, |c| explain(c, explaining, progress))?;
        return Ok(ExplainReport { input: options.file.clone(), ..found });
    }
    let session = Session::for_reading(options, progress)?;
    session.outcome(explained(&session, explaining))
}

fn explained(session: &Session<'_>, explaining: &ExplainOptions) -> Result<ExplainReport, Error> {
    let unit = read(session)?;
    expect_nests(session, &unit)?;
    let proposed = open(session, propose(session, capture(session, unit)?)?)?;
    let Workpiece { unit, nests, .. } = match explaining.measure {
        true => second_round(session, measure(session, proposed)?)?.workpiece,
        false => proposed.workpiece,
    };
    let recipes = session.known.recipes.as_ref();
    let mut report = ExplainReport {
        schema: EXPLAIN_SCHEMA,
        input: session.options.file.clone(),
        host: session.host.clone(),
        threads: session.threads,
        database_entries: recipes.map(|recipes| recipes.n_entries()).transpose()?,
        measured: explaining.measure,
        nests: Vec::new(),
        skipped: Vec::new(),
        notes: session.notes.clone(),
    };
    for (id, nest) in nests.iter().enumerate() {
        match &nest.standing {
            Standing::Tuned => {
                let roofs = nest.roofs(session, &unit, id);
                let ceilings = Ceilings { roofs: roofs.as_ref(), threads: session.threads };
                report.nests.push(explanation(&unit, id, nest, ceilings, explaining.measure));
            }
            Standing::Short(why) | Standing::Skipped(why) => {
                let (name, why) = (nest.place.name(&unit), why.to_string());
                report.skipped.push(SkippedNest { id, name, why });
            }
        }
    }
    Ok(report)
}

impl ExplainReport {
    /// The report as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of a report has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has a JSON form");
        text.push('\n');
        text
    }
}

/// What the machine allows a nest.
#[derive(Clone, Copy)]
struct Ceilings<'a> {
    roofs: Option<&'a Roofs<'a>>,
    threads: u32,
}

impl Ceilings<'_> {
    /// A time that no schedule with so many threads goes below, in seconds.
    fn least_seconds(self, threads: u32) -> Option<f64> {
        Some(self.roofs?.least_seconds(threads)?.0)
    }

    /// A rate that no schedule with so many threads goes beyond, 10⁹ operations per second.
    fn peak_gflops(self, threads: u32) -> Option<f64> {
        self.roofs?.peak_gflops(threads)
    }
}

fn explanation(
    unit: &Unit,
    id: usize,
    nest: &TunedNest,
    ceilings: Ceilings<'_>,
    measured: bool,
) -> NestExplanation {
    let (function, _, _) = nest.place.of(unit);
    let winner = nest.winner().map(|(trial, _)| trial.schedule.name.clone());
    let (described, advice) = match nest.advice.as_deref() {
        Some((described, advice)) => (Some(described), Some(advice)),
        None => (None, None),
    };
    let in_place = || Some(1e-9 * nest.calls.samples.first()?.nanoseconds? as f64);
    let baseline = nest.baseline_seconds.or_else(in_place);
    let most =
        baseline.zip(ceilings.least_seconds(ceilings.threads)).map(|(baseline, least)| baseline / least);
    let mut candidates = candidates(nest, advice);
    for candidate in &mut candidates {
        candidate.predicted_speedup =
            candidate.predicted_speedup.filter(|s| most.is_none_or(|most| *s <= most));
    }
    let refused = match advice {
        Some(advice) => advice.refused.iter().map(refusal).collect(),
        None => nest.refused.iter().map(suggestion_refused).collect(),
    };
    NestExplanation {
        id,
        function: function.to_owned(),
        line: nest.place.lines(unit),
        share: nest.calls.share,
        nest: described.map(|described| described_nest(described, ceilings)),
        donors: advice.map(donors).unwrap_or_default(),
        far: advice.and_then(|advice| advice.far),
        refused,
        baseline_ms: nest.baseline_seconds.map(|seconds| 1e3 * seconds),
        conclusion: conclusion(&candidates, winner.as_deref(), measured),
        winner,
        candidates,
        note: nest.remarks(unit),
    }
}

fn described_nest(nest: &NestDescription, ceilings: Ceilings<'_>) -> DescribedNest {
    let stored = nest.stored();
    let seconds = 10.0_f64.powf(nest.embedding.log_seconds.into());
    let seconds = possible_seconds(seconds, ceilings.least_seconds(1));
    let gflops = 10.0_f64.powf(nest.embedding.log_gflops.into());
    let gflops = possible_gflops(gflops, ceilings.peak_gflops(1));
    let why_no_guess =
        [seconds.as_ref().err(), gflops.as_ref().err()].into_iter().flatten().cloned().collect();
    DescribedNest {
        hash: nest.form.hash.clone(),
        text: nest.form.text.clone(),
        sizes: nest.sizes.clone(),
        normalization: nest.normal.log.iter().map(ToString::to_string).collect(),
        space: stored.space,
        embedding: stored.nest,
        static_embedding: nest.embedding.nest.clone(),
        nodes: stored.nodes,
        predicted_seconds: seconds.ok(),
        predicted_gflops: gflops.ok(),
        why_no_guess,
    }
}

/// A guessed time in seconds, or why it is none.
fn possible_seconds(guess: f64, least: Option<f64>) -> Result<f64, String> {
    match least {
        Some(least) if guess < least => Err(format!(
            "no prediction of the time: it was below the {:.3} ms that this machine needs at least",
            1e3 * least
        )),
        _ => Ok(guess),
    }
}

/// A guessed rate in 10⁹ operations per second, or why it is none.
fn possible_gflops(guess: f64, peak: Option<f64>) -> Result<f64, String> {
    match peak {
        Some(peak) if guess <= peak => Ok(guess),
        Some(peak) => {
            Err(format!("no prediction of the rate: it was above the measured peak of {peak:.0} GFLOP/s"))
        }
        None => Err("no prediction of the rate: there is no measured peak to check it against".into()),
    }
}

fn donors(advice: &Advice) -> Vec<DonorExplanation> {
    let one = |(donor, aligned): (&Donor, &Vec<AlignedNode>)| DonorExplanation {
        donor: donor.label(),
        in_words: donor.in_words(),
        kind: donor.kind.name(),
        n_loops: donor.n_loops,
        likeness: donor.likeness,
        entry: donor.id.to_string(),
        hash: donor.hash.clone(),
        text: donor.text.clone(),
        distance: donor.distance,
        exact: donor.exact,
        embedding: donor.vector.clone(),
        aligned: aligned.clone(),
        trials: donor.trials.iter().map(trial).collect(),
    };
    advice.donors.iter().zip(&advice.aligned).map(one).collect()
}

fn trial(trial: &DonorTrial) -> TrialExplanation {
    let learnt = trial.recipe.as_ref();
    TrialExplanation {
        entry: trial.id.to_string(),
        template: learnt.ok().and_then(|learnt| learnt.template).map(|template| template.to_string()),
        steps: learnt.map(|learnt| steps(&learnt.steps)).unwrap_or_default(),
        speedup: trial.failure.is_none().then(|| trial.log_gain.exp2()),
        failure: trial.failure.clone().or_else(|| learnt.err().map(ToString::to_string)),
        likeness: trial.likeness,
        machine: trial.machine.clone(),
    }
}

fn steps(recipe: &Recipe) -> Vec<String> {
    recipe.steps.iter().map(ToString::to_string).collect()
}

fn refusal(refusal: &AdvisedRefusal) -> RefusalExplanation {
    RefusalExplanation {
        name: refusal.name.clone(),
        reason: refusal.reason.clone(),
        helped: refusal.helped.clone(),
        steps: refusal.recipe.as_ref().map(steps).unwrap_or_default(),
    }
}

fn suggestion_refused(refused: &RefusedSuggestion) -> RefusalExplanation {
    let RefusedSuggestion { name, reason } = refused.clone();
    RefusalExplanation { name, reason, helped: None, steps: Vec::new() }
}

/// What was or would be tried, in its order, then what was not chosen.
fn candidates(nest: &TunedNest, advice: Option<&Advice>) -> Vec<CandidateExplanation> {
    let options = advice.map_or(&[][..], |advice| &advice.options);
    let rank =
        |position: usize| advice.and_then(|a| a.chosen.iter().position(|c| *c == position)).map(|r| r + 1);
    let of_trial = |trial: &Trial| {
        let schedule = &trial.schedule;
        let position = options.iter().position(|option| option.schedule.recipe == schedule.recipe);
        let option = position.map(|position| &options[position]);
        CandidateExplanation {
            rank: position.and_then(rank),
            verdict: Some(trial.verdict),
            screened_ms: trial.screened.map(|screened| 1e3 * screened.seconds),
            time_ms: trial.timed.map(|timed| 1e3 * timed.seconds),
            speedup: trial.timed.map(|timed| timed.speedup),
            why: trial.why.clone(),
            ..thought(option.map_or(schedule, |option| &option.schedule), option, advice)
        }
    };
    let tried: Vec<CandidateExplanation> = nest.trials.iter().map(of_trial).collect();
    let is_tried = |option: &AdvisedOption| {
        nest.trials.iter().any(|trial| trial.schedule.recipe == option.schedule.recipe)
    };
    let mut others: Vec<&AdvisedOption> = options.iter().filter(|option| !is_tried(option)).collect();
    let value = |option: &AdvisedOption| option.choice.expected.unwrap_or(f64::NEG_INFINITY);
    others.sort_by(|a, b| value(b).total_cmp(&value(a)));
    let others = others.into_iter().map(|option| thought(&option.schedule, Some(option), advice));
    tried.into_iter().chain(others).collect()
}

/// A schedule with what is thought of it, the rest left out.
fn thought(
    schedule: &Schedule,
    option: Option<&AdvisedOption>,
    advice: Option<&Advice>,
) -> CandidateExplanation {
    let choice = option.map(|option| option.choice.clone()).unwrap_or_default();
    let donor = choice.donor_idx.zip(advice).map(|(idx, advice)| &advice.donors[idx]);
    CandidateExplanation {
        name: schedule.name.clone(),
        templates: schedule.templates.iter().map(ToString::to_string).collect(),
        steps: steps(&schedule.recipe),
        rank: None,
        donor: choice.donor,
        donor_in_words: donor.map(Donor::in_words),
        distance: choice.distance,
        donor_speedup: donor.zip(option).and_then(|(donor, option)| option.gain_on(donor)).map(f64::exp2),
        predicted_speedup: choice.predicted.map(f64::exp2),
        expected_speedup: choice.expected.map(f64::exp2),
        verdict: None,
        screened_ms: None,
        time_ms: None,
        speedup: None,
        why: None,
    }
}

/// Why the winner won, in a sentence.
fn conclusion(candidates: &[CandidateExplanation], winner: Option<&str>, measured: bool) -> String {
    let Some(winner) = candidates.iter().find(|c| Some(c.name.as_str()) == winner) else {
        return match candidates.iter().find(|c| c.rank == Some(1)).or(candidates.first()) {
            None => "no schedule other than its own is legal and different".into(),
            Some(_) if measured => {
                let n = candidates.iter().filter(|c| c.screened_ms.is_some()).count();
                format!("the nest stays as it is: none of {n} measured schedules is faster beyond noise")
            }
            Some(first) => format!("`{}` would be tried first: {}", first.name, because(first)),
        };
    };
    let faster =
        |c: &CandidateExplanation| c.speedup.map(|s| format!("{s:.2} times as fast as the original"));
    let mut text = format!("`{}` wins: alone it is {}", winner.name, faster(winner).unwrap_or_default());
    text += &format!("; {}", because(winner));
    let others = candidates.iter().filter(|c| c.name != winner.name && c.speedup.is_some());
    let next = others.reduce(|a, b| if b.speedup > a.speedup { b } else { a });
    if let Some(next) = next {
        text += &format!("; the next best, `{}`, is {}", next.name, faster(next).unwrap_or_default());
    }
    text
}

/// What spoke for a schedule before it was measured.
fn because(candidate: &CandidateExplanation) -> String {
    let gained = candidate.donor_in_words.as_ref().zip(candidate.donor_speedup);
    let gained = gained.map(|(donor, speedup)| format!("it gained {speedup:.2}x on {donor}"));
    let predicted = candidate.predicted_speedup.map(|s| format!("the encoder predicted {s:.2}x"));
    let reasons: Vec<String> = gained.into_iter().chain(predicted).collect();
    match reasons.is_empty() {
        true => "the nest's own loops suggest it".into(),
        false => reasons.join(", and "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, speedup: Option<f64>) -> CandidateExplanation {
        CandidateExplanation {
            name: name.to_owned(),
            templates: Vec::new(),
            steps: Vec::new(),
            rank: None,
            donor: None,
            donor_in_words: None,
            distance: None,
            donor_speedup: None,
            predicted_speedup: None,
            expected_speedup: None,
            verdict: None,
            screened_ms: Some(0.1),
            time_ms: None,
            speedup,
            why: None,
        }
    }

    #[test]
    fn impossible_guesses_are_left_out() {
        assert_eq!(possible_gflops(117.0, Some(118.0)), Ok(117.0));
        let why = possible_gflops(404.39, Some(118.0)).expect_err("beyond the peak");
        assert!(why.contains("118 GFLOP/s") && !why.contains("404"), "{why}");
        assert!(possible_gflops(1.0, None).is_err());
        assert_eq!(possible_seconds(0.2, Some(0.1)), Ok(0.2));
        assert_eq!(possible_seconds(0.2, None), Ok(0.2));
        assert!(possible_seconds(0.05, Some(0.1)).is_err());
    }

    #[test]
    fn only_figures_of_one_measurement_are_compared() {
        let mut screened = candidate("screened only", None);
        screened.screened_ms = Some(0.01);
        let all = [screened, candidate("tiles", Some(37.58)), candidate("strips", Some(30.0))];
        let text = conclusion(&all, Some("tiles"), true);
        assert!(text.contains("37.58") && text.contains("`strips`, is 30.00"), "{text}");
        assert!(!text.contains("screened"), "{text}");
    }
}

//! What a run found, as a value that turns into JSON.
//!
//! Keys are only ever added. A figure that was not obtained is `null`, never a guess.

use super::emit::Emitted;
use super::kept_order::kept_in_order;
use super::nest_time::{InlinedReport, TimeReport};
use super::nodes_report::nodes_notes;
use super::search_report::SearchReport;
use super::sizes_report::{GuardReport, SizeReport, guard, sizes};
use super::source_report::{SourceReport, source_report};
use super::unchanged::Unchanged;
use crate::causes::{LeftOut, NotKept};
use crate::coverage::{Coverage, LineReport};
use crate::machine::HostReport;
use crate::nest::{IllConditioned, TunedNest, Workpiece};
use crate::openmp::Directives;
use crate::request::{Checks, FpPolicy, Options, REPORT_SCHEMA, RecipeFile};
use crate::schedule::{Proved, Trial, Verdict};
use crate::session::Session;
use crate::transfer::in_words;
use crate::whole::printed_tolerance;
use oxeye_frontend::{Conditions, Diagnostic, Unit};
use oxeye_host::HostProfile;
use oxeye_measure::WholeComparison;
use oxeye_nodes::{NodeReport, Nodes};
use oxeye_profile::{Bound, NestProfile};
use serde::Serialize;
use std::path::PathBuf;

/// A larger speedup of a whole program is no noise, however much single runs swing.
const LARGEST_NOISE: f64 = 0.05;

/// What `optimize` found and did.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema: &'static str,
    /// The user's file.
    pub input: PathBuf,
    /// The tuned file.
    pub output: PathBuf,
    /// Whether the tuned file differs from the input.
    pub changed: bool,
    /// The machine.
    pub host: HostReport,
    /// Everything that is known of the machine; not part of the JSON form, as it has a file of its own.
    #[serde(skip)]
    pub host_profile: Option<HostProfile>,
    /// How the original and the tuned program are compiled.
    pub build: BuildReport,
    /// Floating-point policy and what became of it.
    pub fp: FpReport,
    /// Threads the emitted code uses at most.
    pub threads: u32,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// Seconds that trying candidates was allowed to take.
    pub budget_seconds: f64,
    /// Those of them in which the whole program ran, as it is, observed, or tuned.
    pub program_seconds: f64,
    /// What was tried.
    #[serde(flatten)]
    pub tried: TriedReport,
    /// The whole program before and after.
    pub program: ProgramReport,
    /// Where the time of the original goes, if it could be sampled.
    pub coverage: Option<Coverage>,
    /// Every nest, in the order of the file.
    pub nests: Vec<NestReport>,
    /// What the reader had to leave as it is, and why.
    pub diagnostics: Vec<DiagnosticReport>,
    /// The recipes of the winners, as `--save-recipe` writes them.
    pub recipes: RecipeFile,
    /// How the search went, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchReport>,
    /// Sentences on the run as a whole.
    pub notes: Vec<String>,
}

/// What was tried.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TriedReport {
    /// Candidates that were compiled and run, over all nests.
    pub trials: usize,
    /// Nodes that measured candidates besides this machine.
    pub nodes: Vec<NodeReport>,
}

/// How things were compiled.
#[derive(Clone, Debug, Serialize)]
pub struct BuildReport {
    /// The compiler.
    pub compiler: String,
    /// What it says of its version.
    pub version: Option<String>,
    /// The user's arguments.
    pub args: Vec<String>,
    /// What the tuned file needs besides: `-fopenmp`, or `-fopenmp-simd` where one thread is at work.
    pub added: Vec<String>,
    /// Whether compiler and flags are oxeye's default, for want of others.
    pub assumed: bool,
}

/// Floating-point policy.
#[derive(Clone, Debug, Serialize)]
pub struct FpReport {
    /// Whether sums and products may be reordered.
    pub reassociate: bool,
    /// Where that comes from: `flags` or `option`; `clauses` if only `reduction` clauses of the source allow it, of the sums
    /// that they name.
    pub source: &'static str,
    /// Whether a chosen recipe makes use of it.
    pub used: bool,
    /// Largest relative difference of an output seen in the chosen nests and the whole program.
    pub max_rel_error: Option<f64>,
}

/// The whole program before and after. All `null` where there is no program to run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProgramReport {
    /// Median wall-clock time of the original.
    pub baseline_ms: Option<f64>,
    /// Wall-clock time of the tuned program under the same conditions: that of the original divided by the speedup.
    pub optimized_ms: Option<f64>,
    /// Time of the original by that of the tuned program, of runs side by side: what slows the machine down meanwhile is in
    /// both.
    pub speedup: Option<f64>,
    /// 95 % confidence interval of the speedup, wider with fewer than six runs.
    pub speedup_interval: Option<(f64, f64)>,
    /// Whether exit code and output were compared and agree.
    pub verified: bool,
    /// Largest relative difference of a printed number.
    pub max_rel_error: Option<f64>,
    /// Runs of each.
    pub samples: usize,
    /// Half the spread of the baseline's times, relative to the median.
    pub spread: Option<f64>,
    /// What was compared: `standard output`, and the files that were named.
    pub compared: Vec<String>,
    /// How far numbers could be apart, relative to the larger one; `None` for equal bytes.
    pub tolerance: Option<f64>,
    /// Numbers that were not compared because they vary from run to run.
    pub unstable_numbers: usize,
    /// Words and lines of it that are not compared likewise.
    pub unstable_words: usize,
    /// Whether the order of its lines varies, so that they are compared in any.
    pub in_any_order: bool,
    /// Parts that were not compared because they match a pattern.
    pub ignored_parts: usize,
    /// Lines on how many threads there are, which are others with OpenMP than without.
    pub thread_lines: usize,
    /// Numbers outside the tolerance that differ no more than those of other builds of the original do.
    pub widened_numbers: usize,
    /// Numbers outside the tolerance that differ by one unit of their last printed place.
    pub last_place_numbers: usize,
    /// How the tuned program first behaved unlike the original, if it did; the nests at fault were dropped.
    pub mismatch: Option<String>,
    /// What happened, where the figures do not say it.
    pub note: Option<String>,
    /// Why nothing is kept of what was found, which the note says.
    #[serde(skip)]
    pub not_kept: Option<NotKept>,
}

/// One nest.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NestReport {
    /// Position in the file, from 0.
    pub id: usize,
    /// Function it stands in.
    pub function: String,
    /// First line.
    #[serde(flatten)]
    pub line: LineReport,
    /// How much of the program's time it has.
    #[serde(flatten)]
    pub time: TimeReport,
    /// How often the program runs it.
    pub invocations: Option<u64>,
    /// The same by size, those that are timed first.
    pub sizes: Vec<SizeReport>,
    /// From which sizes on the new code runs; `None` if it runs at all of them.
    pub guard: Option<GuardReport>,
    /// Median time of one invocation as the user's compiler builds it.
    pub baseline_ms: Option<f64>,
    /// Time of one invocation of the chosen candidate: that of the baseline divided by the speedup; of the baseline if none was
    /// chosen.
    pub optimized_ms: Option<f64>,
    /// Median of the ratios of times taken in turns, where calls of several sizes were timed over all of these; 1 for a nest
    /// that stays.
    pub speedup: Option<f64>,
    /// 95 % confidence interval of the speedup.
    pub speedup_interval: Option<(f64, f64)>,
    /// Timed runs of each.
    pub samples: usize,
    /// Half the spread of the baseline's times, relative to the median.
    pub spread: Option<f64>,
    /// Whether the chosen candidate's outputs were compared with the original's and agree.
    pub verified: bool,
    /// Largest relative difference of an output element.
    pub max_rel_error: Option<f64>,
    /// How far roundings alone move the results of the original, where those of a candidate were outside the usual tolerance.
    pub conditioning: Option<IllConditioned>,
    /// Name of the chosen recipe.
    pub recipe: Option<String>,
    /// Its steps.
    pub steps: Vec<String>,
    /// Its text before and after, and its arrays.
    #[serde(flatten)]
    pub source: SourceReport,
    /// Whether it reorders floating-point sums.
    pub reassociated: bool,
    /// The nest of the recipe database that spoke for this recipe most: its entry, and what it is.
    pub donor: Option<String>,
    /// Distance of the embeddings of that nest and this one; 0 for the same normal form.
    pub distance: Option<f64>,
    /// What that nest computes: `stencil`, `matrix product`, … ([`NestKind::name`](oxeye_analysis::NestKind::name)).
    pub donor_kind: Option<&'static str>,
    /// Loops of that nest.
    pub donor_loops: Option<usize>,
    /// How much that nest is like this one, from 0 to 1: the cosine of the angle between the embeddings.
    pub likeness: Option<f64>,
    /// What bounds the nest, as it runs in the end, on this machine: the nearest roof.
    pub bound: Option<String>,
    /// Share of that roof reached, from 0 to 1.
    pub roof_fraction: Option<f64>,
    /// The nest against the machine's roofline, as the user's compiler builds it.
    pub profile_before: Option<NestProfile>,
    /// The same as it was rewritten.
    pub profile_after: Option<NestProfile>,
    /// What could not be done, and why, in words.
    pub refused: Vec<String>,
    /// The candidates that were tried.
    pub trials: Vec<TrialReport>,
    /// Why the nest stays as it is; `None` for a rewritten one.
    pub unchanged: Option<Unchanged>,
    /// The same in full, or what else there is to say.
    pub note: Option<String>,
    /// What would help, if anything does.
    pub help: Option<String>,
}

/// One candidate.
#[derive(Clone, Debug, Serialize)]
pub struct TrialReport {
    /// Name of the recipe.
    pub name: String,
    /// Its steps.
    pub recipe: Vec<String>,
    /// The nest it helped most, of those that are like this one.
    pub donor: Option<String>,
    /// Speedup that the encoder predicted.
    pub predicted_speedup: Option<f64>,
    /// What became of it.
    pub verdict: Verdict,
    /// Time of one invocation when it was screened.
    pub screened_ms: Option<f64>,
    /// Median of the interleaved timing, for the finalists.
    pub time_ms: Option<f64>,
    /// Time of the original by its own: of the interleaved timing, or of screening if it got no further.
    pub speedup: Option<f64>,
    /// Why, where the verdict does not say it all.
    pub why: Option<String>,
}

/// A message of the reader.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticReport {
    /// Function concerned.
    pub function: Option<String>,
    /// Line concerned.
    pub line: Option<u32>,
    /// Column there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// First line of the loop that stays as it is because of this.
    pub loop_line: Option<u32>,
    /// The included file that these lines are of, if they are of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The message.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
}

impl DiagnosticReport {
    /// The line concerned.
    pub fn place(&self) -> Option<LineReport> {
        Some(LineReport { file: self.file.clone(), ..LineReport::from(self.line?) })
    }

    /// The first line of the loop that stays as it is because of this.
    pub fn loop_place(&self) -> Option<LineReport> {
        Some(LineReport { file: self.file.clone(), ..LineReport::from(self.loop_line?) })
    }
}

impl Report {
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

impl NestReport {
    /// Where the chosen recipe was learnt, for people: `a stencil of 6 loops, 68 % alike`.
    pub fn learnt_from(&self) -> Option<String> {
        Some(in_words(self.donor_kind?, self.donor_loops?, self.likeness, self.distance == Some(0.0)))
    }
}

/// Whether a nest is a loop inside another one that was tried as well and of which nothing else is to be said.
fn was_opened_in_vain(nests: &[TunedNest], idx: usize) -> bool {
    let is_tried = |outer: &TunedNest| matches!(Unchanged::of(outer), None | Some(Unchanged::NothingFaster));
    let is_around = |outer: &TunedNest| outer.place.inside.contains(&idx);
    !nests[idx].place.within.is_empty() && nests.iter().any(|outer| is_around(outer) && is_tried(outer))
}

/// Stage 6: everything that was found, as a value.
pub fn report(session: &Session<'_>, emitted: &Emitted) -> Report {
    let Workpiece { unit, nests, .. } = &emitted.workpiece;
    let options = session.options;
    let mut order: Vec<(usize, &TunedNest)> = nests.iter().enumerate().collect();
    order.retain(|(idx, nest)| nest.winner.is_some() || !was_opened_in_vain(nests, *idx));
    order.sort_by_key(|(_, nest)| nest.place.span.start);
    let mut reports: Vec<NestReport> =
        order.iter().map(|(idx, nest)| nest_report(emitted, *idx, nest)).collect();
    name_apart(&mut reports, &order, unit);
    let winners = || nests.iter().filter_map(TunedNest::winner);
    let proofs = || (0..nests.len()).filter_map(|idx| emitted.proved(idx));
    let program = program_report(session, emitted);
    let errors = winners().map(|(_, timing)| timing.max_rel_error).chain(program.max_rel_error);
    let woken = if emitted.is_woken { Directives::Threads } else { Directives::Nothing };
    let directives = proofs().map(Proved::directives).fold(woken, Directives::max);
    let used = proofs().any(|proved| proved.applied.reassociated);
    let mut notes = session.notes.clone();
    notes.extend(emitted.notes.iter().cloned());
    notes.extend(kept_in_order(session, emitted));
    if directives == Directives::Threads && session.threads != session.host.cores {
        notes.push(format!(
            "measured with OMP_NUM_THREADS={}; set it when running the result",
            session.threads
        ));
    }
    let is_off = |idx: usize| {
        let place = &nests[idx].place;
        let function = &unit.functions[place.function_idx];
        emitted.proved(idx).is_some()
            && function.conditions.get(&place.nest_id).is_some_and(Conditions::is_without_openmp)
    };
    if (0..nests.len()).any(is_off) {
        let note = "where loops have OpenMP directives, the new code is for builds without -fopenmp: with it, your own loops run; \
                    to tune for such builds, add -fopenmp here";
        // What one has to know to have the gain at all comes first.
        notes.insert(0, note.into());
    }
    // The program of a project is run when all of its files are tuned.
    if emitted.whole.is_none() && options.project.is_none() && !options.checks.is_empty() {
        let note = "no whole program was run, so --tolerance, --ignore and --compare were not used";
        notes.push(note.into());
    }
    // Those of a project are told of once.
    let nodes = session.nodes().filter(|_| options.project.is_none());
    let of_nodes = nodes.map(Nodes::reports).unwrap_or_default();
    notes.splice(0..0, nodes.into_iter().flat_map(|nodes| nodes_notes(nodes, &of_nodes)));
    if !options.compiler.chosen {
        notes.push(format!("no compiler was named after `--`, so `{}` was used", options.compiler.line()));
    }
    let mut report = Report {
        schema: REPORT_SCHEMA,
        input: options.file.clone(),
        output: options.output_path(),
        changed: emitted.text != unit.own,
        host: session.host.clone(),
        host_profile: session.host_profile.clone(),
        build: BuildReport {
            compiler: options.compiler.command.clone(),
            version: session.workshop.compiler.version().ok(),
            args: options.compiler.args.clone(),
            added: directives.flag(&session.workshop.compiler.args).into_iter().collect(),
            assumed: !options.compiler.chosen,
        },
        fp: FpReport {
            reassociate: options.reassociate(),
            source: match options.fp {
                FpPolicy::FromFlags if used && !options.reassociate() => "clauses",
                FpPolicy::FromFlags => "flags",
                FpPolicy::Strict | FpPolicy::Reassociate => "option",
            },
            used,
            max_rel_error: errors.reduce(f64::max),
        },
        threads: session.threads,
        seconds: session.start().elapsed().as_secs_f64(),
        budget_seconds: options.budget.as_secs_f64(),
        program_seconds: session.program_seconds(),
        tried: TriedReport {
            trials: nests.iter().flat_map(|n| &n.trials).filter(|t| t.verdict.was_run()).count(),
            nodes: of_nodes,
        },
        program,
        coverage: emitted.workpiece.coverage.clone().map(|found| found.located(&unit.included)),
        nests: reports,
        diagnostics: diagnostics(unit),
        recipes: emitted.recipes.clone(),
        search: None,
        notes,
    };
    report.count_time();
    if options.project.is_none() && report.changed {
        report.note_unlike_nests();
    }
    report
}

/// Gives nests that begin in one line their columns, and their profiles the same names.
fn name_apart(reports: &mut [NestReport], order: &[(usize, &TunedNest)], unit: &Unit) {
    let lines: Vec<LineReport> = reports.iter().map(|report| report.line.clone()).collect();
    for (report, (_, nest)) in reports.iter_mut().zip(order) {
        if lines.iter().filter(|line| **line == report.line).count() > 1 {
            report.line.column = Some(nest.place.column(unit));
        }
        let name = report.name();
        let profiles = [report.profile_before.as_mut(), report.profile_after.as_mut()];
        profiles.into_iter().flatten().for_each(|profile| profile.name.clone_from(&name));
    }
}

fn program_report(session: &Session<'_>, emitted: &Emitted) -> ProgramReport {
    let Options { checks, fp, .. } = session.options;
    let tolerance = printed_tolerance(checks, *fp, session.options.reassociate());
    let Workpiece { unit, program, nests, .. } = &emitted.workpiece;
    let Some(whole) = &emitted.whole else {
        let note = match program {
            Some(program) => {
                let report = ProgramReport::unchanged(program.seconds, program.outputs.len());
                return ProgramReport { mismatch: emitted.mismatch.clone(), ..report };
            }
            None if nests.is_empty() => {
                Some("no loop nest was found that can be tuned, so it was not run".to_owned())
            }
            None => Some("there is no main, so no whole program was run".to_owned()),
        };
        return ProgramReport { note, ..ProgramReport::default() };
    };
    let unchanged = emitted.text == unit.own;
    let compared = ProgramReport::compared(checks, tolerance, whole);
    let compared = if unchanged { compared.of_unchanged() } else { compared };
    let not_kept = emitted.not_kept.clone();
    let note = not_kept.as_ref().map(NotKept::to_string);
    ProgramReport { mismatch: emitted.mismatch.clone(), note, not_kept, ..compared }
}

impl NestReport {
    /// Whether it was faster, and nothing is kept for this reason.
    pub fn was_dropped_for(&self, why: &NotKept) -> bool {
        let is_it = |trial: &TrialReport| {
            trial.verdict == Verdict::Dropped && trial.why.as_ref() == Some(&why.to_string())
        };
        self.unchanged == Some(Unchanged::Dropped) && self.trials.iter().any(is_it)
    }
}

impl ProgramReport {
    /// What of the program's output was compared, what not, and what less exactly, in sentences.
    pub fn compared_less(&self) -> Vec<String> {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let verb = |n: usize, verb: &str| format!("{verb}{}", if n == 1 { "s" } else { "" });
        let mut masked = Vec::new();
        if self.ignored_parts > 0 {
            masked.push(format!("{} by --ignore", count(self.ignored_parts, "part")));
        }
        if self.unstable_numbers > 0 {
            let vary = if self.unstable_numbers == 1 { "varies" } else { "vary" };
            masked.push(format!("{} that {vary} from run to run", count(self.unstable_numbers, "number")));
        }
        if self.unstable_words > 0 {
            let vary = if self.unstable_words == 1 { "varies" } else { "vary" };
            let when = if self.unstable_numbers > 0 { "likewise" } else { "from run to run" };
            masked.push(format!("{} that {vary} {when}", count(self.unstable_words, "word")));
        }
        if self.thread_lines > 0 {
            masked.push(format!("{} on how many threads there are", count(self.thread_lines, "line")));
        }
        if self.in_any_order {
            masked.push("the order of lines, which varies".into());
        }
        let mut sentences = Vec::new();
        if !masked.is_empty() {
            sentences.push(format!("not compared: {}", masked.join(", ")));
        }
        if self.last_place_numbers > 0 {
            let n = self.last_place_numbers;
            let (numbers, differ) = (count(n, "number"), verb(n, "differ"));
            sentences.push(format!("{numbers} {differ} by one unit of the last printed digit"));
        }
        if self.widened_numbers > 0 {
            let n = self.widened_numbers;
            let (numbers, differ, tolerance) =
                (count(n, "number"), verb(n, "differ"), self.tolerance.unwrap_or(0.0));
            sentences.push(format!(
                "{numbers} {differ} by more than {tolerance:e}, as in builds of the original that round differently"
            ));
        }
        sentences
    }

    /// Whether the speedup may as well be noise, by the interval it lies in and by how much the times of the original swing.
    pub fn is_within_noise(&self) -> bool {
        let is_small = |speedup: f64| (speedup - 1.0).abs() < self.spread.unwrap_or(0.0).min(LARGEST_NOISE);
        let may_be_none = self.speedup_interval.is_none_or(|(low, high)| low <= 1.0 && 1.0 <= high);
        self.speedup.is_some_and(is_small) && may_be_none
    }

    /// A program that stays as it is, and ran so many times, in so many seconds each.
    pub(crate) fn unchanged(seconds: f64, samples: usize) -> Self {
        let ms = Some(1e3 * seconds);
        Self { baseline_ms: ms, optimized_ms: ms, speedup: Some(1.0), samples, ..Self::default() }
    }

    /// The same with the figures of a program that stays as it is.
    fn of_unchanged(self) -> Self {
        Self {
            optimized_ms: self.baseline_ms,
            speedup: self.speedup.map(|_| 1.0),
            speedup_interval: None,
            ..self
        }
    }

    /// The figures of a program before and after, what was compared of it, and what was not.
    pub(crate) fn compared(checks: &Checks, tolerance: Option<f64>, whole: &WholeComparison) -> Self {
        let files = checks.files.iter().map(ToString::to_string);
        let (before, speedup) = (1e-6 * whole.before_ns.median, whole.speedup);
        Self {
            baseline_ms: Some(before),
            optimized_ms: Some(before / speedup.median),
            speedup: Some(speedup.median),
            speedup_interval: Some((speedup.low, speedup.high)),
            verified: whole.equal,
            max_rel_error: Some(whole.max_rel_error),
            samples: whole.before_ns.n,
            spread: Some(whole.before_ns.spread).filter(|_| whole.before_ns.n > 1),
            compared: std::iter::once("standard output".to_owned()).chain(files).collect(),
            tolerance,
            unstable_numbers: whole.unstable_numbers,
            unstable_words: whole.unstable_words,
            in_any_order: whole.in_any_order,
            ignored_parts: whole.ignored_parts,
            thread_lines: whole.thread_lines,
            widened_numbers: whole.widened_numbers,
            last_place_numbers: whole.last_place_numbers,
            ..Self::default()
        }
    }
}

fn nest_report(emitted: &Emitted, idx: usize, nest: &TunedNest) -> NestReport {
    let (_, program, ir) = nest.place.of(&emitted.workpiece.unit);
    let (chosen, timing) = nest.winner().unzip();
    let does_less = chosen.is_some_and(|trial| trial.schedule.recipe.does_less());
    let profile = chosen.and(nest.after.as_ref()).or(nest.before.as_ref()).filter(|_| !does_less);
    let donor = nest.advice.as_deref().zip(chosen.and_then(|t| t.choice.donor_idx));
    let donor = donor.map(|((_, advice), idx)| &advice.donors[idx]);
    let bound = |p: &NestProfile| (p.bound != Bound::Unknown).then(|| p.bound.to_string());
    // Times are those of whole calls.
    let factor = nest.calls.cut.map_or(1.0, |cut| cut.factor());
    let ms = |seconds: f64| 1e3 * factor * seconds;
    let baseline = timing.map(|t| t.baseline_seconds).or(nest.baseline_seconds);
    let code = emitted.blocks.get(&idx).map(|block| format!("{}{block}", emitted.helper(idx)));
    NestReport {
        invocations: nest.calls.invocations,
        sizes: sizes(&nest.calls.classes, chosen),
        guard: guard((program, nest.place.binding(&emitted.workpiece.unit)), ir, chosen),
        baseline_ms: baseline.map(ms),
        // The quotient of the two medians may say something else, and other sizes count as well.
        optimized_ms: timing.map(|t| t.baseline_seconds / t.speedup).or(baseline).map(ms),
        speedup: timing.map(|t| t.speedup).or(baseline.map(|_| 1.0)),
        speedup_interval: timing.and_then(|t| t.interval),
        samples: timing.map_or(0, |t| t.samples),
        spread: timing.and_then(|t| t.spread),
        verified: chosen.is_some(),
        max_rel_error: timing.map(|t| t.max_rel_error),
        conditioning: nest.conditioning.clone(),
        recipe: chosen.map(|t| t.schedule.name.clone()),
        steps: chosen.map(steps).unwrap_or_default(),
        source: source_report(&emitted.workpiece.unit, nest, code),
        reassociated: emitted.proved(idx).is_some_and(|proved| proved.applied.reassociated),
        donor: chosen.and_then(|t| t.choice.donor.clone()),
        distance: chosen.and_then(|t| t.choice.distance),
        donor_kind: donor.map(|donor| donor.kind.name()),
        donor_loops: donor.map(|donor| donor.n_loops),
        likeness: donor.and_then(|donor| donor.likeness),
        bound: profile.and_then(bound),
        roof_fraction: profile.and_then(|p| Some(p.roof_fraction?.value)),
        profile_before: nest.before.clone(),
        profile_after: nest.after.clone().filter(|_| chosen.is_some()),
        refused: nest.refused.iter().map(ToString::to_string).collect(),
        trials: nest.trials.iter().map(|trial| trial_report(trial, nest.baseline_seconds)).collect(),
        unchanged: Unchanged::of(nest),
        note: nest.remarks(&emitted.workpiece.unit),
        help: help(emitted.not_kept.as_ref(), nest).map(str::to_owned),
        ..placed(&emitted.workpiece, idx)
    }
}

/// Where a nest stands and what is in its time, as far as that does not depend on others.
pub(crate) fn placed(workpiece: &Workpiece, idx: usize) -> NestReport {
    let Workpiece { unit, nests, .. } = workpiece;
    let nest = &nests[idx];
    let function = &unit.functions[nest.place.function_idx];
    let inlined = function.elsewhere.get(&nest.place.nest_id).into_iter().flatten();
    let inlined =
        inlined.map(|(function, file)| InlinedReport { function: function.clone(), file: file.clone() });
    NestReport {
        id: idx,
        function: function.name.clone(),
        line: nest.place.lines(unit),
        time: TimeReport {
            share: nest.calls.share,
            within: workpiece.around(idx),
            inlined: inlined.collect(),
            ..TimeReport::default()
        },
        ..NestReport::default()
    }
}

/// What would help with a nest that stays.
fn help(not_kept: Option<&NotKept>, nest: &TunedNest) -> Option<&'static str> {
    let left_out = nest.standing.reason().and_then(LeftOut::remedy);
    let mut dropped = nest.trials.iter().filter(|trial| trial.verdict == Verdict::Dropped);
    let is_for = |why: &&NotKept| dropped.any(|trial| trial.why.as_ref() == Some(&why.to_string()));
    left_out.or_else(|| not_kept.filter(is_for).map(NotKept::remedy))
}

fn trial_report(trial: &Trial, baseline_seconds: Option<f64>) -> TrialReport {
    let screened = || Some(baseline_seconds? / trial.screened?.seconds);
    TrialReport {
        name: trial.schedule.name.clone(),
        recipe: steps(trial),
        donor: trial.choice.donor.clone(),
        predicted_speedup: trial.choice.predicted.map(f64::exp2),
        verdict: trial.verdict,
        screened_ms: trial.screened.map(|s| 1e3 * s.seconds),
        time_ms: trial.timed.map(|t| 1e3 * t.seconds),
        speedup: trial.timed.map(|t| t.speedup).or_else(screened),
        why: trial.why.clone(),
    }
}

fn steps(trial: &Trial) -> Vec<String> {
    trial.schedule.recipe.steps.iter().map(ToString::to_string).collect()
}

fn diagnostics(unit: &Unit) -> Vec<DiagnosticReport> {
    let report = |d: &Diagnostic| DiagnosticReport {
        function: d.function.clone(),
        line: d.span.map(|s| unit.included.line(s.line).line),
        column: d.span.map(|s| {
            let before = unit.source.get(..s.start).unwrap_or_default();
            1 + before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32
        }),
        loop_line: d.nest_line.map(|line| unit.included.line(line).line),
        file: d
            .nest_line
            .or(d.span.map(|s| s.line))
            .and_then(|line| LineReport::of(&unit.included, line).file),
        message: d.message.clone(),
        help: d.help.clone(),
    };
    unit.diagnostics.iter().map(report).collect()
}

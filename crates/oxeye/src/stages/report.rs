//! What a run found, as a value that turns into JSON.
//!
//! Keys are only ever added. A figure that was not obtained is `null`, never a guess.

use crate::commands::replay::emitted_code;
use crate::request::recipe_file::RecipeFile;
use crate::{Emitted, FpPolicy, Measured, SearchReport, Trial};
use oxeye_frontend::{Diagnostic, Unit};
use oxeye_host::HostProfile;
use oxeye_profile::{Bound, NestProfile};
use serde::Serialize;
use std::path::PathBuf;

/// Name and version of the report's form.
pub const REPORT_SCHEMA: &str = "oxeye.report/1";

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
    /// Those of them in which the whole program ran, as it is, observed, or tuned.
    pub program_seconds: f64,
    /// Candidates that were compiled and run, over all nests.
    pub trials: usize,
    /// The whole program before and after.
    pub program: ProgramReport,
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

/// The machine the figures were measured on.
#[derive(Clone, Debug, Serialize)]
pub struct HostReport {
    /// Processor model, if the system tells.
    pub cpu: Option<String>,
    /// Cores this process may run on.
    pub cores: u32,
    /// Bytes of first-level data cache.
    pub l1_bytes: u64,
    /// Bytes of second-level cache.
    pub l2_bytes: u64,
    /// Bytes of last-level cache.
    pub l3_bytes: u64,
    /// Bytes of the widest vector register that the compile flags allow.
    pub vector_bytes: u32,
    /// Most bytes that all cores together move to and from main memory, 10⁹ per second.
    pub dram_gb_per_s: Option<f64>,
    /// Most floating-point operations that all cores together do on f64, 10⁹ per second.
    pub peak_f64_gflops: Option<f64>,
    /// Whether the machine was measured with care (`oxeye host`) and not only briefly.
    pub thorough: bool,
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
    /// What the tuned file needs besides (`-fopenmp`).
    pub added: Vec<String>,
    /// Whether compiler and flags are oxeye's default, for want of others.
    pub assumed: bool,
}

/// Floating-point policy.
#[derive(Clone, Debug, Serialize)]
pub struct FpReport {
    /// Whether sums and products may be reordered.
    pub reassociate: bool,
    /// Where that comes from: `flags` or `option`.
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
    /// Median wall-clock time of the tuned program.
    pub optimized_ms: Option<f64>,
    /// `baseline_ms / optimized_ms`.
    pub speedup: Option<f64>,
    /// Whether exit code and output were compared and agree.
    pub verified: bool,
    /// Largest relative difference of a printed number.
    pub max_rel_error: Option<f64>,
    /// Runs of each.
    pub samples: usize,
    /// Half the spread of the baseline's times, relative to the median.
    pub spread: Option<f64>,
    /// How the tuned program first behaved unlike the original, if it did; the nests at fault were dropped.
    pub mismatch: Option<String>,
    /// What happened, where the figures do not say it.
    pub note: Option<String>,
}

/// One nest.
#[derive(Clone, Debug, Serialize)]
pub struct NestReport {
    /// Position in the file, from 0.
    pub id: usize,
    /// Function it stands in.
    pub function: String,
    /// First line.
    pub line: u32,
    /// Share of the original program's time.
    pub share: Option<f64>,
    /// How often the program runs it.
    pub invocations: Option<u64>,
    /// Median time of one invocation as the user's compiler builds it.
    pub baseline_ms: Option<f64>,
    /// Median time of one invocation of the chosen candidate; of the baseline if none was chosen.
    pub optimized_ms: Option<f64>,
    /// `baseline_ms / optimized_ms` of the interleaved timing; 1 for a nest that stays.
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
    /// Name of the chosen recipe.
    pub recipe: Option<String>,
    /// Its steps.
    pub steps: Vec<String>,
    /// The C block that replaces the nest.
    pub code: Option<String>,
    /// Whether it reorders floating-point sums.
    pub reassociated: bool,
    /// The nest of the recipe database that spoke for this recipe most: its entry, and what it is.
    pub donor: Option<String>,
    /// Distance of the embeddings of that nest and this one; 0 for the same normal form.
    pub distance: Option<f64>,
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
    /// Why the nest stays as it is, or what else there is to say.
    pub note: Option<String>,
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
    /// Why, where the verdict does not say it all.
    pub why: Option<String>,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Chosen and emitted.
    Chosen,
    /// Right, and not the fastest, or not faster beyond noise.
    Slower,
    /// A step was refused as illegal, or does not apply.
    Refused,
    /// The same C text as an earlier candidate.
    Duplicate,
    /// The emitted C could not be compiled.
    DoesNotCompile,
    /// Stopped because it takes longer than what is already known.
    TooSlow,
    /// Crashed.
    Crashed,
    /// Its outputs differ from the original's.
    WrongResult,
    /// Faster alone, dropped because the whole program did not gain.
    Dropped,
    /// The budget was spent first.
    NotTried,
}

/// A message of the reader.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticReport {
    /// Function concerned.
    pub function: Option<String>,
    /// Line concerned.
    pub line: Option<u32>,
    /// The message.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
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
    /// Where the chosen recipe was learnt, for people.
    pub fn learnt_from(&self) -> Option<String> {
        let donor = self.donor.as_ref()?;
        Some(match self.distance {
            Some(distance) if distance > 0.0 => format!("{donor}, distance {distance:.2}"),
            _ => donor.clone(),
        })
    }
}

impl Emitted<'_> {
    /// Stage 6: everything that was found, as a value.
    pub fn report(&self) -> Report {
        let tuner = self.tuner;
        let options = tuner.options;
        let nests: Vec<NestReport> = (0..self.measured.nests.len())
            .map(|idx| NestReport { code: self.code(idx), ..nest_report(&self.measured, idx) })
            .collect();
        let winners = || self.measured.nests.iter().filter_map(|n| n.winner.as_ref());
        let program = self.program_report();
        let errors = winners().map(|w| w.max_rel_error).chain(program.max_rel_error);
        let openmp = winners().any(|w| w.openmp);
        let mut notes = tuner.notes.clone();
        notes.extend(self.notes.iter().cloned());
        if openmp && tuner.threads != tuner.host.cores {
            notes.push(format!(
                "measured with OMP_NUM_THREADS={}; set it when running the result",
                tuner.threads
            ));
        }
        if self.whole.is_some() && !(options.sizes.is_empty() && options.inputs.is_empty()) {
            notes.push("there is a main, so sizes and data are the program's own, and --set and --input were not used".into());
        }
        if !options.compiler.chosen {
            notes
                .push(format!("no compiler was named after `--`, so `{}` was used", options.compiler.line()));
        }
        Report {
            schema: REPORT_SCHEMA,
            input: options.file.clone(),
            output: self.output(),
            changed: self.text != self.measured.captured.unit.source,
            host: tuner.host.clone(),
            host_profile: tuner.host_profile.clone(),
            build: BuildReport {
                compiler: options.compiler.command.clone(),
                version: tuner.compiler.version().ok(),
                args: options.compiler.args.clone(),
                added: tuner.openmp_flag().filter(|_| openmp).into_iter().collect(),
                assumed: !options.compiler.chosen,
            },
            fp: FpReport {
                reassociate: options.reassociate(),
                source: match options.fp {
                    FpPolicy::FromFlags => "flags",
                    FpPolicy::Strict | FpPolicy::Reassociate => "option",
                },
                used: winners().any(|w| w.reassociated),
                max_rel_error: errors.reduce(f64::max),
            },
            threads: tuner.threads,
            seconds: tuner.start.elapsed().as_secs_f64(),
            program_seconds: tuner.program_seconds(),
            trials: nests.iter().flat_map(|n| &n.trials).filter(|t| t.verdict.was_run()).count(),
            program,
            nests,
            diagnostics: diagnostics(&self.measured.captured.unit),
            recipes: self.recipes.clone(),
            search: None,
            notes,
        }
    }

    /// The C block that replaces a nest.
    fn code(&self, idx: usize) -> Option<String> {
        let nest = &self.measured.captured.nests[idx];
        let function = &self.measured.captured.unit.functions[nest.function_idx].name;
        let wanted =
            self.recipes.nests.iter().find(|r| r.function == *function && r.ordinal == nest.ordinal)?;
        emitted_code(&self.measured.captured.unit, &self.recipes, wanted).ok()
    }

    fn program_report(&self) -> ProgramReport {
        let Some(whole) = &self.whole else {
            let note = match self.measured.captured.program {
                Some(_) => None,
                None if self.measured.captured.nests.is_empty() => {
                    Some("no loop nest was found that can be tuned, so it was not run".to_owned())
                }
                None => Some("there is no main, so no whole program was run".to_owned()),
            };
            return ProgramReport { note, ..ProgramReport::default() };
        };
        let unchanged = self.text == self.measured.captured.unit.source;
        let before = 1e-6 * whole.before_ns.median;
        ProgramReport {
            baseline_ms: Some(before),
            optimized_ms: Some(if unchanged { before } else { 1e-6 * whole.after_ns.median }),
            speedup: Some(if unchanged { 1.0 } else { whole.speedup.median }),
            verified: whole.equal,
            max_rel_error: Some(whole.max_rel_error),
            samples: whole.before_ns.n,
            spread: Some(whole.before_ns.spread).filter(|_| whole.before_ns.n > 1),
            mismatch: self.mismatch.clone(),
            note: None,
        }
    }
}

fn nest_report(measured: &Measured, idx: usize) -> NestReport {
    let captured = &measured.captured.nests[idx];
    let found = &measured.nests[idx];
    let winner = found.winner.as_ref();
    let chosen = winner.map(|w| &found.trials[w.trial_idx]);
    let profile = winner.and(found.after.as_ref()).or(found.before.as_ref());
    let bound = |p: &NestProfile| (p.bound != Bound::Unknown).then(|| p.bound.to_string());
    let ms = |seconds: f64| 1e3 * seconds;
    let baseline = winner.map(|w| w.baseline_seconds).or(found.baseline_seconds);
    NestReport {
        id: idx,
        function: measured.captured.unit.functions[captured.function_idx].name.clone(),
        line: captured.span.line,
        share: captured.share,
        invocations: captured.invocations,
        baseline_ms: baseline.map(ms),
        optimized_ms: winner.map(|w| w.seconds).or(baseline).map(ms),
        speedup: winner.map(|w| w.speedup).or(baseline.map(|_| 1.0)),
        speedup_interval: winner.and_then(|w| w.interval),
        samples: winner.map_or(0, |w| w.samples),
        spread: winner.and_then(|w| w.spread),
        verified: winner.is_some(),
        max_rel_error: winner.map(|w| w.max_rel_error),
        recipe: chosen.map(|t| t.name.clone()),
        steps: chosen.map(steps).unwrap_or_default(),
        code: None,
        reassociated: winner.is_some_and(|w| w.reassociated),
        donor: chosen.and_then(|t| t.choice.donor.clone()),
        distance: chosen.and_then(|t| t.choice.distance),
        bound: profile.and_then(bound),
        roof_fraction: profile.and_then(|p| Some(p.roof_fraction?.value)),
        profile_before: found.before.clone(),
        profile_after: found.after.clone().filter(|_| winner.is_some()),
        refused: found.refused.clone(),
        trials: found.trials.iter().map(trial_report).collect(),
        note: captured.skip.clone().or_else(|| found.note.clone()),
    }
}

fn trial_report(trial: &Trial) -> TrialReport {
    TrialReport {
        name: trial.name.clone(),
        recipe: steps(trial),
        donor: trial.choice.donor.clone(),
        predicted_speedup: trial.choice.predicted.map(f64::exp2),
        verdict: trial.verdict,
        screened_ms: trial.screened_seconds.map(|s| 1e3 * s),
        time_ms: trial.timed_seconds.map(|s| 1e3 * s),
        why: trial.why.clone(),
    }
}

fn steps(trial: &Trial) -> Vec<String> {
    trial.recipe.steps.iter().map(ToString::to_string).collect()
}

fn diagnostics(unit: &Unit) -> Vec<DiagnosticReport> {
    let report = |d: &Diagnostic| DiagnosticReport {
        function: d.function.clone(),
        line: d.span.map(|s| s.line),
        message: d.message.clone(),
        help: d.help.clone(),
    };
    unit.diagnostics.iter().map(report).collect()
}

impl Verdict {
    /// Whether the candidate was compiled and run.
    pub fn was_run(self) -> bool {
        !matches!(self, Verdict::Refused | Verdict::Duplicate | Verdict::DoesNotCompile | Verdict::NotTried)
    }
}

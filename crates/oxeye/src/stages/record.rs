//! What a run has learnt of recipes, for the recipe database: failures included.

use crate::{Emitted, MeasuredNest, RECIPE_SCHEMA, Trial, Tuner, Verdict};
use oxeye_database::{
    Context, FpPolicy, Json, Measured, NewEntry, Origin, Provenance, RecipeText, Speedup, Timestamp,
};
use oxeye_transform::{STORED_RECIPE_FORMAT, StoredRecipe};

/// A single run of each tells a gain or a loss only if it is beyond this.
const SCREENING_NOISE: f64 = 1.1;
/// Of the intervals of interleaved timings.
const CONFIDENCE: f64 = 0.95;

/// A recipe as the database keeps it.
pub fn recipe_text(recipe: &StoredRecipe) -> RecipeText {
    RecipeText { format: STORED_RECIPE_FORMAT.into(), steps: Json::from(&recipe.to_json()) }
}

/// A recipe of the database, or the steps of a recipe file.
///
/// # Errors
/// If the form is not known here, or the text is not of that form.
pub fn stored_recipe(text: &RecipeText) -> Result<StoredRecipe, String> {
    let value = text.steps.value();
    match text.format.as_str() {
        STORED_RECIPE_FORMAT => StoredRecipe::from_json(value),
        RECIPE_SCHEMA => {
            let steps = serde_json::from_value(value).map_err(|e| e.to_string())?;
            Ok(StoredRecipe { template: None, steps })
        }
        other => Err(format!("recipes of the form `{other}` are not known here")),
    }
}

/// The trials of a run that were compiled and run.
pub(crate) fn entries(emitted: &Emitted<'_>, origin: Origin) -> Vec<NewEntry> {
    let (tuner, measured) = (emitted.tuner, &emitted.measured);
    let context = context(tuner);
    let host_summary = Json::from(&serde_json::to_value(&tuner.host).unwrap_or_default());
    let mut entries = Vec::new();
    for (idx, nest) in measured.nests.iter().enumerate() {
        let tried: Vec<&Trial> = nest.trials.iter().filter(|t| is_told(t)).collect();
        if tried.is_empty() {
            continue;
        }
        // What cannot be described must cost no more than what this nest has taught.
        let Ok(described) = tuner.describe(&measured.captured, idx, nest.baseline_seconds) else { continue };
        for trial in tried {
            let Some((verdict, figures, n_samples)) = judged(trial, nest) else { continue };
            entries.push(NewEntry {
                nest: described.form.clone(),
                embedding: Some(described.stored()),
                recipe: recipe_text(&StoredRecipe { template: trial.template, steps: trial.recipe.clone() }),
                verdict,
                measured: figures,
                n_samples,
                context: context.clone(),
                compiler_version: tuner.compiler.version().unwrap_or_default(),
                host_summary: host_summary.clone(),
                sizes: described.sizes.clone(),
                provenance: Provenance { origin, imported_from: None },
                created_at: Timestamp::now(),
                oxeye_version: env!("CARGO_PKG_VERSION").into(),
            });
        }
    }
    entries
}

/// Where and how a run measures.
pub(crate) fn context(tuner: &Tuner<'_>) -> Context {
    let host_key = match &tuner.host_profile {
        Some(profile) => format!("{}, {} threads", profile.key.cpu_model, profile.key.threads),
        None => format!("unknown, {} threads", tuner.host.cores),
    };
    Context {
        host_key,
        compiler: tuner.compiler.program.clone(),
        flags: tuner.compiler.args.clone(),
        threads: tuner.threads,
        policy: if tuner.policy().reassociate { FpPolicy::Reassociate } else { FpPolicy::Strict },
    }
}

/// Whether a trial tells something: what was refused is refused again without having to be remembered.
fn is_told(trial: &Trial) -> bool {
    trial.verdict.was_run() || trial.verdict == Verdict::DoesNotCompile
}

/// A trial in the words of the database, with the number of measurements behind it.
fn judged(trial: &Trial, nest: &MeasuredNest) -> Option<(oxeye_database::Verdict, Option<Measured>, u32)> {
    use oxeye_database::Verdict as Judged;
    let why = || trial.why.clone().unwrap_or_else(|| "no reason is known".into());
    match trial.verdict {
        Verdict::WrongResult | Verdict::Crashed | Verdict::DoesNotCompile | Verdict::TooSlow => {
            return Some((Judged::Failed(why()), None, 1));
        }
        Verdict::NotTried | Verdict::Refused | Verdict::Duplicate => return None,
        Verdict::Chosen | Verdict::Slower | Verdict::Dropped => {}
    }
    let (baseline, best, speedup, n_samples) = match &trial.timed {
        Some(timed) => {
            let (low, high) = timed.interval.unwrap_or((timed.speedup, timed.speedup));
            let confidence = if timed.interval.is_some() { CONFIDENCE } else { 0.0 };
            let (low, high) = (low.min(timed.speedup), high.max(timed.speedup));
            let speedup = Speedup { median: timed.speedup, low, high, confidence };
            (timed.baseline_seconds, timed.seconds, speedup, timed.samples)
        }
        None => {
            let (baseline, best) = (nest.baseline_seconds?, trial.screened_seconds?);
            let ratio = baseline / best;
            // Nothing is known of how far off single runs are.
            let speedup = Speedup { median: ratio, low: ratio, high: ratio, confidence: 0.0 };
            (baseline, best, speedup, trial.screened_samples)
        }
    };
    let (gain, loss) = match speedup.confidence > 0.0 {
        true => (speedup.low > 1.0, speedup.high < 1.0),
        false => (speedup.median > SCREENING_NOISE, speedup.median < 1.0 / SCREENING_NOISE),
    };
    let verdict = match (gain, loss) {
        // It gains alone and not in its program: nobody should take it for a gain.
        _ if trial.verdict == Verdict::Dropped => Judged::Even,
        (true, _) => Judged::Gained,
        (_, true) => Judged::Slowed,
        _ => Judged::Even,
    };
    let figures = Measured { baseline_seconds: baseline, best_seconds: best, speedup };
    let sound = [baseline, best, speedup.median, speedup.low, speedup.high];
    let sound = sound.iter().all(|x| x.is_finite() && *x > 0.0);
    sound.then(|| (verdict, Some(figures), n_samples.clamp(1, u32::MAX as usize) as u32))
}

//! What a run has learnt of recipes, for the recipe database: failures included.

use super::emit::Emitted;
use crate::knowledge::recipe_text;
use crate::nest::{TunedNest, Workpiece};
use crate::schedule::{Trial, Verdict};
use crate::session::Session;
use oxeye_database::{Json, Measured, NewEntry, Origin, Provenance, Speedup, Timestamp};
use oxeye_transform::{PreparedNest, StoredRecipe};

/// A single run of each tells a gain or a loss only if it is beyond this.
const SCREENING_NOISE: f64 = 1.1;
/// Of the intervals of interleaved timings.
const CONFIDENCE: f64 = 0.95;

/// The trials of a run that were compiled and run.
pub(crate) fn entries(session: &Session<'_>, emitted: &Emitted, origin: Origin) -> Vec<NewEntry> {
    let Workpiece { unit, nests, .. } = &emitted.workpiece;
    let context = session.context();
    let host_summary = Json::from(&serde_json::to_value(&session.host).unwrap_or_default());
    let mut entries = Vec::new();
    for nest in nests {
        let told: Vec<&Trial> = nest.trials.iter().filter(|t| is_told(t)).collect();
        if told.is_empty() {
            continue;
        }
        let ((_, program, ir), sizes) = (nest.place.of(unit), nest.sizes());
        // What cannot be described must cost no more than what this nest has taught.
        let described = session.describe(
            &PreparedNest::new(program, ir),
            &|symbol| sizes.get(symbol),
            nest.baseline_seconds,
        );
        let Ok(described) = described else { continue };
        for trial in told {
            let Some((verdict, figures, n_samples)) = judged(trial, nest) else { continue };
            let (template, steps) = (trial.schedule.template(), trial.schedule.recipe.clone());
            entries.push(NewEntry {
                nest: described.form.clone(),
                embedding: Some(described.stored()),
                recipe: recipe_text(&StoredRecipe { template, steps }),
                verdict,
                measured: figures,
                n_samples,
                context: context.clone(),
                compiler_version: session.workshop.compiler.version().unwrap_or_default(),
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

/// Whether a trial tells something: what was refused is refused again without having to be remembered.
fn is_told(trial: &Trial) -> bool {
    trial.verdict.was_run() && !trial.is_special || trial.verdict == Verdict::DoesNotCompile
}

/// A trial in the words of the database, with the number of measurements behind it.
fn judged(trial: &Trial, nest: &TunedNest) -> Option<(oxeye_database::Verdict, Option<Measured>, u32)> {
    use oxeye_database::Verdict as Judged;
    let why = || trial.why.clone().unwrap_or_else(|| "no reason is known".into());
    match trial.verdict {
        Verdict::WrongResult | Verdict::Crashed | Verdict::DoesNotCompile | Verdict::TooSlow => {
            return Some((Judged::Failed(why()), None, 1));
        }
        Verdict::NotTried | Verdict::Refused | Verdict::Duplicate => return None,
        Verdict::Chosen | Verdict::Slower | Verdict::Dropped | Verdict::Overlapped => {}
    }
    let (baseline, best, speedup, n_samples) = match &trial.timed {
        Some(timed) => {
            // The sizes that are stored are those of the first sample.
            let first = trial.sizes.first().map(|first| (first.speedup, first.interval));
            let (median, interval) = first.unwrap_or((timed.speedup, timed.interval));
            let (low, high) = interval.unwrap_or((median, median));
            let confidence = if interval.is_some() { CONFIDENCE } else { 0.0 };
            let speedup = Speedup { median, low: low.min(median), high: high.max(median), confidence };
            (timed.baseline_seconds, timed.seconds, speedup, timed.samples)
        }
        None => {
            let screened = trial.screened?;
            let (baseline, best) = (nest.baseline_seconds?, screened.seconds);
            let ratio = baseline / best;
            // Nothing is known of how far off single runs are.
            let speedup = Speedup { median: ratio, low: ratio, high: ratio, confidence: 0.0 };
            (baseline, best, speedup, screened.samples)
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

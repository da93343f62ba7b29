//! Entries of a recipe database from measured nests.
//!
//! For every normal form, the templates that gained most are kept, and a few that lost or failed: what a similar nest
//! should try, and what it should not. Templates and times refer to the normal form of the nest, on which they were
//! measured.

mod choose;
mod describe;
mod noise;
mod store;

pub use choose::{MOST_GAINS, MOST_LOSSES, chosen_trials};
pub use describe::{Description, describe, embed_entry};
pub use noise::Noise;
pub use store::write_entries;

use crate::measure::{COMPILER, POLICY};
use crate::record::{Record, Response, Status};
use choose::{Tried, choose};
use oxeye::Embedder;
use oxeye_database::{
    Context, FpPolicy, Json, Measured, NewEntry, Origin, Provenance, RecipeText, Timestamp, Verdict,
};
use oxeye_transform::templates::{Base, Template};
use oxeye_transform::{Recipe, STORED_RECIPE_FORMAT, StoredRecipe};
use std::collections::{BTreeMap, BTreeSet};

/// Entries made from a dataset.
#[derive(Clone, Debug, Default)]
pub struct Harvest {
    /// The entries, nest after nest by hash, the fastest template of a nest first.
    pub entries: Vec<NewEntry>,
    /// Nests with entries.
    pub n_nests: usize,
    /// Nests that were left out.
    pub n_excluded: usize,
    /// Other spellings of a computation, for which one nest stands.
    pub n_repeated: usize,
    /// Per cent by which a speedup must differ from 1 to be a gain or a loss.
    pub noise: f64,
    /// Why nests gave no entries, with counts.
    pub unusable_reason: BTreeMap<String, usize>,
}

/// The origin of entries, and what makes their embeddings.
#[derive(Clone, Debug)]
pub struct Source<'e> {
    /// Name of the dataset.
    pub name: String,
    /// When it was measured.
    pub measured_at: Timestamp,
    /// Makes their embeddings, if given.
    pub embedder: Option<&'e Embedder>,
}

/// The entries of measured nests, except those whose normal form has one of the hashes in `excluded`. The result does
/// not depend on the order of the records.
pub fn harvest(records: &[Record], excluded: &BTreeSet<String>, source: &Source<'_>) -> Harvest {
    let noise = Noise::of(records);
    let mut harvest = Harvest { noise: noise.percent(), ..Harvest::default() };
    let mut by_form: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.subject_seconds().is_some()) {
        by_form.entry(&record.normal_hash).or_default().push(record);
    }
    for (hash, mut spellings) in by_form {
        if excluded.contains(hash) {
            harvest.n_excluded += spellings.len();
            continue;
        }
        spellings.sort_by_key(|r| (&r.nest.id, &r.cpu));
        harvest.n_repeated += spellings.len() - 1;
        match entries(spellings[0], noise, source) {
            Ok(of_nest) => {
                harvest.n_nests += usize::from(!of_nest.is_empty());
                harvest.entries.extend(of_nest);
            }
            Err(why) => *harvest.unusable_reason.entry(why).or_default() += 1,
        }
    }
    harvest
}

/// The entries of one nest.
fn entries(record: &Record, noise: Noise, source: &Source<'_>) -> Result<Vec<NewEntry>, String> {
    let Description { form, sizes, embedding } = describe(record, source.embedder)?;
    let context = context(record);
    let host_summary = Json::from(&serde_json::json!(record.host));
    let tried = tried(record, noise);
    let entry = |trial: &Tried<usize>| {
        let response = &record.panel[trial.key];
        let is_retested = record.retest.as_ref().is_some_and(|retest| retest.template == trial.key);
        Ok(NewEntry {
            nest: form.clone(),
            embedding: embedding.clone(),
            recipe: recipe(&response.template)?,
            verdict: trial.verdict.clone(),
            measured: measured(record, response, noise),
            n_samples: 1 + u32::from(is_retested),
            context: context.clone(),
            compiler_version: record.compiler.clone(),
            host_summary: host_summary.clone(),
            sizes: sizes.clone(),
            provenance: Provenance { origin: Origin::Shipped, imported_from: Some(source.name.clone()) },
            created_at: source.measured_at,
            oxeye_version: env!("CARGO_PKG_VERSION").into(),
        })
    };
    choose(&tried).into_iter().map(|choice| entry(&tried[choice])).collect()
}

/// The times of a response that has been timed.
fn measured(record: &Record, response: &Response, noise: Noise) -> Option<Measured> {
    let (baseline_seconds, best_seconds) = record.subject_seconds().zip(response.seconds)?;
    let speedup = noise.around(baseline_seconds / best_seconds);
    Some(Measured { baseline_seconds, best_seconds, speedup })
}

/// The useful responses: one for each C text that differs from the original nest.
fn tried(record: &Record, noise: Noise) -> Vec<Tried<usize>> {
    let noise = noise.at_least(record.retest_difference().map_or(0.0, f64::abs));
    let told = |(t, response): (usize, &Response)| {
        let (verdict, speedup) = match (response.status, record.subject_seconds().zip(response.seconds)) {
            (Status::Timed, Some((subject, seconds))) => {
                let speedup = subject / seconds;
                (noise.verdict(speedup), Some(speedup))
            }
            (Status::Wrong, _) => (failed("its outputs were wrong"), None),
            (Status::Crashed, _) => (failed("it crashed"), None),
            (Status::TimedOut, _) => (failed("it took far longer"), None),
            (Status::Uncompiled, _) => (failed("the compiler refused it or took too long"), None),
            (Status::Timed | Status::Inapplicable | Status::Unwritable, _) => return None,
        };
        response.same_as.is_none().then_some(Tried { key: t, verdict, speedup })
    };
    record.panel.iter().enumerate().skip(1).filter_map(told).collect()
}

fn failed(why: &str) -> Verdict {
    Verdict::Failed(why.to_owned())
}

/// A template of the normal form as a stored recipe. Steps are left out, as they differ between spellings.
fn recipe(template: &str) -> Result<RecipeText, String> {
    let template: Template = template.parse().map_err(|e| format!("`{template}` is not a template: {e}"))?;
    let template = Template { base: Base::Normal, ..template };
    let learnt = StoredRecipe { template: Some(template), steps: Recipe::default() };
    Ok(RecipeText { format: STORED_RECIPE_FORMAT.into(), steps: Json::from(&learnt.to_json()) })
}

/// Flags that Oxeye adds by itself.
const OWN_FLAGS: [&str; 2] = ["-fopenmp", "-w"];

/// The context of measurements, as `oxeye search` describes it.
fn context(record: &Record) -> Context {
    let cores = record.host.cores.map_or(record.threads, |cores| cores as u32);
    let flags = record.flags.split_whitespace().filter(|flag| !OWN_FLAGS.contains(flag));
    Context {
        host_key: format!("{}, {cores} threads", record.cpu),
        compiler: COMPILER.into(),
        flags: flags.map(str::to_owned).collect(),
        threads: record.threads,
        policy: if POLICY.reassociate { FpPolicy::Reassociate } else { FpPolicy::Strict },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::real_record;
    use oxeye_database::VerdictKind;

    fn source() -> Source<'static> {
        Source { name: "test".into(), measured_at: Timestamp::default(), embedder: None }
    }

    /// As the database sees them.
    fn lines(harvest: &Harvest) -> Vec<String> {
        harvest.entries.iter().map(|e| serde_json::to_string(e).expect("JSON")).collect()
    }

    #[test]
    fn entries_are_sound_and_do_not_depend_on_the_order_of_records() {
        let mut records: Vec<Record> = (0..12).map(real_record).collect();
        let forward = harvest(&records, &BTreeSet::new(), &source());
        assert!(forward.n_nests > 6, "{:?}", forward.unusable_reason);
        assert!(forward.entries.len() > forward.n_nests);
        for entry in &forward.entries {
            entry.validate().expect("sound");
            let learnt = StoredRecipe::from_json(entry.recipe.steps.value()).expect("a recipe");
            assert!(learnt.template.is_some_and(|template| template.base == Base::Normal));
        }
        records.reverse();
        assert_eq!(lines(&harvest(&records, &BTreeSet::new(), &source())), lines(&forward));
    }

    #[test]
    fn embeddings_are_of_the_encoder_and_come_back_from_entries() {
        let embedder = oxeye::shipped_embedder().expect("weights");
        let records: Vec<Record> = (0..3).map(real_record).collect();
        let source = Source { embedder: Some(embedder), ..source() };
        for entry in harvest(&records, &BTreeSet::new(), &source).entries {
            let own = entry.embedding.clone().expect("an embedding");
            assert_eq!(&own.space, embedder.space());
            let mut again = NewEntry { embedding: None, ..entry };
            embed_entry(&mut again, embedder).expect("the normal form can be embedded");
            let again = again.embedding.expect("an embedding");
            assert_eq!(again.nest.len(), own.nest.len());
            let names =
                |e: &oxeye_database::Embedding| e.nodes.iter().map(|n| n.id.clone()).collect::<Vec<_>>();
            assert_eq!(names(&again), names(&own));
        }
    }

    #[test]
    fn excluded_and_repeated_nests_give_no_entries() {
        let mut records: Vec<Record> = (0..12).map(real_record).collect();
        let before = harvest(&records, &BTreeSet::new(), &source());
        let first = before.entries[0].nest.hash.clone();
        let mut again = records.iter().find(|r| r.normal_hash == first).expect("its record").clone();
        again.nest.id += "-again";
        records.push(again);
        let after = harvest(&records, &BTreeSet::new(), &source());
        assert_eq!(lines(&after), lines(&before));
        assert_eq!(after.n_repeated, before.n_repeated + 1);
        let some = harvest(&records, &BTreeSet::from([first.clone()]), &source());
        assert_eq!(some.n_excluded, records.iter().filter(|r| r.normal_hash == first).count());
        assert_eq!(some.n_nests + 1, after.n_nests);
        assert!(some.entries.iter().all(|e| e.nest.hash != first));
    }

    #[test]
    fn gains_come_first_and_failures_have_no_times() {
        let records: Vec<Record> = (0..12).map(real_record).collect();
        let entries = harvest(&records, &BTreeSet::new(), &source()).entries;
        let kinds: BTreeSet<VerdictKind> = entries.iter().map(|e| e.verdict.kind()).collect();
        assert!(kinds.contains(&VerdictKind::Gained) && kinds.contains(&VerdictKind::Failed), "{kinds:?}");
        for entry in &entries {
            assert_eq!(entry.measured.is_none(), entry.verdict.kind() == VerdictKind::Failed);
        }
        for pair in entries.windows(2).filter(|p| p[0].nest.hash == p[1].nest.hash) {
            let rank = |e: &NewEntry| e.verdict.kind() != VerdictKind::Gained;
            assert!(rank(&pair[0]) <= rank(&pair[1]));
        }
    }
}

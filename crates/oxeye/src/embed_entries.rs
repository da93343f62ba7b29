//! Entries of a recipe database that another encoder has described, or none.

use crate::{Embedder, Options, Silent, Tuner, learnt, machine};
use oxeye_database::{DatabaseError, Embedding, Entry, EntryId, FpPolicy, NewEntry, Order, RecipeStore};
use oxeye_embed::HostVector;
use oxeye_ir::{Program, SymId};
use oxeye_transform::Policy;
use std::collections::BTreeMap;

/// What came of describing the entries of a database anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedEntries {
    /// Entries that have got a vector.
    pub n_embedded: usize,
    /// Entries that had one of this encoder.
    pub n_known: usize,
    /// Entries whose normal form cannot be read any more.
    pub n_unreadable: usize,
}

/// Gives entries without an embedding of this encoder one, from their normal forms, sizes and times. A host is known by
/// the summary that each entry has, and better where it is this one.
///
/// # Errors
/// If the store cannot be read or written.
pub fn embed_entries(
    store: &mut dyn RecipeStore,
    embedder: &Embedder,
) -> Result<EmbeddedEntries, DatabaseError> {
    let mut result = EmbeddedEntries::default();
    let here = this_host();
    let mut known: BTreeMap<String, Option<Embedding>> = BTreeMap::new();
    let mut found: Vec<(EntryId, Embedding)> = Vec::new();
    for entry in store.entries(Order::OldestFirst) {
        let Entry { id, content, .. } = entry?;
        if content.embedding.as_ref().is_some_and(|e| e.space == *embedder.space()) {
            result.n_known += 1;
            continue;
        }
        let host = host_of(&content, here.as_ref());
        let seconds = content.measured.map(|m| m.baseline_seconds);
        let key =
            format!("{} {:?} {:?} {}", content.nest.hash, content.sizes, seconds, content.context.host_key);
        let embedding = known.entry(key).or_insert_with(|| embedding(&content, embedder, &host, seconds));
        match embedding {
            Some(embedding) => found.push((id, embedding.clone())),
            None => result.n_unreadable += 1,
        }
    }
    for (id, embedding) in found {
        store.set_embedding(id, embedding)?;
        result.n_embedded += 1;
    }
    Ok(result)
}

/// This machine, as entries call it and as features have it.
fn this_host() -> Option<(String, u32, HostVector)> {
    let options = Options::new("-");
    let tuner = Tuner::new(&options, &Silent).ok()?;
    let host = machine::vector(&tuner.host, tuner.host_profile.as_ref(), tuner.threads);
    Some((learnt::context(&tuner).host_key, tuner.threads, host))
}

fn host_of(entry: &NewEntry, here: Option<&(String, u32, HostVector)>) -> HostVector {
    let context = &entry.context;
    if let Some((_, _, host)) =
        here.filter(|(key, threads, _)| *key == context.host_key && *threads == context.threads)
    {
        return host.clone();
    }
    let summary = entry.host_summary.value();
    let host: HostVector = serde_json::from_value(summary).unwrap_or_default();
    HostVector { threads: Some(f64::from(context.threads)), ..host }
}

fn embedding(
    entry: &NewEntry,
    embedder: &Embedder,
    host: &HostVector,
    seconds: Option<f64>,
) -> Option<Embedding> {
    let program = Program::parse(&entry.nest.text).ok()?;
    let nest = program.nests.values().next()?;
    let value_of = |symbol: SymId| entry.sizes.get(&program.symbols.get(&symbol)?.name).copied();
    let policy = Policy { reassociate: entry.context.policy == FpPolicy::Reassociate };
    let described = embedder.describe(&program, nest, &value_of, host, policy, seconds).ok()?;
    Some(described.stored())
}

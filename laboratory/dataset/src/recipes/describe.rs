//! Measured nests as the database describes them.

use crate::measure::{POLICY, guarded};
use crate::nest::symbol_values;
use crate::record::Record;
use oxeye::Embedder;
use oxeye_database::{Embedding, NewEntry, NormalForm};
use oxeye_embed::HostVector;
use oxeye_ir::{Program, SymId};
use oxeye_transform::PreparedNest;
use std::collections::BTreeMap;

/// A nest as the database knows it.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its normal form.
    pub form: NormalForm,
    /// Values of the symbols of the normal form's text.
    pub sizes: BTreeMap<String, i64>,
    /// Its embedding, with the profile of the run; entries without one are found by their normal form only.
    pub embedding: Option<Embedding>,
}

/// Describes the nest of a record.
///
/// # Errors
/// If there is no normal form, or it is no longer the one that was measured.
pub fn describe(record: &Record, embedder: Option<&Embedder>) -> Result<Description, String> {
    let (program, nest) = record.nest.parse().map_err(|e| e.to_string())?;
    let prepared = PreparedNest::new(&program, &nest);
    let normal = guarded(|| prepared.normal_form(POLICY))?;
    let form = NormalForm { hash: format!("{:016x}", normal.hash), text: normal.text.clone() };
    if form.hash != record.normal_hash {
        return Err("a nest was measured in another normal form than it has now".into());
    }
    let values = record.nest.values(&program);
    let value_of = |symbol: SymId| values.get(&symbol).copied();
    let sizes = normal.symbols.iter().enumerate();
    let sizes = sizes.filter_map(|(k, symbol)| Some((format!("n{k}"), value_of(*symbol)?))).collect();
    let embedding = match embedder {
        Some(embedder) => {
            let seconds = record.subject_seconds();
            let found = embedder.describe(&prepared, &value_of, &record.host, POLICY, seconds);
            Some(found.map_err(|e| e.to_string())?.stored())
        }
        None => None,
    };
    Ok(Description { form, sizes, embedding })
}

/// Gives an entry the embedding of this encoder, if it has another's or none. Features that do not follow from the
/// normal form, such as first extents of arrays, are then unknown.
///
/// # Errors
/// If the normal form cannot be read or embedded.
pub fn embed_entry(entry: &mut NewEntry, embedder: &Embedder) -> Result<(), String> {
    if entry.embedding.as_ref().is_some_and(|embedding| embedding.space == *embedder.space()) {
        return Ok(());
    }
    let program = Program::parse(&entry.nest.text).map_err(|e| e.to_string())?;
    let nest = program.nests.values().next().ok_or("a normal form has no nest")?;
    let values = symbol_values(&program, &entry.sizes);
    let value_of = |symbol: SymId| values.get(&symbol).copied();
    let host: HostVector = serde_json::from_value(entry.host_summary.value()).unwrap_or_default();
    let host = HostVector { threads: Some(f64::from(entry.context.threads)), ..host };
    let seconds = entry.measured.map(|measured| measured.baseline_seconds);
    let found = embedder.describe(&PreparedNest::new(&program, nest), &value_of, &host, POLICY, seconds);
    entry.embedding = Some(found.map_err(|e| e.to_string())?.stored());
    Ok(())
}

//! What a measured nest is known by in the database.

use crate::measure::{POLICY, guarded};
use crate::record::Record;
use oxeye_database::{Embedding, NormalForm};
use oxeye_transform::normalize_nest;
use std::collections::BTreeMap;

/// A nest as the database knows it.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its normal form.
    pub form: NormalForm,
    /// Values of its symbols.
    pub sizes: BTreeMap<String, i64>,
    /// Where it lies among others; entries without are found by their normal form only.
    pub embedding: Option<Embedding>,
}

/// Describes the nest of a record.
///
/// # Errors
/// If there is no normal form, or it is no longer the one that was measured.
pub fn describe(record: &Record) -> Result<Description, String> {
    let (program, nest) = record.nest.parse().map_err(|e| e.to_string())?;
    let normal = guarded(|| normalize_nest(&program, &nest, POLICY))?;
    let form = NormalForm { hash: format!("{:016x}", normal.hash), text: normal.text };
    if form.hash != record.normal_hash {
        return Err("a nest was measured in another normal form than it has now".into());
    }
    Ok(Description { form, sizes: record.nest.sizes.clone(), embedding: None })
}

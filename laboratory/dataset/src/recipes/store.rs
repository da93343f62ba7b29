//! Files of entries.

use oxeye_database::{
    Addition, Count, DatabaseError, NewEntry, OnDamage, RecipeStore, SqliteStore, export_file,
};
use std::path::Path;

/// Writes entries into a new file, whole or not at all: an exchange file where the name ends in `.jsonl`, else a
/// database for [`SqliteStore::from_bytes`]. Equal entries in equal order give equal files. Returns the number of
/// entries: of several with one identity the one with more samples is kept.
///
/// # Errors
/// If an entry is invalid, or the file cannot be written.
pub fn write_entries(entries: Vec<NewEntry>, path: &Path) -> Result<u64, DatabaseError> {
    let fail = |source| DatabaseError::Io { action: "write", path: path.to_owned(), source };
    let folder = tempfile::tempdir().map_err(fail)?;
    let mut store = SqliteStore::open(&folder.path().join("entries.sqlite"), OnDamage::Refuse)?;
    let batch: Vec<Addition> =
        entries.into_iter().map(|content| Addition { content, count: Count::Copy(1) }).collect();
    store.put(&batch)?;
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return export_file(&store, path);
    }
    store.write_copy(path)?;
    store.n_entries()
}

#[cfg(test)]
mod tests {
    use crate::recipes::{Source, harvest, write_entries};
    use crate::testing::real_record;
    use oxeye_database::{Order, RecipeStore, SqliteStore, Timestamp};
    use std::collections::BTreeSet;

    #[test]
    fn equal_entries_give_equal_files() {
        let records: Vec<_> = (0..4).map(real_record).collect();
        let source = Source { name: "test".into(), measured_at: Timestamp::default(), embedder: None };
        let entries = harvest(&records, &BTreeSet::new(), &source).entries;
        let folder = tempfile::tempdir().unwrap();
        for name in ["sqlite", "jsonl"] {
            let (a, b) = (folder.path().join(format!("a.{name}")), folder.path().join(format!("b.{name}")));
            let n = write_entries(entries.clone(), &a).unwrap();
            assert_eq!(write_entries(entries.clone(), &b).unwrap(), n);
            assert_eq!(n, entries.len() as u64);
            assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap(), "{name}");
        }
        let store = SqliteStore::open_read_only(&folder.path().join("a.sqlite")).unwrap();
        let kept: Vec<_> = store.entries(Order::OldestFirst).map(|e| e.unwrap().content).collect();
        assert_eq!(kept, entries);
    }
}

//! Files that are missing, damaged, foreign, newer, or not writable.

use crate::{
    DatabaseError, Embedding, Filter, MemoryStore, OnDamage, Order, RecipeStore, SqliteStore, schema_version,
    testing,
};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recipes.sqlite");
    (folder, path)
}

fn filled(path: &Path, n_entries: u32) {
    let mut store = SqliteStore::open(path, OnDamage::Refuse).expect("opens");
    for nest in 0..n_entries {
        store.add(testing::entry(nest, 1)).expect("adds");
    }
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).expect("lists");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn query() -> Embedding {
    testing::entry(1, 1).embedding.expect("vectors")
}

#[test]
fn a_missing_file_is_an_empty_store_until_the_first_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("not/yet/there/recipes.sqlite");
    let mut store = SqliteStore::open(&path, OnDamage::SetAside).expect("opens");
    let entry = testing::entry(1, 1);
    assert_eq!(store.n_entries().expect("reads"), 0);
    assert!(store.exact(&entry.nest.hash, &entry.context).expect("reads").is_empty());
    assert!(store.nearest(&query(), 3, &Filter::default()).expect("reads").is_empty());
    assert!(store.entries(Order::NewestFirst).next().is_none());
    assert!(names(&folder).is_empty());
    let reader = SqliteStore::open(&path, OnDamage::SetAside).expect("opens");
    store.add(entry).expect("adds");
    assert_eq!(reader.n_entries().expect("reads"), 1);
    assert!(matches!(SqliteStore::open_read_only(&path.join("x")), Err(DatabaseError::Io { .. })));
}

#[test]
fn an_empty_file_is_an_empty_store() {
    let (_folder, path) = place();
    std::fs::write(&path, "").expect("writes");
    assert_eq!(SqliteStore::open_read_only(&path).expect("opens").n_entries().expect("reads"), 0);
    filled(&path, 2);
    assert_eq!(SqliteStore::open_read_only(&path).expect("opens").n_entries().expect("reads"), 2);
}

type Spoil = fn(&mut Vec<u8>);

/// Ways to spoil a file of several pages.
fn damages() -> Vec<(&'static str, Spoil)> {
    vec![
        ("text", |bytes| *bytes = b"int main(void) { return 0; }\n".repeat(300)),
        ("zeros", |bytes| bytes.fill(0)),
        ("cut in the middle of a page", |bytes| bytes.truncate(bytes.len() / 2 + 100)),
        ("cut between pages", |bytes| bytes.truncate(bytes.len() / 2 / 4096 * 4096)),
        ("header only", |bytes| bytes.truncate(100)),
        ("noise in the middle", |bytes| {
            for (k, byte) in bytes.iter_mut().enumerate().skip(4096) {
                *byte ^= (k % 251) as u8;
            }
        }),
    ]
}

#[test]
fn a_damaged_file_is_set_aside_and_named() {
    for (what, spoil) in damages() {
        let (folder, path) = place();
        filled(&path, 60);
        let mut bytes = std::fs::read(&path).expect("reads");
        assert!(bytes.len() > 5 * 4096);
        spoil(&mut bytes);
        std::fs::write(&path, &bytes).expect("writes");
        std::fs::write(folder.path().join("recipes.sqlite-wal"), "stale").expect("writes");

        let mut store = SqliteStore::open(&path, OnDamage::SetAside).expect(what);
        let told = store.take_set_aside();
        assert_eq!(told.len(), 1, "{what}");
        assert!(store.take_set_aside().is_empty());
        let moved_to = told[0].moved_to.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(moved_to.starts_with("recipes.sqlite.damaged-"), "{moved_to}");
        assert!(told[0].to_string().contains(&moved_to) && !told[0].reason.is_empty(), "{}", told[0]);
        assert_eq!(std::fs::read(&told[0].moved_to).expect("reads"), bytes, "{what}");
        assert!(!path.exists());

        assert_eq!(store.n_entries().expect("reads"), 0);
        store.add(testing::entry(1, 1)).expect("adds");
        assert_eq!(SqliteStore::open_read_only(&path).expect("opens").n_entries().expect("reads"), 1);
    }
}

#[test]
fn a_damaged_file_that_was_named_is_left_alone() {
    for (what, spoil) in damages() {
        let (folder, path) = place();
        filled(&path, 60);
        let mut bytes = std::fs::read(&path).expect("reads");
        spoil(&mut bytes);
        std::fs::write(&path, &bytes).expect("writes");
        for refused in [SqliteStore::open(&path, OnDamage::Refuse), SqliteStore::open_read_only(&path)] {
            match refused.map(drop) {
                Err(e @ DatabaseError::Damaged { .. }) => {
                    assert!(e.to_string().contains("recipes.sqlite is damaged"), "{e}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
        assert_eq!(std::fs::read(&path).expect("reads"), bytes, "{what}");
        assert!(!names(&folder).iter().any(|name| name.contains("damaged")));
    }
}

#[test]
fn two_damaged_files_in_one_second_are_both_kept() {
    let (folder, path) = place();
    for round in 1..=3 {
        std::fs::write(&path, format!("damaged {round}").repeat(100)).expect("writes");
        let store = SqliteStore::open(&path, OnDamage::SetAside).expect("opens");
        assert_eq!(store.take_set_aside().len(), 1);
        assert_eq!(names(&folder).len(), round);
    }
}

#[test]
fn one_of_many_that_find_the_damage_sets_it_aside() {
    let (folder, path) = place();
    std::fs::write(&path, "no database".repeat(100)).expect("writes");
    let n_told: usize = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..6)
            .map(|k| {
                let path = &path;
                scope.spawn(move || {
                    let mut store = SqliteStore::open(path, OnDamage::SetAside).expect("opens");
                    store.add(testing::entry(k, 1)).expect("adds");
                    store.take_set_aside().len()
                })
            })
            .collect();
        openers.into_iter().map(|opener| opener.join().expect("ends")).sum()
    });
    assert_eq!(n_told, 1);
    assert_eq!(SqliteStore::open_read_only(&path).expect("opens").n_entries().expect("reads"), 6);
    assert_eq!(names(&folder).iter().filter(|name| name.contains("damaged")).count(), 1);
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let (folder, path) = place();
    filled(&path, 1);
    let connection = Connection::open(&path).expect("opens");
    connection.pragma_update(None, "user_version", schema_version() + 1).expect("writes");
    drop(connection);
    match SqliteStore::open(&path, OnDamage::SetAside).map(drop) {
        Err(e @ DatabaseError::NewerSchema { .. }) => {
            assert!(e.to_string().contains("use a newer oxeye"), "{e}");
        }
        other => panic!("{other:?}"),
    }
    assert!(!names(&folder).iter().any(|name| name.contains("damaged")));
}

#[test]
fn the_file_of_another_program_is_refused_and_left_alone() {
    let (folder, path) = place();
    let connection = Connection::open(&path).expect("opens");
    connection.execute_batch("create table bookmarks (url text)").expect("writes");
    drop(connection);
    for on_damage in [OnDamage::SetAside, OnDamage::Refuse] {
        let refused = SqliteStore::open(&path, on_damage).map(drop);
        assert!(matches!(refused, Err(DatabaseError::Foreign { .. })), "{refused:?}");
    }
    assert_eq!(names(&folder), ["recipes.sqlite"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let (folder, _) = place();
    let refused = SqliteStore::open(folder.path(), OnDamage::SetAside).map(drop);
    assert!(matches!(refused, Err(DatabaseError::Io { .. })), "{refused:?}");
}

#[test]
fn an_entry_that_cannot_be_read_is_damage_with_a_name() {
    let (_folder, path) = place();
    filled(&path, 2);
    let connection = Connection::open(&path).expect("opens");
    connection.execute_batch("update embedding set vector = x'0102' where nest = 1").expect("writes");
    drop(connection);
    let store = SqliteStore::open(&path, OnDamage::SetAside).expect("opens");
    match store.get(crate::EntryId::Own(1)) {
        Err(DatabaseError::Damaged { reason, .. }) => assert!(reason.contains("2 bytes"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert!(store.get(crate::EntryId::Own(2)).expect("reads").is_some());
}

#[test]
fn a_store_for_reading_refuses_to_write() {
    let (_folder, path) = place();
    filled(&path, 1);
    let mut store = SqliteStore::open_read_only(&path).expect("opens");
    let refused = store.add(testing::entry(2, 1));
    assert!(matches!(refused, Err(DatabaseError::ReadOnly { .. })), "{refused:?}");
    assert_eq!(store.n_entries().expect("reads"), 1);
}

/// Permissions are no obstacle to the superuser, for whom this test sees only that nothing breaks.
#[cfg(unix)]
#[test]
fn what_cannot_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let set_mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changes the mode");
    };
    let (folder, path) = place();
    filled(&path, 3);
    set_mode(&path, 0o444);
    for folder_mode in [0o755, 0o555] {
        set_mode(folder.path(), folder_mode);
        let is_superuser = std::fs::OpenOptions::new().append(true).open(&path).is_ok();
        let mut store = SqliteStore::open(&path, OnDamage::SetAside).expect("opens");
        assert_eq!(store.nearest(&query(), 2, &Filter::default()).expect("reads").len(), 2);
        if !is_superuser {
            let refused = store.add(testing::entry(9, 1));
            assert!(matches!(refused, Err(DatabaseError::ReadOnly { .. })), "{refused:?}");
            assert_eq!(store.n_entries().expect("reads"), 3);
        }
    }
    let elsewhere = folder.path().join("new/recipes.sqlite");
    let mut store = SqliteStore::open(&elsewhere, OnDamage::SetAside).expect("opens");
    let added = store.add(testing::entry(9, 1));
    assert!(added.is_ok() || matches!(added, Err(DatabaseError::ReadOnly { .. })), "{added:?}");
    set_mode(folder.path(), 0o755);
}

#[test]
fn a_copy_is_one_file_that_can_be_part_of_the_program() {
    let (folder, path) = place();
    filled(&path, 5);
    let store = SqliteStore::open(&path, OnDamage::Refuse).expect("opens");
    let copy = folder.path().join("shipped.sqlite");
    store.write_copy(&copy).expect("writes");
    let bytes: &'static [u8] = Box::leak(std::fs::read(&copy).expect("reads").into_boxed_slice());
    let mut shipped = SqliteStore::from_bytes("the default recipes", bytes).expect("opens");
    let all = |store: &dyn RecipeStore| -> Vec<_> {
        store.entries(Order::OldestFirst).collect::<Result<_, _>>().expect("reads")
    };
    assert_eq!(all(&shipped), all(&store));
    assert_eq!(
        shipped.nearest(&query(), 3, &Filter::default()).expect("reads"),
        store.nearest(&query(), 3, &Filter::default()).expect("reads")
    );
    assert!(matches!(shipped.add(testing::entry(9, 1)), Err(DatabaseError::ReadOnly { .. })));
    let wrong = SqliteStore::from_bytes("the default recipes", b"no database at all").map(drop);
    assert!(matches!(wrong, Err(DatabaseError::Damaged { .. })), "{wrong:?}");
    assert!(!MemoryStore::new().entries(Order::OldestFirst).any(|_| true));
}

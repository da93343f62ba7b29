//! Many writers at once lose nothing.

use crate::{Change, Filter, OnDamage, Order, RecipeStore, SqliteStore, testing};
use std::path::Path;
use std::process::{Command, Stdio};

const N_WRITERS: u32 = 4;
const N_ENTRIES: u32 = 500;
/// Tells a child process of these tests which file to write and which writer it is.
const CHILD: &str = "OXEYE_DATABASE_TEST_CHILD";

/// Half of the entries are the same for all writers.
fn write(path: &Path, writer: u32) {
    let mut store = SqliteStore::open(path, OnDamage::SetAside).expect("opens");
    for k in 0..N_ENTRIES {
        let nest = if k % 2 == 0 { k } else { k + 1000 * (writer + 1) };
        store.add(testing::entry(nest, 1)).expect("adds");
        if k % 100 == 0 {
            let near = testing::entry(nest, 1).embedding.expect("vectors");
            assert_eq!(store.nearest(&near, 1, &Filter::default()).expect("reads")[0].1, 0.0);
        }
    }
    assert!(store.take_set_aside().is_empty());
}

fn check(path: &Path) {
    let store = SqliteStore::open_read_only(path).expect("opens");
    let n_expected = N_ENTRIES / 2 * (N_WRITERS + 1);
    assert_eq!(store.n_entries().expect("reads"), u64::from(n_expected));
    for entry in store.entries(Order::OldestFirst) {
        let entry = entry.expect("reads");
        let is_shared = u32::from_str_radix(&entry.content.nest.hash, 16).expect("a number") < 1000;
        assert_eq!(entry.n_added, if is_shared { u64::from(N_WRITERS) } else { 1 });
    }
}

/// Does nothing unless run by [`processes_do_not_lose_each_others_entries`].
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (writer, path) = task.split_once(' ').expect("a task");
    write(Path::new(path), writer.parse().expect("a number"));
}

#[test]
fn processes_do_not_lose_each_others_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data/recipes.sqlite");
    let children: Vec<_> = (0..N_WRITERS)
        .map(|writer| {
            Command::new(std::env::current_exe().expect("a name"))
                .args(["--exact", "tests::concurrency::child", "--nocapture"])
                .env(CHILD, format!("{writer} {}", path.display()))
                .stdout(Stdio::null())
                .spawn()
                .expect("starts")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    check(&path);
}

#[test]
fn threads_do_not_lose_each_others_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recipes.sqlite");
    std::thread::scope(|scope| {
        for writer in 0..N_WRITERS {
            let path = &path;
            scope.spawn(move || write(path, writer));
        }
    });
    check(&path);
}

#[test]
fn a_batch_that_fails_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recipes.sqlite");
    let mut store = SqliteStore::open(&path, OnDamage::Refuse).expect("opens");
    assert_eq!(store.add(testing::entry(1, 1)).expect("adds").change, Change::Inserted);
    let mut entries = vec![testing::entry(2, 1), testing::entry(3, 1), testing::entry(1, 2)];
    entries[2].nest.text = "something else".into();
    let batch: Vec<_> =
        entries.into_iter().map(|content| crate::Addition { content, count: crate::Count::Trial }).collect();
    let refused = store.put(&batch).expect_err("conflicts").to_string();
    assert!(refused.contains("stands for another normal form"), "{refused}");
    assert_eq!(store.n_entries().expect("reads"), 1);
}

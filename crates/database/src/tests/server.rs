//! What can happen to a server, and what happens then.

use crate::{
    Addition, Count, DatabaseError, Filter, OnDamage, Order, PostgresStore, RecipeStore, SqliteStore, merge,
    testing,
};
use oxeye_postgres::{Server, server};

const N_WRITERS: u32 = 32;
const N_ENTRIES: u32 = 30;

fn open(address: &str) -> PostgresStore {
    PostgresStore::open(address, "me").expect("opens")
}

fn text<T>(result: Result<T, DatabaseError>) -> String {
    result.err().map(|e| e.to_string()).expect("an error")
}

/// A server, and a database on it by name and address.
fn with_database() -> Option<(Server, String, String)> {
    let server = server()?;
    let address = server.database();
    let name = address.trim_start_matches("postgresql:///").split('?').next().expect("a name").to_owned();
    Some((server, name, address))
}

/// Half of the entries are the same for all writers.
#[test]
fn writers_at_once_lose_nothing_and_add_nothing_twice() {
    let Some((_server, _, address)) = with_database() else { return };
    std::thread::scope(|scope| {
        for writer in 0..N_WRITERS {
            let address = &address;
            scope.spawn(move || {
                let mut store = open(address);
                for k in 0..N_ENTRIES {
                    let nest = if k % 2 == 0 { k } else { k + 1000 * (writer + 1) };
                    store.add(testing::entry(nest, 1)).expect("adds");
                }
                let near = testing::entry(0, 1).embedding.expect("vectors");
                assert_eq!(store.nearest(&near, 1, &Filter::default()).expect("reads")[0].1, 0.0);
            });
        }
    });
    let store = open(&address);
    assert_eq!(store.n_entries().expect("reads"), u64::from(N_ENTRIES / 2 * (N_WRITERS + 1)));
    for entry in store.entries(Order::OldestFirst) {
        let entry = entry.expect("reads");
        let is_shared = u32::from_str_radix(&entry.content.nest.hash, 16).expect("a number") < 1000;
        assert_eq!(entry.n_added, if is_shared { u64::from(N_WRITERS) } else { 1 });
    }
}

#[test]
fn a_server_that_dies_keeps_what_was_added_and_is_found_again() {
    let Some((server, _, address)) = with_database() else { return };
    let mut store = open(&address);
    store.add(testing::entry(1, 1)).expect("adds");
    // Half of a batch is sent when the server is killed: an entry that waits for another writer's lock.
    let mut other = oxeye_libpq::Connection::open(&address, &[]).expect("connects");
    other.run("begin; lock table oxeye.nest in exclusive mode").expect("locks");
    let writer = std::thread::spawn(move || {
        let batch: Vec<Addition> =
            (1..5).map(|nest| Addition { content: testing::entry(nest, 2), count: Count::Trial }).collect();
        let outcome = store.put(&batch);
        (store, outcome.map_err(|e| e.to_string()))
    });
    while other.query("select 1 from pg_locks where not granted", &[]).expect("reads").is_empty() {
        std::thread::yield_now();
    }
    server.kill();
    let (mut store, outcome) = writer.join().expect("ends");
    let refused = outcome.expect_err("the server is gone");
    assert!(refused.starts_with(&format!("cannot write the recipe database {address}: ")), "{refused}");
    assert!(text(store.n_entries()).contains("cannot reach the recipe database"));
    server.start();
    assert_eq!(store.n_entries().expect("reads"), 1);
    store.add(testing::entry(1, 2)).expect("adds");
    // A reader does not notice that the server was away.
    server.kill();
    server.start();
    assert_eq!(store.n_entries().expect("reads"), 2);
}

#[test]
fn tables_of_a_newer_oxeye_are_left_alone() {
    let Some((server, name, address)) = with_database() else { return };
    open(&address).add(testing::entry(1, 1)).expect("adds");
    server.run(&name, "update oxeye.state set version = 7");
    let refused = text(PostgresStore::open(&address, "me"));
    assert!(refused.contains("has schema 7, this oxeye knows schemas up to 1"), "{refused}");
}

#[test]
fn readers_read_and_are_told_that_they_may_not_write() {
    let Some((server, name, address)) = with_database() else { return };
    server.run(&name, "create role reader login");
    let theirs = server.address(&name, "reader");
    // Before there are tables, there is nothing to read.
    assert_eq!(open(&theirs).n_entries().expect("reads"), 0);
    open(&address).add(testing::entry(1, 1)).expect("adds");
    server.run(
        &name,
        "grant usage on schema oxeye to reader; grant select on all tables in schema oxeye to reader",
    );
    let mut reader = open(&theirs);
    let near = testing::entry(1, 1).embedding.expect("vectors");
    assert_eq!(reader.nearest(&near, 5, &Filter::default()).expect("reads").len(), 1);
    let refused = text(reader.add(testing::entry(1, 2)));
    assert!(refused.ends_with("cannot be written: permission denied for table entry"), "{refused}");
    assert_eq!(reader.n_entries().expect("reads"), 1);
}

#[test]
fn addresses_with_passwords_are_refused_without_being_shown() {
    if server().is_none() {
        return;
    }
    for address in ["postgresql://me:secret@nowhere/recipes", "postgresql://nowhere/?pass%77ord=secret"] {
        let refused = text(PostgresStore::open(address, "me"));
        assert!(refused.contains("it holds a password; put it into ~/.pgpass"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
    assert!(text(PostgresStore::open("postgresql://host?colour=red", "me")).contains("colour"));
    let away = text(PostgresStore::open("postgresql:///recipes?host=/nowhere", "me"));
    assert!(
        away.starts_with("cannot reach the recipe database postgresql:///recipes?host=/nowhere: "),
        "{away}"
    );
}

#[test]
fn a_file_and_a_server_hold_the_same_after_both_ways() {
    let Some((_server, _, address)) = with_database() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| SqliteStore::open(&folder.path().join(name), OnDamage::Refuse).expect("opens");
    let (mut own, mut back) = (file("own.sqlite"), file("back.sqlite"));
    for nest in 1..600 {
        own.add(testing::entry(nest, 1 + nest % 3)).expect("adds");
    }
    let mut store = open(&address);
    assert_eq!(merge(&mut store, "x", &own).expect("merges").inserted, 599);
    assert_eq!(merge(&mut store, "x", &own).expect("merges").kept, 599);
    merge(&mut back, "x", &store).expect("merges");
    let all = |store: &dyn RecipeStore| -> Vec<_> {
        store.entries(Order::OldestFirst).map(|entry| entry.expect("reads").content).collect()
    };
    assert_eq!(all(&back), all(&store));
}

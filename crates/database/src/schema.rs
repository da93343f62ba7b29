//! The tables, and the migrations from older schemas.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Migrations: step `k` turns schema `k` into schema `k + 1`; schema 0 is an empty file.
pub(crate) const MIGRATIONS: &[&str] = &[SCHEMA_1];

/// `OXEY`, in the header of every recipe database.
pub(crate) const APPLICATION_ID: i64 = 0x4f58_4559;

/// Nests, recipes, hosts and embeddings are stored once, however many entries refer to them. Vectors are blobs of
/// little-endian `f32`; those of an embedding's nodes lie one after another, in the order of `nodes`, a JSON list of
/// `{id, kind}`. `flags` is a JSON list, `sizes` a JSON object, `created_at` seconds since 1970. `revision` counts
/// transactions, and in an entry tells the one that last changed it.
const SCHEMA_1: &str = "
create table state (revision integer not null) strict;
insert into state values (0);

create table nest (
    id integer primary key,
    hash text not null unique,
    text text not null
) strict;

create table space (
    id integer primary key,
    feature_schema integer not null,
    model text not null,
    model_hash text not null,
    unique (model_hash, model, feature_schema)
) strict;

create table embedding (
    id integer primary key autoincrement,
    nest integer not null references nest,
    space integer not null references space,
    vector blob not null,
    nodes text not null,
    node_vectors blob not null
) strict;
create index embedding_of_nest on embedding (nest, space);

create table recipe (
    id integer primary key,
    format text not null,
    steps text not null,
    unique (steps, format)
) strict;

create table host (
    id integer primary key,
    key text not null,
    summary text not null,
    unique (key, summary)
) strict;

create table entry (
    id integer primary key autoincrement,
    revision integer not null,
    nest integer not null references nest,
    recipe integer not null references recipe,
    embedding integer references embedding,
    verdict text not null,
    failure text,
    baseline_seconds real,
    best_seconds real,
    speedup real,
    speedup_low real,
    speedup_high real,
    speedup_confidence real,
    n_samples integer not null,
    host_key text not null,
    host integer not null references host,
    threads integer not null,
    compiler text not null,
    compiler_version text not null,
    flags text not null,
    policy text not null,
    sizes text not null,
    origin text not null,
    imported_from text,
    created_at integer not null,
    oxeye_version text not null,
    n_added integer not null,
    unique (nest, recipe, host_key, compiler, flags, threads, policy)
) strict;
create index entry_by_revision on entry (revision);
create index entry_by_embedding on entry (embedding);
";

/// The schema version of a file; 0 if it has none.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether a file holds tables of another program.
pub(crate) fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    // In one query: another process may be creating the tables.
    let connection = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let n_tables: i64 = connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?;
    Ok(id != APPLICATION_ID && (id != 0 || n_tables > 0))
}

/// Applies the missing migrations, all or none. If several processes try, one does it.
pub(crate) fn migrate(connection: &Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let seen = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
    for step in steps.iter().skip(seen) {
        transaction.execute_batch(step)?;
    }
    if seen < steps.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_forward_from_where_they_are() {
        let steps = ["create table a (x)", "alter table a add column y", "insert into a values (1, 2)"];
        let connection = Connection::open_in_memory().expect("opens");
        for n_steps in [1, 1, 3, 3, 2] {
            migrate(&connection, &steps[..n_steps]).expect("migrates");
        }
        assert_eq!(version(&connection), Ok(3));
        let rows: i64 = connection.query_row("select count(y) from a", [], |row| row.get(0)).expect("reads");
        assert_eq!(rows, 1);
        assert_eq!(is_foreign(&connection), Ok(false));
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let connection = Connection::open_in_memory().expect("opens");
        migrate(&connection, &["create table a (x)"]).expect("migrates");
        let steps = ["create table a (x)", "create table b (x)", "create table b (x)"];
        assert!(migrate(&connection, &steps).is_err());
        assert_eq!(version(&connection), Ok(1));
        migrate(&connection, &["create table a (x)", "create table b (x)"]).expect("b is not there yet");
    }
}

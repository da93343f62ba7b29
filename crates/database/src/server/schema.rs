//! The tables on a server, and what of pgvector is there.

use oxeye_libpq::{Connection, Failure};

/// Migrations: step `k` turns schema `k` into schema `k + 1`; schema 0 is a database without our tables.
pub(crate) const MIGRATIONS: &[&str] = &[SCHEMA_1];

/// The key of the lock that writers hold, so that they wait for each other: `OXEY`.
pub(crate) const LOCK: i64 = 0x4f58_4559;

/// `identity` is the JSON of recipe and context, which with the nest make an entry what it is; `content` the entry as a line of an
/// export has it, without the normal form and the embedding. The columns beside `content` are for searching. A nest without a
/// text is one whose normal form was not shared. Ids have no gaps.
const SCHEMA_1: &str = "
create schema if not exists oxeye;

create table oxeye.state (
    is_only boolean primary key default true check (is_only),
    version integer not null
);
insert into oxeye.state (version) values (0);

create table oxeye.nest (
    hash text primary key,
    text text
);

create table oxeye.space (
    id integer primary key,
    feature_schema integer not null,
    model text not null,
    model_hash text not null,
    dimension integer not null,
    unique (model_hash, model, feature_schema, dimension)
);

create table oxeye.entry (
    id bigint primary key,
    nest text not null references oxeye.nest,
    identity text not null,
    verdict text not null,
    speedup double precision,
    n_samples bigint not null,
    host_key text not null,
    threads bigint not null,
    compiler text not null,
    compiler_version text not null,
    policy text not null,
    created_at timestamptz not null,
    n_added bigint not null,
    space integer references oxeye.space,
    vector real[],
    nodes json,
    content json not null,
    allowed_by text not null,
    stored_at timestamptz not null default now()
);
create unique index entry_identity on oxeye.entry (nest, md5(identity));
create index entry_by_space on oxeye.entry (space);
";

/// The schema version of a server's database; 0 if it has none.
pub(crate) fn version(connection: &mut Connection) -> Result<i64, Failure> {
    // As the tables of tables say: names are looked up in a cache, in which what another has just made may be missing.
    let found = connection.query(
        "select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'oxeye' and c.relname = 'state'",
        &[],
    )?;
    if found.is_empty() {
        return Ok(0);
    }
    let rows = connection.query("select version from oxeye.state", &[])?;
    Ok(rows.text(0, 0).and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Applies the missing migrations, all or none. If several try, one does it.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Failure> {
    connection.run("begin")?;
    let done = migrate_within(connection, steps);
    connection.run(if done.is_ok() { "commit" } else { "rollback" })?;
    done
}

fn migrate_within(connection: &mut Connection, steps: &[&str]) -> Result<(), Failure> {
    connection.run(&format!("select pg_advisory_xact_lock({LOCK})"))?;
    let seen = usize::try_from(version(connection)?).unwrap_or(usize::MAX);
    for step in steps.iter().skip(seen) {
        connection.run(step)?;
    }
    if seen < steps.len() {
        connection.run(&format!("update oxeye.state set version = {}", steps.len()))?;
        // Where it is not installed, or may not be created, distances are computed in plain SQL.
        connection.run("savepoint extension")?;
        if connection.run("create extension if not exists vector").is_err() {
            connection.run("rollback to savepoint extension")?;
        }
    }
    Ok(())
}

/// pgvector on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    /// The schema with its types and operators, quoted.
    pub(crate) schema: String,
    /// Whether its indexes go on until enough entries pass a filter (since 0.8).
    pub(crate) is_iterative: bool,
}

/// What there is of pgvector.
pub(crate) fn extension(connection: &mut Connection) -> Result<Option<Extension>, Failure> {
    let rows = connection.query(
        "select quote_ident(n.nspname), e.extversion from pg_extension e join pg_namespace n on n.oid = e.extnamespace
         where e.extname = 'vector'",
        &[],
    )?;
    let (Some(schema), Some(version)) = (rows.text(0, 0), rows.text(0, 1)) else { return Ok(None) };
    let mut numbers = version.split('.').map(|n| n.parse().unwrap_or(0u32));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    Ok(Some(Extension { schema: schema.to_owned(), is_iterative: version >= (0, 8) }))
}

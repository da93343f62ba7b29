//! A store on a PostgreSQL server, shared by many people and machines.

mod rows;
mod schema;
mod search;
mod vectors;

use crate::store::portions;
use crate::{
    AddOutcome, Addition, Context, DatabaseError, Embedding, Entries, Entry, EntryId, Filter, Order,
    RecipeStore, store,
};
use oxeye_libpq::{Connection, Failure, load, settings};
use rows::Writer;
use schema::Extension;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long a server may be silent, unless its address says otherwise: seconds until it is reached, milliseconds until it has taken
/// what was sent, and seconds until it answers a sign of life.
const PATIENCE: [(&str, &str); 6] = [
    ("connect_timeout", "5"),
    ("tcp_user_timeout", "15000"),
    ("keepalives_idle", "10"),
    ("keepalives_interval", "5"),
    ("keepalives_count", "3"),
    ("fallback_application_name", "oxeye"),
];
/// How long it may look for neighbours.
const MOST_SEARCHING: &str = "30s";

/// A PostgreSQL database, which any number of people may read and write at once. One without our tables is an empty store; the first
/// entry makes them, in a schema `oxeye`. With pgvector, neighbours are looked up in an index; without it, distances are computed
/// in plain SQL.
pub struct PostgresStore {
    address: String,
    person: String,
    state: Mutex<Option<Session>>,
}

/// A connection, and what is known of its server.
struct Session {
    connection: Connection,
    /// Whether our tables are there.
    is_made: bool,
    extension: Option<Extension>,
}

impl Session {
    /// Makes the tables, or looks whether another has made them meanwhile.
    fn look(&mut self, is_writer: bool) -> Result<(), Failure> {
        let connection = &mut self.connection;
        if is_writer {
            schema::migrate(connection, schema::MIGRATIONS)?;
        }
        self.is_made = schema::version(connection)? == schema::MIGRATIONS.len() as i64;
        self.extension = schema::extension(connection)?;
        Ok(())
    }
}

impl PostgresStore {
    /// Connects to the server of an address that libpq understands: `postgresql://host/database`. `person` is noted with what
    /// is added.
    ///
    /// # Errors
    /// If the address is none or holds a password, the server cannot be reached, or its tables are of a newer Oxeye.
    pub fn open(address: &str, person: &str) -> Result<Self, DatabaseError> {
        let bad = |reason: String| DatabaseError::Address { reason };
        let missing = |failure: Failure| DatabaseError::Server {
            action: "reach",
            address: "on a server".into(),
            reason: failure.message,
        };
        load().map_err(missing)?;
        // The address itself may hold a secret, and is not shown.
        let said = settings(address).map_err(|failure| bad(failure.message))?;
        if said.iter().any(|setting| setting.keyword.contains("password")) {
            let reason = "it holds a password; put it into ~/.pgpass, a service file or PGPASSWORD";
            return Err(bad(reason.into()));
        }
        let store = Self { address: address.into(), person: person.into(), state: Mutex::new(None) };
        store.within("reach", false, |_| Ok(()))?;
        Ok(store)
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether the server has an index for vectors, which is pgvector's.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub fn has_vectors(&self) -> Result<bool, DatabaseError> {
        self.within("read", false, |session| Ok(session.extension.is_some()))
    }

    fn state(&self) -> MutexGuard<'_, Option<Session>> {
        // A panic may have left a transaction open.
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = PoisonError::into_inner(poisoned);
            *state = None;
            state
        })
    }

    fn connect(&self) -> Result<Session, DatabaseError> {
        let fail = |failure| self.failed("reach", failure);
        let mut connection = Connection::open(&self.address, &PATIENCE).map_err(fail)?;
        let version = schema::version(&mut connection).map_err(fail)?;
        let known = schema::MIGRATIONS.len() as i64;
        if version > known {
            return Err(DatabaseError::NewerSchema {
                path: PathBuf::from(&self.address),
                found: version,
                known,
            });
        }
        let extension = schema::extension(&mut connection).map_err(fail)?;
        Ok(Session { connection, is_made: version == known, extension })
    }

    /// Works in one transaction, for writing alone if `is_writer`.
    fn within<T>(
        &self,
        action: &'static str,
        is_writer: bool,
        work: impl FnOnce(&mut Session) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let fail = |failure| self.failed(action, failure);
        let mut state = self.state();
        let session = match state.take().filter(|session| !session.connection.is_broken()) {
            Some(session) => state.insert(session),
            None => state.insert(self.connect()?),
        };
        if !session.is_made {
            session.look(is_writer).map_err(fail)?;
        }
        let begin = match is_writer {
            true => format!("begin; select pg_advisory_xact_lock({})", schema::LOCK),
            false => format!("begin; set local statement_timeout = '{MOST_SEARCHING}'"),
        };
        if let Err(failure) = session.connection.run(&begin) {
            // Nothing refuses this but a server that is gone.
            *state = None;
            return Err(fail(failure));
        }
        let result = work(session);
        let end = session.connection.run(if result.is_ok() { "commit" } else { "rollback" });
        if end.is_err() {
            // What is open is undone by the server.
            *state = None;
        }
        let value = result?;
        end.map_err(fail)?;
        Ok(value)
    }

    /// Reads; a lost connection is opened once more.
    fn read<T: Default>(
        &self,
        work: impl Fn(&mut Session) -> Result<T, Failure>,
    ) -> Result<T, DatabaseError> {
        let attempt = || {
            self.within("read", false, |session| match session.is_made {
                true => work(session).map_err(|failure| self.failed("read", failure)),
                false => Ok(T::default()),
            })
        };
        let first = attempt();
        let is_lost = self.state().is_none();
        if first.is_err() && is_lost { attempt() } else { first }
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.within("write", true, |session| {
            let Session { connection, extension, .. } = session;
            work(&mut Writer { connection, extension: extension.as_ref(), person: &self.person })
        })
    }

    fn failed(&self, action: &'static str, failure: Failure) -> DatabaseError {
        let address = self.address.clone();
        match failure.state.as_deref() {
            // insufficient_privilege, read_only_sql_transaction
            Some("42501" | "25006") if action == "write" => {
                DatabaseError::ReadOnly { path: PathBuf::from(address), reason: failure.message }
            }
            _ => DatabaseError::Server { action, address, reason: failure.message },
        }
    }
}

impl RecipeStore for PostgresStore {
    fn n_entries(&self) -> Result<u64, DatabaseError> {
        self.read(|session| {
            let rows = session.connection.query("select count(*) from oxeye.entry", &[])?;
            Ok(rows::number(&rows).unwrap_or(0).unsigned_abs())
        })
    }

    fn get(&self, id: EntryId) -> Result<Option<Entry>, DatabaseError> {
        let EntryId::Own(number) = id else { return Ok(None) };
        let number = i64::try_from(number).unwrap_or(-1).to_string();
        let found = self.read(|session| {
            rows::select(&mut session.connection, "where e.id = $1::bigint", &[Some(&number)])
        })?;
        Ok(found.into_iter().next())
    }

    fn exact(&self, hash: &str, context: &Context) -> Result<Vec<Entry>, DatabaseError> {
        let mut found =
            self.read(|session| rows::select(&mut session.connection, "where e.nest = $1", &[Some(hash)]))?;
        store::sort_exact(&mut found, context);
        Ok(found)
    }

    fn nearest(&self, to: &Embedding, k: usize, filter: &Filter) -> Result<Vec<(Entry, f32)>, DatabaseError> {
        to.validate()?;
        self.read(|session| {
            let Session { connection, extension, .. } = session;
            match rows::space(connection, to)? {
                Some(space) => search::nearest(connection, extension.as_ref(), space, to, k, filter),
                None => Ok(Vec::new()),
            }
        })
    }

    fn nests(&self) -> Result<Vec<Entry>, DatabaseError> {
        let first =
            "where e.id in (select min(id) from oxeye.entry group by nest) order by e.nest collate \"C\"";
        self.read(|session| rows::select(&mut session.connection, first, &[]))
    }

    fn entries(&self, order: Order) -> Entries<'_> {
        let (condition, start) = match order {
            Order::OldestFirst => ("where e.id > $1::bigint order by e.id limit $2::bigint", 0),
            Order::NewestFirst => {
                ("where e.id < $1::bigint order by e.id desc limit $2::bigint", i64::MAX as u64)
            }
        };
        portions(start, move |after, n| {
            let (after, n) = (after.to_string(), n.to_string());
            self.read(|session| rows::select(&mut session.connection, condition, &[Some(&after), Some(&n)]))
        })
    }

    fn put(&mut self, batch: &[Addition]) -> Result<Vec<AddOutcome>, DatabaseError> {
        for addition in batch {
            addition.content.validate()?;
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|writer| {
            store::put_each(batch, |failure| self.failed("write", failure), |addition| writer.put(addition))
        })
    }

    fn set_embedding(&mut self, id: EntryId, embedding: Embedding) -> Result<(), DatabaseError> {
        embedding.validate()?;
        let EntryId::Own(number) = id else { return Err(DatabaseError::NoSuchEntry { id }) };
        if self.get(id)?.is_none() {
            return Err(DatabaseError::NoSuchEntry { id });
        }
        self.write(|writer| {
            match writer.set_embedding(number, &embedding).map_err(|failure| self.failed("write", failure))? {
                true => Ok(()),
                false => Err(DatabaseError::NoSuchEntry { id }),
            }
        })
    }
}

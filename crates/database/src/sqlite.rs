//! A store in an SQLite file.

use crate::file::{self, OnDamage, Opened, SetAside};
use crate::matrix::Matrix;
use crate::rows;
use crate::{
    AddOutcome, Addition, Context, DatabaseError, Embedding, Entries, Entry, EntryId, Filter, Order,
    RecipeStore, schema, store,
};
use rusqlite::{Connection, ErrorCode, MAIN_DB, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One SQLite file, which any number of processes may read and write at once. A missing file is an empty store; the
/// first entry creates it.
pub struct SqliteStore {
    path: PathBuf,
    mode: Mode,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    ReadOnly,
    ReadWrite(OnDamage),
}

struct State {
    /// `None` as long as there is no file, or nothing in it.
    opened: Option<Opened>,
    set_aside: Vec<SetAside>,
    /// The embeddings of the space that was searched last.
    matrix: Option<Matrix>,
}

impl SqliteStore {
    /// Opens a file for reading and writing and checks it. A file that cannot be written can still be read.
    ///
    /// # Errors
    /// If it is the file of another program or of a newer Oxeye, or is damaged and must not be set aside.
    pub fn open(path: &Path, on_damage: OnDamage) -> Result<Self, DatabaseError> {
        let mut set_aside = Vec::new();
        let opened = file::open(path, on_damage, &mut set_aside)?;
        Ok(Self::from_parts(path, Mode::ReadWrite(on_damage), opened, set_aside))
    }

    /// Opens an existing file for reading only.
    ///
    /// # Errors
    /// If it is missing, damaged, or not a recipe database of a known schema.
    pub fn open_read_only(path: &Path) -> Result<Self, DatabaseError> {
        let opened = file::open_read_only(path)?;
        Ok(Self::from_parts(path, Mode::ReadOnly, opened, Vec::new()))
    }

    /// Reads a database that is embedded in the program, made by [`SqliteStore::write_copy`]. Messages call it `name`.
    ///
    /// # Errors
    /// If it is damaged, or not a recipe database of a known schema.
    pub fn from_bytes(name: &str, bytes: &'static [u8]) -> Result<Self, DatabaseError> {
        let path = Path::new(name);
        let fail = |e| file::failed("read", path, e);
        let mut connection = Connection::open_in_memory().map_err(fail)?;
        connection.deserialize_bytes(MAIN_DB, bytes).map_err(fail)?;
        let read_only = Some("it is part of the program".to_owned());
        let sound = file::check(&connection, path, true)?;
        let opened = sound.then_some(Opened { connection, read_only });
        Ok(Self::from_parts(path, Mode::ReadOnly, opened, Vec::new()))
    }

    fn from_parts(path: &Path, mode: Mode, opened: Option<Opened>, set_aside: Vec<SetAside>) -> Self {
        Self { path: path.to_owned(), mode, state: Mutex::new(State { opened, set_aside, matrix: None }) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The damaged files that were renamed since the last call, to be shown to the user.
    pub fn take_set_aside(&self) -> Vec<SetAside> {
        std::mem::take(&mut self.state().set_aside)
    }

    /// Writes all entries as one compact file without a write-ahead log, whole or not at all: for shipping, and for
    /// [`SqliteStore::from_bytes`].
    ///
    /// # Errors
    /// If there are no entries, or the file cannot be written.
    pub fn write_copy(&self, path: &Path) -> Result<(), DatabaseError> {
        let fail = |source| DatabaseError::Io { action: "write", path: path.to_owned(), source };
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let scratch = tempfile::Builder::new().prefix(".oxeye-").tempdir_in(folder).map_err(fail)?;
        let copy = scratch.path().join("copy.sqlite");
        let copied = self.read(|connection, _| {
            let parameter = copy.to_string_lossy();
            connection.execute("vacuum into ?1", [&parameter])?;
            let copy = Connection::open(&copy)?;
            copy.pragma_update(None, "journal_mode", "delete")
        })?;
        if copied.is_none() {
            return Err(fail(std::io::Error::other("there are no entries to write")));
        }
        std::fs::rename(&copy, path).map_err(fail)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic leaves a connection without a transaction, and a matrix that will be read again.
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = PoisonError::into_inner(poisoned);
            state.matrix = None;
            state
        })
    }

    /// Reads one snapshot; `None` if there is nothing to read.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection, &mut Option<Matrix>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, DatabaseError> {
        let mut state = self.state();
        let State { opened, set_aside, matrix } = &mut *state;
        if opened.is_none()
            && let Mode::ReadWrite(on_damage) = self.mode
        {
            *opened = file::open(&self.path, on_damage, set_aside)?;
        }
        let Some(opened) = opened else { return Ok(None) };
        work(&opened.connection, matrix).map(Some).map_err(|e| self.failed("read", e))
    }

    /// Writes everything or nothing.
    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut state = self.state();
        let State { opened, set_aside, .. } = &mut *state;
        let read_only =
            |reason: &str| DatabaseError::ReadOnly { path: self.path.clone(), reason: reason.into() };
        let Mode::ReadWrite(on_damage) = self.mode else {
            let reason = opened.as_ref().and_then(|o| o.read_only.as_deref());
            return Err(read_only(reason.unwrap_or("it was opened for reading only")));
        };
        if opened.is_none() {
            *opened = file::open(&self.path, on_damage, set_aside)?;
        }
        let opened = match opened {
            Some(opened) => opened,
            None => opened.insert(file::create(&self.path)?),
        };
        if let Some(reason) = &opened.read_only {
            return Err(read_only(reason));
        }
        let fail = |e: rusqlite::Error| match e.sqlite_error_code() {
            Some(ErrorCode::CannotOpen) => read_only("no permission to write into its folder"),
            _ => self.failed("write", e),
        };
        let transaction =
            Transaction::new_unchecked(&opened.connection, TransactionBehavior::Immediate).map_err(fail)?;
        let result = work(&transaction)?;
        transaction.commit().map_err(fail)?;
        Ok(result)
    }

    fn failed(&self, action: &'static str, error: rusqlite::Error) -> DatabaseError {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, what) => {
                DatabaseError::Damaged { path: self.path.clone(), reason: format!("an entry holds {what}") }
            }
            error => file::failed(action, &self.path, error),
        }
    }
}

impl RecipeStore for SqliteStore {
    fn n_entries(&self) -> Result<u64, DatabaseError> {
        let count = self
            .read(|connection, _| connection.query_row("select count(*) from entry", [], |row| row.get(0)))?;
        Ok(count.unwrap_or(0))
    }

    fn get(&self, id: EntryId) -> Result<Option<Entry>, DatabaseError> {
        let EntryId::Own(number) = id else { return Ok(None) };
        let number = i64::try_from(number).unwrap_or(-1);
        let found = self.read(|connection, _| rows::select(connection, "where e.id = ?1", &[&number]))?;
        Ok(found.and_then(|mut entries| entries.pop()))
    }

    fn exact(&self, hash: &str, context: &Context) -> Result<Vec<Entry>, DatabaseError> {
        let found = self.read(|connection, _| rows::select(connection, "where n.hash = ?1", &[&hash]))?;
        let mut found = found.unwrap_or_default();
        store::sort_exact(&mut found, context);
        Ok(found)
    }

    fn nearest(&self, to: &Embedding, k: usize, filter: &Filter) -> Result<Vec<(Entry, f32)>, DatabaseError> {
        to.validate()?;
        let found = self.read(|connection, matrix| {
            let transaction = connection.unchecked_transaction()?;
            if !matrix.as_ref().is_some_and(|matrix| matrix.is_for(&to.space, to.nest.len())) {
                *matrix = None;
            }
            // After a failure half-way, everything is read again.
            let mut current = matrix.take().unwrap_or_else(|| Matrix::new(to.space.clone(), to.nest.len()));
            current.refresh(&transaction)?;
            let hits = matrix.insert(current).nearest(&transaction, &to.nest, k, filter)?;
            let mut found = Vec::with_capacity(hits.len());
            for (number, distance) in hits {
                let entries = rows::select(&transaction, "where e.id = ?1", &[&number])?;
                found.extend(entries.into_iter().map(|entry| (entry, distance)));
            }
            Ok(found)
        })?;
        Ok(found.unwrap_or_default())
    }

    fn nests(&self) -> Result<Vec<Entry>, DatabaseError> {
        let condition = "where e.id in (select min(id) from entry group by nest) order by n.hash";
        Ok(self.read(|connection, _| rows::select(connection, condition, &[]))?.unwrap_or_default())
    }

    fn entries(&self, order: Order) -> Entries<'_> {
        let (condition, start) = match order {
            Order::OldestFirst => ("where e.id > ?1 order by e.id limit ?2", 0),
            Order::NewestFirst => ("where e.id < ?1 order by e.id desc limit ?2", i64::MAX as u64),
        };
        store::portions(start, move |after, n| {
            let entries = self.read(|connection, _| rows::select(connection, condition, &[&after, &n]))?;
            Ok(entries.unwrap_or_default())
        })
    }

    fn put(&mut self, batch: &[Addition]) -> Result<Vec<AddOutcome>, DatabaseError> {
        for addition in batch {
            addition.content.validate()?;
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|connection| {
            let revision = rows::next_revision(connection).map_err(|e| self.failed("write", e))?;
            let failed = |e| self.failed("write", e);
            store::put_each(batch, failed, |addition| rows::put(connection, revision, addition))
        })
    }

    fn set_embedding(&mut self, id: EntryId, embedding: Embedding) -> Result<(), DatabaseError> {
        embedding.validate()?;
        let EntryId::Own(number) = id else { return Err(DatabaseError::NoSuchEntry { id }) };
        if self.get(id)?.is_none() {
            return Err(DatabaseError::NoSuchEntry { id });
        }
        self.write(|connection| {
            let fail = |e| self.failed("write", e);
            let revision = rows::next_revision(connection).map_err(fail)?;
            match rows::set_embedding(connection, revision, number, &embedding).map_err(fail)? {
                true => Ok(()),
                false => Err(DatabaseError::NoSuchEntry { id }),
            }
        })
    }
}

/// The newest schema this crate knows; it is the `user_version` of files.
pub fn schema_version() -> i64 {
    schema::MIGRATIONS.len() as i64
}

//! Recipe databases.

use crate::errors::Raised;
use oxeye_database::{
    Addition, Count, DatabaseError, Entry, EntryId, Location, OnBadLine, OnDamage, Order, PostgresStore,
    RecipeStore, SqliteStore, Tally, default_location, exchange_line, export_file, import, merge, parse_line,
};
use pyo3::prelude::*;
use serde_json::Value;
use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A recipe database in one file or on a server, or the one that is part of the package.
#[pyclass(frozen, module = "oxeye._oxeye")]
pub(crate) struct Store {
    store: Mutex<Box<dyn RecipeStore>>,
    location: Option<Location>,
}

impl Store {
    fn open(&self) -> MutexGuard<'_, Box<dyn RecipeStore>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writable(&self) -> Result<(), Raised> {
        let refused = |reason: &str| Err(Raised::new("DatabaseError", reason));
        match self.location {
            Some(Location::File(_)) => Ok(()),
            Some(Location::Server(_)) => refused(
                "a server is only read here: `oxeye db push` sends to it, and shows before what would leave this machine",
            ),
            None => refused("the database of the package is only read"),
        }
    }
}

/// An entry as a line of an export, with its id.
fn line(entry: &Entry) -> Result<String, Raised> {
    let failed = |error: serde_json::Error| Raised::new("DatabaseError", error.to_string());
    let mut value: Value = serde_json::from_str(&exchange_line(entry).map_err(failed)?).map_err(failed)?;
    value["id"] = entry.id.to_string().into();
    Ok(value.to_string())
}

fn told(tally: &Tally) -> PyResult<String> {
    serde_json::to_string(tally).map_err(|error| Raised::new("DatabaseError", error.to_string()).into())
}

#[pymethods]
impl Store {
    /// Opens a file, which is made if it is not there, or connects to a server.
    #[new]
    fn new(py: Python<'_>, name: OsString) -> PyResult<Self> {
        let location = Location::from(name.as_os_str());
        let open = || -> Result<Box<dyn RecipeStore>, DatabaseError> {
            Ok(match &location {
                Location::File(path) => Box::new(SqliteStore::open(path, OnDamage::Refuse)?),
                Location::Server(address) => Box::new(PostgresStore::open(address, "")?),
            })
        };
        let store = Mutex::new(py.detach(open).map_err(Raised::from)?);
        Ok(Self { store, location: Some(location) })
    }

    /// The one that is part of the package.
    #[staticmethod]
    fn shipped(py: Python<'_>) -> PyResult<Self> {
        let store = py.detach(oxeye::shipped_recipes).map_err(Raised::from)?;
        Ok(Self { store: Mutex::new(Box::new(store)), location: None })
    }

    /// Where the user's own is.
    #[staticmethod]
    fn default_location() -> PyResult<OsString> {
        Ok(match default_location().map_err(Raised::from)? {
            Location::File(path) => path.into(),
            Location::Server(address) => address.into(),
        })
    }

    /// The file, if it is one.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        match self.location.as_ref()? {
            Location::File(path) => Some(path.clone()),
            Location::Server(_) => None,
        }
    }

    /// The server's address, if it is one.
    #[getter]
    fn address(&self) -> Option<String> {
        match self.location.as_ref()? {
            Location::File(_) => None,
            Location::Server(address) => Some(address.clone()),
        }
    }

    fn n_entries(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(py.detach(|| self.open().n_entries()).map_err(Raised::from)?)
    }

    /// An entry as JSON.
    fn get(&self, py: Python<'_>, id: &str) -> PyResult<Option<String>> {
        let id: EntryId = id.parse().map_err(|error: String| Raised::new("InputError", error))?;
        let entry = py.detach(|| self.open().get(id)).map_err(Raised::from)?;
        Ok(entry.as_ref().map(line).transpose()?)
    }

    /// Entries as JSON, newest first.
    #[pyo3(signature = (hash = None, verdict = None, limit = None))]
    fn entries(
        &self,
        py: Python<'_>,
        hash: Option<&str>,
        verdict: Option<&str>,
        limit: Option<usize>,
    ) -> PyResult<Vec<String>> {
        let fits = |entry: &Entry| {
            hash.is_none_or(|hash| entry.content.nest.hash == hash)
                && verdict.is_none_or(|verdict| entry.content.verdict.kind().name() == verdict)
        };
        let found = py.detach(|| {
            let store = self.open();
            let entries = store.entries(Order::NewestFirst);
            let fitting = entries.filter(|entry| entry.as_ref().map_or(true, fits));
            fitting.take(limit.unwrap_or(usize::MAX)).collect::<Result<Vec<Entry>, _>>()
        });
        let lines = found.map_err(Raised::from)?.iter().map(line).collect::<Result<_, Raised>>();
        Ok(lines?)
    }

    /// Adds an entry, given as a line of an export.
    fn add(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        self.writable()?;
        let addition = parse_line(text.as_bytes()).map_err(|reason| Raised::new("InputError", reason))?;
        let addition = Addition { count: Count::Trial, ..addition };
        let outcomes = py.detach(|| self.open().put(&[addition])).map_err(Raised::from)?;
        Ok(outcomes.first().map(|outcome| outcome.id.to_string()).unwrap_or_default())
    }

    /// Adds the entries of an export, and returns what came of it as JSON.
    fn import_file(&self, py: Python<'_>, path: PathBuf, skip_bad: bool) -> PyResult<String> {
        self.writable()?;
        let on_bad = if skip_bad { OnBadLine::Skip } else { OnBadLine::Stop };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = std::fs::File::open(&path);
        let file = file
            .map_err(|error| Raised::new("InputError", format!("cannot read {}: {error}", path.display())))?;
        let tally = py.detach(|| import(&mut **self.open(), &name, &mut BufReader::new(file), on_bad));
        told(&tally.map_err(Raised::from)?)
    }

    /// Adds the entries of another database, and returns what came of it as JSON.
    fn merge_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        self.writable()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tally = py.detach(|| {
            let other = SqliteStore::open_read_only(&path)?;
            merge(&mut **self.open(), &name, &other)
        });
        told(&tally.map_err(Raised::from)?)
    }

    /// Writes all entries as JSON Lines, and returns how many.
    fn export_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        Ok(py.detach(|| export_file(&**self.open(), &path)).map_err(Raised::from)?)
    }
}

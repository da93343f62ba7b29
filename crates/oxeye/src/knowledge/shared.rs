//! A server's recipes, which a run can do without.

use oxeye_database::{
    AddOutcome, Addition, Context, DatabaseError, Embedding, Entries, Entry, EntryId, Filter, Order,
    PostgresStore, RecipeStore,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a server gave nothing any more; taken once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    /// What there is to say, the first time.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A server that is only read, and is as good as empty from the moment on at which it does not answer.
pub(crate) struct Shared {
    /// `None` once it did not answer.
    store: Mutex<Option<PostgresStore>>,
    trouble: Trouble,
}

impl Shared {
    /// The store, and the place where its trouble is told.
    pub(crate) fn new(store: PostgresStore) -> (Self, Trouble) {
        let trouble = Trouble::default();
        (Self { store: Mutex::new(Some(store)), trouble: trouble.clone() }, trouble)
    }

    fn read<T: Default>(
        &self,
        work: impl FnOnce(&PostgresStore) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(server) = store.as_ref() else { return Ok(T::default()) };
        match work(server) {
            Err(error @ DatabaseError::Server { .. }) => {
                *store = None;
                let mut trouble = self.trouble.0.lock().unwrap_or_else(PoisonError::into_inner);
                *trouble = Some(format!("{error}; the run goes on without it"));
                Ok(T::default())
            }
            done => done,
        }
    }

    fn refused() -> DatabaseError {
        DatabaseError::ReadOnly { path: "of the server".into(), reason: "it is only looked up here".into() }
    }
}

impl RecipeStore for Shared {
    fn n_entries(&self) -> Result<u64, DatabaseError> {
        self.read(PostgresStore::n_entries)
    }

    fn get(&self, id: EntryId) -> Result<Option<Entry>, DatabaseError> {
        self.read(|store| store.get(id))
    }

    fn exact(&self, hash: &str, context: &Context) -> Result<Vec<Entry>, DatabaseError> {
        self.read(|store| store.exact(hash, context))
    }

    fn nearest(&self, to: &Embedding, k: usize, filter: &Filter) -> Result<Vec<(Entry, f32)>, DatabaseError> {
        self.read(|store| store.nearest(to, k, filter))
    }

    fn nests(&self) -> Result<Vec<Entry>, DatabaseError> {
        self.read(PostgresStore::nests)
    }

    fn entries(&self, order: Order) -> Entries<'_> {
        let all: Result<Vec<Entry>, DatabaseError> = self.read(|store| store.entries(order).collect());
        match all {
            Ok(entries) => Box::new(entries.into_iter().map(Ok)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn put(&mut self, _: &[Addition]) -> Result<Vec<AddOutcome>, DatabaseError> {
        Err(Self::refused())
    }

    fn set_embedding(&mut self, _: EntryId, _: Embedding) -> Result<(), DatabaseError> {
        Err(Self::refused())
    }
}

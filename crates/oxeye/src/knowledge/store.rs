//! The encoder and the recipe database of a run.

use super::describe::{Embedder, NoEncoder};
use super::shared::{Shared, Trouble};
use super::shipped::{shipped_embedder, shipped_recipes};
use crate::request::{Error, Knowledge};
use oxeye_database::{DatabaseError, Layered, PostgresStore, RecipeStore, SqliteStore};
use std::path::Path;

/// What a run knows of other nests.
pub(crate) struct KnownNests {
    /// What makes vectors of nests, or why nothing does.
    pub(crate) embedder: Result<&'static Embedder, NoEncoder>,
    /// What was tried on other nests, if the run may look.
    pub(crate) recipes: Option<Box<dyn RecipeStore>>,
    /// Of the server among them.
    pub(crate) trouble: Trouble,
}

impl KnownNests {
    /// Opens what a run is allowed to know. What there is to say of it goes into the notes.
    ///
    /// # Errors
    /// If a database cannot be read. A server that cannot be reached is left out.
    pub(crate) fn open(knowledge: &Knowledge, notes: &mut Vec<String>) -> Result<Self, Error> {
        let mut trouble = Trouble::default();
        let recipes: Option<Box<dyn RecipeStore>> = match knowledge {
            Knowledge::Nothing => None,
            Knowledge::Shipped => Some(Box::new(shipped_recipes()?)),
            Knowledge::Own { path, on_damage, server } => {
                let own = SqliteStore::open(path, *on_damage)?;
                notes.extend(own.take_set_aside().iter().map(ToString::to_string));
                let server = server.as_deref().map(|address| reached(address, path, notes)).transpose()?;
                Some(match server.flatten() {
                    Some(server) => {
                        let (shared, of_it) = Shared::new(server);
                        trouble = of_it;
                        Box::new(Layered::over_shared(own, Layered::new(shared, shipped_recipes()?)))
                    }
                    None => Box::new(Layered::new(own, shipped_recipes()?)),
                })
            }
        };
        Ok(Self { embedder: shipped_embedder(), recipes, trouble })
    }
}

/// A server, or a note that says what serves without it.
///
/// # Errors
/// If its address is none, which is a mistake of the user's.
fn reached(address: &str, own: &Path, notes: &mut Vec<String>) -> Result<Option<PostgresStore>, Error> {
    match PostgresStore::open(address, "") {
        Ok(store) => Ok(Some(store)),
        Err(error @ DatabaseError::Address { .. }) => Err(error.into()),
        Err(error) => {
            notes.push(format!("{error}; recipes come from {} and the built-in database", own.display()));
            Ok(None)
        }
    }
}

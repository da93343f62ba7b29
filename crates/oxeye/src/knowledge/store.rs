//! The encoder and the recipe database of a run.

use super::describe::{Embedder, NoEncoder};
use super::shipped::{shipped_embedder, shipped_recipes};
use crate::request::{Error, Knowledge};
use oxeye_database::{Layered, RecipeStore, SqliteStore};

/// What a run knows of other nests.
pub(crate) struct KnownNests {
    /// What makes vectors of nests, or why nothing does.
    pub(crate) embedder: Result<&'static Embedder, NoEncoder>,
    /// What was tried on other nests, if the run may look.
    pub(crate) recipes: Option<Box<dyn RecipeStore>>,
}

impl KnownNests {
    /// Opens what a run is allowed to know. What there is to say of it goes into the notes.
    ///
    /// # Errors
    /// If a database cannot be read.
    pub(crate) fn open(knowledge: &Knowledge, notes: &mut Vec<String>) -> Result<Self, Error> {
        let recipes: Option<Box<dyn RecipeStore>> = match knowledge {
            Knowledge::Nothing => None,
            Knowledge::Shipped => Some(Box::new(shipped_recipes()?)),
            Knowledge::Own { path, on_damage } => {
                let own = SqliteStore::open(path, *on_damage)?;
                notes.extend(own.take_set_aside().iter().map(ToString::to_string));
                Some(Box::new(Layered::new(own, shipped_recipes()?)))
            }
        };
        Ok(Self { embedder: shipped_embedder(), recipes })
    }
}

//! The recipe database of a run.

use super::shipped;
use crate::{Error, Knowledge};
use oxeye_database::{Layered, RecipeStore, SqliteStore};

/// Everything that is known of other nests.
pub(crate) struct Recipes(Box<dyn RecipeStore>);

impl Recipes {
    /// Opens what a run is allowed to know; `None` if that is nothing. What there is to say of it goes into the notes.
    ///
    /// # Errors
    /// If a database cannot be read.
    pub(crate) fn open(knowledge: &Knowledge, notes: &mut Vec<String>) -> Result<Option<Self>, Error> {
        let store: Box<dyn RecipeStore> = match knowledge {
            Knowledge::Nothing => return Ok(None),
            Knowledge::Shipped => Box::new(shipped::shipped_recipes()?),
            Knowledge::Own { path, on_damage } => {
                let own = SqliteStore::open(path, *on_damage)?;
                notes.extend(own.take_set_aside().iter().map(ToString::to_string));
                Box::new(Layered::new(own, shipped::shipped_recipes()?))
            }
        };
        Ok(Some(Self(store)))
    }

    pub(crate) fn store(&self) -> &dyn RecipeStore {
        &*self.0
    }
}

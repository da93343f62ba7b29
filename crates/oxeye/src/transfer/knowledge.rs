//! The recipe database of a run.

use crate::{Error, Knowledge, shipped};
use oxeye_database::{Layered, OnDamage, RecipeStore, SqliteStore};

/// Everything that is known of other nests.
pub(crate) struct Recipes(Box<dyn RecipeStore>);

impl Recipes {
    /// Opens what a run is allowed to know; `None` if that is nothing.
    ///
    /// # Errors
    /// If a database cannot be read.
    pub(crate) fn open(knowledge: &Knowledge) -> Result<Option<Self>, Error> {
        let store: Box<dyn RecipeStore> = match knowledge {
            Knowledge::Nothing => return Ok(None),
            Knowledge::Shipped => Box::new(shipped::shipped_recipes()?),
            Knowledge::Own(path) => {
                let own = SqliteStore::open(path, OnDamage::Refuse)?;
                Box::new(Layered::new(own, shipped::shipped_recipes()?))
            }
        };
        Ok(Some(Self(store)))
    }

    pub(crate) fn store(&self) -> &dyn RecipeStore {
        &*self.0
    }
}

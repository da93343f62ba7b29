//! What is part of the program: the weights of the default encoder, and the default recipe database.

use super::describe::{Embedder, NoEncoder};
use oxeye_database::{DatabaseError, SqliteStore};
use std::sync::OnceLock;

static ENCODER: &[u8] = include_bytes!("../../../../models/encoder.safetensors");
static RECIPES: &[u8] = include_bytes!("../../../../models/recipes.sqlite");

/// The default encoder; read once.
///
/// # Errors
/// If the weights do not belong to the features of this build.
pub fn shipped_embedder() -> Result<&'static Embedder, NoEncoder> {
    static SHIPPED: OnceLock<Result<Embedder, NoEncoder>> = OnceLock::new();
    let shipped =
        SHIPPED.get_or_init(|| Embedder::from_bytes(ENCODER).map_err(|why| NoEncoder(why.to_string())));
    shipped.as_ref().map_err(Clone::clone)
}

/// The default recipe database.
///
/// # Errors
/// If it is of another schema.
pub fn shipped_recipes() -> Result<SqliteStore, DatabaseError> {
    SqliteStore::from_bytes("the default recipe database", RECIPES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_database::{Order, RecipeStore};

    #[test]
    fn what_is_shipped_fits_together() {
        let embedder = shipped_embedder().expect("weights");
        let recipes = shipped_recipes().expect("a database");
        assert!(recipes.n_entries().expect("reads") > 0);
        for entry in recipes.entries(Order::OldestFirst) {
            let content = entry.expect("reads").content;
            content.validate().expect("sound");
            let embedding = content.embedding.expect("an embedding");
            assert_eq!(&embedding.space, embedder.space(), "entries are of the default encoder");
            crate::knowledge::stored_recipe(&content.recipe).expect("a recipe of a form known here");
        }
    }
}

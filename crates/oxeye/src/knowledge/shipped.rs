//! What is part of the program: the weights of the default encoder, and the default recipe database.

use super::describe::{Embedder, NoEncoder};
use flate2::read::DeflateDecoder;
use oxeye_database::{DatabaseError, SqliteStore};
use std::io::Read;
use std::sync::OnceLock;

static ENCODER: &[u8] = include_bytes!("../../models/encoder.safetensors");
/// Compressed by the build script.
static RECIPES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recipes.sqlite.deflate"));

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
    static DATABASE: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = DATABASE.get_or_init(|| {
        let mut bytes = Vec::new();
        // Bytes that do not decode are reported by the store, as not being a database.
        let _ = DeflateDecoder::new(RECIPES).read_to_end(&mut bytes);
        bytes
    });
    SqliteStore::from_bytes("the default recipe database", bytes)
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

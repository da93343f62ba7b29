//! Recipes in the words of the database.

use crate::request::RECIPE_SCHEMA;
use oxeye_database::{Json, RecipeText};
use oxeye_transform::{STORED_RECIPE_FORMAT, StoredRecipe};

/// Why a recipe of the database cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableRecipe(String);

/// A recipe as the database keeps it.
pub fn recipe_text(recipe: &StoredRecipe) -> RecipeText {
    RecipeText { format: STORED_RECIPE_FORMAT.into(), steps: Json::from(&recipe.to_json()) }
}

/// A recipe of the database, or the steps of a recipe file.
///
/// # Errors
/// If the form is not known here, or the text is not of that form.
pub fn stored_recipe(text: &RecipeText) -> Result<StoredRecipe, UnreadableRecipe> {
    let value = text.steps.value();
    match text.format.as_str() {
        STORED_RECIPE_FORMAT => StoredRecipe::from_json(value).map_err(UnreadableRecipe),
        RECIPE_SCHEMA => {
            let steps = serde_json::from_value(value).map_err(|e| UnreadableRecipe(e.to_string()))?;
            Ok(StoredRecipe { template: None, steps })
        }
        other => Err(UnreadableRecipe(format!("recipes of the form `{other}` are not known here"))),
    }
}

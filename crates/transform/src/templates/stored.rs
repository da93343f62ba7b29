//! Recipes in stored form.

use super::template::Template;
use crate::recipe::Recipe;
use serde::{Deserialize, Serialize};

/// Name and version of the stored form: JSON of a [`StoredRecipe`].
pub const STORED_RECIPE_FORMAT: &str = "oxeye.learnt-recipe/1";

/// A recipe in stored form. The template carries over to other nests and machines; the steps refer to the loops of the
/// nest they were measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRecipe {
    /// The template that the recipe was made from, if any.
    pub template: Option<Template>,
    /// The steps; empty if the template determines them.
    pub steps: Recipe,
}

impl StoredRecipe {
    /// The recipe as JSON, in format [`STORED_RECIPE_FORMAT`].
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads a recipe from JSON.
    ///
    /// # Errors
    /// If the value does not have that format.
    pub fn from_json(value: serde_json::Value) -> Result<Self, String> {
        serde_json::from_value(value).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_recipe_comes_back_as_it_was() {
        let text = json!({
            "template": "source threads simd",
            "steps": [{"step": "vectorize", "at": 3}],
        });
        let recipe = StoredRecipe::from_json(text.clone()).unwrap();
        assert_eq!(recipe.steps.steps.len(), 1);
        assert_eq!(recipe.to_json(), text);
        let bare = StoredRecipe { template: None, steps: Recipe::default() };
        assert_eq!(StoredRecipe::from_json(bare.to_json()), Ok(bare));
    }

    #[test]
    fn what_is_no_recipe_is_refused() {
        for wrong in [json!([1]), json!({"template": null}), json!({"template": "no such", "steps": []})] {
            assert!(StoredRecipe::from_json(wrong.clone()).is_err(), "{wrong}");
        }
    }
}

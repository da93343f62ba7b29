//! Recipes as they are remembered.

use super::template::Template;
use crate::recipe::Recipe;
use serde::{Deserialize, Serialize};

/// Name and version of the form that remembered recipes have: JSON of a [`StoredRecipe`].
pub const STORED_RECIPE_FORMAT: &str = "oxeye.learnt-recipe/1";

/// A recipe as it is remembered. The template carries over to other nests and machines; the steps speak of the loops of
/// the nest they were measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRecipe {
    /// What the recipe was made from, if from a template.
    pub template: Option<Template>,
    /// The steps; none where the template says it all.
    pub steps: Recipe,
}

impl StoredRecipe {
    /// Its form as JSON, [`STORED_RECIPE_FORMAT`].
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// From its form as JSON.
    ///
    /// # Errors
    /// If the value is not of that form.
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

//! Recipes: sequences of transformations as values, as JSON and as text.
//!
//! Input: JSON or text, written by Oxeye or by people. Output: [`Recipe`], which identifies loops and statements by id.
//! [`WrittenRecipe`] is a recipe in which people used the loops' names in the source.

mod affine;
mod json;
mod names;
mod text;
mod words;
mod written;

pub use text::RecipeError;
pub use written::WrittenRecipe;

use crate::refusal::Refusal;
use crate::steps::Transformation;
use crate::steps::argument::Renaming;
use serde::{Deserialize, Serialize};

/// A sequence of transformations, applied in order. Prints as its steps, joined by `; `, and parses back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recipe {
    /// The steps.
    pub steps: Vec<Transformation>,
}

impl Recipe {
    /// How many of the steps rewrite the nest itself, before the others edit its schedule.
    pub(crate) fn n_rewrites(&self) -> usize {
        self.steps.iter().take_while(|step| step.as_rewrite().is_some()).count()
    }

    /// Whether it rewrites the nest itself, which then does less than it did; how much, may depend on its values.
    pub fn does_less(&self) -> bool {
        self.n_rewrites() > 0
    }

    /// Whether it tiles loops and skews none, as tiles over time steps do.
    pub fn only_tiles(&self) -> bool {
        let has = |is: fn(&Transformation) -> bool| self.steps.iter().any(is);
        has(|step| matches!(step, Transformation::Tile(_)))
            && !has(|step| matches!(step, Transformation::Skew(_)))
    }

    /// The recipe with loops, statements and variables renamed.
    ///
    /// # Errors
    /// A step that uses something without a new name, and why.
    pub fn renamed(&self, names: &dyn Renaming) -> Result<Self, Refusal> {
        let one = |(k, step): (usize, &Transformation)| {
            step.renamed(names).map_err(|reason| reason.at_step(k, step))
        };
        Ok(Self { steps: self.steps.iter().enumerate().map(one).collect::<Result<_, _>>()? })
    }
}

//! Applying one recipe to one nest.

use crate::policy::Policy;
use crate::prepared::{Applied, PreparedNest};
use crate::recipe::Recipe;
use crate::refusal::Refusal;
use oxeye_ir::{Nest, Program};

/// Applies a recipe to a nest. To apply several recipes to one nest, make a [`PreparedNest`] of it.
///
/// # Errors
/// If a step does not fit the nest, or the result cannot be proved to keep every dependence.
pub fn apply(program: &Program, nest: &Nest, recipe: &Recipe, policy: Policy) -> Result<Applied, Refusal> {
    PreparedNest::new(program, nest).apply(recipe, policy)
}

//! Recipes worth trying for a nest, from its dependences, its strides and the sizes of the caches: the
//! [templates](crate::templates) that fit it, best guess first.

pub(crate) mod builder;
pub(crate) mod contraction;
pub(crate) mod factor;
pub(crate) mod order;
pub(crate) mod split;
pub(crate) mod stencil;
pub(crate) mod tile;
mod tree;

use crate::templates::{Instantiator, Template, Unfit};
use crate::{Policy, Recipe};
use oxeye_ir::{Nest, Program};
use serde::{Deserialize, Serialize};

/// What recipes need to know of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// First-level data cache per core, bytes.
    pub l1: u64,
    /// Second-level cache per core, bytes.
    pub l2: u64,
    /// Last-level cache, bytes.
    pub l3: u64,
    /// Threads to use.
    pub threads: u32,
    /// Width of a vector register, bytes.
    pub vector_bytes: u32,
}

/// A recipe to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// A short name, different from those of the other suggestions.
    pub name: String,
    /// What it was made from.
    pub template: Template,
    /// The recipe, every step of which has been found legal.
    pub recipe: Recipe,
}

/// Recipes to try, best guess first, and what was found impossible on the way.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    /// No two have the same recipe, and none is empty.
    pub recipes: Vec<Suggestion>,
    /// Reasons, in words for a C programmer.
    pub refused: Vec<String>,
}

/// Recipes for a nest: all [templates](crate::templates::templates) worth trying, instantiated.
pub fn suggest(program: &Program, nest: &Nest, machine: &Machine, policy: Policy) -> Suggestions {
    let mut instantiator = Instantiator::new(program, nest, machine, policy);
    let mut found = Suggestions::default();
    if !instantiator.has_loops() {
        found.refused.push("no loop of the nest has bounds that can be analysed".into());
        return found;
    }
    for template in instantiator.templates() {
        let strategy = template.strategy_title();
        let parts = instantiator.refused_parts(&template);
        found.refused.extend(parts.into_iter().map(|reason| format!("{strategy}: {reason}")));
        match instantiator.instantiate(&template) {
            Ok(recipe) => {
                if !recipe.steps.is_empty() && found.recipes.iter().all(|s| s.recipe != recipe) {
                    found.recipes.push(Suggestion { name: template.title(), template, recipe });
                }
            }
            Err(Unfit::Inapplicable(_)) => {}
            Err(Unfit::Refused(reasons)) => {
                found.refused.extend(reasons.into_iter().map(|reason| format!("{strategy}: {reason}")));
            }
            Err(Unfit::Unwritable(reason)) => found.refused.push(format!("{}: {reason}", template.title())),
        }
    }
    found.refused.sort();
    found.refused.dedup();
    found
}

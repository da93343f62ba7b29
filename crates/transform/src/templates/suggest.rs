//! Recipes worth trying for a nest, from its dependences, its strides and the sizes of the caches: the templates that fit
//! it, best guess first.

use super::instantiate::Instantiator;
use super::machine::Machine;
use super::template::Template;
use super::unfit::Unfit;
use crate::policy::Policy;
use crate::prepared::PreparedNest;
use crate::recipe::Recipe;
use oxeye_ir::{Nest, Program};
use std::fmt;

/// Templates times dependences that are looked at in one nest, which takes some seconds; the others are left out.
const MOST_WORK: usize = 40_000;

/// A recipe to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// A short name, unique among the suggestions.
    pub name: String,
    /// The template it was made from.
    pub template: Template,
    /// The recipe, with every step proved legal.
    pub recipe: Recipe,
}

/// Recipes to try, best guess first, and what was found impossible.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    /// No two have the same recipe, and none is empty.
    pub recipes: Vec<Suggestion>,
    /// Sorted by text, each once.
    pub refused: Vec<RefusedSuggestion>,
}

/// Something that was found impossible for a nest. Prints as `name: reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSuggestion {
    /// The strategy or candidate; empty for the nest as a whole.
    pub name: String,
    /// Why, as a message for a C programmer.
    pub reason: String,
}

impl RefusedSuggestion {
    /// With this name and reason.
    pub fn new(name: impl Into<String>, reason: impl ToString) -> Self {
        Self { name: name.into(), reason: reason.to_string() }
    }
}

impl fmt::Display for RefusedSuggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "" => f.write_str(&self.reason),
            name => write!(f, "{name}: {}", self.reason),
        }
    }
}

/// Recipes for a nest: all [templates](super::templates) worth trying, instantiated.
pub fn suggest(program: &Program, nest: &Nest, machine: &Machine, policy: Policy) -> Suggestions {
    suggest_for(&PreparedNest::new(program, nest), machine, policy)
}

/// The same for a prepared nest.
pub fn suggest_for(prepared: &PreparedNest<'_>, machine: &Machine, policy: Policy) -> Suggestions {
    suggest_few(prepared, machine, policy, usize::MAX)
}

/// The best guesses only, `most` at most; the other templates are not looked at.
pub fn suggest_few(
    prepared: &PreparedNest<'_>,
    machine: &Machine,
    policy: Policy,
    most: usize,
) -> Suggestions {
    let mut instantiator = Instantiator::of(prepared, machine, policy);
    let mut found = Suggestions::default();
    if !instantiator.has_loops() {
        let reason = "no loop of the nest has bounds that can be analysed";
        found.refused.push(RefusedSuggestion::new("", reason));
        return found;
    }
    if let Err(reason) = prepared.schedule().original.known() {
        found.refused.push(RefusedSuggestion::new("", reason));
        return found;
    }
    let templates = instantiator.templates();
    let n_built = MOST_WORK / prepared.schedule().original.pairs.len().max(1);
    if n_built < templates.len() {
        let reason = format!(
            "the nest is large: only {n_built} of {} kinds of schedules were looked at",
            templates.len()
        );
        found.refused.push(RefusedSuggestion::new("", reason));
    }
    for template in templates.into_iter().take(n_built) {
        if found.recipes.len() >= most {
            break;
        }
        let strategy = template.strategy_title();
        let parts = instantiator.refused_parts(&template);
        found.refused.extend(parts.into_iter().map(|reason| RefusedSuggestion::new(&strategy, reason)));
        match instantiator.instantiate(&template) {
            Ok(recipe) => {
                if !recipe.steps.is_empty() && found.recipes.iter().all(|s| s.recipe != recipe) {
                    found.recipes.push(Suggestion { name: template.title(), template, recipe });
                }
            }
            Err(Unfit::Inapplicable(_)) => {}
            Err(Unfit::Refused(reasons)) => {
                found
                    .refused
                    .extend(reasons.into_iter().map(|reason| RefusedSuggestion::new(&strategy, reason)));
            }
            Err(Unfit::Unwritable(reason)) => {
                found.refused.push(RefusedSuggestion::new(template.title(), reason));
            }
        }
    }
    found.refused.sort_by_key(ToString::to_string);
    found.refused.dedup();
    found
}

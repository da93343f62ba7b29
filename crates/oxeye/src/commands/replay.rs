//! Applying a recipe file to a source file, and putting winners into the user's text.

use crate::request::files;
use crate::stages::propose::{Rendering, render};
use crate::{Error, NestRecipe, Options, RecipeFile, session};
use oxeye_codegen::tuned_file;
use oxeye_frontend::{Unit, read_c};
use oxeye_ir::{Nest, Program, Span};
use oxeye_transform::{Applied, Policy, Recipe, Refusal, apply};
use std::path::Path;

/// The text of `file` with the recipes applied: byte for byte what the run wrote that saved them. Every step is proved
/// legal again.
///
/// # Errors
/// If the file cannot be read, a nest is not there, or a step is refused.
pub fn replay(recipes: &RecipeFile, file: &Path) -> Result<String, Error> {
    files::check_readable(file)?;
    let mut options = Options::new(file);
    options.compiler = recipes.compiler.clone();
    options.no_alias = recipes.no_alias;
    let unit = read_c(file, &session::read_options(&options))?;
    tuned_text(&unit, recipes, &recipes.nests.iter().collect::<Vec<_>>())
        .map_err(|reason| Error::Recipe { path: file.to_owned(), reason })
}

/// The user's text with the given nests replaced.
pub(crate) fn tuned_text(unit: &Unit, recipes: &RecipeFile, nests: &[&NestRecipe]) -> Result<String, String> {
    let how = rendering(unit, recipes);
    let mut replacements: Vec<(Span, String)> = Vec::new();
    for wanted in nests {
        let (program, nest, span) = find(unit, wanted)?;
        let place = format!("function `{}`, line {}", wanted.function, span.line);
        let (recipe, applied) = applied(program, nest, wanted, how).map_err(|r| format!("{place}: {r}"))?;
        let comment = comment(wanted, &recipe);
        let text = render(how, nest, &applied, comment).map_err(|r| format!("{place}: {r}"))?;
        replacements.push((span, text));
    }
    replacements.sort_by_key(|(span, _)| span.start);
    Ok(if replacements.is_empty() { unit.source.clone() } else { tuned_file(&unit.source, &replacements) })
}

/// The C block that a recipe makes of its nest.
pub(crate) fn emitted_code(unit: &Unit, recipes: &RecipeFile, wanted: &NestRecipe) -> Result<String, String> {
    let how = rendering(unit, recipes);
    let (program, nest, _) = find(unit, wanted)?;
    let (recipe, applied) = applied(program, nest, wanted, how).map_err(|r| r.to_string())?;
    render(how, nest, &applied, comment(wanted, &recipe))
}

/// The recipe in the ids of its nest, and what it makes of it.
fn applied(
    program: &Program,
    nest: &Nest,
    wanted: &NestRecipe,
    how: Rendering<'_>,
) -> Result<(Recipe, Applied), Refusal> {
    let recipe = wanted.recipe.resolve(program, nest, how.policy)?;
    let applied = apply(program, nest, &recipe, how.policy)?;
    Ok((recipe, applied))
}

fn rendering<'u>(unit: &'u Unit, recipes: &RecipeFile) -> Rendering<'u> {
    Rendering {
        source: &unit.source,
        threads: recipes.threads,
        policy: Policy { reassociate: recipes.reassociate },
        plain_sums: recipes.compiler.vectorizes_sums(),
    }
}

fn find<'u>(unit: &'u Unit, wanted: &NestRecipe) -> Result<(&'u Program, &'u Nest, Span), String> {
    let function = unit
        .functions
        .iter()
        .find(|f| f.name == wanted.function)
        .ok_or_else(|| format!("there is no function `{}` with loop nests in it", wanted.function))?;
    let nest = function.program.nests.values().nth(wanted.ordinal);
    nest.and_then(|nest| Some((&function.program, nest, nest.span?))).ok_or_else(|| {
        format!(
            "function `{}` has {} loop nests, and the recipe is for number {}",
            wanted.function,
            function.program.nests.len(),
            wanted.ordinal.saturating_add(1)
        )
    })
}

/// What stands above a rewritten nest.
fn comment(wanted: &NestRecipe, recipe: &Recipe) -> Vec<String> {
    let mut lines = vec![format!("oxeye: {}", wanted.name)];
    lines.extend(recipe.steps.iter().map(|step| format!("  {step}").replace("*/", "* /")));
    lines
}

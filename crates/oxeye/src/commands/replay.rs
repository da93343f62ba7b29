//! Applying a recipe file to a source file.

use crate::nest::replacement;
use crate::request::{Error, NestRecipe, Options, RecipeFile, files};
use crate::schedule::{Rendering, Unproved, prove};
use crate::stages::read_options;
use oxeye_codegen::tuned_file;
use oxeye_frontend::{FrontendError, Function, ReadOptions, Unit, read_c};
use oxeye_ir::{Nest, NestId, Program, Span};
use oxeye_transform::{Policy, PreparedNest};
use std::borrow::Cow;
use std::path::Path;

/// Why a recipe does not go with a file.
#[derive(Debug, thiserror::Error)]
enum Misfit {
    #[error("there is no function `{0}` with loop nests in it")]
    NoFunction(String),
    #[error("function `{function}` has {n_nests} loop nests, and the recipe is for number {number}")]
    NoNest { function: String, n_nests: usize, number: usize },
    #[error("in function `{function}`, the loops inside the one at line {line} are no nests of their own")]
    NothingInside { function: String, line: u32 },
    #[error(transparent)]
    NotRead(#[from] FrontendError),
    #[error("function `{function}`, line {line}: {why}")]
    Unproved { function: String, line: u32, why: Unproved },
}

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
    let reading = read_options(&options);
    let unit = read_c(file, &reading)?;
    tuned_text(&unit, &reading, recipes)
        .map_err(|why| Error::Recipe { path: file.to_owned(), reason: why.to_string() })
}

/// The user's text with the nests of the recipes replaced.
fn tuned_text(unit: &Unit, reading: &ReadOptions, recipes: &RecipeFile) -> Result<String, Misfit> {
    let how = rendering(unit, recipes);
    let mut replacements: Vec<(Span, String)> = Vec::new();
    for wanted in &recipes.nests {
        let (function, nest, span) = find(unit, reading, wanted)?;
        let nest = &function.program.nests[&nest];
        let text = block(how, &function.program, nest, wanted).map_err(|why| {
            let (function, line) = (wanted.function.clone(), span.line);
            Misfit::Unproved { function, line, why }
        })?;
        replacements.push((span, replacement(unit, &function, nest.id, span, text)));
    }
    replacements.sort_by_key(|(span, _)| span.start);
    Ok(if replacements.is_empty() { unit.source.clone() } else { tuned_file(&unit.source, &replacements) })
}

/// What stands in the place of a nest.
fn block(
    how: Rendering<'_>,
    program: &Program,
    nest: &Nest,
    wanted: &NestRecipe,
) -> Result<String, Unproved> {
    // People may call loops by their names.
    let recipe = wanted.recipe.resolve(program, nest, how.policy)?;
    let threads = wanted.threads.unwrap_or(how.threads).min(how.threads);
    Ok(prove(Rendering { threads, ..how }, &PreparedNest::new(program, nest), &recipe)?
        .emitted(&wanted.name, &recipe))
}

fn rendering<'u>(unit: &'u Unit, recipes: &RecipeFile) -> Rendering<'u> {
    Rendering {
        source: &unit.source,
        threads: recipes.threads,
        policy: Policy { reassociate: recipes.reassociate },
        plain_sums: recipes.compiler.vectorizes_sums(),
    }
}

/// The function as it is to be read for a recipe, and the nest in it.
fn find<'u>(
    unit: &'u Unit,
    reading: &ReadOptions,
    wanted: &NestRecipe,
) -> Result<(Cow<'u, Function>, NestId, Span), Misfit> {
    let name = &wanted.function;
    let found = unit.functions.iter().find(|f| f.name == *name);
    let mut function = Cow::Borrowed(found.ok_or_else(|| Misfit::NoFunction(name.clone()))?);
    let mut nests: Vec<NestId> = function.program.nests.keys().copied().collect();
    let mut opened: Vec<Span> = Vec::new();
    for ordinal in &wanted.within {
        let (_, span) = nth(&function, &nests, *ordinal)?;
        opened.push(span);
        let Some(inside) = unit.open(reading, name, &opened)? else {
            return Err(Misfit::NothingInside { function: name.clone(), line: span.line });
        };
        (function, nests) = (Cow::Owned(inside.function), inside.nests);
    }
    let (nest, span) = nth(&function, &nests, wanted.ordinal)?;
    Ok((function, nest, span))
}

fn nth(function: &Function, nests: &[NestId], ordinal: usize) -> Result<(NestId, Span), Misfit> {
    let found = nests.get(ordinal).and_then(|id| Some((*id, function.program.nests[id].span?)));
    found.ok_or_else(|| Misfit::NoNest {
        function: function.name.clone(),
        n_nests: nests.len(),
        number: ordinal.saturating_add(1),
    })
}

//! Applying a recipe file to a source file.

use crate::nest::{helper, replacement, stands_apart};
use crate::openmp::{Directives, OPENMP_FLAG};
use crate::request::{Compiler, Error, FpPolicy, Guard, NestRecipe, Options, RecipeFile, files};
use crate::schedule::{Proved, Rendering, Unproved, prove};
use crate::stages::read_options;
use crate::written::{ChangedFile, by_itself, changed_files};
use oxeye_binding::{Binding, OwnText};
use oxeye_codegen::{Isa, SizeGuard};
use oxeye_frontend::{FrontendError, Function, Opened, ReadOptions, Unit, read_c};
use oxeye_ir::{Nest, NestId, Span};
use oxeye_transform::{Policy, PreparedNest, Recipe};
use std::borrow::Cow;
use std::path::Path;

/// Why a recipe does not go with a file.
#[derive(Debug, thiserror::Error)]
pub enum Misfit {
    /// The file has no such function.
    #[error("there is no function `{0}` with loop nests in it")]
    NoFunction(String),
    /// The function has no such nest.
    #[error("function `{function}` has {n_nests} loop nests, and the recipe is for number {number}")]
    NoNest {
        /// The function.
        function: String,
        /// How many nests it has.
        n_nests: usize,
        /// Which one the recipe is for, from 1.
        number: usize,
    },
    /// The function has not so many neighbours that could be one nest.
    #[error(
        "function `{function}` has {n_members} loop nests and calls of functions with loops, and the recipe is for \
         numbers {first} to {last} of them as one"
    )]
    NoMembers {
        /// The function.
        function: String,
        /// How many nests and calls it has.
        n_members: usize,
        /// The first one that the recipe is for, from 1.
        first: usize,
        /// The last one.
        last: usize,
    },
    /// The nest is opened by the recipe, but nothing in it is a nest.
    #[error("in function `{function}`, the loops inside the one at line {line} are no nests of their own")]
    NothingInside {
        /// The function.
        function: String,
        /// First line of the nest.
        line: u32,
    },
    /// The recipe is for several nests as one.
    #[error(
        "in function `{function}`, the loop at line {line} and those behind it cannot be read as one nest"
    )]
    NoGroup {
        /// The function.
        function: String,
        /// First line of the first nest.
        line: u32,
    },
    /// The file cannot be read again with the nest opened.
    #[error(transparent)]
    NotRead(#[from] FrontendError),
    /// The nest does not have these rows.
    #[error(
        "function `{function}`, line {line}: the recipe is for rows behind pointers in `{name}`, which are not there"
    )]
    NoRows {
        /// The function.
        function: String,
        /// First line of the nest.
        line: u32,
        /// The array.
        name: String,
    },
    /// The recipe is not legal there, or gives no text.
    #[error("function `{function}`, line {line}: {why}")]
    Unproved {
        /// The function.
        function: String,
        /// First line of the nest.
        line: u32,
        /// Why not.
        why: Unproved,
    },
}

/// `file` with the recipes applied: byte for byte what the run wrote that saved them. Every step is proved
/// legal again. The file is read with [`Compiler::plain`]: no command and no plugin that the recipe file names is run.
///
/// # Errors
/// If the file cannot be read, a nest is not there, or a step is refused.
pub fn replay(recipes: &RecipeFile, file: &Path) -> Result<Rewritten, Error> {
    replay_with(recipes, &recipes.compiler.plain().compiler, file)
}

/// The same, the file read with this compiler and its flags.
///
/// # Errors
/// As [`replay`].
pub fn replay_with(recipes: &RecipeFile, compiler: &Compiler, file: &Path) -> Result<Rewritten, Error> {
    let fp = if recipes.keeps_order { FpPolicy::Strict } else { FpPolicy::FromFlags };
    let (compiler, no_alias) = (compiler.clone(), recipes.no_alias);
    let options = Options { compiler, no_alias, fp, ..Options::new(file) };
    replayed(recipes, &woken(read_options(&options), recipes), file)
}

/// How a file is read for recipes that need its directives on.
pub(super) fn woken(mut reading: ReadOptions, recipes: &RecipeFile) -> ReadOptions {
    reading.args.extend(recipes.directives.then(|| OPENMP_FLAG.to_owned()));
    reading
}

/// The same, the file read so.
pub(super) fn replayed(recipes: &RecipeFile, reading: &ReadOptions, file: &Path) -> Result<Rewritten, Error> {
    files::check_readable(file)?;
    let unit = read_c(file, reading)?;
    let rewritten = rewrite(&unit, reading, recipes);
    match rewritten.refused.first() {
        Some((_, why)) => Err(Error::Recipe { path: file.to_owned(), reason: why.to_string() }),
        None => Ok(rewritten),
    }
}

/// A file with the nests of recipes replaced, as far as they go with it.
#[derive(Debug)]
pub struct Rewritten {
    /// The text of the file. Files that it includes and whose nests are replaced stand in it.
    pub text: String,
    /// The changed files, each as it stands where it stands.
    pub(crate) files: Vec<ChangedFile>,
    /// The recipes that do not go with it, by their positions, and why.
    pub refused: Vec<(usize, Misfit)>,
    /// Flags that the text is to be compiled with besides those it was read with.
    pub added: Vec<String>,
}

/// A nest with its recipe.
pub(super) struct Replaced {
    /// Its place and what stands there, and the same of what stands before its function.
    pub(super) parts: Vec<(Span, String)>,
    /// What its new code needs of OpenMP.
    directives: Directives,
}

/// The user's text with the nests of the recipes replaced, every step proved legal again. Where a recipe does not go with
/// its nest, the nest stays.
pub fn rewrite(unit: &Unit, reading: &ReadOptions, recipes: &RecipeFile) -> Rewritten {
    let how = rendering(unit, recipes);
    let mut replacements: Vec<(Span, String)> = Vec::new();
    let mut refused = Vec::new();
    let mut directives = if recipes.directives { Directives::Threads } else { Directives::Nothing };
    for (idx, wanted) in recipes.nests.iter().enumerate() {
        match replaced(unit, reading, (how, recipes.vector_bytes), wanted) {
            Ok(replaced) => {
                directives = directives.max(replaced.directives);
                replacements.extend(replaced.parts);
            }
            Err(why) => refused.push((idx, why)),
        }
    }
    replacements.sort_by_key(|(span, _)| span.start);
    let text = by_itself(unit, &replacements, &recipes.quiet);
    let files = changed_files(unit, &replacements, &recipes.quiet);
    // Recipes that need directives on are read with the flag that is asked for here.
    let n_own = reading.args.len().saturating_sub(usize::from(recipes.directives));
    let added = directives.flag(&reading.args[..n_own]).into_iter().collect();
    Rewritten { text, files, refused, added }
}

/// A nest with its recipe. How it is rendered comes with [`RecipeFile::vector_bytes`].
pub(super) fn replaced(
    unit: &Unit,
    reading: &ReadOptions,
    (how, vector_bytes): (Rendering<'_>, Option<u32>),
    wanted: &NestRecipe,
) -> Result<Replaced, Misfit> {
    let (mut function, nest, span) = find(unit, reading, wanted)?;
    for name in &wanted.uneven {
        let Function { program, binding, .. } = function.to_mut();
        if !binding.set_uneven_rows(program, nest, name) {
            return Err(Misfit::NoRows {
                function: function.name.clone(),
                line: span.line,
                name: name.clone(),
            });
        }
    }
    let nest = &function.program.nests[&nest];
    let (proved, recipe) = proved(how, (unit, &function), nest, wanted).map_err(|why| {
        let (function, line) = (wanted.function.clone(), span.line);
        Misfit::Unproved { function, line, why }
    })?;
    let block = proved.emitted(&wanted.name, &recipe);
    let builds = (&proved, vector_bytes);
    let own = (span, replacement(unit, &function, nest.id, span, block, builds));
    let parts = [own].into_iter().chain(helper(unit, &function, nest.id, &proved)).collect();
    Ok(Replaced { parts, directives: proved.directives() })
}

/// What a recipe of a file makes of its nest, and its steps for that.
///
/// # Errors
/// If it is not legal there, or gives no text.
pub(super) fn proved(
    how: Rendering<'_>,
    (unit, function): (&Unit, &Function),
    nest: &Nest,
    wanted: &NestRecipe,
) -> Result<(Proved, Recipe), Unproved> {
    let program = &function.program;
    // People may call loops by their names.
    let recipe = wanted.recipe.resolve(program, nest, how.policy)?;
    let threads = wanted.threads.unwrap_or(how.threads).min(how.threads);
    let guard = wanted.guard.as_ref().map(Guard::rendered).unwrap_or_default();
    let mut known = Vec::new();
    for (name, value) in &wanted.known {
        let symbol = program.symbols.iter().find(|(_, symbol)| symbol.name == *name);
        let Some((symbol, _)) = symbol else { return Err(Unproved::NoSymbol(name.clone())) };
        known.push((*symbol, *value));
    }
    let isa = match &wanted.isa {
        Some(word) => match Isa::ALL.into_iter().find(|isa| isa.word() == word) {
            Some(isa) => {
                stands_apart(unit, function)?;
                Some(isa)
            }
            None => return Err(Unproved::NoIsa(word.clone())),
        },
        None => None,
    };
    if wanted.own_text && !recipe.steps.is_empty() {
        return Err(Unproved::OwnTextWithSteps);
    }
    let own = wanted.own_text.then(|| function.own_texts.get(&nest.id).unwrap_or(OwnText::none()));
    let how = Rendering { binding: &function.binding, threads, guard, known: &known, isa, own, ..how };
    Ok((prove(how, &PreparedNest::new(program, nest), &recipe)?, recipe))
}

/// How recipes of a file become text, in functions whose binding is not known yet.
pub(super) fn rendering<'u>(unit: &'u Unit, recipes: &RecipeFile) -> Rendering<'u> {
    Rendering {
        source: &unit.source,
        binding: Binding::none(),
        threads: recipes.threads,
        guard: SizeGuard::default(),
        known: &[],
        isa: None,
        own: None,
        policy: Policy {
            reassociate: recipes.reassociate,
            finite: !recipes.keeps_order && recipes.compiler.has_finite_math(),
        },
        plain_sums: recipes.compiler.vectorizes_sums(),
        roots_set_errno: recipes.compiler.keeps_errno_of_roots(),
        declarations_first: recipes.compiler.declares_first(),
        checks: false,
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
    if wanted.joined == 0 {
        let (nest, span) = nth(&function, &nests, wanted.ordinal)?;
        return Ok((function, nest, span));
    }
    let outer = opened.last().copied();
    let Some(group) = function.group_of(outer, wanted.ordinal, wanted.joined) else {
        return Err(Misfit::NoMembers {
            function: name.clone(),
            n_members: function.members(outer).len(),
            first: wanted.ordinal.saturating_add(1),
            last: wanted.ordinal.saturating_add(wanted.joined).saturating_add(1),
        });
    };
    let Some(Opened { function, nests }) = unit.group(reading, name, &opened, group)? else {
        return Err(Misfit::NoGroup { function: name.clone(), line: group.line });
    };
    let (nest, span) = nth(&function, &nests, 0)?;
    Ok((Cow::Owned(function), nest, span))
}

fn nth(function: &Function, nests: &[NestId], ordinal: usize) -> Result<(NestId, Span), Misfit> {
    let found = nests.get(ordinal).and_then(|id| Some((*id, function.program.nests[id].span?)));
    found.ok_or_else(|| no_nest(function, nests.len(), ordinal))
}

fn no_nest(function: &Function, n_nests: usize, ordinal: usize) -> Misfit {
    Misfit::NoNest { function: function.name.clone(), n_nests, number: ordinal.saturating_add(1) }
}

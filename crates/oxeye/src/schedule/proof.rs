//! Recipes made into text: every step proved legal, the result rendered.

use crate::openmp::Directives;
use crate::parallel::{Panicked, guarded};
use oxeye_binding::{Binding, OwnText};
use oxeye_codegen::{
    CodegenError, Isa, Outlined, RenderOptions, SizeGuard, commented, outline_own_text, render_outlined,
};
use oxeye_ir::{Execution, Span, SymId};
use oxeye_transform::templates::{Instantiator, Template, Unfit};
use oxeye_transform::{Applied, Policy, PreparedNest, Recipe, Refusal};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A recipe with a name: something to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Short name for people.
    pub name: String,
    /// The templates that make it; none if it is a recipe of its own.
    pub templates: Vec<Template>,
    /// The recipe.
    pub recipe: Recipe,
}

/// What a legal schedule makes of its nest.
#[derive(Clone, Debug)]
pub struct Proved {
    /// The nest after the recipe.
    pub applied: Applied,
    /// The same as a C block.
    pub text: String,
    /// Whether the text needs OpenMP.
    pub openmp: bool,
    /// Whether it is slower than the original without.
    pub needs_openmp: bool,
    /// The symbols that the text is for one value of.
    pub known: Vec<(SymId, i64)>,
    /// Instructions that it uses where the processor has them, and the function, to stand before the one with the nest, in
    /// which it does.
    pub wide: Option<(Isa, String)>,
    /// What the nest's own text uses, if that function has the own text.
    pub(crate) own: Option<OwnText>,
    /// Variables with constant values that the text takes as they are.
    pub(crate) free: Vec<String>,
    /// Whether one thread runs it whose steps may be for several.
    pub(crate) is_alone: bool,
    /// Whether declarations in it stand at the beginnings of blocks only.
    pub(crate) declares_first: bool,
    /// Columns by which the text is indented.
    indent: usize,
}

/// Why a schedule gives no text.
#[derive(Debug, thiserror::Error)]
pub enum Unproved {
    /// A step is not legal, or does not apply.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The new nest cannot be written as C.
    #[error(transparent)]
    NotRendered(#[from] CodegenError),
    /// It is for instructions that nobody knows.
    #[error(
        "it is for `{0}`, which are no instructions that are known here; known are avx2, avx2-fma and avx512"
    )]
    NoIsa(String),
    /// It is for a value of something that the nest does not have.
    #[error("it is for one value of `{0}`, which is no size of the nest")]
    NoSymbol(String),
    /// It is the nest's own text, and has steps.
    #[error("it is the nest's own text, as it is, so it has no steps")]
    OwnTextWithSteps,
    /// A bug of ours.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// Why a template gives no recipe for a nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRecipe {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// How recipes become text.
#[derive(Clone, Copy)]
pub(crate) struct Rendering<'s> {
    /// The user's file.
    pub(crate) source: &'s str,
    /// How the function with the nest meets it.
    pub(crate) binding: &'s Binding,
    /// Threads of the emitted code.
    pub(crate) threads: u32,
    /// Under which recipes are applied.
    pub(crate) policy: Policy,
    /// The sizes that the text is for.
    pub(crate) guard: SizeGuard,
    /// The symbols that it is for one value of.
    pub(crate) known: &'s [(SymId, i64)],
    /// Instructions that the text may use where the processor has them.
    pub(crate) isa: Option<Isa>,
    /// With instructions of its own, the nest's own text is what uses them, as it is, if this says what it uses besides its
    /// arguments.
    pub(crate) own: Option<&'s OwnText>,
    /// [`Compiler::vectorizes_sums`](crate::Compiler::vectorizes_sums) of the user's compiler.
    pub(crate) plain_sums: bool,
    /// [`Compiler::keeps_errno_of_roots`](crate::Compiler::keeps_errno_of_roots) of it.
    pub(crate) roots_set_errno: bool,
    /// [`Compiler::declares_first`](crate::Compiler::declares_first) of it.
    pub(crate) declarations_first: bool,
    /// Whether the text is for a debug build, in which every access is checked.
    pub(crate) checks: bool,
}

/// The recipe that a template makes for the nest of the instantiator.
///
/// # Errors
/// Why there is none.
pub(crate) fn instantiate(
    instantiator: &mut Instantiator<'_>,
    template: &Template,
) -> Result<Recipe, NoRecipe> {
    Ok(guarded(|| instantiator.instantiate(template))??)
}

/// Applies a recipe, every step of which must be proved legal, and renders the result.
///
/// # Errors
/// Why a step is not legal or does not apply, or why the nest cannot be rendered.
pub(crate) fn prove(
    how: Rendering<'_>,
    prepared: &PreparedNest<'_>,
    recipe: &Recipe,
) -> Result<Proved, Unproved> {
    guarded(|| {
        let nest = prepared.nest();
        let mut applied = prepared.apply(recipe, how.policy)?;
        let rendered = render(how, &applied, nest.span)?;
        // Many of these wait to be tried: of the program only what this nest needs is kept.
        applied.program.nests.retain(|id, _| *id == nest.id);
        Ok(rendered.of(applied, how.known))
    })?
}

/// What a nest becomes after a recipe, as text.
struct Rendered {
    text: String,
    wide: Option<(Isa, String)>,
    openmp: bool,
    needs_openmp: bool,
    own: Option<OwnText>,
    free: Vec<String>,
    declares_first: bool,
    indent: usize,
}

impl Rendered {
    fn of(self, applied: Applied, known: &[(SymId, i64)]) -> Proved {
        let Rendered { text, wide, openmp, needs_openmp, own, free, declares_first, indent } = self;
        let (known, is_alone) = (known.to_vec(), false);
        Proved {
            applied,
            text,
            wide,
            openmp,
            needs_openmp,
            own,
            free,
            is_alone,
            declares_first,
            indent,
            known,
        }
    }
}

/// The text of a nest after a recipe. `span` is the nest's place.
fn render(how: Rendering<'_>, applied: &Applied, span: Option<Span>) -> Result<Rendered, CodegenError> {
    let original = span.map(|span| span.text(how.source).into_owned());
    let indent = span.map_or(0, |s| column(how.source, s.start));
    let options = RenderOptions {
        threads: how.threads,
        comment: Vec::new(),
        indent,
        reassociate: how.policy.reassociate,
        plain_sums: how.plain_sums,
        roots_set_errno: how.roots_set_errno,
        declarations_first: how.declarations_first,
        original,
        guard: how.guard,
        known: how.known.to_vec(),
        reserved: macros(how.source).map(|(name, _)| name.to_owned()).collect(),
        registers: registers(how.source),
        checks: how.checks.then(|| format!("{}:{}", applied.nest.function, span.map_or(0, |span| span.line))),
    };
    let (program, nest) = (&applied.program, &applied.nest);
    let mut free = Vec::new();
    let (text, wide, openmp) = match how.isa {
        None => {
            let oxeye_codegen::Rendered { text, openmp } =
                oxeye_codegen::render(program, how.binding, nest, &options)?;
            (text, None, openmp)
        }
        Some(isa) => {
            let name = format!("oxeye_{}_{}", nest.function, place_name(how.source, span));
            let outlined = match how.own {
                Some(own) => outline_own_text(program, how.binding, nest, &options, isa, &name, own),
                None => render_outlined(program, how.binding, nest, &options, isa, &name),
            };
            let Outlined { function, block, is_for_values, openmp } = outlined?;
            let constants = how.own.filter(|_| !is_for_values).map_or(&[][..], |own| &own.constants);
            free.extend(constants.iter().map(|[name, ..]| name.clone()));
            (block, Some((isa, function)), openmp)
        }
    };
    let own = how.own.filter(|_| how.isa.is_some()).cloned();
    let openmp = openmp && how.threads > 1;
    let needs_openmp = openmp && how.guard.openmp;
    let declares_first = how.declarations_first;
    Ok(Rendered { text, wide, openmp, needs_openmp, own, free, declares_first, indent })
}

/// The line of a nest, and where something else begins in that line, too, how far from its beginning.
fn place_name(source: &str, span: Option<Span>) -> String {
    let Some(span) = span else { return "0".into() };
    let before = source.get(..span.start).and_then(|text| text.rsplit('\n').next()).unwrap_or_default();
    match before.trim().is_empty() {
        true => span.line.to_string(),
        false => format!("{}_{}", span.line, before.len()),
    }
}

/// The macros that a file defines, each with what stands behind its name.
fn macros(source: &str) -> impl Iterator<Item = (&str, &str)> {
    source.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        let end = rest.find(is_no_letter).unwrap_or(rest.len());
        (end > 0).then(|| rest.split_at(end))
    })
}

/// What is declared `register` in a file, among other words of its declarations.
fn registers(source: &str) -> Vec<String> {
    let meanings = macros(source).filter(|(_, meaning)| meaning.trim() == "register").map(|(name, _)| name);
    let words: Vec<&str> = meanings.chain(["register"]).collect();
    let mut found = Vec::new();
    for (at, _) in words.iter().flat_map(|word| source.match_indices(word)) {
        let rest = &source[at..];
        let declared = rest.split([';', ')', '{']).next().unwrap_or(rest);
        let mut names = declared.split(is_no_letter).filter(|name| !name.is_empty());
        if names.next().is_some_and(|word| words.contains(&word)) {
            found.extend(names.map(str::to_owned));
        }
    }
    found
}

fn is_no_letter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

impl Schedule {
    /// What a template makes of a nest.
    pub(crate) fn of_template(template: Template, recipe: Recipe) -> Self {
        Self { name: template.title(), templates: vec![template], recipe }
    }

    /// What it was made from first, if from a template.
    pub fn template(&self) -> Option<Template> {
        self.templates.first().copied()
    }
}

impl Proved {
    /// Whether several threads run it.
    pub(crate) fn is_parallel(&self) -> bool {
        let loops = self.applied.nest.loops();
        self.openmp && loops.iter().any(|l| matches!(l.execution, Execution::Parallel { .. }))
    }

    /// What its text needs of OpenMP.
    pub(crate) fn directives(&self) -> Directives {
        match self.openmp {
            true if self.is_parallel() || self.needs_openmp => Directives::Threads,
            true => Directives::Vectors,
            false => Directives::Nothing,
        }
    }

    /// Threads at work, where `most` are allowed.
    pub(crate) fn threads(&self, most: u32) -> u32 {
        if self.is_parallel() { most } else { 1 }
    }

    /// The same for the sizes of a guard.
    ///
    /// # Errors
    /// If the text cannot be written so.
    pub(crate) fn guarded(
        &self,
        how: Rendering<'_>,
        span: Option<Span>,
        guard: SizeGuard,
    ) -> Result<Self, Unproved> {
        guarded(|| {
            let how = Rendering { guard, known: &self.known, ..self.rendering(how) };
            Ok(self.same(render(how, &self.applied, span)?.of(self.applied.clone(), &self.known)))
        })?
    }

    /// The same for one thread.
    ///
    /// # Errors
    /// If the text cannot be written so.
    pub(crate) fn alone(&self, how: Rendering<'_>, span: Option<Span>) -> Result<Self, Unproved> {
        guarded(|| {
            let how = Rendering { threads: 1, known: &self.known, ..self.rendering(how) };
            let alone = render(how, &self.applied, span)?.of(self.applied.clone(), &self.known);
            Ok(Self { is_alone: true, ..alone })
        })?
    }

    /// How its text is written.
    fn rendering<'s>(&'s self, how: Rendering<'s>) -> Rendering<'s> {
        let threads = if self.is_alone { 1 } else { how.threads };
        Rendering { threads, isa: self.isa(), own: self.own.as_ref(), ..how }
    }

    /// Another text of it.
    fn same(&self, other: Self) -> Self {
        Self { is_alone: self.is_alone, ..other }
    }

    /// The same for one value each of some symbols.
    ///
    /// # Errors
    /// If the text cannot be written so.
    pub(crate) fn specialised(
        &self,
        how: Rendering<'_>,
        span: Option<Span>,
        known: &[(SymId, i64)],
    ) -> Result<Self, Unproved> {
        guarded(|| {
            let how = Rendering { known, ..self.rendering(how) };
            Ok(self.same(render(how, &self.applied, span)?.of(self.applied.clone(), known)))
        })?
    }

    /// The instructions that it is for, if only some processors have them.
    pub(crate) fn isa(&self) -> Option<Isa> {
        self.wide.as_ref().map(|(isa, _)| *isa)
    }

    /// The function that it calls, to stand before the one with the nest; empty if there is none.
    pub(crate) fn before(&self) -> &str {
        self.wide.as_ref().map_or("", |(_, function)| function)
    }

    /// What the text is known by in logs.
    pub(crate) fn digest(&self) -> String {
        match self.before() {
            "" => digest(&self.text),
            function => digest(&format!("{function}{}", self.text)),
        }
    }

    /// The text as it stands in tuned files: with the recipe in a comment at its top.
    pub(crate) fn emitted(&self, name: &str, recipe: &Recipe) -> String {
        let mut lines = vec![format!("oxeye: {name}")];
        lines.extend(recipe.steps.iter().map(|step| format!("  {step}")));
        commented(&self.text, &lines, self.indent)
    }
}

/// The first 16 hexadecimal digits of the SHA-256 hash of a text.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Columns of white space before a position, a tab counting as four.
pub(crate) fn column(source: &str, at: usize) -> usize {
    let line = source.get(..at).and_then(|text| text.rsplit('\n').next()).unwrap_or_default();
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nests_in_one_line_have_names_of_their_own() {
        let source = "void f(void)\n{\n    for (;;); for (;;);\n}\n";
        let at = |start: usize| Some(Span { start, end: start + 9, line: 3 });
        let first = source.find("for").expect("a loop");
        assert_eq!(place_name(source, at(first)), "3");
        assert_eq!(place_name(source, at(first + 10)), "3_14");
        assert_eq!(place_name(source, None), "0");
    }
}

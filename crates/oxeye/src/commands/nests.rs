//! The nests of a file one by one, for scripts: described, compared with what is known, rewritten. No program is run.

use super::replay::{Misfit, rendering, replaced};
use super::replay::{Rewritten, rewrite};
use crate::knowledge::{KnownNests, NestDescription, Undescribed, shipped_embedder};
use crate::request::{Error, FpPolicy, NestRecipe, Options, Progress, RECIPE_SCHEMA, RecipeFile, Silent};
use crate::session::Session;
use crate::stages::read_options;
use crate::transfer::{Donor, DonorFinder};
use oxeye_database::Context;
use oxeye_embed::HostVector;
use oxeye_frontend::{Function, ReadOptions, Unit, read_c};
use oxeye_ir::{Nest, NestId, SymId};
use oxeye_transform::{Policy, PreparedNest, WrittenRecipe};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A file that was read, for looking at its nests one by one.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("copy.c");
/// std::fs::write(&file, "void copy(int n, double a[n][n], double b[n][n]) {
///     for (int j = 0; j < n; j++)
///         for (int i = 0; i < n; i++)
///             a[i][j] = b[i][j];
/// }")?;
/// let nests = oxeye::NestFile::read(&oxeye::Options::new(&file))?;
/// let place = nests.places()[0];
/// let text = nests.rewritten_nest(place, &"interchange j i".parse()?)?;
/// assert!(text.contains("for"));
/// # Ok(())
/// # }
/// ```
pub struct NestFile {
    options: Options,
    reading: ReadOptions,
    unit: Unit,
    surroundings: OnceLock<Surroundings>,
}

/// Where a nest stands in a [`NestFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestPlace {
    /// Index into the functions of the unit.
    pub function_idx: usize,
    /// The nest in that function's program.
    pub nest_id: NestId,
    /// Which nest of the function, from 0.
    pub ordinal: usize,
}

/// What a session knows that outlives it.
struct Surroundings {
    host: HostVector,
    context: Context,
}

impl NestFile {
    /// Reads the file of the options, with their compiler.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(options: &Options) -> Result<Self, Error> {
        crate::request::files::check_readable(&options.file)?;
        let reading = read_options(options);
        let unit = read_c(&options.file, &reading)?;
        Ok(Self { options: options.clone(), reading, unit, surroundings: OnceLock::new() })
    }

    /// What was read.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The nests that have a place in the file, in its order.
    pub fn places(&self) -> Vec<NestPlace> {
        let mut found = Vec::new();
        for (function_idx, function) in self.unit.functions.iter().enumerate() {
            for (ordinal, nest) in function.program.nests.values().enumerate() {
                let place = NestPlace { function_idx, nest_id: nest.id, ordinal };
                found.extend(nest.span.map(|span| (span.start, place)));
            }
        }
        found.sort_by_key(|(start, _)| *start);
        found.into_iter().map(|(_, place)| place).collect()
    }

    /// The function and the nest at a place.
    ///
    /// # Panics
    /// If the place is of another file.
    pub fn nest(&self, place: NestPlace) -> (&Function, &Nest) {
        let function = &self.unit.functions[place.function_idx];
        (function, &function.program.nests[&place.nest_id])
    }

    /// What a nest is known by, under values of its sizes by their names in the source; sizes without a value are unknown
    /// to the encoder. Looks at the machine, which takes seconds where it was never measured.
    ///
    /// # Errors
    /// If a size is none of the nest's program, if the compiler cannot be run, or why there is no description.
    pub fn describe(
        &self,
        place: NestPlace,
        sizes: &BTreeMap<String, i64>,
        progress: &dyn Progress,
    ) -> Result<NestDescription, Error> {
        let (function, nest) = self.nest(place);
        let symbols = &function.program.symbols;
        let unknown = sizes.keys().find(|name| symbols.values().all(|symbol| symbol.name != **name));
        if let Some(name) = unknown {
            let known: Vec<&str> = symbols.values().map(|symbol| symbol.name.as_str()).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(Error::Input(format!(
                "`{name}` is no size of `{}`; its sizes: {known}",
                function.name
            )));
        }
        let value_of = |symbol: SymId| sizes.get(&symbols.get(&symbol)?.name).copied();
        let host = &self.surroundings(progress)?.host;
        let prepared = PreparedNest::new(&function.program, nest);
        let embedder = shipped_embedder().map_err(|why| Error::Input(why.to_string()))?;
        let described = embedder.describe(&prepared, &value_of, host, self.policy(), None);
        described.map_err(|why: Undescribed| {
            Error::Input(format!("the nest in `{}` has no embedding: {why}", function.name))
        })
    }

    /// The nests of the recipe database that are most like this one, with what was tried on them: those of the same normal
    /// form first, then the nearest.
    ///
    /// # Errors
    /// If the recipe database cannot be read.
    pub fn donors(&self, nest: &NestDescription) -> Result<Vec<Donor>, Error> {
        let known = KnownNests::open(&self.options.knowledge, &mut Vec::new())?;
        let Some(store) = &known.recipes else { return Ok(Vec::new()) };
        let Surroundings { host, context } = self.surroundings(&Silent)?;
        let finder = DonorFinder { store: &**store, context, host, seed: self.options.seed };
        Ok(finder.find(nest, self.options.donors)?)
    }

    /// What stands in the place of a nest with a recipe: a block of C. Every step is proved legal.
    ///
    /// # Errors
    /// Why a step is not legal or does not fit, or why the nest cannot be written so.
    pub fn rewritten_nest(&self, place: NestPlace, recipe: &WrittenRecipe) -> Result<String, Misfit> {
        let recipes = self.recipe_file([(place, recipe.clone())]);
        let how = rendering(&self.unit, &recipes);
        // Without instructions of their own, nests are blocks in their places and nothing else.
        let replaced = replaced(&self.unit, &self.reading, (how, None), &recipes.nests[0])?;
        Ok(replaced.parts.into_iter().next().map(|(_, text)| text).unwrap_or_default())
    }

    /// The text of the file with recipes applied to some of its nests, as far as they go with them.
    pub fn rewritten(&self, recipes: impl IntoIterator<Item = (NestPlace, WrittenRecipe)>) -> Rewritten {
        rewrite(&self.unit, &self.reading, &self.recipe_file(recipes))
    }

    /// Recipes for some of the nests as `replay` takes them.
    pub fn recipe_file(&self, recipes: impl IntoIterator<Item = (NestPlace, WrittenRecipe)>) -> RecipeFile {
        let nest = |(place, recipe): (NestPlace, WrittenRecipe)| {
            let (function, nest) = self.nest(place);
            NestRecipe {
                isa: None,
                own_text: false,
                function: function.name.clone(),
                ordinal: place.ordinal,
                within: Vec::new(),
                joined: 0,
                line: nest.span.map_or(0, |span| span.line),
                name: "my own".into(),
                threads: None,
                guard: None,
                known: BTreeMap::new(),
                uneven: Vec::new(),
                recipe,
            }
        };
        RecipeFile {
            schema: RECIPE_SCHEMA.into(),
            compiler: self.options.compiler.clone(),
            threads: self.options.threads.max(1),
            reassociate: self.options.reassociate(),
            no_alias: self.options.no_alias,
            keeps_order: self.options.fp == FpPolicy::Strict,
            directives: false,
            quiet: Vec::new(),
            vector_bytes: None,
            machine: None,
            nests: recipes.into_iter().map(nest).collect(),
        }
    }

    fn policy(&self) -> Policy {
        Policy { reassociate: self.options.reassociate(), finite: false }
    }

    fn surroundings(&self, progress: &dyn Progress) -> Result<&Surroundings, Error> {
        if let Some(known) = self.surroundings.get() {
            return Ok(known);
        }
        let session = Session::for_reading(&self.options, progress)?;
        let found = Surroundings { host: session.host_vector(), context: session.context() };
        Ok(self.surroundings.get_or_init(|| found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, NestFile) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nests.c");
        std::fs::write(&path, text).expect("written");
        let mut options = Options::new(&path);
        options.threads = 1;
        (folder, NestFile::read(&options).expect("read"))
    }

    const SUMS: &str = "
        void rows(int n, double a[n][n], double s[n]) {
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    s[i] += a[i][j];
        }
        void prefix(int n, double x[n]) {
            for (int i = 1; i < n; i++)
                x[i] += x[i - 1];
        }";

    #[test]
    fn recipes_are_proved_nest_by_nest() {
        let (_folder, nests) = file(SUMS);
        let places = nests.places();
        assert_eq!(places.len(), 2);
        let recipe: WrittenRecipe = "reverse i".parse().expect("a recipe");
        let block = nests.rewritten_nest(places[0], &recipe).expect("rows are independent");
        assert!(block.contains("reverse"), "{block}");
        let refusal = nests.rewritten_nest(places[1], &recipe).expect_err("each needs the one before");
        assert!(refusal.to_string().contains("x"), "{refusal}");
        let both = nests.rewritten(places.iter().map(|place| (*place, recipe.clone())));
        assert_eq!(both.refused.len(), 1);
        assert!(both.text.contains("x[i] += x[i - 1];"), "{}", both.text);
    }

    #[test]
    fn sizes_have_names_of_the_source() {
        let (_folder, nests) = file(SUMS);
        let wrong = nests.describe(nests.places()[0], &[("m".to_owned(), 3)].into(), &Silent);
        let error = wrong.expect_err("there is no m").to_string();
        assert!(error.contains("`m`") && error.contains('n'), "{error}");
    }
}

//! A file that was read, and its nests one by one.

use crate::errors::Raised;
use crate::running::attended;
use oxeye::{NestDescription, NestFile, NestPlace, WrittenRecipe};
use oxeye_ir::to_dot;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// The nests of a file, called by their positions.
#[pyclass(frozen, module = "oxeye._oxeye")]
pub(crate) struct Reading {
    file: Arc<NestFile>,
    places: Vec<NestPlace>,
}

fn recipe(text: &str) -> Result<WrittenRecipe, Raised> {
    text.parse().map_err(|error| Raised::new("InputError", format!("`{text}` is no recipe: {error}")))
}

impl Reading {
    fn place(&self, idx: usize) -> Result<NestPlace, Raised> {
        let place = self.places.get(idx).copied();
        place.ok_or_else(|| Raised::new("InputError", format!("the file has no nest {idx}")))
    }

    fn described<T: Send + 'static>(
        &self,
        py: Python<'_>,
        (idx, sizes): (usize, BTreeMap<String, i64>),
        then: impl FnOnce(&NestFile, &NestDescription) -> Result<T, Raised> + Send + 'static,
    ) -> PyResult<T> {
        let (file, place) = (self.file.clone(), self.place(idx)?);
        attended(py, None, move |watch| {
            let description = file.describe(place, &sizes, watch)?;
            then(&file, &description)
        })
    }
}

#[pymethods]
impl Reading {
    /// Reads a file; the words are those of `oxeye explain`.
    #[new]
    fn new(py: Python<'_>, words: Vec<OsString>) -> PyResult<Self> {
        let file = attended(py, None, move |_| Ok(NestFile::read(&oxeye_cli::options(&words)?)?))?;
        let places = file.places();
        Ok(Self { file: Arc::new(file), places })
    }

    /// What there is to know of the file and its nests without looking closer, as JSON.
    fn summary(&self) -> String {
        let unit = self.file.unit();
        let nests = self.places.iter().map(|place| {
            let (function, nest) = self.file.nest(*place);
            let sizes = function.program.symbols.values().map(|symbol| symbol.name.as_str());
            let span = nest.span;
            json!({
                "function": function.name,
                "line": span.map(|span| unit.included.line(span.line).line),
                "n_loops": nest.loops().len(),
                "n_statements": nest.stmts().len(),
                "sizes": sizes.collect::<Vec<_>>(),
                "source": span.and_then(|span| unit.source.get(span.start..span.end)),
            })
        });
        let diagnostics = unit.diagnostics.iter().map(|d| unit.rendered(d));
        json!({
            "nests": nests.collect::<Vec<_>>(),
            "diagnostics": diagnostics.collect::<Vec<_>>(),
            "has_main": unit.has_main,
        })
        .to_string()
    }

    /// A nest with what it needs of its function, as textual IR.
    fn text(&self, idx: usize) -> PyResult<String> {
        Ok(self.alone(idx)?.to_string())
    }

    /// Its dataflow graph as Graphviz text.
    fn dot(&self, idx: usize) -> PyResult<String> {
        Ok(to_dot(&self.alone(idx)?))
    }

    /// What it is known by, as JSON.
    fn describe(&self, py: Python<'_>, idx: usize, sizes: BTreeMap<String, i64>) -> PyResult<String> {
        self.described(py, (idx, sizes), |_, description| {
            let stored = description.stored();
            let value = json!({
                "hash": description.form.hash,
                "text": description.form.text,
                "sizes": description.sizes,
                "space": stored.space,
                "embedding": stored.nest,
                "nodes": stored.nodes,
                "normalization": description.normal.log.iter().map(ToString::to_string).collect::<Vec<_>>(),
            });
            Ok(value.to_string())
        })
    }

    /// The nests of the recipe database that are like it, as JSON.
    fn donors(&self, py: Python<'_>, idx: usize, sizes: BTreeMap<String, i64>) -> PyResult<String> {
        self.described(py, (idx, sizes), |file, description| {
            let donors = file.donors(description)?;
            let donor = |donor: &oxeye::Donor| {
                let trials = donor.trials.iter().map(|trial| {
                    let recipe = trial.recipe.as_ref().ok();
                    let template = recipe.and_then(|recipe| recipe.template).map(|t| t.to_string());
                    let steps =
                        recipe.map(|r| r.steps.steps.iter().map(ToString::to_string).collect::<Vec<_>>());
                    json!({
                        "entry": trial.id.to_string(),
                        "template": template,
                        "steps": steps.unwrap_or_default(),
                        "speedup": trial.failure.is_none().then(|| trial.log_gain.exp2()),
                        "failure": trial.failure,
                    })
                });
                json!({
                    "entry": donor.id.to_string(),
                    "hash": donor.hash,
                    "in_words": donor.in_words(),
                    "kind": donor.kind.name(),
                    "n_loops": donor.n_loops,
                    "text": donor.text,
                    "distance": donor.distance,
                    "likeness": donor.likeness,
                    "exact": donor.exact,
                    "embedding": donor.vector,
                    "trials": trials.collect::<Vec<_>>(),
                })
            };
            Ok(Value::from(donors.iter().map(donor).collect::<Vec<_>>()).to_string())
        })
    }

    /// What stands in the place of a nest with a recipe.
    fn apply(&self, py: Python<'_>, idx: usize, text: &str) -> PyResult<String> {
        let (file, place, recipe) = (self.file.clone(), self.place(idx)?, recipe(text)?);
        attended(py, None, move |_| Ok(file.rewritten_nest(place, &recipe)?))
    }

    /// The file with recipes applied to some of its nests, and as a recipe file.
    fn rewrite(&self, py: Python<'_>, recipes: Vec<(usize, String)>) -> PyResult<(String, String)> {
        let written = recipes.iter().map(|(idx, text)| Ok((self.place(*idx)?, recipe(text)?)));
        let recipes: Vec<(NestPlace, WrittenRecipe)> = written.collect::<Result<_, Raised>>()?;
        let file = self.file.clone();
        attended(py, None, move |_| {
            let saved = file.recipe_file(recipes.clone()).to_json();
            let rewritten = file.rewritten(recipes);
            match rewritten.refused.into_iter().next() {
                Some((_, why)) => Err(why.into()),
                None => Ok((rewritten.text, saved)),
            }
        })
    }
}

impl Reading {
    /// The program of a nest's function without its other nests.
    fn alone(&self, idx: usize) -> Result<oxeye_ir::Program, Raised> {
        let place = self.place(idx)?;
        let (function, _) = self.file.nest(place);
        let mut program = function.program.clone();
        program.nests.retain(|id, _| *id == place.nest_id);
        program.body = oxeye_ir::Region::Dataflow(oxeye_ir::DataflowGraph::build(&program, &[place.nest_id]));
        Ok(program)
    }
}

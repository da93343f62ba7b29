//! Recipes written by people: loops may be given by their names in the source.

use super::names::Names;
use super::text::{RecipeError, print, read_steps};
use super::{Recipe, json};
use crate::normalize::normalize_nest;
use crate::policy::Policy;
use crate::refusal::{Reason, Refusal, RefusalKind};
use crate::schedule::{Schedule, Tree, leaves};
use crate::steps::argument::Renaming;
use crate::steps::{Transformation, all_loops, edit};
use crate::values::Valued;
use oxeye_ir::{ArrayId, LoopId, Nest, Program, StmtId, Var};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A recipe in which loops are given by their ids (`L2`) or by their names in the source: `i`, or, where several loops
/// have that name, `i#1`, `i#2`, … in textual order. Names refer to the loops of the nest at the time when their step
/// is applied, including those that earlier steps made; in expressions, they may also be symbols of the program.
///
/// It is read from text or from JSON, where a step, or the whole recipe, may be a string with its text. A recipe read
/// with ids only is written with ids only.
///
/// ```
/// use oxeye_transform::WrittenRecipe;
///
/// let recipe: WrittenRecipe = "tile i:32 j:32; unroll_and_jam i by 4".parse()?;
/// assert_eq!(recipe.to_string(), "tile i:32 j:32; unroll_and_jam i by 4");
/// # Ok::<(), oxeye_transform::RecipeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenRecipe {
    steps: Vec<Transformation>,
    names: Names,
}

impl From<Recipe> for WrittenRecipe {
    fn from(recipe: Recipe) -> Self {
        Self { steps: recipe.steps, names: Names::default() }
    }
}

impl FromStr for WrittenRecipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut names = Names::default();
        Ok(Self { steps: read_steps(text, &mut names)?, names })
    }
}

impl fmt::Display for WrittenRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.steps.iter().map(|step| print(step, &self.names)).collect();
        f.write_str(&steps.join("; "))
    }
}

impl Serialize for WrittenRecipe {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.steps.iter().map(|step| json::Step { step, names: &self.names }))
    }
}

impl<'de> Deserialize<'de> for WrittenRecipe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut names = Names::default();
        let steps = match Value::deserialize(deserializer)? {
            Value::String(text) => read_steps(&text, &mut names),
            Value::Array(steps) => steps.iter().map(|step| json::read_step(step, &mut names)).collect(),
            other => {
                return Err(D::Error::custom(format!(
                    "{other} is not a recipe: a list of steps, or a string"
                )));
            }
        };
        Ok(Self { steps: steps.map_err(D::Error::custom)?, names })
    }
}

impl WrittenRecipe {
    /// The recipe with the ids of a nest.
    ///
    /// # Errors
    /// If a step names a loop that the nest does not have at that step, or one of several without a number, or does not
    /// fit the nest.
    pub fn resolve(&self, program: &Program, nest: &Nest, policy: Policy) -> Result<Recipe, Refusal> {
        if self.names.is_empty() {
            return Ok(Recipe { steps: self.steps.clone() });
        }
        let mut steps = Vec::new();
        let refused = |k: usize| move |reason: Reason| reason.at_step(k, print(&self.steps[k], &self.names));
        let n_rewrites = self.steps.iter().take_while(|step| step.as_rewrite().is_some()).count();
        let mut rewritten: Option<Valued> = None;
        for (k, written) in self.steps[..n_rewrites].iter().enumerate() {
            let valued = match &mut rewritten {
                Some(valued) => valued,
                none => none.insert(Valued::new(program, nest).map_err(refused(k))?),
            };
            let schedule = Schedule::import(&valued.program, &valued.nest);
            let step =
                written.renamed(&Here { schedule: &schedule, names: &self.names }).map_err(refused(k))?;
            if let Some(rewrite) = step.as_rewrite() {
                rewrite.rewrite(valued, policy).map_err(refused(k))?;
            }
            steps.push(step);
        }
        let (program, nest) =
            rewritten.as_ref().map_or((program, nest), |valued| (&valued.program, &valued.nest));
        let is_normal = matches!(self.steps.get(n_rewrites), Some(Transformation::Normalize(_)));
        let mut schedule = if is_normal {
            let normal = normalize_nest(program, nest, policy);
            Schedule::import_normal(&normal.program, &normal.nest)
        } else {
            Schedule::import(program, nest)
        };
        for (k, written) in self.steps.iter().enumerate().skip(n_rewrites) {
            let step =
                written.renamed(&Here { schedule: &schedule, names: &self.names }).map_err(refused(k))?;
            if !(is_normal && k == n_rewrites) {
                edit(&mut schedule, &step, policy).map_err(refused(k))?;
            }
            steps.push(step);
        }
        Ok(Recipe { steps })
    }
}

/// The meaning of names at one step.
struct Here<'a> {
    schedule: &'a Schedule,
    names: &'a Names,
}

impl Here<'_> {
    /// The loops with a name, in textual order.
    fn called(&self, name: &str) -> Vec<LoopId> {
        let is_called = |id: &LoopId| self.schedule.iterators.get(id).is_some_and(|info| info.name == name);
        all_loops(&self.schedule.roots).into_iter().filter(is_called).collect()
    }

    /// A loop for a message: its id, and the first source line in it.
    fn place(&self, id: LoopId) -> String {
        let inside = self.schedule.loop_node(id).map(|node| leaves(&Tree::Loop(node.clone())));
        let stmts = inside.unwrap_or_default();
        let lines = stmts.iter().filter_map(|s| self.schedule.statements[*s].assignment()?.line);
        match lines.min() {
            Some(line) => format!("{id}, around line {line}"),
            None => id.to_string(),
        }
    }

    fn find(&self, name: &str) -> Result<LoopId, Reason> {
        let (bare, ordinal) = match name.split_once('#') {
            Some((bare, ordinal)) => (bare, ordinal.parse::<usize>().ok()),
            None => (name, None),
        };
        let found = self.called(bare);
        let listed = || {
            let one = |(k, id): (usize, &LoopId)| format!("{bare}#{} ({})", k + 1, self.place(*id));
            found.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
        };
        match (found.as_slice(), ordinal) {
            ([only], None | Some(1)) => Ok(*only),
            ([], _) => {
                let all = all_loops(&self.schedule.roots);
                let known: Vec<String> = all.into_iter().map(|id| self.schedule.loop_name(id)).collect();
                let text = format!("there is no loop `{name}`; loops here are {}", known.join(", "));
                Err(Reason::new(RefusalKind::NoSuchLoop, text))
            }
            (several, None) => Err(Reason::new(
                RefusalKind::AmbiguousName,
                format!("{} loops are called `{bare}`: {}", several.len(), listed()),
            )),
            (several, Some(k)) => several.get(k - 1).copied().ok_or_else(|| {
                Reason::new(RefusalKind::NoSuchLoop, format!("there is no loop `{name}`, only {}", listed()))
            }),
        }
    }
}

impl Renaming for Here<'_> {
    fn of_loop(&self, id: LoopId) -> Result<LoopId, Reason> {
        self.names.name(id).map_or(Ok(id), |name| self.find(name))
    }

    fn of_statement(&self, id: StmtId) -> Result<StmtId, Reason> {
        Ok(id)
    }

    fn of_array(&self, id: ArrayId) -> Result<ArrayId, Reason> {
        Ok(id)
    }

    fn of_variable(&self, variable: Var) -> Result<Var, Reason> {
        let Var::Loop(id) = variable else { return Ok(variable) };
        let Some(name) = self.names.name(id) else { return Ok(variable) };
        let symbols = &self.schedule.program.symbols;
        match symbols.iter().find(|(_, symbol)| symbol.name == name) {
            Some((symbol, _)) if self.called(name).is_empty() => Ok(Var::Sym(*symbol)),
            _ => self.find(name).map(Var::Loop),
        }
    }
}

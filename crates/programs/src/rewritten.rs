//! Recipes for the nests of a program: what the nests suggest, what the panel of templates makes of them, and random ones,
//! all of them legal; whether they are fast nobody asks.

use oxeye::{Compiler, NestRecipe, RECIPE_SCHEMA, Recipe, RecipeFile, Transformation};
use oxeye_frontend::{ReadOptions, Unit};
use oxeye_ir::testing::Random;
use oxeye_ir::{Nest, Program};
use oxeye_random::Rng;
use oxeye_transform::steps::Normalize;
use oxeye_transform::templates::{Base, Instantiator, Template, panel};
use oxeye_transform::testing::random_recipe;
use oxeye_transform::{Machine, Policy, PreparedNest, suggest_for};

/// Small caches, so that small nests are tiled.
const MACHINE: Machine = Machine { l1: 1 << 10, l2: 4 << 10, l3: 32 << 10, threads: 2, vector_bytes: 32 };

/// Recipes that are drawn for a nest before it is left as it is.
const MOST_DRAWS: usize = 8;

/// Recipes for all nests of a unit, with other ones in every version.
pub(crate) fn recipes(unit: &Unit, options: &ReadOptions, version: u64, seed: u64) -> RecipeFile {
    // The last of three versions may reorder sums.
    let policy = Policy { reassociate: version % 3 == 2 };
    let mut rng = Rng::new(seed, 1000 + version);
    let threads = *rng.pick(&[1, 2, 2, 3]);
    let mut nests = Vec::new();
    for function in &unit.functions {
        for (ordinal, nest) in function.program.nests.values().enumerate() {
            let Some(span) = nest.span else { continue };
            let Some((name, recipe)) = legal_recipe(&function.program, nest, policy, &mut rng) else {
                continue;
            };
            nests.push(NestRecipe {
                function: function.name.clone(),
                within: Vec::new(),
                ordinal,
                line: span.line,
                name,
                threads: None,
                guard: None,
                uneven: Vec::new(),
                recipe: recipe.into(),
            });
        }
    }
    RecipeFile {
        schema: RECIPE_SCHEMA.to_owned(),
        compiler: Compiler { command: options.compiler.clone(), args: options.args.clone(), chosen: true },
        threads,
        reassociate: policy.reassociate,
        no_alias: false,
        nests,
    }
}

/// A recipe that is legal for a nest, and what it comes from.
fn legal_recipe(program: &Program, nest: &Nest, policy: Policy, rng: &mut Rng) -> Option<(String, Recipe)> {
    let prepared = PreparedNest::new(program, nest);
    let mut instantiator = Instantiator::of(&prepared, &MACHINE, policy);
    let mut random = Random::new(rng.bits());
    let mut suggested: Option<Vec<(String, Recipe)>> = None;
    for _ in 0..MOST_DRAWS {
        let drawn = match rng.within(0, 9) {
            0..=3 => {
                let all = suggested.get_or_insert_with(|| {
                    let found = suggest_for(&prepared, &MACHINE, policy).recipes;
                    found.into_iter().map(|s| (s.name, s.recipe)).collect()
                });
                if all.is_empty() { None } else { Some(rng.pick(all).clone()) }
            }
            4..=6 => {
                let template: Template = *rng.pick(panel());
                let base = *rng.pick(&[Base::Source, Base::Normal]);
                let template = Template { base, ..template };
                instantiator.instantiate(&template).ok().map(|recipe| (template.title(), recipe))
            }
            7..=8 => {
                let recipe = random_recipe(program, nest, policy, 4, &mut random);
                Some(("random steps".to_owned(), recipe))
            }
            _ => {
                let normal = prepared.normal_form(policy);
                let mut recipe = random_recipe(&normal.program, &normal.nest, policy, 3, &mut random);
                recipe.steps.insert(0, Transformation::Normalize(Normalize {}));
                Some(("random steps on the normal form".to_owned(), recipe))
            }
        };
        let Some((name, recipe)) = drawn else { continue };
        if !recipe.steps.is_empty() && prepared.apply(&recipe, policy).is_ok() {
            return Some((name, recipe));
        }
    }
    None
}

//! Rewrites of a nest that are worth trying whatever its values are: less work for the same results.

use crate::policy::Policy;
use crate::prepared::PreparedNest;
use crate::recipe::Recipe;
use crate::steps::{Factorize, Hoist, Privatize, ShareSums, Transformation};
use oxeye_ir::{LoopId, Node, Stmt};

/// Nests with more statements are not looked at.
const MOST_STATEMENTS: usize = 64;

/// So many ways to take the sums of a nest apart are suggested.
const MOST_WAYS: usize = 2;

/// Recipes of steps that rewrite a nest, with titles, the most promising first. Schedules are to be found for what they make of it.
pub fn suggest_rewrites(prepared: &PreparedNest<'_>, policy: Policy) -> Vec<(String, Recipe)> {
    let hoisted = Recipe { steps: vec![Hoist {}.into()] };
    let is_hoisted = prepared.rewritten(&hoisted, policy).is_ok();
    let factorized = factorizations(prepared, policy).into_iter().enumerate().map(|(k, recipe)| match k {
        0 => ("factorized".to_owned(), recipe),
        _ => (format!("factorized {}", k + 1), recipe),
    });
    let shared = shared_sums(prepared, policy).map(|recipe| ("sums shared".to_owned(), recipe));
    let hoisted = is_hoisted.then_some(("calls hoisted".to_owned(), hoisted));
    hoisted.into_iter().chain(shared).chain(factorized).collect()
}

/// All sums that windows share, over one loop after the other as long as there are any: those of a cube in three dimensions.
fn shared_sums(prepared: &PreparedNest<'_>, policy: Policy) -> Option<Recipe> {
    let statements = prepared.nest().stmts();
    if statements.len() > MOST_STATEMENTS {
        return None;
    }
    let mut recipe = Recipe::default();
    for s in statements {
        // The innermost loop around it is the one that is gone once its sums are shared.
        for over in loops_around(&prepared.nest().roots, s).unwrap_or_default().into_iter().rev() {
            recipe.steps.push(ShareSums { stmt: s.id, over }.into());
            if prepared.rewritten(&recipe, policy).is_err() {
                recipe.steps.pop();
                break;
            }
        }
    }
    (!recipe.steps.is_empty()).then_some(recipe)
}

/// A step that gives every iteration of an outermost loop its own scratch arrays, so that threads may share the loop.
pub fn suggest_private_scratch(prepared: &PreparedNest<'_>, policy: Policy) -> Option<Recipe> {
    let outermost = prepared.nest().roots.iter().filter_map(|node| match node {
        Node::Loop(l) => Some(Recipe { steps: vec![Privatize { at: l.id }.into()] }),
        _ => None,
    });
    outermost.into_iter().find(|recipe| prepared.rewritten(recipe, policy).is_ok())
}

/// Every sum that can be taken apart, over the innermost loop for which that is possible, over the next one, and so on.
fn factorizations(prepared: &PreparedNest<'_>, policy: Policy) -> Vec<Recipe> {
    let statements = prepared.nest().stmts();
    if !policy.reassociate || statements.len() > MOST_STATEMENTS {
        return Vec::new();
    }
    let fits =
        |steps: &[Transformation]| prepared.rewritten(&Recipe { steps: steps.to_vec() }, policy).is_ok();
    let ways_of = |s: &Stmt| -> Vec<Transformation> {
        let loops = loops_around(&prepared.nest().roots, s).unwrap_or_default();
        let steps = loops.into_iter().rev().map(|over| Factorize { stmt: s.id, over }.into());
        steps.filter(|step: &Transformation| fits(std::slice::from_ref(step))).take(MOST_WAYS).collect()
    };
    let ways: Vec<Vec<Transformation>> =
        statements.into_iter().map(ways_of).filter(|ways| !ways.is_empty()).collect();
    let together = |k: usize| {
        let mut steps: Vec<Transformation> = Vec::new();
        for of_one in &ways {
            steps.extend(of_one.get(k).or(of_one.first()).cloned());
            if !fits(&steps) {
                steps.pop();
            }
        }
        Recipe { steps }
    };
    let mut found: Vec<Recipe> = Vec::new();
    for recipe in (0..MOST_WAYS).map(together) {
        if !recipe.steps.is_empty() && !found.contains(&recipe) {
            found.push(recipe);
        }
    }
    found
}

/// The loops around a statement, the outermost first.
fn loops_around(nodes: &[Node], stmt: &Stmt) -> Option<Vec<LoopId>> {
    nodes.iter().find_map(|node| match node {
        Node::Stmt(s) => (s.id == stmt.id).then(Vec::new),
        Node::Loop(l) => {
            let mut inner = loops_around(&l.body, stmt)?;
            inner.insert(0, l.id);
            Some(inner)
        }
        Node::If { then, otherwise, .. } => {
            loops_around(then, stmt).or_else(|| loops_around(otherwise, stmt))
        }
    })
}

//! Random recipes for property tests; behind the feature `testing`.
//!
//! Each recipe is a function of its source of choices. Recipes name loops and statements that exist at their step, so
//! that most refusals are about legality, not form.

mod contractions;
mod spellings;
mod stages;

pub use contractions::{random_blocks, random_product, random_tensor_product};
pub use spellings::random_spelling;
pub use stages::{random_overlap, random_stages};

use crate::legality;
use crate::policy::Policy;
use crate::prepared::{Applied, PreparedNest};
use crate::recipe::Recipe;
use crate::refusal::Reason;
use crate::refusal::Refusal;
use crate::scan;
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::schedule::{Schedule, Tree};
use crate::steps;
use crate::steps::Transformation;
use crate::steps::argument::{Argument, Kind};
use crate::steps::registry::TransformationInfo;
use crate::steps::{
    Batch, Fission, Fuse, IndexSetSplit, Interchange, Parallelize, Reorder, Reverse, Skew, Tile, Unroll,
    UnrollAndJam, Vectorize,
};
use crate::values::Literal;
use oxeye_ir::testing::Random;
use oxeye_ir::{Affine, ArrayId, LoopId, Nest, Program, StmtId, SymId, Var, WorkSharing};

/// A random recipe of at most `max_steps` steps.
pub fn random_recipe(
    program: &Program,
    nest: &Nest,
    policy: Policy,
    max_steps: usize,
    random: &mut Random,
) -> Recipe {
    let mut schedule = Schedule::import(program, nest);
    let mut recipe = Recipe::default();
    let mut n_legal = 0;
    for _ in 0..max_steps * 3 {
        if recipe.steps.len() == max_steps {
            break;
        }
        let Some(step) = random_step(&schedule, random) else { continue };
        let mut trial = schedule.clone();
        // Usually a step that fits; sometimes one that does not, to test its refusal.
        if steps::edit(&mut trial, &step, policy).is_err() {
            if random.chance(3) {
                recipe.steps.push(step);
                break;
            }
            continue;
        }
        let is_legal = legality::check(&trial, policy).is_ok();
        // An illegal step may be made legal by later ones.
        if !is_legal && !random.chance(15) {
            continue;
        }
        if is_legal {
            n_legal = recipe.steps.len() + 1;
        }
        schedule = trial;
        recipe.steps.push(step);
    }
    // Usually without the steps that remained illegal.
    if random.chance(80) {
        recipe.steps.truncate(n_legal);
    }
    recipe
}

/// A single random step.
pub fn random_single(program: &Program, nest: &Nest, random: &mut Random) -> Option<Transformation> {
    random_step(&Schedule::import(program, nest), random)
}

/// Applies a recipe without the legality check, to compare the judge with.
///
/// # Errors
/// If a step does not fit the nest, or the result cannot be written as loops.
pub fn apply_unjudged(
    program: &Program,
    nest: &Nest,
    recipe: &Recipe,
    policy: Policy,
) -> Result<Applied, Refusal> {
    let refusal = |step: usize, reason: Reason| {
        reason.at_step(step, recipe.steps.get(step).map_or(String::new(), |s| s.to_string()))
    };
    let mut schedule = Schedule::import(program, nest);
    schedule.scalar_replacement = false;
    for (k, step) in recipe.steps.iter().enumerate() {
        steps::edit(&mut schedule, step, policy).map_err(|reason| refusal(k, reason))?;
    }
    let (program, nest) = scan::generate(schedule, nest)
        .map_err(|reason| refusal(recipe.steps.len().saturating_sub(1), reason))?;
    Ok(Applied { program, nest, reassociated: false })
}

/// A step with arguments that only have the right types, to test readers and printers.
///
/// # Panics
/// If the registry does not accept an argument for each of its parameters.
pub fn random_arguments(info: &TransformationInfo, random: &mut Random) -> Transformation {
    let schedule = |random: &mut Random| {
        let dimension = |random: &mut Random| {
            if random.chance(50) {
                return Dimension::At(random.below(4));
            }
            Dimension::By { expr: random_expression(random), reverse: random.chance(30) }
        };
        let n = random.below(4);
        let dimensions = (0..n).map(|_| dimension(random)).collect();
        StatementSchedule { stmt: StmtId(random.below(5) as u32), dimensions }
    };
    let sharing = |random: &mut Random| random.pick(&[WorkSharing::Static, WorkSharing::Dynamic]);
    // All lists of a step have the same length.
    let n = random.between(1, 3);
    let argument = |kind: Kind, random: &mut Random| match kind {
        Kind::Loop | Kind::Inside { .. } => Argument::Loop(random_loop(random)),
        Kind::PerfectChain | Kind::Loops => Argument::Loops((0..n).map(|_| random_loop(random)).collect()),
        Kind::Sizes { .. } => Argument::Numbers((0..n).map(|_| random.between(-9, 9000)).collect()),
        Kind::Count { .. } | Kind::Integer => Argument::Number(random.between(-99, 99)),
        Kind::Position { .. } => Argument::Position(random.chance(50).then(|| random.below(9))),
        Kind::Expression => Argument::Expression(random_expression(random)),
        Kind::Statement => Argument::Statement(StmtId(random.below(9) as u32)),
        Kind::Schedules => Argument::Schedules((0..n).map(|_| schedule(random)).collect()),
        Kind::WorkSharing => Argument::WorkSharing(sharing(random)),
        Kind::Team => Argument::Team(random.chance(50).then(|| sharing(random))),
        Kind::Blocks => Argument::Blocks(random_blocks(random)),
        Kind::Array => Argument::Array(ArrayId(random.below(6) as u32)),
        Kind::Value => Argument::Literal(random_value(random)),
    };
    let arguments: Vec<Argument> = info.parameters.iter().map(|p| argument(p.kind, random)).collect();
    Transformation::new(info.name, &arguments).expect("the parameters have the types of their kinds")
}

fn random_value(random: &mut Random) -> Literal {
    let text = random.pick(&["0", "-7", "0.5", "1e-7", "-2.25"]);
    text.parse().expect("a number")
}

fn random_loop(random: &mut Random) -> LoopId {
    LoopId(random.below(12) as u32)
}

fn random_expression(random: &mut Random) -> Affine {
    let mut e = Affine::constant(random.between(-9, 9));
    for _ in 0..random.below(3) {
        let variable = if random.chance(30) {
            Var::Sym(SymId(random.below(3) as u32))
        } else {
            Var::Loop(random_loop(random))
        };
        e = e.add_scaled(&Affine::var(variable), random.between(-3, 3));
    }
    e
}

struct Place {
    id: LoopId,
    /// Loops around it, outermost first.
    outer: Vec<LoopId>,
    n_children: usize,
    /// Its next sibling, if that is a loop.
    next: Option<LoopId>,
    is_innermost: bool,
}

fn places(trees: &[Tree], outer: &mut Vec<LoopId>, found: &mut Vec<Place>) {
    for (k, tree) in trees.iter().enumerate() {
        let Tree::Loop(loop_node) = tree else { continue };
        let next = match trees.get(k + 1) {
            Some(Tree::Loop(next)) => Some(next.id),
            _ => None,
        };
        found.push(Place {
            id: loop_node.id,
            outer: outer.clone(),
            n_children: loop_node.body.len(),
            next,
            is_innermost: loop_node.body.iter().all(|t| matches!(t, Tree::Leaf(_))),
        });
        outer.push(loop_node.id);
        places(&loop_node.body, outer, found);
        outer.pop();
    }
}

fn random_step(schedule: &Schedule, random: &mut Random) -> Option<Transformation> {
    let mut all = Vec::new();
    places(&schedule.roots, &mut Vec::new(), &mut all);
    if all.is_empty() {
        return None;
    }
    let place = &all[random.below(all.len())];
    let at = place.id;
    let sharing = random.pick(&[WorkSharing::Static, WorkSharing::Dynamic]);
    Some(match random.below(16) {
        0 => {
            let cut = random.chance(50).then(|| 1 + random.below(place.n_children.saturating_sub(1)));
            Transformation::Fission(Fission { at, before: cut })
        }
        1 | 2 => {
            let chain = steps::perfect_chain(schedule, at);
            let inner = if random.chance(95) { *chain.get(1..)?.first()? } else { all[0].id };
            let inner = if chain.len() > 2 && random.chance(30) {
                chain[1 + random.below(chain.len() - 1)]
            } else {
                inner
            };
            Transformation::Interchange(Interchange { outer: at, inner })
        }
        3 | 4 => {
            let shift = if random.chance(60) { 0 } else { random.between(-2, 2) };
            Transformation::Fuse(Fuse { first: at, second: place.next?, shift })
        }
        5 => {
            let outer = place.outer.get(random.below(place.outer.len()))?;
            Transformation::Skew(Skew { inner: at, outer: *outer, factor: random.pick(&[1, 1, -1, 2]) })
        }
        6 => Transformation::Reverse(Reverse { at }),
        7 | 8 => {
            let chain = steps::perfect_chain(schedule, at);
            let n = 1 + random.below(chain.len().min(3));
            let loops = chain[..n].to_vec();
            let sizes = loops.iter().map(|_| random.between(2, 4)).collect();
            Transformation::Tile(Tile { loops, sizes })
        }
        9 => {
            let symbols: Vec<_> = schedule.program.symbols.keys().copied().collect();
            let point = match random.below(3) {
                0 => Affine::constant(random.between(0, 4)),
                1 if !symbols.is_empty() => Affine::var(random.pick(&symbols)).offset(random.between(-2, 0)),
                _ => Affine::var(*place.outer.get(random.below(place.outer.len()))?)
                    .offset(random.between(-1, 1)),
            };
            Transformation::IndexSetSplit(IndexSetSplit { at, point })
        }
        10 | 11 => Transformation::Parallelize(Parallelize { at, sharing }),
        12 => {
            let inner: Vec<LoopId> = all.iter().filter(|p| p.is_innermost).map(|p| p.id).collect();
            let at = random.pick(&inner);
            match random.chance(50) {
                true => Transformation::Vectorize(Vectorize { at }),
                false => Transformation::Batch(Batch { at, size: random.between(2, 5) }),
            }
        }
        13 if random.chance(50) => Transformation::Unroll(Unroll { at, factor: random.between(2, 4) }),
        13 => Transformation::UnrollAndJam(UnrollAndJam { at, factor: random.between(2, 3) }),
        14 => contractions::random_contraction(schedule, random)?,
        _ => random_reorder(schedule, random),
    })
}

/// A schedule for every statement: separate, or sharing a random number of outer loops.
fn random_reorder(schedule: &Schedule, random: &mut Random) -> Transformation {
    let paths = schedule.paths();
    let shallowest = paths.iter().map(Vec::len).min().unwrap_or(0);
    let n_shared = random.below(shallowest + 1);
    let directions: Vec<bool> = (0..n_shared).map(|_| random.chance(10)).collect();
    let mut schedules = Vec::new();
    for (s, statement) in schedule.statements.iter().enumerate() {
        let mut order = paths[s].clone();
        if random.chance(60) {
            for k in (1..order.len()).rev() {
                order.swap(k, random.below(k + 1));
            }
        }
        let mut dimensions = Vec::new();
        for (k, l) in order.iter().enumerate() {
            dimensions.push(Dimension::At(if k < n_shared || (k == 0 && n_shared > 0) { 0 } else { s }));
            let sign = if random.chance(8) { -1 } else { 1 };
            let mut expr = Affine::term(*l, sign);
            if random.chance(15) {
                expr = expr.offset(random.between(-1, 2));
            }
            if k > 0 && random.chance(15) {
                expr = expr.add_scaled(&Affine::var(order[random.below(k)]), random.pick(&[1, -1, 2]));
            }
            let reverse = directions.get(k).copied().unwrap_or_else(|| random.chance(5));
            dimensions.push(Dimension::By { expr, reverse });
        }
        dimensions.push(Dimension::At(s));
        schedules.push(StatementSchedule { stmt: statement.id, dimensions });
    }
    Transformation::Reorder(Reorder { schedules })
}

/// The nest after each pass of its normalization, starting with the nest itself.
pub fn normalization_stages(program: &Program, nest: &Nest, policy: Policy) -> Vec<crate::Stage> {
    crate::normalize::stages(program, nest, policy)
}

/// Whether a stage of a nest's normalization keeps the nest's dependences under the map between their instances.
///
/// # Errors
/// The dependence that is broken, or what is wrong with the map. There is no error if there is no map.
pub fn keeps_source_order(
    source: &PreparedNest<'_>,
    stage: &crate::Stage,
    policy: Policy,
) -> Result<(), Option<Reason>> {
    if stage.instances.unmapped().is_some() {
        return Err(None);
    }
    let normal = Schedule::import_normal(&stage.program, &stage.nest);
    legality::check_elements(&normal, source.schedule(), &stage.instances)?;
    legality::check_source(&normal, source.schedule(), &stage.instances, policy)?;
    Ok(())
}

/// The ids of the statements as recipes name them.
pub fn statement_ids(program: &Program, nest: &Nest) -> Vec<StmtId> {
    Schedule::import(program, nest).statements.iter().map(|s| s.id).collect()
}

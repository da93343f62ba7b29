//! New plans from good ones.

use super::record::Plan;
use super::space::edits;
use crate::random::Rng;
use crate::schedule::Schedule;
use oxeye_transform::templates::{BlockShape, Loops, Strategy, Template, panel};
use std::collections::HashSet;

/// A candidate that gave the right outputs, or the original.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) schedule: Schedule,
    pub(crate) seconds: f64,
}

/// Of so many of the best all neighbours are tried, one after another.
const BEAM: usize = 4;
/// So many of the best have children at random.
const PARENTS: usize = 10;
/// How often an empty hand is drawn before a generation is closed.
const ATTEMPTS_PER_PLAN: usize = 12;

/// The next generation: about half of it the nearest untried neighbours of the best, the rest children and strangers by
/// chance. `ranked` is best first. What is returned has been put into `seen`; nothing comes back that was there.
pub(crate) fn generation(ranked: &[Member], n: usize, seen: &mut HashSet<Plan>, rng: &mut Rng) -> Vec<Plan> {
    let mut plans = neighbours(ranked, n / 2, seen);
    for _ in 0..ATTEMPTS_PER_PLAN * n {
        if plans.len() >= n {
            break;
        }
        if let Some(plan) = child(ranked, rng)
            && seen.insert(plan.clone())
        {
            plans.push(plan);
        }
    }
    plans
}

/// Untried neighbours of the beam, in turns.
fn neighbours(ranked: &[Member], n: usize, seen: &mut HashSet<Plan>) -> Vec<Plan> {
    let mut sources: Vec<std::vec::IntoIter<Plan>> = Vec::new();
    let mut beam: Vec<Option<Template>> = Vec::new();
    for member in ranked {
        // Recipes without a template are neighbours of the member they were made from.
        let template = member.schedule.template();
        if sources.len() == BEAM || template.is_some() && beam.contains(&template) {
            continue;
        }
        beam.push(template);
        sources.push(around(member).into_iter());
    }
    let mut plans = Vec::new();
    while plans.len() < n && !sources.is_empty() {
        sources.retain_mut(|source| match source.find(|plan| !seen.contains(plan)) {
            Some(plan) => {
                if plans.len() < n {
                    seen.insert(plan.clone());
                    plans.push(plan);
                }
                true
            }
            None => false,
        });
    }
    plans
}

fn around(member: &Member) -> Vec<Plan> {
    let Schedule { name, templates, recipe } = &member.schedule;
    let neighbours = templates.iter().take(1).flat_map(Template::neighbours).map(Plan::Template);
    neighbours.chain(edits(name, recipe)).collect()
}

fn child(ranked: &[Member], rng: &mut Rng) -> Option<Plan> {
    let stranger = |rng: &mut Rng| panel()[rng.below(panel().len())];
    let parent = |rng: &mut Rng| {
        // Of two the better: the best are taken most often.
        let n = ranked.len().min(PARENTS);
        ranked.get(rng.below(n).min(rng.below(n)))
    };
    let mutated = |template: Template, n_times: usize, rng: &mut Rng| {
        (0..n_times).fold(template, |t, _| t.mutate(&mut |n| rng.below(n)))
    };
    Some(match rng.below(10) {
        0..4 => {
            let template = parent(rng)?.schedule.template()?;
            let n_times = 1 + rng.below(3);
            Plan::Template(mutated(template, n_times, rng))
        }
        4..7 => {
            let (a, b) = (parent(rng)?.schedule.template()?, parent(rng)?.schedule.template()?);
            Plan::Template(crossed(a, b, rng))
        }
        7..9 => {
            let member = parent(rng)?;
            let mut all = edits(&member.schedule.name, &member.schedule.recipe);
            if all.is_empty() {
                return None;
            }
            all.swap_remove(rng.below(all.len()))
        }
        _ => {
            let template = stranger(rng);
            let n_times = rng.below(3);
            Plan::Template(mutated(template, n_times, rng))
        }
    })
}

/// Every parameter from one parent or the other, as far as they have it in common.
fn crossed(a: Template, b: Template, rng: &mut Rng) -> Template {
    let strategy = match (a.strategy, b.strategy) {
        (Strategy::Loops(a), Strategy::Loops(b)) => Strategy::Loops(Loops {
            order: rng.flip(a.order, b.order),
            tile: rng.flip(a.tile, b.tile),
            jam: rng.flip(a.jam, b.jam),
        }),
        (Strategy::PackedContraction(a), Strategy::PackedContraction(b)) => {
            Strategy::PackedContraction(crossed_blocks(a, b, rng))
        }
        (Strategy::Factor { steps: n, blocks: a }, Strategy::Factor { steps: m, blocks: b }) => {
            Strategy::Factor { steps: rng.flip(n, m), blocks: crossed_blocks(a, b, rng) }
        }
        (Strategy::TimeTiles { steps: n, rows: a }, Strategy::TimeTiles { steps: m, rows: b }) => {
            Strategy::TimeTiles { steps: rng.flip(n, m), rows: rng.flip(a, b) }
        }
        (a, b) => rng.flip(a, b),
    };
    let (threads, lanes) = (rng.flip(a.threads, b.threads), rng.flip(a.lanes, b.lanes));
    Template { base: rng.flip(a.base, b.base), strategy, threads, lanes }
}

fn crossed_blocks(a: BlockShape, b: BlockShape, rng: &mut Rng) -> BlockShape {
    BlockShape {
        registers: rng.flip(a.registers, b.registers),
        rows: rng.flip(a.rows, b.rows),
        depth: rng.flip(a.depth, b.depth),
        columns: rng.flip(a.columns, b.columns),
    }
}

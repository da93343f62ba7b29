//! Recipes worth trying for a nest, from its dependences, its strides and the sizes of the caches.

mod factor;
mod order;
mod split;
mod stencil;

use crate::contract::Blocks;
use crate::recipe::{Recipe, Transformation};
use crate::schedule::{Band, Schedule, Tree, all_leaves};
use crate::{Policy, generate, legality, steps};
use order::Preference;
use oxeye_ir::{Affine, Distribution, Execution, LoopId, Nest, Program, Update};
use serde::{Deserialize, Serialize};

/// Name of the plan that fills vector lanes with independent recurrences.
const LANES: &str = "recurrences in vector lanes";

/// What recipes need to know of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// First-level data cache per core, bytes.
    pub l1: u64,
    /// Second-level cache per core, bytes.
    pub l2: u64,
    /// Last-level cache, bytes.
    pub l3: u64,
    /// Threads to use.
    pub threads: u32,
    /// Width of a vector register, bytes.
    pub vector_bytes: u32,
}

/// Recipes to try, best guess first, and what was found impossible on the way.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    /// A short name and the recipe.
    pub recipes: Vec<(String, Recipe)>,
    /// Reasons, in words for a C programmer.
    pub refused: Vec<String>,
}

/// Recipes for a nest. Every one has already been found legal.
pub fn suggest(program: &Program, nest: &Nest, machine: &Machine, policy: Policy) -> Suggestions {
    let schedule = Schedule::import(program, nest);
    let mut found = Suggestions::default();
    if schedule.statements.iter().all(|s| s.time.loops.is_empty()) {
        found.refused.push("no loop of the nest has bounds that can be analysed".into());
        return found;
    }
    let mut plans: Vec<(String, Preference, bool)> = Vec::new();
    let eligible = contractions(&schedule);
    let deepest = schedule.paths().iter().map(Vec::len).max().unwrap_or(0);
    let base = |nth, parallel_from, fuse| Preference { nth, parallel_from, fuse, ..Preference::default() };
    if !eligible.is_empty() {
        let innermost = eligible.iter().map(|(s, [r, c, d])| (*s, vec![*r, *d, *c])).collect();
        plans.push(("contract".into(), Preference { innermost, ..base(0, Some(0), false) }, true));
    }
    plans.push(("parallel outer loops".into(), base(0, Some(0), true), false));
    plans.push(("parallel outer loops, distributed".into(), base(0, Some(0), false), false));
    plans.push(("memory order".into(), base(0, None, true), false));
    plans.push(("memory order, distributed".into(), base(0, None, false), false));
    if deepest >= 2 {
        let lanes = Preference { parallel_last: true, fuse: true, ..Preference::default() };
        plans.push((LANES.into(), lanes, false));
        for nth in 1..4 {
            plans.push((format!("loop order {nth}"), base(nth, Some(1), true), false));
        }
    }
    let mut builders = vec![("original order".to_owned(), Builder::new(&schedule, policy, machine))];
    for (name, preference, contract) in plans {
        let Some(schedules) = order::order(&schedule, policy, &preference) else { continue };
        let mut builder = Builder::new(&schedule, policy, machine);
        if let Err(reason) = builder.step(Transformation::Reorder { schedules }) {
            found.refused.push(format!("{name}: {reason}"));
            continue;
        }
        if contract {
            let mut any = false;
            for (s, loops) in &eligible {
                match builder.contract(*s, *loops) {
                    Ok(()) => any = true,
                    Err(reason) => found.refused.push(format!("{name}: {reason}")),
                }
            }
            if !any {
                continue;
            }
        }
        builders.push((name, builder));
    }
    for (name, builder) in stencil::time_tiles(&schedule, policy, machine) {
        builders.push((name, builder));
    }
    if let Some(builder) = split::at_crossings(&schedule, policy, machine) {
        builders.push(("split where iterators meet".into(), builder));
    }
    builders.extend(factor::blocked(&schedule, policy, machine, &eligible));
    // Contractions and time tiles gain most where they apply; one thread is for nests too short to share.
    let urgency = |name: &str| match name {
        n if n.ends_with("one thread") => 2,
        n if n.starts_with("contract") || n.starts_with("blocked") || n.starts_with("time tiles") => 0,
        _ => 1,
    };
    let mut named = Vec::new();
    for (name, builder) in builders {
        for (variant, builder) in builder.finished(name == LANES) {
            let name = if variant.is_empty() { name.clone() } else { format!("{name}, {variant}") };
            match generate::generate(builder.schedule, nest) {
                Ok(_) => named.push((name, Recipe { steps: builder.steps })),
                Err(reason) => found.refused.push(format!("{name}: {reason}")),
            }
        }
    }
    named.sort_by_key(|(name, _)| urgency(name));
    for (name, recipe) in named {
        if !recipe.steps.is_empty() && !found.recipes.iter().any(|(_, r)| *r == recipe) {
            found.recipes.push((name, recipe));
        }
    }
    found.refused.sort();
    found.refused.dedup();
    found
}

/// Statements that could be contractions: row, column and depth loops among their own.
fn contractions(schedule: &Schedule) -> Vec<(usize, [LoopId; 3])> {
    let mut found = Vec::new();
    for (s, (statement, path)) in schedule.statements.iter().zip(schedule.paths()).enumerate() {
        let Some(stmt) = statement.assignment() else { continue };
        if path.len() < 3 || !matches!(stmt.update, Update::Add | Update::Sub) {
            continue;
        }
        let Some(indices) = stmt.target.affine_indices() else { continue };
        let target: Vec<Affine> = indices.into_iter().map(|a| statement.mapped(a)).collect();
        let Some((last, others)) = target.split_last() else { continue };
        let column =
            path.iter().copied().find(|l| last.coefficient(*l) == 1 && !others.iter().any(|o| o.uses(*l)));
        let depth = path.iter().rev().copied().find(|l| !target.iter().any(|t| t.uses(*l)));
        let row =
            path.iter().rev().copied().find(|l| Some(*l) != column && target.iter().any(|t| t.uses(*l)));
        if let (Some(row), Some(column), Some(depth)) = (row, column, depth) {
            found.push((s, [row, column, depth]));
        }
    }
    found
}

/// A recipe in the making: every step has been judged.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) schedule: Schedule,
    pub(crate) steps: Vec<Transformation>,
    policy: Policy,
    machine: Machine,
}

impl Builder {
    pub(crate) fn new(schedule: &Schedule, policy: Policy, machine: &Machine) -> Self {
        Self { schedule: schedule.clone(), steps: Vec::new(), policy, machine: *machine }
    }

    /// Applies a step if it is legal; otherwise nothing changes.
    pub(crate) fn step(&mut self, step: Transformation) -> Result<(), String> {
        let mut trial = self.schedule.clone();
        steps::edit(&mut trial, &step, self.policy)?;
        legality::check(&trial, self.policy)?;
        self.schedule = trial;
        self.steps.push(step);
        Ok(())
    }

    /// Applies a step whose legality the steps after it decide.
    pub(crate) fn step_unjudged(&mut self, step: Transformation) -> Result<(), String> {
        steps::edit(&mut self.schedule, &step, self.policy)?;
        self.steps.push(step);
        Ok(())
    }

    /// Whether the schedule can be written as loops.
    fn can_be_written(&self) -> bool {
        generate::generate(self.schedule.clone(), &self.schedule.nest).is_ok()
    }

    /// The schedule's loop that stands for an original iterator of a statement.
    pub(crate) fn loop_of(&self, s: usize, original: LoopId) -> Option<LoopId> {
        self.schedule.statements[s].map.get(&original)?.loops().next()
    }

    pub(crate) fn contract(&mut self, s: usize, original: [LoopId; 3]) -> Result<(), String> {
        let [row, column, depth] = original.map(|l| self.loop_of(s, l));
        let (Some(row), Some(column), Some(depth)) = (row, column, depth) else {
            return Err("an iterator of the statement is no loop of its own".into());
        };
        let stmt = self.schedule.statements[s].id;
        let element = self.schedule.statements[s]
            .assignment()
            .map_or(8, |a| self.schedule.program.array(a.target.array).element.bytes());
        let blocks = blocks(&self.machine, element);
        let parallel = (self.machine.threads > 1).then_some(Distribution::Dynamic);
        self.step(Transformation::Contract { stmt, row, column, depth, blocks, parallel })
    }

    /// The recipe with concurrency added: variants by how.
    fn finished(self, scattered: bool) -> Vec<(String, Builder)> {
        let mut variants = Vec::new();
        if self.machine.threads > 1 {
            let mut parallel = self.clone();
            let roots = top_loops(&parallel.schedule.roots);
            let mut any = contains_contraction(&parallel.schedule.roots);
            for id in roots {
                any |= parallel.parallelize(id, 0);
            }
            if any {
                let mut strips = self.clone();
                parallel.vectorize(scattered);
                variants.push((String::new(), parallel));
                if strips.strip_parallel(top_loops(&self.schedule.roots), 0) {
                    strips.vectorize(scattered);
                    variants.push(("strips".into(), strips));
                }
            } else {
                let mut strips = self.clone();
                if strips.strip_parallel(top_loops(&self.schedule.roots), 0) {
                    strips.vectorize(scattered);
                    variants.push(("strips".into(), strips));
                }
            }
        }
        let mut serial = self;
        serial.vectorize(scattered);
        variants.push(("one thread".into(), serial));
        variants
    }

    /// Makes the loop, or else the loops inside, parallel. Starting a team inside `n_outer` sequential loops must pay
    /// every time, so a loop on its own is not shared there, nor anything below two of them that holds no loop.
    fn parallelize(&mut self, id: LoopId, n_outer: usize) -> bool {
        let Some(band) = self.schedule.band(id) else { return false };
        if band.execution != Execution::Sequential {
            return true;
        }
        let inner = top_loops(&band.body);
        let distribution = if self.uneven(id) { Distribution::Dynamic } else { Distribution::Static };
        if inner.is_empty() {
            let deeper = |s: &Schedule| s.paths().iter().any(|p| p.len() > n_outer + 1);
            if n_outer > 1 || (n_outer == 1 && deeper(&self.schedule)) {
                return false;
            }
            // A strip per chunk of work keeps the vector loop whole.
            let mut trial = self.clone();
            if trial.step_unjudged(Transformation::Tile { loops: vec![id], sizes: vec![512] }).is_ok()
                && let Some(tile) = parent_of(&trial.schedule.roots, id)
                && trial
                    .step(Transformation::Parallelize { at: tile, distribution: Distribution::Static })
                    .is_ok()
            {
                *self = trial;
                return true;
            }
        }
        if n_outer <= 2 && self.step(Transformation::Parallelize { at: id, distribution }).is_ok() {
            return true;
        }
        let mut any = false;
        for l in inner {
            any |= self.parallelize(l, n_outer + 1);
        }
        any
    }

    /// Whether the work in an iteration of the loop depends on which it is.
    fn uneven(&self, id: LoopId) -> bool {
        let Some(band) = self.schedule.band(id) else { return false };
        all_leaves(&band.body).into_iter().any(|s| {
            self.schedule.statements[s]
                .domain
                .iter()
                .any(|c| c.expr.uses(id) && c.expr.loops().any(|l| l != id && self.is_inside(l, id)))
        })
    }

    fn is_inside(&self, inner: LoopId, outer: LoopId) -> bool {
        self.schedule.band(outer).is_some_and(|b| {
            fn go(trees: &[Tree], id: LoopId) -> bool {
                trees.iter().any(|t| matches!(t, Tree::Loop(b) if b.id == id || go(&b.body, id)))
            }
            go(&b.body, inner)
        })
    }

    /// For perfect nests with an independent innermost loop under loops that are not: cuts that loop into strips, one
    /// share of the strips per thread, and runs the outer loops inside each. Below one sequential loop at most.
    fn strip_parallel(&mut self, loops: Vec<LoopId>, n_outer: usize) -> bool {
        let mut any = false;
        for top in loops {
            let chain = chain(&self.schedule, top);
            let Some((last, outer)) = chain.split_last() else { continue };
            let inner = self.schedule.band(*last).map(|b| top_loops(&b.body)).unwrap_or_default();
            if !inner.is_empty() && n_outer == 0 && outer.is_empty() {
                any |= self.strip_parallel(inner, 1);
                continue;
            }
            if outer.is_empty() || !inner.is_empty() {
                continue;
            }
            let mut trial = self.clone();
            let mut order = vec![*last];
            order.extend(outer);
            if trial.rotate(top, &order).is_err() {
                continue;
            }
            let tile = Transformation::Tile { loops: vec![*last], sizes: vec![256] };
            if trial.step_unjudged(tile).is_err() {
                continue;
            }
            let Some(strip) = parent_of(&trial.schedule.roots, *last) else { continue };
            let mut back: Vec<LoopId> = outer.to_vec();
            back.push(*last);
            if trial.rotate(*last, &back).is_err() {
                continue;
            }
            let parallel = Transformation::Parallelize { at: strip, distribution: Distribution::Static };
            if trial.step(parallel).is_ok() {
                *self = trial;
                any = true;
            }
        }
        any
    }

    /// Brings a perfect chain into the given order by interchanges of neighbours' ends.
    fn rotate(&mut self, top: LoopId, order: &[LoopId]) -> Result<(), String> {
        let mut current = chain(&self.schedule, top);
        current.truncate(order.len());
        for (k, wanted) in order.iter().enumerate() {
            let Some(from) = current.iter().position(|l| l == wanted) else {
                return Err("not a chain".into());
            };
            for j in (k..from).rev() {
                self.step_unjudged(Transformation::Interchange { outer: current[j], inner: current[j + 1] })?;
                current.swap(j, j + 1);
            }
        }
        Ok(())
    }

    /// Marks innermost loops for vector lanes where contiguous access makes that worthwhile.
    /// (`scattered`: everywhere).
    pub(crate) fn vectorize(&mut self, scattered: bool) {
        for id in innermost_loops(&self.schedule.roots) {
            let Some(band) = self.schedule.band(id) else { continue };
            if band.execution != Execution::Sequential {
                continue;
            }
            let stmts = all_leaves(&band.body);
            let contiguous = stmts.iter().all(|s| {
                let n = self.schedule.statements[*s].accesses.len() as f64;
                order::innermost_cost(&self.schedule, *s, id) <= 0.3 * n
            });
            if contiguous || scattered {
                let before = self.clone();
                let done = self.step(Transformation::Vectorize { at: id }).is_ok();
                if done && !self.can_be_written() && before.can_be_written() {
                    *self = before;
                }
            }
        }
    }
}

fn contains_contraction(trees: &[Tree]) -> bool {
    trees.iter().any(|t| match t {
        Tree::Contraction(_) => true,
        Tree::Loop(b) => contains_contraction(&b.body),
        Tree::Leaf(_) => false,
    })
}

pub(crate) fn top_loops(trees: &[Tree]) -> Vec<LoopId> {
    trees.iter().filter_map(|t| if let Tree::Loop(b) = t { Some(b.id) } else { None }).collect()
}

fn innermost_loops(trees: &[Tree]) -> Vec<LoopId> {
    trees
        .iter()
        .flat_map(|t| match t {
            Tree::Loop(b) if b.body.iter().all(|c| matches!(c, Tree::Leaf(_))) => vec![b.id],
            Tree::Loop(b) => innermost_loops(&b.body),
            _ => Vec::new(),
        })
        .collect()
}

/// The loop whose only child is `id`.
pub(crate) fn parent_of(trees: &[Tree], id: LoopId) -> Option<LoopId> {
    trees.iter().find_map(|t| match t {
        Tree::Loop(b) if b.body.iter().any(|c| matches!(c, Tree::Loop(k) if k.id == id)) => Some(b.id),
        Tree::Loop(b) => parent_of(&b.body, id),
        _ => None,
    })
}

/// The perfect chain from `top` down.
fn chain(schedule: &Schedule, top: LoopId) -> Vec<LoopId> {
    let mut chain = vec![top];
    let mut current = schedule.band(top);
    while let Some(Band { body, .. }) = current
        && let [Tree::Loop(next)] = body.as_slice()
    {
        chain.push(next.id);
        current = Some(next);
    }
    chain
}

/// Block sizes: a register tile that fills the vector registers, a row block in half of L2, a column block in a share
/// of L3, a depth that keeps a column panel in an eighth of L2.
fn blocks(machine: &Machine, element: u64) -> Blocks {
    let lanes = (u64::from(machine.vector_bytes) / element).max(2) as i64;
    let (mr, vectors) = if machine.vector_bytes >= 64 { (6, 4) } else { (4, 3) };
    let nr = lanes * vectors;
    let fit = |bytes: u64, row: i64| (bytes / element) as i64 / row.max(1);
    let kc = (fit(machine.l2 / 8, nr) / 32 * 32).clamp(64, 256);
    let mc = (fit(machine.l2 / 4, kc) / mr * mr).clamp(mr, 16 * mr);
    let nc = (fit(machine.l3 / 8, kc) / nr * nr).clamp(nr, 64 * nr);
    Blocks { mr, nr, lanes: lanes as u32, mc, nc, kc }
}

/// The loop that directly follows `id` among its siblings.
pub(crate) fn next_sibling(trees: &[Tree], id: LoopId) -> Option<LoopId> {
    trees.iter().enumerate().find_map(|(k, t)| match t {
        Tree::Loop(b) if b.id == id => match trees.get(k + 1) {
            Some(Tree::Loop(next)) => Some(next.id),
            _ => None,
        },
        Tree::Loop(b) => next_sibling(&b.body, id),
        _ => None,
    })
}

//! Traffic between the levels of the memory hierarchy: the footprint of the outermost loop whose iteration fits the
//! cache, as often as that loop runs.

use super::reach::{Reach, reach, region};
use super::tree::{Item, Tree};

/// Bytes of a cache line and of a page.
pub(super) const LINE: f64 = 64.0;
pub(super) const PAGE: f64 = 4096.0;

/// A cache, or a table of page addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeper {
    pub(super) bytes: f64,
    /// Whether every core has its own.
    pub(super) is_private: bool,
}

/// Bytes moved by one thread alone, and by all threads in parallel loops.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    pub(super) serial: f64,
    pub(super) parallel: f64,
}

impl Moved {
    pub(super) fn total(self) -> f64 {
        self.serial + self.parallel
    }
}

/// The working sets of a nest, in pieces of one size.
pub(super) struct Memory<'t, 'a> {
    tree: &'t Tree<'a>,
    line: f64,
    /// For each loop, bytes of one iteration.
    pub(super) bodies: Vec<f64>,
    /// For each loop, what all iterations touch, but for random accesses.
    wholes: Vec<Vec<Reach>>,
    /// What the nest touches.
    nest: Vec<Reach>,
    /// For each loop, the share of the executions below that are inside parallel loops.
    shared: Vec<f64>,
}

impl<'t, 'a> Memory<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, line: f64) -> Self {
        let below = |loop_idx: usize| -> Vec<usize> {
            (0..tree.stmts.len())
                .filter(|idx| tree.stmts[*idx].path.contains(&loop_idx) && tree.stmts[*idx].runs > 0.0)
                .collect()
        };
        let all: Vec<usize> = (0..tree.stmts.len()).filter(|idx| tree.stmts[*idx].runs > 0.0).collect();
        let (mut bodies, mut wholes, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        for (loop_idx, node) in tree.loops.iter().enumerate() {
            let (stmts, depth) = (below(loop_idx), node.path.len());
            bodies.push(bytes(&reach(tree, &stmts, depth + 1, node.iterations, line, |_| true)));
            wholes.push(reach(tree, &stmts, depth, node.entries, line, |access| !access.is_random()));
            shared.push(shared_by_team(tree, &stmts));
        }
        Self { tree, line, bodies, wholes, nest: reach(tree, &all, 0, 1.0, line, |_| true), shared }
    }

    /// Bytes that the nest touches.
    pub(super) fn footprint(&self) -> f64 {
        bytes(&self.nest)
    }

    /// Bytes that come from or go to the level behind `keeper` when the nest runs again and again.
    pub(super) fn moved(&self, keeper: Keeper) -> Moved {
        let mut moved = Moved::default();
        let share = shared_by_team(self.tree, &(0..self.tree.stmts.len()).collect::<Vec<_>>());
        let fits = fit(self.footprint(), self.capacity(keeper, share));
        if fits < 1.0 {
            self.scope(&self.tree.roots, keeper, 1.0 - fits, &mut moved);
        }
        moved
    }

    /// Pieces that random accesses miss in `keeper`.
    pub(super) fn random_misses(&self, keeper: Keeper) -> Moved {
        let mut moved = Moved::default();
        for stmt in &self.tree.stmts {
            for access in stmt.accesses.iter().filter(|access| access.is_random()) {
                let bytes = region(self.tree, stmt, access, self.line);
                let missed = if bytes > 0.0 { (1.0 - keeper.bytes / bytes).max(0.0) } else { 0.0 };
                let team = self.tree.team(&stmt.path).is_some();
                self.add(missed * stmt.runs, f64::from(u8::from(team)), &mut moved);
            }
        }
        moved
    }

    /// Capacity for work of which this share is done by all threads.
    fn capacity(&self, keeper: Keeper, share: f64) -> f64 {
        let threads = if keeper.is_private { self.tree.threads } else { 1.0 };
        keeper.bytes * (1.0 + (threads - 1.0) * share)
    }

    /// Adds what moves in the items of a loop's body that does not fit, this share of the times.
    fn scope(&self, items: &[Item<'_>], keeper: Keeper, share: f64, moved: &mut Moved) {
        for item in items {
            match item {
                Item::If { then, otherwise, .. } => {
                    self.scope(then, keeper, share, moved);
                    self.scope(otherwise, keeper, share, moved);
                }
                Item::Loop(loop_idx) => self.of_loop(*loop_idx, keeper, share, moved),
                Item::Stmt(stmt_idx) => {
                    let stmt = &self.tree.stmts[*stmt_idx];
                    let depth = stmt.path.len();
                    let per_run = |stride: Option<f64>| stride.map_or(self.line, |s| s.abs().min(self.line));
                    let ordered = stmt.accesses.iter().filter(|access| !access.is_random());
                    let bytes: f64 = ordered
                        .map(|access| match depth.checked_sub(1) {
                            Some(inner) => {
                                per_run(access.strides[inner]) * (1.0 + f64::from(u8::from(access.is_write)))
                            }
                            None => 0.0,
                        })
                        .sum();
                    let team = self.tree.team(&stmt.path).is_some();
                    self.add(bytes * stmt.runs * share, f64::from(u8::from(team)), moved);
                }
            }
        }
    }

    fn of_loop(&self, loop_idx: usize, keeper: Keeper, share: f64, moved: &mut Moved) {
        let node = &self.tree.loops[loop_idx];
        let team = node.is_parallel() || self.tree.team(&node.path).is_some();
        let outside = if team { 0.0 } else { self.shared[loop_idx] };
        let fits = fit(self.bodies[loop_idx], self.capacity(keeper, outside));
        if fits > 0.0 {
            let once: f64 = self.wholes[loop_idx]
                .iter()
                .map(|r| r.bytes * (1.0 + f64::from(u8::from(r.is_written))))
                .sum();
            self.add(once * node.entries * share * fits, self.shared[loop_idx], moved);
        }
        if fits < 1.0 {
            self.scope(&node.body, keeper, share * (1.0 - fits), moved);
        }
    }

    fn add(&self, bytes: f64, shared: f64, moved: &mut Moved) {
        moved.serial += bytes * (1.0 - shared);
        moved.parallel += bytes * shared;
    }
}

/// 1 if it fits well, 0 if it does not, in between if it nearly fits.
fn fit(bytes: f64, capacity: f64) -> f64 {
    if bytes <= 0.0 { 1.0 } else { ((capacity / bytes).log2() + 0.5).clamp(0.0, 1.0) }
}

fn bytes(arrays: &[Reach]) -> f64 {
    arrays.iter().map(|r| r.bytes).sum()
}

/// The share of the executions of statements that are inside parallel loops.
fn shared_by_team(tree: &Tree<'_>, stmts: &[usize]) -> f64 {
    let (mut shared, mut all) = (0.0, 0.0);
    for stmt in stmts.iter().map(|idx| &tree.stmts[*idx]) {
        all += stmt.runs;
        if tree.team(&stmt.path).is_some() {
            shared += stmt.runs;
        }
    }
    if all > 0.0 { shared / all } else { 0.0 }
}

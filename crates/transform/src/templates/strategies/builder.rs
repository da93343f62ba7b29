//! Recipes under construction: steps approved by the judge, and the strategies for threads and vector lanes.

use super::contraction;
use super::tree::{contains_packed_contraction, innermost_loops, parent_of, top_loops};
use crate::legality;
use crate::order;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::scan;
use crate::schedule::{Schedule, Tree, all_leaves};
use crate::steps::Transformation;
use crate::steps::batch::{Batch, USUAL_SIZE};
use crate::steps::{self, iterations, perfect_chain, window};
use crate::steps::{Interchange, PackedContraction, Parallelize, Tile, Vectorize};
use crate::templates::machine::Machine;
use crate::templates::template::{BlockShape, Shares};
use oxeye_ir::{Affine, BinaryOp, Execution, Expr, LoopId, Node, Var, WorkSharing};

/// Iterations of an innermost loop that a thread takes at a time.
const CHUNK: i64 = 512;

/// A recipe under construction: the judge has approved every step.
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

    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// Applies a step if it is legal; otherwise nothing changes.
    pub(crate) fn step(&mut self, step: impl Into<Transformation>) -> Result<(), Reason> {
        let step = step.into();
        let mut trial = self.schedule.clone();
        steps::edit(&mut trial, &step, self.policy)?;
        legality::check(&trial, self.policy)?;
        self.schedule = trial;
        self.steps.push(step);
        Ok(())
    }

    /// Applies a step whose legality depends on the steps after it.
    pub(crate) fn step_unjudged(&mut self, step: impl Into<Transformation>) -> Result<(), Reason> {
        let step = step.into();
        steps::edit(&mut self.schedule, &step, self.policy)?;
        self.steps.push(step);
        Ok(())
    }

    /// Whether the schedule can be written as loops.
    fn can_be_written(&self) -> bool {
        scan::generate(self.schedule.clone(), &self.schedule.nest).is_ok()
    }

    /// The schedule's loop that corresponds to an original iterator of a statement.
    pub(crate) fn loop_of(&self, s: usize, original: LoopId) -> Option<LoopId> {
        self.schedule.statements[s].map.get(&original)?.loops().next()
    }

    /// Contracts a statement over its original loops over rows, columns and depth.
    pub(crate) fn contract(
        &mut self,
        s: usize,
        original: &[Vec<LoopId>; 3],
        shape: &BlockShape,
        shares: Option<Shares>,
    ) -> Result<(), Reason> {
        let own = |loops: &Vec<LoopId>| loops.iter().map(|l| self.loop_of(s, *l)).collect();
        let [rows, columns, depth]: [Option<Vec<LoopId>>; 3] = original.each_ref().map(own);
        let (Some(rows), Some(columns), Some(depth)) = (rows, columns, depth) else {
            return Err(Reason::unsupported("an iterator of the statement has no loop of its own"));
        };
        let loops = [rows, columns, depth];
        let stmt = self.schedule.statements[s].id;
        let element = self.schedule.statements[s]
            .assignment()
            .map_or(8, |a| self.schedule.program.array(a.target.array).element.bytes());
        let extents = contraction::Extents::of(&self.schedule, &loops);
        let blocks = contraction::blocks(shape, &self.machine, element, &extents);
        let [rows, columns, depth] = loops;
        let parallel = shares.map(uneven_schedule);
        self.step(PackedContraction { stmt, rows, columns, depth, blocks, parallel })
    }

    /// Work sharing: runs outermost independent loops on several threads; false if there are none.
    pub(crate) fn share_outer_loops(&mut self, shares: Shares) -> bool {
        let mut any = contains_packed_contraction(&self.schedule.roots);
        let top = top_loops(&self.schedule.roots);
        // The borders of a loop that was cut are not worth a team beside what is between them.
        let (short, long): (Vec<LoopId>, Vec<LoopId>) =
            top.into_iter().partition(|id| is_short(&self.schedule, *id));
        for id in if long.is_empty() { short } else { long } {
            any |= self.parallelize(id, 0, shares);
        }
        any
    }

    /// Strip-mines innermost independent loops and runs the strips on several threads; false if there are none. If
    /// there are some, outermost loops that cannot be cut into strips are shared as they are.
    pub(crate) fn share_strips(&mut self, width: u16) -> bool {
        let (with_strips, others): (Vec<LoopId>, Vec<LoopId>) = top_loops(&self.schedule.roots)
            .into_iter()
            .partition(|top| self.strip_parallel(vec![*top], 0, width.into()));
        for id in others.into_iter().filter(|_| !with_strips.is_empty()) {
            self.parallelize(id, 0, Shares::Fitting);
        }
        !with_strips.is_empty()
    }

    /// Makes the loop, or else the loops inside, parallel; those inside first if the loop has fewer iterations than there are
    /// threads. Starting a team inside `n_outer` sequential loops must pay off every time: an innermost loop is not shared
    /// inside two of them, nor inside one if the nest has a depth above 2.
    fn parallelize(&mut self, id: LoopId, n_outer: usize, shares: Shares) -> bool {
        let Some(loop_node) = self.schedule.loop_node(id) else { return false };
        if loop_node.execution != Execution::Sequential {
            return true;
        }
        let inner = top_loops(&loop_node.body);
        let n_threads = i64::from(self.machine.threads);
        if iterations(&self.schedule, id).is_some_and(|n| n < n_threads)
            && let [only] = inner[..]
            && perfect_chain(&self.schedule, id).len() > 1
        {
            let mut trial = self.clone();
            if trial.parallelize(only, n_outer, shares) {
                *self = trial;
                return true;
            }
        }
        let sharing = match shares {
            Shares::Fitting if self.uneven(id) => WorkSharing::Dynamic,
            Shares::Fitting | Shares::Static => WorkSharing::Static,
            Shares::Dynamic => WorkSharing::Dynamic,
        };
        if inner.is_empty() {
            let deeper = |s: &Schedule| s.paths().iter().any(|p| p.len() > n_outer + 1);
            if n_outer > 1 || (n_outer == 1 && deeper(&self.schedule)) {
                return false;
            }
            // One strip per chunk of work keeps the vector loop whole; all strips are equal.
            let sharing = if shares == Shares::Dynamic { WorkSharing::Dynamic } else { WorkSharing::Static };
            let mut trial = self.clone();
            if trial.step_unjudged(Tile { loops: vec![id], sizes: vec![CHUNK] }).is_ok()
                && let Some(tile) = parent_of(&trial.schedule.roots, id)
                && trial.step(Parallelize { at: tile, sharing }).is_ok()
            {
                *self = trial;
                return true;
            }
        }
        if n_outer <= 2 && self.step(Parallelize { at: id, sharing }).is_ok() {
            return true;
        }
        let mut any = false;
        for l in inner {
            any |= self.parallelize(l, n_outer + 1, shares);
        }
        any
    }

    /// Whether the work in an iteration of the loop varies with the iteration.
    fn uneven(&self, id: LoopId) -> bool {
        let Some(loop_node) = self.schedule.loop_node(id) else { return false };
        all_leaves(&loop_node.body).into_iter().any(|s| {
            self.schedule.statements[s]
                .domain
                .iter()
                .any(|c| c.expr.uses(id) && c.expr.loops().any(|l| l != id && self.is_inside(l, id)))
        })
    }

    fn is_inside(&self, inner: LoopId, outer: LoopId) -> bool {
        self.schedule.loop_node(outer).is_some_and(|b| {
            fn go(trees: &[Tree], id: LoopId) -> bool {
                trees.iter().any(|t| matches!(t, Tree::Loop(b) if b.id == id || go(&b.body, id)))
            }
            go(&b.body, inner)
        })
    }

    /// For perfect nests with an independent innermost loop inside dependent ones: strip-mines that loop, with one
    /// share of the strips per thread, and runs the outer loops inside each. Works below at most one sequential loop.
    fn strip_parallel(&mut self, loops: Vec<LoopId>, n_outer: usize, width: i64) -> bool {
        let mut any = false;
        for top in loops {
            let chain = perfect_chain(&self.schedule, top);
            let Some((last, outer)) = chain.split_last() else { continue };
            let inner = self.schedule.loop_node(*last).map(|b| top_loops(&b.body)).unwrap_or_default();
            if !inner.is_empty() && n_outer == 0 && outer.is_empty() {
                any |= self.strip_parallel(inner, 1, width);
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
            let tile = Tile { loops: vec![*last], sizes: vec![width] };
            if trial.step_unjudged(tile).is_err() {
                continue;
            }
            let Some(strip) = parent_of(&trial.schedule.roots, *last) else { continue };
            let mut back: Vec<LoopId> = outer.to_vec();
            back.push(*last);
            if trial.rotate(*last, &back).is_err() {
                continue;
            }
            let parallel = Parallelize { at: strip, sharing: WorkSharing::Static };
            if trial.step(parallel).is_ok() {
                *self = trial;
                any = true;
            }
        }
        any
    }

    /// Brings a perfect chain into the given order by interchanges.
    fn rotate(&mut self, top: LoopId, order: &[LoopId]) -> Result<(), Reason> {
        let mut current = perfect_chain(&self.schedule, top);
        current.truncate(order.len());
        for (k, wanted) in order.iter().enumerate() {
            let Some(from) = current.iter().position(|l| l == wanted) else {
                return Err(Reason::unsupported("not a chain"));
            };
            for j in (k..from).rev() {
                self.step_unjudged(Interchange { outer: current[j], inner: current[j + 1] })?;
                current.swap(j, j + 1);
            }
        }
        Ok(())
    }

    /// Marks innermost loops for vector lanes where contiguous access makes that worthwhile (`scattered`: everywhere).
    pub(crate) fn vectorize(&mut self, scattered: bool) {
        let before = self.clone();
        let loops: Vec<LoopId> = innermost_loops(&self.schedule.roots)
            .into_iter()
            .filter(|id| self.is_for_lanes(*id, scattered) && self.step(Vectorize { at: *id }).is_ok())
            .collect();
        // Writing all of a nest takes long: the loops are looked at one by one only if one of them must be in the way.
        if loops.is_empty() || self.can_be_written() || !before.can_be_written() {
            return;
        }
        *self = before;
        for id in loops {
            let before = self.clone();
            if self.step(Vectorize { at: id }).is_ok() && !self.can_be_written() {
                *self = before;
            }
        }
    }

    /// Runs innermost loops with long arithmetic under a condition in batches. Whether there are any.
    pub(crate) fn gather_batches(&mut self) -> bool {
        let mut is_any = false;
        for at in innermost_loops(&self.schedule.roots) {
            let before = self.clone();
            if !self.is_for_batches(at) || self.step(Batch { at, size: USUAL_SIZE }).is_err() {
                continue;
            }
            match self.can_be_written() {
                true => is_any = true,
                false => *self = before,
            }
        }
        is_any
    }

    /// Whether a loop has long arithmetic under a condition.
    pub(crate) fn has_batches(&self) -> bool {
        innermost_loops(&self.schedule.roots).into_iter().any(|at| self.is_for_batches(at))
    }

    fn is_for_batches(&self, id: LoopId) -> bool {
        let Some(loop_node) = self.schedule.loop_node(id) else { return false };
        let last = all_leaves(&loop_node.body).last().map(|stmt| &*self.schedule.statements[*stmt].node);
        loop_node.execution == Execution::Sequential
            && matches!(last, Some(node @ Node::If { .. }) if arithmetic(node) >= LONG_ARITHMETIC)
    }

    /// Whether vector lanes would mostly read and write next to each other in a loop that runs in order, or may be `scattered`.
    /// A few gathers beside many other accesses are worth it: the arithmetic of such loops is long.
    fn is_for_lanes(&self, id: LoopId, scattered: bool) -> bool {
        let Some(loop_node) = self.schedule.loop_node(id) else { return false };
        let has_windows = loop_node.body.iter().any(|tree| matches!(tree, Tree::Loop(_)));
        let statements = all_leaves(&loop_node.body);
        let is_low = |of: &dyn Fn(usize) -> (usize, f64)| {
            let all = statements.iter().map(|stmt| of(*stmt));
            let (n_accesses, cost) = all.fold((0, 0.0), |(n, sum), (more, cost)| (n + more, sum + cost));
            cost <= 0.3 * n_accesses as f64
        };
        let as_written = |stmt: usize| {
            let n_accesses = self.schedule.statements[stmt].accesses.len();
            (n_accesses, order::innermost_cost(&self.schedule, stmt, id))
        };
        let is_cheap = || !has_windows && is_low(&as_written) || is_low(&|stmt| self.known_cost(stmt, id));
        loop_node.execution == Execution::Sequential && (scattered || is_cheap())
    }

    /// How many accesses a statement has, and what they cost with this loop innermost, as the loops inside it are written
    /// out, with what is known where it stands: remainders that change nothing there, and those that are the same all along.
    fn known_cost(&self, stmt: usize, id: LoopId) -> (usize, f64) {
        let (mut n_accesses, mut cost) = (0, 0.0);
        let at_first = |index: &Affine| {
            index.substitute(&|v| match v {
                Var::Loop(l) if l != id => window(&self.schedule, l).map(|(first, _)| first),
                _ => None,
            })
        };
        for mut node in scan::as_known(&self.schedule.statements[stmt]) {
            scan::for_each_access(&mut node, &mut |access| {
                let known = |index: &Expr| match index.as_affine() {
                    Some(index) => Some(at_first(index)),
                    None => (!index.uses(id)).then(Affine::default),
                };
                let indices: Option<Vec<Affine>> = access.indices.iter().map(known).collect();
                n_accesses += 1;
                cost += order::access_cost(indices.as_deref(), id);
            });
        }
        (n_accesses, cost)
    }
}

/// Operations on floating-point numbers of an iteration, beyond which it is worth gathering what they are for.
const LONG_ARITHMETIC: u64 = 16;
/// A division, or a call, takes as long as so many others.
const LONG_OPERATION: u64 = 8;

/// What the arithmetic under a node takes, in sums.
fn arithmetic(node: &Node) -> u64 {
    let mut total = 0;
    node.for_each_stmt(&mut |s| {
        s.value.visit(&mut |e| {
            total += match e {
                Expr::Binary(BinaryOp::Div, ..) | Expr::Call { .. } => LONG_OPERATION,
                Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => 1,
                _ => 0,
            };
        });
    });
    total
}

/// Fewer iterations are not shared beside other loops.
const FEW: i64 = 8;

/// Whether a loop has few iterations, wherever it starts.
fn is_short(schedule: &Schedule, id: LoopId) -> bool {
    iterations(schedule, id).is_some_and(|n| n < FEW)
}

/// The schedule for concurrent work whose parts differ.
pub(crate) fn uneven_schedule(shares: Shares) -> WorkSharing {
    match shares {
        Shares::Static => WorkSharing::Static,
        Shares::Fitting | Shares::Dynamic => WorkSharing::Dynamic,
    }
}
